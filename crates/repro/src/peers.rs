//! Other tools on the same file in the same run: time, memory, discernability, and the share of values left open.
//!
//! Python peers are installed from PyPI into a virtual environment of their own below `target`. Where there is no
//! Python, no network or no real Adult file, they are skipped, and the results say so. Whatever a tool publishes, it is
//! measured here as if with the smallest regions around its groups, which flatters those that publish more than that.

use crate::data;
use crate::data::Data;
use crate::figure::{Axis, Figure, Line};
use crate::results::{Claim, FigureReport};
use crate::series::OwnSeries;
use crate::settings::Settings;
use anyhow::{Context, Result, anyhow};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tacenda::model::{RecordKey, Row, Span};
use tacenda::promise::{IncrementalKAnonymity, KAnonymity, SeriesPromise};

const ADULT: [&str; 8] =
    ["age", "education-num", "workclass", "marital-status", "occupation", "race", "sex", "native-country"];

const K: u32 = 10;

/// The script that runs one peer.
const SCRIPT: &str = include_str!("../peers/peers.py");

/// The peers, and what they do.
const PEERS: [(&str, &str); 2] =
    [("anonypy", "anonypy (Mondrian)"), ("anjana", "anjana (full domain, 5 % suppressed)")];

/// How long a peer may take.
const PATIENCE: Duration = Duration::from_secs(1_500);

/// What one tool gives.
struct Measured {
    name: String,
    cpu: f64,
    peak: Option<f64>,
    discernability: f64,
    open: f64,
}

/// Runs our policies and every peer there is.
pub fn run(settings: &Settings) -> Result<Vec<FigureReport>> {
    let raw = data::adult(settings, true)?;
    let data = raw.data(ADULT.map(|name| raw.column(name)).into(), None);
    let data = if settings.quick { sample(&data) } else { data };
    let mut measured = ours(&data);
    let mut skipped = Vec::new();
    match environment(settings) {
        Err(error) => skipped.push(format!("all Python peers: {error}")),
        Ok((python, folder)) => {
            for (tool, name) in PEERS {
                println!("peers: {tool}");
                match peer(settings, &python, &folder, &data, tool, name) {
                    Ok(one) => measured.push(one),
                    Err(error) => skipped.push(format!("{tool}: {error}")),
                }
            }
        }
    }
    Ok(tell(&data, &measured, &skipped))
}

fn sample(data: &Data) -> Data {
    let rows = data.shuffled(1);
    Data { table: data.some(&rows[..2_000]), ..data.clone() }
}

/// Our policies, each one release.
fn ours(data: &Data) -> Vec<Measured> {
    let cases: [(&str, SeriesPromise); 3] = [
        ("ours: k-anonymity", KAnonymity::new(K).into()),
        ("ours: plain k-member", KAnonymity { optimise: false, ..KAnonymity::new(K) }.into()),
        ("ours: incremental, cohorts", IncrementalKAnonymity::new(K).into()),
    ];
    let one = |(name, promise): (&str, SeriesPromise)| {
        println!("peers: {name}");
        forget_peak();
        let step = OwnSeries::new(&data.schema, promise).publish(&data.table).passed();
        let groups: Vec<Vec<Row>> = (0..step.release.group_count())
            .map(|group| step.release.group_rows(group).filter_map(|row| step.membership.person(row)).collect())
            .collect();
        Measured { name: name.into(), cpu: step.spent.cpu, peak: peak(), ..judge(data, &groups) }
    };
    cases.into_iter().map(one).collect()
}

/// Discernability and the mean share of values left open, rows without a group counted as lost.
fn judge(data: &Data, groups: &[Vec<Row>]) -> Measured {
    let (mut open, mut squares, mut placed) = (0.0, 0.0, 0usize);
    for rows in groups {
        for (at, quasi) in data.schema.quasi.iter().enumerate() {
            let codes = rows.iter().map(|row| Span::exact(data.table.quasi(at)[row.index()]));
            let span = codes.reduce(Span::join).expect("a group has people");
            open += quasi.openness(quasi.cover(span)) * rows.len() as f64;
        }
        squares += (rows.len() * rows.len()) as f64;
        placed += rows.len();
    }
    let all = data.table.len();
    let lost = all - placed;
    open += (lost * data.schema.quasi.len()) as f64;
    Measured {
        name: String::new(),
        cpu: 0.0,
        peak: None,
        discernability: squares + (lost * all) as f64,
        open: 100.0 * open / (all * data.schema.quasi.len()) as f64,
    }
}

/// Starts the count of the most memory anew, where the system can.
fn forget_peak() {
    // Without it the peak is that of everything this run has done so far: too high, and said so.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// The most memory this process held since, in megabytes, where the system says.
fn peak() -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kilobytes| kilobytes / 1024.0)
}

