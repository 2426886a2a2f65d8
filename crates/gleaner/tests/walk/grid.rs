//! A grid of real processes: a coordinator in the hub, agents on machines, and the command line.

use crate::machine::Machine;
use crate::network::{ADDRESS, Hub};
use crate::processes::until;
use crate::quota::Quota;
use crate::wall_clock::WallClock;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tempfile::TempDir;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_gleaner");
/// The first user of the grid.
pub(crate) const USER: &str = "walker";
/// Longer than anything takes that is going to happen at all.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);
/// What the coordinator exits with when it cannot be reached, or refuses.
const REFUSED: i32 = 3;
/// How much of a log is shown where a test fails.
const LOG_TAIL: usize = 25;

/// Ended and removed when dropped, the machines first.
pub(crate) struct Grid {
    pub(crate) machines: Vec<Machine>,
    coordinator: Option<Child>,
    clock: Option<WallClock>,
    hub: Hub,
    name: String,
    /// Whether agents measure how fast their machines are.
    measures: bool,
    pub(crate) home: PathBuf,
    pub(crate) folder: TempDir,
}

impl Grid {
    /// A grid without machines, whose coordinator is not started yet. Agents keep their leases for so long.
    pub(crate) fn new(test: &str, lease_s: u32) -> Self {
        let folder = folder(test);
        let home = folder.path().join("coordinator");
        Self::within_folder(folder, home, lease_s)
    }

    /// Likewise, where all go by a wall clock that can be set.
    pub(crate) fn by_a_clock(test: &str, lease_s: u32) -> (Self, WallClock) {
        let mut grid = Self::new(test, lease_s);
        let clock = WallClock::new(grid.folder.path());
        grid.clock = Some(clock.clone());
        (grid, clock)
    }

    /// Likewise, with the coordinator's folder elsewhere.
    pub(crate) fn at(test: &str, lease_s: u32, home: PathBuf) -> Self {
        Self::within_folder(folder(test), home, lease_s)
    }

    fn within_folder(folder: TempDir, home: PathBuf, lease_s: u32) -> Self {
        // Tests of one process run side by side.
        static GRIDS: AtomicU32 = AtomicU32::new(0);
        let number = GRIDS.fetch_add(1, Ordering::Relaxed);
        let name = format!("gleaner-{}-{number}", std::process::id());
        fs::create_dir(&home).expect("the coordinator's folder");
        let hub = Hub::new(&name);
        let settings =
            format!("listen = \"{ADDRESS}\"\nuser = \"{USER}\"\nlease_s = {lease_s}\nheartbeat_s = 1\n");
        fs::write(home.join("config.toml"), settings).expect("the settings");
        Self {
            machines: Vec::new(),
            coordinator: None,
            clock: None,
            hub,
            name,
            measures: false,
            home,
            folder,
        }
    }

    /// Likewise, whose agents measure how fast their machines are, for two seconds of a core each, and are not told.
    pub(crate) fn measuring(mut self) -> Self {
        self.measures = true;
        self
    }

    /// A machine with so much of a core; its agent joins over TLS and is there when this returns.
    pub(crate) fn add(&mut self, name: &str, percent: u32, rules: &str, options: &[&str]) {
        let home = self.folder.path().join(name);
        self.add_at(name, home, percent, rules, options);
    }

    /// Likewise, with the agent's folder elsewhere.
    pub(crate) fn add_at(&mut self, name: &str, home: PathBuf, percent: u32, rules: &str, options: &[&str]) {
        self.add_by((name, home), &self.join_line(), percent, rules, options);
    }

    /// Likewise, as one of somebody's machines.
    pub(crate) fn add_of(&mut self, owner: &str, name: &str, percent: u32, rules: &str, options: &[&str]) {
        let home = self.folder.path().join(name);
        self.add_by((name, home), &self.join_line_for(&["--owner", owner]), percent, rules, options);
    }

    fn add_by(
        &mut self,
        (name, home): (&str, PathBuf),
        line: &str,
        percent: u32,
        rules: &str,
        options: &[&str],
    ) {
        let quota = Quota::new(&format!("{}-{name}", self.name), percent);
        let log = self.folder.path().join(format!("{name}.log"));
        let mut machine = Machine::new(name, home, log, self.hub.wire(), quota, rules);
        machine.clock.clone_from(&self.clock);
        if !self.measures {
            machine.was_measured(percent);
        }
        machine.join(line, options);
        self.machines.push(machine);
        until(&format!("{name} joins"), PATIENCE, || {
            if let Some(status) = self.machine(name).ended() {
                panic!("the agent of {name} ended with {status}");
            }
            (self.state_of(name)? == "open").then_some(())
        });
    }

