"""A table of what `fuzz/lines` measured: per reader, how many lines and regions of its files were reached."""

import json
import pathlib
import sys

# The files of each reader, below crates/tacenda/src. Files that several readers share are counted for the first.
READERS = {
    "release, cell": ["ingest/foreign/"],
    "policy": ["settings/", "ingest/policy_file/", "promise/series/policy_file", "model/date_pattern.rs"],
    "hierarchy": ["model/hierarchy.rs"],
    "delta": ["ingest/delta.rs"],
    "snapshot": ["ingest/"],
    "ledger": ["ledger/line.rs", "ledger/recover.rs", "ledger/verify.rs", "ledger/head.rs"],
    "question": ["folder/query.rs"],
    "folder": ["folder/read", "folder/manifest.rs", "folder/digest.rs", "folder/public_schema.rs"],
    "plan": ["use_cases/plan.rs"],
    "receipt, anchor": ["ledger/receipt.rs", "ledger/anchor.rs"],
    "backup": ["ledger/backup.rs"],
    "age, signature, statement": ["keys/"],
    "audit": ["use_cases/explain/case.rs"],
}
# No readers: what `init` drafts, what writes, and the words of errors.
OTHERS = ["ingest/draft/", "ingest/error.rs", "ingest/mod.rs"]


def main() -> None:
    files = json.load(open(sys.argv[1]))["data"][0]["files"]
    found: dict[str, list[int]] = {name: [0, 0, 0, 0, 0] for name in READERS}
    never: list[str] = []
    for file in files:
        name = file["filename"].partition("crates/tacenda/src/")[2]
        if not name or any(name.startswith(other) for other in OTHERS):
            continue
        for reader, places in READERS.items():
            if any(name.startswith(place) for place in places):
                lines, regions = file["summary"]["lines"], file["summary"]["regions"]
                more = [1, lines["covered"], lines["count"], regions["covered"], regions["count"]]
                found[reader] = [have + one for have, one in zip(found[reader], more)]
                if lines["count"] and not lines["covered"]:
                    never.append(name)
                break
    print("| reader | files | lines | of | | regions | of | |\n|---|--:|--:|--:|--:|--:|--:|--:|")
    total = [sum(column) for column in zip(*found.values())]
    for reader, (count, lines, of_lines, regions, of_regions) in [*found.items(), ("all", total)]:
        share = lambda some, of: f"{100 * some / of:.0f} %" if of else "–"
        print(f"| {reader} | {count} | {lines:,} | {of_lines:,} | {share(lines, of_lines)} | {regions:,} | {of_regions:,} | {share(regions, of_regions)} |")
    print("\nnever reached:", ", ".join(pathlib.PurePath(name).as_posix() for name in never) or "none")


main()
