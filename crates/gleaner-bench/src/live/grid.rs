//! A grid to measure: a coordinator and an agent, processes of this very program, in a folder that goes with them.

use super::{Bench, LiveError};
use gleaner_net::{Address, Client, Token};
use gleaner_wire::JobId;
use gleaner_wire::api::{JobView, MachineList, MachineState, NewToken, Submitted};
use gleaner_wire::job::{Confinement, JobSpec, TaskList};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long a process may take to be there; the agent measures its machine for three seconds.
const PATIENCE: Duration = Duration::from_mins(2);
const PAUSE: Duration = Duration::from_millis(5);
/// How long a process may take to end in order.
const GRACE: Duration = Duration::from_secs(20);
/// The first user of each grid.
const USER: &str = "bench";
/// What else the machine does is part of the measurement, and no reason to stop.
const RULES: &str = "sessions = \"ignore\"\nprograms = \"ignore\"\n";

/// A coordinator, and whoever joined.
pub(super) struct Grid {
    program: PathBuf,
    client: Client,
    coordinator: Process,
    /// Last, since it goes when nobody uses it any more.
    folder: TempDir,
}

/// A process that ends with its owner.
pub(super) struct Process(Child);

impl Grid {
    /// Starts a coordinator.
    pub(super) fn start(bench: &Bench) -> Result<Self, LiveError> {
        let folder = TempDir::with_prefix_in("gleaner-bench-", &bench.scratch)
            .map_err(LiveError::system(format!("a folder in {}", bench.scratch.display())))?;
        let (coordinator, client) = serve(&bench.program, folder.path())?;
        Ok(Self { program: bench.program.clone(), client, coordinator, folder })
    }

    /// Has an agent join that runs so many tasks at a time, and waits until it takes some.
    pub(super) fn agent(&self, slots: u32) -> Result<Process, LiveError> {
        let home = self.folder.path().join("agent");
        fs::create_dir_all(&home).map_err(LiveError::system("the agent's folder"))?;
        fs::write(home.join("rules.toml"), RULES).map_err(LiveError::system("the agent's rules"))?;
        let joining = self.join_token()?;
        let mut command = bare(&self.program);
        command.arg("work").arg("--home").arg(&home).args(["--as", USER, "--slots", &slots.to_string()]);
        command.args(["--join", &self.address().to_string(), "--token", &joining]);
        let agent = Process::spawn(command)?;
        wait_until("the agent's joining", || {
            let machines: MachineList = self.client.get("/api/v1/machines")?;
            Ok(machines.machines.iter().any(|machine| machine.state == MachineState::Open))
        })?;
        Ok(agent)
    }

    /// Kills the coordinator and starts it again; the seconds until it answers.
    pub(super) fn crash_and_restart(&mut self) -> Result<f64, LiveError> {
        self.coordinator.kill();
        let from = Instant::now();
        let (coordinator, client) = serve(&self.program, self.folder.path())?;
        (self.coordinator, self.client) = (coordinator, client);
        Ok(from.elapsed().as_secs_f64())
    }

    pub(super) fn address(&self) -> &Address {
        self.client.address()
    }

    pub(super) fn coordinator(&self) -> u32 {
        self.coordinator.id()
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A token with which one agent may join.
    pub(super) fn join_token(&self) -> Result<String, LiveError> {
        let token: NewToken = self.client.post("/api/v1/tokens/join", &json!({}))?;
        Ok(token.token)
    }

    /// A command of this program's about this grid.
    pub(super) fn command<'a>(&self, words: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = bare(&self.program);
        command.args(words).env("GLEANER_HOME", self.folder.path());
        command
    }

    /// Hands a job in; its number.
    pub(super) fn submit(&self, job: &JobSpec) -> Result<JobId, LiveError> {
        let submitted: Submitted = self.client.post("/api/v1/jobs", job)?;
        Ok(submitted.job)
    }

    /// Waits until all tasks of a job are done.
    pub(super) fn finish(&self, job: JobId) -> Result<(), LiveError> {
        loop {
            let view: JobView = self.client.get(&format!("/api/v1/jobs/{job}?wait_s=30"))?;
            if view.tasks.failed + view.tasks.cancelled > 0 {
                return Err(LiveError::Tasks { job, tally: view.tasks });
            }
            if view.tasks.open() == 0 {
                return Ok(());
            }
        }
    }

    /// The seconds from handing a job in until all its tasks are done.
    pub(super) fn run(&self, job: &JobSpec) -> Result<f64, LiveError> {
        let from = Instant::now();
        self.finish(self.submit(job)?)?;
        Ok(from.elapsed().as_secs_f64())
    }
}

/// So many runs of `/bin/true`.
pub(super) fn trues(count: u32, confinement: Confinement) -> JobSpec {
    let tasks = TaskList::Array { first: 1, last: count, step: 1 };
    JobSpec { tasks, confinement, ..JobSpec::new(["/bin/true"]) }
}

impl Process {
    fn spawn(mut command: Command) -> Result<Self, LiveError> {
        let what = format!("{command:?}");
        command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().map(Self).map_err(LiveError::system(what))
    }

    pub(super) fn id(&self) -> u32 {
        self.0.id()
    }

    fn kill(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let asked = kill_process(Pid::from_child(&self.0), Signal::TERM);
        let from = Instant::now();
        while asked.is_ok() && from.elapsed() < GRACE {
            if !matches!(self.0.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(PAUSE);
        }
        self.kill();
    }
}

/// Starts a coordinator, and waits until it answers.
fn serve(program: &Path, home: &Path) -> Result<(Process, Client), LiveError> {
    let mut command = bare(program);
    command.args(["serve", "--listen", "127.0.0.1:0", "--home"]).arg(home).env("GLEANER_USER", USER);
    let process = Process::spawn(command)?;
    let mut client = None;
    wait_until("the coordinator's start", || {
        client = reach(home, process.id());
        // It listens before it says where.
        Ok(client.as_ref().is_some_and(|client| client.get::<Value>("/api/v1/jobs?limit=1").is_ok()))
    })?;
    Ok((process, client.expect("it was reached")))
}

/// A client for the coordinator in a folder, once it has said how it is reached.
fn reach(home: &Path, pid: u32) -> Option<Client> {
    let said: Value = serde_json::from_str(&fs::read_to_string(home.join("coordinator.json")).ok()?).ok()?;
    let address = said["address"].as_str()?.parse().ok()?;
    let token: Token = fs::read_to_string(home.join("token")).ok()?.trim().parse().ok()?;
    // One of an earlier start may still be there.
    let authority = said["fingerprint"].as_str()?.parse().ok()?;
    (said["pid"] == pid).then(|| Client::new(address, authority, &token))
}

/// This program, without whatever settings the user has for it.
fn bare(program: &Path) -> Command {
    let mut command = Command::new(program);
    let ours = std::env::vars_os().map(|(name, _)| name);
    for name in ours.filter(|name| name.as_encoded_bytes().starts_with(b"GLEANER_")) {
        command.env_remove(name);
    }
    command
}

pub(super) fn wait_until(
    what: &str,
    mut is_so: impl FnMut() -> Result<bool, LiveError>,
) -> Result<(), LiveError> {
    let from = Instant::now();
    while !is_so()? {
        if from.elapsed() > PATIENCE {
            return Err(LiveError::Late { what: what.to_owned(), seconds: PATIENCE.as_secs() });
        }
        thread::sleep(PAUSE);
    }
    Ok(())
}
