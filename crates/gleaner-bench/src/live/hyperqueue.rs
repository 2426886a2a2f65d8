//! `HyperQueue`, if this machine has it: the program `hq`, or else its Python package.

use super::{Bench, LiveError};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The Python package looks for the end about once a second, so a run must be long.
const TASKS: u32 = 10_000;
const SCRIPT: &str = include_str!("hyperqueue.py");
/// How long server and worker take to find each other.
const START: Duration = Duration::from_secs(2);

/// Runs of `/bin/true` a second; or what would have to be installed.
pub(super) fn rate(bench: &Bench, cores: u32) -> Result<Result<f64, String>, LiveError> {
    let folder = TempDir::with_prefix_in("gleaner-bench-hq-", &bench.scratch)
        .map_err(LiveError::system("a folder for HyperQueue"))?;
    if works(Command::new("hq").arg("--version")) {
        return by_program(folder.path(), cores).map(Ok);
    }
    if works(Command::new("python3").args(["-c", "import hyperqueue"])) {
        return by_package(folder.path(), cores).map(Ok);
    }
    Ok(Err("HyperQueue is not here: put `hq` into PATH, or `pip install hyperqueue` for python3".to_owned()))
}

fn works(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

fn by_package(folder: &Path, cores: u32) -> Result<f64, LiveError> {
    let mut command = Command::new("python3");
    std::fs::write(folder.join("rate.py"), SCRIPT).map_err(LiveError::system("HyperQueue's script"))?;
    command.arg(folder.join("rate.py")).arg(folder).args([TASKS.to_string(), cores.to_string()]);
    let output = command.stdin(Stdio::null()).output().map_err(LiveError::system("python3"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let seconds = text.lines().find_map(|line| line.strip_prefix("SECONDS ")?.parse::<f64>().ok());
    seconds.map(|seconds| f64::from(TASKS) / seconds).ok_or_else(|| LiveError::Command {
        command: "HyperQueue's Python package".to_owned(),
        status: output.status.to_string(),
        said: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
    })
}

fn by_program(folder: &Path, cores: u32) -> Result<f64, LiveError> {
    let hq = || {
        let mut command = Command::new("hq");
        command.env("HQ_SERVER_DIR", folder).stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(Stdio::null());
        command
    };
    let cores = cores.to_string();
    let _server = Ending::of(hq().args(["server", "start"]))?;
    thread::sleep(START);
    let _worker = Ending::of(hq().args(["worker", "start", "--cpus", &cores]))?;
    thread::sleep(START);
    let array = format!("1-{TASKS}");
    let mut submit = hq();
    submit.args(["submit", "--array", &array, "--stdout", "none", "--stderr", "none", "--wait", "--"]);
    let from = Instant::now();
    let status = submit.arg("/bin/true").status().map_err(LiveError::system("hq submit"))?;
    let seconds = from.elapsed().as_secs_f64();
    if !status.success() {
        let (command, status) = ("hq submit".to_owned(), status.to_string());
        return Err(LiveError::Command { command, status, said: String::new() });
    }
    Ok(f64::from(TASKS) / seconds)
}

/// A process that is killed when it is not needed any more.
struct Ending(Child);

impl Ending {
    fn of(command: &mut Command) -> Result<Self, LiveError> {
        command.spawn().map(Self).map_err(LiveError::system("hq"))
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
