//! A student signs in on a PC of their own, machines join and are set up anew, and who did what can be asked for.

use crate::grid::{Grid, PATIENCE};
use crate::processes::until;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Output, Stdio};

const RULES: &str = "sessions = \"ignore\"\nnot_on_battery = false\n";

/// A command of somebody whose files are in `home`.
fn of(grid: &Grid, home: &str, arguments: &[&str]) -> Output {
    let mut command = grid.within();
    command.arg(crate::grid::PROGRAM).args(arguments).env("GLEANER_HOME", home);
    command.output().expect("it runs")
}

/// They type the line that they were given.
fn sign_in(grid: &Grid, home: &str, line: &str) -> Output {
    let words: Vec<&str> = line.split_whitespace().skip(1).collect();
    of(grid, home, &words)
}

#[test]
fn a_student_signs_in_with_one_line_and_is_found_in_the_audit() {
    let mut grid = Grid::new("people", 8);
    grid.start();
    grid.add("pc", 50, RULES, &[]);
    let line = grid.ok(&["token", "user", "ada"]);
    assert!(line.starts_with("gleaner login https://"), "{line}");
    let home = grid.folder.path().join("ada");
    fs::create_dir(&home).expect("a folder");
    let home = home.display().to_string();
    let signed_in = sign_in(&grid, &home, &line);
    let said = String::from_utf8_lossy(&signed_in.stdout).into_owned();
    assert!(signed_in.status.success() && said.contains("as ada (user)"), "{said}");
    let submitted = of(&grid, &home, &["submit", "--wait", "--name", "thesis", "--", "true"]);
    assert!(submitted.status.success(), "{}", String::from_utf8_lossy(&submitted.stderr));
    // Names are one's own; an administrator is told whose job they saw.
    let refused = grid.cli(&["cancel", "thesis"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("job 1 of ada has that name: name jobs of others by number"), "{said}");

    // What somebody used is told of whoever is known, to whoever may see it.
    let used = of(&grid, &home, &["use", "--user", "ada"]);
    assert!(used.status.success() && String::from_utf8_lossy(&used.stdout).contains("ada"), "{used:?}");
    let nobody = grid.cli(&["use", "--user", "nobody"]);
    for (refused, why) in [
        (of(&grid, &home, &["use", "--user", "walker"]), "others' jobs are for administrators and readers"),
        (nobody, "no user is called \"nobody\""),
    ] {
        let said = String::from_utf8_lossy(&refused.stderr);
        assert!(refused.status.code() == Some(3) && said.contains(why), "{said}");
    }

    // A shell is proposed the jobs of the grid that the line names.
    let mut shell = grid.within();
    shell.env("GLEANER_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", "4").env("_CLAP_IFS", "\n");
    shell.arg(crate::grid::PROGRAM).args(["--", "gleaner", "explain", "--home", &home, ""]);
    let proposed = String::from_utf8(shell.output().expect("it runs").stdout).expect("text");
    assert!(["last", "1"].iter().all(|job| proposed.lines().any(|line| line == *job)), "{proposed}");
    let explained = of(&grid, &home, &["explain", "last"]);
    assert!(String::from_utf8_lossy(&explained.stdout).starts_with("1/0 at "), "{explained:?}");

    let tokens = grid.json(&["token", "list"]);
    assert!(tokens["version"] == 1 && tokens["join_tokens"].is_array(), "{tokens}");

    // The coordinator's own folder keeps its token.
    let own = grid.home.display().to_string();
    assert_eq!(sign_in(&grid, &own, &line).status.code(), Some(2));
    grid.ok(&["user", "remove", "ada"]);
    let refused = of(&grid, &home, &["status"]);
    assert_eq!(refused.status.code(), Some(3), "{}", String::from_utf8_lossy(&refused.stderr));
    // Whoever gets the name gets the jobs.
    let refused = grid.cli(&["token", "user", "ada"]);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(refused.status.code() == Some(3) && said.contains("--again"), "{said}");
    assert!(grid.ok(&["token", "user", "ada", "--again"]).starts_with("gleaner login"));

    let audit = grid.json(&["audit"]);
    let entries = audit["entries"].as_array().expect("what was done");
    for (by, what, about) in [
        ("coordinator", "a user was added", "walker, admin"),
        ("user walker", "a user was added", "ada, user"),
        ("agent pc", "the machine was enrolled", "pc, with join token "),
        ("user ada", "submitted", "job 1, 1 × true"),
        ("user walker", "a user was removed", "ada"),
    ] {
        let is_it = |entry: &&Value| {
            entry["by"] == by
                && entry["what"] == what
                && entry["about"].as_str().is_some_and(|text| text.starts_with(about))
        };
        assert!(entries.iter().any(|entry| is_it(&entry)), "{by} {what} {about}: {audit}");
    }
    let nobody = grid.cli(&["audit", "--by", "wlker", "--json"]);
    let said = String::from_utf8_lossy(&nobody.stderr);
    let is_said = said.contains("the trail has nothing by wlker; did you mean walker?");
    assert!(nobody.status.success() && is_said, "{said}");
    let nothing: Value = serde_json::from_slice(&nobody.stdout).expect("a document");
    assert_eq!(nothing["entries"].as_array().map(Vec::len), Some(0), "{nothing}");
    assert!(!grid.json(&["audit", "--by", "walker"])["entries"][0].is_null());
    let later = grid.cli(&["audit", "--by", "walker", "--since", "2099-01-01 00:00:00"]);
    let said = String::from_utf8_lossy(&later.stderr).into_owned();
    let is_said = said.contains("nothing like that since then; its last entry is of 2");
    assert!(later.status.success() && is_said, "{said}");
    assert_eq!(grid.cli(&["audit", "--limit", "0"]).status.code(), Some(2));
    assert!(grid.said().contains("submitted by=\"user ada\""), "{}", grid.said());
    grid.wind_up();
}

/// One of several jobs is another user's: the others are done all the same, and what was not is said.
#[test]
fn an_order_about_several_jobs_does_all_that_it_may() {
    let mut grid = Grid::new("several", 8);
    grid.start();
    let line = grid.ok(&["token", "user", "ada"]);
    let home = grid.folder.path().join("ada");
    fs::create_dir(&home).expect("a folder");
    let home = home.display().to_string();
    assert!(sign_in(&grid, &home, &line).status.success());
    for number in 1..=5 {
        let submitted = if number == 3 {
            grid.cli(&["submit", "--", "true"])
        } else {
            of(&grid, &home, &["submit", "--", "true"])
        };
        assert!(submitted.status.success(), "{}", String::from_utf8_lossy(&submitted.stderr));
    }
    let phases = |grid: &Grid| {
        let phase = |job: u32| {
            let status = grid.json(&["status", &job.to_string()]);
            let tasks = status["tasks"].as_object().expect("a count of each").clone();
            tasks.into_iter().find(|(_, count)| *count == 1).map(|(phase, _)| phase).unwrap_or_default()
        };
        (1..=5).map(phase).collect::<Vec<_>>().join(" ")
    };
    for (order, expected) in [
        ("hold", "held waiting waiting held held"),
        ("release", "waiting waiting waiting waiting waiting"),
        ("cancel", "cancelled waiting waiting cancelled cancelled"),
        ("rerun", "waiting waiting waiting waiting waiting"),
    ] {
        let ordered = of(&grid, &home, &[order, "5", "3", "4", "99", "1"]);
        let said = String::from_utf8_lossy(&ordered.stderr).into_owned();
        assert_eq!(ordered.status.code(), Some(3), "{order}: {said}");
        assert_eq!(String::from_utf8_lossy(&ordered.stdout), format!("{order}: 3 tasks\n"));
        assert!(
            said.contains("2 of 5 were refused, and the others are done: 3 (no job 3 of yours"),
            "{said}"
        );
        assert!(said.contains("99 (no job 99 of yours"), "{said}");
        assert_eq!(phases(&grid), expected, "{order}");
    }
    let kept = of(&grid, &home, &["keep", "5", "3", "4", "--json"]);
    let (out, said) = (String::from_utf8_lossy(&kept.stdout), String::from_utf8_lossy(&kept.stderr));
    assert_eq!(kept.status.code(), Some(3), "{said}");
    let (out, said): (Value, Value) =
        (serde_json::from_str(&out).expect("JSON"), serde_json::from_str(&said).expect("JSON"));
    assert_eq!(out["jobs"].as_array().map(Vec::len), Some(2), "{out}");
    assert!(said["failed"][0]["of"] == "3" && said["code"] == 3, "{said}");
    grid.wind_up();
}

#[test]
fn tasks_ask_for_tags_which_outlast_the_agent() {
    let mut grid = Grid::new("tags", 4);
    grid.start();
    grid.add("plain", 50, RULES, &[]);
    grid.add("fast", 50, RULES, &["--tag", "gpu", "--attribute", "Building=\"B2\""]);
    let on = |grid: &Grid, options: &[&str]| {
        let job = grid.json(&[&["submit"], options, &["--", "true"]].concat())["job"].to_string();
        grid.ok(&["wait", &job]);
        grid.json(&["status", &job, "--tasks"])["list"][0]["machine"].take()
    };
    assert_eq!(on(&grid, &["--tag", "gpu"]), "fast");
    assert_eq!(on(&grid, &["--requirements", "TARGET.Building == \"B2\""]), "fast");
    let waits = grid.ok(&["submit", "--tag", "fpga", "--dry-run", "--", "true"]);
    assert!(waits.contains("member(\"fpga\", TARGET.Tags)"), "{waits}");
    grid.machine("fast").stop();
    until("it is seen to be gone", PATIENCE, || (grid.state_of("fast")? != "open").then_some(()));
    // As a service would, without a word of its tags.
    grid.machine("fast").options.clear();
    grid.machine("fast").start();
    until("it is back", PATIENCE, || (grid.state_of("fast")? == "open").then_some(()));
    assert_eq!(on(&grid, &["--tag", "gpu"]), "fast");
    grid.wind_up();
}

#[test]
fn a_pc_that_was_set_up_anew_joins_again_under_its_name() {
    let mut grid = Grid::new("anew", 2);
    grid.start();
    grid.add("pc", 50, RULES, &[]);
    grid.machine("pc").stop();
    grid.machines.clear();
    fs::remove_dir_all(grid.folder.path().join("pc")).expect("its folder");
    until("it is seen to be gone", PATIENCE, || (grid.state_of("pc")? != "open").then_some(()));
    grid.add("pc", 50, RULES, &["--replace"]);
    let machines = grid.json(&["machines"]);
    assert_eq!(machines["machines"].as_array().map(Vec::len), Some(1), "{machines}");
    grid.wind_up();
}

#[test]
fn an_agent_says_who_it_is_and_shows_the_folders_that_its_owner_names() {
    let mut grid = Grid::new("shown", 9);
    grid.start();
    let rules = format!("{RULES}folders = [\"/opt\", \"/no/such/folder\"]\n");
    grid.add("pc", 50, &rules, &["--json"]);
    let log = fs::read_to_string(grid.folder.path().join("pc.log")).expect("what it said");
    let said = log.lines().find(|line| line.starts_with('{')).unwrap_or_else(|| panic!("{log}"));
    let said: Value = serde_json::from_str(said).expect("JSON");
    assert_eq!((&said["machine"], &said["version"]), (&"pc".into(), &1.into()), "{said}");
    let there = "member(\"/opt\", TARGET.Folders) && !member(\"/no/such/folder\", TARGET.Folders)";
    let look = "test -d /opt && ! touch /opt/written";
    grid.ok(&["submit", "--requirements", there, "--wait", "--", "sh", "-c", look]);
    grid.wind_up();
}

#[test]
fn who_waits_for_a_task_that_cannot_start_is_told_why() {
    let mut grid = Grid::new("why", 8);
    grid.start();
    let home = grid.home.display().to_string();
    let mut waiting = grid.within();
    waiting.arg(crate::grid::PROGRAM).args([
        "submit",
        "--wait",
        "--requirements",
        "TARGET.Memory > 1",
        "--",
        "true",
    ]);
    let child = waiting.env("GLEANER_HOME", &home).stderr(Stdio::piped()).stdout(Stdio::null()).spawn();
    let mut child = child.expect("it starts");
    let mut told = String::new();
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    while !told.contains("`gleaner explain 1`") {
        told += &lines.next().expect("it goes on waiting").expect("text");
        told.push('\n');
    }
    assert!(told.starts_with("job 1 waits for a machine: none has joined yet"), "{told}");
    assert!(of(&grid, &home, &["cancel", "1"]).status.success());
    assert_eq!(child.wait().expect("it ends").code(), Some(1));
    grid.wind_up();
}

#[test]
fn what_a_job_wrote_before_stays_where_waiting_for_the_next_one_fails() {
    let mut grid = Grid::new("stays", 8);
    grid.start();
    let line = grid.ok(&["token", "user", "ada"]);
    let work = grid.folder.path().join("ada");
    fs::create_dir(&work).expect("a folder");
    let home = work.display().to_string();
    assert!(sign_in(&grid, &home, &line).status.success());
    fs::write(work.join("run.sh"), "#!/bin/sh\necho after\n").expect("a program");
    fs::write(work.join("out.txt"), "before").expect("a file");
    fs::write(work.join("job.sub"), "executable = run.sh\noutput = out.txt\nqueue 1\n").expect("a job");

    // There is no machine, so that it waits until she is let in no more.
    let mut submit = grid.within();
    submit.arg(crate::grid::PROGRAM).args(["submit", "--wait", "--json", "-f", "job.sub"]);
    submit.current_dir(&work).env("GLEANER_HOME", &home);
    let waiting = submit.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    let is_there = || grid.json(&["status"])["jobs"].as_array().is_some_and(|jobs| !jobs.is_empty());
    until("the job is there", PATIENCE, || is_there().then_some(()));
    grid.ok(&["user", "remove", "ada"]);
    let ended = waiting.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(3), "{said}");
    // Nothing else says which job it was.
    assert!(said.contains("\"submitted\":[1]"), "{said}");
    assert_eq!(fs::read_to_string(work.join("out.txt")).expect("a file"), "before");
}
