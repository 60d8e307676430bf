"""Publishes a table from disk, then the table with more people, and measures the most memory that the command ever had.

Usage: memory.py TACENDA [ROWS MIB [PROMISE]]. Without numbers 2 million rows within 150 MiB, and then one in a hundred more. PROMISE is
cohorts (if not given) or m-invariance. The limit is the peak of the resident set that the kernel counts (VmHWM), because an allocator may reserve addresses
that it never uses. Processor time and the disk space of scratch files are told, too.
"""

import itertools
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

POLICY = """
policy = 1
[series]
name = "people"
[columns]
id = { role = "identifier" }
age = { role = "quasi", type = "integer", domain = [0, 101] }
place = { role = "quasi", type = "integer", domain = [0, 1000] }
since = { role = "quasi", type = "integer", domain = [0, 3650] }
sex = { role = "quasi", type = "category", values = ["m", "f"] }
illness = { role = "sensitive", type = "category" }
[output]
formats = ["csv", "parquet"]
[promise]
"""
PROMISES = {
    "cohorts": 'model = "incremental-k-anonymity"\nk = 10\n',
    # Two in five have the commonest value: more than m = 2 could not be kept.
    "m-invariance": 'model = "m-invariance"\nm = 2\n',
}


def lines():
    """The lines of a table, without end."""
    yield "id,age,place,since,sex,illness\n"
    lot = 1
    for one in itertools.count():
        # A linear congruence: as even as this needs, and many times as fast as a library of chance.
        lot = (lot * 6364136223846793005 + 1442695040888963407) & 0xFFFFFFFFFFFFFFFF
        age, illness = ((lot >> 20) % 51 + (lot >> 26) % 51), ((lot >> 32) % 5) * ((lot >> 36) % 4)
        yield f"p{one},{age},{(lot >> 40) % 1000},{(lot >> 50) % 3650},{'mf'[one & 1]},i{illness}\n"


def peak(process):
    """The most memory a process ever had, in MiB; 0 once it has ended."""
    try:
        lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
        return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), 0)
    except OSError:
        return 0


def scratch(folder):
    """The disk space of the scratch files that there are now, in bytes."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                path = Path(place, name)
                total += path.stat().st_size if "scratch" in str(path.relative_to(folder)) else 0
            except OSError:
                continue
    return total


def publish(root, words, what, rows, allowed):
    """Publishes the table, and says what it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(root / "said", "w") as said:
        process = subprocess.Popen([str(word) for word in words], stdout=said, stderr=said)
        most, files, turn = 0, 0, 0
        while process.poll() is None:
            most = max(most, peak(process))
            # Rarely: this walks through a folder of many files.
            if turn % 50 == 0:
                files = max(files, scratch(root / "project" / ".tacenda"))
            turn += 1
            time.sleep(0.02)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    said = (root / "said").read_text()
    assert process.returncode == 0, said
    assert "the people were kept on disk" in said, said
    assert most > 10, "the memory was not measured"
    assert most <= allowed, f"{what} of {rows} rows took {most:.0f} MiB, and --memory allows {allowed}"
    print(
        f"memory: {what} of {rows} rows from disk took {most:.0f} MiB of {allowed}, {used:.0f} s of processor time, and scratch files "
        f"of {files / rows:.0f} bytes a row", flush=True
    )


def main(command, rows=2_000_000, allowed=150, promise="cohorts"):
    if not Path("/proc/self/status").exists():
        print("SKIPPED: this system does not say how much memory a process had")
        return
    with tempfile.TemporaryDirectory() as root:
        root = Path(root)
        (root / "project").mkdir()
        (root / "project" / "tacenda.toml").write_text(POLICY + PROMISES[promise])
        own = ["--keys", root / "keys", "--anchor", root / "anchor", "--project", root / "project"]
        words = [command, "publish", root / "table.csv", "--yes", "--memory", f"{allowed}M", *own]
        table, total = lines(), 0
        (root / "table.csv").write_text(next(table))
        for what, more in (("a first release", rows), ("an update", rows // 100)):
            with open(root / "table.csv", "a") as out:
                out.writelines(itertools.islice(table, more))
            total += more
            publish(root, words, f"{what} ({promise})", total, allowed)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:4]), *sys.argv[4:])
