"""Tables as the part in Rust takes them: a path as text, a frame as something with ``__arrow_c_stream__``."""

from __future__ import annotations

import os
from typing import Any, List, Union

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
    if hasattr(data, "__arrow_c_stream__"):
        return data
    if hasattr(data, "collect"):  # a lazy frame of polars
        return table(data.collect())
    raise TypeError(f"a table is a path or a frame that supports Arrow, not {type(data).__name__}")


def tables(data: Any) -> List[Any]:
    """One table, or several in order."""
    if data is None:
        return []
    return [table(one) for one in data] if isinstance(data, (list, tuple)) else [table(data)]


def _from_pandas(frame: Any) -> Any:
    import pandas
    import pyarrow

    if isinstance(frame, pandas.Series):
        raise TypeError("a table is a frame, not one column of it: use series.to_frame()")
    changed = {}
    for name, column in frame.items():
        kinds = getattr(column.dtype, "categories", None)
        if kinds is not None and isinstance(kinds.dtype, pandas.IntervalDtype):
            # pandas.qcut and cut: Arrow's dictionaries lose which end of an interval belongs to it.
            changed[name] = column.astype(kinds.dtype)
    # Without the index: it is no column, and a filtered frame would have one more.
    return pyarrow.Table.from_pandas(frame.assign(**changed) if changed else frame, preserve_index=False)
