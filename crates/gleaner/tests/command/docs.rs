//! The documentation as a book, and its tables against the program.

use crate::program::root;
use gleaner_server::desk::Admitted;
use gleaner_workload::submit::{Source, read_job_file};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).expect(path)
}

/// What the simulator says of a key that there is not: all that there are in its section.
fn known(scenario: &Path, section: &str) -> BTreeSet<String> {
    let program = assert_cmd::cargo::cargo_bin!("gleaner");
    let set = format!("{section}.no_such_key=1");
    let output = std::process::Command::new(program)
        .arg("simulate")
        .arg(scenario)
        .args(["--set", &set])
        .output()
        .expect("it runs");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    let (_, list) = error.split_once("expected one of ").unwrap_or_else(|| panic!("{section}: {error}"));
    list.trim().split(", ").map(|key| format!("{section}.{key}")).collect()
}

#[test]
fn every_key_of_a_scenario_is_in_the_reference_and_no_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let brokers = folder.path().join("brokers.toml");
    fs::write(&brokers, "[sites]\nelements = \"e.csv\"\n[index]\n[work]\n").expect("a scenario");
    let [lab, drawn, peers] =
        ["lab", "sites", "peers"].map(|name| root().join("examples").join(name).join("scenario.toml"));
    let own = drawn.with_file_name("own.toml");
    let mut expected = BTreeSet::new();
    for (scenario, sections) in [
        (&lab, &["grid", "groups", "letters", "work", "policy", "migration", "faults", "run"][..]),
        (&brokers, &["sites", "index", "work", "network", "protocol"]),
        (&drawn, &["sites", "work", "network", "protocol"]),
        (&own, &["sites", "work"]),
        (&peers, &["peers", "letters", "work"]),
    ] {
        for section in sections {
            expected.extend(known(scenario, section));
        }
    }
    let page = read("docs/scenarios.md");
    let keys = page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let found: BTreeSet<String> = keys.map(str::to_owned).collect();
    let (missing, gone): (Vec<_>, Vec<_>) =
        (expected.difference(&found).collect(), found.difference(&expected).collect());
    assert!(
        missing.is_empty() && gone.is_empty(),
        "not in the page: {missing:?}; not in the reader: {gone:?}"
    );
}

/// Each `[policy]` section of a page, on the machines of the examples, which run one task a core and have a price; the tasks are a user's.
#[test]
fn every_policy_in_the_docs_is_one() {
    let program = assert_cmd::cargo::cargo_bin!("gleaner");
    let lab = root().join("examples/lab");
    let scenario = fs::read_to_string(lab.join("scenario.toml")).expect("the example");
    let (others, _) = scenario.split_once("[policy]").expect("its policy is last");
    let others = others.lines().filter(|line| !line.starts_with("owner_load")).collect::<Vec<_>>().join("\n");
    let others = others.replace("[grid]", "[grid]\nsharing = \"exclusive\"");
    let with_column = |table: &str, name: &str, value: &str| -> String {
        let text = fs::read_to_string(lab.join(table)).expect("the example");
        let rows = text.lines().enumerate();
        rows.map(|(row, line)| format!("{line},{}\n", if row == 0 { name } else { value })).collect()
    };
    let machines = with_column("machines.csv", "price", "0.001");
    let tasks = with_column("tasks.csv", "user", "ada");
    let mut tried = 0;
    for entry in fs::read_dir(root().join("docs")).expect("the folder") {
        let page = entry.expect("a file").path();
        let text = fs::read_to_string(&page).expect("a page");
        let fences = text.split("\n```toml\n").skip(1).filter_map(|rest| rest.split("\n```").next());
        for policy in fences.filter(|fence| fence.starts_with("[policy]")) {
            let folder = tempfile::tempdir().expect("a folder");
            fs::write(folder.path().join("machines.csv"), &machines).expect("a table");
            fs::write(folder.path().join("tasks.csv"), &tasks).expect("a table");
            let file = folder.path().join("scenario.toml");
            fs::write(&file, format!("{others}\n{policy}\n")).expect("a scenario");
            let output = std::process::Command::new(program).arg("simulate").arg(&file).output();
            let output = output.expect("it runs");
            let error = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}:\n{policy}\n{error}", page.display());
            tried += 1;
        }
    }
    assert!(tried > 1, "{tried} policies in all pages");
}

