"""The package, as a researcher uses it; and held against the command.

Usage: test_tacenda.py path/to/tacenda

Needs pandas, pyarrow, polars, duckdb and tqdm. Plain asserts, so that nothing else has to be installed.
"""

import datetime
import doctest
import inspect
import json
import os
import pathlib
import pickle
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings

import pandas
import pyarrow
import pyarrow.dataset

import tacenda

DISEASES = ["dyspepsia", "flu", "gastritis", "bronchitis", "diabetes", "gingivitis"]

POLICY = {
    "policy": 1,
    "series": {"name": "stays"},
    "columns": {
        "patient": {"role": "identifier"},
        "name": {"role": "drop"},
        "age": {"role": "quasi", "type": "integer", "domain": [0, 120], "missing": "value"},
        "weight": {"role": "quasi", "type": "real", "domain": [0.0, 200.0], "precision": 0.1},
        "sex": {"role": "quasi", "type": "category", "values": ["F", "M", "X"]},
        "admitted": {
            "role": "quasi",
            "type": "date",
            "domain": [datetime.date(2020, 1, 1), datetime.date(2030, 1, 1)],
            "grid": "month",
        },
        "disease": {"role": "sensitive", "type": "category"},
    },
    "promise": {"model": "m-invariance", "m": 3, "on_ineligible": "counterfeit", "accept_counterfeit": "made-up people"},
    "counterfeits": {"max_share": 0.2},
}

TOML = """policy = 1
[series]
name = "stays"
[columns]
patient = { role = "identifier" }
name = { role = "drop" }
age = { role = "quasi", type = "integer", domain = [0, 120], missing = "value" }
weight = { role = "quasi", type = "real", domain = [0.0, 200.0], precision = 0.1 }
sex = { role = "quasi", type = "category", values = ["F", "M", "X"] }
admitted = { role = "quasi", type = "date", domain = [2020-01-01, 2030-01-01], grid = "month" }
disease = { role = "sensitive", type = "category" }
[promise]
model = "m-invariance"
m = 3
on_ineligible = "counterfeit"
accept_counterfeit = "made-up people"
[counterfeits]
max_share = 0.2
"""


def snapshots() -> "list[pandas.DataFrame]":
    """Three quarters of a small ward: some leave, some come, one has no age."""
    dice = random.Random(7)
    people = {}

    def admit(number: int) -> None:
        people[number] = {
            "patient": f"P{number:04}",
            "name": f"name {number}",
            "age": None if number == 5 else dice.randrange(18, 95),
            "weight": dice.randrange(90, 240) / 2,
            "sex": dice.choice("FFFMMMX"),
            "admitted": datetime.date(2024, 1, 1) + datetime.timedelta(days=dice.randrange(700)),
            "disease": dice.choice(DISEASES),
        }

    frames = []
    for quarter in range(3):
        for number in range(quarter * 60, quarter * 60 + 360):
            if number not in people:
                admit(number)
        for number in dice.sample(sorted(people), 20 * min(quarter, 1)):
            del people[number]
        frame = pandas.DataFrame(people.values())
        frame["age"] = frame["age"].astype("Int64")
        frame["sex"] = frame["sex"].astype("category")
        frames.append(frame)
    return frames


def plain(frame: pandas.DataFrame) -> "list[tuple[str, ...]]":
    return [tuple(map(str, row)) for row in frame.itertuples(index=False)]


def the_promises_are_listed() -> None:
    promises = {promise["model"]: promise for promise in tacenda.promises()}
    assert "m-invariance" in promises and "incremental-k-anonymity" in promises
    assert promises["m-invariance"]["paper"]


def frames_go_in_and_releases_come_out() -> None:
    series = tacenda.Series(POLICY, seed=1)
    made = [series.publish(frame, f"q{number}") for number, frame in enumerate(snapshots(), 1)]
    assert [release.number for release in made] == [1, 2, 3] and series.releases == 3
    last, snapshot = made[2], snapshots()[2]
    table = last.frame.to_pandas()
    assert list(table.columns) == last.frame.columns
    assert "patient" not in table and "name" not in table
    assert len(table) == len(last) == len(last.frame)
    assert round(table["row_weight"].sum()) == len(snapshot) - last.withheld
    groups = last.groups.to_pandas()
    assert groups["rows"].sum() == len(table) and groups["counterfeits"].sum() == last.counterfeits
    assert list(groups["group_id"]) == sorted(set(table["group_id"]))
    assert isinstance(table["admitted"].dtype, pandas.IntervalDtype)
    assert isinstance(table["weight"].dtype, pandas.IntervalDtype)
    assert table.groupby("group_id")["disease"].nunique().min() >= 3
    assert 0 < last.loss["leaf_share"] < 1 and last.findings == []
    assert last.change["left"] > 0 and last.change["arrived"] > 0


def the_seed_alone_decides_whatever_the_order_and_the_library() -> None:
    frames = snapshots()
    expected = [release.digest for release in tacenda.publish(frames, POLICY, seed=2)]
    forms = {
        "shuffled": [frame.sample(frac=1, random_state=3) for frame in frames],
        "pyarrow": [pyarrow.Table.from_pandas(frame, preserve_index=False) for frame in frames],
    }
    import polars

    forms["polars"] = [polars.from_pandas(frame) for frame in frames]
    for name, form in forms.items():
        got = [release.digest for release in tacenda.publish(form, TOML, seed=2)]
        assert got == expected, name
    assert tacenda.publish(frames[0], POLICY, seed=4).digest != expected[0]
    assert tacenda.publish(frames[0], POLICY, seed=2).frame.to_polars().height > 0


