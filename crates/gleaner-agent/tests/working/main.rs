//! An agent works for a coordinator, over a real connection and with real programs.
//!
//! A program of its own: it starts real processes, and waits for each no longer than some time.

#[path = "../coordinator/mod.rs"]
mod coordinator;
mod leaving;
mod links;
mod runs;
mod signed;
mod transfers;

use coordinator::{id_of, script};
use gleaner_units::RunId;
use gleaner_wire::job::{Checkpointing, Needs};
use gleaner_wire::session::{End, Hello, Run};
use std::path::Path;
use std::time::Duration;

/// Counts up from where it stopped, in a file that is always whole.
pub(crate) const COUNT: &str = r#"
cd "$GLEANER_CHECKPOINT"
n=$(cat count 2>/dev/null || echo 0)
echo "from $n, resumed ${GLEANER_RESUMED:-0}"
while :; do
    n=$((n + 1)); echo $n > new; mv new count
    test $n -ge ${LIMIT:-1000000} && exit 0
    sleep 0.01
done"#;

pub(crate) fn counting(task: usize, number: u32) -> Run {
    let checkpoint = Checkpointing { folder: true, exit_code: None, grace_s: 5.0 };
    Run { checkpoint, ..script(id_of(task, number), COUNT) }
}

pub(crate) fn text(end: &End) -> String {
    String::from_utf8(end.stdout.bytes.clone()).unwrap()
}

pub(crate) fn runs_of(hello: &Hello) -> Vec<RunId> {
    hello.running.iter().map(|had| had.run).collect()
}

pub(crate) fn until_gone(pid: u32) {
    while Path::new(&format!("/proc/{pid}")).exists() {
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The process id in a file, once it is there.
pub(crate) fn wait_for(path: &Path) -> u32 {
    loop {
        match std::fs::read_to_string(path) {
            Ok(text) => return text.trim().parse().unwrap(),
            Err(_) => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// The files of a tar archive.
pub(crate) fn files(archive: &[u8]) -> Vec<(String, String)> {
    let mut archive = tar::Archive::new(archive);
    let entries = archive.entries().unwrap().map(|entry| {
        let entry = entry.unwrap();
        let path = entry.path().unwrap().display().to_string();
        (path, std::io::read_to_string(entry).unwrap())
    });
    entries.collect()
}

pub(crate) fn needs_disk(disk: u64) -> Needs {
    Needs { disk, ..Needs::default() }
}
