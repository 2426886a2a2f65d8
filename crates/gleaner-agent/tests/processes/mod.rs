//! A keeper, a folder, and tasks that are scripts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use gleaner_agent::confine::{Limiter, Limits};
use gleaner_agent::keeper::{Confinement, Keeper, Minder, Order, ProgramEnd, Report, RunSpec, Signal, Usage};
use tempfile::TempDir;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_gleaner-processes");

/// Longer than anything takes that is going to happen at all.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Stage {
    pub(crate) keeper: Keeper,
    pub(crate) minder: Minder,
    pub(crate) folder: TempDir,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self::with_program(Path::new(PROGRAM))
    }

    pub(crate) fn with_program(program: &Path) -> Self {
        Self::with(program, Stdio::null())
    }

    /// Whose keeper and minders hold something.
    pub(crate) fn with(program: &Path, held: Stdio) -> Self {
        let keeper = Keeper::start(program, held).unwrap();
        let minder = keeper.minder().unwrap();
        Self { keeper, minder, folder: TempDir::new().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A script that runs as the agent's user, in the stage's folder.
    pub(crate) fn own(&self, script: &str) -> RunSpec {
        RunSpec {
            argv: ["/bin/sh", "-c", script].map(str::to_owned).to_vec(),
            env: Vec::new(),
            cwd: self.folder.path().to_owned(),
            stdin: None,
            stdout: self.path("out"),
            stderr: self.path("err"),
            limits: Limits::default(),
            limiter: Limiter::default(),
            confinement: Confinement::Own,
        }
    }

    pub(crate) fn start(&self, spec: RunSpec) {
        self.minder.order(&Order::Run { id: 1, spec: Box::new(spec) }).unwrap();
    }

    pub(crate) fn signal(&self, signal: Signal) {
        self.minder.order(&Order::Signal { id: 1, signal }).unwrap();
    }

    pub(crate) fn end(&mut self) -> (ProgramEnd, Usage) {
        loop {
            if let Report::Exited { outcome, usage, .. } = self.minder.report().unwrap() {
                return (outcome, usage);
            }
        }
    }

    pub(crate) fn run(&mut self, spec: RunSpec) -> (ProgramEnd, Usage) {
        self.start(spec);
        self.end()
    }

    /// What a script wrote, without the last line's end.
    pub(crate) fn said(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default().trim_end().to_owned()
    }
}

/// Waits until something is so.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The state of a process, as in `/proc/PID/stat`, if it is there.
pub(crate) fn state(pid: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

/// Whether a process runs, or could.
pub(crate) fn lives(pid: u32) -> bool {
    state(pid).is_some_and(|state| state != 'Z')
}
