"""What publishing from Spark costs, next to Spark's own reading and writing, and next to one process.

Usage: spark_bench.py TACENDA ROWS…, with the package on PYTHONPATH. Prints a line of JSON per size: processor seconds of all processes.
"""

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tacenda.spark import Series

os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
os.environ["PYSPARK_PYTHON"] = sys.executable

POLICY = """
policy = 1
[series]
name = "bench"
[columns]
id = { role = "identifier" }
age = { role = "quasi", type = "integer", domain = [0, 100] }
zip = { role = "quasi", type = "integer", domain = [0, 10000] }
sex = { role = "quasi", type = "category", values = ["f", "m"] }
since = { role = "quasi", type = "integer", domain = [1990, 2030] }
illness = { role = "sensitive", type = "category" }
[promise]
model = "incremental-k-anonymity"
k = 10
[withheld]
max_share = 1.0
[output]
formats = ["csv"]
"""


def processor_seconds():
    """Of this process and all its descendants, as far as they were reaped or are alive."""
    children, own = {}, {}
    tick = os.sysconf("SC_CLK_TCK")
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            facts = Path(f"/proc/{entry}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        children.setdefault(int(facts[1]), []).append(int(entry))
        own[int(entry)] = sum(map(int, facts[11:15])) / tick
    total, todo = 0.0, [os.getpid()]
    while todo:
        one = todo.pop()
        total += own.get(one, 0.0)
        todo += children.get(one, [])
    return total


def spent(work):
    before = processor_seconds()
    work()
    return round(processor_seconds() - before, 1)


def project(root):
    folder = Path(tempfile.mkdtemp(dir=root))
    (folder / "tacenda.toml").write_text(POLICY)
    return folder


def alone(command, root, table, label, folder, *more):
    """The command, in a process of its own: processor seconds and peak megabytes."""
    words = [
        command, "publish", table, "--yes", "--label", label, "--project", folder, "--anchor", root / "anchors", "--keys", root / "keys",
    ]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(word) for word in [*words, *more]], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1)


def lines(folder):
    found = {str(file.relative_to(folder)): file.read_bytes() for file in sorted((folder / "releases").rglob("*.csv"))}
    assert found, "there is something to compare"
    return found


def main(command, sizes):
    from pyspark.sql import SparkSession

    root = Path(tempfile.mkdtemp())
    spark = (
        SparkSession.builder.master("local[2]").appName("tacenda bench").config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "3g").config("spark.sql.shuffle.partitions", "8").getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    own = {"anchor": root / "anchors", "keys": root / "keys"}

    def made_up(people, name):
        path = str(root / name)
        lot = lambda salt, size: f"pmod(xxhash64(id, {salt}), {size})"
        spark.range(people).selectExpr(
            "concat('p', id) as id", f"{lot(1, 50)} + {lot(2, 50)} as age", f"{lot(3, 10000)} as zip",
            f"if({lot(4, 2)} = 0, 'f', 'm') as sex", f"1990 + {lot(5, 36)} as since", f"concat('illness ', {lot(6, 20)}) as illness",
        ).coalesce(1).write.mode("overwrite").parquet(path)
        return path

    def publish(path, folder, label):
        Series(spark, at=folder, **own).publish(spark.read.parquet(path), label)

    warm = made_up(20000, "warm")
    publish(warm, project(root), "warm")
    spark.read.parquet(warm).write.mode("overwrite").csv(str(root / "out"))
    for rows in sizes:
        first, more = made_up(rows, "first"), made_up(rows + rows // 10, "more")
        file, later = (next(Path(path).glob("*.parquet")) for path in (first, more))
        facts = {"rows": rows}
        facts["spark reads and writes"] = spent(lambda: spark.read.parquet(first).write.mode("overwrite").csv(str(root / "out")))
        base = project(root)
        subprocess.run(
            [command, "plan", file, "--project", base, "--anchor", root / "anchors", "--keys", root / "keys", "--memory", "64G"],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=root,
        )
        folders = {}
        for way in ("spark", "memory", "disk"):
            folders[way] = root / f"{way} {rows}"
            shutil.copytree(base, folders[way])
        for label, path, table in (("first", first, file), ("update", more, later)):
            for way in ("spark", "memory", "disk"):
                # Copies of one series would contradict each other in one anchor.
                shutil.rmtree(root / "anchors", ignore_errors=True)
                if way == "spark":
                    facts[f"{label}: spark"] = spent(lambda: publish(path, folders[way], label))
                else:
                    limit = ["--memory", f"{170 + rows * 100 // 1000000}M"] if way == "disk" else []
                    facts[f"{label}: {way}"] = alone(command, root, table, label, folders[way], *limit)
            assert lines(folders["spark"]) == lines(folders["memory"]) == lines(folders["disk"]), "the same lines"
        print(json.dumps(facts), flush=True)
    spark.stop()
    shutil.rmtree(root)


if __name__ == "__main__":
    main(sys.argv[1], [int(size) for size in sys.argv[2:]])
