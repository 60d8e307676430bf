"""What a table from PostgreSQL costs next to a CSV file, and a delivery next to `\\copy`: `postgres_bench.py COMMAND ROWS`.

CPU seconds: of the client for `check`, `plan` and `publish`; of client and server together for a delivery, because `\\copy` leaves the
work of reading text to the server. Each figure is the median of three turns.

The limits are 1.3 for `plan` and 0.7 for a delivery. psql's own binary copy, which reads no release and checks no digest, needs 0.68 of a copy of CSV
by itself. So a delivery has 0.02 left for all that it does besides. Nothing fails because of a time."""

import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

from postgres import BINARY, POLICY, ROWS, House, Server

TURNS = 3
LIMITS = {"check": 1.3, "plan": 1.3, "deliver": 0.7}
BINARY_COPY = "psql's binary copy"


def client(words: list, house: House, more: tuple = ()) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([*words, *more], cwd=house.project, env=house.environment({}), capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, (words, done.stdout[-500:], done.stderr[-1500:])
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def ended_sessions(server: Server) -> float:
    """CPU of the sessions that have ended. They are counted a moment after their client has gone."""
    time.sleep(1)
    pid = (server.data / "postmaster.pid").read_text().split()[0]
    parts = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")")[-1].split()
    return (int(parts[13]) + int(parts[14])) / os.sysconf("SC_CLK_TCK")


def both(words: list, house: House) -> float:
    before = ended_sessions(house.server)
    own = client(words, house)
    return own + ended_sessions(house.server) - before


def line(task: str, ours: list[float], theirs: list[float]) -> float:
    ours, theirs = statistics.median(ours), statistics.median(theirs)
    print(f"| {task} | {theirs:.2f} | {ours:.2f} | {ours / theirs:.2f} | {LIMITS.get(task, '')} |", flush=True)
    return ours / theirs


def judged(what: str, ratio: float, limit: float) -> None:
    print(f"{what}: {ratio:.2f}, limit {limit}: {'within' if ratio <= limit else 'ABOVE THE LIMIT'}")


def main() -> None:
    rows = int(sys.argv[2])
    with tempfile.TemporaryDirectory(prefix="tacenda-pg-") as folder:
        root = pathlib.Path(folder)
        root.chmod(0o755)
        (root / "server").mkdir()
        server = Server(root / "server")
        try:
            compare(root, server, rows)
        finally:
            server.stop("immediate")


def compare(root: pathlib.Path, server: Server, rows: int) -> None:
    server.sql(ROWS.format(first=1, last=rows))
    server.sql("vacuum analyze hospital.stays")
    house = House(root / "house", server)
    policy = POLICY.format(rows='table = "hospital.stays"')
    without = policy.split("[source]")[0] + "[columns]" + policy.split("[columns]")[1]
    house.policy(without)
    text = server.sql("copy (select id, age, weight, admitted, sex, illness from hospital.stays) to stdout (format csv, header)")
    (house.project / "stays.csv").write_text(text + "\n")
    url = f"postgresql://ward_ro@127.0.0.1:{server.port}/hospital?table=hospital.stays"
    print(f"{rows:,} rows; CPU s\n| task | file | PostgreSQL | ratio | limit |\n|---|--:|--:|--:|--:|")
    ratios = {}
    for verb, more in [("check", []), ("plan", ["--label", "a"]), ("publish", ["--label", "a", "--yes"])]:
        spent = {"stays.csv": [], url: []}
        for turn in range(TURNS):
            for data, times in spent.items():
                fresh = house.copy(f"{verb}-{turn}-{data[:5]}") if verb == "publish" else house
                times.append(client([BINARY, verb, data, *more], fresh))
        ratios[verb] = line(verb, spent[url], spent["stays.csv"])
    client([BINARY, "publish", "stays.csv", "--label", "a", "--yes"], house)
    house.policy(policy)
    table, file = "open_data.ward_stays_r0001", root / "house/delivered.csv"
    delivered, copied, in_binary = [], [], []
    psql = [*server.words("postgres", "hospital"), "-v", "ON_ERROR_STOP=1", "-c"]
    for _ in range(TURNS):
        server.sql("drop schema open_data cascade; create schema open_data authorization open_rw; drop table if exists public.copied")
        delivered.append(both([BINARY, "deliver", "open", "--release", "a"], house))
        # The same rows into the same columns and types.
        file.write_text(server.sql(f"copy {table} to stdout (format csv, header)") + "\n")
        server.sql(f"create table public.copied as select * from {table} limit 0")
        copied.append(both([*psql, f"\\copy public.copied from '{file}' (format csv, header)"], house))
        client([*psql, f"\\copy {table} to '{file}.binary' (format binary)"], house)
        server.sql("truncate public.copied")
        in_binary.append(both([*psql, f"\\copy public.copied from '{file}.binary' (format binary)"], house))
    ratios["deliver"] = line("deliver", delivered, copied)
    alone = line(BINARY_COPY, in_binary, copied)
    judged("plan from PostgreSQL, of plan from CSV", ratios["plan"], LIMITS["plan"])
    judged("delivery, of psql's copy of CSV", ratios["deliver"], LIMITS["deliver"])
    print(f"{BINARY_COPY} alone, of psql's copy of CSV: {alone:.2f} (0.68 when the limit was set)")


if __name__ == "__main__":
    main()
