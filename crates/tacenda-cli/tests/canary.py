"""Every byte that the command ever writes, to any file, as the kernel sees it: no cell of the table is among them.

strace shows each write with its file, so that staging, spooled input, scratch files of people on disk and temporary files without
a name are seen too. Published values stand in releases and reports for recipients; those files may hold texts of values, and
never identifiers. It shows as well that the anchor's folder is synced after the anchor has its name."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import stays

POLICY = stays.POLICY.replace("age =", 'note = { role = "drop" }\nage =', 1)

WRITES = "write,pwrite64,writev,pwritev,pwritev2,sendfile,copy_file_range,splice"
SYNCS = "fsync,rename,renameat,renameat2"
# So many people that they are kept on disk, with the least memory that is allowed.
MANY, LITTLE = 430_000, "122M"
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
    """Everything that reads the table or the vault. Where cells were written, and to how many files anything was."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder).resolve()
        (root / "tmp").mkdir()
        os.environ["TMPDIR"] = str(root / "tmp")
        project = stays.project(root, POLICY)
        found: set[str] = set()
        files: set[str] = set()

        def tacenda(*words: str, given: str = "", here: pathlib.Path = project) -> str:
            log = root / "log"
            trace = ["strace", "-f", "--seccomp-bpf", "-y", "-xx", "-s", "4000000", "-e", f"trace={WRITES},{SYNCS}", "-o", log]
            done = subprocess.run([*trace, binary, *words], cwd=here, input=given, capture_output=True, text=True)
            assert done.returncode == 0, (words, done.stderr)
            for path, text in writes(log):
                files.add(path)
                if b"canary-id" in text or b"canary-note" in text or (b"canary-" in text and not PUBLIC.search(path)):
                    found.add(path)
            if words[0] == "publish":
                assert anchor_is_synced(log), "the folder of the anchor is not synced after the rename"
            return done.stdout

        def table(first: int, people: int = 40) -> str:
            illness = ["canary-flu", "canary-gout", "canary-asthma", "canary-angina"]
            row = lambda id: f"canary-id-{id},canary-note,{20 + id % 50},{illness[id % 4]}\n"
            return "id,note,age,illness\n" + "".join(map(row, range(first, first + people)))

        (project / "table.csv").write_text(table(0))
        tacenda("plan", "table.csv")
        tacenda("publish", "--plan", "tacenda-plan.json", "--yes")
        if not seals:
            tacenda("vault", "unlock", "--yes")
        tacenda("publish", "-", "--yes", given=table(5))
        tacenda("audit", "--fail-on", "never")
        tacenda("audit", "--fail-on", "never", "--truth", "table.csv", "table.csv")
        tacenda("report", "-o", "report.html")
        tacenda("retract", "1", "--because", "a test")
        tacenda("erase", given="canary-id-7\n")
        tacenda("retain", "1")
        tacenda("backup", "../all.age")
        tacenda("check", "table.csv")
        tacenda("verify")
        tacenda("-C", "../again", "restore", "../all.age")
        if seals:
            tacenda("vault", "rekey")
            adopts(root, tacenda, table)
            keeps_people_on_disk(root, tacenda, table)
        return found, len(files)


def beside(root: pathlib.Path, name: str, policy: str, rows: str) -> pathlib.Path:
    """Another project with a table."""
    folder = root / name
    folder.mkdir()
    (folder / "tacenda.toml").write_text(policy.replace('"stays"', f'"{name}"'))
    (folder / "table.csv").write_text(rows)
    return folder


def adopts(root: pathlib.Path, tacenda, table) -> None:
    """A release that was made elsewhere begins a series."""
    here = beside(root, "adopts", POLICY, table(0))
    (data,) = (root / "project/releases/stays/r0001").glob("*-r0001.csv")
    shutil.copy(data, here / "theirs.csv")
    tacenda("adopt", "theirs.csv", "--truth", "table.csv", "--yes", here=here)


def keeps_people_on_disk(root: pathlib.Path, tacenda, table) -> None:
    """A table that needs more memory than is allowed goes through scratch files."""
    policy = POLICY.replace('model = "m-invariance"\nm = 2', 'model = "incremental-k-anonymity"\nk = 500')
    here = beside(root, "many", policy, table(0, MANY))
    said = tacenda("publish", "table.csv", "--memory", LITTLE, "--yes", here=here)
    assert "the people were kept on disk" in said, said


def calls(log: pathlib.Path):
    """Each call of a trace: its name, the file that it is about, if it has one, and the texts that it was given."""
    unescaped = lambda text: bytes.fromhex(text.replace("\\x", ""))
    with log.open() as lines:
        for line in lines:
            call = re.match(r"\d+ +(\w+)\((?:\d+<((?:\\x[0-9a-f]{2})*)>)?", line)
            if call:
                texts = [unescaped(text) for text in re.findall(r'"((?:\\x[0-9a-f]{2})*)"', line)]
                yield call[1], unescaped(call[2] or "").decode(), texts


def writes(log: pathlib.Path):
    """Each write of a trace: the file, and the bytes."""
    for name, path, texts in calls(log):
        if path and name in WRITES.split(","):
            yield path, b"".join(texts)


def anchor_is_synced(log: pathlib.Path) -> bool:
    """Whether the folder is synced after the last anchor got its name."""
    synced = None
    for name, path, texts in calls(log):
        if name.startswith("rename") and texts and re.search(rb"/anchors/[0-9a-f]+\.json$", texts[-1]):
            synced = False
        elif name == "fsync" and path.endswith("/anchors"):
            synced = True
    return synced is True


main()
