//! Clients and agents that send slowly, endlessly, or what is not theirs; and files that are not what they were.

use crate::disk::SmallDisk;
use crate::grid::{Grid, PATIENCE};
use crate::processes::until;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

const RULES: &str = "sessions = \"ignore\"\nnot_on_battery = false\nsuspend_on_return = false\nrun_below_load = 1.0\n\
                     busy_cores = 64.0\nidle_seconds = 1\n";
/// As many as one of these clients sends at a time.
const ENROLMENTS: usize = 300;
const UPLOADS: usize = 64;
/// Far less than the least rate.
const BYTES_A_SECOND: &str = "100";

fn submit(grid: &Grid, arguments: &[&str], script: &str) -> String {
    grid.json(&[&["submit"], arguments, &["--", "sh", "-c", script]].concat())["job"].to_string()
}

/// How often a run of any task has ended.
fn ends(grid: &Grid) -> Vec<String> {
    let facts = grid.facts().into_iter().filter(|fact| fact["run_ended"].is_object());
    facts.map(|fact| fact["run_ended"]["end"]["outcome"].to_string()).collect()
}

/// Clients that send the same body to each of these paths, slowly.
fn send_slowly(grid: &Grid, name: &str, token: &str, method: &str, paths: &[String]) -> Child {
    let body = grid.folder.path().join("body");
    fs::write(&body, vec![b' '; 1 << 20]).expect("a body");
    let mut config = String::new();
    for (number, path) in paths.iter().enumerate() {
        config.push_str(if number > 0 { "next\n" } else { "" });
        let address = format!("url = \"https://{}{path}\"", crate::network::ADDRESS);
        let body = body.display();
        writeln!(config, "{address}\nrequest = {method}\ndata-binary = \"@{body}\"\noutput = /dev/null")
            .expect("text");
        writeln!(
            config,
            "header = \"Authorization: Bearer {token}\"\nheader = \"Content-Type: application/json\""
        )
        .expect("text");
        writeln!(config, "header = \"Expect:\"\nlimit-rate = {BYTES_A_SECOND}\ninsecure").expect("text");
    }
    let file = grid.folder.path().join(name);
    fs::write(&file, config).expect("a file");
    let mut command = grid.within();
    command.args([
        "curl",
        "--silent",
        "--parallel",
        "--parallel-immediate",
        "--parallel-max",
        "300",
        "--config",
    ]);
    command.arg(file).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("curl")
}

/// Defended by: token before body; places for each user, and others for agents; what an agent has is kept until it is stored.
#[test]
fn slow_senders_block_nobody() {
    let mut grid = Grid::new("senders", 30);
    grid.start();
    grid.add("lab", 100, RULES, &["--slots", "2"]);
    let never_issued = format!("glj_{}", "A".repeat(43));
    let enrolments = vec!["/api/v1/agents".to_owned(); ENROLMENTS];
    let strangers =
        ["strangers", "more"].map(|name| send_slowly(&grid, name, &never_issued, "POST", &enrolments));
    let eve = grid.json(&["token", "user", "eve"])["token"].as_str().expect("a token").to_owned();
    let uploads: Vec<String> =
        (0..UPLOADS).map(|number| format!("/api/v1/blobs/{}", blake3::hash(&[number as u8]))).collect();
    let mut slow = send_slowly(&grid, "uploads", &eve, "PUT", &uploads);
    let job = submit(&grid, &["--array", "1-4", "--output", "out"], "head -c 300000 /dev/zero > out");
    grid.ok(&["wait", &job]);
    // What was taken back before it began says that it was stopped.
    let results = ends(&grid).into_iter().filter(|end| end != "\"stopped\"").count();
    assert_eq!(results, 4, "a result was thrown away: {:?}", ends(&grid));
    for mut stranger in strangers {
        until("all without a token have their answers", PATIENCE, || {
            stranger.try_wait().expect("it is ours")
        });
    }
    slow.kill().expect("it is ours");
    slow.wait().expect("it is ours");
    let to = grid.folder.path().join("fetched");
    grid.ok(&["fetch", &job, "--to", to.to_str().expect("text")]);
    assert_eq!(fs::metadata(to.join("3/out")).expect("it was fetched").len(), 300_000);
    grid.wind_up();
}

