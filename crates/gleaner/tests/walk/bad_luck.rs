//! What a coordinator meets when it starts, each case with what it says; and an agent that comes back too late.

use crate::disk::{Mounted, SmallDisk};
use crate::grid::{Grid, PATIENCE};
use crate::processes::until;
use gleaner_server::store::FORMAT;
use gleaner_testkit::random::Choices;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Where SQLite keeps the number of a journal's format: `user_version`, big-endian.
const FORMAT_AT: usize = 60;

/// What the coordinator ends with where another folder, or another version of it, would do.
const USAGE: i32 = 2;
/// What it ends with where its own folder is not as it should be.
const FAULT: i32 = 4;

/// Starts a coordinator that must not come up, and returns its last words.
fn refusal(grid: &Grid, code: i32) -> String {
    let output = grid.serve().output().expect("it starts");
    let said = grid.said();
    let last = said.lines().last().unwrap_or_default().to_owned();
    assert_eq!(output.status.code(), Some(code), "{last}");
    // The folder's name differs from run to run.
    last.replace(&grid.home.display().to_string(), "HOME")
}

#[test]
fn a_second_coordinator_on_one_folder_refuses() {
    let mut grid = Grid::new("second", 30);
    grid.start();
    let pid = grid.coordinator_pid();
    assert_eq!(
        refusal(&grid, USAGE),
        format!(
            "error: HOME is in use by process {pid}: stop that coordinator first, or choose another folder"
        )
    );
    grid.ok(&["status"]);
}

/// Machines and users know the grid by its authority: another one would lock them all out.
#[test]
fn a_grid_whose_authority_is_gone_gets_no_other_one_unasked() {
    let mut grid = Grid::new("authority", 30);
    grid.start();
    grid.stop_coordinator();
    let file = grid.home.join("authority/authority.pem");
    let kept = fs::read(&file).expect("its authority");
    fs::remove_file(&file).expect("it is there");
    let said = refusal(&grid, FAULT);
    assert!(said.contains("authority is not in HOME/authority any more"), "{said}");
    assert!(said.contains("put the folder back from a backup"), "{said}");
    fs::write(&file, kept).expect("it is put back");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("it is ours");
    grid.start();
    grid.stop_coordinator();
    // Asked for, as it says.
    fs::remove_file(&file).expect("it is there");
    fs::remove_file(grid.home.join("authority.crt")).expect("it is there");
    grid.start();
    grid.wind_up();
}

#[test]
fn a_folder_that_cannot_be_written_to_is_refused() {
    let disk = SmallDisk::new(8);
    let grid = Grid::at("read-only", 30, disk.path().join("coordinator"));
    disk.protect();
    assert_eq!(
        refusal(&grid, FAULT),
        "error: HOME cannot be written to: make it writable for this user, or choose another folder"
    );
}

/// What is mounted by a program may lie on another machine, as with sshfs.
#[test]
fn a_folder_on_a_network_file_system_is_refused_unless_it_is_wanted() {
    let real = tempfile::TempDir::new().expect("a folder");
    let Some(mounted) = Mounted::by_a_program(real.path()) else {
        eprintln!("SKIPPED: no FUSE here, or no bindfs: scripts/install.sh test installs it");
        return;
    };
    let mut grid = Grid::at("network", 30, mounted.path().join("coordinator"));
    assert_eq!(
        refusal(&grid, USAGE),
        "error: HOME is on FUSE, where locks and synced writes cannot be relied on, so facts could be lost: choose a \
         folder on a local disk, or, where you know better, allow this one with --network-folder"
    );
    let settings = grid.home.join("config.toml");
    let allowed = fs::read_to_string(&settings).expect("the settings") + "network_folder = true\n";
    fs::write(&settings, allowed).expect("the settings");
    grid.start();
    grid.ok(&["status"]);
    assert!(grid.stop_coordinator().success());
}

#[test]
fn a_journal_of_a_newer_version_is_refused_and_not_touched() {
    let mut grid = Grid::new("newer", 30);
    grid.start();
    assert!(grid.stop_coordinator().success());
    let file = grid.home.join("gleaner.db");
    let mut bytes = fs::read(&file).expect("the journal");
    bytes[FORMAT_AT..FORMAT_AT + 4].copy_from_slice(&99_u32.to_be_bytes());
    fs::write(&file, &bytes).expect("the journal");
    assert_eq!(
        refusal(&grid, USAGE),
        format!(
            "error: HOME/gleaner.db has format 99, and this version reads format {FORMAT} only: start the newer version \
             that wrote it; nothing was changed"
        )
    );
    assert!(fs::read(&file).expect("the journal") == bytes, "it was changed");
}

/// What the coordinator says of a torn tail, in any one line.
const TORN: &str = "the journal ended in the middle of a commit: all rows up to";