def the_command_makes_the_same_release(command: str) -> None:
    frames = snapshots()
    with tempfile.TemporaryDirectory() as folder:
        one, two = pathlib.Path(folder, "one"), pathlib.Path(folder, "two")
        one.mkdir()
        (one / "tacenda.toml").write_text(TOML)
        for number, frame in enumerate(frames, 1):
            frame.to_csv(pathlib.Path(folder, f"q{number}.csv"), index=False)
        run = [command, "-C", str(one), "plan", f"{folder}/q1.csv"]
        subprocess.run(run, check=True, capture_output=True)
        subprocess.run([command, "-C", str(one), "vault", "unlock", "--yes"], check=True, capture_output=True)
        shutil.copytree(one, two)
        seed = (one / ".tacenda/vault/seed").read_bytes()[:32]
        for place in (one, two):
            subprocess.run([command, "-C", str(place), "vault", "lock"], check=True, capture_output=True)
            assert (place / ".tacenda/vault/seed").read_bytes().startswith(b"tacenda-vault-2")
        project = tacenda.Project(two)
        series = tacenda.Series(one / "tacenda.toml", seed=seed)
        for number, frame in enumerate(frames, 1):
            label = f"q{number}"
            run = [command, "-C", str(one), "publish", f"{folder}/q{number}.csv", "--label", label, "--yes"]
            # A copy that goes on is a fork, and refused; here both are to go on.
            run += ["--anchor", f"{folder}/anchors"]
            subprocess.run(run, check=True, capture_output=True)
            rehearsed = project.rehearse(frame, label)
            assert rehearsed.folder is None and not rehearsed.already
            release = project.publish(frame, label)
            assert release.digest == rehearsed.digest
            again = project.publish(frame, label)
            assert again.already and again.digest == release.digest and again.withheld is None
            assert plain(again.frame.to_pandas()) == plain(release.frame.to_pandas())
            stem = f"stays-r{number:04}"
            for name in (f"{stem}.csv", f"{stem}.parquet", f"{stem}.counterfeits.csv"):
                theirs = one / "releases/stays" / f"r{number:04}" / name
                assert (pathlib.Path(release.folder) / name).read_bytes() == theirs.read_bytes(), name
            parquet = pandas.read_parquet(one / "releases/stays" / f"r{number:04}" / f"{stem}.parquet")
            assert plain(series.publish(frame, label).frame.to_pandas()) == plain(parquet)
        assert [line["event"] for line in project.log()] == ["init", "publish", "publish", "publish"]
        run = [command, "-C", str(two), "log", "--format", "json"]
        assert project.log() == json.loads(subprocess.run(run, check=True, capture_output=True).stdout)["events"]
        verified = subprocess.run([command, "-C", str(two), "verify"], check=True, capture_output=True).stdout
        assert b"the ledger, the vault and 3 releases" in verified, verified
        run = [command, "-C", str(two), "report", "--edition", "recipient", "--language", "de", "--format", "html"]
        german = subprocess.run(run, check=True, capture_output=True, text=True).stdout
        assert project.report(language="de").html == german
        assert '<html lang="en">' in project.report().html and '<html lang="en">' in project.report("steward").html
        wrong(lambda: project.report(language="it"), ValueError, "language is one of en, de, fr")
        refused(lambda: project.report("steward", language="de"), "U201", 2)
        subprocess.run([command, "-C", str(two), "verify"], check=True, capture_output=True)
        someone = str(frames[-1]["id"].iloc[0]) if "id" in frames[-1] else str(frames[-1].iloc[0, 0])
        answer = project.erase([someone, "nobody at all"])
        assert (answer["people"], answer["rows"], answer["unknown"], answer["unknown_at"]) == (1, 1, 1, [2]), answer
        assert project.log()[-1]["event"] == "erase" and answer["stays"] and project.verify()["whole"]
        assert project.retain(50)["people"] == 0


def a_delta_is_the_same_as_the_whole() -> None:
    first, second, _ = snapshots()
    whole, changes = tacenda.Series(POLICY, seed=5), tacenda.Series(POLICY, seed=5)
    whole.publish(first)
    changes.publish(first)
    gone = first[~first["patient"].isin(second["patient"])].assign(op="delete")
    come = second[~second["patient"].isin(first["patient"])].assign(op="insert")
    expected = whole.publish(second)
    assert changes.publish(pandas.concat([gone, come]), delta=True).digest == expected.digest


def wrong(act, kind: type, words: str) -> None:
    try:
        act()
    except kind as error:
        assert words in str(error), error
        return
    raise AssertionError(f"{kind.__name__} was not raised")


def refused(act, code: str, exit_code: int, secret: str = "P0") -> tacenda.TacendaError:
    try:
        act()
    except tacenda.TacendaError as error:
        assert error.code == code and error.exit_code == exit_code, (error.code, error.exit_code, str(error))
        assert str(error).startswith(code) and secret not in str(error)
        assert "--" not in str(error) and not any("--" in str(problem) for problem in error.problems), str(error)
        assert isinstance(error, ValueError) == (exit_code in (2, 3)), type(error)
        return error
    raise AssertionError(f"{code} was not raised")


def what_cannot_be_promised_is_refused() -> None:
    frames = snapshots()
    strict = {**POLICY, "promise": {"model": "m-invariance", "m": 3}}
    same = frames[0].assign(disease="flu")
    refused(lambda: tacenda.publish(same, strict), "R422", 4, "flu")
    error = refused(lambda: tacenda.publish(frames[0].assign(age=200), POLICY), "D109", 3, "200")
    assert [(problem.code, problem.column, problem.count) for problem in error.problems] == [("D109", "age", len(frames[0]))]
    assert error.problems[0].lines and error.problems[0].way_out, error.problems
    unknown = {**POLICY, "promise": {**strict["promise"], "n": 3}}
    refused(lambda: tacenda.publish(frames[0], unknown), "P202", 2)
    again = {**POLICY, "promise": {"model": "k-anonymity", "k": 5}}
    del again["counterfeits"]
    refused(lambda: tacenda.publish(frames[:2], again), "R601", 6)
    series = tacenda.Series(POLICY)
    series.publish(frames[0], "q1")
    assert str(refused(lambda: series.publish(frames[1], "q1"), "R202", 2)).endswith("choose another with label")
    assert series.releases == 1


def the_gate_refuses_what_the_paper_breaks() -> None:
    """Paper 002 keeps sets of values while publishing multisets: the auditor refuses it."""
    columns = {
        "id": {"role": "identifier"},
        "x": {"role": "quasi", "type": "integer", "domain": [0, 100]},
        "s": {"role": "sensitive", "type": "category"},
    }
    promise = {"model": "incremental-l-diversity", "l": 2, "mode": "paper"}
    policy = {"policy": 1, "series": {"name": "paper"}, "columns": columns, "promise": promise}
    rows = [("A", 30, "flu"), ("B", 34, "cancer")]
    first = pandas.DataFrame(rows, columns=["id", "x", "s"])
    second = pandas.DataFrame([*rows, ("C", 32, "flu")], columns=["id", "x", "s"])
    error = refused(lambda: tacenda.publish([first, second], policy), "R401", 1, "flu")
    assert error.findings and error.findings[0]["code"].startswith("A")


def patients(rows: "list[tuple[str, int, int, str]]") -> pandas.DataFrame:
    return pandas.DataFrame(rows, columns=["name", "age", "zip", "disease"])


