"""A real server: tables come from it, releases go into it, and whatever breaks in the middle is finished by a retry.

Starts PostgreSQL in a temporary folder, as a user who is not root, on loopback, with certificates of an authority made here."""

import contextlib
import csv
import glob
import hashlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

BINARY = pathlib.Path(sys.argv[1]).resolve()
SECRET = "canary-geheim-4711"
QUARTERS = ["2026-Q1", "2026-Q2", "2026-Q3"]

# The number of the lock that deliveries of the series into the schema take.
# The second one is for what deliveries of all series into the schema make.
lock_number = lambda name: int.from_bytes(hashlib.sha256(name).digest()[:8], "big", signed=True)
SERIES_LOCK, SCHEMA_LOCK = lock_number(b"tacenda open_data ward-stays"), lock_number(b"tacenda\nopen_data")

POLICY = """policy = 1
[series]
name = "ward-stays"
[source]
postgres = "service=ward_ro"
{rows}
[deliver.open]
postgres = "service=open_rw"
schema = "open_data"
grant = ["researcher"]
[columns]
id = {{ role = "identifier" }}
age = {{ role = "quasi", type = "integer", domain = [0, 120] }}
weight = {{ role = "quasi", type = "real", domain = [0, 200], precision = 0.1 }}
admitted = {{ role = "quasi", type = "date", domain = [2020-01-01, 2030-01-01], missing = "error" }}
sex = {{ role = "quasi", type = "category", values = ["F", "M"], missing = "error" }}
illness = {{ role = "sensitive", type = "category" }}
note = {{ role = "drop" }}
stay = {{ role = "drop" }}
[promise]
model = "m-invariance"
m = 2
[counterfeits]
max_share = 0.5
[withheld]
max_share = 0.5
"""

TABLE = """
create role ward_ro login password '{secret}'; create role open_rw login password '{secret}'; create role researcher login;
create schema hospital; create schema open_data authorization open_rw;
create type hospital.sex as enum ('F', 'M');
create domain hospital.years as int2 check (value >= 0);
create table hospital.stays (id uuid primary key, age hospital.years, weight numeric(5,1), admitted date not null,
  sex hospital.sex not null, illness varchar(40) not null, note bytea, stay daterange);
grant usage on schema hospital to ward_ro;
grant select (id, age, weight, admitted, sex, illness) on hospital.stays to ward_ro;
create role ward_cert login in role ward_ro;
"""

ROWS = """insert into hospital.stays select md5('p' || n)::uuid, case when n % 17 = 0 then null else 20 + n % 60 end,
  case when n % 23 = 0 then null else 50 + (n % 400) / 10.0 end, date '2024-01-01' + n % 700,
  (array['F', 'M'])[1 + n % 2]::hospital.sex, (array['flu', 'gout', 'asthma', 'angina', 'a, "b"'])[1 + n % 5],
  '\\xdead', daterange('2024-01-01', '2024-02-01') from generate_series({first}, {last}) n"""


