"""The figures that people compare, on files that other tools wrote: k, l, entropy-l, recursive (c,l), t, beta-likeness and the
risks of the prosecutor, the journalist and the marketer, as the binary gives them, as pycanon gives them, and by ARX's
definitions. A table of tool, file, figure and whether they are equal; any difference that is not one of definition fails.

    figures.py BINARY            the tools from PyPI, on made-up people
    figures.py BINARY --real DIR also the releases in DIR that ARX and others wrote (*.csv, Adult, seven quasi-identifiers)
"""

import json
import math
import pathlib
import subprocess
import sys
import tempfile

import anonypy
import anonypyx
import numpy as np
import pandas as pd
from anjana.anonymity import alpha_k_anonymity, k_anonymity, l_diversity
from pycanon import anonymity

DISEASES = ["flu", "gastritis", "asthma", "migraine", "angina"]
ADULT = ["age", "workclass", "education-num", "marital-status", "race", "sex", "native-country"]


def people(count: int) -> pd.DataFrame:
    ids = np.arange(count)
    return pd.DataFrame(
        {
            "age": 20 + ids * 7 % 60,
            "zip": [str(47000 + i * 37 % 900) for i in ids],
            "sex": np.where(ids * 11 % 5 < 2, "F", "M"),
            "disease": [DISEASES[(i * 5 + i // 7) % 5] for i in ids],
        }
    )


def hierarchies(table: pd.DataFrame) -> dict:
    ages, zips = table["age"].values, table["zip"].values
    star = np.array(["*"] * len(table))
    return {
        "age": {0: ages, 1: np.array([f"[{a // 10 * 10}, {a // 10 * 10 + 10})" for a in ages]), 2: star},
        "zip": {
            0: zips,
            1: np.array([z[:3] + "**" for z in zips]),
            2: np.array([z[:2] + "***" for z in zips]),
            3: star,
        },
        "sex": {0: table["sex"].values, 1: star},
    }


def with_anjana(table: pd.DataFrame, how: str) -> pd.DataFrame:
    table, quasi = table.assign(id="x"), ["age", "zip", "sex"]
    trees = hierarchies(table)
    if how == "k":
        return k_anonymity(table, ["id"], quasi, 5, 0, trees).drop(columns=["id"])
    if how == "alpha":
        return alpha_k_anonymity(table, ["id"], quasi, "disease", 10, 0.4, 10, trees).drop(columns=["id"])
    return l_diversity(table, ["id"], quasi, "disease", 20, 5, 5, trees).drop(columns=["id"])


def with_anonypy(table: pd.DataFrame, how: str) -> pd.DataFrame:
    table = table.assign(age=table["age"].astype(int), zip=table["zip"].astype(int))
    table["sex"] = table["sex"].astype("category")
    table["disease"] = table["disease"].astype("category")
    made = anonypy.Preserver(table, ["age", "zip", "sex"], "disease")
    rows = made.anonymize_k_anonymity(k=5) if how == "k" else made.anonymize_l_diversity(k=5, l=3)
    return pd.DataFrame(rows)


def with_anonypyx(table: pd.DataFrame, how: str) -> pd.DataFrame:
    table = table.assign(age=table["age"].astype(int), zip=table["zip"].astype(int))
    table["sex"] = table["sex"].astype("category")
    table["disease"] = table["disease"].astype("category")
    asked = {"feature_columns": ["age", "zip", "sex"], "sensitive_column": "disease", "generalisation_strategy": how}
    return anonypyx.Anonymiser(table, k=8, l=3, **asked).anonymise()


def with_pandas(table: pd.DataFrame, how: str) -> pd.DataFrame:
    out = table.copy()
    cut = pd.cut(table["age"], [0, 30, 45, 60, 100]) if how == "cut" else pd.qcut(table["age"], 5)
    out["age"], out["zip"] = cut.astype(str), table["zip"].str[:3] + "**"
    if how == "suppressed":
        small = out.groupby(["age", "zip", "sex"])["disease"].transform("size") < 4
        out.loc[small, ["age", "zip", "sex"]] = "*"
    return out


def as_rows(file: pd.DataFrame) -> tuple[pd.DataFrame, list]:
    """The file as pycanon takes it: a row a person, one column a quasi-identifier, whatever its cells look like."""
    file = file.drop(columns=[name for name in ("index", "id") if name in file])
    if "count" in file:
        file = file.loc[file.index.repeat(file["count"])].drop(columns=["count"]).reset_index(drop=True)
    quasi = [name for name in file.columns if name not in ("disease", "occupation")]
    return file.astype(str), quasi


def expected(file: pd.DataFrame, sensitive: str) -> dict:
    """Every figure by pycanon where it has it, otherwise by its definition; suppressed rows as ARX counts them."""
    rows, quasi = as_rows(file)
    sizes = rows.groupby(quasi)[sensitive].size()
    shown = rows[~(rows[quasi] == "*").all(axis=1)]
    arx = shown.groupby(quasi)[sensitive].size() if len(shown) else sizes
    groups = rows.groupby(quasi)[sensitive]
    shares = groups.apply(lambda values: values.value_counts(normalize=True).to_numpy())
    alpha, k = anonymity.alpha_k_anonymity(rows, quasi, [sensitive])
    l = int(anonymity.l_diversity(rows, quasi, [sensitive]))
    recursive = max(s.max() / np.sort(s)[::-1][l - 1 :].sum() for s in shares)
    return {
        "k": (int(anonymity.k_anonymity(rows, quasi)), "pycanon"),
        "l": (l, "pycanon"),
        # pycanon 1.3.5 puts the least frequent value where the paper has the most frequent one.
        "recursive c": (float(recursive), "its definition"),
        "t": (float(anonymity.t_closeness(rows, quasi, [sensitive])), "pycanon"),
        "largest share (alpha)": (float(alpha), "pycanon"),
        "beta-likeness": (float(anonymity.basic_beta_likeness(rows, quasi, [sensitive])), "pycanon"),
        "entropy-l": (float(min(math.exp(-(s * np.log(s)).sum()) for s in shares)), "its definition"),
        "entropy-l, whole": (int(anonymity.entropy_l_diversity(rows, quasi, [sensitive])), "pycanon"),
        "prosecutor, highest": (1 / int(sizes.min()), "its definition"),
        "marketer": (len(sizes) / int(sizes.sum()), "its definition"),
        "k without suppressed": (int(arx.min()), "ARX's definition"),
        "prosecutor without suppressed": (1 / int(arx.min()), "ARX's definition"),
        "journalist without population": (1 / int(arx.min()), "ARX's definition"),
        "marketer without suppressed": (len(arx) / int(arx.sum()), "ARX's definition"),
        "suppressed rows": (len(rows) - len(shown), "its definition"),
    }


def measured(binary: pathlib.Path, file: pathlib.Path, quasi: list, sensitive: str, l: int) -> dict:
    words = ["audit", file, "--quasi", ",".join(quasi), "--sensitive", sensitive, "--l", str(l), "--format", "json", "-q"]
    run = subprocess.run([binary, *map(str, words)], capture_output=True, text=True)
    assert run.returncode in (0, 1, 6), run.stderr
    report = json.loads(run.stdout)
    release = report["releases"][0]
    risk = release["risk"]
    named = {m["name"]: m["value"] for check in report["checks"] for m in check["measures"] if m.get("release") == 1}
    return {
        "k": risk["smallest_group"],
        "l": risk["fewest_values"],
        "recursive c": named["largest recursive c"],
        "t": named["largest distance"],
        "largest share (alpha)": risk["highest_share"],
        "beta-likeness": named["largest beta-likeness"],
        "entropy-l": named["least entropy diversity"],
        "entropy-l, whole": math.floor(named["least entropy diversity"] + 1e-9),
        "prosecutor, highest": risk["highest_identity"],
        "marketer": risk["mean_identity"],
        "k without suppressed": risk["without_suppressed"]["smallest_group"],
        "prosecutor without suppressed": risk["without_suppressed"]["highest_identity"],
        "journalist without population": risk["without_suppressed"]["highest_identity"],
        "marketer without suppressed": risk["without_suppressed"]["mean_identity"],
        "suppressed rows": risk["without_suppressed"]["suppressed"],
    }


def compare(binary: pathlib.Path, tool: str, path: pathlib.Path, quasi: list, sensitive: str) -> tuple[list, int]:
    file = pd.read_csv(path, sep=";" if path.read_text()[:200].split("\n")[0].count(";") else ",", dtype=str)
    if "count" in file:
        file["count"] = file["count"].astype(int)
    want = expected(file, sensitive)
    have = measured(binary, path, quasi, sensitive, want["l"][0])
    lines, wrong = [], 0
    for figure, (value, source) in want.items():
        is_equal = abs(have[figure] - value) <= 1e-6 * max(1, abs(value))
        wrong += not is_equal
        lines.append(f"| {tool} | {figure} | {have[figure]:.6g} | {value:.6g} ({source}) | {'=' if is_equal else '**no**'} |")
    return lines, wrong


def main() -> None:
    binary = pathlib.Path(sys.argv[1]).resolve()
    real = pathlib.Path(sys.argv[sys.argv.index("--real") + 1]) if "--real" in sys.argv else None
    table = people(240)
    made = {
        "anjana, k = 5": with_anjana(table, "k"),
        "anjana, k = 20, l = 5, 5 % left out": with_anjana(table, "l"),
        "anjana, k = 10, alpha = 0.4, 10 % left out": with_anjana(table, "alpha"),
        "anonypy, Mondrian, k = 5": with_anonypy(table, "k"),
        "anonypy, Mondrian, k = 5, l = 3": with_anonypy(table, "l"),
        "anonypyx, k = 8, l = 3, columns in parts": with_anonypyx(table, "machine-readable"),
        "anonypyx, k = 8, l = 3, for people": with_anonypyx(table, "human-readable"),
        "pandas.cut": with_pandas(table, "cut"),
        "pandas.qcut": with_pandas(table, "qcut"),
        "pandas.qcut, small groups as *": with_pandas(table, "suppressed"),
    }
    print("| tool and setting | figure | Tacenda | other | equal? |\n|---|---|--:|--:|:-:|")
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        for at, (tool, file) in enumerate(made.items()):
            path = pathlib.Path(name) / f"{at}.csv"
            file.to_csv(path, index=False)
            lines, bad = compare(binary, tool, path, ["age", "zip", "sex"], "disease")
            print("\n".join(lines))
            wrong += bad
    for path in sorted(real.glob("*.csv")) if real else []:
        lines, bad = compare(binary, path.stem, path, ADULT, "occupation")
        print("\n".join(lines))
        wrong += bad
    assert wrong == 0, f"{wrong} figures differ"


if __name__ == "__main__":
    main()
