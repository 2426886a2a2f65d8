//! A copy is made while a grid works, and the grid goes on from it after its coordinator's disk is lost.

use crate::disk::SmallDisk;
use crate::grid::{Grid, PATIENCE, USER};
use crate::processes::until;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const RULES: &str = "sessions = \"ignore\"\nnot_on_battery = false\nsuspend_on_return = false\nrun_below_load = 1.0\n\
                     busy_cores = 64.0\nidle_seconds = 1\n";

#[test]
fn a_grid_goes_on_from_a_copy_that_was_made_under_work() {
    let mut grid = Grid::new("backup", 4);
    grid.start();
    grid.add("lab", 80, RULES, &["--as", USER, "--slots", "2"]);
    let script = "seq 1 3000; echo $GLEANER_INDEX > left; sleep 0.2";
    let array = ["--array", "11-50", "--output", "left", "--", "sh", "-c", script];
    let job = grid.json(&[&["submit", "--no-sandbox"], &array[..]].concat())["job"].to_string();
    let done = |grid: &Grid| grid.json(&["status", &job])["tasks"]["done"].as_u64().expect("a number");
    let copy = grid.folder.path().join("copy");
    let to = copy.to_str().expect("text").to_owned();
    let mut in_copy = 0;
    for least in [3, 6] {
        until("some are done", PATIENCE, || (done(&grid) >= least).then_some(()));
        in_copy = done(&grid);
        eprintln!("{}", grid.ok(&["backup", &to]));
        let verified = grid.ok(&["journal", "verify", "--files", "--home", &to]);
        eprintln!("the copy: {verified}");
        // To look at it makes it no coordinator's folder.
        grid.ok(&["journal", "restore", "--home", &to]);
    }
    until("more are done", PATIENCE, || (done(&grid) > in_copy + 2).then_some(()));

    grid.kill_coordinator();
    fs::remove_dir_all(&grid.home).expect("the disk is lost");
    let copied = Command::new("cp").arg("-a").arg(&copy).arg(&grid.home).status().expect("cp");
    assert!(copied.success());
    eprintln!("{}", grid.ok(&["journal", "restore", "--yes"]));
    grid.start();
    assert!(done(&grid) >= in_copy, "what is in the copy is done");
    grid.ok(&["wait", &job]);
    let logs = grid.json(&["logs", &job]);
    let expected: String = (1..=3_000).map(|number| format!("{number}\n")).collect();
    for output in logs["outputs"].as_array().expect("a list") {
        assert!(output["text"] == expected, "the output of task {} is not what it wrote", output["task"]);
    }
    let to = grid.folder.path().join("fetched");
    grid.ok(&["fetch", &job, "--to", to.to_str().expect("text")]);
    for task in 11..=50 {
        let left = fs::read_to_string(to.join(task.to_string()).join("left")).expect("an output");
        assert_eq!(left, format!("{task}\n"));
    }
    expect_damage_to_be_told(&grid, &job);
    expect_a_good_copy_to_stay(&grid, &job);
    grid.wind_up();
}

/// It is the disk of the copy, and nothing is wrong with the journal.
fn expect_a_full_disk_to_be_told(grid: &Grid) {
    let disk = SmallDisk::new(1);
    disk.fill();
    let refused = grid.cli(&["backup", disk.path().join("copy").to_str().expect("text")]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("cannot be written: no space is left there"), "{said}");
}

/// Whoever copies each night has the journal of a lost grid in the copy, while a new grid is in its folder.
#[test]
fn a_copy_is_not_replaced_by_that_of_another_grid() {
    let mut grid = Grid::new("other-copy", 30);
    grid.start();
    let copy = grid.folder.path().join("copy");
    let to = copy.to_str().expect("text").to_owned();
    for _ in 0..2 {
        grid.ok(&["submit", "--hold", "--", "true"]);
        grid.ok(&["backup", &to]);
    }
    expect_a_full_disk_to_be_told(&grid);
    let verified = |grid: &Grid| grid.ok(&["journal", "verify", "--files", "--home", &to]);
    let before = verified(&grid);
    grid.stop_coordinator();
    fs::rename(&grid.home, grid.folder.path().join("lost")).expect("the disk is lost");
    grid.start();
    let refused = grid.cli(&["backup", &to]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("another grid's journal: name another folder"), "{said}");
    assert_eq!(verified(&grid), before);
    // What was put back from the copy is the same grid, whatever it did since.
    grid.stop_coordinator();
    grid.ok(&["journal", "restore", "--yes", "--other-grid", &to]);
    grid.start();
    grid.ok(&["backup", &to]);
    grid.wind_up();
}