    /// The line that `gleaner up` prints, as an administrator makes it.
    pub(crate) fn join_line(&self) -> String {
        self.join_line_for(&[])
    }

    fn join_line_for(&self, options: &[&str]) -> String {
        let token = self.json(&[&["token", "join"], options].concat());
        let token = token["token"].as_str().expect("a token").to_owned();
        format!("gleaner work --join https://{ADDRESS} --token {token}")
    }

    pub(crate) fn machine(&mut self, name: &str) -> &mut Machine {
        self.machines.iter_mut().find(|machine| machine.name == name).expect("a machine of the test")
    }

    /// What a machine is doing, as the coordinator knows it.
    pub(crate) fn state_of(&self, name: &str) -> Option<String> {
        let machines = self.json(&["machines"]);
        let list = machines["machines"].as_array().expect("a list").clone();
        let found = list.into_iter().find(|machine| machine["machine"] == name)?;
        found["state"].as_str().map(str::to_owned)
    }

    /// Starts the coordinator and waits until it listens.
    pub(crate) fn start(&mut self) {
        self.launch();
        until("the coordinator listens", PATIENCE, || {
            if let Some(status) = self.coordinator_ended() {
                panic!("the coordinator ended with {status}");
            }
            self.cli(&["status", "--json"]).status.success().then_some(())
        });
    }

    /// Starts the coordinator.
    pub(crate) fn launch(&mut self) {
        assert!(self.coordinator.is_none(), "there is a coordinator already");
        self.coordinator = Some(self.serve().spawn().expect("a coordinator"));
    }

    /// A coordinator on the grid's folder, that logs as the grid's does.
    pub(crate) fn serve(&self) -> Command {
        let log = File::options().append(true).create(true).open(self.log()).expect("a log");
        let mut command = self.within();
        command.args([PROGRAM, "serve", "--home"]).arg(&self.home);
        command.env("GLEANER_LOG", "info");
        command.stdin(Stdio::null()).stdout(log.try_clone().expect("a log")).stderr(log);
        command
    }

    /// What the coordinator has said of itself.
    pub(crate) fn said(&self) -> String {
        fs::read_to_string(self.log()).unwrap_or_default()
    }

    pub(crate) fn kill_coordinator(&mut self) {
        let mut coordinator = self.coordinator.take().expect("it runs");
        coordinator.kill().expect("it is ours");
        coordinator.wait().expect("it is ours");
    }

    /// Asks the coordinator to end, and says how it did.
    pub(crate) fn stop_coordinator(&mut self) -> ExitStatus {
        let mut coordinator = self.coordinator.take().expect("it runs");
        kill_process(Pid::from_child(&coordinator), Signal::TERM).expect("it is ours");
        until("the coordinator ends in order", PATIENCE, || coordinator.try_wait().expect("it is ours"))
    }

    pub(crate) fn coordinator_pid(&self) -> u32 {
        self.coordinator.as_ref().expect("it runs").id()
    }

    pub(crate) fn is_serving(&self) -> bool {
        self.coordinator.is_some()
    }

    /// How the coordinator ended, if it did.
    pub(crate) fn coordinator_ended(&mut self) -> Option<ExitStatus> {
        let status = self.coordinator.as_mut()?.try_wait().expect("it is ours")?;
        self.coordinator = None;
        Some(status)
    }

    /// Nothing ends that was not told to.
    pub(crate) fn expect_all_alive(&mut self) {
        if let Some(status) = self.coordinator_ended() {
            panic!("the coordinator ended by itself with {status}");
        }
        for machine in &mut self.machines {
            if let Some(status) = machine.ended() {
                panic!("the agent of {} ended by itself with {status}", machine.name);
            }
        }
    }

    /// `gleaner` with these arguments, as the first user.
    pub(crate) fn cli(&self, arguments: &[&str]) -> Output {
        let mut command = self.within();
        command.arg(PROGRAM).args(arguments).env("GLEANER_HOME", &self.home);
        command.current_dir(self.folder.path()).output().expect("the program")
    }

