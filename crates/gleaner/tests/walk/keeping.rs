//! Results go when they are due, also where the coordinator is killed meanwhile, and what somebody wants kept stays.

use crate::grid::{Grid, PATIENCE, USER};
use crate::processes::until;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

const RULES: &str = "sessions = \"ignore\"\nnot_on_battery = false\nsuspend_on_return = false\nrun_below_load = 1.0\n\
                     busy_cores = 64.0\nidle_seconds = 1\n";
const TASKS: usize = 20;

/// Files of output below a folder.
fn files(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.expect("an entry").path());
    entries.map(|path| if path.is_dir() { files(&path) } else { 1 }).sum()
}

#[test]
fn results_go_when_they_are_due_and_what_is_kept_stays() {
    let mut grid = Grid::new("keeping", 4);
    let settings = fs::OpenOptions::new().append(true).open(grid.home.join("config.toml"));
    settings.and_then(|mut file| file.write_all(b"keep_results_for = \"4s\"\n")).expect("the settings");
    grid.start();
    grid.add("lab", 80, RULES, &["--as", USER, "--slots", "2"]);
    // Not even the agent's own user may read it.
    let script = "seq 1 3000; echo $GLEANER_INDEX > left; chmod 0200 left";
    let array = ["--array", "1-20", "--output", "left", "--", "sh", "-c", script];
    let submit =
        |grid: &Grid| grid.json(&[&["submit", "--no-sandbox"], &array[..]].concat())["job"].to_string();
    let [kept, due] = [submit(&grid), submit(&grid)];
    let failing = ["submit", "--no-sandbox", "--", "sh", "-c", "echo why >&2; exit 3"];
    let failed = grid.json(&failing)["job"].to_string();
    grid.ok(&["keep", &kept]);
    // Whatever was recorded by then, and whatever was removed.
    for _ in 0..4 {
        grid.ok(&["wait", &kept, &due]);
        std::thread::sleep(Duration::from_millis(900));
        grid.kill_coordinator();
        grid.start();
    }
    until("the results are removed", PATIENCE, || {
        (!grid.json(&["status", &due])["results_removed"].is_null()).then_some(())
    });
    until("nothing of them is on the disk", PATIENCE, || {
        // Beside what each task wrote is the hash of it.
        (files(&grid.home.join("outputs")) == 2 * TASKS).then_some(())
    });
    eprintln!("{}{}{}", grid.ok(&["keep"]), grid.ok(&["status", &due]), grid.ok(&["audit"]));
    for command in [&["logs", &due][..], &["fetch", &due, "--to", "nowhere"]] {
        let refused = grid.cli(command);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(
            !refused.status.success() && said.contains(&format!("results of job {due} were removed")),
            "{said}"
        );
    }
    assert_eq!(grid.json(&["status", &due])["tasks"]["done"], TASKS, "what became of its tasks is known");
    until("those of the job that failed are removed too", PATIENCE, || {
        (!grid.json(&["status", &failed])["results_removed"].is_null()).then_some(())
    });
    let reasons = &grid.json(&["status", &failed])["reasons"];
    assert_eq!((&reasons[0]["tasks"], &reasons[0]["reason"]), (&1.into(), &"exit code 3".into()));
    let told = grid.ok(&["status", &failed]);
    assert!(
        told.contains("exit code 3") && told.contains(&format!("{failed}/0: its output was removed")),
        "{told}"
    );
    let expected: String = (1..=3_000).map(|number| format!("{number}\n")).collect();
    for output in grid.json(&["logs", &kept])["outputs"].as_array().expect("a list") {
        assert!(output["text"] == expected, "the output of task {} is not what it wrote", output["task"]);
    }
    let bytes = |of: &str| grid.json(&["status", of])["bytes"].as_u64().expect("a number");
    assert_eq!(bytes(&due), 0);
    let users = grid.json(&["quota", "show"]);
    let user = users["users"].as_array().expect("a list").iter().find(|view| view["user"] == USER);
    assert_eq!(user.expect("a user")["bytes"], bytes(&kept), "{users}");
    what_is_there_is_had_where_some_is_not(&grid, &kept, &due);
    grid.wind_up();
}