/// What is damaged or missing on the coordinator's disk is named, and does not replace what the copy has of it.
fn expect_a_good_copy_to_stay(grid: &Grid, job: &str) {
    let to = grid.folder.path().join("second");
    let to = to.to_str().expect("text");
    grid.ok(&["backup", to]);
    let runs =
        fs::read_dir(grid.home.join("outputs")).expect("outputs").next().expect("a grid").expect("one");
    let folder = runs.path().join("0");
    // Only of a run that ended there are hashes. All tasks are done: if one run of a task ended, it is the one that counts.
    let mut ended: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for path in fs::read_dir(folder).expect("outputs").map(|entry| entry.expect("one").path()) {
        if path.extension().is_some_and(|end| end == "sums") {
            let name = path.file_name().and_then(OsStr::to_str).expect("text");
            let (task, _) = name.split_once('.').expect("a task and a run");
            ended.entry(task.to_owned()).or_default().push(path.with_extension("out"));
        }
    }
    let outputs: Vec<_> = ended.into_values().filter(|runs| runs.len() == 1).flatten().collect();
    let [short, changed, missing] = &outputs[..3] else { panic!("{outputs:?}") };
    fs::File::options().write(true).open(short).and_then(|file| file.set_len(100)).expect("a disk");
    let mut bytes = fs::read(changed).expect("an output");
    bytes[7] ^= 1;
    fs::write(changed, bytes).expect("a disk");
    fs::remove_file(missing).expect("a disk");
    // The tasks are the first of their grid, and their users count from 11.
    let place = changed.file_name().and_then(OsStr::to_str).and_then(|name| name.split_once('.'));
    let number = place.expect("a task and a run").0.parse::<u32>().expect("a number") + 11;
    for (to, has) in
        [(to, "the copy from before is kept"), (&*format!("{to}-fresh"), "there is no good copy of it")]
    {
        let told = grid.cli(&["backup", to]);
        let said = String::from_utf8_lossy(&told.stderr).into_owned();
        eprintln!("{said}");
        assert_eq!(told.status.code(), Some(1), "{said}");
        assert!(said.contains("3 files in ") && said.matches(has).count() == 3, "{said}");
        let named = format!("standard output of {job}/{number} (run ");
        assert!(said.contains(&named), "{named}: {said}");
    }
    grid.ok(&["journal", "verify", "--files", "--home", to]);
    for path in [short, changed, missing] {
        let place = path.strip_prefix(&grid.home).expect("it is in the folder");
        fs::copy(Path::new(to).join(place), path).expect("a disk");
    }
}

/// Of what a task left, a byte changes on the coordinator's disk.
fn expect_damage_to_be_told(grid: &Grid, job: &str) {
    let (_, task) = grid.api("GET", &format!("/api/v1/jobs/{job}/tasks/11"), None);
    let left = task["files"]["blob"].as_str().expect("a hash").to_owned();
    let file = grid.home.join("blobs").join(&left[..2]).join(&left[2..]);
    let sound = fs::read(&file).expect("a file");
    let mut damaged = sound.clone();
    damaged[600] ^= 1;
    fs::write(&file, damaged).expect("the disk");
    let to = grid.folder.path().join("nothing");
    let refused = grid.cli(&["fetch", &format!("{job}/11"), "--to", to.to_str().expect("text")]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("not what the task left"), "{said}");
    assert!(!to.exists(), "nothing of it was unpacked");
    let refused = grid.cli(&["fetch", job, "--to", to.to_str().expect("text")]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(1) && said.contains("the files of 39 tasks are in"), "{said}");
    assert!(!to.join("11").exists() && to.join("12").join("left").exists(), "all others were fetched");
    let verified = grid.cli(&["journal", "verify", "--files"]);
    assert_eq!(verified.status.code(), Some(1), "{}", String::from_utf8_lossy(&verified.stderr));
    fs::write(&file, sound).expect("the disk");
}
