//! The rules of the door and the pages, without a browser: every rule as an attack, and a series from the drop to the report.

use crate::console::{Console, ConsoleSettings};
use crate::drops::{Drops, List};
use crate::jobs::{Standing, Work};
use crate::routes::router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use http_body_util::BodyExt;
use std::collections::BTreeSet;
use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tacenda::keys::KeyFolder;
use tacenda::ledger::Anchors;
use tacenda::model::Language;
use tacenda::report::translated;
use tacenda::use_cases::ProjectFolder;
use tempfile::TempDir;
use tower::ServiceExt;

/// A console on a folder, and the browser that had its link.
struct Kit {
    console: Arc<Console>,
    cookie: String,
    folder: TempDir,
    announced: Arc<AtomicUsize>,
}

/// An answer.
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    text: String,
}

fn settings(root: &Path) -> ConsoleSettings {
    ConsoleSettings {
        project: ProjectFolder { root: root.to_path_buf(), ..ProjectFolder::default() },
        bind: IpAddr::V4(Ipv4Addr::LOCALHOST),
        port: 0,
        plain_address: false,
        allow_publish: true,
        i_know: true,
        idle: Duration::from_secs(600),
        words: String::new(),
    }
}

impl Kit {
    fn new() -> Kit {
        Kit::with(|_| {})
    }

    fn with(change: impl FnOnce(&mut ConsoleSettings)) -> Kit {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = settings(folder.path());
        change(&mut settings);
        let announced = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&announced);
        let announce = Box::new(move |_: &str| {
            counter.fetch_add(1, Ordering::Relaxed);
        });
        let console = Arc::new(Console::new(settings, Drops::open().unwrap(), 4711, announce));
        let cookie = enter(&console);
        Kit { console, cookie, folder, announced }
    }

    fn host(&self) -> String {
        self.console.door.host().to_string()
    }

    /// A request as our own page sends it.
    fn request(&self, method: Method, path: &str) -> axum::http::request::Builder {
        Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, self.host())
            .header(header::ORIGIN, format!("http://{}", self.host()))
            .header(header::COOKIE, &self.cookie)
    }

    fn ask(&self, request: Request<Body>) -> Answer {
        asked(&self.console, request)
    }

    fn get(&self, path: &str) -> Answer {
        self.ask(self.request(Method::GET, path).body(Body::empty()).unwrap())
    }

    fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        self.ask(self.request(Method::POST, path).body(Body::from(body)).unwrap())
    }

    fn drop_file(&self, list: &str, name: &str, text: &str) -> Answer {
        let name = percent_encoding::utf8_percent_encode(name, percent_encoding::NON_ALPHANUMERIC).to_string();
        let request = self.request(Method::POST, &format!("/drop/{list}")).header("x-name", name);
        self.ask(request.body(Body::from(text.to_string())).unwrap())
    }

    fn done(&self, work: Work) -> String {
        self.console.jobs.wait(work);
        match self.console.jobs.any(work) {
            Some(Standing::Done(page)) => page,
            other => panic!("{work:?}: {other:?}"),
        }
    }

    /// Opens the page of the series until it is judged: a release that comes in between is judged anew.
    fn judged(&self) {
        for _ in 0..5 {
            self.console.jobs.wait(Work::Judge);
            if !self.get("/series").text.contains("NOT ASSESSED YET") {
                return;
            }
        }
        panic!("{:?}", self.console.jobs.any(Work::Judge));
    }

    /// A project with a policy, drafted on the page, and a first table.
    fn begun() -> Kit {
        let kit = Kit::new();
        kit.begin();
        kit
    }

    fn begin(&self) {
        assert_eq!(self.drop_file("tables", "q1.csv", &people(0..240)).status, StatusCode::OK);
        let answers = [("table", "dropped:1"), ("name", "ward"), ("leaving", "yes"), ("m", "3"), ("k", "2")];
        assert_eq!(self.post("/start/save", &answers).status, StatusCode::SEE_OTHER);
        self.done(Work::Draft);
    }

    fn publish(&self, table: &str, label: &str) {
        assert_eq!(self.post("/next/rehearse", &[("table", table), ("label", label)]).status, StatusCode::SEE_OTHER);
        self.done(Work::Plan);
        assert_eq!(self.post("/next/publish", &[("typed", label)]).status, StatusCode::SEE_OTHER);
        self.done(Work::Publish);
    }
}

fn asked(console: &Arc<Console>, request: Request<Body>) -> Answer {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let response = router(Arc::clone(console)).oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        Answer { status: parts.status, headers: parts.headers, text: String::from_utf8_lossy(&bytes).into_owned() }
    })
}

fn token(console: &Console) -> String {
    console.door.link().unwrap().split("#t=").nth(1).unwrap().to_string()
}

