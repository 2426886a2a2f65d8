//! What the pages for people say is done, as they say it: each block that is marked `sh run`, in order, on a grid.

use crate::grid::{Grid, PROGRAM};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const RULES: &str = "sessions = \"ignore\"\nprograms = \"ignore\"\nnot_on_battery = false\n";

/// The blocks of a page that are to be run.
fn blocks(page: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join(page)).expect("a page");
    let mut blocks = Vec::new();
    let mut open: Option<String> = None;
    for line in text.lines() {
        match &mut open {
            None if line == "```sh run" => open = Some(String::new()),
            None => {}
            Some(_) if line == "```" => blocks.extend(open.take()),
            Some(block) => *block += &format!("{line}\n"),
        }
    }
    assert!(!blocks.is_empty(), "nothing to run in {page}");
    blocks
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs all of them in one folder; `command` is a shell that is given them one by one.
fn run(page: &str, folder: &Path, command: impl Fn() -> Command) {
    let path = format!(
        "{}:{}",
        Path::new(PROGRAM).parent().expect("a folder").display(),
        std::env::var("PATH").expect("a path")
    );
    for block in blocks(page) {
        let mut command = command();
        command.args(["bash", "-euo", "pipefail", "-c", &block]).current_dir(folder).env("PATH", &path);
        let output = command.output().expect("a shell");
        let (said, error) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{page}:\n{block}\nended with {}\n{said}\n{error}", output.status);
        eprintln!("{block}{said}");
    }
}

#[test]
fn what_a_student_reads_is_so() {
    let mut grid = Grid::new("student", 30);
    grid.start();
    grid.add("lab-01", 100, RULES, &[]);
    let folder = grid.folder.path().join("student");
    fs::create_dir(&folder).expect("a folder");
    run("docs/student.md", &folder, || {
        let mut command = grid.within();
        command.arg("env").env("GLEANER_HOME", &grid.home);
        command
    });
    assert_eq!(fs::read_to_string(folder.join("results/0/lines.txt")).expect("the result"), "42\n");
    grid.wind_up();
}

#[test]
fn what_pages_on_quorums_budgets_and_jobs_say_is_so() {
    let mut grid = Grid::new("pages", 30);
    grid.start();
    for machine in ["lab-1", "lab-2", "lab-3"] {
        grid.add(machine, 100, RULES, &[]);
    }
    let folder = grid.folder.path().join("pages");
    fs::create_dir(&folder).expect("a folder");
    for program in ["simulate", "run"] {
        let path = folder.join(program);
        fs::write(&path, "#!/bin/sh\necho 42 > result.csv\n").expect("a program");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("its mode");
    }
    let page = fs::read_to_string(root().join("docs/job-file.md")).expect("a page");
    let job = page.split("\n```toml\n").nth(1).and_then(|rest| rest.split("\n```").next()).expect("a job");
    for (name, text) in [
        ("job.toml", job),
        ("render", "#!/bin/sh\n"),
        ("data/one.csv", ""),
        ("scenes/a.blend", ""),
        ("scenes/b.blend", ""),
        ("numbers.txt", ""),
    ] {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("it has one")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    for page in ["docs/trust.md", "docs/budgets.md", "docs/job-file.md"] {
        run(page, &folder, || {
            let mut command = grid.within();
            command.arg("env").env("GLEANER_HOME", &grid.home);
            command
        });
    }
    grid.wind_up();
}

/// A folder with the examples in it, as the pages' commands name them.
fn with_examples() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let examples = folder.path().join("examples");
    std::os::unix::fs::symlink(root().join("examples").canonicalize().expect("it is there"), examples)
        .expect("a link");
    folder
}

#[test]
fn what_pages_on_scenarios_and_logs_say_is_so() {
    let folder = with_examples();
    // The pages speak of a public log and of a trace, which are not ours to pass on.
    let generate = "gleaner workload generate lublin --cores 100 --jobs 300 --out days.swf";
    // Over months, as that log.
    let stretch = "gleaner workload filter days.swf --scale-load 0.02 --out KTH-SP2.swf.gz";
    let convert = "gleaner workload convert KTH-SP2.swf.gz --out trace.gwf";
    for line in [generate, stretch, convert] {
        let output = Command::new(PROGRAM).args(line.split(' ').skip(1)).current_dir(folder.path()).output();
        let output = output.expect("it runs");
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
    for page in ["bertasi", "khoo", "cavalieri", "workloads", "queues"] {
        run(&format!("docs/{page}.md"), folder.path(), || Command::new("env"));
    }
}

#[test]
fn what_a_researcher_reads_is_so() {
    let folder = with_examples();
    run("docs/researcher.md", folder.path(), || Command::new("env"));
    assert!(folder.path().join("results/report.html").is_file() && folder.path().join("bertasi").is_dir());
}
