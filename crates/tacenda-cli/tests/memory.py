"""Publishes a table from disk, and measures the most memory that the command ever had.

Usage: memory.py TACENDA [ROWS MIB]. Without numbers 2 million rows within 150 MiB. The limit is the peak of the resident set that
the kernel counts (VmHWM), because an allocator may reserve addresses that it never uses.
"""

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
age = { role = "quasi", type = "integer", domain = [0, 100] }
place = { role = "quasi", type = "integer", domain = [0, 1000] }
since = { role = "quasi", type = "integer", domain = [0, 3650] }
sex = { role = "quasi", type = "category", values = ["m", "f"] }
illness = { role = "sensitive", type = "category" }
[promise]
model = "incremental-k-anonymity"
k = 10
[output]
formats = ["csv", "parquet"]
"""


def write(path, rows):
    lot = 1
    with open(path, "w") as out:
        out.write("id,age,place,since,sex,illness\n")
        for one in range(rows):
            # A linear congruence: as even as this needs, and many times as fast as a library of chance.
            lot = (lot * 6364136223846793005 + 1442695040888963407) & 0xFFFFFFFFFFFFFFFF
            age, illness = ((lot >> 20) % 51 + (lot >> 26) % 51), ((lot >> 32) % 5) * ((lot >> 36) % 4)
            out.write(f"p{one},{age},{(lot >> 40) % 1000},{(lot >> 50) % 3650},{'mf'[one & 1]},i{illness}\n")


def peak(process):
    """The most memory a process ever had, in MiB; 0 once it has ended."""
    try:
        lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
        return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), 0)
    except OSError:
        return 0


def main(command, rows=2_000_000, allowed=150):
    if not Path("/proc/self/status").exists():
        print("SKIPPED: this system does not say how much memory a process had")
        return
    with tempfile.TemporaryDirectory() as root:
        root = Path(root)
        (root / "project").mkdir()
        (root / "project" / "tacenda.toml").write_text(POLICY)
        write(root / "table.csv", rows)
        own = ["--keys", root / "keys", "--anchor", root / "anchor", "--project", root / "project"]
        words = [command, "publish", root / "table.csv", "--yes", "--memory", f"{allowed}M", *own]
        with open(root / "said", "w") as said:
            process = subprocess.Popen([str(word) for word in words], stdout=said, stderr=said)
            most = 0
            while process.poll() is None:
                most = max(most, peak(process))
                time.sleep(0.02)
        said = (root / "said").read_text()
        assert process.returncode == 0, said
        assert "the people were kept on disk" in said, said
        assert most > 10, "the memory was not measured"
        assert most <= allowed, f"{rows} rows took {most:.0f} MiB, and --memory allows {allowed}"
        print(f"memory: {rows} rows from disk took {most:.0f} MiB of {allowed}")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