/// The Python of a virtual environment with the peers, and the data folder.
fn environment(settings: &Settings) -> Result<(PathBuf, PathBuf)> {
    if settings.quick {
        return Err(anyhow!("not in quick mode"));
    }
    let folder = settings.data.clone().filter(|folder| folder.join("adult.csv").exists());
    let folder = folder.ok_or_else(|| anyhow!("no real Adult file"))?;
    let home = Path::new("target/peers-venv");
    let python = home.join("bin/python");
    if !python.exists() {
        run_quietly(Command::new("python3").args(["-m", "venv"]).arg(home))?;
    }
    let packages = ["anonypy", "anjana", "pandas"];
    run_quietly(
        Command::new(&python).args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(packages),
    )?;
    Ok((python, folder))
}

fn run_quietly(command: &mut Command) -> Result<()> {
    let output = command.stdin(Stdio::null()).output().context("cannot start Python")?;
    let text = String::from_utf8_lossy(&output.stderr);
    let last = text.lines().last().unwrap_or("it failed").to_string();
    if output.status.success() { Ok(()) } else { Err(anyhow!("{last}")) }
}

fn peer(settings: &Settings, python: &Path, folder: &Path, data: &Data, tool: &str, name: &str) -> Result<Measured> {
    let (script, groups) = (settings.out.join("peers.py"), settings.out.join("peers-groups.txt"));
    fs::write(&script, SCRIPT)?;
    let mut child = Command::new(python)
        .arg(&script)
        .arg(tool)
        .arg(folder)
        .arg(K.to_string())
        .arg(&groups)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let start = Instant::now();
    while child.try_wait()?.is_none() {
        if start.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            return Err(anyhow!("not done after {} s", PATIENCE.as_secs()));
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    let output = child.wait_with_output()?;
    fs::remove_file(&script)?;
    let text = String::from_utf8_lossy(&output.stdout);
    let json: serde_json::Value =
        serde_json::from_str(text.lines().last().unwrap_or_default()).map_err(|_| anyhow!("it failed"))?;
    let read = fs::read_to_string(&groups)?;
    fs::remove_file(&groups)?;
    let row = |id: &str| data.table.find(RecordKey::of(&data::KEY, id.as_bytes()));
    let groups: Option<Vec<Vec<Row>>> = read.lines().map(|line| line.split(' ').map(row).collect()).collect();
    let groups = groups.ok_or_else(|| anyhow!("it names people who are not there"))?;
    let number = |key: &str| json[key].as_f64();
    Ok(Measured {
        name: name.into(),
        cpu: number("cpu").unwrap_or(0.0),
        peak: number("peak_mb"),
        ..judge(data, &groups)
    })
}

fn tell(data: &Data, measured: &[Measured], skipped: &[String]) -> Vec<FigureReport> {
    let names: Vec<&str> = measured.iter().map(|one| one.name.as_str()).collect();
    let short: Vec<String> = names.iter().map(|name| name.split(" (").next().unwrap_or(name).to_string()).collect();
    let short: Vec<&str> = short.iter().map(String::as_str).collect();
    let skipped = if skipped.is_empty() { String::new() } else { format!(" SKIPPED: {}.", skipped.join("; ")) };
    let memory: Vec<String> =
        measured.iter().filter_map(|one| one.peak.map(|peak| format!("{} {peak:.0} MB", one.name))).collect();
    let setting = format!(
        "{}; {} rows, 8 quasi attributes, k = {K}. Peak memory of the process: {} (ours: with the tables this run still \
         holds).{skipped}",
        data.origin,
        data.table.len(),
        memory.join(", ")
    );
    let figure = |name: &str, title: &str, y: Axis, value: &dyn Fn(&Measured) -> f64| {
        let points = measured.iter().enumerate().map(|(at, one)| (at as f64, value(one))).collect();
        let best = &measured[0];
        let ratios: Vec<String> =
            measured[1..].iter().map(|one| format!("{} {:.2}", one.name, value(one) / value(best))).collect();
        FigureReport {
            figure: Figure {
                name: name.into(),
                title: title.into(),
                x: Axis::named("tool", &short),
                y,
                lines: vec![Line::new(title, points)],
            },
            of: "Peers".into(),
            setting: setting.clone(),
            claims: vec![Claim::new(format!("in multiples of our k-anonymity: {}.{skipped}", ratios.join(", ")))],
        }
    };
    vec![
        figure("peers-time", "CPU time", Axis::log("CPU seconds"), &|one| one.cpu),
        figure("peers-discernability", "Discernability", Axis::log("discernability"), &|one| one.discernability),
        figure("peers-open", "Share of values left open (NCP)", Axis::of("%"), &|one| one.open),
    ]
}