class Server:
    """A server of its own, and its superuser's psql."""

    def __init__(self, root: pathlib.Path):
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]))
        self.bin = pathlib.Path(found[-1]) if found else pathlib.Path(shutil.which("initdb") or "").parent
        self.root, self.data, self.port = root, root / "data", free_port()
        self.as_user = []
        if os.getuid() == 0:
            self.as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
            shutil.chown(root, "postgres", "postgres")
        self.run("initdb", "-D", self.data, "-U", "postgres", "--auth=trust", "-E", "UTF8", "--no-sync")
        certify(root, own_address())
        hba = ["local all postgres trust", "local all researcher trust", "hostssl all all 0.0.0.0/0 scram-sha-256"]
        hba[2:2] = ["host all all 127.0.0.1/32 scram-sha-256", "host all all ::1/128 scram-sha-256"]
        # This user has no password: a certificate says who he is.
        hba[2:2] = ["hostssl all ward_cert 127.0.0.1/32 cert", "hostssl all ward_cert ::1/128 cert"]
        (self.data / "pg_hba.conf").write_text("\n".join(hba) + "\n")
        with (self.data / "postgresql.conf").open("a") as conf:
            conf.write(f"port={self.port}\nlisten_addresses='*'\nunix_socket_directories='{root}'\nfsync=off\n")
            conf.write(f"ssl_ca_file='{root}/ca.crt'\n")
            conf.write(f"ssl=on\nssl_cert_file='{root}/server.crt'\nssl_key_file='{root}/server.key'\ntimezone='UTC'\n")
        if self.as_user:
            subprocess.run(["chown", "-R", "postgres:postgres", root], check=True)
        self.start()
        self.sql("create database hospital", database="postgres")
        self.sql(TABLE.format(secret=SECRET))

    def run(self, program: str, *words) -> None:
        done = subprocess.run([*self.as_user, self.bin / program, *words], cwd="/", capture_output=True, text=True)
        assert done.returncode == 0, (program, words, done.stdout, done.stderr)

    def start(self) -> None:
        self.run("pg_ctl", "start", "-w", "-D", self.data, "-l", self.root / "log")

    def stop(self, mode: str = "fast") -> None:
        self.run("pg_ctl", "stop", "-w", "-D", self.data, "-m", mode)

    def words(self, user: str, database: str) -> list:
        return [self.bin / "psql", "-h", self.root, "-p", str(self.port), "-U", user, "-d", database, "-XAtq"]

    def sql(self, text: str, user: str = "postgres", database: str = "hospital", ok: bool = True) -> str:
        words = [*self.words(user, database), "-v", "ON_ERROR_STOP=1", "-c", text]
        done = subprocess.run(words, capture_output=True, text=True)
        assert not ok or done.returncode == 0, (text, done.stderr)
        return (done.stdout + done.stderr).strip()

    @contextlib.contextmanager
    def holding(self, text: str):
        """Somebody else's transaction, which ends with the block."""
        held = subprocess.Popen(self.words("postgres", "hospital"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        held.stdin.write(f"begin;\n{text};\nselect 'held';\n")
        held.stdin.flush()
        while held.stdout.readline().strip() != "held":
            pass
        yield
        held.stdin.close()
        held.wait()

    def wait_for_lock(self, *begun: subprocess.Popen) -> None:
        """Waits until every delivery waits for somebody."""
        while all(one.poll() is None for one in begun):
            sql = "select count(*) from pg_stat_activity where application_name = 'tacenda' and wait_event_type = 'Lock'"
            if self.sql(sql) == str(len(begun)):
                return
            time.sleep(0.05)
        raise AssertionError(("a delivery did not come to the lock", [one.communicate() for one in begun if one.poll() is not None]))


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def own_address() -> str | None:
    """An address of this machine that is not loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            return probe.getsockname()[0]
        except OSError:
            return None


def certify(root: pathlib.Path, address: str | None) -> None:
    """An authority, a server that it vouches for by its names, and an authority that vouches for nobody."""
    def openssl(*words) -> None:
        subprocess.run(["openssl", *words], cwd=root, check=True, capture_output=True)
    for name in ["ca", "other"]:
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                f"/CN=Tacenda test {name}", "-keyout", f"{name}.key", "-out", f"{name}.crt")
    names = "subjectAltName=DNS:localhost" + (f",IP:{address}" if address else "")
    (root / "names").write_text(names + "\nbasicConstraints=CA:FALSE\n")
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost", "-keyout",
            "server.key", "-out", "server.csr")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
            "-extfile", "names", "-out", "server.crt")
    # A user whom the authority knows, and one whom only the other one knows.
    # The old one's certificate is of version 1, which is not taken any more.
    for name, by in [("client", "ca"), ("stranger", "other"), ("old", "ca")]:
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=ward_cert", "-keyout",
                f"{name}.key", "-out", f"{name}.csr")
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{by}.crt", "-CAkey", f"{by}.key", "-CAcreateserial", "-days",
                "2", "-out", f"{name}.crt", *([] if name == "old" else ["-extfile", "names"]))


class House:
    """A steward's folder: a home with secrets, a project, and what the command remembers outside of it."""

    def __init__(self, root: pathlib.Path, server: Server, rows: str = 'table = "hospital.stays"'):
        self.root, self.server, self.project = root, server, root / "project"
        for folder in ["home", "project"]:
            (root / folder).mkdir(parents=True)
        service = "[{}]\nhost=127.0.0.1\nport={}\ndbname=hospital\nuser={}\n"
        services = [service.format(name, server.port, name) for name in ["ward_ro", "open_rw"]]
        (root / "home/.pg_service.conf").write_text("".join(services))
        self.pgpass(f"*:{server.port}:hospital:*:{SECRET}\n")
        self.policy(POLICY.format(rows=rows))
        self.said = ""

    def policy(self, text: str) -> None:
        (self.project / "tacenda.toml").write_text(text)

    def pgpass(self, text: str, mode: int = 0o600) -> None:
        (self.root / "home/.pgpass").write_text(text)
        (self.root / "home/.pgpass").chmod(mode)

    def environment(self, more: dict) -> dict:
        own = {key: value for key, value in os.environ.items() if not key.startswith("PG")}
        own.update(HOME=str(self.root / "home"), XDG_CONFIG_HOME=str(self.root / "config"))
        return own | {"XDG_STATE_HOME": str(self.root / "state"), "USER": "steward"} | more

    def begin(self, *words: str, **more: str) -> subprocess.Popen:
        pipe = subprocess.PIPE
        return subprocess.Popen([BINARY, *words], cwd=self.project, env=self.environment(more), stdout=pipe, stderr=pipe, text=True)

    def end(self, begun: subprocess.Popen, code: int, *says: str) -> str:
        said = "".join(begun.communicate(timeout=120))
        self.said += said
        assert begun.returncode == code, (begun.args, begun.returncode, said)
        assert all(text in said for text in says), (begun.args, says, said)
        assert SECRET not in said, "a secret was said"
        return said

    def run(self, code: int, *words: str, says: tuple = (), **more: str) -> str:
        return self.end(self.begin(*words, **more), code, *says)

    def copy(self, name: str) -> "House":
        """The same house once more, as if its disk had been copied."""
        root = self.root.parent / name
        shutil.copytree(self.root, root)
        other = House.__new__(House)
        other.root, other.server, other.project, other.said = root, self.server, root / "project", ""
        return other

    def release(self, number: int) -> pathlib.Path:
        return self.project / f"releases/ward-stays/r{number:04}"

    def data(self, number: int) -> list[dict]:
        with (self.release(number) / f"ward-stays-r{number:04}.csv").open() as file:
            return list(csv.DictReader(file))

    def assert_no_secret(self) -> None:
        """No file but those of the home holds the secret, and no process shows it among its words."""
        for folder in ["project", "state", "config"]:
            for path in (self.root / folder).rglob("*"):
                assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path
        for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                assert SECRET.encode() not in path.read_bytes(), path

    def events(self) -> list[str]:
        lines = (self.project / ".tacenda/ledger.jsonl").read_text().splitlines()
        return [line.split('"event":"')[1].split('"')[0] for line in lines]


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="tacenda-pg-") as folder:
        root = pathlib.Path(folder)
        root.chmod(0o755)
        (root / "server").mkdir()
        server = Server(root / "server")
        try:
            server.sql(ROWS.format(first=1, last=300))
            for test in [one_digest, settings, certificates, types, the_whole_way, broken_in_the_middle, broken_in_copy_and_commit, two_at_once, looked_after, refusals, others_build_and_read, out_of_reach, passing_faults, hidden_rows, closed_columns, python_delivers]:
                if len(sys.argv) > 2 and test.__name__ not in sys.argv[2:]:
                    continue
                if len(sys.argv) == 2 and test is python_delivers:
                    continue
                if test is not one_digest:
                    server.sql("drop schema open_data cascade; create schema open_data authorization open_rw")
                test(root / test.__name__, server)
                print(f"  {test.__name__.replace('_', ' ')}", flush=True)
        finally:
            server.stop("immediate")
    print("PostgreSQL in and out: read, delivered, broken, repeated, withdrawn")


def one_digest(root: pathlib.Path, server: Server) -> None:
    """CSV, Parquet, a table and a query give the same lines."""
    house = House(root / "house", server)
    house.run(0, "plan", "--label", QUARTERS[0])
    plan = (house.project / "tacenda-plan.json").read_text()
    assert "hospital.stays" in plan and "127.0.0.1" not in plan
    columns = "id, age, weight, admitted, sex, illness"
    text = server.sql(f"copy (select {columns} from hospital.stays order by md5(id::text)) to stdout (format csv, header)")
    made = {}
    for name in ["csv", "parquet", "table", "query", "url", "plan"]:
        other = house.copy(name)
        words = ["publish", "--label", QUARTERS[0], "--yes"]
        match name:
            case "csv":
                (other.project / "t.csv").write_text(text + "\n")
                words.append("t.csv")
            case "parquet":
                import pyarrow as pa, pyarrow.csv, pyarrow.parquet
                (other.project / "t.csv").write_text(text + "\n")
                kinds = {"id": pa.string(), "age": pa.int16(), "weight": pa.decimal128(5, 1), "admitted": pa.date32()}
                options = pyarrow.csv.ConvertOptions(column_types=kinds)
                table = pyarrow.csv.read_csv(other.project / "t.csv", convert_options=options)
                pyarrow.parquet.write_table(table, other.project / "t.parquet")
                words.append("t.parquet")
            case "query":
                (other.project / "stays.sql").write_text(f"select {columns}, 1 as note\nfrom hospital.stays; -- all\n;\n")
                other.policy(POLICY.format(rows='query = "stays.sql"'))
                (other.project / "stays.sql").write_text(f"select {columns} from hospital.stays -- all\n;\n")
            case "url":
                words.append(f"postgresql://ward_ro@127.0.0.1:{server.port}/hospital?table=hospital.stays")
            case "plan":
                # What was planned is published, whatever the table says now.
                server.sql("update hospital.stays set age = 99")
                words = ["publish", "--plan", "tacenda-plan.json", "--yes"]
        if name != "csv":
            server.sql("drop schema open_data cascade; create schema open_data authorization open_rw")
        other.run(0, *words, says=("is delivered to open",))
        made[name] = hashlib.sha256((other.release(1) / "ward-stays-r0001.csv").read_bytes()).hexdigest()
        assert other.events() == ["init", "publish", "deliver"], other.events()
    server.sql("truncate hospital.stays")
    server.sql(ROWS.format(first=1, last=300))
    assert len(set(made.values())) == 1, made
    # A first policy file comes from a database too.
    shutil.rmtree(root / "house/project")
    (root / "house/project").mkdir()
    url = f"postgresql://ward_ro@127.0.0.1:{server.port}/hospital?table=hospital.public_stays"
    server.sql(f"create view hospital.public_stays as select {columns} from hospital.stays; grant select on hospital.public_stays to ward_ro")
    house.run(0, "init", url, "--yes")
    drafted = (house.project / "tacenda.toml").read_text()
    assert 'table = "hospital.public_stays"' in drafted and '"public-stays"' in drafted, drafted


def settings(root: pathlib.Path, server: Server) -> None:
    """Secrets come from where libpq looks, and are refused everywhere else."""
    house = House(root, server)
    url = f"postgresql://ward_ro@127.0.0.1:{server.port}/hospital?table=hospital.stays"
    house.run(2, "check", url.replace("ward_ro@", f"ward_ro:{SECRET}@"), says=("C202",))
    house.run(2, "check", url + f"&password={SECRET}", says=("C202",))
    # Whatever the word was meant for: elsewhere it would be shown as a file that is not there, or as a word too many.
    secret = url.replace("ward_ro@", f"ward_ro:{SECRET}@")
    places = [["audit"], ["audit", "x.csv", "--truth"], ["audit", "x.csv", "--population"], ["verify"], ["explain", "person", "--releases"]]
    places += [["report", "--truth"], ["adopt"], ["show"], ["diff", "1"], ["check", "--policy"], ["log", "-C"], ["check", "-o"], ["publish", "--plan"]]
    for words in places:
        house.run(2, *words, secret, says=("C202",))
        assert "127.0.0.1" not in house.run(2, *words, url, says=("C201", "only DATA")), words
    for words in [["audit", "x.csv", "--hierarchy", f"age={secret}"], ["deliver", "open", secret], ["check", f"host=db password={SECRET}"], ["init", secret]]:
        house.run(2, *words, says=("C202",))
    house.run(2, "--format", "json", "verify", secret, says=('"code":"C202"',))
    # Without DATA, the source of the policy file is checked.
    house.run(0, "check", says=("This table can be published",))
    for words in [f"service=ward_ro password={SECRET}", f"service=ward_ro {SECRET}"]:
        house.policy(POLICY.format(rows='table = "hospital.stays"').replace("service=ward_ro", words))
        house.run(2, "plan", "--label", "x", says=("P244" if "password" in words else "P243",))
    house.policy(POLICY.format(rows='table = "hospital.stays"'))
    house.pgpass(f"*:*:*:*:{SECRET}\n", 0o644)
    house.run(2, "check", url, says=("C203", "chmod 600"))
    house.pgpass("*:*:*:*:wrong\n")
    house.run(7, "check", url, says=("C703",))
    house.run(0, "check", url, PGPASSWORD=SECRET)
    house.run(7, "check", url, PGPASSWORD="", says=("C703",))
    house.pgpass(f"127.0.0.1:{server.port}:hospital:ward_ro:{SECRET}\n")
    house.run(0, "check", url)
    house.run(0, "check", url, PGPASSWORD="")
    # Who sets one of these relies on a check, and it is not made here.
    for name in ["PGSSLCRL", "PGSSLCRLDIR", "PGCHANNELBINDING", "PGREQUIREPEER", "PGSSLMINPROTOCOLVERSION", "PGTARGETSESSIONATTRS", "PGSSLCERTMODE"]:
        house.run(2, "check", url, **{name: "x"}, says=("C201", name))
    for name, value in [("PGGSSENCMODE", "require"), ("PGSSLNEGOTIATION", "direct"), ("PGSSLSNI", "0"), ("PGMINPROTOCOLVERSION", "3.2")]:
        house.run(2, "check", url, **{name: value}, says=("C201", name))
    house.run(0, "check", url, PGGSSENCMODE="prefer", PGCHANNELBINDING="prefer", PGSSLSNI="1", PGTARGETSESSIONATTRS="any", PGGEQO="off", PGREQUIRESSL="0")
    # The old word for an encrypted connection: the server must then prove who it is, on this machine too.
    house.run(7, "check", url, PGREQUIRESSL="1", says=("C702",))
    bare = "postgresql:///?table=hospital.stays"
    named = {"PGHOST": "127.0.0.1", "PGPORT": str(server.port), "PGDATABASE": "hospital", "PGUSER": "ward_ro"}
    house.run(0, "check", bare, **named)
    house.run(0, "check", bare, PGSERVICE="ward_ro")
    house.run(2, "check", bare, PGSERVICE="gone", says=("C201",))
    house.run(7, "check", url.replace(str(server.port), "1"), says=("C701",))
    house.run(2, "check", "postgresql:///hospital", says=("C201", "?table="))
    house.run(2, "check", url.replace("stays", "gone"), says=("C205", "42P01"))
    server.sql("create table hospital.locked (id text)")
    house.run(2, "check", url.replace("stays", "locked"), says=("C205", "42501"))
    # A table that is too large is counted, and not fetched.
    house.run(7, "check", url, "--memory", "1K", says=("R701",))
    house.run(0, "check", url, "--memory", "1M")
    # Only the columns that are not dropped may be read by this user, so nothing else was asked for.
    assert server.sql("select has_column_privilege('ward_ro', 'hospital.stays', 'note', 'select')") == "f"


def certificates(root: pathlib.Path, server: Server) -> None:
    """A server must prove who it is."""
    house = House(root, server)
    ours, other = str(server.root / "ca.crt"), str(server.root / "other.crt")
    url = f"postgresql://ward_ro@{{}}:{server.port}/hospital?table=hospital.stays"
    near = url.format("localhost") + "&sslmode=verify-full"
    house.run(0, "check", near + f"&sslrootcert={ours}")
    house.run(0, "check", near, PGSSLROOTCERT=ours)
    house.run(7, "check", near + f"&sslrootcert={other}", says=("C702",))
    house.run(7, "check", near.replace("localhost", "127.0.0.1") + f"&sslrootcert={ours}", says=("C702",))
    house.run(2, "check", near + "&sslrootcert=/nowhere.crt", says=("C201",))
    # The user proves who he is, too. The key is in a file that nobody else reads.
    for name in ["client.key", "stranger.key", "old.key"]:
        shutil.copy(server.root / name, house.root / name)
        (house.root / name).chmod(0o600)
    mine = near.replace("ward_ro@", "ward_cert@") + f"&sslrootcert={ours}"
    shown = lambda name: f"&sslcert={server.root / name}.crt&sslkey={house.root / name}.key"
    house.run(0, "check", mine + shown("client"))
    house.run(0, "check", mine, PGSSLCERT=str(server.root / "client.crt"), PGSSLKEY=str(house.root / "client.key"))
    house.run(7, "check", mine + shown("stranger"), says=("C703",))
    house.run(7, "check", mine, says=("C703",))
    house.run(2, "check", mine + shown("old"), says=("C201", "sslcert"))
    house.run(2, "check", mine + f"&sslcert={server.root / 'client'}.crt&sslkey={house.root / 'stranger'}.key", says=("C201",))
    (house.root / "client.key").chmod(0o644)
    house.run(2, "check", mine + shown("client"), says=("C203",))
    (house.root / "client.key").chmod(0o600)
    address = own_address()
    if address is None or address.startswith("127."):
        return print("  SKIPPED: this machine has no address but loopback")
    house.run(0, "check", url.format(address), PGSSLROOTCERT=ours)
    house.run(7, "check", url.format(address), PGSSLROOTCERT=other, says=("C702",))
    house.run(7, "check", url.format(address), says=("C702",))
    house.run(2, "check", url.format(address) + "&sslmode=disable", says=("C201",))


def types(root: pathlib.Path, server: Server) -> None:
    """Types that are read, types that are not, and cells that no person has."""
    server.sql("""drop table if exists hospital.odd; create table hospital.odd as select md5('p' || n)::uuid as id, 20 + n % 60 as age,
      timestamptz '2024-06-01 23:30+00' + (n % 5) * interval '1 day' as admitted, n % 3 = 0 as smokes, (n / 7.0)::float8 as height,
      (n % 50)::float4 as dose, ('w' || n % 3)::char(8) as ward, 'flu' || n % 4 as illness from generate_series(1, 80) n;
      grant select on hospital.odd to ward_ro""")
    house = House(root, server, 'query = "odd.sql"')
    policy = POLICY.format(rows='query = "odd.sql"').split("[columns]")[0] + """[columns]
id = { role = "identifier" }
age = { role = "quasi", type = "integer", domain = [0, 120] }
admitted = { role = "quasi", type = "date", domain = [2020-01-01, 2030-01-01] }
smokes = { role = "quasi", type = "category", values = ["true", "false"] }
height = { role = "quasi", type = "real", domain = [0, 200], precision = 0.1 }
dose = { role = "quasi", type = "real", domain = [0, 200], precision = 0.1 }
ward = { role = "quasi", type = "category", values = ["w0", "w1", "w2"] }
illness = { role = "sensitive", type = "category" }
""" + "[promise]" + POLICY.format(rows="").split("[promise]")[1]
    house.policy(policy)
    def query(text: str) -> None:
        (house.project / "odd.sql").write_text(text)
    query("select * from hospital.odd")
    house.run(0, "check", "--what-if", "m=2..2")
    house.run(0, "plan", "--label", "a", says=("read in UTC",))
    house.run(0, "plan", "--label", "a", PGTZ="Europe/Berlin", says=("read in Europe/Berlin",))
    # Plain times and large integers are dates and numbers: the same release as from dates and small integers, in any time zone.
    query("select * from hospital.times")
    digests = set()
    for day, number in [("date", "int4"), ("timestamp", "int8")]:
        server.sql(f"""drop view if exists hospital.times; create view hospital.times as select id, age::{number} as age,
          (timestamp '2024-06-01 23:30' + (age % 5) * interval '1 day')::{day} as admitted, smokes, height, dose, ward, illness
          from hospital.odd; grant select on hospital.times to ward_ro""")
        assert "read in" not in house.run(0, "plan", "--label", "a", PGTZ="Asia/Tokyo")
        digests.add(json.loads((house.project / "tacenda-plan.json").read_text())["release_digest"])
    assert len(digests) == 1, "a plain time or a large integer was read as something else"
    for cell, way in [("int4range(age, age + 1)", "lower("), ("array[age]", '"age"[1]'), ("point(age, 1)", "::text")]:
        query(f"select id, {cell} as age, admitted, smokes, height, dose, ward, illness from hospital.odd")
        house.run(3, "plan", "--label", "a", says=("C301", way))
    query("select id, age, 'infinity'::timestamptz as admitted, smokes, height, dose, ward, illness from hospital.odd")
    house.run(3, "plan", "--label", "a", says=("C302", "row 1"))
    query("select id, (illness || '-canary')::int as age, admitted, smokes, height, dose, ward, illness from hospital.odd")
    assert "canary" not in house.run(2, "plan", "--label", "a", says=("C205", "22P02"))
    query("delete from hospital.odd returning *")
    house.run(2, "plan", "--label", "a", says=("C205",))
    query("select id, id, age, admitted, smokes, height, dose, ward, illness from hospital.odd")
    house.run(2, "plan", "--label", "a", says=("C205", "two columns"))
    query(" ; ")
    house.run(2, "plan", "--label", "a", says=("P245",))


def the_whole_way(root: pathlib.Path, server: Server) -> None:
    """Three quarters by a timer that repeats what failed; a researcher asks; the last two releases are withdrawn."""
    house = House(root, server)
    # Somebody kills the second run at moments that nobody chose.
    for quarter, label in enumerate(QUARTERS):
        moments = [0.02, 0.1, 0.3, 0.6] if quarter == 1 else []
        for moment in moments:
            begun = house.begin("publish", "--label", label, "--yes")
            time.sleep(moment)
            begun.kill()
            begun.communicate()
        house.run(0, "publish", "--label", label, "--yes")
        before = house.events()
        house.run(0, "publish", "--label", label, "--yes", says=("Nothing was published",))
        assert house.events() == before, "a repeated run changed the ledger"
        server.sql(f"delete from hospital.stays where id in (select id from hospital.stays order by id limit 10); {ROWS.format(first=1000 + 20 * quarter, last=1019 + 20 * quarter)}")
    assert house.events().count("publish") == 3 and house.events().count("deliver") == 3, house.events()
    assert server.sql("select count(*) from open_data.tacenda_releases", "researcher") == "3"
    ask = lambda text: server.sql(text, "researcher")
    rows = house.data(3)
    inside = lambda cell, value: cell == "*" or (cell != "" and value >= float(cell[1:].split(",")[0]) and value < float(cell[:-1].split(",")[1]))
    assert ask("select count(*) from open_data.ward_stays_r0003") == str(len(rows))
    assert ask("select count(*) from open_data.ward_stays_latest where age @> 42") == str(sum(inside(row["age"], 42) for row in rows))
    assert ask("select count(*) from open_data.ward_stays_latest where weight @> 61.3") == str(sum(inside(row["weight"], 61.3) for row in rows))
    assert ask("select count(*) from open_data.ward_stays_latest where age is null") == str(sum(row["age"] == "" for row in rows))
    assert ask("select count(*) from open_data.ward_stays_latest where age_maybe_missing") == str(sum(row["age"] == "*" for row in rows))
    assert ask("select count(*) from open_data.ward_stays_latest where age_maybe_missing and age <> '(,)'") == "0"
    day = lambda row: row["admitted"][1:11] <= "2025-03-01" < row["admitted"][12:22]
    assert ask("select count(*) from open_data.ward_stays_latest where admitted @> date '2025-03-01'") == str(sum(map(day, rows)))
    key = lambda row: (row["illness"], row["sex"])
    theirs = ask("select illness, sex, count(*) from open_data.ward_stays_latest group by 1, 2 order by 1, 2")
    counts = {pair: sum(key(row) == pair for row in rows) for pair in map(key, rows)}
    assert sorted(theirs.splitlines()) == sorted(f"{illness}|{sex}|{count}" for (illness, sex), count in counts.items())
    people = sum(float(row["row_weight"]) for row in rows)
    assert abs(float(ask("select sum(row_weight) from open_data.ward_stays_latest")) - people) < 0.01
    assert "permission denied" in server.sql("delete from open_data.ward_stays_r0001", "researcher", ok=False)
    comment = ask("select obj_description('open_data.ward_stays_r0001'::regclass)")
    manifest = (house.release(1) / "manifest.json").read_bytes()
    assert comment.startswith(f"ward-stays, release 1, label {QUARTERS[0]}. {json.loads(manifest)['promise']['sentence']}"), comment
    assert comment.endswith(f"Manifest SHA-256 {hashlib.sha256(manifest).hexdigest()}."), comment
    pull_request(root, house)
    # Withdrawn: nobody reads it, and the one before is the latest. Rights to columns go too, and those that somebody passed on.
    server.sql("create role guest; create role friend; grant usage on schema open_data to guest, friend")
    server.sql("grant select (age, sex) on open_data.ward_stays_r0003 to guest with grant option")
    server.sql("set role guest; grant select (age) on open_data.ward_stays_r0003 to friend")
    assert server.sql("set role friend; select count(*) from (select age from open_data.ward_stays_r0003) a") == str(len(rows))
    house.run(0, "retract", QUARTERS[2], "--because", "ages were wrong", says=("marked as withdrawn in open",))
    for who in ["researcher", "guest", "friend"]:
        assert "permission denied" in server.sql(f"set role {who}; select age from open_data.ward_stays_r0003", ok=False), who
    server.sql("drop owned by guest, friend; drop role guest, friend")
    assert ask("select count(*) from open_data.ward_stays_latest") == str(len(house.data(2)))
    assert "ages were wrong" in ask("select withdrawn_because from open_data.tacenda_releases where number = 3")
    house.run(0, "retract", QUARTERS[2], "--because", "ages were wrong", says=("Nothing was done",))
    server.stop()
    house.run(8, "retract", QUARTERS[1], "--because", "a test", says=("C701", "is withdrawn in the ledger"))
    server.start()
    house.run(0, "deliver", says=("marked as withdrawn",))
    house.run(0, "retract", QUARTERS[0], "--because", "a test")
    assert ask("select count(*) from open_data.ward_stays_latest") == "0"
    # The house is whole, nobody is betrayed, and no secret lies around.
    house.run(0, "verify")
    house.run(0, "audit", *[str(house.release(number)) for number in (1, 2, 3)])
    assert "was delivered to open" in house.run(0, "log")
    house.assert_no_secret()


def pull_request(root: pathlib.Path, house: House) -> None:
    """A job of a repository lets releases pass. It stops a pull request with a file that betrays people beside an earlier one."""
    repository, found = root / "published", root / "found.sarif"
    (repository / "releases").mkdir(parents=True)
    git = lambda *words: subprocess.run(["git", "-c", "user.name=ward", "-c", "user.email=ward@hospital.example", *words], cwd=repository, check=True, capture_output=True)

    def job() -> int:
        columns = ["--quasi", "age,sex", "--sensitive", "illness"]
        for words in [["releases"], ["files", *columns]]:
            if (repository / words[0]).exists():
                words = [str(BINARY), "audit", *words, "--format", "sarif", "-o", str(found)]
                done = subprocess.run(words, cwd=repository, env=house.environment({}), capture_output=True, text=True)
                if done.returncode != 0:
                    return done.returncode
        return 0

    git("init", "-q", "-b", "main")
    for number in (1, 2, 3):
        shutil.copytree(house.release(number), repository / "releases" / f"r{number:04}")
    # Another tool's files. Each is 2-anonymous and 2-diverse.
    rows = "age,sex,illness\n20-49,F,flu\n20-49,F,{}\n50-79,M,gout\n50-79,M,flu\n"
    first, second = (repository / "files" / f"2026-Q{quarter}.csv" for quarter in (3, 4))
    first.parent.mkdir()
    first.write_text(rows.format("asthma"))
    git("add", "-A")
    git("commit", "-q", "-m", "three quarters")
    assert job() == 0, found.read_text()
    git("checkout", "-q", "-b", "next-quarter")
    second.write_text(rows.format("angina"))
    git("add", "-A")
    git("commit", "-q", "-m", "next quarter")
    assert job() == 1 and '"level": "error"' in found.read_text(), found.read_text()
    # It is both together: the new file alone passes.
    first.rename(root / first.name)
    assert job() == 0, found.read_text()
    # Beside the releases it cannot be judged with them, which is no pass.
    second.rename(repository / "releases" / second.name)
    assert job() not in (0, 1)


def python_delivers(root: pathlib.Path, server: Server) -> None:
    """The module reads, publishes and delivers as the command does. It must be on the path of this Python."""
    house = House(root, server)
    program = """
import sys, tacenda
project = tacenda.Project(sys.argv[1])
plan = project.plan(label="2026-Q1")
first = project.publish(plan=plan.plan)
assert [one.outcome for one in first.report.deliveries] == ["delivered"], first
assert project.publish(label="2026-Q1").already, "a label that is committed is not read again"
assert project.deliver().deliveries == [], "nothing is owed"
again = project.deliver("open", release="2026-Q1").deliveries
assert [(one.release, one.outcome) for one in again] == [(1, "already")], again
told = []
project.deliver("open", release=1, progress=lambda *step: told.append(step))
assert told == [(1, 1, "delivering")], told
try:
    project.deliver("nowhere")
    raise SystemExit("a place that there is not")
except tacenda.TacendaError as error:
    assert error.code == "U201", error
"""
    run = lambda words: subprocess.run([sys.executable, "-c", *words, str(house.project)], env={**house.environment({}), "PYTHONPATH": os.environ.get("PYTHONPATH", "")}, capture_output=True, text=True)
    done = run([program])
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert server.sql("select count(*) from open_data.tacenda_releases", "researcher") == "1"
    # Ctrl-C ends it between two releases. What came before stays, and the next time brings the rest.
    interrupted = """
import signal, sys, tacenda
signal.signal(signal.SIGINT, signal.default_int_handler)
project = tacenda.Project(sys.argv[1])
def second(step, steps, what):
    if step == 2:
        signal.raise_signal(signal.SIGINT)
try:
    project.deliver(progress=second)
    raise SystemExit("nobody heard Ctrl-C")
except KeyboardInterrupt:
    pass
rest = project.deliver().deliveries
assert [(one.release, one.outcome) for one in rest] == [(3, "delivered")], rest
"""
    server.sql("alter schema open_data rename to hidden")
    for label in QUARTERS[1:]:
        house.run(8, "publish", "--label", label, "--yes", says=("C803",))
    server.sql("alter schema hidden rename to open_data")
    done = run([interrupted])
    assert done.returncode == 0, (done.stdout, done.stderr)
    # The server is gone: the release is out, and the answer says what is owed.
    server.stop()
    gone = """
import sys, tacenda
owed = tacenda.Project(sys.argv[1]).deliver("open", release=1).deliveries
assert [(one.outcome, one.code) for one in owed] == [("failed", "C701")], owed
"""
    done = run([gone])
    server.start()
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert SECRET not in done.stdout + done.stderr


def broken_in_the_middle(root: pathlib.Path, server: Server) -> None:
    """Killed at each step, thrown out by the server, the server gone: the release is out once, and a retry finishes."""
    house = House(root, server)
    house.run(0, "publish", "--label", "a", "--yes")
    there = "select count(*) from pg_class where relname ~ '_r[0-9]+$' and relnamespace = 'open_data'::regnamespace"
    steps = [
        # Before anything is looked at, before anything is written, after all rows are, and before the view is changed.
        f"select pg_advisory_lock({SERIES_LOCK})",
        "lock table open_data.tacenda_releases in access exclusive mode",
        "lock table open_data.tacenda_releases in share mode",
        "select 1 from open_data.ward_stays_latest limit 1",
    ]
    number = 1
    for step in steps:
        for break_it in ["kill", "terminate", "stop"]:
            number += 1
            label = f"broken-{number}"
            with server.holding(step):
                begun = house.begin("publish", "--label", label, "--yes")
                server.wait_for_lock(begun)
                house.assert_no_secret()
                if break_it == "kill":
                    begun.send_signal(signal.SIGKILL)
                    house.end(begun, -signal.SIGKILL)
                elif break_it == "terminate":
                    server.sql("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tacenda'")
                    house.end(begun, 8, "is published", "C704")
                else:
                    server.stop("immediate")
                    house.end(begun, 8, "is published", "C704")
                    server.start()
            assert server.sql(there) == str(number - 1), "half a delivery is there"
            assert house.events().count("publish") == number, "the release is out"
            # The timer tries again. The table has changed meanwhile, and is not read.
            server.sql(ROWS.format(first=5000 + 20 * number, last=5009 + 20 * number))
            server.sql("revoke usage on schema hospital from ward_ro")
            house.run(0, "publish", "--label", label, "--yes", says=("the source was not read again", "Nothing was published", "is delivered to open"))
            server.sql("grant usage on schema hospital to ward_ro")
            assert server.sql(there) == str(number)
            house.run(0, "publish", "--label", label, "--yes")
    # The line in the ledger is lost, not the delivery: the database says that it is there.
    server.stop()
    number += 1
    house.run(7, "publish", "--label", "later", "--yes", says=("C701",))
    house.policy(POLICY.format(rows='table = "hospital.stays"').replace("[source]\npostgres = \"service=ward_ro\"\ntable = \"hospital.stays\"\n", ""))
    server.start()
    columns = "id, age, weight, admitted, sex, illness"
    (house.project / "t.csv").write_text(server.sql(f"copy (select {columns} from hospital.stays) to stdout (format csv, header)") + "\n")
    server.stop()
    house.run(8, "publish", "t.csv", "--label", "later", "--yes", says=("C701", "is published"))
    house.run(8, "publish", "t.csv", "--label", "later", "--yes", says=("C701", "is published"))
    house.run(0, "log", says=(f"owed: release {number} is not delivered to open",))
    house.run(0, "show", says=("is not delivered to open: tacenda deliver",))
    server.start()
    before = house.copy("forgetful")
    house.run(0, "deliver", says=(f"Release {number} is delivered to open",))
    house.run(0, "deliver", says=("Nothing was done",))
    before.run(0, "deliver", says=("was delivered to open before",))
    # A database that was restored from an old copy has lost a release. The steward names it.
    server.sql(f"drop view open_data.ward_stays_latest; drop table open_data.ward_stays_r{number:04}; delete from open_data.tacenda_releases where number = {number}")
    house.run(0, "deliver", "open", "--release", "later", says=(f"Release {number} is delivered to open",))
    assert "owed" not in house.run(0, "log") + house.run(0, "show")
    house.run(0, "verify")


# A table that is made gets a trigger, so that its first row waits for a lock.
SLOW_COPY = ["""create event trigger slow on ddl_command_end when tag in ('CREATE TABLE') execute function public.slow()""",
             "drop event trigger slow"]
# The registry's new row waits when everything is to be kept.
SLOW_COMMIT = ["""create constraint trigger slow after insert on open_data.tacenda_releases deferrable initially deferred
  for each row execute function public.wait()""", "drop trigger slow on open_data.tacenda_releases"]
WAITING = """
create function public.wait() returns trigger language plpgsql as $$
  begin perform pg_advisory_xact_lock(4711); return new; end $$;
create function public.slow() returns event_trigger language plpgsql as $$ declare made record; begin
  for made in select * from pg_event_trigger_ddl_commands() where object_identity ~ '_r[0-9]+$' loop
    execute format('create trigger slow before insert on %s for each row execute function public.wait()', made.object_identity);
  end loop; end $$"""


@contextlib.contextmanager
def stuck(house: House, label: str, slow: list):
    """A publish that waits in the middle of its delivery."""
    house.server.sql(slow[0])
    with house.server.holding("select pg_advisory_lock(4711)"):
        begun = house.begin("publish", "--label", label, "--yes")
        house.server.wait_for_lock(begun)
        yield begun
    # The session of a client that was killed goes on until it wants to answer.
    while house.server.sql("select count(*) from pg_stat_activity where application_name = 'tacenda'") != "0":
        time.sleep(0.05)
    house.server.sql(slow[1])


def broken_in_copy_and_commit(root: pathlib.Path, server: Server) -> None:
    """Broken while rows are sent, and while the database is told to keep them: all of it is there, or nothing."""
    house = House(root, server)
    house.run(0, "publish", "--label", "a", "--yes")
    server.sql(WAITING)
    number = 1
    for slow, moment, code in [(SLOW_COPY, "copy", "C704"), (SLOW_COMMIT, "commit", "C705")]:
        for break_it in ["kill", "terminate", "stop"]:
            number += 1
            with stuck(house, f"broken-{number}", slow) as begun:
                at = server.sql("select lower(split_part(query, ' ', 1)) from pg_stat_activity where application_name = 'tacenda'")
                assert at == moment, at
                if break_it == "kill":
                    begun.send_signal(signal.SIGKILL)
                    house.end(begun, -signal.SIGKILL)
                elif break_it == "terminate":
                    server.sql("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tacenda'")
                    house.end(begun, 8, "is published", code)
                else:
                    server.stop("immediate")
                    house.end(begun, 8, "is published", code)
                    server.start()
            # A server that was told to keep it does, whether or not somebody waits for the answer.
            is_there = break_it == "kill" and moment == "commit"
            there = server.sql("select count(*) from pg_class where relname ~ '_r[0-9]+$' and relnamespace = 'open_data'::regnamespace")
            registered = server.sql("select count(*) from open_data.tacenda_releases")
            assert int(there) == int(registered) == number - (not is_there), (moment, break_it, there, registered)
            assert house.events().count("deliver") == number - 1
            house.run(0, "deliver", says=("was delivered to open before" if is_there else f"Release {number} is delivered to open",))
            rows = server.sql(f"select count(*) from open_data.ward_stays_r{number:04}")
            assert rows == str(len(house.data(number))), (rows, number)
    # It arrived, and no line of the ledger says so. It is withdrawn there all the same.
    with stuck(house, "lost", SLOW_COMMIT) as begun:
        begun.send_signal(signal.SIGKILL)
        house.end(begun, -signal.SIGKILL)
    house.run(0, "retract", "lost", "--because", "a test", says=("marked as withdrawn in open",))
    assert "permission denied" in server.sql(f"select 1 from open_data.ward_stays_r{number + 1:04}", "researcher", ok=False)
    server.sql("drop function public.wait() cascade; drop function public.slow() cascade")


def two_at_once(root: pathlib.Path, server: Server) -> None:
    """Two copies of a project deliver the same release: it is there once, and both say so."""
    house = House(root / "one", server)
    server.sql("alter schema open_data rename to hidden")
    house.run(8, "publish", "--label", "a", "--yes", says=("C803", "create schema"))
    server.sql("alter schema hidden rename to open_data")
    other = house.copy("two")
    with server.holding(f"select pg_advisory_lock({SERIES_LOCK})"):
        begun = [one.begin("deliver") for one in (house, other)]
        server.wait_for_lock(*begun)
    said = "".join(one.end(process, 0) for one, process in zip((house, other), begun))
    assert "is delivered to open" in said and "was delivered to open before" in said, said
    assert server.sql("select count(*) from open_data.tacenda_releases") == "1"
    # In one project, the second of two writers is told that there is another one.
    with server.holding(f"select pg_advisory_lock({SERIES_LOCK})"):
        begun = house.begin("publish", "--label", "b", "--yes")
        server.wait_for_lock(begun)
        house.run(7, "deliver", says=("E701",))
    house.end(begun, 0, "is delivered to open")
    house.run(0, "deliver", says=("Nothing was done",))
    # The first deliveries of two series make the registry, and rights to the schema, once.
    server.sql("drop schema open_data cascade; create schema open_data authorization open_rw")
    series = [House(root / name, server) for name in ("east", "west")]
    for one in series:
        one.policy(POLICY.format(rows='table = "hospital.stays"').replace("ward-stays", one.root.name))
    with server.holding(f"select pg_advisory_lock({SCHEMA_LOCK})"):
        begun = [one.begin("publish", "--label", "a", "--yes") for one in series]
        server.wait_for_lock(*begun)
    for one, process in zip(series, begun):
        one.end(process, 0, "is delivered to open")
    assert server.sql("select string_agg(series, ' ' order by series) from open_data.tacenda_releases", "researcher") == "east west"


def looked_after(root: pathlib.Path, server: Server) -> None:
    """What was lost comes again, readers who come later may read, and what is withdrawn is read through no view of ours."""
    house = House(root, server)
    for label in "ab":
        house.run(0, "publish", "--label", label, "--yes")
        server.sql(ROWS.format(first=2000 + 20 * ord(label), last=2019 + 20 * ord(label)))
    events = house.events()
    house.run(0, "deliver", says=("Nothing was done",))
    # A table that somebody dropped, while its row stayed. The view went with it.
    rows = server.sql("select count(*) from open_data.ward_stays_r0002", "researcher")
    for words in [("deliver",), ("deliver", "open", "--release", "b")]:
        server.sql("drop table open_data.ward_stays_r0002 cascade")
        house.run(0, *words, says=("Release 2 is delivered to open",))
        for name in ["ward_stays_r0002", "ward_stays_latest"]:
            assert server.sql(f"select count(*) from open_data.{name}", "researcher") == rows
    # A copy of the database from before.
    server.sql("drop table open_data.ward_stays_r0002 cascade; delete from open_data.tacenda_releases where number = 2")
    house.run(0, "deliver", says=("Release 2 is delivered to open",))
    house.run(0, "deliver", says=("Nothing was done",))
    assert house.events() == events, "the ledger had these deliveries"
    # Something else under the name is not touched.
    server.sql("alter table open_data.ward_stays_r0002 rename to kept; create table open_data.ward_stays_r0002 (mine int)")
    house.run(8, "deliver", says=("C802", "ward_stays_r0002"))
    server.sql("drop table open_data.ward_stays_r0002; alter table open_data.kept rename to ward_stays_r0002")
    # A reader who is added later reads all of it, by the next delivery.
    server.sql("create role later")
    house.policy((house.project / "tacenda.toml").read_text().replace('["researcher"]', '["researcher", "later"]'))
    house.run(0, "deliver", says=("Nothing was done",))
    for name in ["ward_stays_r0001", "ward_stays_r0002", "ward_stays_latest", "tacenda_releases"]:
        assert int(server.sql(f"set role later; select count(*) from open_data.{name}")) > 0, name
    # Views that read a withdrawn table are closed, one through the other; others stay.
    server.sql("set role open_rw; create view open_data.all_of_it as select * from open_data.ward_stays_r0002; "
               "create materialized view open_data.kept as select age from open_data.all_of_it; "
               "create view open_data.built as select age from open_data.ward_stays_latest; "
               "grant select on open_data.all_of_it, open_data.kept, open_data.built to researcher, later")
    assert server.sql("select count(*) from open_data.all_of_it", "researcher") == rows
    house.run(0, "retract", "b", "--because", "a test")
    for name in ["all_of_it", "kept", "ward_stays_r0002"]:
        for who in ["researcher", "later"]:
            assert "permission denied" in server.sql(f"set role {who}; select count(*) from open_data.{name}", ok=False), (name, who)
    first = server.sql("select count(*) from open_data.ward_stays_r0001", "researcher")
    for name in ["built", "ward_stays_latest"]:
        assert server.sql(f"select count(*) from open_data.{name}", "researcher") == first, name
    # A withdrawn table that is dropped does not come again, and one that has another name by now is not read through our view.
    server.sql("drop table open_data.ward_stays_r0002 cascade; alter table open_data.ward_stays_r0001 rename to away")
    house.run(0, "retract", "a", "--because", "a test")
    assert "permission denied" in server.sql("select count(*) from open_data.ward_stays_latest", "researcher", ok=False)
    house.run(0, "deliver", says=("Nothing was done",))
    server.sql("drop owned by later cascade; drop role later")


def refusals(root: pathlib.Path, server: Server) -> None:
    """Nothing of somebody else's is ever changed."""
    house = House(root / "one", server)
    house.run(0, "publish", "--label", "a", "--yes")
    stranger = House(root / "two", server)
    stranger.run(8, "publish", "--label", "a", "--yes", says=("C801", "is published"))
    server.sql("create table open_data.ward_stays_r0002 (mine int)")
    house.run(8, "publish", "--label", "b", "--yes", says=("C802", "ward_stays_r0002"))
    assert server.sql("select count(*) from open_data.ward_stays_r0002") == "0"
    server.sql("drop table open_data.ward_stays_r0002; alter role researcher rename to researcher2")
    house.run(8, "deliver", says=("C803", "create role"))
    server.sql("alter role researcher2 rename to researcher; alter schema open_data owner to postgres; revoke all on schema open_data from open_rw, researcher")
    house.run(8, "deliver", says=("C803", "grant usage, create"))
    server.sql("grant usage, create on schema open_data to open_rw")
    house.run(8, "deliver", says=("C803", "grant usage on schema"))
    server.sql("grant usage on schema open_data to researcher")
    house.run(0, "deliver", says=("Release 2 is delivered",))
    # A view of somebody else under our name is not replaced.
    server.sql("alter view open_data.ward_stays_latest owner to postgres")
    house.run(8, "publish", "--label", "c", "--yes", says=("C802", "ward_stays_latest"))
    server.sql("alter view open_data.ward_stays_latest owner to open_rw")
    # What others built on the view stays.
    server.sql("create view open_data.built as select age from open_data.ward_stays_latest")
    house.run(0, "deliver", says=("Release 3 is delivered",))
    names = server.sql("select string_agg(attname, ' ' order by attnum) from pg_attribute where attrelid = 'open_data.ward_stays_latest'::regclass")
    assert names.endswith("row_weight age_maybe_missing weight_maybe_missing"), names
    # A table that somebody took over cannot be closed, so nobody is told that it is.
    server.sql("alter table open_data.ward_stays_r0002 owner to postgres")
    before = house.events().count("deliver")
    house.run(8, "retract", "b", "--because", "a test", says=("C802", "ward_stays_r0002", "is withdrawn in the ledger"))
    house.run(0, "log", says=("release 2 is not marked as withdrawn in open",))
    assert server.sql("select withdrawn is null from open_data.tacenda_releases where number = 2") == "t"
    assert house.events().count("deliver") == before
    server.sql("alter table open_data.ward_stays_r0002 owner to open_rw")
    house.run(0, "deliver", says=("Release 2 is marked as withdrawn in open",))
    # A release that is withdrawn before it arrived is not recorded as marked.
    server.sql("create table open_data.ward_stays_r0004 (mine int)")
    house.run(8, "publish", "--label", "d", "--yes", says=("C802",))
    before = house.events().count("deliver")
    house.run(0, "retract", "d", "--because", "a test")
    house.run(0, "deliver", "open", "--release", "d", says=("open does not have it",))
    assert house.events().count("deliver") == before
    house.run(2, "deliver", "nowhere", says=("U201",))
    house.run(2, "deliver", "--release", "9", says=("U202",))
    # Names that a database cannot have are refused before anything is published.
    text = POLICY.format(rows='table = "hospital.stays"')
    for policy in [text.replace("ward-stays", "w" * 60), text.replace('schema = "open_data"', 'schema = ""'), text.replace("note =", '"xmin" =').replace('"xmin" = { role = "drop"', '"xmin" = { role = "public", because = "a test"')]:
        stranger.policy(policy)
        stranger.run(2, "plan", "--label", "z", says=("P246",))


def others_build_and_read(root: pathlib.Path, server: Server) -> None:
    """What others build on the view, and how long they read it, hinders no delivery and no withdrawal."""
    house = House(root, server, 'query = "stays.sql"')
    age = "domain = [0, 10000000]"
    text = POLICY.format(rows='query = "stays.sql"').replace("domain = [0, 120]", age)
    query = "select id, age::int8 as age, weight, admitted, sex, illness from hospital.stays"
    ask = lambda what: server.sql(f"select count(*) from {what}", "researcher", ok=False)
    rows = lambda number: str(len(house.data(number)))
    latest = "open_data.ward_stays_latest"

    def publish(label: str, policy: str, sql: str, code: int = 0, says: tuple = ()) -> None:
        house.policy(policy)
        (house.project / "stays.sql").write_text(sql)
        house.run(code, "publish", "--label", label, "--yes", says=says)

    publish("a", text.replace(age, f'{age}, missing = "error"'), f"{query} where age is not null")
    publish("b", text, query)
    server.sql("create schema mine authorization researcher")
    server.sql(f"create view mine.v as select age, age_maybe_missing from {latest}", "researcher")
    # The release before has a column less, and the view of somebody needs it.
    assert ask("mine.v") == rows(2)
    house.run(0, "retract", "b", "--because", "a test", says=("marked as withdrawn in open",))
    assert "permission denied" in ask("open_data.ward_stays_r0002")
    assert ask("mine.v") == ask(latest) == rows(1) and ask("mine.v where age_maybe_missing") == "0"
    # Another type whose cells fit: the view keeps its own type.
    wide = text.replace(age, "domain = [0, 3000000000]")
    publish("c", wide, query, says=("is delivered to open",))
    kind = f"select format_type(atttypid, null) from pg_attribute where attrelid = '{latest}'::regclass and attname = 'age'"
    assert (ask("mine.v"), ask(latest), server.sql(kind)) == (rows(3), rows(3), "int4range")
    assert server.sql(kind.replace("latest", "r0003")) == "int8range"
    # Cells that do not fit: the release is there, the view stays, and who must do what is told, again and again.
    large = """ union all select md5('large' || n)::uuid, 2500000000 + n, 61.5, date '2024-05-01', (array['F', 'M'])[1 + n % 2]::hospital.sex,
      (array['flu', 'gout'])[1 + n % 2] from generate_series(1, 20) n"""
    publish("d", wide, query + large, 8, ("C804", "is published", "mine.v", "it shows release c"))
    assert (ask("open_data.ward_stays_r0004"), ask(latest)) == (rows(4), rows(3))
    assert "owed" not in house.run(0, "log")
    house.run(8, "deliver", says=("C804", "mine.v"))
    publish("e", wide, query + large, 8, ("C804", "mine.v"))
    assert ask("open_data.ward_stays_r0005") == rows(5)
    # What it shows is withdrawn, and nothing else fits: it shows no row, and what is built on it stays.
    house.run(8, "retract", "c", "--because", "a test", says=("C804", "mine.v", "it shows no row"))
    assert "permission denied" in ask("open_data.ward_stays_r0003")
    assert (ask(latest), ask("mine.v")) == ("0", "0")
    server.sql("drop view mine.v", "researcher")
    house.run(0, "deliver")
    assert (ask(latest), server.sql(kind)) == (rows(5), "int8range")
    # Somebody reads the view in a transaction that does not end. The rights go at once all the same.
    with server.holding(f"select 1 from {latest} limit 1"):
        begun = house.begin("retract", "e", "--because", "a test")
        until = time.monotonic() + 20
        while "permission denied" not in ask("open_data.ward_stays_r0005"):
            assert time.monotonic() < until, "the rights wait for a reader"
            time.sleep(0.1)
        assert begun.poll() is None, "it waits for the reader to define the view anew"
    house.end(begun, 0, "marked as withdrawn in open")
    assert ask(latest) == rows(4)
    # If it never ends, the view is closed, and what of ours is built on it. It is open again once nobody is in the way.
    server.sql(f"set role open_rw; create view open_data.built as select age from {latest}; grant select on open_data.built to researcher")
    with server.holding(f"select 1 from {latest} limit 1"):
        house.run(8, "retract", "d", "--because", "a test", says=("C804", "nobody may read it now"))
        for name in [latest, "open_data.built", "open_data.ward_stays_r0004"]:
            assert "permission denied" in ask(name), name
    server.sql("drop view open_data.built")
    assert "owed" not in house.run(0, "log")
    house.run(0, "deliver")
    assert ask(latest) == rows(1)
    # A reader who is gone is no reason to leave a release readable.
    server.sql("create role passing; grant usage on schema open_data to passing")
    house.policy(wide.replace('["researcher"]', '["researcher", "passing"]'))
    house.run(0, "deliver")
    server.sql("drop owned by passing; drop role passing")
    house.run(8, "retract", "a", "--because", "a test", says=("C804",))
    assert "permission denied" in ask("open_data.ward_stays_r0001")
    assert ask(latest) == "0" or "permission denied" in ask(latest)
    server.sql("drop schema mine")


def out_of_reach(root: pathlib.Path, server: Server) -> None:
    """A place that has a withdrawn release and that the policy file does not lead to any more is named, until it is told."""
    house = House(root, server)
    for label in "abc":
        house.run(0, "publish", "--label", label, "--yes")
    text = (house.project / "tacenda.toml").read_text()
    section = text[text.index("[deliver.open]"):text.index("[columns]")]
    ask = lambda number: server.sql(f"select count(*) from open_data.ward_stays_r{number:04}", "researcher", ok=False)
    told = lambda number: f"release {number} is not marked as withdrawn in open"
    # The section is gone.
    house.policy(text.replace(section, ""))
    house.run(8, "retract", "b", "--because", "a test", says=("C805", "no section [deliver.open]", 'schema = "open_data"', "is withdrawn in the ledger"))
    assert ask(2) == str(len(house.data(2)))
    house.run(0, "log", says=(told(2),))
    house.run(8, "deliver", says=("C805",))
    house.run(8, "retract", "b", "--because", "a test", says=("C805",))
    house.policy(text)
    house.run(0, "deliver", says=("Release 2 is marked as withdrawn in open",))
    assert "permission denied" in ask(2) and "owed" not in house.run(0, "log")
    # The section names another schema, where the releases are by now, too.
    server.sql("create schema elsewhere authorization open_rw")
    house.policy(text.replace('"open_data"', '"elsewhere"'))
    house.run(0, "deliver", says=("Release 1 is delivered to open", "Release 3 is delivered to open"))
    house.run(8, "retract", "a", "--because", "a test", says=("C805", "the schema elsewhere now", "Release 1 is marked as withdrawn in open"))
    assert ask(1) == str(len(house.data(1))), "nobody could tell that schema"
    house.run(0, "log", says=(told(1),))
    house.run(8, "deliver", says=("C805",))
    house.policy(text)
    house.run(0, "deliver", "--release", "1", says=("Release 1 is marked as withdrawn in open",))
    assert "permission denied" in ask(1) and "owed" not in house.run(0, "log")
    # The place itself lost it, which only a person can know.
    server.sql("drop schema open_data, elsewhere cascade; create schema open_data authorization open_rw")
    house.run(8, "retract", "c", "--because", "a test", says=("C805", "does not list it"))
    house.run(8, "deliver", says=("C805", "tacenda deliver open --release 3"))
    house.run(8, "deliver", "--release", "c", says=("C805",))
    house.run(8, "deliver", "open", "--release", "c", says=("open does not have it", "C805", "schema elsewhere"))
    house.run(0, "log", says=(told(3),))
    server.sql("create schema elsewhere authorization open_rw")
    house.policy(text.replace('"open_data"', '"elsewhere"'))
    house.run(0, "deliver", "open", "--release", "c", says=("open does not have it",))
    assert "owed" not in house.run(0, "log")
    house.run(0, "deliver", says=("Nothing was done",))
    server.sql("drop schema elsewhere cascade")


def passing_faults(root: pathlib.Path, server: Server) -> None:
    """What the next run may find better ends with 7, and what a person must mend with 2."""
    server.sql("""create function hospital.stumble(state text) returns int language plpgsql as
      $$ begin raise exception 'stumbled' using errcode = state; end $$""")
    house = House(root, server, 'query = "stays.sql"')
    for state, code, said in [("40001", 7, "C704"), ("40P01", 7, "C704"), ("55P03", 7, "C704"), ("25P03", 7, "C704"), ("57014", 7, "C704"), ("22012", 2, "C205")]:
        sql = f"select id, hospital.stumble('{state}') as age, weight, admitted, sex, illness from hospital.stays"
        (house.project / "stays.sql").write_text(sql)
        house.run(code, "plan", "--label", "a", says=(said, state))
    server.sql("drop function hospital.stumble")
    # A lock that somebody holds.
    (house.project / "stays.sql").write_text("select id, age, weight, admitted, sex, illness from hospital.stays")
    with server.holding("lock table hospital.stays in access exclusive mode"):
        house.run(7, "plan", "--label", "a", says=("C704", "55P03"), PGOPTIONS="-c lock_timeout=200")
    house.run(0, "plan", "--label", "a")


def hidden_rows(root: pathlib.Path, server: Server) -> None:
    """A table that the server would show without some of its people is not read."""
    server.sql("""create table hospital.hidden as select id, age, weight, admitted, sex, illness from hospital.stays;
      grant select on hospital.hidden to ward_ro; alter table hospital.hidden enable row level security;
      create policy women on hospital.hidden using (sex = 'F'); create view hospital.shown as select * from hospital.hidden;
      grant select on hospital.shown to ward_ro""")
    house = House(root, server)
    url = f"postgresql://ward_ro@127.0.0.1:{server.port}/hospital?table=hospital."
    house.run(2, "check", url + "hidden", says=("C205", "42501", "row-level security would leave people out"))
    # Whoever sets it in another way does not get around it.
    house.run(2, "check", url + "hidden", says=("C205",), PGOPTIONS="-c row_security=on")
    # The two ways out that the message names.
    house.run(0, "check", url + "shown")
    server.sql("alter role ward_ro bypassrls")
    house.run(0, "check", url + "hidden")
    server.sql("alter role ward_ro nobypassrls; drop table hospital.hidden cascade")


def closed_columns(root: pathlib.Path, server: Server) -> None:
    """A draft leaves out the columns that cannot be read, and says why."""
    server.sql("""create table hospital.closed as select id, age, sex, illness, 'text'::text as "Remark ""1"" ", '\\x00'::bytea as photo from hospital.stays;
      grant select (id, age, sex, illness, photo) on hospital.closed to ward_ro""")
    house = House(root, server)
    (house.project / "tacenda.toml").unlink()
    house.run(0, "init", f"postgresql://ward_ro@127.0.0.1:{server.port}/hospital?table=hospital.closed", "--yes")
    drafted = (house.project / "tacenda.toml").read_text()
    for text in ["# Left out: you have no right to read it.", '[columns.\'Remark "1" \']', "# Left out: its type bytea is not read."]:
        assert text in drafted, drafted
    house.run(0, "check")
    server.sql("drop table hospital.closed")


if __name__ == "__main__":
    main()
