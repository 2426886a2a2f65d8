//! A folder with a scenario that is right, for tests to change one thing in.

use gleaner_workload::{InputError, Scenario};
use std::path::Path;
use tempfile::TempDir;

pub(crate) const SCENARIO: &str = r#"[grid]
machines = "machines.csv"
owner_load = "owner_load.csv"

[work]
tasks = "tasks.csv"
weights = { cpu = 2e-5, disk = 0.1, net = 0.1 }

[policy]
preset = "bertasi/greedy"
"#;
pub(crate) const MACHINES: &str = "id,cpu,disk,net\nm0,4,100,250\nm1,2,100,250\nm2,1,800,250\n";
pub(crate) const LOADS: &str = "time_s,machine,load\n2,m2,0.95\n";
pub(crate) const TASKS: &str =
    "id,arrival_s,length,cpu,disk,net\nt0,0,200000,1,0,0\nt1,0.5,50000,0.7,0.1,0.2\n";

pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        let folder = Self(TempDir::new().expect("a folder"));
        let files = [
            ("scenario.toml", SCENARIO),
            ("machines.csv", MACHINES),
            ("owner_load.csv", LOADS),
            ("tasks.csv", TASKS),
        ];
        files.into_iter().fold(folder, |folder, (name, text)| folder.with(name, text))
    }

    pub(crate) fn with(self, name: &str, text: impl AsRef<[u8]>) -> Self {
        std::fs::write(self.path().join(name), text).expect("a file is written");
        self
    }

    pub(crate) fn without(self, name: &str) -> Self {
        std::fs::remove_file(self.path().join(name)).expect("a file is removed");
        self
    }

    /// The scenario with `old` replaced by `new`.
    pub(crate) fn edited(self, old: &str, new: &str) -> Self {
        assert!(SCENARIO.contains(old), "{old}");
        self.with("scenario.toml", SCENARIO.replace(old, new))
    }

    pub(crate) fn load(&self, overrides: &[&str]) -> Result<Scenario, InputError> {
        let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
        Scenario::load(self.path().join("scenario.toml"), &overrides)
    }

    /// The error as it is printed, its paths relative to the folder.
    #[track_caller]
    pub(crate) fn check_error(&self, overrides: &[&str], expected: &str) {
        let error = self.load(overrides).expect_err(expected).to_string();
        assert_eq!(error.replace(&format!("{}/", self.path().display()), ""), expected);
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}