/// Hands the token over; the answer is the cookie that a browser would send.
fn enter(console: &Arc<Console>) -> String {
    let host = console.door.host().to_string();
    let request =
        Request::post("/session").header(header::HOST, &host).header(header::ORIGIN, format!("http://{host}"));
    let answer = asked(console, request.body(Body::from(token(console))).unwrap());
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    let cookie = answer.headers[header::SET_COOKIE].to_str().unwrap().to_string();
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && cookie.starts_with("tacenda-4711="),
        "{cookie}"
    );
    cookie.split(';').next().unwrap().to_string()
}

/// A table of made-up people.
fn people(numbers: std::ops::Range<u32>) -> String {
    let diagnoses = ["flu", "asthma", "gout", "angina", "eczema", "migraine"];
    let row = |number: u32| {
        let (age, sex) = (18 + number * 7 % 70, if number.is_multiple_of(2) { "F" } else { "M" });
        format!("p{number:04},{age},{sex},{}\n", diagnoses[(number * 5 % 6) as usize])
    };
    format!("patient_id,age,sex,diagnosis\n{}", numbers.map(row).collect::<String>())
}

const PAGES: [&str; 9] =
    ["/series", "/start", "/next", "/release", "/audit", "/person", "/hierarchy", "/ledger", "/policy"];

#[test]
fn a_foreign_host_gets_nothing_not_even_the_opening_page() {
    let kit = Kit::new();
    let port = "4711";
    for host in ["evil.example", "127.0.0.1:4711", "localhost:4711", "", "t000000000000.localhost:4711"] {
        for path in ["/", "/app.js", "/series", "/session"] {
            let request = Request::get(path).header(header::HOST, host).header(header::COOKIE, &kit.cookie);
            let answer = kit.ask(request.body(Body::empty()).unwrap());
            assert_eq!(answer.status, StatusCode::MISDIRECTED_REQUEST, "{host} {path}");
        }
    }
    assert!(kit.host().starts_with('t') && kit.host().ends_with(&format!(".localhost:{port}")), "{}", kit.host());
}

#[test]
fn a_form_of_another_page_is_refused() {
    let kit = Kit::begun();
    let send = |origin: Option<&str>, site: Option<&str>, path: &str| {
        let mut request = Request::post(path).header(header::HOST, kit.host()).header(header::COOKIE, &kit.cookie);
        request = origin.into_iter().fold(request, |request, origin| request.header(header::ORIGIN, origin));
        request = site.into_iter().fold(request, |request, site| request.header("sec-fetch-site", site));
        kit.ask(request.body(Body::from("typed=x")).unwrap()).status
    };
    let own = format!("http://{}", kit.host());
    for path in ["/next/publish", "/session", "/leave", "/drop/tables", "/policy", "/person"] {
        for origin in
            [None, Some("null"), Some("http://evil.example"), Some("https://x"), Some("http://127.0.0.1:4711")]
        {
            assert_eq!(send(origin, None, path), StatusCode::FORBIDDEN, "{path} {origin:?}");
        }
        for site in ["cross-site", "same-site"] {
            assert_eq!(send(Some(&own), Some(site), path), StatusCode::FORBIDDEN, "{path} {site}");
        }
    }
    assert_ne!(send(Some(&own), Some("same-origin"), "/person"), StatusCode::FORBIDDEN);
    // A link on a page of somebody else leads nowhere either.
    let request = kit.request(Method::GET, "/series").header("sec-fetch-site", "cross-site");
    assert_eq!(kit.ask(request.body(Body::empty()).unwrap()).status, StatusCode::FORBIDDEN);
}

#[test]
fn without_the_cookie_there_is_no_page_and_no_file() {
    let kit = Kit::begun();
    kit.publish("dropped:1", "2026-Q1");
    let inside =
        ["/release/1", "/release/1/report", "/release/1/file/manifest.json", "/job/judge", "/report", "/audit/report"];
    let secret = kit.cookie.split('=').nth(1).unwrap();
    let cookies = [
        String::new(),
        "tacenda-4711=".into(),
        format!("tacenda-4712={secret}"),
        format!("tacenda-4711={}", "0".repeat(32)),
    ];
    for path in PAGES.iter().chain(&inside) {
        for cookie in &cookies {
            let request = Request::get(*path).header(header::HOST, kit.host()).header(header::COOKIE, cookie);
            let answer = kit.ask(request.body(Body::empty()).unwrap());
            assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{path} {cookie}");
            assert!(!answer.text.contains("ward") && !answer.text.contains("2026-Q1"), "{path}");
        }
        assert_ne!(kit.get(path).status, StatusCode::UNAUTHORIZED, "{path}");
    }
}

