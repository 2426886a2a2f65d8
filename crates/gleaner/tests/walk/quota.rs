//! A cgroup with a CPU quota: what a machine's speed is measured in, where its owner's programs run, and the list of all
//! processes that a test must answer for.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const NEEDED: &str = "the walk gives each agent a cgroup with a CPU quota: run it as root, where /sys/fs/cgroup can be \
                      written to and has the controllers cpu and cpuacct (version 1) or cpu (version 2)";
const ROOT: &str = "/sys/fs/cgroup";
const PERIOD_US: u32 = 100_000;
/// How long the kernel may take to end processes that were killed.
const PATIENCE: Duration = Duration::from_secs(10);

/// Removed when dropped, and whatever still runs in it killed.
#[derive(Debug)]
pub(crate) struct Quota {
    folders: Vec<PathBuf>,
}

impl Quota {
    /// `name` must be this test's alone; `percent` of one core.
    pub(crate) fn new(name: &str, percent: u32) -> Self {
        let is_v2 = Path::new(ROOT).join("cgroup.controllers").exists();
        let places: &[&str] = if is_v2 { &[""] } else { &["cpu", "cpuacct"] };
        let folders = places.iter().map(|place| Path::new(ROOT).join(place).join(name));
        let mut made = Self { folders: Vec::new() };
        for folder in folders.filter(|folder| !folder.exists()) {
            fs::create_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}; {NEEDED}", folder.display()));
            made.folders.push(folder);
        }
        let quota_us = PERIOD_US / 100 * percent;
        if is_v2 {
            made.set("cpu.max", &format!("{quota_us} {PERIOD_US}"));
        } else {
            made.set("cpu.cfs_period_us", &PERIOD_US.to_string());
            made.set("cpu.cfs_quota_us", &quota_us.to_string());
        }
        made
    }

    /// The start of a shell's command line that enters it.
    pub(crate) fn entrance(&self) -> String {
        self.folders.iter().map(|folder| format!("echo $$ > {}/cgroup.procs && ", folder.display())).collect()
    }

    /// All processes in it and below.
    pub(crate) fn processes(&self) -> BTreeSet<u32> {
        let below = self.folders.iter().flat_map(|folder| tree(folder));
        let lists = below.map(|folder| fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default());
        lists.flat_map(|list| list.lines().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>()).collect()
    }

    fn set(&self, file: &str, value: &str) {
        let file = self.folders[0].join(file);
        // Without `create`: an ordinary folder must not look like a cgroup.
        let written = fs::OpenOptions::new()
            .write(true)
            .open(&file)
            .and_then(|mut opened| opened.write_all(value.as_bytes()));
        written.unwrap_or_else(|error| panic!("{}: {error}; {NEEDED}", file.display()));
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        let until = Instant::now() + PATIENCE;
        while !self.processes().is_empty() && Instant::now() < until {
            self.processes().into_iter().for_each(crate::processes::kill);
            std::thread::sleep(Duration::from_millis(10));
        }
        for folder in self.folders.iter().flat_map(|folder| tree(folder)) {
            while fs::remove_dir(&folder).is_err() && folder.exists() && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    }
}

/// A folder and all below it, the innermost first.
fn tree(folder: &Path) -> Vec<PathBuf> {
    let inner = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> = inner.filter(|path| path.is_dir()).flat_map(|path| tree(&path)).collect();
    found.push(folder.to_owned());
    found
}
