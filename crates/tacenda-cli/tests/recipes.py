"""The recipes of docs/how-to are run, as they are printed: `recipes.py TACENDA [NAME…]`.

Code comes from the pages, so that a page cannot say what was not run. Paths of a real machine are replaced by those of a
temporary folder, and nothing else. Recipes: schedule, airflow, dagster, ci, pre-commit, action, install, sql, r, notebook, dbt. Without
names, those that need no package but pyyaml, pre-commit and duckdb. `notebook` and `dbt` need the Python package on PYTHONPATH.
"""
import ast
import datetime
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
HOW_TO = ROOT / "docs/how-to"


def blocks(page, kind):
    """The code blocks of a page of docs/how-to, of one kind."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", (HOW_TO / page).read_text(), re.S | re.M)


class Machine:
    """A temporary folder with a home and the command on the path."""

    def __init__(self, tacenda, folder):
        self.folder = pathlib.Path(folder)
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        (self.bin / "tacenda").symlink_to(tacenda)
        self.env = {
            "PATH": f"{self.bin}:{os.environ['PATH']}", "HOME": str(self.folder / "home"), "NO_COLOR": "1",
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""), "LC_ALL": "C.UTF-8",
            # Certificates and registries of this machine, for pip and git.
            **{name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "GIT_SSL", "HTTPS", "NO_PROXY"))},
        }
        (self.folder / "home").mkdir()
        self.project, self.table = self.folder / "ward-stays", self.folder / "demo/data"

    def run(self, *words, ends=0, cwd=None, **more):
        """Runs a program, which must end with this exit code."""
        done = subprocess.run(list(map(str, words)), env=self.env | more, cwd=cwd or self.folder, capture_output=True, text=True)
        assert done.returncode == ends, (words, done.returncode, done.stdout, done.stderr)
        return done.stdout + done.stderr

    def hospital(self):
        """A project that has published nothing, and its tables."""
        self.run("tacenda", "demo", "demo", "--patients", "2000")
        self.project.mkdir()
        for name in ["tacenda.toml", "hierarchies"]:
            shutil.move(str(self.folder / "demo" / name), str(self.project / name))

    def script(self):
        """The script of the schedule, installed, and a project for it."""
        self.hospital()
        (text,) = blocks("schedule.md", "bash")
        path = self.bin / "publish-quarter"
        path.write_text(text)
        path.chmod(0o755)
        self.env |= {"TACENDA_PROJECT": str(self.project), "TACENDA_TABLE": str(self.table / "2026-Q1.csv")}
        return path

    def releases(self):
        return sorted(path.name for path in (self.project / "releases").glob("*/r*"))


def schedule(machine):
    """The script twice, by cron's line and by the units; the second run says "already"."""
    script = machine.script()
    (line,) = blocks("schedule.md", "text")
    at, by_cron = cron(line)
    assert re.fullmatch(r"(\d+)-(\d+)", at[2]), "a run that fails must be repeated before the next quarter"
    by_cron = by_cron.replace("/usr/local/bin/publish-quarter", str(script))
    service, timer = blocks("schedule.md", "ini")
    command = re.search(r"^ExecStart=(.*)$", service, re.M).group(1).replace("/usr/local/bin/publish-quarter", str(script))
    first, second, third = (machine.run("sh", "-c", line) for line in (by_cron, by_cron, command))
    assert "already" not in first and "already" in second and "already" in third, (first, second, third)
    assert machine.releases() == ["r0001"]
    # Another table under the same label needs a person.
    refused = machine.run("sh", "-c", command, ends=6, TACENDA_TABLE=str(machine.table / "2026-Q2.csv"))
    assert "R608" in refused, refused
    folders(machine, service)
    from_database(machine)
    # Everything that needs a person is an exit code that is not tried again, and 7 and 8 are tried again.
    never = set(re.search(r"^RestartPreventExitStatus=(.*)$", service, re.M).group(1).split())
    listed = set(re.findall(r"^ *(\d+)  \w", machine.run("tacenda", "--help"), re.M))
    assert never | {"0", "7", "8"} == listed, (never, listed)
    if not shutil.which("systemd-analyze"):
        return "the units were not looked at: SKIPPED, there is no systemd-analyze"
    units = machine.folder / "units"
    units.mkdir()
    for name, text in [("tacenda-quarter.service", service), ("tacenda-quarter.timer", timer)]:
        (units / name).write_text(text.replace("/usr/local/bin/publish-quarter", str(script)))
    (units / "tacenda-failed.service").write_text("[Service]\nType=oneshot\nExecStart=/bin/true\n")
    said = machine.run("systemd-analyze", "verify", *sorted(units.iterdir()))
    ours = [line for line in said.splitlines() if str(units) in line or "tacenda" in line]
    assert not ours, ours