#[test]
fn a_token_works_once_and_a_locked_console_has_a_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let console = Arc::new(Console::new(settings(folder.path()), Drops::open().unwrap(), 4711, Box::new(|_| {})));
    let used = token(&console);
    let first = enter(&console);
    let send = |token: &str| {
        let host = console.door.host().to_string();
        let request =
            Request::post("/session").header(header::HOST, &host).header(header::ORIGIN, format!("http://{host}"));
        asked(&console, request.body(Body::from(token.to_string())).unwrap()).status
    };
    for wrong in [used.as_str(), "", "x"] {
        assert_eq!(send(wrong), StatusCode::FORBIDDEN);
    }
    console.door.lock();
    let look = |cookie: &str| {
        let request = Request::get("/series").header(header::HOST, console.door.host()).header(header::COOKIE, cookie);
        asked(&console, request.body(Body::empty()).unwrap()).status
    };
    assert_eq!(look(&first), StatusCode::UNAUTHORIZED);
    assert_eq!(send(&used), StatusCode::FORBIDDEN);
    let second = enter(&console);
    assert_eq!((look(&first), look(&second)), (StatusCode::UNAUTHORIZED, StatusCode::OK));
}

#[test]
fn a_console_that_nobody_uses_locks_itself_and_watching_a_job_is_no_use() {
    let kit = Kit::with(|settings| settings.idle = Duration::from_millis(300));
    for _ in 0..8 {
        std::thread::sleep(Duration::from_millis(50));
        let request = kit.request(Method::GET, "/job/judge").header("x-only-looking", "1");
        kit.ask(request.body(Body::empty()).unwrap());
    }
    let answer = kit.get("/series");
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    assert_eq!(kit.announced.load(Ordering::Relaxed), 1, "the terminal shows a new link");
    assert!(kit.console.door.link().is_some());
}

#[test]
fn every_answer_has_its_headers_and_no_page_has_anything_inline() {
    let kit = Kit::begun();
    kit.publish("dropped:1", "2026-Q1");
    kit.judged();
    let others = ["/", "/app.js", "/nowhere", "/release/1", "/release/9", "/job/none", "/start?table=dropped:1"];
    for path in PAGES.iter().chain(&others) {
        let answer = kit.get(path);
        let has = |name: &str| answer.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("");
        assert!(
            has("content-security-policy").starts_with("default-src 'none'; script-src 'self'; style-src 'self'"),
            "{path}"
        );
        assert!(has("content-security-policy").contains("frame-ancestors 'none'"), "{path}");
        assert_eq!((has("cache-control"), has("x-content-type-options")), ("no-store", "nosniff"), "{path}");
        assert_eq!(
            (has("cross-origin-resource-policy"), has("access-control-allow-origin")),
            ("same-origin", ""),
            "{path}"
        );
        if has("content-type").starts_with("text/html") {
            let inline =
                ["<style", " style=", " onclick=", " onerror=", "javascript:", "<script>", "http://", "https://"];
            for word in inline {
                assert!(!answer.text.contains(word), "{path} has {word}");
            }
        }
    }
    // A report has one style, known by its digest, and may stand in our own frame only.
    for path in ["/release/1/report", "/report"] {
        let answer = kit.get(path);
        let may = answer.headers["content-security-policy"].to_str().unwrap();
        assert!(
            may.starts_with("default-src 'none'; style-src 'sha256-") && may.contains("frame-ancestors 'self'"),
            "{may}"
        );
        assert!(answer.text.contains("<style>") && !answer.text.contains("<script"), "{path}");
    }
}

#[test]
fn the_script_is_short_and_keeps_nothing() {
    let script = include_str!("script.js");
    assert!(script.lines().count() < 200);
    for word in
        ["localStorage", "sessionStorage", "indexedDB", "document.cookie", "eval(", "import(", "http:", "https:"]
    {
        assert!(!script.contains(word), "{word}");
    }
}

