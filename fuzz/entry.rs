//! What is fuzzed: every reader of bytes that somebody else may have written. `./test` runs the same functions over the
//! corpus and over changed copies of it (`crates/tacenda/tests/it/fuzz.rs`).
//!
//! Each function takes any bytes. It must not panic, and what it answers must hold together: a table is sorted, an error
//! has a code of its room, and no error shows a cell. Cells of the corpus contain [`CANARY`].

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value as Json};
use sha2::{Digest, Sha256};
use std::fmt::{Debug, Display};
use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use tacenda::folder::{self, ReceivedRelease, parse_question};
use tacenda::ingest::foreign::{Ask, Cell, File, Wish};
use tacenda::ingest::policy_file::parse_policy;
use tacenda::ingest::{
    IngestError, Kind, Loaded, Problem, ReadOptions, Remembered, Source, foreign, read_delta, read_snapshot,
};
use tacenda::keys::{KeyFolder, PublicKey, ReleaseStatement, Signer, Trust};
use tacenda::ledger::{Anchors, RealDisk, Receipt, Seen, Store, unpack, verify};
use tacenda::model::{Table, Values};
use tacenda::use_cases::{Next, ProjectFolder, ReleaseRequest, explain_finding, plan as make_plan};
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Stands in cells of the corpus, so that it is seen where it has no place.
pub const CANARY: &str = "qqcanary";

/// A column of every kind, one row a person.
const POLICY: &str = include_str!("corpus/policy/1");
/// The same people, with several rows each.
const SEVERAL: &str = include_str!("corpus/policy/2");
const POSTCODES: &[u8] = include_bytes!("corpus/hierarchy/1");
const TABLE: &[u8] = include_bytes!("corpus/snapshot/1");
/// Two releases whose cells are labels of trees, with a column that links their rows, and one that counts people.
const RELEASES: [&[u8]; 2] = [
    b"index,count,a,b,s\n1,2,20,101*,flu\n2,2,20,101*,gout\n3,1,*,2011,flu\n4,1,*,2011,qqcanary\n",
    b"index,count,a,b,s\n1,2,20,1011,flu\n2,2,20,1012,gout\n3,1,30,20**,flu\n4,1,30,20**,qqcanary\n",
];

/// The identity of a vault, the key that it opens, and a text with signatures over it. They were made for this.
const IDENTITY: &[u8] = include_bytes!("corpus/age/1");
const WRAPPED: &[u8] = include_bytes!("corpus/age/2");
const SIGNED: &[u8] = b"what is signed\n";
const SIGNATURES: [&str; 2] = [include_str!("corpus/signature/1"), include_str!("corpus/signature/2")];
const SIGNING_KEY: &str = "untrusted comment: made for a test, and nothing else\nRWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAiU7k49LvZ2yNuziKHD8xE5yP1v8lvX5AAUq3k2lYKU2N4ZwDupLIpFwV1gasoM82fyq4fa6IvQpi9OtrhO81wBUY/qW2gCb79AGbXxyIf2tg1AelpUJg5jpO8CrDO4fjC7XFX9eo0C0=\n";
const MANIFEST_SHA256: &str = "4c8cf56834bb7703c311e73e4f74fb4f8a4e5c6ba0ce40ae178c8a3b4cf30ea9";

/// A reader: its name, which is that of its corpus, and its function. The function answers with a code of an error, or `ok`.
pub type Target = (&'static str, fn(&[u8]) -> &'static str);

/// Every reader.
pub const TARGETS: &[Target] = &[
    ("cell", cell),
    ("release", release),
    ("policy", policy),
    ("hierarchy", hierarchy),
    ("arx", arx),
    ("snapshot", snapshot),
    ("delta", delta),
    ("ledger", ledger),
    ("folder", folder),
    ("parquet", parquet),
    ("plan", plan),
    ("question", question),
    ("receipt", receipt),
    ("anchor", anchor),
    ("backup", backup),
    ("age", age),
    ("signature", signature),
    ("statement", statement),
    ("audit", audit),
];

/// Any text is a cell of some kind.
pub fn cell(bytes: &[u8]) -> &'static str {
    let _ = Cell::read(&String::from_utf8_lossy(bytes));
    "ok"
}

