"""One Python peer on Adult: groups it forms, and what that took.

usage: peers.py TOOL DATA_FOLDER K OUT

Writes to OUT one line a group (the ids of its rows, spaces between) and prints one line of JSON. Only the
tool's own work is timed; memory is that of the whole process.
"""

import json
import sys
import time

import pandas as pd

QUASI = ["age", "education-num", "workclass", "marital-status", "occupation", "race", "sex", "native-country"]
NUMBERS = ["age", "education-num"]


def anonypy(table, k, _folder):
    from anonypy.mondrian import Mondrian

    for name in QUASI:
        if name not in NUMBERS:
            table[name] = table[name].astype("category")
    start = time.process_time()
    parts = Mondrian(table, QUASI, "salary-class").partition(k)
    spent = time.process_time() - start
    return [table.loc[part, "id"].tolist() for part in parts], spent


def anjana(table, k, folder):
    from anjana.anonymity import k_anonymity

    hierarchies = {}
    for name in QUASI:
        levels = pd.read_csv(f"{folder}/adult_hierarchies/{name}.csv", sep=";", header=None, dtype=str)
        if name in NUMBERS:
            levels[0] = levels[0].astype(int)
        hierarchies[name] = {level: levels[level].values for level in levels.columns}
    kept = table[["id"] + QUASI].copy()
    start = time.process_time()
    done = k_anonymity(kept, [], QUASI, k, 5, hierarchies)
    spent = time.process_time() - start
    return [group["id"].tolist() for _, group in done.groupby(QUASI)], spent


def main():
    tool, folder, k, out = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    table = pd.read_csv(f"{folder}/adult.csv")
    table = table[table["id"] <= 30162].reset_index(drop=True)
    groups, spent = {"anonypy": anonypy, "anjana": anjana}[tool](table, k, folder)
    with open(out, "w") as file:
        for group in groups:
            file.write(" ".join(str(identifier) for identifier in group) + "\n")
    # Not getrusage: what it says begins with the process that started this one.
    with open("/proc/self/status") as status:
        peak = next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM:"))
    print(json.dumps({"tool": tool, "cpu": spent, "peak_mb": peak, "groups": len(groups)}))


main()