#[test]
fn what_is_dropped_stays_in_its_folder_and_has_a_bound() {
    let folder = tempfile::tempdir().unwrap();
    let mut drops = Drops::open().unwrap();
    drops.most = (40, 60);
    let console = Arc::new(Console::new(settings(folder.path()), drops, 4711, Box::new(|_| {})));
    let (cookie, announced) = (enter(&console), Arc::default());
    let kit = Kit { console, cookie, folder, announced };
    assert_eq!(kit.drop_file("tables", "../../../evil.csv", "a,b\n1,2\n").status, StatusCode::OK);
    let listed = kit.console.drops.list(List::Tables);
    assert_eq!((listed.len(), listed[0].name.as_str()), (1, "evil.csv"));
    assert!(listed[0].path.starts_with(kit.console.drops.own("tables")));
    assert_eq!(kit.drop_file("tables", "large.csv", &"x".repeat(41)).status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(kit.drop_file("tables", "b.csv", &"x".repeat(40)).status, StatusCode::OK);
    assert_eq!(kit.drop_file("audit", "c.csv", &"x".repeat(20)).status, StatusCode::PAYLOAD_TOO_LARGE, "in all");
    assert_eq!(kit.drop_file("vault", "d.csv", "x").status, StatusCode::NOT_FOUND);
    assert_eq!(kit.console.drops.list(List::Tables).len(), 2, "nothing is left of what was refused");
    assert!(kit.console.drops.list(List::Audit).is_empty());
}

#[test]
fn nothing_is_published_without_leave_or_without_the_label() {
    let kit = Kit::with(|settings| settings.allow_publish = false);
    kit.begin();
    kit.post("/next/rehearse", &[("table", "dropped:1"), ("label", "2026-Q1")]);
    kit.done(Work::Plan);
    assert!(kit.get("/next").text.contains("--allow-publish"));
    let answer = kit.post("/next/publish", &[("typed", "2026-Q1")]);
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(answer.text.contains("error[U201]") && answer.text.contains("--allow-publish"), "{}", answer.text);

    let kit = Kit::begun();
    kit.post("/next/rehearse", &[("table", "dropped:1"), ("label", "2026-Q1")]);
    kit.done(Work::Plan);
    for typed in ["", "2026-q1", "2026-Q2", "2026-Q1x"] {
        assert_eq!(kit.post("/next/publish", &[("typed", typed)]).status, StatusCode::UNPROCESSABLE_ENTITY, "{typed}");
    }
    assert!(!kit.folder.path().join("releases").exists());
    assert!(kit.console.jobs.any(Work::Publish).is_none());
}

#[test]
fn a_series_goes_from_the_drop_to_the_report_and_the_command_line_agrees() {
    let kit = Kit::new();
    assert!(kit.get("/series").text.contains("href=\"/start\""));
    kit.begin();
    assert!(kit.folder.path().join("tacenda.toml").exists());
    assert!(kit.get("/series").text.contains("Rehearse the first release"));
    kit.publish("dropped:1", "2026-Q1");
    kit.drop_file("tables", "q2.csv", &people(30..270));
    // The plan of somebody else makes ours stale, and the page says so.
    kit.post("/next/rehearse", &[("table", "dropped:2"), ("label", "2026-Q2")]);
    let page = kit.done(Work::Plan);
    assert!(page.contains("Arrived</th><td>30<") && page.contains("Left</th><td>30<"), "{page}");
    kit.post("/next/publish", &[("typed", "2026-Q2")]);
    kit.done(Work::Publish);
    let log = tacenda::use_cases::log(kit.folder.path()).unwrap();
    let labels: Vec<&str> = log.events.iter().filter_map(|event| event.label.as_deref()).collect();
    assert_eq!(labels, ["2026-Q1", "2026-Q2"]);
    let before = kit.get("/series").text;
    assert!(before.contains("NOT ASSESSED YET") || before.contains("PASS"), "{before}");
    kit.judged();
    let series = kit.get("/series").text;
    assert!(series.contains("class=\"verdict pass\"") && series.contains("2026-Q2"), "{series}");
    let release = kit.get("/release/2").text;
    assert!(release.contains("The regions of the groups") && release.contains("SHA-256"), "{release}");
    assert!(kit.get("/report").text.contains("class=\"sign\""), "the report has a place to sign");
    kit.post("/ledger/verify", &[]);
    assert!(kit.done(Work::Verify).contains("INTACT"));
    // The same plan again is recognised, and nothing is published twice.
    kit.post("/next/publish", &[("typed", "2026-Q2")]);
    assert!(kit.done(Work::Publish).contains("PUBLISHED BEFORE"));
}

#[test]
fn a_damaged_file_is_told_with_its_code_and_never_as_a_pass() {
    let kit = Kit::begun();
    kit.publish("dropped:1", "2026-Q1");
    let release = kit.folder.path().join("releases/ward/r0001");
    let data = std::fs::read_dir(&release)
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.extension() == Some("csv".as_ref()))
        .unwrap();
    std::fs::write(&data, "changed").unwrap();
    kit.post("/ledger/verify", &[]);
    let page = kit.done(Work::Verify);
    assert!(page.contains("DAMAGED") && page.contains("L507"), "{page}");
}

#[test]
fn an_error_is_the_command_lines_with_its_code_and_its_way_out() {
    let kit = Kit::begun();
    kit.drop_file("tables", "bad.csv", "patient_id,age,sex,diagnosis\np1,900,F,flu\np2,,F,\n");
    kit.post("/next/check", &[("table", "dropped:2")]);
    kit.console.jobs.wait(Work::Check);
    let page = kit.get("/next").text;
    assert!(page.contains("error[D") && page.contains("the table was not accepted"), "{page}");
    assert!(!page.contains("900"), "no cell is named");
    let answer = kit.post("/policy", &[("text", "policy = 1\n[series]\nname = 'x'\n")]);
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        answer.text.contains("error[P") && answer.text.contains("the policy file cannot be used"),
        "{}",
        answer.text
    );
    assert!(
        std::fs::read_to_string(kit.folder.path().join("tacenda.toml")).unwrap().contains("ward"),
        "the old one stays"
    );
    assert!(!kit.folder.path().join("tacenda.toml.new").exists());
}