/// Of a job some of whose results were removed, or cannot be read, the others are had, and it is said which are not.
fn what_is_there_is_had_where_some_is_not(grid: &Grid, kept: &str, due: &str) {
    grid.ok(&["rerun", &format!("{due}/2")]);
    grid.ok(&["wait", due]);
    let to = grid.folder.path().join("some");
    let to_text = to.to_str().expect("text");
    let logs = grid.cli(&["logs", due]);
    for (output, is_log) in [(&logs, true), (&grid.cli(&["fetch", due, "--to", to_text]), false)] {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("those of 19 tasks (1, 3, 4") && said.contains("are removed"), "{said}");
        assert!(!is_log || output.stdout.ends_with(b"==> 2/20 <==\n"), "all were asked for");
    }
    assert!(String::from_utf8_lossy(&logs.stdout).contains("\n3000\n"));
    assert_eq!(fs::read(to.join("2/left")).expect("its files"), b"2\n");
    // A task of each of several jobs: what one lacks, the others may have.
    let (to, both) = (grid.folder.path().join("both"), format!("{kept}-{due}/3"));
    let fetched = grid.cli(&["fetch", &both, "--to", to.to_str().expect("text")]);
    let logs = grid.cli(&["logs", &both, "--json"]);
    for output in [&fetched, &logs] {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(&format!("job {due}: ")) && !said.contains(&format!("job {kept}: ")), "{said}");
    }
    assert!(logs.stdout.starts_with(b"{"), "what is there is shown");
    assert_eq!(fs::read(to.join(kept).join("left")).expect("its files"), b"3\n");

    // A file that the coordinator cannot read.
    let tasks = grid.json(&["status", kept, "--tasks"]);
    let blob = tasks["list"][2]["files"]["blob"].as_str().expect("a file").to_owned();
    let stored = grid.home.join("blobs").join(&blob[..2]).join(&blob[2..]);
    let aside = grid.folder.path().join("aside");
    fs::rename(&stored, &aside).and_then(|()| fs::create_dir(&stored)).expect("a folder in its place");
    let to = grid.folder.path().join("others");
    let fetched = grid.cli(&["fetch", kept, "--to", to.to_str().expect("text")]);
    let said = String::from_utf8_lossy(&fetched.stderr).into_owned();
    assert_eq!(fetched.status.code(), Some(1), "{said}");
    assert!(said.contains("those of 1 task (3) are damaged") && said.contains("cannot be read"), "{said}");
    assert!(grid.said().contains("a stored file cannot be read"));
    assert_eq!(fs::read(to.join("20/left")).expect("its files"), b"20\n");
    fs::remove_dir(&stored).and_then(|()| fs::rename(&aside, &stored)).expect("it is back");
}

/// Of a forgotten job the rows go too, by order; all else is told as before, and the grid goes on.
#[test]
fn rows_of_forgotten_jobs_go_and_what_is_known_stays() {
    let mut grid = Grid::new("compacting", 4);
    let settings = fs::OpenOptions::new().append(true).open(grid.home.join("config.toml"));
    let terms = b"keep_results_for = \"2s\"\nkeep_for = \"3s\"\n";
    settings.and_then(|mut file| file.write_all(terms)).expect("the settings");
    grid.start();
    grid.add("lab", 80, RULES, &["--as", USER, "--slots", "2"]);
    let submit = |grid: &Grid, script: &str| {
        let options =
            ["submit", "--no-sandbox", "--array", "1-9", "--output", "left", "--", "sh", "-c", script];
        grid.json(&options)["job"].to_string()
    };
    let [known, forgotten] =
        [submit(&grid, "seq 1 3000; echo 7 > left"), submit(&grid, "seq 1 9; echo 7 > left")];
    grid.ok(&["keep", &known]);
    grid.ok(&["wait", &known, &forgotten]);
    until("the job is forgotten", PATIENCE, || {
        (!grid.cli(&["status", &forgotten]).status.success()).then_some(())
    });
    let of_task = format!("{known}/3");
    let asked = [&["status", &known][..], &["history", &of_task], &["logs", &known]];
    let told = |grid: &Grid| asked.map(|command| grid.ok(command));
    let before = told(&grid);
    let head = grid.ok(&["audit", "--head"]).trim().to_owned();
    let old = head.split_once(':').map(|(_, hash)| format!("2:{hash}")).expect("a head");
    assert!(grid.stop_coordinator().success());

    let rows = grid.ok(&["journal", "export"]).lines().count();
    let since = ["--before", "9999999999"];
    let would = grid.ok(&[&["journal", "compact"], &since[..]].concat());
    eprintln!("{would}");
    assert!(would.contains("1 forgotten job ") && would.contains("Nothing was changed"), "{would}");
    assert!(would.contains("\nA state of ") && would.contains(" would take their place"), "{would}");
    assert_eq!(grid.ok(&["journal", "export"]).lines().count(), rows);
    let done = grid.json(&[&["journal", "compact", "--yes"], &since[..]].concat());
    let dropped = done["rows_dropped"].as_u64().expect("a number") as usize;
    assert!(dropped >= 9 && done["compacted"] == true, "{done}");
    let exported = grid.ok(&["journal", "export"]);
    // The row that says so is new.
    assert_eq!(exported.lines().count(), rows - dropped + 1);
    assert!(!exported.contains("seq 1 9;") && exported.contains("seq 1 3000"), "the job's text is gone");
    eprintln!("{}{}", grid.ok(&["journal", "verify"]), grid.ok(&["audit"]));
    assert!(grid.ok(&["audit"]).contains("the journal was compacted by order"));
    grid.ok(&["audit", "--verify", "--since", &head]);
    let refused =
        String::from_utf8_lossy(&grid.cli(&["audit", "--verify", "--since", &old]).stderr).into_owned();
    assert!(!refused.is_empty(), "another head's hash");

    grid.start();
    assert_eq!(told(&grid), before);
    let refused = grid.cli(&["explain", &of_task, "--at", "1000000000"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("the journal was compacted at row"), "{said}");
    let more = submit(&grid, "echo more > left");
    grid.ok(&["wait", &more]);
    grid.kill_coordinator();
    grid.start();
    assert_eq!(told(&grid), before);
    eprintln!("{}", grid.ok(&["replay", grid.home.to_str().expect("text"), "--policy", "bertasi/social"]));
    grid.wind_up();
}