def cron(line):
    """The five fields of a line of a crontab, and what cron hands to the shell: an unescaped % would end it."""
    *at, command = line.strip().split(maxsplit=5)
    assert not re.search(r"(?<!\\)%", command), line
    return at, command.replace("\\%", "%")


def folders(machine, service):
    """What the unit may write to is made by the lines of the page, on a machine that has none of it."""
    there = {"/srv": str(machine.folder / "fresh/srv"), "/home": str(machine.folder / "fresh/home")}

    def here(text):
        return re.sub(r"/(srv|home)\b", lambda found: there[found.group()], text)

    (lines,) = blocks("schedule.md", "sh")
    # Here nobody is called steward, and everything belongs to whoever runs the test.
    for line in re.sub(r"sudo (-u steward )?|-o steward -g steward ", "", lines).splitlines():
        machine.run("sh", "-c", here(line))
    for folder in re.search(r"^ReadWritePaths=(.*)$", service, re.M).group(1).split():
        assert pathlib.Path(here(folder)).is_dir(), f"systemd would not start the service: {folder} is not there"


def from_database(machine):
    """The crontab of docs/postgres.md: its lines name the quarter, and are repeated on several days."""
    (table,) = [block for block in blocks("../postgres.md", "text") if "tacenda publish" in block]
    (publish, _), (deliver, _) = found = [cron(line) for line in table.splitlines() if not line.startswith("#")]
    assert re.fullmatch(r"\d+-\d+", publish[2]) and deliver[2:] == ["*"] * 3, table
    fake = machine.folder / "told"
    fake.mkdir()
    (fake / "tacenda").write_text('#!/bin/sh\necho "$@"\n')
    (fake / "tacenda").chmod(0o755)
    said = [machine.run("sh", "-c", line.replace("/srv/ward-stays", str(machine.project)), PATH=f"{fake}:{machine.env['PATH']}")
            for _, line in found]
    today = datetime.date.today()
    assert f"publish --label {today.year}-Q{(today.month + 2) // 3} --yes" in said[0] and said[1].startswith("deliver"), said


def python_block(page, word):
    (found,) = [block for block in blocks(page, "python") if word in block]
    return found


def airflow(machine):
    """The shell line of the Airflow step, with its templates filled in as Airflow does."""
    script = machine.script()
    tree = ast.parse(python_block("schedule.md", "BashOperator("))
    (line,) = [ast.literal_eval(word.value) for word in ast.walk(tree) if isinstance(word, ast.keyword) and word.arg == "bash_command"]
    line = re.sub(r"\{\{(.*?)\}\}", lambda part: str(eval(part.group(1), {"data_interval_start": Day()})), line)
    line = line.replace("/usr/local/bin/publish-quarter", str(script))
    assert line.endswith(" 2026-Q2"), line
    for expected in [False, True]:
        assert ("already" in machine.run("sh", "-c", line)) == expected


class Day:
    year, month = 2026, 4


def dagster(machine):
    """The function of the Dagster step, with a stand-in for Dagster: each exit code leads where the page says."""
    script = machine.script()
    source = python_block("schedule.md", "dagster").replace("/usr/local/bin/publish-quarter", str(script))

    class Retry(Exception):
        def __init__(self, **_):
            super().__init__()

    class Failed(Exception):
        def __init__(self, **said):
            super().__init__(said)

    class Stand:
        RetryRequested, Failure = Retry, Failed

        @staticmethod
        def op(**_):
            return lambda function: function

    class Context:
        op_config = {"label": "2026-Q1"}

        class log:
            said = []
            info = said.append

    names = {"dagster": Stand}
    exec(source.replace("import dagster\n", ""), names)
    before = dict(os.environ)
    os.environ.update(machine.env)
    try:
        for _ in range(2):
            names["publish_quarter"](Context)
        assert "already" in Context.log.said[1] and "already" not in Context.log.said[0], Context.log.said
        os.environ["TACENDA_TABLE"] = str(machine.table / "2026-Q2.csv")
        try:
            names["publish_quarter"](Context)
            raise AssertionError("another table under the same label was published")
        except Failed:
            pass
        # A command that ends with each exit code: what a repeated run can mend is tried again, as by the unit of systemd.
        fake = machine.folder / "fails"
        fake.mkdir()
        os.environ["PATH"] = f"{fake}:{machine.env['PATH']}"
        for code in (1, 2, 3, 4, 5, 6, 7, 8, 70):
            (fake / "tacenda").write_text(f"#!/bin/sh\nexit {code}\n")
            (fake / "tacenda").chmod(0o755)
            try:
                names["publish_quarter"](Context)
                raise AssertionError(f"exit code {code} was taken for success")
            except (Failed, Retry) as error:
                assert isinstance(error, Retry) == (code in (7, 8)), (code, error)
    finally:
        os.environ.clear()
        os.environ.update(before)