/// What was torn off is gone, what was before it is all there, and the coordinator says so; only then.
#[test]
fn a_torn_tail_of_the_journal_costs_what_was_torn() {
    const SEED: u64 = 7;
    const JOBS: usize = 12;
    let mut choices = Choices::seeded(SEED);
    let mut grid = Grid::new("torn", 30);
    grid.start();
    for _ in 0..JOBS {
        grid.ok(&["submit", "--", "true"]);
    }
    grid.kill_coordinator();
    let log = grid.home.join("gleaner.db-wal");
    let whole = copy(&grid.home);
    let length = fs::metadata(&log).expect("the log").len() as usize;
    let mut is_told = false;
    for _ in 0..8 {
        restore(&whole, &grid.home);
        let kept = choices.below(length);
        fs::File::options()
            .write(true)
            .open(&log)
            .and_then(|file| file.set_len(kept as u64))
            .expect("it is torn");
        // Nothing says that there was more: a loss of power takes that along.
        fs::remove_file(grid.home.join("journal.last")).expect("a note");
        grid.start();
        let jobs = jobs_of(&grid);
        is_told |= grid.said().contains(TORN);
        eprintln!("seed {SEED}: {kept} of {length} bytes of the log, {} of {JOBS} jobs", jobs.len());
        assert!(jobs.iter().copied().eq(1..=jobs.len() as u64), "not the first ones: {jobs:?}");
        grid.ok(&["submit", "--", "true"]);
        assert!(grid.stop_coordinator().success());
        grid.ok(&["journal", "verify"]);
    }
    assert!(is_told, "no cut was in the middle of a commit, or none was told");
    let said = grid.said().len();
    restore(&whole, &grid.home);
    grid.start();
    assert!(!grid.said()[said..].contains(TORN), "{}", &grid.said()[said..]);
    assert_eq!(jobs_of(&grid).len(), JOBS, "a kill loses nothing");
}

fn jobs_of(grid: &Grid) -> Vec<u64> {
    let list = grid.json(&["status", "--limit", "1000"]);
    let mut jobs: Vec<u64> = list["jobs"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|job| job["job"].as_u64().expect("a number"))
        .collect();
    jobs.sort_unstable();
    jobs
}

/// The files of the coordinator's folder; folders in it hold nothing that these tests look at.
fn copy(home: &Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(home).expect("the folder").map(|entry| entry.expect("an entry").path());
    entries
        .filter(|path| path.is_file())
        .map(|path| (path.clone(), fs::read(path).expect("a file")))
        .collect()
}

fn restore(files: &[(std::path::PathBuf, Vec<u8>)], home: &Path) {
    for entry in fs::read_dir(home).expect("the folder").map(|entry| entry.expect("an entry").path()) {
        if entry.is_file() {
            fs::remove_file(entry).expect("a file");
        }
    }
    // Snapshots stand on rows that may be torn off.
    let _ = fs::remove_dir_all(home.join("snapshots"));
    // As the coordinator made them: what others can read is refused.
    for (path, bytes) in files {
        fs::write(path, bytes).expect("a file");
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).expect("a file of ours");
    }
}

/// The journal has all that is in a snapshot: one that was made anew, or that a disk has spoilt, changes nothing.
#[test]
fn a_start_from_a_rebuilt_or_a_spoilt_snapshot_finds_the_same() {
    const JOBS: u64 = 5;
    let mut grid = Grid::new("snapshot", 30);
    grid.start();
    for _ in 0..JOBS {
        grid.ok(&["submit", "--", "true"]);
    }
    assert!(grid.stop_coordinator().success());
    let rebuilt = grid.ok(&["journal", "rebuild"]);
    assert!(rebuilt.contains("the next start begins from here"), "{rebuilt}");
    grid.start();
    assert!(jobs_of(&grid).into_iter().eq(1..=JOBS));
    assert!(!grid.said().contains("passed over"), "{}", grid.said());
    grid.kill_coordinator();
    for entry in fs::read_dir(grid.home.join("snapshots")).expect("the snapshots") {
        let path = entry.expect("an entry").path();
        let mut bytes = fs::read(&path).expect("a snapshot");
        *bytes.last_mut().expect("it is not empty") ^= 1;
        fs::write(&path, bytes).expect("a snapshot");
    }
    grid.start();
    assert!(jobs_of(&grid).into_iter().eq(1..=JOBS));
    let told = "is damaged and is passed over: the journal has all that is in it";
    assert!(grid.said().contains(told), "{}", grid.said());
    assert!(grid.stop_coordinator().success());
    grid.ok(&["journal", "verify"]);
}

#[test]
fn a_stale_result_is_refused_and_shown() {
    const RULES: &str = "sessions = \"ignore\"\nnot_on_battery = false\nsuspend_on_return = false\n\
                         run_below_load = 1.0\nidle_seconds = 1\n";
    let mut grid = Grid::new("stale", 10);
    grid.start();
    for name in ["lab", "office"] {
        grid.add(name, 80, RULES, &[]);
    }
    // The second run stays where it is, however fast the first machine is found to be when it is back.
    grid.ok(&["policy", "set", "bertasi/greedy"]);
    // The first run ends while its machine cannot be reached, the second takes until the first has come back.
    let script = "if [ $GLEANER_ATTEMPT = 1 ]; then sleep 5; else sleep 20; fi; echo run $GLEANER_ATTEMPT";
    let job = grid.json(&["submit", "--", "sh", "-c", script])["job"].to_string();
    let task = format!("{job}/0");
    let first = until("it runs", PATIENCE, || {
        let task = grid.json(&["status", &job, "--tasks"])["list"][0].take();
        (task["phase"] == "running").then(|| task["machine"].as_str().expect("a machine").to_owned())
    });
    grid.machine(&first).wire.cut();
    until("it was given to another", PATIENCE, || {
        let task = grid.json(&["status", &job, "--tasks"])["list"][0].take();
        (task["phase"] == "running" && task["machine"] != first.as_str()).then_some(())
    });
    grid.machine(&first).wire.heal();
    grid.ok(&["wait", &job]);
    assert_eq!(grid.ok(&["logs", &task]), "run 2\n");
    let history = grid.ok(&["history", &task]);
    eprintln!("{history}");
    assert!(history.contains("did not count") || history.contains("refused"), "{history}");
    let refused = grid.facts().into_iter().filter(|fact| fact["result_refused"].is_object()).count();
    assert_eq!(refused, 1);
    grid.wind_up();
}
