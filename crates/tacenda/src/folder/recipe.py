import csv, json
import pandas as pd

people = pd.read_csv("STEM.csv", keep_default_na=False, dtype=str)
counts = pd.read_csv("STEM.counts.csv", keep_default_na=False, dtype={"cell": str})
below = {}  # the values below each label of a hierarchy
for c in json.load(open("manifest.json"))["columns"]:
    for path in c.get("hierarchy", []):
        for label in path:
            below.setdefault((c["name"], label), set()).add(path[0])

def number(text):  # a number, or a date as a day
    return pd.Timestamp(text).toordinal() if "-" in text[1:] else float(text)

def cover(column, text, cell):  # the share of a cell that the text of a row covers
    if text in ("*", cell):
        return 1.0
    if text[:1] == "[" and cell[:1] == "[":
        a, b, c, d = map(number, f"{text[1:-1]},{cell[1:-1]}".split(","))
        return max(0.0, min(b, d) - max(a, c)) / (d - c)
    a, b = values(column, text), values(column, cell)
    return len(a & b) / max(len(b), 1)

def values(column, text):  # the values of a category that a text stands for
    if text[:1] == "{":
        return set(next(csv.reader([text[1:-1]])))
    return below.get((column, text or "NULL"), set())

def spread(column):  # people by text of the row and by cell
    rows = people.assign(w=people.row_weight.astype(float)).groupby(column).w.sum()
    cells = counts[counts.column == column].set_index("cell").people
    cells = cells * (rows.sum() / cells.sum())
    table = pd.DataFrame({c: [cells[c] * cover(column, t, c) for t in rows.index] for c in cells.index}, rows.index)
    for _ in range(100):
        table = table.mul(cells / table.sum().where(table.sum() > 0), axis=1).fillna(0.0)
        table = table.mul(rows / table.sum(axis=1).where(table.sum(axis=1) > 0), axis=0).fillna(0.0)
    return table

def share(column, wanted):  # per row, the share of its people whose cell is wanted
    table = spread(column)
    fits = table[[cell for cell in table if wanted(cell)]].sum(axis=1) / table.sum(axis=1)
    return people[column].map(fits.fillna(0.0))
