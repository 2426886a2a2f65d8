//! An agent that is stopped, and one that is killed together with all that would end its tasks: no task runs in two places.

use crate::disk::HangingDisk;
use crate::grid::{Grid, PATIENCE, USER};
use crate::processes::until;
use std::fs;
use std::path::{Path, PathBuf};

const RULES: &str = "sessions = \"ignore\"\nnot_on_battery = false\nsuspend_on_return = false\nrun_below_load = 1.0\n\
                     busy_cores = 64.0\nidle_seconds = 1\n";
/// Each run writes its number and each moment at which it is still there; the second comes to its end.
const BEATS: &str = "\
trap '' TERM PIPE
i=0
while [ $GLEANER_ATTEMPT = 1 ] || [ $i -lt 5 ]; do
  echo $GLEANER_ATTEMPT $(date +%s%N) >> \"$0\"; echo beat 2> /dev/null; sleep 0.05; i=$((i + 1))
done";

/// What the runs wrote: number and moment.
fn beats(file: &Path) -> Vec<(u32, u64)> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let beat = |line: &str| {
        let (run, moment) = line.split_once(' ')?;
        Some((run.parse().ok()?, moment.parse().ok()?))
    };
    text.lines().filter_map(beat).collect()
}

fn begin(grid: &Grid) -> (String, PathBuf) {
    let file = grid.folder.path().join("beats");
    let path = file.to_str().expect("text").to_owned();
    let job = grid.json(&["submit", "--no-sandbox", "--", "sh", "-c", BEATS, &path])["job"].to_string();
    until("it runs", PATIENCE, || (!beats(&file).is_empty()).then_some(()));
    (job, file)
}

fn expect_one_after_the_other(file: &Path) {
    let beats = beats(file);
    let last =
        beats.iter().filter(|(run, _)| *run == 1).map(|(_, moment)| *moment).max().expect("a first run");
    let first =
        beats.iter().filter(|(run, _)| *run > 1).map(|(_, moment)| *moment).min().expect("a second run");
    assert!(last < first, "both runs were there for {} ns", last - first);
    eprintln!("{} ns between the two runs", first - last);
}

#[test]
fn what_a_stopped_agent_runs_ends_before_it_runs_elsewhere() {
    let mut grid = Grid::new("stalled", 4);
    grid.start();
    let options = ["--as", USER, "--slots", "1"];
    grid.add("one", 60, RULES, &options);
    let (job, file) = begin(&grid);
    grid.add("two", 60, RULES, &options);
    grid.machine("one").stall();
    grid.ok(&["wait", &job]);
    expect_one_after_the_other(&file);
    grid.machine("one").go_on();
    until("it is back", PATIENCE, || (grid.state_of("one")? == "open").then_some(()));
    grid.wind_up();
}

/// What it runs writes, so that the agent waits for the disk sooner or later.
#[test]
fn an_agent_whose_disk_hangs_runs_nothing_past_its_lease() {
    let real = tempfile::TempDir::new().expect("a folder");
    let Some(disk) = HangingDisk::showing(real.path()) else {
        eprintln!("SKIPPED: no FUSE here, or no bindfs: scripts/install.sh test installs it");
        return;
    };
    let mut grid = Grid::new("hanging", 4);
    grid.start();
    let options = ["--as", USER, "--slots", "1"];
    grid.add_at("one", disk.path().join("one"), 60, RULES, &options);
    let (job, file) = begin(&grid);
    grid.add("two", 60, RULES, &options);
    disk.hang();
    until("it is given up", PATIENCE, || (grid.state_of("one")? == "lost").then_some(()));
    grid.ok(&["wait", &job]);
    expect_one_after_the_other(&file);
    disk.go_on();
    until("it is back", PATIENCE, || (grid.state_of("one")? == "open").then_some(()));
    grid.wind_up();
}

#[test]
fn what_outlives_agent_keeper_and_minder_is_ended_by_the_next_start() {
    let mut grid = Grid::new("orphans", 30);
    grid.start();
    grid.add("one", 60, RULES, &["--as", USER, "--slots", "1"]);
    let (job, file) = begin(&grid);
    let machine = grid.machine("one");
    machine.kill_all_parts();
    let count = beats(&file).len();
    until("nobody ends it", PATIENCE, || (beats(&file).len() > count + 3).then_some(()));
    grid.machine("one").start();
    grid.ok(&["wait", &job]);
    expect_one_after_the_other(&file);
    let log = fs::read_to_string(&grid.machine("one").log).expect("a log");
    assert!(log.contains("ended processes of tasks that outlived an earlier agent"), "{log}");
    grid.wind_up();
}
