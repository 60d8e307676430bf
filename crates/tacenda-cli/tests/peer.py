"""Releases made with other tools are audited: anjana (full-domain generalisation over hierarchies) and
pandas.cut (printed intervals) publish two snapshots of the same people, each 2-diverse alone; the binary
reads them as they are and finds who is betrayed by both together."""

import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import pandas as pd
from anjana.anonymity import l_diversity

COLUMNS = ["--quasi", "age,zip", "--sensitive", "disease"]
DISEASES = ["flu", "gastritis", "asthma", "migraine"]


def people(count: int) -> pd.DataFrame:
    ids = np.arange(count)
    return pd.DataFrame(
        {
            "id": [f"p{i}" for i in ids],
            "age": 20 + ids * 7 % 60,
            "zip": [str(47000 + i * 37 % 900) for i in ids],
            "disease": [DISEASES[i * 5 % 4 if i % 3 else i // 3 % 4] for i in ids],
        }
    )


def with_anjana(table: pd.DataFrame) -> pd.DataFrame:
    """Ages to [20, 30) and the like, postcodes to 470** and the like."""
    ages, zips = table["age"].values, table["zip"].values
    tens = [f"[{a // 10 * 10}, {a // 10 * 10 + 10})" for a in ages]
    hierarchies = {
        "age": {0: ages, 1: np.array(tens), 2: np.array(["*"] * len(ages))},
        "zip": {
            0: zips,
            1: np.array([z[:3] + "**" for z in zips]),
            2: np.array([z[:2] + "***" for z in zips]),
            3: np.array(["*"] * len(zips)),
        },
    }
    return l_diversity(table, ["id"], ["age", "zip"], "disease", 2, 2, 0, hierarchies).drop(columns=["id"])


def by_age(table: pd.DataFrame) -> pd.DataFrame:
    """The same people with diseases of their age, so that ages 26 to 45 are betrayed by two ways to cut."""
    other = np.where(np.arange(len(table)) % 2 == 0, "flu", "migraine")
    age = table["age"]
    return table.assign(disease=np.select([age <= 25, age <= 30, age <= 45], [other, "gastritis", "asthma"], other))


def with_pandas(table: pd.DataFrame, cuts: list) -> pd.DataFrame:
    """Ages cut into intervals that pandas prints, postcodes starred out."""
    out = table.drop(columns=["id"]).copy()
    out["age"] = pd.cut(table["age"], cuts).astype(str)
    out["zip"] = table["zip"].str[:2] + "***"
    return out


def audit(binary: pathlib.Path, words: list) -> tuple[int, dict]:
    run = subprocess.run([binary, "audit", *words, "--format", "json", "-q"], capture_output=True, text=True)
    assert run.returncode in (0, 1), run.stderr
    return run.returncode, json.loads(run.stdout)


def audit_pair(binary: pathlib.Path, folder: pathlib.Path, tool: str, tables: list, published: list) -> int:
    """Audits two releases with their truth; answers with the number of people whose value is certain."""
    files, truth = [], []
    for number, (table, release) in enumerate(zip(tables, published), 1):
        files.append(folder / f"{tool}-{number}.csv")
        release.to_csv(files[-1], index=False)
        truth.append(folder / f"{tool}-truth-{number}.csv")
        table.to_csv(truth[-1], index=False)
        _, alone = audit(binary, [files[-1], *COLUMNS])
        risk = alone["releases"][0]["risk"]
        assert risk["smallest_group"] >= 2 and risk["fewest_values"] >= 2, risk
    code, both = audit(binary, [*files, *COLUMNS, "--truth", *truth, "--id", "id"])
    assert [release["rows"] for release in both["releases"]] == [len(release) for release in published]
    groups = [len(release.groupby(["age", "zip"])) for release in published]
    assert [release["groups"] for release in both["releases"]] == groups, both["releases"]
    certain = [finding["people"] for finding in both["findings"] if finding["code"] == "A731"]
    assert code == (1 if certain else 0), (code, both["verdict"])
    print(f"{tool}: {groups} groups, exit {code}: {both['verdict']['sentence']}")
    return sum(certain)


def main() -> None:
    binary = pathlib.Path(sys.argv[1]).resolve()
    first = people(120)
    second = pd.concat([first.iloc[30:], people(160).iloc[120:]], ignore_index=True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        betrayed = audit_pair(binary, folder, "anjana", [first, second], [with_anjana(first), with_anjana(second)])
        assert betrayed == 0, betrayed
        first, second = by_age(first), by_age(second)
        published = [with_pandas(first, [0, 25, 45, 100]), with_pandas(second, [0, 30, 100])]
        betrayed = audit_pair(binary, folder, "pandas", [first, second], published)
        both = first.merge(second, on=["id", "age"])
        assert betrayed == both["age"].between(26, 45).sum(), betrayed

        # The same release as Parquet, with intervals as pandas stores them.
        cut = first.drop(columns=["id"]).copy()
        cut["age"] = pd.arrays.IntervalArray(pd.cut(first["age"], [0, 25, 45, 100]))
        cut["zip"] = first["zip"].str[:2] + "***"
        cut.to_parquet(folder / "cut.parquet")
        _, stored = audit(binary, [folder / "cut.parquet", *COLUMNS])
        _, printed = audit(binary, [folder / "pandas-1.csv", *COLUMNS])
        for part in ("rows", "groups", "risk", "group_sizes"):
            assert stored["releases"][0][part] == printed["releases"][0][part], part
    print("releases of two other tools audited")


if __name__ == "__main__":
    main()
