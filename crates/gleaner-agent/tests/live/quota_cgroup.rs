//! A cgroup with a CPU quota that is gone after the test.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

pub(crate) struct QuotaCgroup {
    name: String,
    folders: Vec<PathBuf>,
}

impl QuotaCgroup {
    /// One with a quarter of a core; or why this machine has none for us, said on standard error.
    pub(crate) fn quarter(test: &str) -> Option<Self> {
        let name = format!("gleaner-{test}-{}", std::process::id());
        let made = Self::v1(&name).or_else(|v1| Self::v2(&name).map_err(|v2| format!("{v1}; {v2}")));
        made.inspect_err(|reason| {
            eprintln!("SKIPPED {test}: no cgroup with a CPU quota can be made: {reason}");
        })
        .ok()
    }

    /// The path in the hierarchies.
    pub(crate) fn path(&self) -> String {
        format!("/{}", self.name)
    }

    /// A command that runs inside of it, with the arguments that are added.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new("sh");
        let enter: String =
            self.folders.iter().map(|f| format!("echo $$ > {}/cgroup.procs && ", f.display())).collect();
        command.arg("-c").arg(format!("{enter} exec \"$0\" \"$@\"")).arg(program);
        command
    }

    fn v1(name: &str) -> Result<Self, String> {
        let folders =
            ["cpu", "cpuacct"].map(|controller| Path::new("/sys/fs/cgroup").join(controller).join(name));
        let mut made = Self { name: name.to_owned(), folders: Vec::new() };
        for folder in folders {
            made.make(folder)?;
        }
        made.set("cpu.cfs_period_us", "100000")?;
        made.set("cpu.cfs_quota_us", "25000")?;
        Ok(made)
    }

    fn v2(name: &str) -> Result<Self, String> {
        let mut made = Self { name: name.to_owned(), folders: Vec::new() };
        made.make(Path::new("/sys/fs/cgroup").join(name))?;
        made.set("cpu.max", "25000 100000")?;
        Ok(made)
    }

    fn make(&mut self, folder: PathBuf) -> Result<(), String> {
        // One mount may hold both controllers under two names.
        if !folder.exists() {
            fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
            self.folders.push(folder);
        }
        Ok(())
    }

    fn set(&self, file: &str, value: &str) -> Result<(), String> {
        let file = self.folders[0].join(file);
        // Without `create`: an ordinary folder must not look like a cgroup.
        let opened = fs::OpenOptions::new().write(true).open(&file);
        let written = opened.and_then(|mut opened| std::io::Write::write_all(&mut opened, value.as_bytes()));
        written.map_err(|error| format!("{}: {error}", file.display()))
    }
}

impl Drop for QuotaCgroup {
    fn drop(&mut self) {
        for folder in &self.folders {
            // The kernel takes a moment to forget a process that has ended.
            for _ in 0..50 {
                if fs::remove_dir(folder).is_ok() {
                    break;
                }
                thread::sleep(Duration::from_millis(20));
            }
        }
    }
}
