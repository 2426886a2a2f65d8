//! A recorded machine, unpacked into a folder that is gone after the test.

use std::fs::{self, File, FileTimes};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use gleaner_agent::probes::{Domain, Moment, Observation, Ours, Root, Sampler};
use gleaner_units::Time;

pub(crate) struct Tree(tempfile::TempDir);

/// The wall clock of all samples.
pub(crate) fn wall() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_hours(500_000)
}

impl Tree {
    /// The tree of that name: after each line `=== PATH` the file's text, to the next such line.
    pub(crate) fn unpack(name: &str) -> Self {
        let packed = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/trees/{name}.txt"));
        let packed = fs::read_to_string(packed).unwrap();
        let tree = Self(tempfile::tempdir().unwrap());
        for file in packed.split("=== ").skip(1) {
            let (path, text) = file.split_once('\n').unwrap();
            tree.write(path, text);
        }
        tree
    }

    pub(crate) fn root(&self) -> Root {
        Root::new(self.0.path())
    }

    /// The machine goes on: a file now says something else.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let file = self.0.path().join(path.trim_start_matches('/'));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    /// Somebody typed in this terminal so many seconds ago.
    pub(crate) fn type_in(&self, terminal: &str, seconds_ago: u64) {
        let file = File::open(self.0.path().join(terminal.trim_start_matches('/'))).unwrap();
        let typed = wall() - Duration::from_secs(seconds_ago);
        file.set_times(FileTimes::new().set_accessed(typed)).unwrap();
    }

    pub(crate) fn sampler(&self, domain: Domain) -> Sampler {
        Sampler::new(domain, self.0.path())
    }

    /// The first sample of this machine.
    pub(crate) fn observe(&self) -> Observation {
        let domain = Domain::detect(&self.root()).unwrap();
        self.sampler(domain).sample(at(0.0), Ours::of(&[]))
    }

    /// An error's text without the folder that the tree happens to lie in.
    pub(crate) fn show(&self, error: &dyn std::error::Error) -> String {
        error.to_string().replace(self.0.path().to_str().unwrap(), "")
    }
}

pub(crate) fn at(seconds: f64) -> Moment {
    Moment { steady: Time::from_seconds(seconds).unwrap(), wall: wall() }
}
