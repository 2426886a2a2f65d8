//! A coordinator on loopback, an agent of its machine, and a user.

use super::line::Line;
use crate::grid::{PATIENCE, PROGRAM};
use crate::processes::until;
use serde_json::Value;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

/// Ended when dropped.
pub(super) struct Coordinator {
    folder: TempDir,
    home: PathBuf,
    port: u16,
    open_files: Option<usize>,
    process: Option<Child>,
    agent: Option<Child>,
}

impl Coordinator {
    /// On a port that was free.
    pub(super) fn start() -> Self {
        Self::with(None)
    }

    /// Likewise, and it may have so many files open.
    pub(super) fn with_open_files(number: usize) -> Self {
        Self::with(Some(number))
    }

    fn with(open_files: Option<usize>) -> Self {
        let folder = tempfile::Builder::new().prefix("gleaner-loopback-").tempdir().expect("a folder");
        let home = folder.path().join("coordinator");
        let mut this = Self { folder, home, port: 0, open_files, process: None, agent: None };
        this.serve();
        this
    }

    /// Starts it, again on the port it had.
    pub(super) fn serve(&mut self) {
        let listen = format!("127.0.0.1:{}", self.port);
        let limit = self.open_files.map(|number| format!("--nofile={number}:{number}"));
        let limited = limit.iter().flat_map(|limit| ["prlimit", limit]).collect::<Vec<_>>();
        let mut command = self.program(&limited, "coordinator.log");
        command.args(["serve", "--listen", &listen, "--home"]).arg(&self.home);
        // A connection of another test's may have this port for a moment.
        until("the coordinator listens", PATIENCE, || {
            let process = self.process.get_or_insert_with(|| command.spawn().expect("a coordinator"));
            let (pid, has_ended) = (process.id(), process.try_wait().expect("our child").is_some());
            if has_ended {
                self.process = None;
            }
            (self.said()?["pid"] == pid && !has_ended).then_some(())
        });
        let address = self.said().expect("it listens")["address"].as_str().expect("text").to_owned();
        self.port = address.rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
        until("the coordinator answers", PATIENCE, || self.cli(&["status"]).status.success().then_some(()));
    }

    pub(super) fn kill(&mut self) {
        end(self.process.take());
    }

    /// Starts an agent that joins, and tells its folder.
    pub(super) fn start_agent(&mut self) -> PathBuf {
        let folder = self.folder.path().join("agent");
        fs::create_dir(&folder).expect("a folder");
        fs::write(folder.join("rules.toml"), "sessions = \"ignore\"\n").expect("the owner's rules");
        let token = self.ok(&["token", "join"])["token"].as_str().expect("a token").to_owned();
        let mut command = self.program(&[], "agent.log");
        command.args(["work", "--join", &format!("https://{}", self.authority()), "--home"]).arg(&folder);
        command.args(["--name", "lab"]).env("GLEANER_JOIN_TOKEN", token);
        self.agent = Some(command.spawn().expect("an agent"));
        folder
    }

    /// A new token for that user, in place of an old one.
    pub(super) fn user_token(&self, name: &str) -> String {
        self.ok(&["token", "user", name])["token"].as_str().expect("a token").to_owned()
    }

    /// `gleaner` as the first user.
    pub(super) fn cli(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(PROGRAM);
        for name in ["GLEANER_SERVER", "GLEANER_TOKEN", "GLEANER_FINGERPRINT"] {
            command.env_remove(name);
        }
        command.args(arguments).env("GLEANER_HOME", &self.home).output().expect("the program")
    }

    /// A line to it, over TLS.
    pub(super) fn line(&self) -> Line {
        let said = self.said().expect("it listens");
        let fingerprint = said["fingerprint"].as_str().expect("text").parse().expect("a fingerprint");
        Line::dial(self.port, fingerprint)
    }

    /// Asks for an agent's session, and says what came back.
    pub(super) fn knock(&self) -> (Line, String) {
        let mut line = self.line();
        let upgrade = "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\
                       sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
        let answer = line.ask("/api/v1/session", &self.authority(), upgrade);
        (line, answer)
    }

    /// An agent's session with nothing said yet.
    pub(super) fn session(&self) -> Line {
        let (line, answer) = self.knock();
        assert!(answer.starts_with(super::SWITCHING), "{answer}");
        line
    }

    /// Whether its log has that.
    pub(super) fn logged(&self, text: &str) -> bool {
        fs::read_to_string(self.folder.path().join("coordinator.log")).is_ok_and(|log| log.contains(text))
    }

    /// Its host and port.
    pub(super) fn authority(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn home(&self) -> &Path {
        &self.home
    }

    /// Where its folder and the agent's are.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn ok(&self, arguments: &[&str]) -> Value {
        let output = self.cli(&[arguments, &["--json"]].concat());
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    fn said(&self) -> Option<Value> {
        serde_json::from_slice(&fs::read(self.home.join("coordinator.json")).ok()?).ok()
    }

    /// The program, started by another, which dies with this test.
    fn program(&self, by: &[&str], log: &str) -> Command {
        let log =
            File::options().append(true).create(true).open(self.folder.path().join(log)).expect("a log");
        let mut command = Command::new("setpriv");
        command
            .args(["--pdeathsig", "KILL"])
            .args(by)
            .arg(PROGRAM)
            .env_remove("GLEANER_HOME")
            .env("GLEANER_LOG", "info");
        command.stdin(Stdio::null()).stdout(log.try_clone().expect("a log")).stderr(log);
        command
    }
}

impl Drop for Coordinator {
    fn drop(&mut self) {
        end(self.agent.take());
        end(self.process.take());
        if std::thread::panicking() {
            for log in ["coordinator.log", "agent.log"] {
                let text = fs::read_to_string(self.folder.path().join(log)).unwrap_or_default();
                eprintln!("--- {log}\n{text}");
            }
        }
    }
}

fn end(child: Option<Child>) {
    if let Some(mut child) = child {
        let _ = child.kill();
        let _ = child.wait();
    }
}
