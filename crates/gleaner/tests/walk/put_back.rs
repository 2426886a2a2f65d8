//! A backup is put in the journal's place while a machine still has results of what came after it.

use crate::grid::{Grid, PATIENCE};
use crate::processes::until;
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

const RULES: &str = "sessions = \"ignore\"\nnot_on_battery = false\nsuspend_on_return = false\nrun_below_load = 1.0\n\
                     busy_cores = 64.0\nidle_seconds = 1\n";

fn phase(grid: &Grid, job: &str) -> String {
    let task = grid.json(&["status", job, "--tasks"])["list"][0].take();
    task["phase"].as_str().expect("a word").to_owned()
}

#[test]
fn whoever_runs_the_grid_is_let_in_after_a_restore_and_by_a_new_token() {
    let mut grid = Grid::new("own-token", 4);
    grid.start();
    grid.stop_coordinator();
    let backup = grid.folder.path().join("backup.db");
    fs::copy(grid.home.join("gleaner.db"), &backup).expect("a copy");

    // The backup knows another token.
    fs::remove_file(grid.home.join("token")).expect("it is there");
    grid.start();
    grid.stop_coordinator();
    grid.ok(&["journal", "restore", backup.to_str().expect("text"), "--yes"]);
    grid.start();
    let user = grid.json(&["user", "list"])["users"][0]["name"].as_str().expect("a name").to_owned();

    grid.ok(&["token", "user", &user, "--role", "admin"]);
    grid.ok(&["user", "list"]);

    // One for somebody else changes nothing here.
    let own = fs::read_to_string(grid.home.join("token")).expect("a token");
    grid.ok(&["token", "user", "somebody"]);
    assert_eq!(fs::read_to_string(grid.home.join("token")).expect("a token"), own);
    grid.wind_up();
}

#[test]
fn the_journal_of_another_grid_is_put_back_only_on_purpose() {
    let mut other = Grid::new("other-grid", 4);
    other.start();
    other.stop_coordinator();
    let foreign = other.home.join("gleaner.db").to_str().expect("text").to_owned();
    let mut grid = Grid::new("this-grid", 4);
    grid.start();
    grid.stop_coordinator();
    let before = fs::read(grid.home.join("gleaner.db")).expect("a journal");

    let copy = grid.folder.path().join("looked-at");
    fs::create_dir(&copy).and_then(|()| fs::copy(&foreign, copy.join("gleaner.db"))).expect("a copy");
    grid.ok(&["journal", "restore", "--home", copy.to_str().expect("text")]);
    assert_eq!(fs::read_dir(&copy).expect("a folder").count(), 1, "nothing was changed");

    let told = grid.ok(&["journal", "restore", &foreign]);
    assert!(told.contains("the journal of another grid"), "{told}");
    let refused = grid.cli(&["journal", "restore", &foreign, "--yes"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("--other-grid"), "{said}");
    assert!(fs::read(grid.home.join("gleaner.db")).expect("a journal") == before, "nothing was changed");

    // A backup is taken also where nothing can be read of what it replaces.
    fs::write(grid.home.join("gleaner.db"), [7; 4_096]).expect("a disk");
    let said = grid.cli(&["journal", "restore"]);
    assert_eq!(said.status.code(), Some(4), "{}", String::from_utf8_lossy(&said.stderr));
    grid.ok(&["journal", "restore", &foreign, "--yes"]);
    assert!(!grid.home.join("journal.saving").exists());
    grid.start();
    grid.wind_up();
    other.wind_up();
}

#[test]
fn an_old_result_is_not_a_new_tasks() {
    let mut grid = Grid::new("put-back", 8);
    grid.start();
    grid.add("lab", 80, RULES, &[]);
    grid.stop_coordinator();
    let backup = grid.folder.path().join("backup.db");
    fs::copy(grid.home.join("gleaner.db"), &backup).expect("a copy");
    let backup = backup.to_str().expect("text").to_owned();

    grid.start();
    let old = grid.json(&["submit", "--", "sh", "-c", "sleep 2; echo OLD"])["job"].to_string();
    until("it runs", PATIENCE, || (phase(&grid, &old) == "running").then_some(()));
    grid.kill_coordinator();

    let told = grid.ok(&["journal", "restore", &backup]);
    assert!(told.contains("jobs that were handed in later, 1 in all: 1\n"), "{told}");
    assert!(told.contains("Nothing was changed"), "{told}");
    let before = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs_f64();
    let done = grid.ok(&["journal", "restore", &backup, "--yes"]);
    eprintln!("{told}{done}");
    assert!(done.contains("What was there is in"), "{done}");

    grid.start();
    let audit = grid.json(&["audit"]);
    let mut entries = audit["entries"].as_array().expect("a list").iter();
    let restored = entries.find(|entry| entry["what"] == "the journal was put back by order");
    let at_s = restored.and_then(|entry| entry["at_s"].as_f64()).expect("it is recorded");
    assert!(at_s >= before, "{at_s} is before {before}");
    let new = grid.json(&["submit", "--", "echo", "NEW"])["job"].to_string();
    assert_eq!(old, new, "the number is given again");
    grid.ok(&["wait", &new]);
    assert_eq!(grid.ok(&["logs", &new]), "NEW\n");
    grid.ok(&["journal", "verify"]);

    // The same without a word.
    grid.stop_coordinator();
    fs::copy(&backup, grid.home.join("gleaner.db")).expect("a copy");
    for name in ["gleaner.db-wal", "gleaner.db-shm"] {
        // There is none after an end in order, unless somebody was reading.
        drop(fs::remove_file(grid.home.join(name)));
    }
    let output = grid.serve().output().expect("it starts");
    let said = grid.said();
    let last = said.lines().last().unwrap_or_default();
    eprintln!("{last}");
    assert_eq!(output.status.code(), Some(4), "{last}");
    assert!(last.contains("is not what was written") && last.contains("gleaner journal restore"), "{last}");
    grid.ok(&["journal", "restore", "--yes"]);
    grid.start();
    grid.wind_up();
}