/// Any bytes are releases, or an error that names what is wrong. A zero byte divides two files; three of them
/// divide releases from the truth.
pub fn release(bytes: &[u8]) -> &'static str {
    let (published, truth) = match bytes.windows(3).position(|three| three == [0, 0, 0]) {
        Some(at) => (&bytes[..at], Some(&bytes[at + 3..])),
        None => (bytes, None),
    };
    let files: Vec<File> = published
        .split(|&byte| byte == 0)
        .take(4)
        .map(|part| spooled(part).map(|source| File { source, label: "fuzz".into(), counterfeits: None }))
        .collect::<Result<_, _>>()
        .unwrap_or_default();
    let truth: Vec<Source> = match truth {
        Some(truth) => files.iter().filter_map(|_| spooled(truth).ok()).collect(),
        None => Vec::new(),
    };
    let ask = Ask {
        quasi: vec!["a".into(), "b".into()],
        sensitive: vec!["s".into()],
        identifier: (!truth.is_empty()).then(|| "id".into()),
        ..Ask::default()
    };
    if files.is_empty() {
        return "ok";
    }
    match foreign::read(&files, &truth, &ask) {
        Ok(read) => {
            for release in &read.releases {
                assert_eq!(release.ends.last().copied().unwrap_or(0) as usize, release.row_count());
                for group in 0..release.group_count() {
                    let region = release.region(group).iter().zip(&read.schema.quasi);
                    region.for_each(|(span, quasi)| assert!(!span.is_empty() && span.subset(quasi.root())));
                    assert!(release.group_values(group).is_sorted());
                }
            }
            "ok"
        }
        Err(error) => told_of(&error, error.code()),
    }
}

/// Any text is a policy, which is remembered as it is, or has faults that stand somewhere in it.
pub fn policy(bytes: &[u8]) -> &'static str {
    let text = String::from_utf8_lossy(bytes);
    read_policy(&text, house().path())
}

/// Any bytes are a tree, or a fault of the policy that names it.
pub fn hierarchy(bytes: &[u8]) -> &'static str {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    fs::create_dir(folder.path().join("hierarchies")).expect("it is empty");
    fs::write(folder.path().join("hierarchies/postcode.csv"), bytes).expect("it can be written to");
    read_policy(POLICY, folder.path())
}

/// Any bytes are a project file of ARX, whose trees are used to read a release, or an error. Lines of text are its tree of `b`;
/// a zero byte begins the tree of `a`.
pub fn arx(bytes: &[u8]) -> &'static str {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("study.deid");
    let archive = if bytes.starts_with(b"PK") { bytes.to_vec() } else { zipped(bytes) };
    fs::write(&path, archive).expect("it can be written to");
    let Ok(trees) = foreign::arx_hierarchies(&path) else { return "none" };
    let wish = |tree: PathBuf| Wish { hierarchy: Some(tree), ..Wish::default() };
    let ask = Ask {
        quasi: vec!["a".into(), "b".into()],
        sensitive: vec!["s".into()],
        finds_links: true,
        reads_around: true,
        wishes: trees.into_iter().map(|(column, tree)| (column, wish(tree))).collect(),
        ..Ask::default()
    };
    let file =
        |part: &&[u8]| File { source: spooled(part).expect("it is text"), label: "fuzz".into(), counterfeits: None };
    match foreign::read(&RELEASES.each_ref().map(file), &[], &ask) {
        Ok(_) => "ok",
        Err(error) => {
            told_of(&error, error.code());
            error.code()
        }
    }
}

/// Any bytes are a table, or an error that shows no cell.
pub fn snapshot(bytes: &[u8]) -> &'static str {
    let answers =
        policies().each_ref().map(|policy| match spooled(bytes).and_then(|source| read_table(&source, policy)) {
            Ok(table) => {
                assert_table(&table, policy);
                "ok"
            }
            Err(error) => told_of(&error, error.code()),
        });
    // The column that orders the rows of a person; the answer of the policy that it was meant for.
    answers[usize::from(bytes.windows(4).any(|four| four == b"seen"))]
}

