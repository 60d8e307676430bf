"""The package, as a researcher uses it; and held against the command.

Usage: test_tacenda.py path/to/tacenda

Needs pandas and pyarrow; polars is tried where it is there. Plain asserts, so that nothing has to be installed.
"""

import datetime
import importlib.util
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

import pandas
import pyarrow

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
    if importlib.util.find_spec("polars"):
        import polars

        forms["polars"] = [polars.from_pandas(frame) for frame in frames]
    for name, form in forms.items():
        got = [release.digest for release in tacenda.publish(form, TOML, seed=2)]
        assert got == expected, name
    assert tacenda.publish(frames[0], POLICY, seed=4).digest != expected[0]
    if "polars" in forms:
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
            assert project.plan(frame, label).folder is None
            release = project.publish(frame, label)
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
        assert project.report(language="de") == subprocess.run(run, check=True, capture_output=True, text=True).stdout
        assert '<html lang="en">' in project.report() and '<html lang="en">' in project.report("steward")
        refused(lambda: project.report(language="it"), "U201", 2)
        refused(lambda: project.report("steward", language="de"), "U201", 2)
        subprocess.run([command, "-C", str(two), "verify"], check=True, capture_output=True)
        someone = str(frames[-1]["id"].iloc[0]) if "id" in frames[-1] else str(frames[-1].iloc[0, 0])
        answer = project.erase([someone, "nobody at all"])
        assert (answer["people"], answer["rows"], answer["unknown"]) == (1, 1, 1), answer
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


def refused(act, code: str, exit_code: int, secret: str = "P0") -> tacenda.TacendaError:
    try:
        act()
    except tacenda.TacendaError as error:
        assert error.code == code and error.exit_code == exit_code, (error.code, error.exit_code, str(error))
        assert str(error).startswith(code) and secret not in str(error)
        return error
    raise AssertionError(f"{code} was not raised")


def what_cannot_be_promised_is_refused() -> None:
    frames = snapshots()
    strict = {**POLICY, "promise": {"model": "m-invariance", "m": 3}}
    same = frames[0].assign(disease="flu")
    refused(lambda: tacenda.publish(same, strict), "R422", 4, "flu")
    refused(lambda: tacenda.publish(frames[0].assign(age=200), POLICY), "D109", 3, "200")
    unknown = {**POLICY, "promise": {**strict["promise"], "n": 3}}
    refused(lambda: tacenda.publish(frames[0], unknown), "P202", 2)
    again = {**POLICY, "promise": {"model": "k-anonymity", "k": 5}}
    del again["counterfeits"]
    refused(lambda: tacenda.publish(frames[:2], again), "R601", 6)
    series = tacenda.Series(POLICY)
    series.publish(frames[0], "q1")
    refused(lambda: series.publish(frames[1], "q1"), "R202", 2)
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
    try:
        tacenda.audit(gaps, ["age", "zip"], "disease", missing="nothing")
        raise AssertionError("there is no such meaning")
    except ValueError:
        pass
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
    ]
    for test in tests:
        test()
    print(f"{len(tests)} tests of the Python package passed")


if __name__ == "__main__":
    main(sys.argv[1])
