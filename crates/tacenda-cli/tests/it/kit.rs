//! A project in a temporary folder, and the binary to run in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, RwLock};
use tacenda::ingest;
use tacenda::ledger::{NewProject, RealDisk, Store};
use tacenda::model::Seed;
use tempfile::TempDir;

/// A process that is being started holds copies of all open files for a moment, the locks of projects that
/// other tests are setting up among them: the two do not happen at once.
static STARTING: RwLock<()> = RwLock::new(());

/// A project folder that is removed at the end.
pub struct TestProject {
    pub folder: TempDir,
    /// What the command remembers outside of the project, and the user's keys.
    pub state: TempDir,
}

/// How a run ended.
#[derive(Debug)]
pub struct Ended {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl TestProject {
    /// An empty folder.
    pub fn empty() -> TestProject {
        TestProject { folder: tempfile::tempdir().unwrap(), state: tempfile::tempdir().unwrap() }
    }

    /// A folder with the given files.
    pub fn with(files: &[(&str, &str)]) -> TestProject {
        let project = TestProject::empty();
        for (name, text) in files {
            project.write(name, text);
        }
        project
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.file(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).unwrap()
    }

    /// Sets up the ledger with a seed that every run shares, so that releases can be compared byte by byte.
    pub fn fix_seed(&self) {
        let _alone = STARTING.write().unwrap();
        let loaded = ingest::read_policy(&self.file("tacenda.toml")).unwrap();
        let new = NewProject {
            series: &loaded.policy.series.name,
            seed: Seed([42; 32]),
            wrapped_key: None,
            policy_digest: &loaded.digest,
            policy_canonical: &ingest::Remembered::of(&loaded.policy).write(),
            at: "2026-01-01T00:00:00Z",
        };
        Store::init(Arc::new(RealDisk), self.path(), new).unwrap();
    }

    /// The command, in this folder.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tacenda"));
        command.args(words).current_dir(self.path());
        command.env("NO_COLOR", "1").env("XDG_STATE_HOME", self.state.path());
        command.env("XDG_CONFIG_HOME", self.state.path()).env_remove("TACENDA_PASSPHRASE");
        command
    }

    /// Runs the command in this folder.
    pub fn run(&self, words: &[&str]) -> Ended {
        start(self.command(words))
    }

    /// Runs a script in this folder, as a person would who has the command installed.
    pub fn shell(&self, script: &str, variables: &[(&str, &str)]) -> Ended {
        let mut command = Command::new("bash");
        let folder = Path::new(env!("CARGO_BIN_EXE_tacenda")).parent().unwrap();
        let path = std::env::join_paths([folder, Path::new("/usr/bin"), Path::new("/bin")]).unwrap();
        command.args(["-c", script]).current_dir(self.path()).env_clear();
        command.env("PATH", path).env("HOME", self.state.path()).env("LC_ALL", "C.UTF-8").env("NO_COLOR", "1");
        command.envs(variables.iter().copied());
        start(command)
    }

    /// Runs the command, which must end well.
    pub fn ok(&self, words: &[&str]) -> String {
        let ended = self.run(words);
        assert_eq!(ended.code, 0, "tacenda {words:?}\n{}\n{}", ended.stdout, ended.stderr);
        ended.stdout
    }

    /// Runs the command, which must fail with this exit code and this error code.
    pub fn fails(&self, words: &[&str], exit: i32, code: &str) -> Ended {
        let ended = self.run(words);
        assert_eq!(ended.code, exit, "tacenda {words:?}\n{}\n{}", ended.stdout, ended.stderr);
        assert!(ended.stderr.contains(code), "{code} not in:\n{}", ended.stderr);
        ended
    }
}

/// Starts a process and waits for its end.
fn start(mut command: Command) -> Ended {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = {
        let _started = STARTING.read().unwrap();
        command.spawn().unwrap()
    };
    Ended::of(child.wait_with_output().unwrap())
}

impl Ended {
    pub fn of(output: Output) -> Ended {
        Ended {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// A small hospital: enough people of six diagnoses for m = 2 and 3.
pub const POLICY: &str = r#"policy = 1

[series]
name    = "ward-stays"
title   = "Inpatient stays"
contact = "steward@hospital.example"

[columns]
patient_id = { role = "identifier" }
full_name  = { role = "drop" }
age        = { role = "quasi", type = "integer", domain = [0, 120] }
sex        = { role = "quasi", type = "category", values = ["F", "M", "X"] }
diagnosis  = { role = "sensitive", type = "category" }

[promise]
model = "m-invariance"
m     = 2

[counterfeits]
max_share = 0.5
[withheld]
max_share = 0.5
"#;

/// A table for [`POLICY`]: `people` patients from number `first` on.
pub fn patients(first: u32, people: u32) -> String {
    let diagnoses = ["flu", "gastritis", "dyspepsia", "bronchitis", "asthma", "migraine"];
    let mut text = String::from("patient_id,full_name,age,sex,diagnosis\n");
    for id in first..first + people {
        let age = 18 + id * 7 % 70;
        let sex = ["F", "M"][(id % 2) as usize];
        let diagnosis = diagnoses[(id * 5 % 6) as usize];
        text.push_str(&format!("p{id},Name {id},{age},{sex},{diagnosis}\n"));
    }
    text
}