def repository(machine):
    """A git repository of two published files which betray somebody together."""
    folder = machine.folder / "repository"
    (folder / "published").mkdir(parents=True)
    for name, other in [("2026-Q1.csv", "cold"), ("2026-Q2.csv", "mumps")]:
        rows = f"age,zip,disease\n20-29,47***,flu\n20-29,47***,{other}\n30-39,48***,gout\n30-39,48***,flu\n"
        (folder / "published" / name).write_text(rows)
    machine.run("git", "init", "-q", cwd=folder)
    machine.run("git", "add", "-A", cwd=folder)
    return folder


def ci(machine):
    """A job in a repository fails with exit code 1 and writes SARIF; one file alone passes."""
    folder = repository(machine)
    words = ["tacenda", "audit", "published", "--quasi", "age,zip", "--sensitive", "disease"]
    machine.run(*words, "--format", "sarif", "-o", "tacenda.sarif", ends=1, cwd=folder)
    sarif(folder)
    (folder / "published/2026-Q2.csv").unlink()
    machine.run(*words, ends=0, cwd=folder)


def sarif(folder):
    results = json.loads((folder / "tacenda.sarif").read_text())["runs"][0]["results"]
    assert results and all(result["ruleId"].startswith("A7") for result in results), results


def pre_commit(machine):
    """The hook, from our file, in a repository that uses it as the page says."""
    import yaml

    hooks = machine.folder / "hooks"
    hooks.mkdir()
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", hooks)
    machine.run("git", "init", "-q", "-b", "main", cwd=hooks)
    machine.run("git", "add", "-A", cwd=hooks)
    machine.run("git", "-c", "user.name=a", "-c", "user.email=a@b.example", "commit", "-qm", "hooks", cwd=hooks)
    folder = repository(machine)
    config = yaml.safe_load(blocks("ci.md", "yaml")[0])
    (source,) = config["repos"]
    source["repo"], source["rev"] = str(hooks), machine.run("git", "rev-parse", "HEAD", cwd=hooks).strip()
    (folder / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    machine.run("git", "add", "-A", cwd=folder)
    program = [sys.executable, "-m", "pre_commit"]
    machine.run(*program, "validate-manifest", ROOT / ".pre-commit-hooks.yaml", cwd=folder)
    said = machine.run(*program, "run", "--all-files", ends=1, cwd=folder)
    assert "tacenda audit" in said and "FAIL" in said and "exit code: 1" in said, said
    (folder / "published/2026-Q2.csv").unlink()
    said = machine.run(*program, "run", "--all-files", cwd=folder)
    assert "Passed" in said, said
    # Whoever hands over names gets no options out of them.
    hook, name = source["hooks"][0], folder / "--fail-on=never.csv"
    shutil.copy(folder / "published/2026-Q1.csv", name)
    name.write_text(name.read_text().replace("cold", "flu"))
    hook |= {"pass_filenames": True, "files": "^--fail"}
    (folder / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    machine.run("git", "add", "-A", cwd=folder)
    said = machine.run(*program, "run", "--all-files", ends=1, cwd=folder)
    assert "FAIL" in said and "exit code: 1" in said, said


def action(machine):
    """The steps of action.yml, run as GitHub runs them: inputs become variables."""
    import yaml

    folder = repository(machine)
    definition = yaml.safe_load((ROOT / "action.yml").read_text())
    workflow = yaml.safe_load(blocks("ci.md", "yaml")[1])
    (used,) = [step["with"] for step in workflow["jobs"]["audit"]["steps"] if step["uses"].startswith("your-organisation/tacenda")]
    unknown = set(used) - set(definition["inputs"])
    assert not unknown, unknown
    needed = {name for name, said in definition["inputs"].items() if said.get("required")}
    assert needed <= set(used), needed

    def run(given, ends):
        inputs = {name: said.get("default", "") for name, said in definition["inputs"].items()} | given
        def fill(text):
            return re.sub(r"\$\{\{ *inputs\.(\w+) *\}\}", lambda part: str(inputs[part.group(1)]), text)
        steps = definition["runs"]["steps"]
        for step in steps:
            assert "${{" not in step["run"], "an input would become text of the script"
            variables = {name: fill(value) for name, value in step.get("env", {}).items()}
            code = ends if step is steps[-1] else 0
            said = machine.run("bash", "-e", "-o", "pipefail", "-c", step["run"], ends=code, cwd=folder, **variables)
        return said

    assert "FAIL" in run(used, 1)
    sarif(folder)
    assert "FAIL" in run(used | {"arguments": "--fail-on=never"}, 0)
    # A name with a blank is one word, and a name that looks like a command is none.
    (folder / "published").rename(folder / "pub lished; touch broken")
    run(used | {"files": "pub lished; touch broken"}, 1)
    assert not (folder / "broken").exists()
    # A name that looks like an option is a name, and a missing file fails.
    (folder / "pub lished; touch broken").rename(folder / "--fail-on=never")
    run(used | {"files": "--fail-on=never"}, 1)
    run(used | {"files": "published\n--fail-on=never"}, 7)
    for name in ("quasi", "sensitive"):
        run(used | {"files": "--fail-on=never", name: "--fail-on=never"}, 3)


def install(machine):
    """The files are checked as the page says. A changed file, and a list that somebody else signed, are refused."""
    (line,) = blocks("install.md", "bash")
    (machine.folder / "tacenda-1.whl").write_text("a wheel")
    machine.run("sh", "-c", "sha256sum tacenda-1.whl >SHA256SUMS && echo 0 | sha256sum | sed 's/-/not-fetched.deb/' >>SHA256SUMS")
    for name in ("tacenda", "stranger"):
        machine.run("minisign", "-G", "-W", "-p", f"{name}.pub", "-s", f"{name}.key")
    machine.run("minisign", "-S", "-s", "tacenda.key", "-t", "tacenda 1", "-m", "SHA256SUMS")
    said = machine.run("sh", "-c", line)
    assert "Trusted comment: tacenda 1" in said and "tacenda-1.whl: OK" in said, said
    (machine.folder / "tacenda-1.whl").write_text("another wheel")
    assert "tacenda-1.whl: FAILED" in machine.run("sh", "-c", line, ends=1)
    machine.run("minisign", "-S", "-s", "stranger.key", "-m", "SHA256SUMS")
    assert "OK" not in machine.run("sh", "-c", line, ends=1)


def sql(machine):
    """The SQL of docs/recipes.md in DuckDB counts what `tacenda count` does. The columns of the demo stand for the page's."""
    import duckdb

    machine.run("tacenda", "demo", "demo", "--patients", "2000")
    (folder,) = (machine.folder / "demo/releases").glob("*/r0001")
    (data,) = (path for path in folder.glob("*-r0001.csv"))

    def estimate(condition):
        return json.loads(machine.run("tacenda", "count", folder, "--where", condition, "--format", "json"))["estimate"]

    one, intervals, sets, rounds, both = (
        re.sub(r"\brace\b|(?<=fit_)race", "sex", block).replace("STEM", str(data.with_suffix(""))).replace("'B'", "'F'")
        for block in blocks("../recipes.md", "sql"))
    database = duckdb.connect()
    (people,) = database.execute(one).fetchone()
    assert people > 50 and abs(people - estimate("age >= 66")) <= 1, people
    database.execute(intervals)
    database.execute(sets)
    for _ in range(100):
        database.execute(rounds)
        database.execute(rounds.replace("fit_age", "fit_sex"))
    (people,) = database.execute(both).fetchone()
    assert people > 50 and abs(people - estimate("age >= 66 and sex = F")) <= 1, people


def r(machine):
    """The script of the page, in base R."""
    machine.script()
    machine.run("publish-quarter", "2026-Q1")
    (folder,) = (machine.project / "releases").glob("*/r0001")
    (text,) = blocks("r.md", "r")
    (machine.folder / "count.R").write_text(text)
    shutil.copytree(folder, machine.folder / "r0001")
    said = machine.run("Rscript", "count.R")
    assert "rows whose age begins at 60 or above: " in said and re.search(r"F +\d+", said), said
    return said


def notebook(machine):
    """Every cell of the notebook, in a kernel of its own. The outputs are kept beside, to be looked at."""
    import nbclient
    import nbformat

    page = nbformat.read(ROOT / "examples/notebook.ipynb", as_version=4)
    assert all(not cell.get("outputs") for cell in page.cells), "the notebook in the repository has no outputs"
    nbclient.NotebookClient(page, timeout=120, kernel_name="python3", resources={"metadata": {"path": machine.folder}}).execute()
    printed = "".join(output.get("text", "") for cell in page.cells for output in cell.get("outputs", []))
    assert "FAIL" in printed and "2026-Q2" in printed, printed
    shown = ["".join(output.get("data", {}).get("text/html", "")) for cell in page.cells for output in cell.get("outputs", [])]
    for begins in ("<iframe sandbox=", '<div class="tacenda">'):
        assert any(html.startswith(begins) for html in shown), f"nothing shows its page: {begins}"
    out = os.environ.get("NOTEBOOK_OUT")
    if out:
        nbformat.write(page, out)


def dbt(machine):
    """The model of the page, twice, with the DuckDB adapter."""
    machine.hospital()
    folder = machine.folder / "dbt"
    (folder / "models").mkdir(parents=True)
    (folder / "dbt_project.yml").write_text("name: ward\nversion: '1.0'\nprofile: ward\nmodel-paths: [models]\n")
    (folder / "profiles.yml").write_text("ward: {target: dev, outputs: {dev: {type: duckdb, path: ward.duckdb}}}\n")
    (folder / "models/stays.sql").write_text(f"select * from read_csv('{machine.table}/2026-Q1.csv')\n")
    (folder / "models/published_stays.py").write_text(python_block("dbt.md", "def model"))
    (config,) = blocks("dbt.md", "yaml")
    (folder / "models/models.yml").write_text("version: 2\n" + config.replace("/srv/ward-stays", str(machine.project)))
    machine.env |= {"DBT_PROFILES_DIR": str(folder), "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"}
    machine.env["PATH"] = f"{pathlib.Path(sys.executable).parent}:{machine.env['PATH']}"
    for _ in range(2):
        machine.run("dbt", "run", "--vars", "quarter: 2026-Q1", cwd=folder)
        assert machine.releases() == ["r0001"]
    import duckdb
    (count,) = duckdb.connect(str(folder / "ward.duckdb")).execute("select count(*) from published_stays").fetchone()
    assert count >= 1900, count
    after_dbt(machine, folder)


def after_dbt(machine, folder):
    """The plain way: dbt exports, and the script publishes, into a project of its own."""
    second = machine.folder / "second"
    second.mkdir()
    for name in ["tacenda.toml", "hierarchies"]:
        (shutil.copytree if name == "hierarchies" else shutil.copy)(machine.project / name, second / name)
    table = machine.folder / "stays.csv"
    # This way dbt knows nothing of Tacenda.
    for name in ["published_stays.py", "models.yml"]:
        (folder / "models" / name).unlink()
    (folder / "macros").mkdir()
    (macro,) = blocks("dbt.md", "sql")
    (folder / "macros/export.sql").write_text(macro.replace("/srv/export/stays.csv", str(table)))
    (text,) = blocks("schedule.md", "bash")
    (machine.bin / "publish-quarter").write_text(text)
    (machine.bin / "publish-quarter").chmod(0o755)
    (line,) = blocks("dbt.md", "bash")
    where = {"TACENDA_PROJECT": str(second), "TACENDA_TABLE": str(table)}
    first, again = (machine.run("sh", "-c", line, cwd=folder, **where) for _ in range(2))
    assert "published" in first and "already" in again, (first, again)


ALL = {"schedule": schedule, "airflow": airflow, "dagster": dagster, "ci": ci, "pre-commit": pre_commit, "action": action,
       "install": install, "sql": sql, "r": r, "notebook": notebook, "dbt": dbt}
CHEAP = ["schedule", "airflow", "dagster", "ci", "pre-commit", "action", "install", "sql"]


def main():
    tacenda = pathlib.Path(sys.argv[1]).resolve()
    for name in sys.argv[2:] or CHEAP:
        with tempfile.TemporaryDirectory() as folder:
            note = ALL[name](Machine(tacenda, folder))
        print(f"{name}: ok" + (f" ({note.splitlines()[0]})" if note else ""))


if __name__ == "__main__":
    main()