#[test]
fn nothing_outside_of_the_lists_can_be_named() {
    let kit = Kit::begun();
    kit.publish("dropped:1", "2026-Q1");
    for table in ["file:/etc/passwd", "file:../x.csv", "file:.tacenda/ledger.jsonl", "dropped:9", "/etc/passwd", ""] {
        let answer = kit.post("/next/check", &[("table", table)]);
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{table}");
        assert_eq!(
            kit.post("/person", &[("key", "p0001"), ("truth", table)]).status == StatusCode::OK,
            table.is_empty()
        );
    }
    for file in ["..%2f..%2f..%2ftacenda.toml", "..", "%2e%2e%2fr0001%2fmanifest.json", "nothing"] {
        assert_eq!(kit.get(&format!("/release/1/file/{file}")).status, StatusCode::NOT_FOUND, "{file}");
    }
    let answer = kit.get("/release/1/file/manifest.json");
    assert_eq!(answer.headers["content-disposition"], "attachment");
}

#[test]
fn a_person_is_looked_up_by_a_form_and_not_by_an_address() {
    let kit = Kit::begun();
    kit.publish("dropped:1", "2026-Q1");
    let page = kit.get("/person?key=p0001").text;
    assert!(!page.contains("p0001") && !page.contains("What the releases say"));
    assert!(page.contains("method=\"post\" action=\"/person\""));
    let found = kit.post("/person", &[("key", "p0001")]).text;
    assert!(
        found.contains("What the releases say")
            && found.contains("Release 1, 2026-Q1.")
            && found.contains("class=\"steps\""),
        "{found}"
    );
    assert!(found.contains("Values are coded") && !found.contains(">flu<"), "{found}");
    let named = kit.post("/person", &[("key", "p0001"), ("show", "yes")]).text;
    assert!(named.contains(">flu<") || named.contains(">asthma<"), "{named}");
    assert!(!found.contains("p0001"), "the key is not shown again");
    assert!(kit.post("/person", &[("key", "nobody")]).text.contains("nobody in the tables has this identifier"));
}

/// Before somebody signs, the questions that need the private tables are asked. Too few tables are an error, and the verdict stays.
#[test]
fn the_questions_about_people_are_asked_with_the_private_tables() {
    let kit = Kit::begun();
    kit.publish("dropped:1", "2026-Q1");
    kit.drop_file("tables", "2026-Q2.csv", &people(30..270));
    kit.publish("dropped:2", "2026-Q2");
    kit.judged();
    let page = kit.get("/series").text;
    assert!(page.contains("The private tables were not given"), "{page}");
    assert!(page.contains("value=\"dropped:2\" selected"), "the table with the label in its name is chosen: {page}");
    kit.post("/series/judge", &[("truth", "dropped:1"), ("truth", "")]);
    kit.console.jobs.wait(Work::Judge);
    let page = kit.get("/series").text;
    assert!(page.contains("error[R209]") && page.contains("The private tables were not given"), "{page}");
    kit.post("/series/judge", &[("truth", "dropped:1"), ("truth", "dropped:2")]);
    kit.done(Work::Judge);
    let page = kit.get("/series").text;
    assert!(page.contains("class=\"verdict pass\"") && !page.contains("The private tables were not given"), "{page}");
    assert!(!kit.get("/report").text.contains("The private tables were not given"));
    assert_eq!(kit.post("/series/judge", &[("truth", "dropped:9")]).status, StatusCode::UNPROCESSABLE_ENTITY);
}

/// Texts from outside that would be markup if they were not escaped.
const EVIL: &str = "<script>alert(1)</script>\"><img src=x onerror=alert(2)>'";

#[test]
fn names_labels_cells_and_files_are_text_wherever_they_stand() {
    let kit = Kit::new();
    let quoted = format!("\"{}\"", EVIL.replace('"', "\"\""));
    let table = people(0..240).replace("sex", &quoted).replace(",F,", &format!(",{quoted},"));
    kit.drop_file("tables", &format!("{EVIL}.csv"), &table);
    kit.drop_file("audit", &format!("{EVIL}.csv"), &table);
    let role = format!("role:{EVIL}");
    let answers = [("table", "dropped:1"), ("name", "ward"), ("m", "3"), ("k", "2"), (role.as_str(), "quasi")];
    let mut pages =
        vec![kit.get("/start?table=dropped:1"), kit.post("/start/live", &answers), kit.get("/next"), kit.get("/audit")];
    kit.post("/start/save", &answers);
    kit.console.jobs.wait(Work::Draft);
    kit.post("/next/rehearse", &[("table", "dropped:1"), ("label", EVIL)]);
    kit.console.jobs.wait(Work::Plan);
    pages.push(kit.get("/next"));
    kit.publish("dropped:1", "one");
    let columns = [(role.as_str(), "quasi"), ("role:age", "quasi"), ("role:diagnosis", "sensitive"), ("show", "yes")];
    kit.post("/audit/run", &columns);
    kit.console.jobs.wait(Work::Audit);
    kit.judged();
    let more = [
        "/series",
        "/release/1",
        "/audit",
        "/audit/report",
        "/report",
        "/person",
        "/ledger",
        "/policy",
        "/release/1/report",
    ];
    pages.extend(more.map(|path| kit.get(path)));
    let column = form_urlencoded::byte_serialize(EVIL.as_bytes()).collect::<String>();
    pages.push(kit.get(&format!("/hierarchy?column={column}&table=dropped:1")));
    let mut seen = 0;
    for (at, page) in pages.iter().enumerate() {
        assert!(!page.text.contains("<script>alert") && !page.text.contains("<img src=x"), "page {at}: {}", page.text);
        seen += usize::from(page.text.contains("&lt;script&gt;alert"));
    }
    assert!(seen >= 6, "the texts stand on {seen} pages only");
}