    /// What it prints; it must succeed.
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        let output = self.cli(arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?} ended with {}: {error}", output.status);
        String::from_utf8(output.stdout).expect("text")
    }

    /// What it prints with `--json`.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        self.try_json(arguments).unwrap_or_else(|| panic!("{arguments:?}: the coordinator does not answer"))
    }

    /// Likewise; nothing where the coordinator cannot be reached.
    pub(crate) fn try_json(&self, arguments: &[&str]) -> Option<Value> {
        let (before, command) = match arguments.iter().position(|argument| *argument == "--") {
            Some(at) => arguments.split_at(at),
            None => (arguments, [].as_slice()),
        };
        let output = self.cli(&[before, &["--json"], command].concat());
        if output.status.code() == Some(REFUSED) {
            return None;
        }
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?} ended with {}: {error}", output.status);
        Some(serde_json::from_slice(&output.stdout).expect("JSON"))
    }

    /// What the API itself answers the first user: the status, and the document. `body` is sent if there is one.
    pub(crate) fn api(&self, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        let output = self.request(method, path, body).output().expect("curl");
        let text = String::from_utf8(output.stdout).expect("text");
        let (document, status) = text.rsplit_once('\n').expect("a status");
        (status.parse().expect("a number"), serde_json::from_str(document).unwrap_or_default())
    }

    /// What asks so, and prints the answer and its status.
    pub(crate) fn request(&self, method: &str, path: &str, body: Option<&Value>) -> Command {
        static REQUESTS: AtomicU32 = AtomicU32::new(0);
        let token = fs::read_to_string(self.home.join("token")).expect("the first user's token");
        let number = REQUESTS.fetch_add(1, Ordering::Relaxed);
        let sent = self.folder.path().join(format!("request-{number}.json"));
        let mut command = self.within();
        // Whose certificate it is is not what is tried here.
        command.args(["curl", "-ks", "-w", "\n%{http_code}", "-X", method, "-H"]);
        command.arg(format!("Authorization: Bearer {}", token.trim()));
        if let Some(body) = body {
            fs::write(&sent, body.to_string()).expect("room for a request");
            command.args(["-H", "Content-Type: application/json", "--data-binary"]);
            command.arg(format!("@{}", sent.display()));
        }
        command.arg(format!("https://{ADDRESS}{path}"));
        command
    }

    /// The facts of the journal, in order.
    pub(crate) fn facts(&self) -> Vec<Value> {
        self.rows().into_iter().map(|mut row| row["fact"].take()).collect()
    }

    /// Its rows, each with its moment.
    pub(crate) fn rows(&self) -> Vec<Value> {
        let lines = self.ok(&["journal", "export"]);
        lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    /// Ends all agents in order and checks that nothing of them is left; then that the journal is sound.
    pub(crate) fn wind_up(&mut self) {
        for machine in &mut self.machines {
            let status = machine.stop();
            assert!(status.success(), "the agent of {} ended with {status}", machine.name);
        }
        let verified = self.ok(&["journal", "verify"]);
        eprintln!("journal verify: {}", verified.trim());
    }

    /// What to write before a command so that it runs where the coordinator does.
    pub(crate) fn prefix(&self) -> [String; 2] {
        self.hub.prefix()
    }

    /// A command in the coordinator's namespace, which dies with this test: its arguments are the program and its words.
    pub(crate) fn within(&self) -> Command {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL"]).args(self.prefix());
        for name in ["GLEANER_SERVER", "GLEANER_TOKEN", "GLEANER_FINGERPRINT", "GLEANER_HOME"] {
            command.env_remove(name);
        }
        if let Some(clock) = &self.clock {
            clock.show_to(&mut command);
        }
        command
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("coordinator.log")
    }
}

impl Drop for Grid {
    fn drop(&mut self) {
        if std::thread::panicking() {
            for arguments in [["status"], ["machines"]] {
                eprintln!("--- {arguments:?}\n{}", String::from_utf8_lossy(&self.cli(&arguments).stdout));
            }
        }
        if let Some(mut coordinator) = self.coordinator.take() {
            let _ = coordinator.kill();
            let _ = coordinator.wait();
        }
        if std::thread::panicking() {
            show(&self.log());
            self.machines.iter().for_each(|machine| show(&machine.log));
        }
    }
}

fn folder(test: &str) -> TempDir {
    tempfile::Builder::new().prefix(&format!("gleaner-{test}-")).tempdir().expect("a folder")
}

fn show(log: &Path) {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let tail = &lines[lines.len().saturating_sub(LOG_TAIL)..];
    eprintln!("--- the end of {}:\n{}", log.display(), tail.join("\n"));
}
