//! A machine: a network namespace, a cgroup with a CPU quota, and an agent in both.

use crate::network::Wire;
use crate::processes::{kill, signal, standing, until, words};
use crate::quota::Quota;
use crate::wall_clock::WallClock;
use gleaner_agent::probes::{Benchmark, Measured, ReadPath};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

/// How long an agent may take to end in order, checkpoints and all.
const FAREWELL: Duration = Duration::from_secs(30);
/// How long what an agent leaves behind may take to end.
const AFTERMATH: Duration = Duration::from_secs(30);

pub(crate) struct Machine {
    pub(crate) name: String,
    pub(crate) home: PathBuf,
    pub(crate) log: PathBuf,
    pub(crate) wire: Wire,
    /// The wall clock that its agent goes by, if it is not the machine's own.
    pub(crate) clock: Option<WallClock>,
    quota: Quota,
    pub(crate) options: Vec<String>,
    agent: Option<Child>,
}

/// A program of the owner's that uses the CPU until this is dropped.
pub(crate) struct Burner(Child);

impl Machine {
    /// Nothing runs on it yet. The agent's folder is made, with its owner's rules in it.
    pub(crate) fn new(
        name: &str,
        home: PathBuf,
        log: PathBuf,
        wire: Wire,
        quota: Quota,
        rules: &str,
    ) -> Self {
        fs::create_dir_all(&home).expect("the agent's folder");
        fs::write(home.join("rules.toml"), rules).expect("the owner's rules");
        Self { name: name.to_owned(), home, log, wire, clock: None, quota, options: Vec::new(), agent: None }
    }

    /// As if its agent had measured it before, with so much of a core.
    pub(crate) fn was_measured(&self, percent: u32) {
        let measured = |speed| Measured { speed, spread: 0.0 };
        let cpu_on_core = 100.0;
        let benchmark = Benchmark {
            cpu: measured(cpu_on_core * f64::from(percent) / 100.0),
            cpu_on_core,
            disk_write: measured(200.0),
            disk_read: measured(200.0),
            read_path: ReadPath::Direct,
            net: Some(measured(120.0)),
        };
        let known = serde_json::to_string(&benchmark).expect("it is plain data");
        fs::write(self.home.join("speeds.json"), known).expect("a file of the agent's");
    }

    /// Starts the agent for the first time, by the words of a join line and further options.
    pub(crate) fn join(&mut self, line: &str, options: &[&str]) {
        let arguments = line.strip_prefix("gleaner work ").expect("a join line").split_whitespace();
        self.options = arguments.chain(options.iter().copied()).map(str::to_owned).collect();
        self.start();
    }

    /// Starts the agent again.
    pub(crate) fn start(&mut self) {
        assert!(self.agent.is_none(), "{} has an agent already", self.name);
        let mut command = self.command();
        command.args(self.wire.prefix()).arg(crate::grid::PROGRAM).arg("work").args(&self.options);
        command.args(["--name", &self.name]).arg("--home").arg(&self.home);
        self.agent = Some(command.spawn().expect("an agent"));
    }

    /// Kills the agent, and waits until all it ran is gone too: the keeper sees to that.
    pub(crate) fn kill(&mut self) {
        let mut agent = self.agent.take().expect("it runs");
        agent.kill().expect("it is ours");
        agent.wait().expect("it is ours");
    }

    /// The agent alone stands still, as by a signal; its keeper, its minders and what they run do not.
    pub(crate) fn stall(&self) {
        self.signal(Signal::STOP);
    }

    /// It goes on.
    pub(crate) fn go_on(&self) {
        self.signal(Signal::CONT);
    }

    /// Kills agent, keeper and minders in one instant, as far as there is one: none of them sees the others die.
    pub(crate) fn kill_all_parts(&mut self) {
        let parts: Vec<u32> = ["keeper", "mind"].iter().flat_map(|called| self.parts(called)).collect();
        self.stall();
        for part in &parts {
            signal(*part, Signal::STOP);
        }
        parts.into_iter().for_each(kill);
        self.kill();
    }

    fn signal(&self, what: Signal) {
        signal(self.agent.as_ref().expect("it runs").id(), what);
    }

    /// Asks the agent to end, and says how it did.
    pub(crate) fn stop(&mut self) -> ExitStatus {
        let mut agent = self.agent.take().expect("it runs");
        let pid = Pid::from_child(&agent);
        kill_process(pid, Signal::TERM).expect("it is ours");
        let status = until("the agent ends in order", FAREWELL, || agent.try_wait().expect("it is ours"));
        self.wait_until_quiet();
        status
    }

    /// How the agent ended, if it did.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        let status = self.agent.as_mut()?.try_wait().expect("it is ours")?;
        self.agent = None;
        Some(status)
    }

    pub(crate) fn is_running(&self) -> bool {
        self.agent.is_some()
    }

    /// Nothing that the agent started outlives it.
    pub(crate) fn wait_until_quiet(&self) {
        let name = &self.name;
        until(&format!("nothing runs on {name} any more"), AFTERMATH, || {
            let left = self.quota.processes();
            for &pid in &left {
                eprintln!("{name}: {pid} still runs: {:?}, {}", words(pid), standing(pid));
            }
            left.is_empty().then_some(())
        });
    }

    /// The processes of the agent that are called so: `keep` or `mind`.
    pub(crate) fn parts(&self, called: &str) -> Vec<u32> {
        let is_called = |pid: &u32| words(*pid).get(..2).is_some_and(|words| words == ["gleaner", called]);
        self.quota.processes().into_iter().filter(is_called).collect()
    }

    /// All processes on it.
    pub(crate) fn processes(&self) -> std::collections::BTreeSet<u32> {
        self.quota.processes()
    }

    /// The owner says something by hand.
    pub(crate) fn owner(&self, word: &str) {
        let output =
            Command::new(crate::grid::PROGRAM).args(["owner", word, "--home"]).arg(&self.home).output();
        let output = output.expect("the program");
        assert!(output.status.success(), "owner {word}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// The owner writes other rules, which the agent reads within a second.
    pub(crate) fn rule(&self, rules: &str) {
        let new = self.home.join("rules.new");
        fs::write(&new, rules).expect("the owner's rules");
        fs::rename(&new, self.home.join("rules.toml")).expect("the owner's rules");
    }

    /// The owner works: a program that is not the agent's.
    pub(crate) fn burn(&self) -> Burner {
        let mut command = self.command();
        Burner(command.args(["sh", "-c", "while :; do :; done"]).spawn().expect("a burner"))
    }

    /// A command that runs in the machine's cgroup, is not heard of except in its log, and dies with this test.
    fn command(&self) -> Command {
        let log = File::options().append(true).create(true).open(&self.log).expect("a log");
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "sh", "-c"]);
        command.arg(format!("{} exec \"$0\" \"$@\"", self.quota.entrance()));
        command.env_remove("GLEANER_HOME").env("GLEANER_LOG", "info");
        command.stdin(Stdio::null()).stdout(log.try_clone().expect("a log")).stderr(log);
        if let Some(clock) = &self.clock {
            clock.show_to(&mut command);
        }
        command
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        if let Some(mut agent) = self.agent.take() {
            let _ = agent.kill();
            let _ = agent.wait();
        }
    }
}

impl Drop for Burner {
    fn drop(&mut self) {
        kill(self.0.id());
        let _ = self.0.wait();
    }
}