#[test]
fn two_tabs_agree_and_a_reload_in_the_middle_of_a_job_shows_it() {
    let kit = Kit::begun();
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let head = kit.console.overview().unwrap().log.map_or_else(String::new, |log| log.head);
    kit.console.jobs.start(Work::Check, &head, move |progress| {
        progress(4, "reading the table");
        wait.lock().unwrap().recv().unwrap();
        Ok("<p>finished</p>".into())
    });
    for _ in 0..2 {
        let page = kit.get("/next").text;
        assert!(page.contains("data-job=\"check\"") && page.contains("The table is being checked"), "{page}");
    }
    assert_eq!(kit.get("/job/check").status, StatusCode::OK);
    go.send(()).unwrap();
    kit.console.jobs.wait(Work::Check);
    assert_eq!(kit.get("/job/check").status, StatusCode::NO_CONTENT);
    assert!(kit.get("/next").text.contains("<p>finished</p>") && kit.get("/next").text.contains("<p>finished</p>"));
}

#[test]
fn a_cancelled_rehearsal_leaves_nothing() {
    let kit = Kit::begun();
    kit.console.jobs.start(Work::Plan, "", |progress| {
        std::thread::sleep(Duration::from_millis(100));
        progress(1, "never");
        Ok(String::new())
    });
    assert_eq!(kit.post("/job/plan/cancel", &[]).status, StatusCode::SEE_OTHER);
    kit.console.jobs.wait(Work::Plan);
    assert!(matches!(kit.console.jobs.any(Work::Plan), Some(Standing::Cancelled)));
    assert!(!kit.folder.path().join("tacenda-plan.json").exists());
}

#[test]
fn a_tree_is_shown_without_rare_values_and_saved_only_if_it_can_be_used() {
    let kit = Kit::begun();
    let table = people(0..240) + "p9998,20,X,flu\n" + &"p9999,20,Y,flu\n".repeat(9);
    kit.drop_file("tables", "odd.csv", &table);
    let page = kit.get("/hierarchy?column=sex&table=dropped:2").text;
    assert!(page.contains("VALUES WITHOUT A PLACE") && page.contains("1 further values are too rare"), "{page}");
    assert!(page.contains(">Y</span>") && !page.contains(">X</span>"), "{page}");
    let fields = [("column", "sex"), ("table", "dropped:2"), ("rule", "bands"), ("width", "10"), ("what", "show")];
    assert!(kit.post("/hierarchy", &fields).text.contains("some values are not whole numbers"));
    let fields = [("column", "sex"), ("rule", "groups"), ("group:F", "known"), ("group:M", "known"), ("what", "show")];
    assert!(kit.post("/hierarchy", &fields).text.contains("F;known;*"));
    // The policy lists the values itself. A tree that cannot be used changes neither it nor the folder.
    let policy = || fs::read_to_string(kit.folder.path().join("tacenda.toml")).unwrap();
    let (before, file) = (policy(), kit.folder.path().join("hierarchies/sex.csv"));
    let fields = [("column", "sex"), ("text", "F;a;*\nF;b;*\n"), ("what", "save")];
    assert!(kit.post("/hierarchy", &fields).text.contains("error[P"));
    assert!(policy() == before && !file.exists());
    let text = "F;known;*\nM;known;*\nother;other;*\n";
    let fields = [("column", "sex"), ("text", text), ("what", "save")];
    assert_eq!(kit.post("/hierarchy", &fields).status, StatusCode::SEE_OTHER);
    assert!(policy().contains("hierarchy = \"hierarchies/sex.csv\"") && fs::read_to_string(&file).unwrap() == text);
    let page = kit.get("/hierarchy?column=sex").text;
    assert!(page.contains(">known</span>") && kit.get("/next").status == StatusCode::OK, "{page}");
    // After a release, a tree under which the series cannot go on is refused at once.
    kit.publish("dropped:1", "2026-Q1");
    let fields = [("column", "sex"), ("text", "F;a;*\nM;b;*\nother;b;*\n"), ("what", "save")];
    assert!(kit.post("/hierarchy", &fields).text.contains("error["));
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}