/// Any bytes are changes of a table, or an error that shows no cell.
pub fn delta(bytes: &[u8]) -> &'static str {
    static LAST: OnceLock<Table> = OnceLock::new();
    let policy = &policies()[0];
    let last =
        LAST.get_or_init(|| read_table(&spooled(TABLE).expect("it is text"), policy).expect("the corpus has a table"));
    let schema = &policy.policy.schema;
    let read = spooled(bytes).and_then(|source| {
        read_delta(&source, schema, &[7; 32], last, &last.values, &ReadOptions { threads: 1, ..ReadOptions::default() })
    });
    match read {
        Ok(read) => {
            assert_table(&read.table, policy);
            "ok"
        }
        Err(error) => told_of(&error, error.code()),
    }
}

/// Any lines are a ledger, or an error that names the line. An object is sealed as a line first; what is none stands as it is.
pub fn ledger(bytes: &[u8]) -> &'static str {
    let root = tempfile::tempdir().expect("a temporary folder can be made");
    fs::create_dir(root.path().join(".tacenda")).expect("it is empty");
    let mut prev = "0".repeat(64);
    let mut text = Vec::new();
    for (at, line) in bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).enumerate() {
        match serde_json::from_slice::<Map<String, Json>>(line) {
            Ok(object) => text.extend(sealed(object, at as u64 + 1, &mut prev)),
            Err(_) => text.extend(line),
        }
        text.push(b'\n');
    }
    fs::write(root.path().join(".tacenda/ledger.jsonl"), &text).expect("it can be written to");
    match Store::open_look(Arc::new(RealDisk), root.path()) {
        Ok(store) => {
            let releases = root.path().join("releases");
            for publication in store.publications() {
                let folder = store.release_folder(publication.number);
                assert_eq!(folder.parent().and_then(Path::parent), Some(&*releases), "a release leaves its folder");
                let is_plain = |name: &String| Path::new(name).file_name().is_some_and(|last| last == name.as_str());
                assert!(publication.files.keys().all(is_plain), "a file leaves its folder");
            }
            for fault in verify(&store) {
                told(&fault, fault.code(), "LE");
            }
            "ok"
        }
        Err(error) => told(&error, error.code(), "LE"),
    }
}

/// Any bytes are a release folder, or an error. Zero bytes divide its manifest, its table and its counts; the checksums are
/// made right.
pub fn folder(bytes: &[u8]) -> &'static str {
    match received(bytes) {
        Ok(received) => {
            let release = &received.release;
            assert_eq!(release.ends.last().copied().unwrap_or(0) as usize, release.row_count());
            "ok"
        }
        Err(error) => told(&error, error.code(), "F"),
    }
}

/// Any bytes are the Parquet file of a release folder, or an error. The checksums are made right.
pub fn parquet(bytes: &[u8]) -> &'static str {
    let (names, files) = published_as_parquet();
    let files: Vec<&[u8]> = files.iter().map(|file| &**file).collect();
    let at = names.iter().position(|name| name.ends_with(".parquet")).expect("it was asked for");
    let replaced = files.iter().enumerate().map(|(index, &file)| if index == at { bytes } else { file });
    match received_as(names, replaced) {
        Ok(received) => {
            let release = &received.release;
            assert_eq!(release.ends.last().copied().unwrap_or(0) as usize, release.row_count());
            "ok"
        }
        Err(error) => told(&error, error.code(), "F"),
    }
}

/// Any bytes are a plan, or no plan. An object is laid over a plan that is one, so that what comes after reading is met too.
pub fn plan(bytes: &[u8]) -> &'static str {
    static PROJECT: OnceLock<(TempDir, Json, Mutex<()>)> = OnceLock::new();
    let (project, good, alone) = PROJECT.get_or_init(planned);
    let _alone = alone.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let mut text = bytes.to_vec();
    if let Ok(over) = serde_json::from_slice::<Map<String, Json>>(bytes) {
        let mut whole = good.clone();
        let object = whole.as_object_mut().expect("a plan is an object");
        object.extend(over);
        object.retain(|_, value| *value != Json::String("(left out)".into()));
        text = whole.to_string().into_bytes();
    }
    let path = project.path().join("fuzzed-plan.json");
    fs::write(&path, text).expect("it can be written to");
    let request = ReleaseRequest { project: at(project.path()), threads: 1, ..ReleaseRequest::default() };
    match request.prepare(Some(path), &|_, _| {}) {
        Ok(Next::Release(_) | Next::Already(_) | Next::Committed(_)) => "ok",
        Err(error) => told(&error, error.code(), "UERPDLAF"),
    }
}