/// Defended by: a reserve for the journal, less what is promised; results that are kept and sent again with rests.
#[test]
fn a_full_coordinator_neither_falls_nor_runs_a_task_again() {
    let disk = SmallDisk::new(64);
    let mut grid = Grid::at("no-room", 30, disk.path().join("coordinator"));
    grid.start();
    grid.add("lab", 100, RULES, &["--slots", "2"]);
    let large = grid.folder.path().join("large");
    fs::write(&large, vec![1; 80 << 20]).expect("a file");
    let input = large.to_str().expect("text");
    let refused = grid.cli(&["submit", "--input", input, "--", "true"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    // It may hear no more than that the connection was closed on it.
    assert_eq!(refused.status.code(), Some(3), "{said}");
    grid.expect_all_alive();

    let script = "while ! test -e /tmp/x && test $((i = i + 1)) -lt 40; do sleep 0.1; done; head -c 3000000 /dev/zero > out";
    let job = submit(&grid, &["--output", "out"], script);
    until("it runs", PATIENCE, || (grid.json(&["status", &job])["tasks"]["running"] == 1).then_some(()));
    disk.fill_but(7);
    let log = grid.machine("lab").log.clone();
    until("it was tried more than once to store the result", PATIENCE, || {
        let said = fs::read_to_string(&log).unwrap_or_default();
        (said.matches("is kept here until it can be stored").count() > 1).then_some(())
    });
    let refused = grid.cli(&["submit", "--", "true"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(3) && said.contains("no space is left"), "{said}");
    assert_eq!(ends(&grid), Vec::<String>::new());
    disk.clear();
    grid.ok(&["wait", &job]);
    assert_eq!(ends(&grid), ["{\"exited\":{\"code\":0}}"]);
    grid.wind_up();
}

/// Defended by: a run whose output was lost does not count, and its machine closes until its disk works.
#[test]
fn output_that_an_agents_full_disk_lost_is_not_missed() {
    let disk = SmallDisk::new(96);
    let mut grid = Grid::new("lost-output", 30);
    grid.start();
    grid.add_at("lab", disk.path().join("lab"), 100, RULES, &["--slots", "1"]);
    let job = submit(&grid, &[], "seq 100000; sleep 4; seq 100001 200000");
    until("it has written something", PATIENCE, || {
        (!grid.json(&["logs", &job])["outputs"][0]["text"].as_str()?.is_empty()).then_some(())
    });
    disk.fill();
    until("the run does not count", PATIENCE, || {
        disk.fill();
        ends(&grid).first().is_some_and(|end| end.contains("could not be kept on its machine")).then_some(())
    });
    assert_eq!(grid.state_of("lab").as_deref(), Some("closed"));
    disk.clear();
    grid.ok(&["wait", &job]);
    let expected: String = (1..=200_000).map(|number| format!("{number}\n")).collect();
    assert!(grid.ok(&["logs", &format!("{job}/0")]) == expected, "the output has a hole");
    grid.wind_up();
}

/// The only file below a folder for which this holds.
fn find(folder: &Path, holds: &dyn Fn(&Path) -> bool) -> PathBuf {
    let mut open = vec![folder.to_owned()];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if holds(&path) {
                found.push(path);
            }
        }
    }
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

/// Defended by: hashes checked by coordinator and client, lengths from the journal, and `journal verify`.
#[test]
fn what_was_changed_on_the_disk_is_not_handed_out() {
    let mut grid = Grid::new("changed", 30);
    grid.start();
    grid.add("lab", 100, RULES, &["--slots", "1"]);
    let job = submit(&grid, &["--output", "out"], "seq 50000; seq 50000 > out");
    grid.ok(&["wait", &job]);
    let to = grid.folder.path().join("fetched");
    let fetch = ["fetch", &job, "--to", to.to_str().expect("text")];
    let logs = ["logs", &format!("{job}/0")];
    let whole = grid.ok(&logs);
    let verified = grid.ok(&["journal", "verify", "--files"]);
    assert!(verified.contains("2 files are what they were"), "{verified}");

    let blob = find(&grid.home.join("blobs"), &|_| true);
    let content = fs::read(&blob).expect("a blob");
    let mut changed = content.clone();
    changed[100_000] ^= 1;
    fs::write(&blob, changed).expect("a blob");
    let refused = grid.cli(&fetch);
    assert_eq!(refused.status.code(), Some(1), "{}", String::from_utf8_lossy(&refused.stderr));
    assert!(!to.join("0/out").exists());
    let refused = grid.cli(&["journal", "verify", "--files"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    // It was put aside: nobody is sent it again.
    assert!(refused.status.code() == Some(1) && said.contains("is missing"), "{said}");
    fs::write(&blob, content).expect("a blob");
    grid.ok(&fetch);

    let output = find(&grid.home.join("outputs"), &|path| path.extension().is_some_and(|kind| kind == "out"));
    let content = fs::read(&output).expect("output");
    fs::write(&output, [content.as_slice(), b"of another\n"].concat()).expect("output");
    assert!(grid.ok(&logs) == whole, "what is behind the run's own output is shown");
    for left in [Some(&content[..1_000]), None] {
        left.map_or_else(|| fs::remove_file(&output), |left| fs::write(&output, left)).expect("output");
        let refused = grid.cli(&logs);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(refused.status.code() == Some(3) && said.contains("gleaner journal verify"), "{said}");
        let refused = grid.cli(&["journal", "verify"]);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(refused.status.code() == Some(1) && said.contains("standard output of"), "{said}");
    }
    fs::write(&output, content).expect("output");
    grid.wind_up();
}

/// Defended by: files are had under the names of one's own tasks, and a hash opens nothing.
#[test]
fn what_another_user_sent_or_got_cannot_be_had_by_its_hash() {
    let mut grid = Grid::new("hashes", 30);
    grid.start();
    grid.add("lab", 100, RULES, &["--slots", "1"]);
    let secret = grid.folder.path().join("secret");
    fs::write(&secret, "a secret\n").expect("a file");
    let job = submit(&grid, &["--input", "secret", "--output", "out"], "cp secret out");
    grid.ok(&["wait", &job]);
    let eve = grid.json(&["token", "user", "eve"])["token"].as_str().expect("a token").to_owned();
    let status = |path: &str| {
        let mut command = grid.within();
        command.args([
            "curl",
            "--silent",
            "--insecure",
            "--output",
            "/dev/null",
            "--write-out",
            "%{http_code}",
        ]);
        command.args(["--header", &format!("Authorization: Bearer {eve}")]);
        let output =
            command.arg(format!("https://{}{path}", crate::network::ADDRESS)).output().expect("curl");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let files = grid.json(&["status", &job, "--tasks"]);
    let left = grid.facts().into_iter().find(|fact| fact["run_ended"].is_object()).expect("it ended");
    let left =
        left["run_ended"]["end"]["files"]["blob"].as_str().unwrap_or_else(|| panic!("{files}")).to_owned();
    let sent = blake3::hash(b"a secret\n").to_string();
    for path in [
        format!("/api/v1/blobs/{sent}"),
        format!("/api/v1/blobs/{left}"),
        format!("/api/v1/jobs/{job}/tasks/0/files"),
    ] {
        assert_eq!(status(&path), "404", "{path}");
    }
    grid.wind_up();
}
