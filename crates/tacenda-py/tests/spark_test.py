"""Publishes from a real Spark of several processes, and compares with the way in memory.

Usage: spark_test.py TACENDA, with the package on PYTHONPATH, pyspark[connect] and pyarrow installed, and a Java. `spark_test.py --drive …`
is a driver that is killed, `spark_test.py --connect …` one that knows its cluster through Spark Connect only.
"""

import doctest
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pyarrow
import pyarrow.parquet
import tacenda
from tacenda import objects
from tacenda.objects import Bucket, fetch
from tacenda.spark import Series

os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
os.environ["PYSPARK_PYTHON"] = sys.executable

POLICY = """
policy = 1
[series]
name = "stays"
[columns]
id = { role = "identifier" }
age = { role = "quasi", type = "integer", domain = [0, 100], grid = 5 }
place = { role = "quasi", type = "category", hierarchy = "place.csv" }
since = { role = "quasi", type = "date", domain = [2020-01-01, 2027-01-01] }
illness = { role = "sensitive", type = "category" }
ward = { role = "public", because = "a test" }
[promise]
model = "incremental-k-anonymity"
k = 5
on_delete = "withhold"
[withheld]
max_share = 0.5
[output]
formats = ["csv", "parquet"]
linked_ids = true
"""


def session(master):
    from pyspark.sql import SparkSession

    conf = {
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "4",
        "spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"],
        "spark.io.encryption.enabled": "true",
        "spark.driver.memory": "1g",
    }
    builder = SparkSession.builder.master(master).appName("tacenda")
    for name, value in conf.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def people(ids, seed=1):
    """People, who are the same whenever they are made."""
    rows = []
    for one in ids:
        lots = random.Random(f"{seed} {one}")
        age = None if lots.random() < 0.05 else int(lots.triangular(0, 100, 40))
        since = f"{lots.randrange(2020, 2027)}-{lots.randrange(1, 13):02}-{lots.randrange(1, 29):02}"
        illness = f"illness {int(lots.expovariate(0.3)) % 12}"
        rows.append((f"p{one}", age, f"town {lots.randrange(30)}", since, illness, f"ward {lots.randrange(4)}"))
    return rows


def table(rows):
    columns = list(zip(*rows))
    kinds = [pyarrow.string(), pyarrow.int64()] + 4 * [pyarrow.string()]
    names = ["id", "age", "place", "since", "illness", "ward"]
    return pyarrow.table({name: pyarrow.array(column, kind) for name, column, kind in zip(names, columns, kinds)})


class Lab:
    """A project, to be copied with its seed, and the releases of the way in memory."""

    def __init__(self, root, rounds, policy=POLICY):
        self.root, self.rounds, self.copies = root, rounds, 0
        base = root / "base"
        base.mkdir()
        (base / "tacenda.toml").write_text(policy)
        (base / "place.csv").write_text("".join(f"town {one};county {one // 5};*\n" for one in range(30)))
        tacenda.Project(base, **self.own(base)).rehearse(table(rounds[0]))
        self.base = base
        self.memory = self.copy()
        self.wanted = []
        for number, rows in enumerate(rounds):
            tacenda.Project(self.memory, **self.own(self.memory)).publish(table(rows), f"round {number}")
            self.wanted.append(data(self.memory))
            assert len([name for name in self.wanted[-1] if name.endswith(".csv")]) > number, "there is something to compare"

    def own(self, folder):
        return {"anchor": self.root / f"anchor {folder.name}", "keys": self.root / "keys"}

    def copy(self, of=None):
        self.copies += 1
        folder = self.root / f"copy {self.copies}"
        shutil.copytree(of or self.base, folder)
        if of is not None:
            shutil.copytree(self.own(of)["anchor"], self.own(folder)["anchor"])
        return folder

    def series(self, spark, folder, **how):
        return Series(spark, at=folder, **self.own(folder), **how)


def data(folder):
    """The data files of all releases."""
    files = sorted((folder / "releases").rglob("*"))
    return {str(file.relative_to(folder)): file.read_bytes() for file in files if file.suffix in (".csv", ".parquet")}