/// Any text is a question to a release, or an error that says where it is wrong.
pub fn question(bytes: &[u8]) -> &'static str {
    static RECEIVED: OnceLock<ReceivedRelease> = OnceLock::new();
    let received = RECEIVED.get_or_init(|| received(release_folder()).expect("it was just published"));
    let text = String::from_utf8_lossy(bytes);
    let read = parse_question(&text).and_then(|asked| folder::answer(&received.release, &received.schema, &asked));
    match read {
        Ok(answer) => {
            assert!(answer.lowest as f64 <= answer.estimate + 1e-6 && answer.estimate <= answer.highest as f64 + 1e-6);
            "ok"
        }
        // Its own words may be shown to whoever asks.
        Err(error) => {
            assert!(error.code().starts_with('F') && !error.to_string().is_empty());
            error.code()
        }
    }
}

/// Any text is a receipt, or an error that says why not. `(right)` stands for the right checksum, `(commitment)` and `(head)` for those of a series. What is a receipt reads back
/// as itself, and a series is held against it.
pub fn receipt(bytes: &[u8]) -> &'static str {
    let (project, _) = signed_project();
    let store = look(project.path());
    let text = String::from_utf8_lossy(bytes).replace("(commitment)", store.seed_commitment());
    let text = text.replace("(head)", store.head());
    let text = text.replacen("(right)", &check_of(&text), 1);
    let receipt = match Receipt::read(&text) {
        Ok(receipt) => receipt,
        Err(error) => return told(&error, error.code(), "L"),
    };
    assert!(text.to_ascii_lowercase().contains(&check_of(&text)), "a mistyped line was accepted");
    assert_eq!(Receipt::read(&receipt.lines().join("\n")).expect("it is a receipt"), receipt);
    let anchors = Anchors::at(&project.path().join("no-anchors")).and_seen(Seen::Receipt(receipt));
    match store.compare_with(&anchors) {
        Ok(()) => "ok",
        Err(error) => told(&error, error.code(), "L"),
    }
}

/// The checksum of the facts on a receipt.
fn check_of(text: &str) -> String {
    let value = |key: &str| {
        text.lines().find_map(|line| Some(line.trim().strip_prefix(key)?.strip_prefix(':')?.trim().to_string()))
    };
    let number = |key: &str| value(key).map(|text| text.parse::<u64>().map_or(text, |number| number.to_string()));
    let erased = number("erased").filter(|count| count != "0");
    let lower = |key: &str| value(key).map(|text| text.to_ascii_lowercase());
    let facts = [
        ("series", value("series")),
        ("commitment", lower("commitment")),
        ("lines", number("lines")),
        ("head", lower("head")),
        ("at", value("at")),
        ("erased", erased),
    ];
    let lines = facts.into_iter().filter_map(|(key, value)| Some(format!("{key}: {}\n", value?)));
    hex(&Sha256::digest(lines.collect::<String>().as_bytes()))[..8].to_string()
}

/// Any bytes are an anchor, or an error. An object is laid over the anchor of a series, which is held against it and then goes on
/// or is refused.
pub fn anchor(bytes: &[u8]) -> &'static str {
    let (project, alone) = signed_project();
    let _alone = alone.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let anchors = Anchors::at(folder.path());
    let open = || Store::open_write(Arc::new(RealDisk), project.path()).expect("it was just published");
    let held = || open().hold_against(&anchors, "2026-01-01T00:00:00Z", None);
    held().expect("nothing is known yet");
    let path = folder.path().join(format!("{}.json", look(project.path()).seed_commitment()));
    let good = fs::read(&path).expect("it was just written");
    let mut text = bytes.to_vec();
    if let Ok(over) = serde_json::from_slice::<Map<String, Json>>(bytes) {
        let mut whole: Map<String, Json> = serde_json::from_slice(&good).expect("an anchor is an object");
        whole.extend(over);
        whole.retain(|_, value| *value != Json::String("(left out)".into()));
        text = Json::Object(whole).to_string().into_bytes();
    }
    fs::write(&path, &text).expect("it can be written to");
    match held() {
        Ok(()) => {
            let known: Map<String, Json> = serde_json::from_slice(&text).expect("it was read");
            let (lines, has) = (known["lines"].as_u64(), look(project.path()).events().len() as u64);
            let releases = known["releases"].as_array().map_or(0, Vec::len);
            assert!(lines.is_some_and(|lines| lines <= has) || releases > 1, "a ledger that lacks lines was accepted");
            look(project.path()).compare_with(&anchors).expect("the anchor was just moved");
            "ok"
        }
        Err(error) => told(&error, error.code(), "LE"),
    }
}