def an_audit_finds_bob() -> None:
    """Tables 1 and 2 of paper 003: both releases are 2-diverse, and together they give Bob away."""
    truth = [
        patients([("Bob", 21, 12000, "dyspepsia"), ("Alice", 22, 14000, "bronchitis"), ("Andy", 24, 18000, "flu"),
                  ("David", 23, 25000, "gastritis")]),
        patients([("Bob", 21, 12000, "dyspepsia"), ("David", 23, 25000, "gastritis")]),
    ]
    columns = ["age", "zip", "disease"]
    first = pandas.DataFrame(
        [("[21,22]", "[12000,14000]", "dyspepsia"), ("[21,22]", "[12000,14000]", "bronchitis"),
         ("[23,24]", "[18000,25000]", "flu"), ("[23,24]", "[18000,25000]", "gastritis")], columns=columns)
    second = pandas.DataFrame(
        [("[21,23]", "[12000,25000]", "dyspepsia"), ("[21,23]", "[12000,25000]", "gastritis")], columns=columns)
    found = tacenda.audit([first, second], ["age", "zip"], "disease", truth=truth, id="name")
    assert found.decision == "FAIL", found
    assert any(finding["severity"] == "severe" and finding["release"] in (1, 2) for finding in found.findings)
    assert "dyspepsia" not in found.text and "Bob" not in found.text
    blind = tacenda.audit(first, ["age", "zip"], "disease")
    gaps = first.copy()
    gaps.loc[0, "zip"] = None
    for missing, taken in ((None, "any value"), ("any", "any value"), ("value", "a value of its own")):
        said = tacenda.audit(gaps, ["age", "zip"], "disease", missing=missing).report["assumptions"]
        assert any("column zip 1 cell says nothing" in line and line.endswith(f"{taken}.") for line in said), said
    refused(lambda: tacenda.audit(gaps, ["age", "zip"], "disease", missing="nothing"), "U201", 2)
    assert blind.decision != "FAIL", blind

    frames = snapshots()
    ours = tacenda.publish(frames, POLICY, seed=6)
    quasi = ["age", "weight", "sex", "admitted"]
    clean = tacenda.audit(ours, quasi, "disease", truth=frames, id="patient", l=3, k=1)
    assert clean.decision != "FAIL", clean


def the_command_audits_alike(command: str) -> None:
    """The same files, folders and project give the same report, to the last note and digest."""
    columns = ["age", "zip", "disease", "group_id"]
    first = [("20-29", "13*", "flu", 1), ("20-29", "13*", "cold", 1), ("30-39", "", "flu", 2), ("30-39", "", "mumps", 2)]
    second = [("20-29", "13*", "flu", 1), ("20-29", "13*", "mumps", 1), ("30-39", "14*", "cold", 2)]
    tables = [
        [("a", 20, "13000", "flu"), ("b", 21, "13111", "cold"), ("c", 31, "14000", "flu"), ("d", 35, "15000", "mumps")],
        [("a", 20, "13000", "flu"), ("b", 21, "13111", "mumps"), ("c", 31, "14000", "cold")],
    ]
    quasi, sensitive = ["age", "zip"], "disease"
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            pandas.DataFrame(first, columns=columns).to_csv("r1.csv", index=False)
            pandas.DataFrame(first, columns=columns).to_csv("copy.csv", index=False)
            pandas.DataFrame(second, columns=columns).to_csv("r2.csv.gz", index=False)
            counts = pandas.DataFrame([(1, 2, 1), (2, 1, 0)], columns=["group_id", "rows", "counterfeits"])
            counts.to_csv("r2.counterfeits.csv", index=False)
            for number, rows in enumerate(tables, 1):
                named = pandas.DataFrame(rows, columns=["id", *quasi, sensitive])
                named.to_csv(f"t{number}.csv", index=False)
            pathlib.Path("tacenda.toml").write_text(TOML)
            for number, frame in enumerate(snapshots()[:2], 1):
                frame.to_csv(f"q{number}.csv", index=False)
                subprocess.run([command, "publish", f"q{number}.csv", "--yes"], check=True, capture_output=True)
            said = ["--quasi", ",".join(quasi), "--sensitive", sensitive]
            files, truth = ["r1.csv", "copy.csv", "r2.csv.gz"], ["t1.csv", "t1.csv", "t2.csv"]
            folders = ["releases/stays/r0001", "releases/stays/r0002"]
            ours = ["age", "weight", "sex", "admitted"]
            project = tacenda.Project(".")
            assert project.verify()["whole"] and project.verify()["vault"], project.verify()
            receipt = project.receipt()
            pathlib.Path("receipt.txt").write_text(receipt["text"])
            assert receipt["lines"] == len(project.log()) == 3 and len(receipt["releases"]) == 2
            assert tacenda.Project(".", anchor_from="receipt.txt").verify()["whole"]
            assert tacenda.Project(".", anchor_from=folders[1]).verify()["whole"]
            both = [
                ([*files, *said], tacenda.audit(files, quasi, sensitive)),
                ([*files, *said, "--missing", "value", "--attacker", "quasi", "--k", "3"],
                 tacenda.audit(files, quasi, sensitive, missing="value", presence=False, k=3)),
                ([*files, *said, "--truth", *truth, "--id", "id"],
                 tacenda.audit(files, quasi, sensitive, truth=truth, id="id")),
                ([*folders, "--quasi", ",".join(ours), "--sensitive", sensitive],
                 tacenda.audit(folders, ours, sensitive)),
                ([], project.audit()),
                (["--truth", "q1.csv", "q2.csv"], project.audit(truth=["q1.csv", "q2.csv"])),
            ]
            for words, found in both:
                run = subprocess.run([command, "audit", *words, "--format", "json"], capture_output=True)
                assert run.returncode in (0, 1), run.stderr
                assert json.loads(run.stdout) == found.report, words
            notes = both[0][1].report["provenance"]["notes"]
            assert "copy.csv repeats r1.csv and is ignored" in notes, notes
            assert "counterfeits are counted in 1 of 3 files" in notes, notes
            assert len(both[0][1].report["releases"]) == 2
            frames = [pandas.read_csv(name, dtype={"zip": str}) for name in files]
            told = tacenda.audit(frames, quasi, sensitive).report["provenance"]["notes"]
            assert "frame 2 repeats frame 1 and is ignored" in told, told
            refused(lambda: tacenda.audit(files, quasi, sensitive, truth=truth), "U201", 2)
        finally:
            os.chdir(here)


def dates_of_a_policy_may_be_texts() -> None:
    """A policy that was read from JSON has no other dates."""
    frame = snapshots()[0]
    as_json = json.loads(json.dumps(POLICY, default=lambda date: date.isoformat()))
    assert as_json["columns"]["admitted"]["domain"] == ["2020-01-01", "2030-01-01"]
    assert tacenda.publish(frame, as_json, seed=1).digest == tacenda.publish(frame, POLICY, seed=1).digest
    broken = {**POLICY, "columns": {**POLICY["columns"], "age": {"role": "quasi", "type": "integer", "domain": [9, 3]}}}
    error = refused(lambda: tacenda.Series(broken), "P211", 2)
    assert "tacenda.toml" not in str(error) and [problem.code for problem in error.problems] == ["P211"], str(error)


