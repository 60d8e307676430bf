"""Every byte that the command ever writes, to any file, as the kernel sees it: no cell of the table is among them.

strace shows each write with its file, so that staging, spooled input and temporary files without a name are seen too.
Published values stand in releases and reports for recipients; those files may hold texts of values, and never identifiers."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

import stays

POLICY = stays.POLICY.replace("age =", 'note = { role = "drop" }\nage =', 1)

WRITES = "write,pwrite64,writev,pwritev,pwritev2,sendfile,copy_file_range,splice"
# What recipients get, and what is said to the steward.
PUBLIC = re.compile(r"/\.tacenda/staging/|/releases/|/dev/|<pipe:|<socket:|/report\.html")


def main() -> None:
    binary = pathlib.Path(sys.argv[1]).resolve()
    sealed, plain = (sing(binary, seals) for seals in (True, False))
    assert sealed[1] > 30, sealed
    assert not sealed[0], f"cells were written to {sorted(sealed[0])}"
    assert plain[0], "without encryption the canaries must be seen, or this test sees nothing"
    print(f"{sealed[1]} files were written, and no cell is in them; {len(plain[0])} where the vault is decrypted")


def sing(binary: pathlib.Path, seals: bool) -> tuple[set[str], int]:
    """Plans, publishes, retracts, erases, backs up, rekeys and audits. Where cells were written, and to how many files anything was."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder).resolve()
        (root / "tmp").mkdir()
        os.environ["TMPDIR"] = str(root / "tmp")
        project = stays.project(root, POLICY)
        found: set[str] = set()
        files: set[str] = set()

        def tacenda(*words: str, given: str = "") -> None:
            log = root / "log"
            trace = ["strace", "-f", "-y", "-xx", "-s", "4000000", "-e", f"trace={WRITES}", "-o", log]
            done = subprocess.run([*trace, binary, *words], cwd=project, input=given, capture_output=True, text=True)
            assert done.returncode == 0, (words, done.stderr)
            for path, text in writes(log.read_text()):
                files.add(path)
                if b"canary-id" in text or b"canary-note" in text or (b"canary-" in text and not PUBLIC.search(path)):
                    found.add(path)

        def table(first: int) -> str:
            illness = ["canary-flu", "canary-gout", "canary-asthma", "canary-angina"]
            row = lambda id: f"canary-id-{id},canary-note,{20 + id % 50},{illness[id % 4]}\n"
            return "id,note,age,illness\n" + "".join(map(row, range(first, first + 40)))

        (project / "table.csv").write_text(table(0))
        tacenda("plan", "table.csv")
        tacenda("publish", "--plan", "tacenda-plan.json", "--yes")
        if not seals:
            tacenda("vault", "unlock", "--yes")
        tacenda("publish", "-", "--yes", given=table(5))
        tacenda("retract", "1", "--because", "a test")
        tacenda("erase", given="canary-id-7\n")
        tacenda("backup", "../all.age")
        if seals:
            tacenda("vault", "rekey")
        tacenda("check", "table.csv")
        tacenda("verify")
        return found, len(files)


def writes(log: str):
    """Each write of a trace: the file, and the bytes."""
    for line in log.splitlines():
        call = re.match(r"\d+ +\w+\(\d+<((?:\\x[0-9a-f]{2})*)>", line)
        if call:
            unescaped = [bytes.fromhex(text.replace("\\x", "")) for text in re.findall(r'"((?:\\x[0-9a-f]{2})*)"', line)]
            yield bytes.fromhex(call[1].replace("\\x", "")).decode(), b"".join(unescaped)


main()