#[test]
fn a_result_names_its_table_and_what_was_typed_stays() {
    let kit = Kit::begun();
    kit.drop_file("tables", "q2.csv", &people(0..200));
    let fields =
        [("table", "dropped:2"), ("label", "2026-Q1"), ("setting", "age: grid"), ("one", "2"), ("other", "20")];
    let answer = kit.post("/next/check", &fields);
    let place = answer.headers[header::LOCATION].to_str().unwrap().to_string();
    let found = kit.done(Work::Check);
    assert!(found.contains("q2.csv") && !found.contains("q1.csv"), "{found}");
    let page = kit.get(&place).text;
    assert!(page.contains("name=\"label\" required maxlength=\"60\" autocomplete=\"off\" value=\"2026-Q1\""), "{page}");
    assert!(page.contains("check q2.csv") && page.contains("plan q2.csv --label 2026-Q1"), "{page}");
}

/// Every setting that costs something can be compared, and the policy stays as it is.
#[test]
fn two_settings_are_compared_whatever_they_are() {
    let kit = Kit::begun();
    let policy = fs::read(kit.folder.path().join("tacenda.toml")).unwrap();
    let compared = |setting: &str, one: &str, other: &str| {
        let fields = [("table", "dropped:1"), ("setting", setting), ("one", one), ("other", other)];
        assert_eq!(kit.post("/next/compare", &fields).status, StatusCode::SEE_OTHER, "{setting}");
        kit.done(Work::Compare)
    };
    let rows = |found: &str| found.split("<tr>").skip(2).map(String::from).collect::<Vec<String>>();
    for (setting, one, other) in
        [("m", "2", "5"), ("k", "2", "9"), ("age: grid", "2", "60"), ("age: weight", "0.01", "100")]
    {
        let found = compared(setting, one, other);
        let cells = |row: &String| row.split_once("</th>").map(|(_, cells)| cells.to_string());
        let found_rows = rows(&found);
        assert_eq!(found_rows.len(), 2, "{found}");
        assert_ne!(cells(&found_rows[0]), cells(&found_rows[1]), "{setting} makes no difference: {found}");
        assert!(!found.contains("colspan"), "{setting} was refused: {found}");
    }
    // What cannot be is an answer, with its reason.
    assert!(compared("age: grid", "2", "fortnight").contains("colspan"));
    assert_eq!(
        kit.post("/next/compare", &[("table", "dropped:1"), ("setting", "x")]).status,
        StatusCode::UNPROCESSABLE_ENTITY
    );
    kit.publish("dropped:1", "2026-Q1");
    assert!(compared("m", "2", "3").contains("colspan"), "a looser promise is refused");
    assert_eq!(fs::read(kit.folder.path().join("tacenda.toml")).unwrap(), policy);
}

#[test]
fn the_audit_page_remembers_what_the_columns_are() {
    let kit = Kit::new();
    kit.drop_file("audit", "r1.csv", &people(0..60));
    let columns = [
        ("role:age", "none"),
        ("role:sex", "quasi"),
        ("role:patient_id", "quasi"),
        ("role:diagnosis", "sensitive"),
        ("k", "7"),
        ("l", "3"),
    ];
    kit.post("/audit/run", &columns);
    kit.console.jobs.wait(Work::Audit);
    let page = kit.get("/audit").text;
    assert!(
        page.contains("audit r1.csv --quasi patient_id,sex --sensitive diagnosis --k 7 --l 3 -o audit.html"),
        "{page}"
    );
    let select = page.split("name=\"role:patient_id\"").nth(1).unwrap().split("</select>").next().unwrap();
    assert!(select.contains("value=\"quasi\" selected"), "{select}");
    assert!(page.contains("name=\"k\" min=\"1\" max=\"1000\" value=\"7\""), "{page}");
    kit.drop_file("truth", "t1.csv", &people(0..60));
    assert!(kit.get("/audit").text.contains("name=\"id\" autocomplete=\"off\" value=\"patient_id\""));
}