def one_text_is_one_column() -> None:
    table = pandas.DataFrame([("20-29", "flu"), ("20-29", "cold")], columns=["age", "disease"])
    assert tacenda.audit(table, "age", "disease").report == tacenda.audit([table], ["age"], ["disease"]).report
    for quasi in (("age",), {"age"}, pandas.Index(["age"])):
        assert tacenda.audit(table, quasi, "disease").report["series"]["columns"][0]["name"] == "age"
    refused(lambda: tacenda.audit(table, "age,disease", "disease"), "D131", 3)
    error = refused(lambda: tacenda.audit(table), "U201", 2)
    assert "age, disease" in str(error), error
    wrong(lambda: tacenda.audit(table, 7, "disease"), TypeError, "quasi")
    wrong(lambda: tacenda.audit([], "age"), ValueError, "at least one release")
    wrong(lambda: tacenda.audit(42, "age"), TypeError, "a table is a path or a frame")
    wrong(lambda: tacenda.audit(table["age"], "age"), TypeError, "to_frame")


def intervals_of_pandas_are_audited_in_memory() -> None:
    """The natural case: cut with pandas, audited without a file. CSV gives the same figures."""
    truth = pandas.DataFrame({"id": range(60), "age": [20 + 11 * n % 47 for n in range(60)],
                              "disease": [DISEASES[n * n % 5] for n in range(60)]})
    for cut in (pandas.qcut(truth["age"], 4), pandas.cut(truth["age"], [0, 30, 50, 100], right=False)):
        categories = pandas.DataFrame({"age": cut, "disease": truth["disease"].astype("category")})
        intervals = categories.assign(age=categories["age"].astype(cut.cat.categories.dtype))
        texts = categories.assign(age=categories["age"].astype(str))
        table = pyarrow.Table.from_pandas(categories, preserve_index=False)
        closed = json.dumps({"closed": cut.cat.categories.closed})
        bounds = [{"left": one.left, "right": one.right} for one in cut.cat.categories]
        coded = pyarrow.DictionaryArray.from_arrays(pyarrow.array(cut.cat.codes.to_numpy()), pyarrow.array(bounds))
        age = pyarrow.field("age", coded.type, metadata={"ARROW:extension:metadata": closed})
        structs = pyarrow.table([coded, categories["disease"].astype(str)], schema=pyarrow.schema([age, ("disease", pyarrow.string())]))
        forms = [categories, intervals, texts, table, table.to_batches()[0], structs]
        reports = [tacenda.audit(form, "age", "disease", truth=truth, id="id") for form in forms]
        for report in reports:
            assert report.decision == reports[0].decision and len(report.findings) == len(reports[0].findings)
            assert report.report["sequence"] == reports[0].report["sequence"], report.report["sequence"]
    pair = pyarrow.struct([("left", pyarrow.int64()), ("right", pyarrow.int64())])
    bare = pyarrow.table({"age": pyarrow.array([{"left": 1, "right": 2}], pair), "disease": ["flu"]})
    error = refused(lambda: tacenda.audit(bare, "age", "disease"), "D119", 3)
    assert "which of their ends" in str(error), error
    days = pandas.Series(pandas.date_range("2020-01-01", periods=60))
    by = lambda cut: truth[["disease"]].assign(age=cut)
    assert tacenda.audit(by(pandas.cut(days, pandas.to_datetime(["2019-12-31", "2020-02-01", "2020-03-31"]))), "age", "disease")
    noon = by(pandas.cut(days, pandas.to_datetime(["2019-12-31 12:00:00", "2020-02-01 06:30:00", "2020-03-31 00:00:00"])))
    assert tacenda.audit(noon, "age", "disease", date_format="%Y-%m-%dT%H:%M:%S")
    within = by(pandas.cut(days, 4))
    error = refused(lambda: tacenda.audit(within, "age", "disease"), "D144", 3)
    assert error.problems[0].column == "age" and error.problems[0].lines[0] == 1, error.problems
    assert tacenda.audit(within.astype({"age": str}), "age", "disease", notation={"age": "exact"}), "the way out works"
    own = pandas.DataFrame({"patient": range(60), "age": truth["age"] / 7.0, "disease": truth["disease"]})
    exact = pandas.cut(own["age"], list(own["age"].quantile([0, 0.3, 0.6, 1])), include_lowest=True, precision=16)
    refused(lambda: tacenda.audit(by(exact), "age", "disease"), "D130", 3)
    assert tacenda.audit(by(exact), "age", "disease", notation={"age": "real:6"}), "the way out works"
    # Metadata of a nested column list values; a message names neither.
    nested = pyarrow.struct([pyarrow.field("x", pyarrow.int64(), metadata={"values": "P0 secret"})])
    odd = pyarrow.table({"age": pyarrow.array([{"x": 1}], nested), "disease": ["flu"]})
    assert "a structure" in str(refused(lambda: tacenda.audit(odd, "age", "disease"), "D119", 3))
    assert "person's own value" in str(refused(lambda: tacenda.publish(within.assign(patient=range(60)), {
        "policy": 1, "series": {"name": "stays"}, "promise": {"model": "m-invariance", "m": 2},
        "columns": {"patient": {"role": "identifier"}, "age": {"role": "quasi", "type": "integer", "domain": [0, 9]},
                    "disease": {"role": "sensitive", "type": "category"}}}), "D119", 3))


