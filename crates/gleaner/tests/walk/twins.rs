//! A machine's image was copied, its agent's folder in it.

use crate::grid::{Grid, PATIENCE, PROGRAM, USER};
use crate::processes::until;
use std::fs::{self, File};
use std::process::{Command, Stdio};

const RULES: &str = "sessions = \"ignore\"\nnot_on_battery = false\nsuspend_on_return = false\nrun_below_load = 1.0\n\
                     busy_cores = 64.0\nidle_seconds = 1\n";

#[test]
fn a_copy_of_an_agents_folder_is_turned_away_and_disturbs_nothing() {
    let mut grid = Grid::new("twins", 30);
    grid.start();
    grid.add("lab", 60, RULES, &["--as", USER, "--slots", "1"]);
    grid.machine("lab").stop();
    let copy = grid.folder.path().join("copy");
    let home = grid.machine("lab").home.clone();
    let copied = Command::new("cp").arg("-a").arg(&home).arg(&copy).status().expect("cp");
    assert!(copied.success());
    until("it is gone", PATIENCE, || (grid.state_of("lab")? == "away").then_some(()));
    grid.machine("lab").start();
    until("it is back", PATIENCE, || (grid.state_of("lab")? == "open").then_some(()));
    let script = "i=0; while [ $i -lt 80 ]; do sleep 0.1; i=$((i + 1)); done; echo run $GLEANER_ATTEMPT";
    let job = grid.json(&["submit", "--no-sandbox", "--", "sh", "-c", script])["job"].to_string();
    let runs = |grid: &Grid| grid.json(&["status", &job])["tasks"]["running"] == 1;
    until("it runs", PATIENCE, || runs(&grid).then_some(()));

    let log = grid.folder.path().join("copy.log");
    let out = File::create(&log).expect("a log");
    let mut command = grid.within();
    command.args([PROGRAM, "work", "--as", USER, "--home"]).arg(&copy).env("GLEANER_LOG", "info");
    command.stdin(Stdio::null()).stdout(out.try_clone().expect("a log")).stderr(out);
    let mut twin = command.spawn().expect("an agent");
    until("the copy is turned away", PATIENCE, || {
        let said = fs::read_to_string(&log).expect("a log");
        said.contains("works under the same identity").then_some(())
    });
    let machines = grid.json(&["machines"]);
    let why = machines["machines"][0]["refused"].as_str().unwrap_or_default();
    assert!(why.contains("folder was copied"), "administrators see it: {machines}");
    assert!(grid.ok(&["machines"]).contains("lab: another machine works under the same identity"));
    grid.ok(&["wait", &job]);
    assert_eq!(grid.ok(&["logs", &job]), "run 1\n", "the first machine was disturbed");
    twin.kill().expect("it is ours");
    twin.wait().expect("it is ours");
    grid.wind_up();
}