/// Any bytes are the archive in a backup, or an error, and nothing is written outside of its folder. Each object of a line is an entry
/// of an archive; what has no text has that of a project, and `(all)` is all of it.
pub fn backup(bytes: &[u8]) -> &'static str {
    let (project, _) = signed_project();
    let place = tempfile::tempdir().expect("a temporary folder can be made");
    let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let entries: Result<Vec<Map<String, Json>>, _> = lines.map(serde_json::from_slice).collect();
    let archive = entries.map_or_else(|_| bytes.to_vec(), |entries| packed(project.path(), &entries));
    let into = place.path().join("into");
    let unpacked = unpack(&RealDisk, &mut &archive[..], &into);
    let beside = fs::read_dir(place.path()).expect("it is there").flatten().map(|entry| entry.path());
    assert!(beside.eq([into.clone()].into_iter().filter(|into| into.exists())), "a file leaves its folder");
    let opened = unpacked.and_then(|names| {
        names.iter().for_each(|name| assert!(into.join(name).symlink_metadata().is_ok_and(|found| found.is_file())));
        Store::open_read(Arc::new(RealDisk), &into)
    });
    match opened {
        Ok(store) => match verify(&store).first() {
            Some(fault) => told(fault, fault.code(), "LE"),
            None => "ok",
        },
        Err(error) => told(&error, error.code(), "LE"),
    }
}

fn packed(project: &Path, entries: &[Map<String, Json>]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    let all = look(project).packed();
    let all = all.iter().filter(|name| project.join(name).exists());
    let named = |name: &String| Map::from_iter([("name".to_string(), Json::from(name.clone()))]);
    let all: Vec<Map<String, Json>> = all.map(named).collect();
    let is_all = |entry: &Map<String, Json>| entry.get("name").is_some_and(|name| name == "(all)");
    let each = |entry| if is_all(entry) { all.iter().collect() } else { vec![entry] };
    for entry in entries.iter().flat_map(each) {
        let word = |key: &str| entry.get(key).and_then(Json::as_str);
        let name = word("name").unwrap_or_default();
        let text = word("text").map_or_else(|| fs::read(project.join(name)).unwrap_or_default(), |text| text.into());
        let mut header = tar::Header::new_gnu();
        let kind = word("kind").and_then(|kind| kind.bytes().next()).unwrap_or(b'0');
        header.set_entry_type(tar::EntryType::new(kind));
        header.set_size(entry.get("size").and_then(Json::as_u64).unwrap_or(text.len() as u64));
        header.set_mode(0o600);
        // Not checked, so that it may lead anywhere.
        let field = &mut header.as_old_mut().name;
        let length = name.len().min(field.len());
        field[..length].copy_from_slice(&name.as_bytes()[..length]);
        header.set_cksum();
        archive.append(&header, &text[..]).expect("it is in memory");
    }
    archive.into_inner().expect("it is in memory")
}

