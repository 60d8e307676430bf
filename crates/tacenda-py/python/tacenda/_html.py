"""What a notebook shows. Every text is escaped: names of columns and files come from anybody."""

from __future__ import annotations

from html import escape
from typing import Any, Iterable, Mapping, Sequence

_STYLE = (
    "<style>.tacenda table{border-collapse:collapse}.tacenda th,.tacenda td{padding:.15em .7em;text-align:left;"
    "vertical-align:top}.tacenda th{font-weight:600}.tacenda .rows td{white-space:nowrap}.tacenda summary{cursor:pointer;font-weight:600}.tacenda caption{text-align:left;font-weight:600;padding:.3em .7em}</style>"
)


def _box(parts: Iterable[str]) -> str:
    return f'<div class="tacenda">{_STYLE}{"".join(parts)}</div>'


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Mapping):
        return _facts(value)
    if isinstance(value, (list, tuple)):
        return _items(value)
    return escape(str(value), quote=True)


def _is_nested(value: Any) -> bool:
    if isinstance(value, Mapping):
        return True
    return isinstance(value, (list, tuple)) and any(isinstance(item, (Mapping, list)) for item in value)


def _items(values: Sequence[Any], most: int = 20) -> str:
    if not values:
        return "–"
    more = f"<br>and {len(values) - most} more" if len(values) > most else ""
    shown = values[:most]
    if all(isinstance(value, Mapping) for value in shown):
        names = list(shown[0])
        return _table("", names, [[value.get(name) for name in names] for value in shown]) + more
    return "<br>".join(_cell(value) for value in shown) + more


def _facts(values: Mapping[str, Any], title: str = "") -> str:
    """Single facts first, then the summary, then what can be unfolded."""
    rows = ""
    for name, value in sorted(values.items(), key=lambda pair: (_is_nested(pair[1]), pair[0] != "summary")):
        named = escape(str(name).replace("_", " "), quote=True)
        if _is_nested(value) and name != "summary":
            rows += f'<tr><td colspan="2"><details><summary>{named}</summary>{_cell(value)}</details></td></tr>'
        else:
            rows += f"<tr><th>{named}</th><td>{_cell(value)}</td></tr>"
    caption = f"<caption>{escape(title, quote=True)}</caption>" if title else ""
    return f"<table>{caption}{rows}</table>"


def _table(title: str, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    caption = f"<caption>{escape(title, quote=True)}</caption>" if title else ""
    head = "".join(f"<th>{escape(str(name), quote=True)}</th>" for name in names)
    body = "".join(f"<tr>{''.join(f'<td>{_cell(value)}</td>' for value in row)}</tr>" for row in rows)
    return f"<table>{caption}<tr>{head}</tr>{body}</table>"


def answer(facts: Mapping[str, Any]) -> str:
    """An answer of the library."""
    return _box([_facts(facts, type(facts).__name__)])


def frame(of: Any, rows: int = 10) -> str:
    """The first rows of a frame."""
    title = f"{len(of)} rows" + (f", the first {rows}" if len(of) > rows else "")
    return _box([f'<div class="rows" style="overflow-x:auto">{_table(title, of.columns, of.head(rows))}</div>'])


def release(of: Any) -> str:
    """A release: its numbers, and its first rows."""
    facts = {
        "promise": of.promise,
        "rows": len(of),
        "groups": len(of.groups),
        "counterfeits": of.counterfeits,
        "withheld (private)": of.withheld,
        "loss": of.loss["leaf_share"],
        "folder": of.folder,
    }
    title = f"Release {of.number}, label {of.label}"
    return _box([_facts({name: value for name, value in facts.items() if value is not None}, title), frame(of.frame)])


def page(html: str) -> str:
    """A whole page in a frame of its own. Nothing in it can run, and its style stays inside."""
    style = "width:100%;height:44em;border:1px solid #8884"
    return f'<iframe sandbox="" style="{style}" srcdoc="{escape(html, quote=True)}"></iframe>'

