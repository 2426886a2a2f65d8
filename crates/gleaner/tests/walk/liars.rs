//! Three machines, of which one gives wrong answers: two that agree outvote it, its trust is gone, and it is closed. And six, of which
//! two are one liar's: they have one vote, also where a user's own program says which answers are the same.
//!
//! What makes a liar of it is a folder that its owner shows to tasks and that the others do not have.

use crate::grid::{Grid, PATIENCE};
use crate::processes::until;
use serde_json::Value;

const RULES: &str = "sessions = \"ignore\"\nnot_on_battery = false\n";
/// Of each job.
const TASKS: u64 = 12;

fn machine(grid: &Grid, name: &str) -> Value {
    let machines = grid.json(&["machines"]);
    let list = machines["machines"].as_array().expect("a list").clone();
    list.into_iter().find(|machine| machine["machine"] == name).expect("it has joined")
}

/// The third outvoted answer closes it: `OUTVOTED_CLOSES`.
#[test]
fn two_that_agree_outvote_a_liar_whose_trust_is_gone_and_who_is_closed() {
    let mut grid = Grid::new("liars", 30);
    // Not below /tmp, which is each task's own.
    let folder = tempfile::Builder::new().prefix("gleaner-lies-").tempdir_in("/opt").expect("a folder");
    let lies = folder.path().display().to_string();
    grid.start();
    for name in ["ada", "bob"] {
        grid.add(name, 50, RULES, &["--slots", "1"]);
    }
    grid.add("liar", 50, &format!("{RULES}folders = [\"{lies}\"]\n"), &["--slots", "1"]);

    let quorum = "replicate={ quorum = 2 }";
    grid.ok(&["policy", "set", "bertasi/greedy", "--set", "relocate=none", "--set", quorum]);
    let program = format!("if [ -d {lies} ]; then echo 8 | tee out; else echo 7 | tee out; fi");
    let array = format!("1-{TASKS}");
    let options = ["submit", "--array", &array, "--output", "out", "--", "sh", "-c", &program];
    // Its agent learns first how its owner uses it, while the others answer: a job may be over by then.
    let liar = until("the liar is outvoted three times", PATIENCE, || {
        let job = grid.json(&options)["job"].to_string();
        grid.ok(&["wait", &job]);
        for task in 1..=TASKS {
            let (name, told) = (format!("{job}/{task}"), grid.ok(&["history", &format!("{job}/{task}")]));
            assert_eq!(grid.ok(&["logs", &name]).trim(), "7", "{told}");
            assert!(told.contains("its answer is kept until other machines gave theirs"), "{told}");
        }
        let liar = machine(&grid, "liar")["trust"].clone();
        liar["wrong"].as_u64().is_some_and(|wrong| wrong >= 3).then_some(liar)
    });
    assert_eq!((liar["row"].as_u64(), liar["agreed"].as_u64()), (Some(0), Some(0)), "{liar}");
    assert!(liar["last_wrong_s"].is_number(), "{liar}");
    let shown = grid.ok(&["machines"]);
    for told in
        ["liar: 0 answers agreed on, 0 in a row; ", " outvoted, the last 20", "gleaner machine resume liar"]
    {
        assert!(shown.contains(told), "{told:?} is not in:\n{shown}");
    }
    assert_eq!(machine(&grid, "liar")["state"], "closed");
    let audit = grid.ok(&["audit"]);
    assert!(audit.contains("outvoted") && audit.contains("liar: another answer"), "{audit}");

    // Who proved right is asked alone from now on, and what no third machine answers waits for one.
    let trust = "replicate={ quorum = 2, trust_after = 3, check_every = 1000 }";
    grid.ok(&["policy", "set", "bertasi/greedy", "--set", "relocate=none", "--set", trust]);
    assert_eq!(machine(&grid, "ada")["trust"]["alone"], true);
    let job = grid.json(&["submit", "--quorum", "3", "--", "sh", "-c", "echo 7"])["job"].to_string();
    let why = until("two have answered", PATIENCE, || {
        let told = grid.ok(&["explain", &format!("{job}/0")]);
        told.contains("answers so far are of").then_some(told)
    });
    assert!(why.contains("3 machines have to give the same"), "{why}");
    let refused = grid.cli(&["policy", "set", "queue/easy"]);
    let refused = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.contains("makes no copies for that"), "{refused}");
    grid.ok(&["machine", "resume", "liar"]);
    grid.ok(&["wait", &job]);
    grid.wind_up();
}

/// Numbers that differ in their last digits are the same.
const CLOSE: &str = "#!/bin/sh\n\
    [ \"$(cut -c1-4 \"$1/out\")\" = \"$(cut -c1-4 \"$2/out\")\" ]\n";

#[test]
fn a_users_program_compares_and_a_liar_with_two_machines_has_one_voice() {
    let mut grid = Grid::new("mob", 30);
    let folder = tempfile::Builder::new().prefix("gleaner-lies-").tempdir_in("/opt").expect("a folder");
    let lies = folder.path().display().to_string();
    grid.start();
    for name in ["mob1", "mob2"] {
        grid.add_of("mob", name, 40, &format!("{RULES}folders = [\"{lies}\"]\n"), &["--slots", "1"]);
    }
    assert_eq!(machine(&grid, "mob2")["owner"], "mob");
    for name in ["ada", "bob", "cid", "dan"] {
        grid.add(name, 40, RULES, &["--slots", "1"]);
    }
    let submit = |grid: &Grid, more: &[&str], right: &str| {
        let program = format!("if [ -d {lies} ]; then echo 8.5 > out; else {right} > out; fi");
        let job = ["submit", "--quorum", "2", "--array", "1-4", "--output", "out"];
        let options = [&job[..], more, &["--", "sh", "-c", &program]].concat();
        grid.json(&options)["job"].to_string()
    };
    let results = |grid: &Grid, job: &str| {
        let into = grid.folder.path().join(job);
        grid.ok(&["fetch", job, "--to", &into.display().to_string()]);
        let read = |task: u32| std::fs::read_to_string(into.join(task.to_string()).join("out"));
        (1..=4).map(|task| read(task).expect("each left its file")).collect::<Vec<_>>()
    };

    // The same lie twice, of which the second is not asked for.
    let job = submit(&grid, &[], "echo 7");
    grid.ok(&["wait", &job]);
    assert_eq!(results(&grid, &job), ["7\n"; 4]);

    let close = grid.folder.path().join("close");
    std::fs::write(&close, CLOSE).expect("a program");
    let close = close.display().to_string();
    let noisy = "echo 7.0000$GLEANER_ATTEMPT";
    let job = submit(&grid, &["-i", &close, "--compare", "sh close"], noisy);
    grid.ok(&["wait", &job]);
    for result in results(&grid, &job) {
        assert!(result.starts_with("7.0000"), "{result}");
    }
    let told = grid.ok(&["history", &format!("{job}/1")]);
    for part in ["it compared two answers that other machines gave", "; the task's result is that of run "] {
        assert!(told.contains(part), "{told}");
    }

    let job = submit(&grid, &["-i", &close, "--compare", "sh missing"], noisy);
    assert!(!grid.cli(&["wait", &job]).status.success());
    let told = grid.ok(&["history", &format!("{job}/1")]);
    assert!(told.contains("it compared two answers"), "{told}");
    assert!(told.contains("it could not compare two answers") && !told.contains("too few agree"), "{told}");
    let why = grid.ok(&["explain", &format!("{job}/1")]);
    assert!(
        grid.ok(&["status", &job]).contains("comparing answers") || why.contains("comparing answers"),
        "{why}"
    );
    grid.wind_up();
}