/// Any bytes are the key of a vault as it is kept, or the file with the identity that opens it; or an error. Only the very bytes that
/// were written open.
pub fn age(bytes: &[u8]) -> &'static str {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let is_wrapped = bytes.starts_with(b"age-encryption");
    let (identity, wrapped) = if is_wrapped { (IDENTITY, bytes) } else { (bytes, WRAPPED) };
    write_private(&folder.path().join("vault.key"), identity);
    write_private(&folder.path().join("vault.pub"), b"");
    match KeyFolder::at(folder.path()).unwrap(wrapped) {
        Ok(_) => {
            let secret = IDENTITY.split(|&byte| byte == b'\n').find(|line| line.starts_with(b"AGE-SECRET"));
            let secret = secret.expect("the corpus has an identity");
            assert!(wrapped == WRAPPED && identity.windows(secret.len()).any(|found| found == secret), "another opens");
            "ok"
        }
        Err(error) => told(&error, error.code(), "K"),
    }
}

/// Any text is a signature file over a text, or an error; only what the key made is accepted, but for the comment that is not
/// signed. Any text is a public key, or an error.
pub fn signature(bytes: &[u8]) -> &'static str {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(key) = PublicKey::parse(&text) {
        assert_eq!(PublicKey::parse(&key.file()).expect("it is a key"), key);
    }
    let trust = Trust::new(&[signer().public().clone()]);
    match trust.check_file("fuzz", SIGNED, &text) {
        Ok((id, _)) => {
            let signed = |text: &str| text.split_once('\n').map(|(_, rest)| rest.to_string());
            assert!(id == signer().public().id() && SIGNATURES.iter().any(|good| signed(good) == signed(&text)));
            "ok"
        }
        Err(error) => told(&error, error.code(), "K"),
    }
}

/// Any text is a statement about a manifest, or an error. An object in the place of the payload is written as one, and signed.
pub fn statement(bytes: &[u8]) -> &'static str {
    let mut text = String::from_utf8_lossy(bytes).into_owned();
    let mut signed = None;
    if let Ok(mut envelope) = serde_json::from_slice::<Map<String, Json>>(bytes)
        && let Some(payload @ Json::Object(_)) = envelope.get("payload")
    {
        let payload = payload.to_string();
        let kind = envelope.get("payloadType").and_then(Json::as_str).unwrap_or_default();
        let (id, right) = (signer().public().id(), signer().sign(kind, payload.as_bytes()));
        envelope.insert("payload".into(), STANDARD.encode(&payload).into());
        text = Json::Object(envelope).to_string().replace("(own)", id).replace("(right)", &right) + "\n";
        signed = Some(right);
    }
    match ReleaseStatement::open(&text, MANIFEST_SHA256, &Trust::new(&[signer().public().clone()])) {
        Ok(_) => {
            assert!(signed.is_some_and(|signed| text.contains(&signed)), "nobody signed it");
            "ok"
        }
        Err(error) => told(&error, error.code(), "K"),
    }
}

/// Any bytes are a saved audit, whose findings are told, or an error. It may show what the audit shows.
pub fn audit(bytes: &[u8]) -> &'static str {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("audit.json");
    fs::write(&path, bytes).expect("it can be written to");
    let found: Vec<_> = (1..=4).map(|number: u32| explain_finding(&number.to_string(), &path)).collect();
    match found.into_iter().flatten().next() {
        Some(answer) => {
            assert!(!answer.explanation.is_empty());
            "ok"
        }
        None => "none",
    }
}

/// The code of an error, which is one of its room and shows no cell.
fn told(error: &(impl Display + Debug), code: &'static str, rooms: &str) -> &'static str {
    assert!(rooms.contains(&code[..1]), "{code}");
    let said = format!("{error} {error:?}");
    assert!(!said.contains(CANARY), "a cell is in an error: {code}");
    code
}

/// The same of a table. What stands in the header is the name of a column, and errors name those that the policy does not list.
fn told_of(error: &IngestError, code: &'static str) -> &'static str {
    let is_name = |problem: &&Problem| matches!(problem.kind, Kind::UnlistedColumn | Kind::DuplicateColumn);
    match error.problems() {
        [] => _ = told(error, code, "D"),
        problems => problems.iter().filter(|problem| !is_name(problem)).for_each(|problem| {
            told(problem, code, "D");
        }),
    }
    code
}

fn spooled(bytes: &[u8]) -> Result<Source, IngestError> {
    Source::spool("fuzz", bytes)
}

fn read_policy(text: &str, folder: &Path) -> &'static str {
    match parse_policy(text, &folder.join("tacenda.toml")) {
        Ok(loaded) => {
            let remembered = Remembered::of(&loaded.policy);
            let again = Remembered::read(&remembered.write()).expect("what is remembered can be read");
            assert!(again.may_be_followed_by(&remembered).is_ok(), "a policy may follow itself");
            "ok"
        }
        Err(error) => {
            for fault in &error.faults {
                let span = fault.span.clone().unwrap_or_default();
                assert!(error.text.get(span).is_some(), "a fault stands in the text");
            }
            assert!(!error.to_string().is_empty() && error.code().starts_with('P'));
            error.code()
        }
    }
}

/// A folder with the tree that the policies of the corpus name.
fn house() -> &'static TempDir {
    static HOUSE: OnceLock<TempDir> = OnceLock::new();
    HOUSE.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        fs::create_dir(folder.path().join("hierarchies")).expect("it is empty");
        fs::write(folder.path().join("hierarchies/postcode.csv"), POSTCODES).expect("it can be written to");
        folder
    })
}

