"""Loads a release folder in pandas, as a recipient would, and checks what a recipient relies on.

    python pandas_reads_release.py RELEASE_FOLDER

Needs pandas and pyarrow. Ends with 0 and one line if all is well, and with a failed assertion if not.
"""

import json
import pathlib
import sys

import pandas as pd


def interval(cell, kind):
    """The bounds of a printed interval."""
    left, right = cell[1:-1].split(",")
    assert cell[0] == "[" and cell[-1] == ")", "intervals are half open"
    convert = {"integer": int, "real": float, "date": pd.Timestamp}[kind]
    return convert(left), convert(right)


def check_csv(path, manifest):
    """The text form: columns in order, weights that count people, groups as the manifest says."""
    texts = {column["name"]: str for column in manifest["columns"]} | {"record": str}
    frame = pd.read_csv(path, dtype=texts, keep_default_na=False)
    numbers = manifest["numbers"]
    names = [column["name"] for column in manifest["columns"]]
    wanted = ["record"] * manifest["linked_ids"] + ["group_id"] + names + ["row_weight"] * manifest["row_weight"]
    assert list(frame.columns) == wanted, "columns stand in the policy's order"
    assert len(frame) == numbers["rows"]
    assert frame["group_id"].nunique() == numbers["groups"]
    check_weights(frame, manifest)
    return frame


def check_weights(frame, manifest):
    """Weights sum up to people, but for the last printed decimal."""
    if manifest["row_weight"]:
        people = manifest["numbers"]["people"]
        assert abs(frame["row_weight"].sum() - people) <= 1e-6 * len(frame) + 1e-9, "weights count people"


def check_parquet(path, manifest, text):
    """The Parquet form: true intervals, the same rows as the text form."""
    frame = pd.read_parquet(path)
    assert len(frame) == manifest["numbers"]["rows"]
    check_weights(frame, manifest)
    for column in manifest["columns"]:
        name, kind = column["name"], column.get("type", "category")
        if kind == "category":
            assert isinstance(frame[name].dtype, pd.CategoricalDtype), name
        else:
            assert isinstance(frame[name].dtype, pd.IntervalDtype), f"{name} is read as {frame[name].dtype}"
            assert frame[name].dtype.closed == "left", name
            # Whole numbers that may be missing are floats: pandas has no missing integer in an interval.
            integer = "float64" if column["missing"] else "int64"
            subtype = {"integer": integer, "real": "float64", "date": "datetime64"}[kind]
            assert str(frame[name].dtype.subtype).startswith(subtype), f"{name} is read as {frame[name].dtype}"
        if text is not None:
            same_column(frame, text, name, kind, column.get("missing", False))
    return frame


def same_column(frame, text, name, kind, missing):
    """Every cell says the same in both forms."""
    assert (frame["group_id"] == text["group_id"]).all()
    if kind == "category":
        printed = frame[name].astype(object).where(frame[name].notna(), "")
        assert (printed.astype(str) == text[name].astype(str)).all(), name
        return
    cells = text[name].astype(str)
    assert (frame[name].isna() == (cells == "")).all(), f"{name}: not recorded is empty and null"
    if missing:
        assert (frame[f"{name}_maybe_missing"] == (cells == "*")).all(), name
    for at in text.index[cells.str.startswith("[")][:1000]:
        left, right = interval(cells[at], kind)
        assert frame[name][at].left == left and frame[name][at].right == right, name
    known = cells[cells.str.startswith("[")]
    if len(known):
        left, _ = interval(known.iloc[0], kind)
        assert frame[name].array.contains(left)[known.index[0]], "intervals answer questions"


def main(folder):
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    files = [file["name"] for file in manifest["files"]]
    data = [name for name in files if name.endswith((".csv", ".parquet")) and not name.endswith((".counterfeits.csv", ".counts.csv"))]
    assert data, "a release has data"
    text = None
    for name in sorted(data):
        if name.endswith(".csv"):
            text = check_csv(folder / name, manifest)
    for name in sorted(data):
        if name.endswith(".parquet"):
            check_parquet(folder / name, manifest, text)
    for name in files:
        if name.endswith(".counterfeits.csv"):
            counts = pd.read_csv(folder / name)
            assert counts["counterfeits"].sum() == manifest["numbers"]["counterfeits"]
            assert counts["rows"].sum() == manifest["numbers"]["rows"]
    print(f"pandas {pd.__version__} reads {', '.join(sorted(data))}: {manifest['numbers']['people']} people")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
