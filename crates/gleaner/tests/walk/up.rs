//! `gleaner up`: what is left of one that was killed.

use crate::grid::{Grid, PATIENCE, PROGRAM};
use crate::processes::{standing, until};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// `gleaner up` as whoever sits at the machine starts it. Ended when dropped.
pub(crate) struct Up(Child);

impl Up {
    pub(crate) fn start(grid: &Grid, home: &Path, options: &[&str]) -> Self {
        let log = fs::File::create(grid.folder.path().join("up.log")).expect("a log");
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "TERM"]).args(grid.prefix());
        command.args([
            "sh",
            "-c",
            "umask 0; exec \"$0\" \"$@\"",
            PROGRAM,
            "up",
            "--listen",
            "10.77.0.1:7718",
        ]);
        command.args(options).arg("--home").arg(home).stdin(Stdio::null());
        command.stdout(log.try_clone().expect("a log")).stderr(log);
        Self(command.spawn().expect("the program"))
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.0);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ = self.0.wait();
    }
}

/// Whoever kills it leaves its agent: the next one takes that for its own, and ends it as it ends.
#[test]
fn the_agent_of_a_killed_one_goes_on() {
    let grid = Grid::new("killed-up", 30);
    let home = grid.folder.path().join("up");
    let path = home.to_str().expect("text");
    let agent = || fs::read_to_string(home.join("agent/lock")).ok().filter(|pid| !pid.is_empty());
    let machines = || {
        let machines = grid.try_json(&["machines", "--home", path])?["machines"].take();
        machines.get(0).filter(|machine| machine["state"] != "away").cloned()
    };
    let mut up = Up::start(&grid, &home, &[]);
    until("the agent has joined", PATIENCE, machines);
    let first = agent().expect("its process");
    up.0.kill().expect("it is ours");
    up.0.wait().expect("it is ours");

    let up = Up::start(&grid, &home, &[]);
    let log = grid.folder.path().join("up.log");
    let said = until("it is told", PATIENCE, || {
        Some(fs::read_to_string(&log).ok()?).filter(|said| said.contains("was there before"))
    });
    assert!(said.contains(&format!("process {first}")), "{said}");
    until("the agent is back", PATIENCE, machines);
    assert_eq!(agent(), Some(first.clone()));
    drop(up);
    until("the agent is gone", PATIENCE, || {
        // Whose child it is now may not have looked at its end yet.
        let standing = standing(first.parse().expect("a number"));
        (standing.trim().is_empty() || standing.contains("zombie")).then_some(())
    });
}

/// A token is a row of the journal: who has joined needs none.
#[test]
fn only_an_agent_that_has_not_joined_gets_a_token() {
    let grid = Grid::new("up-tokens", 30);
    let home = grid.folder.path().join("up");
    let path = home.to_str().expect("text");
    for _ in 0..2 {
        let up = Up::start(&grid, &home, &["--json"]);
        until("the agent is there", PATIENCE, || {
            let machines = grid.try_json(&["machines", "--home", path])?["machines"].take();
            machines.get(0).filter(|machine| machine["state"] != "away").map(drop)
        });
        drop(up);
    }
    let tokens: Vec<_> = grid.json(&["audit", "--home", path])["entries"]
        .as_array()
        .expect("entries")
        .iter()
        .filter(|line| line["what"].as_str().is_some_and(|what| what == "a join token was issued"))
        .cloned()
        .collect();
    assert_eq!(tokens.len(), 1, "{tokens:?}");
}
