"""What every answer of the library is: a dict, with its fields as attributes."""

from __future__ import annotations

import keyword
from typing import TYPE_CHECKING, Any, ClassVar, Dict, List, Type


class Answer(Dict[str, Any]):
    """A dict as the command prints it with ``--format json``. ``answer["rows"]`` and ``answer.rows`` are the same.

    A field that is named like a method of dicts, or a word of Python, has an underscore as attribute: ``answer.values_``.
    """

    _parts: ClassVar[Dict[str, Type[Answer]]] = {}

    if not TYPE_CHECKING:  # A type checker knows the fields, and should find a name that is none.

        def __getattr__(self, name: str) -> Any:
            field = name[:-1] if name.endswith("_") and not name.startswith("_") else name
            if field not in self:
                raise AttributeError(f"{type(self).__name__} has no field {field}")
            return _with_class(self[field], self._parts.get(field))

    def __dir__(self) -> List[str]:
        fields = [name + "_" if hasattr(dict, name) or keyword.iskeyword(name) else name for name in self]
        return sorted({*super().__dir__(), *fields})

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={_short(value)}' for name, value in self.items())})"

    def _repr_html_(self) -> str:
        from tacenda import _html

        return _html.answer(self)


def _with_class(value: Any, part: Any) -> Any:
    """The value, with its dicts as answers."""
    if part is None or value is None:
        return value
    if isinstance(value, list):
        return [_with_class(item, part) for item in value]
    return part(value) if isinstance(value, dict) else value


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
