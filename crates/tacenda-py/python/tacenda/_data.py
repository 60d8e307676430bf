"""Tables as the part in Rust takes them: a path as text, a frame as something with ``__arrow_c_stream__``."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Union

from tacenda._errors import TacendaError, raised
from tacenda._native import Release

Path = Union[str, "os.PathLike[str]"]


def table(data: Any) -> Any:
    """One table."""
    if isinstance(data, (str, os.PathLike)):
        return os.fspath(data)
    if isinstance(data, Release):
        return data.frame
    if type(data).__module__.split(".")[0] == "pandas":
        return _from_pandas(data)
    if type(data).__module__.split(".")[0] == "pyarrow" and hasattr(data, "schema") and hasattr(data, "__arrow_c_stream__"):
        return _decoded(data.read_all() if hasattr(data, "read_all") else data)
    if hasattr(data, "__arrow_c_stream__"):
        return data
    for whole in ("collect", "to_table"):  # a lazy frame of polars, a dataset of pyarrow
        if hasattr(data, whole):
            return table(getattr(data, whole)())
    raise TypeError(f"a table is a path or a frame that supports Arrow, not {type(data).__name__}")


def tables(data: Any) -> List[Any]:
    """One table, or several in order."""
    if data is None:
        return []
    return [table(one) for one in data] if isinstance(data, (list, tuple)) else [table(data)]


def _decoded(data: Any) -> Any:
    """The same, with categories that are intervals written out: the other way, which end belongs to them is lost."""
    import pyarrow

    for place, field in enumerate(data.schema):
        values = getattr(field.type, "value_type", None)
        if pyarrow.types.is_dictionary(field.type) and isinstance(values, pyarrow.BaseExtensionType):
            column = data.column(place)
            chunks = column.chunks if hasattr(column, "chunks") else [column]
            decoded = pyarrow.chunked_array([chunk.dictionary.take(chunk.indices) for chunk in chunks], type=values)
            if isinstance(data, pyarrow.RecordBatch):
                data = pyarrow.Table.from_batches([data])
            data = data.set_column(place, field.name, decoded)
    return data


def _from_pandas(frame: Any) -> Any:
    import pandas
    import pyarrow

    if isinstance(frame, pandas.Series):
        raise TypeError("a table is a frame, not one column of it: use series.to_frame()")
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise _refused("D103", "duplicate column", str(twice[0]), "give every column of the input its own name")
    try:
        # Without the index: it is no column, and a filtered frame would have one more.
        return _decoded(pyarrow.Table.from_pandas(frame, preserve_index=False))
    except _UNLIKE:
        # What pyarrow says has cells in it, so it is not passed on.
        names = [name for place, name in enumerate(frame.columns) if not _is_taken(frame.iloc[:, place])]
    column = ", ".join(map(str, names)) or "(unknown)"
    way_out = 'make them alike, for example frame["NAME"].astype("string")'
    raise _refused("D119", "unsupported column type in column", column, way_out, "its cells have no type in common")


# What pyarrow raises where the cells of a column have no type in common.
_UNLIKE = (TypeError, ValueError, OverflowError, ArithmeticError, NotImplementedError)


def _is_taken(column: Any) -> bool:
    import pyarrow

    try:
        pyarrow.Array.from_pandas(column)
    except _UNLIKE:
        return False
    return True


def _refused(code: str, title: str, column: str, way_out: str, detail: str = "") -> TacendaError:
    message = f"{code} {title} {column}{': ' if detail else ''}{detail}; {way_out}"
    problem: Dict[str, Any] = {"code": code, "message": message, "column": column, "count": None, "lines": [], "way_out": way_out}
    return raised(message, code, 3, [], [problem])