fn policies() -> &'static [Loaded; 2] {
    static POLICIES: OnceLock<[Loaded; 2]> = OnceLock::new();
    POLICIES.get_or_init(|| {
        [POLICY, SEVERAL]
            .map(|text| parse_policy(text, &house().path().join("tacenda.toml")).expect("the corpus has policies"))
    })
}

fn read_table(source: &Source, policy: &Loaded) -> Result<Table, IngestError> {
    let options = ReadOptions { threads: 1, ..ReadOptions::default() };
    read_snapshot(source, &policy.policy.schema, &[7; 32], &Values::default(), &options).map(|read| read.table)
}

fn assert_table(table: &Table, policy: &Loaded) {
    let keys: Vec<_> = table.rows().map(|row| table.key(row)).collect();
    assert!(!keys.is_empty() && keys.windows(2).all(|two| two[0] < two[1]), "a person has one row");
    for (attribute, quasi) in policy.policy.schema.quasi.iter().enumerate() {
        let root = quasi.root();
        assert!(table.quasi(attribute).iter().all(|&code| root.contains(code)), "codes are of the domain");
    }
}

/// A line of the ledger, tied to the one before. What the line says of its place is kept where it says anything.
fn sealed(mut object: Map<String, Json>, seq: u64, prev: &mut String) -> Vec<u8> {
    object.remove("hash");
    object.entry("seq").or_insert(seq.into());
    object.entry("at").or_insert("2026-01-01T00:00:00Z".into());
    object.entry("prev").or_insert(prev.clone().into());
    let mut text = Json::Object(object).to_string();
    let hash = hex(&Sha256::digest(text.as_bytes()));
    text.pop();
    text.push_str(&format!(",\"hash\":\"{hash}\"}}"));
    *prev = hash;
    text.into_bytes()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn received(bytes: &[u8]) -> Result<ReceivedRelease, tacenda::folder::FolderError> {
    let (names, _) = published();
    received_as(names, bytes.splitn(names.len(), |&byte| byte == 0))
}

/// Reads a folder of these files, with the right checksums.
fn received_as<'a>(
    names: &[String],
    files: impl Iterator<Item = &'a [u8]>,
) -> Result<ReceivedRelease, tacenda::folder::FolderError> {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let mut sums = String::new();
    for (name, part) in names.iter().zip(files) {
        fs::write(folder.path().join(name), part).expect("it can be written to");
        sums.push_str(&format!("{}  {name}\n", hex(&Sha256::digest(part))));
    }
    fs::write(folder.path().join("SHA256SUMS"), sums).expect("it can be written to");
    folder::read(folder.path())
}

/// A release folder in the form that [`folder`] takes.
pub fn release_folder() -> &'static [u8] {
    static JOINED: OnceLock<Vec<u8>> = OnceLock::new();
    JOINED.get_or_init(|| published().1.join(&0))
}

/// The Parquet file of a release.
pub fn release_parquet() -> &'static [u8] {
    let (names, files) = published_as_parquet();
    &files[names.iter().position(|name| name.ends_with(".parquet")).expect("it was asked for")]
}

/// The names of files, and their bytes.
type Files = (Vec<String>, Vec<Vec<u8>>);