def scratch(folder):
    return [file for file in (folder / ".tacenda" / "vault").iterdir() if "scratch" in file.name]


def frame(spark, rows, partitions, turn):
    rows = list(rows)
    random.Random(turn).shuffle(rows)
    return spark.createDataFrame(table(rows)).repartition(partitions)


def fails(code, work):
    try:
        work()
    except tacenda.TacendaError as error:
        assert error.code == code, f"{error.code} in place of {code}: {error}"
        return str(error)
    raise AssertionError(f"{code} was expected")


def executors():
    """The executors among our descendants."""
    parents, words = {}, {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            parents[int(entry)] = int(Path(f"/proc/{entry}/stat").read_text().rsplit(")", 1)[1].split()[1])
            words[int(entry)] = Path(f"/proc/{entry}/cmdline").read_bytes()
        except OSError:
            continue
    mine = {os.getpid()}
    for _ in range(10):
        mine |= {child for child, parent in parents.items() if parent in mine}
    is_executor = lambda one: b"CoarseGrainedExecutorBackend" in words[one] and b"java" in words[one].split(b"\0")[0]
    return sorted(one for one in mine if one in words and is_executor(one))


def equal_digests(lab, spark):
    """Partitions, orders, parts and units make no difference: first release and three updates."""
    ways = [(3, 4, 300), (7, 8, 120)] + [(1, 1, 100000)] * ("TACENDA_LONG" in os.environ)
    for partitions, parts, unit in ways:
        folder = lab.copy()
        for number, rows in enumerate(lab.rounds):
            series = lab.series(spark, folder, parts=parts, unit=unit)
            release = series.publish(frame(spark, rows, partitions, number + unit), f"round {number}")
            assert not release.already and release.number == number + 1
            assert data(folder) == lab.wanted[number], f"round {number} with {partitions}, {parts}, {unit}"
            assert not scratch(folder)
        assert subprocess.run(
            [lab.command, "verify", "--project", folder, "--keys", lab.own(folder)["keys"], "--anchor", lab.own(folder)["anchor"]],
            stdout=subprocess.DEVNULL,
        ).returncode == 0
    return folder


def taking_turns(lab, spark):
    """Spark and the way in memory go on with each other's vault."""
    folder = lab.copy()
    for number, rows in enumerate(lab.rounds):
        if number % 2 == 0:
            lab.series(spark, folder, parts=2, unit=200).publish(frame(spark, rows, 2, 5), f"round {number}")
        else:
            tacenda.Project(folder, **lab.own(folder)).publish(table(rows), f"round {number}")
        assert data(folder) == lab.wanted[number]


def retries(lab, spark, published):
    """The same rows under the same label are no new release; other rows are refused."""
    before = data(published)
    series = lab.series(spark, published, parts=4, unit=500)
    again = series.publish(frame(spark, lab.rounds[-1], 5, 77), f"round {len(lab.rounds) - 1}")
    assert again.already and again.number == len(lab.rounds) and data(published) == before
    fails("R608", lambda: series.publish(frame(spark, lab.rounds[0], 2, 1), "round 1"))
    assert data(published) == before


def refusals(lab, spark):
    folder = lab.copy()
    series = lab.series(spark, folder, parts=4, unit=300)
    rows = lab.rounds[0]
    twice = frame(spark, rows, 3, 1).unionAll(frame(spark, rows[:1], 1, 1))
    assert "2 rows" in fails("D104", lambda: series.publish(twice, "one"))
    fails("R201", lambda: series.publish(frame(spark, rows, 3, 1), "12"))
    fails("D101", lambda: series.publish(frame(spark, rows, 3, 1).drop("age"), "one"))
    old = [(one[0], 400, *one[2:]) for one in rows[:3]] + rows[3:]
    message = fails("D109", lambda: series.publish(frame(spark, old, 3, 1), "one"))
    assert "3 rows" in message and "400" not in message
    fails("D116", lambda: series.publish(frame(spark, rows, 3, 1).where("1 = 0"), "one"))
    fails("R701", lambda: lab.series(spark, folder, memory=1 << 20).publish(frame(spark, rows, 3, 1), "one"))
    (folder / "tacenda.toml").write_text(POLICY.replace("k = 5", "k = 5\nl = 2\ncohorts = false"))
    fails("R710", lambda: series.publish(frame(spark, rows, 3, 1), "one"))
    (folder / "tacenda.toml").write_text(POLICY.replace("k = 5", "k = -1"))
    try:
        series.publish(frame(spark, rows, 3, 1), "one")
        raise AssertionError("a bad policy was expected to be refused")
    except tacenda.InputError as error:
        assert error.code.startswith("P"), error.code
    assert not (folder / "releases").exists() or not data(folder)
    # A step that fails leaves nothing on the cluster.
    from pyspark.errors import PySparkException
    from pyspark.sql import functions

    try:
        broken = frame(spark, rows, 3, 1).withColumn("age", functions.expr("if(age >= 0, raise_error('broken'), age)"))
        lab.series(spark, lab.copy(), parts=4, unit=300).publish(broken, "one")
        raise AssertionError("a table that cannot be read was expected to be refused")
    except PySparkException:
        pass
    assert spark._jsparkSession.sharedState().cacheManager().isEmpty()


def other_promises(root, spark, everyone):
    """A first release and an update of the other promises, with the bytes of one machine."""
    told = POLICY.index("[promise]"), POLICY.index("[withheld]")
    churned = everyone[40:700] + [(*one[:4], "illness 2", one[5]) for one in everyone[700:705]] + everyone[705:1100]
    ways = {
        "buckets": ('model = "m-invariance"\nm = 3\non_ineligible = "defer"\n', churned),
        "cells": ('model = "incremental-k-anonymity"\nk = 5\ncohorts = false\n', everyone[:1100]),
        "drawn": ('model = "incremental-l-diversity"\nl = 2\nreader = "method"\ngroups = "drawn"\n', everyone[:1100]),
        "close": ('model = "incremental-l-diversity"\nl = 2\n', everyone[:1100]),
    }
    for name, (promise, second) in ways.items():
        policy = POLICY[: told[0]] + "[promise]\n" + promise + "[counterfeits]\nmax_share = 0.5\n" + POLICY[told[1] :]
        (root / name).mkdir()
        lab = Lab(root / name, [everyone[:900], second], policy.replace("linked_ids = true\n", ""))
        folder = lab.copy()
        for number, rows in enumerate(lab.rounds):
            series = lab.series(spark, folder, parts=4, unit=200)
            release = series.publish(frame(spark, rows, 3, number), f"round {number}")
            assert not release.already and data(folder) == lab.wanted[number], f"round {number} of {name}"
            assert not scratch(folder)


def random_tables(lab, spark):
    """A table that is another one each time it is read is refused, or published as it was read once."""
    from pyspark.sql import functions

    folder = lab.copy()
    rows = lab.rounds[0]
    moving = frame(spark, rows, 3, 1).withColumn("age", (functions.rand() * 99).cast("int"))
    series = lab.series(spark, folder, parts=4, unit=300)
    try:
        release = series.publish(moving, "one")
        assert len(release) > 0
    except tacenda.TacendaError as error:
        assert error.code == "R707", error
        assert not data(folder)


def a_killed_executor(lab, spark):
    folder = lab.copy()
    victims = []

    def strike(done, steps, what):
        if what == "grouping in the cluster" and not victims:
            victims.append(executors()[0])
            threading.Timer(0.4, lambda: os.kill(victims[0], signal.SIGKILL)).start()

    series = lab.series(spark, folder, parts=8, unit=60)
    series.publish(frame(spark, lab.rounds[0], 6, 3), "round 0", progress=strike)
    assert victims, "an executor was killed"
    assert victims[0] not in executors(), "it is gone"
    assert data(folder) == lab.wanted[0]


def two_drivers(lab, spark):
    """While one driver is at work, another is refused. One whole release is there in the end."""
    folder = lab.copy()
    refused = []

    def meanwhile(done, steps, what):
        if what == "grouping in the cluster" and not refused:
            other = lab.series(spark, folder, parts=2, unit=300)
            refused.append(fails("E701", lambda: other.publish(frame(spark, lab.rounds[1], 2, 1), "other")))

    lab.series(spark, folder, parts=4, unit=300).publish(frame(spark, lab.rounds[0], 3, 4), "round 0", progress=meanwhile)
    assert refused and data(folder) == lab.wanted[0]


def start_killed_driver(lab, when):
    """A driver that kills itself before or after the commit of the second release."""
    folder = lab.copy(of=lab.first)
    return folder, start_driver(lab, when, folder, folder)


def start_driver(lab, when, at, folder):
    path = lab.root / f"rows {folder.name}.parquet"
    pyarrow.parquet.write_table(table(lab.rounds[1]), path)
    own = lab.own(folder)
    words = [sys.executable, __file__, "--drive", when, at, path, own["anchor"], own["keys"], folder / "tacenda.toml"]
    return subprocess.Popen([str(word) for word in words], stderr=subprocess.DEVNULL)


def killed_drivers(lab, spark, started):
    for when, (folder, process) in started.items():
        assert process.wait(timeout=170) == -signal.SIGKILL, f"the driver was to be killed {when} the commit"
        is_there = (folder / "releases").exists() and data(folder) == lab.wanted[1]
        assert is_there == (when == "after"), when
        release = lab.series(spark, folder, parts=4, unit=300).publish(frame(spark, lab.rounds[1], 2, 9), "round 1")
        assert release.already == (when == "after") and release.number == 2
        assert data(folder) == lab.wanted[1] and not scratch(folder)


def drive(when, at, path, anchor, keys, policy):
    spark = session("local[2]")

    def die(done, steps, what):
        if when == "before" and what == "committing":
            os.kill(os.getpid(), signal.SIGKILL)

    series = Series(spark, policy, at, anchor=anchor, keys=keys, parts=2, unit=400)
    series.publish(spark.read.parquet(path), "round 1", progress=die)
    os.kill(os.getpid(), signal.SIGKILL)


def start_connected(lab):
    """Spark Connect has no session in its own process, so it gets a process of its own."""
    folder = lab.copy()
    paths = []
    for number, rows in enumerate(lab.rounds[:2]):
        paths.append(lab.root / f"connected {number}.parquet")
        pyarrow.parquet.write_table(table(rows), paths[-1])
    words = [sys.executable, __file__, "--connect", folder, lab.own(folder)["anchor"], lab.own(folder)["keys"], *paths]
    return folder, subprocess.Popen([str(word) for word in words], stderr=subprocess.DEVNULL)


def connected(lab, started):
    """A client of Spark Connect publishes the same bytes: first release and update."""
    folder, process = started
    assert process.wait(timeout=300) == 0, "the client of Spark Connect failed"
    assert data(folder) == lab.wanted[1] and not scratch(folder)


def connect(folder, anchor, keys, *paths):
    from pyspark.sql import SparkSession
    from pyspark.sql.connect.session import SparkSession as Connected

    # The server looks for a free port, on this machine only.
    builder = SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.connect.grpc.binding.address", "127.0.0.1").config("spark.sql.shuffle.partitions", "4")
    spark = builder.getOrCreate()
    assert isinstance(spark, Connected), "this is about Spark Connect"
    for number, path in enumerate(paths):
        series = Series(spark, at=folder, anchor=anchor, keys=keys, parts=2, unit=400)
        series.publish(spark.read.parquet(path), f"round {number}")
    spark.stop()


def moved(folder, url):
    """A project that was begun in a folder, in object storage: each line is an object."""
    bucket = Bucket(url)
    for number, line in enumerate((folder / ".tacenda" / "ledger.jsonl").read_bytes().splitlines(keepends=True)):
        bucket.put_if_absent(f".tacenda/ledger/{number + 1:08}", line)
    for file in (folder / ".tacenda" / "vault").iterdir():
        bucket.put(f".tacenda/vault-00000001/{file.name}", file.read_bytes())
    for file in filter(Path.is_file, (folder / "releases").rglob("*")):
        bucket.put(file.relative_to(folder).as_posix(), file.read_bytes())
    return bucket


class Stored:
    """A project in object storage, with the seed of the lab."""

    def __init__(self, lab, url, of=None):
        self.lab, self.url, self.folder = lab, url, lab.copy(of=of)
        self.bucket = moved(self.folder, url)

    def series(self, spark, **how):
        return Series(spark, self.folder / "tacenda.toml", self.url, **self.lab.own(self.folder), **how)

    def data(self, vault=False):
        """The data files of all releases, once the command has verified them."""
        copy = self.lab.root / f"fetched {len(list(self.lab.root.iterdir()))}"
        fetch(self.url, copy, vault=vault)
        assert (copy / ".tacenda" / "vault").exists() == vault
        own = self.lab.own(self.folder)
        words = [self.lab.command, "verify", copy, "--keys", own["keys"], "--anchor", own["anchor"]]
        assert subprocess.run(words, stdout=subprocess.DEVNULL).returncode == 0
        assert subprocess.run([self.lab.command, "log", "-C", copy], stdout=subprocess.DEVNULL).returncode == 0
        return data(copy)


def object_storage(lab, spark, stored):
    """A first release, an update and a retry, with the bytes of one machine."""
    for number, rows in enumerate(lab.rounds[:2]):
        series = stored.series(spark, parts=4, unit=300)
        release = series.publish(frame(spark, rows, 3, number), f"round {number}")
        assert release.url == f"{stored.url}/releases/stays/r{number + 1:04}" and release.folder is None
        assert not release.already and stored.data(vault=number == 1) == lab.wanted[number]
    again = stored.series(spark, parts=2, unit=500).publish(frame(spark, lab.rounds[1], 5, 7), "round 1")
    assert again.already and again.number == 2 and len(again) == len(release) and again.url == release.url
    keys = stored.bucket.list(".tacenda/")
    assert not [key for key in keys if "scratch" in key or "staging" in key], keys
    other = frame(spark, lab.rounds[0], 2, 1)
    fails("R608", lambda: stored.series(spark).publish(other, "round 1"))
    return release


def two_drivers_in_storage(lab, spark, url):
    """There are no locks: the driver that came last goes on, and the one before is told at its commit."""
    stored = Stored(lab, url)
    done = []

    def meanwhile(told, steps, what):
        if what == "committing" and not done:
            done.append(True)
            stored.series(spark, parts=2, unit=300).publish(frame(spark, lab.rounds[0], 2, 1), "round 0")

    first = stored.series(spark, parts=4, unit=300)
    fails("E708", lambda: first.publish(frame(spark, lab.rounds[0], 3, 4), "round 0", progress=meanwhile))
    assert done and stored.data() == lab.wanted[0]


def a_killed_driver_in_storage(lab, spark, stored, process):
    assert process.wait(timeout=170) == -signal.SIGKILL, "the driver was to be killed"
    assert len(stored.bucket.list("releases/stays/r0002/")) == 0
    release = stored.series(spark, parts=4, unit=300).publish(frame(spark, lab.rounds[1], 2, 9), "round 1")
    assert not release.already and stored.data(vault=True) == lab.wanted[1]
    assert not stored.bucket.list(".tacenda/staging/")


def interrupted_in_storage(lab, spark, url):
    """Ctrl-C before the commit ends the work. After it, the work goes on to its end, and then Ctrl-C is told of. Meanwhile all
    copies are made in pieces."""
    stored = Stored(lab, url)
    for name, is_published in (("list", False), ("copy", True)):
        came, call = [], getattr(Bucket, name)

        def interrupting(*said):
            if not came:
                came.append(True)
                signal.raise_signal(signal.SIGINT)
            return call(*said)

        setattr(Bucket, name, interrupting)
        limit, objects.COPIED_BY_THE_STORAGE = objects.COPIED_BY_THE_STORAGE, 0
        handler = signal.getsignal(signal.SIGINT)
        try:
            stored.series(spark, parts=4, unit=300).publish(frame(spark, lab.rounds[0], 3, 4), "round 0")
            raise AssertionError("Ctrl-C is told of")
        except KeyboardInterrupt:
            assert came, "it came where it was meant to"
        finally:
            setattr(Bucket, name, call)
            objects.COPIED_BY_THE_STORAGE = limit
        assert signal.getsignal(signal.SIGINT) is handler
        assert bool(stored.bucket.list("releases/")) == is_published, name
    assert stored.data() == lab.wanted[0] and not stored.bucket.list(".tacenda/staging/")


def copies_in_pieces(url):
    """A large object is copied by way of this machine. Its copy is whole, or not there."""
    bucket, content = Bucket(url), random.Random(1).randbytes(20 << 20)
    limit, objects.COPIED_BY_THE_STORAGE = objects.COPIED_BY_THE_STORAGE, 1 << 20
    try:
        bucket.put("whole", content)
        bucket.copy("whole", "copy")
        assert bucket.get("copy") == content

        for ended in (OSError("the line is cut"), KeyboardInterrupt()):
            calls = bucket._calls

            def first_piece_only(store, key, *, start, end):
                if start:
                    raise ended
                return calls.get_range(store, key, start=start, end=end)

            bucket._calls = SimpleNamespace(head=calls.head, open_writer=calls.open_writer, get_range=first_piece_only)
            try:
                bucket.copy("whole", "half")
                raise AssertionError("the copy was to end in the middle")
            except type(ended):
                pass
            finally:
                bucket._calls = calls
            assert not bucket.has("half") and sorted(bucket.list("")) == ["copy", "whole"]
        try:
            bucket.copy("nothing", "copy")
            raise AssertionError("there is nothing to copy")
        except FileNotFoundError:
            assert bucket.get("copy") == content
    finally:
        objects.COPIED_BY_THE_STORAGE = limit


def errors_are_one_line(bucket, absent):
    """No error tells what a request said, nor what the storage answered."""
    for work, kind in [
        (lambda: bucket.get("nothing"), FileNotFoundError),
        (lambda: bucket.chunks("nothing"), FileNotFoundError),
        (lambda: bucket.copy("nothing", "something"), FileNotFoundError),
        (lambda: bucket.put_if_absent("lines/0", b""), FileExistsError),
        (lambda: absent.list("folder/"), OSError),
        (lambda: absent.put("key", b""), OSError),
    ]:
        try:
            work()
            raise AssertionError("an error was expected")
        except OSError as error:
            assert isinstance(error, kind), error
            text = str(error)
            assert text.startswith("object storage: ") and len(text.splitlines()) == 1, text
            assert not any(word in text for word in ("?", "<", "list-type=", "Debug", "canary")), text


def one_line(url, at_once):
    """Two writers of one line: one of them wins, and its line is there."""
    buckets = [Bucket(url) for _ in range(2)]
    for number in range(20):
        won = []

        def put(who):
            try:
                buckets[who].put_if_absent(f"{number}", f"writer {who}".encode())
                won.append(who)
            except FileExistsError:
                pass

        threads = [threading.Thread(target=put, args=(who,)) for who in range(2)]
        for thread in threads:
            thread.start()
            if not at_once:
                thread.join()
        for thread in threads:
            thread.join()
        assert len(won) == 1 and buckets[0].get(f"{number}") == f"writer {won[0]}".encode(), won


def s3(lab, spark):
    """Against moto, a server that imitates S3, on this machine: two writers of one line, one after the other, because moto does
    not keep requests apart that come at once; a whole series; and what errors tell."""
    import boto3
    import logging
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        endpoint = f"http://127.0.0.1:{server.get_host_and_port()[1]}"
        secrets = {"AWS_ACCESS_KEY_ID": "canaryid", "AWS_SECRET_ACCESS_KEY": "canarysecret"}
        os.environ.update(AWS_ENDPOINT_URL=endpoint, AWS_ALLOW_HTTP="true", AWS_REGION="us-east-1", **secrets)
        boto3.client("s3", endpoint_url=endpoint).create_bucket(Bucket="stays")
        one_line("s3://stays/lines", at_once=False)
        errors_are_one_line(Bucket("s3://stays"), Bucket("s3://absent/stays"))
        copies_in_pieces("s3://stays/large")
        stored = Stored(lab, "s3://stays/a series")
        object_storage(lab, spark, stored)
        try:
            Series(spark, stored.folder / "tacenda.toml", "s3://absent/stays").publish(frame(spark, lab.rounds[0], 1, 1), "one")
            raise AssertionError("there is no such bucket")
        except tacenda.TacendaError as error:
            text = str(error)
            assert "canary" not in text and "list-type=" not in text and len(text.splitlines()) == 1, text
        everything = [stored.bucket.get(key) for key in stored.bucket.list("")]
        assert everything and not [one for one in everything if b"canary" in one]
    finally:
        server.stop()


def the_example(root):
    """The script for platform teams: three quarters, and nothing new when it is run again."""
    script = Path(__file__).parents[3] / "examples" / "spark_quarters.py"
    state = {**os.environ, "XDG_STATE_HOME": str(root / "state"), "XDG_CONFIG_HOME": str(root / "config")}
    for already in ("False", "True"):
        words = [sys.executable, str(script), str(root / "example"), "2000"]
        told = subprocess.run(words, env=state, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
        assert told.count(f"already published: {already}") == 3, told


def main(command):
    started = time.time()
    everyone = people(range(3000))
    # Arrivals; then some leave, whose groups are withheld; then more arrive, too few at first.
    rounds = [everyone[:1500], everyone[:2200], everyone[3:2202], everyone[3:3000]]
    with tempfile.TemporaryDirectory() as root:
        lab = Lab(Path(root), rounds)
        lab.command = command
        lab.first = lab.copy()
        tacenda.Project(lab.first, **lab.own(lab.first)).publish(table(rounds[0]), "round 0")
        drivers = {when: start_killed_driver(lab, when) for when in ("before", "after")}
        client = start_connected(lab)
        killed = Stored(lab, f"file://{root}/killed in storage", of=lab.first)
        driver = start_driver(lab, "before", killed.url, killed.folder)
        spark = session("local-cluster[2,1,1024]")

        def told(what, work):
            begun = time.time()
            answer = work()
            print(f"  {what}: {time.time() - begun:.1f} s", flush=True)
            return answer

        published = told("equal digests", lambda: equal_digests(lab, spark))
        told("other promises", lambda: other_promises(Path(root), spark, everyone))
        told("taking turns", lambda: taking_turns(lab, spark))
        told("retries", lambda: retries(lab, spark, published))
        told("refusals", lambda: refusals(lab, spark))
        told("random tables", lambda: random_tables(lab, spark))
        told("two drivers", lambda: two_drivers(lab, spark))
        told("killed drivers", lambda: killed_drivers(lab, spark, drivers))
        told("Spark Connect", lambda: connected(lab, client))
        told("a killed driver, object storage", lambda: a_killed_driver_in_storage(lab, spark, killed, driver))
        told("two writers of one line", lambda: one_line(f"file://{root}/lines", at_once=True))
        told("two drivers, object storage", lambda: two_drivers_in_storage(lab, spark, f"file://{root}/two"))
        told("Ctrl-C, object storage", lambda: interrupted_in_storage(lab, spark, f"file://{root}/interrupted"))
        failed, tried = doctest.testmod(objects, optionflags=doctest.ELLIPSIS)
        assert tried > 5 and not failed
        told("copies in pieces", lambda: copies_in_pieces(f"file://{root}/large"))
        told("a series on S3", lambda: s3(lab, spark))
        told("a killed executor", lambda: a_killed_executor(lab, spark))
        spark.stop()
        told("the example", lambda: the_example(Path(root)))
    print(f"spark: all as expected in {time.time() - started:.0f} s")


if __name__ == "__main__":
    if sys.argv[1] == "--drive":
        drive(*sys.argv[2:])
    elif sys.argv[1] == "--connect":
        connect(*sys.argv[2:])
    else:
        main(sys.argv[1])