/// Each job of the page would be taken, and so would a job with each list of tasks.
#[test]
fn every_job_file_in_the_docs_is_one() {
    let page = read("docs/job-file.md");
    let fences: Vec<&str> =
        page.split("\n```toml\n").skip(1).filter_map(|rest| rest.split("\n```").next()).collect();
    let (jobs, lists): (Vec<&str>, Vec<&str>) =
        fences.into_iter().partition(|fence| fence.starts_with("command"));
    let [list] = lists[..] else { panic!("lists of tasks: {lists:?}") };
    let (head, keys) = list.split_once('\n').expect("a section");
    let with_lists = keys.lines().map(|key| format!("command = [\"true\"]\n{head}\n{key}\n"));
    let mut tried = 0;
    for job in jobs.into_iter().map(str::to_owned).chain(with_lists) {
        let file = read_job_file(&Source::new("job.toml", job.as_str()))
            .unwrap_or_else(|error| panic!("{error}\n{job}"));
        Admitted::check(file.job.spec).unwrap_or_else(|rejection| panic!("{}\n{job}", rejection.message));
        tried += 1;
    }
    assert!(tried > 5, "{tried} jobs in the page");
}

/// Each `cargo run … -p CRATE --example NAME` of the pages has a program to run.
#[test]
fn every_example_in_the_docs_is_there() {
    let pages =
        fs::read_dir(root().join("docs")).expect("the folder").map(|entry| entry.expect("a file").path());
    let pages = pages.chain(["README.md", "ARCHITECTURE.md"].map(|page| root().join(page)));
    let mut tried = 0;
    for page in pages {
        let text = fs::read_to_string(&page).expect("a page");
        for (before, after) in text.match_indices(" --example ").map(|(at, _)| text.split_at(at)) {
            let is_of_name = |letter: &char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
            let name: String =
                after.trim_start_matches(" --example ").chars().take_while(is_of_name).collect();
            let package = before.rsplit(' ').next().expect("a word");
            let program = root().join(format!("crates/{package}/examples/{name}.rs"));
            assert!(program.is_file(), "{}: {}", page.display(), program.display());
            tried += 1;
        }
    }
    assert!(tried > 1, "{tried} examples in all pages");
}

#[test]
fn every_page_is_in_the_book_and_every_link_leads_somewhere() {
    let summary = read("docs/SUMMARY.md");
    for entry in fs::read_dir(root().join("docs")).expect("the folder") {
        let path = entry.expect("a file").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("text");
        let is_page = path.extension().is_some_and(|end| end == "md") && name != "SUMMARY.md";
        assert!(!is_page || summary.contains(&format!("({name})")), "{name}");
    }
    let docs =
        fs::read_dir(root().join("docs")).expect("the folder").map(|entry| entry.expect("a file").path());
    let others =
        ["README.md", "SECURITY.md", "ARCHITECTURE.md", "packaging/README.md"].map(|name| root().join(name));
    for page in docs.filter(|path| path.extension().is_some_and(|end| end == "md")).chain(others) {
        let text = fs::read_to_string(&page).expect("a page");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap_or_default();
            // A file of ours has an ending or is a folder; the rest is mathematics, or the web.
            if target.is_empty() || link.contains("://") || link.contains(' ') {
                continue;
            }
            let path = page.parent().expect("a folder").join(target);
            assert!(path.exists(), "{}: {link}", page.display());
        }
    }
}