def bytes_that_are_no_text_are_refused() -> None:
    """Pictures, encrypted numbers and other encodings: never read as missing, whatever library they come from."""
    import duckdb
    import polars

    policy = {**POLICY, "columns": {**POLICY["columns"], "disease": {"role": "sensitive", "type": "category", "missing": "value"}}}
    frame = snapshots()[0]
    frame = frame.drop(columns="name")
    policy["columns"] = {name: column for name, column in policy["columns"].items() if name != "name"}
    good = tacenda.publish(frame, policy, seed=8).digest
    raw = [disease.encode() for disease in frame["disease"]]
    assert tacenda.publish(frame.assign(disease=raw), policy, seed=8).digest == good, "bytes that are text are text"
    raw[2] = b"gr\xfcn"
    objects = frame.assign(disease=raw)
    table = pyarrow.Table.from_pandas(objects, preserve_index=False)
    place = table.column_names.index("disease")
    lengths = [0]
    for cell in raw:
        lengths.append(lengths[-1] + len(cell))
    buffers = [None, pyarrow.array(lengths, pyarrow.int32()).buffers()[1], pyarrow.py_buffer(b"".join(raw))]
    unchecked = pyarrow.Array.from_buffers(pyarrow.string(), len(raw), buffers)
    blob = duckdb.sql("select * from objects")
    coded = table.set_column(place, "disease", table["disease"].dictionary_encode())
    forms = {
        "pandas": objects,
        "large": table.set_column(place, "disease", table["disease"].cast(pyarrow.large_binary())),
        "dictionary": coded,
        "text that nobody checked": table.set_column(place, "disease", unchecked),
        "polars": polars.from_arrow(table),
        "duckdb": blob,
    }
    with tempfile.TemporaryDirectory() as folder:
        forms["parquet"] = pathlib.Path(folder, "stays.parquet")
        objects.to_parquet(forms["parquet"], index=False)
        for name, form in forms.items():
            error = refused(lambda: tacenda.publish(form, policy, seed=8), "D143", 3, "gr")
            (problem,) = error.problems
            assert (problem.column, problem.lines) == ("disease", [3]), (name, problem)
            error = refused(lambda: tacenda.audit(form, ["age"], "disease"), "D143", 3, "gr")
            assert [problem.lines for problem in error.problems] == [[3]], (name, error)
            drafted = tacenda.draft(form, pathlib.Path(folder, f"draft {name}"), name="stays")
            roles = {column.name: (column.role, column.because) for column in drafted.columns}
            assert roles["disease"][0] == "drop" and "no text form" in roles["disease"][1], (name, roles["disease"])
        mixed = frame.assign(disease=pandas.Series(["P0 secret", 7, *frame["disease"][2:]], dtype=object).to_numpy())
        error = refused(lambda: tacenda.publish(mixed, policy, seed=8), "D119", 3)
        assert error.problems[0].column == "disease" and error.__context__ is None, "pyarrow's own words have cells in them"
        tacenda.publish(mixed.astype({"disease": "string"}), policy, seed=8)
        twice = pandas.concat([frame, frame[["age"]]], axis=1)
        assert refused(lambda: tacenda.publish(twice, policy, seed=8), "D103", 3).problems[0].column == "age"
        dataset = pyarrow.dataset.dataset(pyarrow.Table.from_pandas(frame, preserve_index=False))
        assert tacenda.publish(dataset, policy, seed=8).digest == good
        wrong(lambda: tacenda.publish(polars.from_pandas(frame).with_columns(polars.col("age").cast(polars.Int128)), policy), TypeError, "polars")
        decoded = objects.assign(disease=objects["disease"].str.decode("latin-1"))
        assert "gr\xfcn" in set(tacenda.publish(decoded, policy, seed=8).frame.to_pandas()["disease"]), "the way out works"


def polars_and_duckdb_go_in_and_out() -> None:
    import duckdb
    import polars

    frame = snapshots()[0]
    expected = tacenda.publish(frame, POLICY, seed=8)
    asked = duckdb.sql("select * from frame")
    assert tacenda.publish(asked, POLICY, seed=8).digest == expected.digest
    assert tacenda.publish(polars.from_pandas(frame).lazy(), POLICY, seed=8).digest == expected.digest
    out = expected.frame.to_polars()
    bounds = out.select(polars.col("age").struct.field("left"), polars.col("weight").struct.field("right").alias("to"))
    assert bounds.height == len(expected) and bounds["to"].null_count() == 0
    assert isinstance(out.schema["admitted"], polars.Struct) and out.unnest("admitted").height == len(out), out.schema
    held = expected.frame
    counted = duckdb.sql('select count(*) from held where age."left" <= 40 and age."right" > 40').fetchall()[0][0]
    assert 0 < counted <= len(out), counted
    quasi = ["age", "weight", "sex", "admitted"]
    ours, theirs = (tacenda.audit(form, quasi, "disease").report["sequence"] for form in (expected, expected.frame.to_pyarrow()))
    assert ours == theirs


class Told(Exception):
    """What a function of the caller's own raises."""


def progress_is_told_and_ctrl_c_ends_it() -> None:
    # A job in the background of a shell begins with Ctrl-C ignored, and Python leaves it so.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    frame = snapshots()[0]
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "tacenda.toml").write_text(TOML)
        project = tacenda.Project(folder)
        told = []
        project.rehearse(frame, progress=lambda *step: told.append(step))
        assert [step for step, _, _ in told] == list(range(1, len(told) + 1)) and len(told) >= 3, told
        assert all(isinstance(what, str) and steps >= step for step, steps, what in told), told

        def interrupt(step: int, steps: int, what: str) -> None:
            if step == 2:
                signal.raise_signal(signal.SIGINT)

        def refuse(step: int, steps: int, what: str) -> None:
            raise Told(what)

        wrong(lambda: project.publish(frame, "q1", progress=interrupt), KeyboardInterrupt, "")
        wrong(lambda: project.publish(frame, "q1", progress=refuse), Told, "")
        wrong(lambda: project.rehearse(frame, progress=7), TypeError, "progress is True")
        assert not [line for line in project.log() if line["event"] == "publish"]
        # What is already being written is finished; what the function raises then is printed.
        seen, hook = [], sys.unraisablehook
        sys.unraisablehook = seen.append

        def late(step: int, steps: int, what: str) -> None:
            if step > len(told):
                raise Told(what)

        try:
            release = project.publish(frame, "q1", progress=late)
        finally:
            sys.unraisablehook = hook
        assert pathlib.Path(release.folder).is_dir() and seen and seen[0].exc_type is Told, seen
        # Ctrl-C waits until it is finished.

        def interrupt_late(step: int, steps: int, what: str) -> None:
            if what == "committing":
                signal.raise_signal(signal.SIGINT)
                seen.clear()

        wrong(lambda: project.publish(snapshots()[1], "q2", progress=interrupt_late), KeyboardInterrupt, "")
        assert project.show().release == 2 and not seen and project.verify().whole
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        project.audit(progress=True)
        assert project.verify(progress=True).whole
        a_series_in_memory_is_told_of_too(frame, interrupt, refuse)
        wrong(lambda: tacenda.demo(pathlib.Path(folder, "demo"), patients=2000, progress=interrupt), KeyboardInterrupt, "")
        name = tacenda.demos()[-1].name
        wrong(lambda: tacenda.demo(pathlib.Path(folder, "demo"), name=name, progress=interrupt), KeyboardInterrupt, "")
        assert not pathlib.Path(folder, "demo").exists(), "half a demo is left"


def a_series_in_memory_is_told_of_too(frame: pandas.DataFrame, interrupt, refuse) -> None:
    """Whoever ends it finds the series as it was: the next release is the same."""
    series, told = tacenda.Series(POLICY, seed=9), []
    wrong(lambda: series.publish(frame, "q1", progress=interrupt), KeyboardInterrupt, "")
    wrong(lambda: series.publish(frame, "q1", progress=refuse), Told, "")
    assert series.releases == 0
    release = series.publish(frame, "q1", progress=lambda *step: told.append(step))
    assert [(step, steps) for step, steps, _ in told] == [(1, 3), (2, 3), (3, 3)], told
    assert release.digest == tacenda.Series(POLICY, seed=9).publish(frame, "q1", progress=True).digest
    wrong(lambda: tacenda.publish([frame, frame], POLICY, progress=refuse), Told, "")