/// The first release of the corpus.
fn published() -> &'static Files {
    static PUBLISHED: OnceLock<Files> = OnceLock::new();
    PUBLISHED.get_or_init(|| publish("csv"))
}

fn published_as_parquet() -> &'static Files {
    static PUBLISHED: OnceLock<Files> = OnceLock::new();
    PUBLISHED.get_or_init(|| publish("parquet"))
}

/// The manifest, the table, the counts of counterfeits and the counts of people.
fn publish(format: &str) -> Files {
    let project = project();
    let policy = format!("{POLICY}\n[output]\nformats = [\"{format}\"]\n");
    fs::write(project.path().join("tacenda.toml"), policy).expect("it can be written to");
    let next = request(project.path()).prepare(None, &|_, _| {}).expect("the corpus has a table");
    let report = next.publish(&|_, _| {}).expect("the corpus can be published");
    let is_table = |name: &&String| name.ends_with(".csv") || name.ends_with(".parquet");
    let mut tables: Vec<String> = report.files.iter().filter(is_table).cloned().collect();
    tables.sort_by_key(|name| name.matches('.').count());
    let names: Vec<String> = std::iter::once("manifest.json".to_string()).chain(tables).collect();
    let files = names.iter().map(|name| fs::read(report.folder.join(name)).expect("it was just written")).collect();
    (names, files)
}

/// A project file of ARX with these trees.
fn zipped(trees: &[u8]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (column, tree) in ["b", "a"].into_iter().zip(trees.splitn(2, |&byte| byte == 0)) {
        let name = format!("input/hierarchies/{column}.csv");
        archive.start_file(name, SimpleFileOptions::default()).expect("it is in memory");
        archive.write_all(tree).expect("it is in memory");
    }
    archive.finish().expect("it is in memory").into_inner()
}

fn at(root: &Path) -> ProjectFolder {
    ProjectFolder { root: root.into(), ..ProjectFolder::default() }
}

/// A project with the table of the corpus.
fn project() -> TempDir {
    let project = tempfile::tempdir().expect("a temporary folder can be made");
    let write = |name: &str, bytes: &[u8]| fs::write(project.path().join(name), bytes).expect("it can be written to");
    fs::create_dir(project.path().join("hierarchies")).expect("it is empty");
    write("hierarchies/postcode.csv", POSTCODES);
    write("tacenda.toml", POLICY.as_bytes());
    write("table.csv", TABLE);
    project
}

/// Its first release.
fn request(root: &Path) -> ReleaseRequest {
    let data = Some(tacenda::Given::Path(root.join("table.csv")));
    ReleaseRequest { project: at(root), data, threads: 1, ..ReleaseRequest::default() }
}

fn look(root: &Path) -> Store {
    Store::open_look(Arc::new(RealDisk), root).expect("it was just published")
}

/// A project with a release, which one run at a time writes to.
fn signed_project() -> &'static (TempDir, Mutex<()>) {
    static PROJECT: OnceLock<(TempDir, Mutex<()>)> = OnceLock::new();
    PROJECT.get_or_init(|| {
        let project = project();
        let next = request(project.path()).prepare(None, &|_, _| {}).expect("the corpus has a table");
        next.publish(&|_, _| {}).expect("the corpus can be published");
        (project, Mutex::new(()))
    })
}

/// A key to sign with, always the same.
fn signer() -> &'static Signer {
    static SIGNER: OnceLock<Signer> = OnceLock::new();
    SIGNER.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        write_private(&folder.path().join("signing.key"), SIGNING_KEY.as_bytes());
        KeyFolder::at(folder.path()).need_signer().expect("it is a key")
    })
}

/// A file that nobody else may read: others are refused as keys.
fn write_private(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).expect("it can be written to");
    #[cfg(unix)]
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("it is ours");
}

/// A project with a plan for its first release.
fn planned() -> (TempDir, Json, Mutex<()>) {
    let project = project();
    let file = project.path().join("plan.json");
    make_plan(request(project.path()), Some(file.clone()), &|_, _| {}).expect("the corpus can be planned");
    let good = serde_json::from_slice(&fs::read(file).expect("it was written")).expect("a plan is JSON");
    (project, good, Mutex::new(()))
}
