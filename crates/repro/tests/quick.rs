//! Do the papers' shapes show in the quick mode, on made-up people? Reads what the program writes.

use std::fs;
use std::path::Path;
use std::process::Command;

/// A table the program wrote.
struct Sheet {
    name: String,
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Sheet {
    fn read(folder: &Path, name: &str) -> Sheet {
        let text = fs::read_to_string(folder.join(format!("{name}.csv"))).unwrap();
        let mut lines = text.lines().map(|line| line.replace('"', "").replace(", ", "; "));
        let cells = |line: String| line.split(',').map(String::from).collect::<Vec<String>>();
        Sheet { name: name.into(), header: cells(lines.next().unwrap()), rows: lines.map(cells).collect() }
    }

    fn column(&self, name: &str) -> Vec<f64> {
        let place = self.header.iter().position(|column| column == name);
        let place = place.unwrap_or_else(|| panic!("{}: no column {name} in {:?}", self.name, self.header));
        self.rows.iter().filter_map(|row| row[place].parse().ok()).collect()
    }
}

fn all(values: &[f64], holds: impl Fn(f64) -> bool) -> bool {
    !values.is_empty() && values.iter().all(|&value| holds(value))
}

fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::MIN, f64::max)
}

#[test]
fn the_shapes_of_the_papers_show_on_made_up_people() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path();
    let output = Command::new(env!("CARGO_BIN_EXE_repro"))
        .args(["all", "--quick", "--data", "no such folder", "--out"])
        .arg(out)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let sheet = |name: &str| Sheet::read(out, name);

    // 000: independent releases single people out, the tree does not, and arrivals need cohorts.
    for figure in ["000-fig04", "000-fig13", "000-fig14"] {
        let safe = sheet(figure);
        assert!(most(&safe.column("independent Mondrian")) < 100.0, "{figure}");
        assert!(all(&safe.column("incremental tree"), |safe| safe == 100.0), "{figure}");
        assert!(safe.column("incremental tree; arrivals known").iter().any(|&safe| safe < 100.0), "{figure}");
        assert!(all(&safe.column("cohort-safe; arrivals known"), |safe| safe == 100.0), "{figure}");
    }

    // 001: the optimiser never makes it worse, and ours loses less than the paper's static clustering.
    let loss = sheet("001-fig06a");
    for (before, after) in loss.column("static; before").iter().zip(loss.column("static; after")) {
        assert!(after <= *before);
    }
    let loss = sheet("001-fig04a");
    assert!(most(&loss.column("ours; from scratch")) < most(&loss.column("static; optimised")));

    // 002: what the paper's definitions miss is found, and the safe mode has none of it.
    let breached = sheet("002-new-differences");
    assert!(most(&breached.column("the paper's algorithm")) > 0.0);
    assert!(all(&breached.column("safe mode"), |people| people == 0.0));
    assert!(all(&sheet("002-fig01").column("the paper's algorithm"), |people| people == 0.0));

    // 003: l-diversity betrays people, m-invariance does not and needs few counterfeits.
    assert!(most(&sheet("003-fig04a").column("l = 2")) > 0.0);
    let results = fs::read_to_string(out.join("RESULTS.md")).unwrap();
    assert!(results.contains("0 people have fewer than 10 candidates after all releases"));

    // 004: less distortion than plain k-anonymity.
    let distortion = sheet("004-fig03");
    assert!(most(&distortion.column("XYD (categories)")) < most(&distortion.column("KAD (categories)")));

    // Nobody takes these for real numbers, and every part is there.
    assert!(results.contains("MADE-UP") && results.contains("## Peers") && results.contains("## Total"));
    for entry in fs::read_dir(out).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "csv") {
            assert!(path.with_extension("svg").exists() && path.with_extension("png").exists(), "{}", path.display());
        }
    }
}