def everything_the_command_can_do(command: str) -> None:
    """A steward's year, in Python alone."""
    frames = snapshots()
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        keys = tacenda.Keys(place / "keys")
        key = keys.new(passphrase=None)
        assert keys.show().public_key == key.public_key and not key.has_passphrase
        wrong(lambda: keys.new(passphrase=""), ValueError, "empty")
        drafted = tacenda.draft(frames[0].astype({"admitted": "datetime64[s]"}), place / "own", name="stays")
        roles = {column.name: column.role for column in drafted.columns}
        assert roles["patient"] == "identifier" and roles["disease"] == "sensitive", roles
        root = place / "project"
        root.mkdir()
        (root / "tacenda.toml").write_text(TOML)
        project = tacenda.Project(root, keys=place / "keys", anchor=place / "anchors")
        assert repr(project) == f"Project({str(root)!r}: stays, 0 releases)"
        checked = project.check(frames[0], what_if="m=2..3")
        assert [row.parameter for row in checked.what_if] == ["m = 2", "m = 3"], checked
        assert project.check(frames[0]).summary.people == len(frames[0])
        plan = project.plan(frames[0], "q1", file=place / "plan.json")
        assert plan.summary.label == "q1" and pathlib.Path(plan.plan).is_file()
        assert plan._repr_html_().startswith('<div class="tacenda">'), plan._repr_html_()[:80]
        first = project.publish(plan=plan.plan, backup=place / "before.backup")
        assert first.label == "q1" and first.report.signed_by == key.key
        wrong(lambda: project.publish(frames[1], plan=plan.plan), ValueError, "a plan names its data")
        plan = project.plan(frames[1], "q2", file=place / "plan.json")
        assert tacenda.approve(plan.plan, keys=place / "keys").release == 2
        second = project.publish(frames[1], "q2")
        for counted in (project.count("q2", "age >= 65"), tacenda.count(second.folder, "age >= 65"), second.count("age >= 65")):
            assert counted.lowest <= counted.estimate <= counted.highest and counted == second.count("age >= 65")
        assert project.show().release == 2 and project.show(1) == tacenda.show(first.folder)
        assert project.diff(1, "q2") == tacenda.diff(first.folder, second.folder)
        assert project.diff(1, 2).from_.release == 1 and project.diff(1, 2).values_
        assert tacenda.verify([first.folder, second.folder], key.public_key).signed_by == [key.key]
        assert project.verify(key.public_key).whole and tacenda.verify(root).releases == 2
        assert project.retract("q1", "ages were wrong").release == 1 and project.show(1).withdrawn
        assert "release 2" in project.receipt()["text"].lower()
        backup = project.backup(place / "now.backup")
        assert backup.releases == 2
        restored = tacenda.restore(place / "now.backup", place / "again", keys=place / "keys", anchor=place / "other")
        assert restored.releases == 2 and tacenda.Project(place / "again", keys=place / "keys").verify().whole
        assert project.vault("unlock").encrypted is False and project.vault("lock").encrypted is True
        assert project.vault("rekey").files > 0
        audited = project.audit(truth=frames[:2], effort="quick")
        audited.save(place / "audit.json")
        assert json.loads((place / "audit.json").read_text()) == audited.report
        assert (place / "audit.json").stat().st_mode & 0o77 == 0
        explained = project.audit(explain=True, effort="quick").form("explained")
        assert explained.startswith(audited.decision) or "What to do next" in explained, explained
        assert audited.exit_code() in (0, 1, 6) and audited.exit_code("never") == 0
        assert audited.form("sarif").startswith("{") and audited.form("markdown") and str(audited) == audited.text
        assert tacenda.explain("group 1:1", root=root).explanation
        assert project.new("stays-2").old_series == "stays"
        assert keys.rotate(passphrase=None).follows == key.key
        outside = tacenda.publish(frames[0], POLICY, seed=3)
        outside.frame.to_pandas().to_csv(place / "theirs.csv", index=False)
        frames[0].to_csv(place / "t1.csv", index=False)
        fresh = place / "fresh"
        fresh.mkdir()
        (fresh / "tacenda.toml").write_text(TOML)
        adopting = tacenda.Project(fresh, keys=place / "keys", anchor=place / "anchors")
        looked = adopting.adopt(place / "theirs.csv", truth=place / "t1.csv", look=True)
        assert looked.releases[0].folder is None
        assert adopting.adopt(place / "theirs.csv", truth=frames[0], look=True).releases == looked.releases
        assert adopting.adopt(place / "theirs.csv", truth=place / "t1.csv").releases[0].folder
        assert tacenda.demo(place / "demo", patients=2000).published[-1].certain == 0