/// A key that is made on the page signs the next release, although nobody sits at the terminal.
#[test]
fn a_signing_key_is_made_on_the_page_and_signs() {
    let home = tempfile::tempdir().unwrap();
    let keys = || KeyFolder::at(&home.path().join("keys"));
    let kit = Kit::with(|settings| settings.project.keys = Some(keys()));
    kit.begin();
    let refused = |fields: &[(&str, &str)]| {
        assert_eq!(kit.post("/ledger/key", fields).status, StatusCode::UNPROCESSABLE_ENTITY, "{fields:?}");
        assert!(keys().public().unwrap().is_none(), "{fields:?}");
    };
    refused(&[]);
    refused(&[("passphrase", "one"), ("again", "other")]);
    refused(&[("passphrase", "one"), ("again", "one"), ("without", "yes")]);
    assert_eq!(kit.post("/ledger/key", &[("passphrase", " one "), ("again", " one ")]).status, StatusCode::SEE_OTHER);
    assert!(keys().has_passphrase().unwrap());
    let page = kit.get("/ledger").text;
    assert!(page.contains(keys().public().unwrap().unwrap().text()) && !page.contains(" one "), "{page}");
    // There is one key only.
    assert_eq!(kit.post("/ledger/key", &[("without", "yes")]).status, StatusCode::UNPROCESSABLE_ENTITY);
    kit.publish("dropped:1", "2026-Q1");
    assert!(kit.done(Work::Publish).contains("Signed by the key"));
    kit.post("/ledger/verify", &[]);
    assert!(kit.done(Work::Verify).contains("Signed by your key"));
    let closed = Kit::with(|settings| {
        settings.project.keys = Some(KeyFolder::at(&home.path().join("none")));
        settings.allow_publish = false;
    });
    assert_eq!(closed.post("/ledger/key", &[("without", "yes")]).status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(!home.path().join("none").exists());
}

/// Every page in every language has no text that the file lacks. What stays English is marked.
/// What the command says on standard error stands on the page where a person decides.
#[test]
fn what_to_know_before_publishing_stands_on_the_pages() {
    let home = tempfile::tempdir().unwrap();
    let (keys, anchors, earlier) = (home.path().join("keys"), home.path().join("anchors"), home.path().join("earlier"));
    let kit = Kit::with(|settings| {
        settings.project.keys = Some(KeyFolder::at(&keys));
        settings.project.anchors = Some(Anchors::at(&anchors));
    });
    let said = |words: &str| {
        ["/series", "/next"].map(|path| {
            let page = kit.get(path).text;
            assert_eq!(
                page.contains("BEFORE YOU PUBLISH"),
                page.contains("verdict open") && page.contains(words),
                "{page}"
            );
            page.contains(words)
        })
    };
    kit.begin();
    kit.publish("dropped:1", "2026-Q1");
    kit.judged();
    let unseen = "nothing on this machine remembers this series";
    assert_eq!(said(unseen), [false; 2]);
    fs::remove_dir_all(&anchors).unwrap();
    assert_eq!(said(unseen), [true; 2]);
    let copy = |from: &Path, to: &Path| {
        for name in [".tacenda", "releases"] {
            let _ = fs::remove_dir_all(to.join(name));
            fs::create_dir_all(to).unwrap();
            let copied = std::process::Command::new("cp").arg("-a").arg(from.join(name)).arg(to).status();
            assert!(copied.unwrap().success());
        }
    };
    copy(kit.folder.path(), &earlier);
    kit.drop_file("tables", "q2.csv", &people(30..270));
    kit.publish("dropped:2", "2026-Q2");
    kit.judged();
    assert_eq!(said(unseen), [false; 2], "it is remembered now");
    copy(&earlier, kit.folder.path());
    assert_eq!(said("L511: the ledger has"), [true; 2]);
}

#[test]
fn every_page_is_said_in_every_language() {
    let home = tempfile::tempdir().unwrap();
    let kit = Kit::with(|settings| settings.project.keys = Some(KeyFolder::at(home.path())));
    let mut pages: Vec<String> = PAGES.iter().map(|path| kit.get(path).text).collect();
    kit.drop_file("tables", "q1.csv", &people(0..240));
    kit.drop_file("audit", "r1.csv", &people(0..240));
    kit.drop_file("audit", "r2.csv", &people(0..200));
    kit.drop_file("truth", "t1.csv", &people(0..240));
    pages.extend(["/start", "/start?table=dropped:1", "/next", "/audit"].map(|path| kit.get(path).text));
    kit.begin();
    pages.extend(["/start", "/next", "/policy?saved=yes"].map(|path| kit.get(path).text));
    let by_hand = [("column", "sex"), ("rule", "groups"), ("group:F", "known"), ("what", "show")];
    pages.push(kit.post("/hierarchy", &by_hand).text);
    kit.post("/next/check", &[("table", "dropped:1")]);
    kit.post("/next/compare", &[("table", "dropped:1"), ("setting", "m"), ("one", "2"), ("other", "99")]);
    kit.post("/next/rehearse", &[("table", "dropped:1"), ("label", "2026-Q1")]);
    for work in [Work::Check, Work::Compare, Work::Plan] {
        kit.done(work);
    }
    pages.push(kit.get("/next").text);
    kit.publish("dropped:1", "2026-Q1");
    kit.drop_file("tables", "q2.csv", &people(30..270));
    pages.push(kit.get("/series").text);
    kit.publish("dropped:3", "2026-Q2");
    kit.judged();
    kit.post("/ledger/verify", &[]);
    kit.done(Work::Verify);
    kit.post("/audit/run", &[("role:age", "quasi"), ("role:sex", "quasi"), ("role:diagnosis", "sensitive")]);
    kit.console.jobs.wait(Work::Audit);
    pages.extend(PAGES.iter().chain(&["/release/2"]).map(|path| kit.get(path).text));
    pages.push(kit.post("/person", &[("key", "p0040"), ("truth", "dropped:1"), ("truth", "dropped:3")]).text);
    for language in [Language::German, Language::French] {
        let missing: BTreeSet<String> = pages.iter().flat_map(|page| translated(page, language).missing).collect();
        assert!(missing.is_empty(), "{} has no text for: {missing:#?}", language.word());
    }
    kit.post("/language", &[("language", "de")]);
    assert!(kit.get("/series").text.contains("<html lang=\"de\">"));
}