def warned(act) -> "tuple[object, list[str]]":
    """What a call answers, and what it warns of, each at the line here that called."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answer = act()
    ours = [warning for warning in caught if warning.category is tacenda.TacendaWarning]
    assert all(warning.filename == __file__ for warning in ours), [warning.filename for warning in ours]
    return answer, [str(warning.message) for warning in ours]


def python_warns_as_the_command_does() -> None:
    """A machine that never saw the series, a project that was set back, a vault in the clear."""
    frames, unseen = snapshots(), "nothing on this machine remembers this series"
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        keys, anchors = place / "keys", place / "anchors"
        (place / "project").mkdir()
        (place / "project" / "tacenda.toml").write_text(TOML)
        project = tacenda.Project(place / "project", keys=keys, anchor=anchors)
        assert warned(lambda: project.publish(frames[0], "q1"))[1] == []
        project.backup(place / "kept.age")
        assert warned(lambda: project.publish(frames[1], "q2"))[1] == []
        (place / "receipt.txt").write_text(project.receipt()["text"])
        restored, told = warned(lambda: tacenda.restore(place / "kept.age", place / "again", keys=keys, anchor=anchors))
        assert restored.behind and len(told) == 1 and told[0].startswith("L511"), told
        elsewhere = tacenda.Project(place / "again", keys=keys, anchor=place / "other")
        plan = lambda: elsewhere.plan(frames[2], "q4", file=place / "plan.json")
        for act in (plan, lambda: elsewhere.rehearse(frames[1])):
            told = warned(act)[1]
            assert len(told) == 1 and told[0].startswith(unseen), told
        # As an error it stops the publish.
        with warnings.catch_warnings():
            warnings.simplefilter("error", tacenda.TacendaWarning)
            for act in (lambda: elsewhere.publish(frames[1], "q2"), lambda: elsewhere.retract(1, "a test"), lambda: elsewhere.erase("P01")):
                wrong(act, tacenda.TacendaWarning, unseen)
        assert elsewhere.show().release == 1
        # What stands in for the anchor is looked at, wherever it is named.
        held = tacenda.Project(place / "again", keys=keys, anchor=place / "other", anchor_from=place / "receipt.txt")
        for act in (held.log, lambda: held.show(1), lambda: held.backup(place / "more.age"), held.receipt):
            told = warned(act)[1]
            assert len(told) == 1 and told[0].startswith("L511"), told
        restored, told = warned(lambda: tacenda.restore(
            place / "kept.age", place / "third", keys=keys, anchor=place / "other", anchor_from=place / "receipt.txt"
        ))
        assert restored.behind and told[0].startswith("L511"), told
        gone = lambda: tacenda.restore(place / "kept.age", place / "fourth", keys=keys, anchor_from=place / "gone.txt")
        assert refused(gone, "E703", 7) and not (place / "fourth").exists()
        assert unseen in warned(lambda: elsewhere.publish(frames[1], "q2"))[1][0]
        assert warned(lambda: elsewhere.publish(frames[2], "q3"))[1] == [], "it is remembered now"
        elsewhere.vault("unlock")
        told = warned(plan)[1]
        assert len(told) == 1 and told[0].startswith("the vault is not encrypted"), told


# Where a command's function has another name, or is a class.
OTHER_NAMES = {"init": "draft", "key": "Keys"}

# Commands that have no function: they are for the shell, or are a server.
OF_THE_SHELL = {"completions", "man", "schemas", "help", "serve"}

# An option that is no keyword of the same name, with the keyword that it is, or with a sentence that says why it is none.
OTHERWISE = {
    "demo": {"list": "tacenda.demos() lists them"},
    "plan": {"plan": "file"},
    "adopt": {"label": "labels"},
    "audit": {"check": "checks", "fail_on": "Audit.exit_code(fail_on) asks for it"},
    "key new": {"no_passphrase": "passphrase"},
    "key rotate": {"no_passphrase": "passphrase"},
    "vault passphrase": {"no_passphrase": "passphrase"},
}
NEVER = {
    "show_values": "no error and no answer of Python has a cell, because notebooks keep what they show",
    "help": "Python has help() of its own",
}

# How a project's own releases are read is in its policy file and its manifests.
READING = set("quasi sensitive id group linked weight notation hierarchy hierarchies date_format domain any missing order dates".split())

# Options of every command. What belongs to a project is said once, when it is opened.
OF_A_PROJECT = {"policy", "anchor", "anchor_from", "keys"}
OF_EVERY_COMMAND = {
    "project": "path, root or folder says it",
    "format": "answers are objects, and reports have form()",
    "output": "reports have save(), and answers are objects",
    "quiet": "nothing is printed",
    "verbose": "nothing is printed",
    "no_progress": "progress",
    "color": "nothing is printed",
    "yes": "nothing is asked",
    "threads": "checked for each command that reads a whole table",
    "memory": "checked for each command that can keep people on disk",
    "help": "help(tacenda)",
    "version": "tacenda.__version__",
}


def options_of(command: str, *words: str) -> "tuple[set[str], set[str]]":
    """The options of a command: its own, and those of every command, as keywords of Python are written."""
    shown = subprocess.run([command, *words, "--help"], check=True, capture_output=True, text=True).stdout
    own, _, common = shown.partition("Options of every command")
    found = [re.findall(r"^ +(?:-., )?--([a-z-]+)", part, re.MULTILINE) for part in (own, common)]
    return tuple({word.replace("-", "_") for word in words} for words in found)


def commands_of(command: str, *words: str) -> "set[str]":
    shown = subprocess.run([command, *words, "--help"], check=True, capture_output=True, text=True).stdout
    listed = shown.partition("Commands:")[2].partition("Options")[0]
    return {line.split()[0] for line in listed.splitlines() if line.startswith("  ") and line[2] != " "} - {"help"}


def python_keeps_up_with_the_command(command: str) -> None:
    """Every command has its function, and every option is a keyword, or there is a written reason."""
    commands = commands_of(command) - OF_THE_SHELL
    assert len(commands) > 20, commands
    for name in commands:
        called = OTHER_NAMES.get(name, name)
        found = [getattr(owner, called) for owner in (tacenda, tacenda.Project) if hasattr(owner, called)]
        # This one publishes in memory, and no command does.
        functions = [function for function in found if function is not tacenda.publish]
        assert functions, f"tacenda {name} has no function in Python"
        options, _ = options_of(command, name)
        for function in functions:
            known = READING if function is tacenda.Project.audit else set()
            keeps_up(name, options - known, set(inspect.signature(function).parameters))
    for owner in ("key", "vault"):
        for name in commands_of(command, owner):
            options, _ = options_of(command, owner, name)
            method = tacenda.Keys.set_vault_passphrase if name == "passphrase" else getattr(tacenda.Keys, name, tacenda.Project.vault)
            keeps_up(f"{owner} {name}", options, set(inspect.signature(method).parameters))
    own, common = options_of(command, "check")
    assert common and not own & common, (own, common)
    opened = set(inspect.signature(tacenda.Project).parameters)
    assert OF_A_PROJECT <= opened, OF_A_PROJECT - opened
    restored = set(inspect.signature(tacenda.restore).parameters)
    assert OF_A_PROJECT - restored == {"policy"}, OF_A_PROJECT - restored
    assert common - OF_A_PROJECT <= set(OF_EVERY_COMMAND), common - OF_A_PROJECT - set(OF_EVERY_COMMAND)
    project = tacenda.Project
    for function in (project.check, project.rehearse, project.plan, project.publish, tacenda.demo):
        assert {"memory", "threads", "progress"} <= set(inspect.signature(function).parameters), function


def keeps_up(name: str, options: "set[str]", keywords: "set[str]") -> None:
    """Every option is a keyword, or is said otherwise; and nothing is said of options that there are not."""
    otherwise = {**NEVER, **OTHERWISE.get(name, {})}
    as_said = {option: otherwise.get(option, option) for option in options}
    missing = [option for option, said in as_said.items() if said not in keywords and " " not in said]
    assert not missing, f"tacenda {name} has options that Python lacks: {sorted(missing)}"
    gone = set(OTHERWISE.get(name, {})) - options
    assert not gone, f"tacenda {name} has no such options: {sorted(gone)}"


def the_package_brings_the_command(command: str) -> None:
    """The same code: the same words, the same exit codes, and Ctrl-C."""
    module = [sys.executable, "-m", "tacenda"]
    there = {**os.environ, "PYTHONPATH": str(pathlib.Path(tacenda.__file__).resolve().parents[1])}
    with tempfile.TemporaryDirectory() as folder:
        table = "20-29,flu\n20-29,flu\n"
        pathlib.Path(folder, "r.csv").write_text("age,disease\n" + table)
        said = ["audit", "r.csv", "--quasi", "age", "--sensitive", "disease"]
        for words in (["--version"], ["--help"], ["nonsense"], [], ["promises", "--format", "json"], ["explain", "D103"],
                      ["completions", "bash"], said, [*said, "--format", "json"], ["log"], ["count", "9"]):
            ends = []
            for program in ([command], module):
                run = subprocess.run([*program, *words], cwd=folder, env=there, capture_output=True)
                ends.append((run.returncode, run.stdout, run.stderr))
            assert ends[0] == ends[1], (words, ends)
        # A reader that has seen enough is no failure.
        piped = subprocess.run(f"{shlex.join([*module, 'man'])} | head -1", shell=True, capture_output=True, env=there)
        assert piped.stdout and not piped.stderr, piped
        words = [*module, "demo", "big", "--patients", "300000"]
        long = subprocess.Popen(words, cwd=folder, env=there, stderr=subprocess.PIPE)
        try:
            time.sleep(1.5)
            long.send_signal(signal.SIGINT)
            # Killed by the signal, for which a shell says 130.
            assert long.wait(20) == -signal.SIGINT, long.returncode
        finally:
            long.kill()
            long.communicate()


def looks_are_short_and_safe() -> None:
    assert dir(tacenda) == sorted(tacenda.__all__) and not {"Any", "json", "os", "Dict"} & set(dir(tacenda))
    nasty = "<script>alert(1)</script>"
    frame = snapshots()[0].rename(columns={"sex": nasty})
    policy = {**POLICY, "columns": {nasty if name == "sex" else name: of for name, of in POLICY["columns"].items()}}
    release = tacenda.publish(frame, policy, seed=1)
    found = tacenda.audit(release, [nasty, "age"], "disease")
    assert repr(found).startswith("Audit(") and repr(release).startswith("Release(1")
    counted = release.count("age >= 30")
    assert repr(counted).startswith("CountReport(condition='age >= 30'") and pickle.loads(pickle.dumps(counted)) == counted
    assert "estimate" in dir(counted) and counted.estimate == counted["estimate"]
    wrong(lambda: counted.nothing, AttributeError, "no field nothing")
    for shown in (release, release.frame, found, counted, tacenda.explain("D103"), tacenda.answers.Answer(a=[{nasty: nasty}])):
        html = shown._repr_html_()
        assert "<script" not in html, type(shown)
        assert html.startswith(("<div class=\"tacenda\">", "<iframe sandbox=")), html[:80]
    assert "[" in release.frame.head(1)[0][0] or release.frame.head(1), release.frame.head(1)


def examples_project(home: pathlib.Path) -> "dict[str, object]":
    """What the examples have: a project with two releases, its tables, and its keys beside it."""
    (home / "stays").mkdir(parents=True)
    (home / "stays" / "tacenda.toml").write_text("""policy = 1
[series]
name = "stays"
[columns]
patient = { role = "identifier" }
age = { role = "quasi", type = "integer", domain = [0, 120] }
disease = { role = "sensitive", type = "category" }
[promise]
model = "m-invariance"
m = 2
""")
    rows = [("p1", 20, "flu"), ("p2", 22, "mumps"), ("p3", 61, "flu"), ("p4", 65, "mumps"), ("p5", 33, "flu"), ("p6", 34, "mumps")]
    stays = pandas.DataFrame(rows, columns=["patient", "age", "disease"])
    project = tacenda.Project(home / "stays", keys=home / "keys", anchor=home / "anchor")
    project.publish(stays[:4], "2026-Q1")
    project.publish(stays, "2026-Q2")
    return {"tacenda": tacenda, "first_stays": stays[:4], "stays": stays}


def the_examples_in_the_docs_run() -> None:
    from tacenda import _errors, _functions, _project, _report, _series, _warnings

    here, count = os.getcwd(), 0
    with tempfile.TemporaryDirectory() as folder:
        base = pathlib.Path(folder, "base")
        known = examples_project(base)
        try:
            for module in (_errors, _functions, _project, _report, _series, _warnings):
                examples = [found for found in doctest.DocTestFinder().find(module) if found.examples]
                assert examples, module.__name__
                for example in examples:
                    count += 1
                    home = pathlib.Path(folder, f"copy {count}")
                    shutil.copytree(base, home)
                    os.chdir(home)
                    project = tacenda.Project("stays", keys="keys", anchor="anchor")
                    example.globs.update(known, project=project)
                    ran = doctest.DocTestRunner().run(example)
                    assert not ran.failed, example.name
            os.chdir(base)
            # doctest does not look into compiled classes by itself.
            frame = tacenda.Frame
            for one in (tacenda.Release.count, frame, frame.head, frame.to_pandas, frame.to_polars, frame.to_pyarrow):
                (example,) = doctest.DocTestFinder(recurse=False).find(one, one.__name__, module=False, globs=dict(known))
                ran = doctest.DocTestRunner().run(example)
                assert ran.attempted > 0 and not ran.failed, ran
        finally:
            os.chdir(here)
    for name in tacenda.__all__:
        value = getattr(tacenda, name)
        if not callable(value) or value is tacenda.Release:
            continue
        members = vars(value) if inspect.isclass(value) else {}
        methods = {f"{name}.{one}": method for one, method in members.items() if callable(method) and not one.startswith("_")}
        silent = [one for one, shown in {name: value, **methods}.items() if ">>>" not in (shown.__doc__ or "")]
        assert not silent, silent


def main(command: str) -> None:
    command = os.path.abspath(command)
    tests = [
        the_promises_are_listed,
        frames_go_in_and_releases_come_out,
        the_seed_alone_decides_whatever_the_order_and_the_library,
        lambda: the_command_makes_the_same_release(command),
        a_delta_is_the_same_as_the_whole,
        what_cannot_be_promised_is_refused,
        the_gate_refuses_what_the_paper_breaks,
        an_audit_finds_bob,
        lambda: the_command_audits_alike(command),
        dates_of_a_policy_may_be_texts,
        one_text_is_one_column,
        intervals_of_pandas_are_audited_in_memory,
        bytes_that_are_no_text_are_refused,
        polars_and_duckdb_go_in_and_out,
        progress_is_told_and_ctrl_c_ends_it,
        lambda: everything_the_command_can_do(command),
        python_warns_as_the_command_does,
        lambda: python_keeps_up_with_the_command(command),
        lambda: the_package_brings_the_command(command),
        looks_are_short_and_safe,
        the_examples_in_the_docs_run,
    ]
    for test in tests:
        test()
    print(f"{len(tests)} tests of the Python package passed")


if __name__ == "__main__":
    main(sys.argv[1])
