//! Help, policies, completions and usage errors.

use assert_cmd::assert::Assert;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::process::Command;

fn gleaner(arguments: &[&str]) -> Assert {
    assert_cmd::Command::new(assert_cmd::cargo::cargo_bin!("gleaner")).args(arguments).assert()
}

fn stdout(assert: &Assert) -> String {
    String::from_utf8(assert.get_output().stdout.clone()).expect("text")
}

#[test]
fn what_is_no_text_and_what_nobody_reads_is_a_usage_error_all_the_same() {
    let program = assert_cmd::cargo::cargo_bin!("gleaner");
    let status = Command::new(program).arg(OsStr::from_bytes(b"\xff")).status().expect("it runs");
    assert_eq!(status.code(), Some(2));
    for arguments in [&["submit"][..], &["status", "--json", "--nonsense"], &["simulate", "/nowhere"]] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let status = Command::new(program).args(arguments).stderr(writer).status().expect("it runs");
        assert_eq!(status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn what_the_environment_says_is_not_asked_for_in_the_usage_of_an_error() {
    for (arguments, usage) in [
        (&["status", "--nonsense"][..], "Usage: gleaner status [OPTIONS]"),
        (&["machine", "pause", "--nonsense"][..], "Usage: gleaner machine pause [OPTIONS]"),
        (&["submit"][..], "Usage: gleaner submit [OPTIONS]"),
    ] {
        let mut command = assert_cmd::Command::new(assert_cmd::cargo::cargo_bin!("gleaner"));
        let run = command.args(arguments).env("GLEANER_HOME", "/nowhere").assert().code(2);
        let said = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
        assert!(said.contains(usage) && !said.contains("--home"), "{said}");
    }
}

#[test]
fn every_policy_listed_can_be_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let listed = stdout(&gleaner(&["policy", "list"]).success());
    assert_eq!(listed.lines().count(), 49, "{listed}");
    for line in listed.lines() {
        let name = line.split_whitespace().next().expect("a name");
        let shown = stdout(&gleaner(&["policy", "show", name]).success());
        assert!(shown.starts_with(&format!("# {name}: ")), "{shown}");
        assert!(shown.contains(&format!("\n[policy]\npreset = \"{name}\"\n")), "{shown}");
        // It can be set as it is: that there is no coordinator is all that is wrong.
        let file = folder.path().join("policy.toml");
        std::fs::write(&file, &shown).expect("a file is written");
        let home = folder.path().display().to_string();
        gleaner(&["policy", "set", "--from", &file.display().to_string(), "--home", &home]).code(3);
        let document = stdout(&gleaner(&["policy", "show", name, "--json"]).success());
        let document: serde_json::Value = serde_json::from_str(&document).expect("JSON");
        assert_eq!((&document["version"], &document["name"]), (&1.into(), &name.into()));
    }
}

#[test]
fn every_key_of_a_policy_is_explained() {
    let keys = stdout(&gleaner(&["policy", "keys"]).success());
    for word in
        ["sufferage-passes", "cheapest-then-earliest", "bt-within-period", "as-derived", "lost", "declared"]
    {
        assert!(keys.contains(word), "{word}: {keys}");
    }
}

#[test]
fn what_a_policy_is_called_may_say_a_number() {
    let shown = stdout(&gleaner(&["policy", "show", "immediate/kpb:12.5"]).success());
    assert!(shown.contains("preset = \"immediate/kpb:12.5\""), "{shown}");
    for wrong in ["immediate/kpb:0", "immediate/kpb:101", "immediate/kpb:", "immediate/kpb:NaN"] {
        gleaner(&["policy", "show", wrong]).code(2);
    }
}

#[test]
fn usage_errors_exit_with_2_and_help_with_0() {
    for wrong in [
        &["policy", "show", "bertasi/best"][..],
        &["simulate"],
        &["frobnicate"],
        &["simulate", "a.toml", "--seeds", "0"],
        &["simulate", "a.toml", "--seeds", "2", "--checkpoint", "f"],
        &["simulate", "a.toml", "--checkpoint-every", "5"],
    ] {
        let run = gleaner(wrong).code(2);
        assert!(run.get_output().stdout.is_empty() && !run.get_output().stderr.is_empty(), "{wrong:?}");
    }
    for right in [&["--help"][..], &["simulate", "--help"], &["-V"]] {
        assert!(!stdout(&gleaner(right).success()).is_empty(), "{right:?}");
    }
    let versions = stdout(&gleaner(&["--version"]).success());
    let said =
        [" 0.1.0\n", &format!("\njournal format {}\n", gleaner_server::store::FORMAT), "\nsession version "];
    assert!(said.iter().all(|part| versions.contains(part)), "{versions}");
}

#[test]
fn usage_errors_are_json_where_json_was_asked_for() {
    let run = gleaner(&["simulate", "--json", "--frobnicate"]).code(2);
    let error: serde_json::Value = serde_json::from_slice(&run.get_output().stderr).expect("JSON");
    assert_eq!((&error["version"], &error["code"]), (&1.into(), &2.into()));
}

#[test]
fn there_are_completions_for_three_shells() {
    for shell in ["bash", "zsh", "fish"] {
        let script = stdout(&gleaner(&["completions", shell]).success());
        assert!(script.contains("GLEANER_COMPLETE") && script.contains("gleaner"), "{shell}: {script}");
    }
}

/// What a shell is proposed for the last of the words.
fn proposed(words: &[&str]) -> String {
    let place = words.len().to_string();
    let mut command = assert_cmd::Command::new(assert_cmd::cargo::cargo_bin!("gleaner"));
    let folder = tempfile::tempdir().expect("a folder");
    command.env("GLEANER_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", &place).env("_CLAP_IFS", "\n");
    command.env("GLEANER_HOME", folder.path()).args(["--", "gleaner"]).args(words);
    stdout(&command.assert().success())
}

#[test]
fn words_of_ours_are_completed_without_a_grid() {
    for (words, expected) in [
        (&["simul"][..], "simulate"),
        (&["policy", "show", "bertasi/gr"], "bertasi/greedy"),
        (&["policy", "set", "queue/ea"], "queue/easy"),
        (&["map", "FILE", "--heuristic", "max"], "max-min"),
        (&["paper", "kh"], "khoo"),
        (&["completions", "z"], "zsh"),
        (&["owner", "set", "grace"], "grace_max_seconds"),
    ] {
        let told = proposed(words);
        assert!(told.lines().any(|line| line == expected), "{words:?}: {told}");
    }
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.t");
    assert_eq!(
        proposed(&["explain", manifest]).trim_end(),
        concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")
    );
    assert_eq!(proposed(&["status", "7"]), "", "no grid, nothing to propose, and no complaint");
}

#[test]
fn there_is_a_manual_page_for_each_command() {
    let whole = stdout(&gleaner(&["man"]).success());
    assert!(whole.contains(".TH gleaner 1") && whole.contains("simulate"), "{whole}");
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("man1");
    gleaner(&["man", "--out", &out.display().to_string()]).success();
    let read =
        |name: &str| std::fs::read_to_string(out.join(name)).unwrap_or_else(|why| panic!("{name}: {why}"));
    assert!(read("gleaner-submit.1").contains("array"));
    assert!(read("gleaner-machine-drain.1").contains("Start nothing new there"));
    // What `gleaner help` lists is all there.
    let help = stdout(&gleaner(&["--help"]).success());
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| line.starts_with("  ")).filter(|line| !line.starts_with("   "));
    let mut found = 0;
    for name in listed.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help") {
        read(&format!("gleaner-{name}.1"));
        found += 1;
    }
    assert!(found > 30, "{help}");
}

#[test]
fn a_reader_that_goes_away_is_no_fault() {
    use std::process::Stdio;
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("gleaner"))
        .args(["completions", "bash"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!error.contains("panicked"), "{error}");
}

#[test]
fn an_option_that_there_is_not_is_not_proposed_as_a_job() {
    for wrong in [&["status", "--bogus"][..], &["status", "--tasks", "--bogus"], &["logs", "7", "-z"]] {
        let run = gleaner(wrong).code(2);
        let said = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
        assert!(said.contains("Usage") && !said.contains("as a value"), "{wrong:?}: {said}");
    }
}

#[test]
fn a_wrong_value_is_told_with_what_is_expected_and_what_was_meant() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path().display().to_string();
    let long = "x".repeat(501);
    for (wrong, expected) in [
        (&["map", "FILE", "--heuristic", "minmin"][..], "did you mean min-min?"),
        (
            &["simulate", "a.toml", "--seeds", "2", "--shake", "-5"],
            "invalid value '-5' for '--shake <SECONDS>': expected seconds, 0 or more",
        ),
        (&["token", "user", "ada", "--expires", "-3"], "invalid value '-3' for '--expires"),
        (&["machine", "drain", "pc", "--why", &long], "--why: found 501 bytes; expected at most 500"),
        (&["machine", "price", "pc", "dear"], "expected a number of credits, 0 or more"),
        (
            &["machine", "price", "pc", "-1"],
            "invalid value '-1' for '<CREDITS>': expected a number of credits",
        ),
        (&["budget", "set", "-1"], "invalid value '-1' for '<CREDITS>'"),
        (&["serve", "--listen", "7717"], "expected an address of this machine and a port, as 0.0.0.0:7717"),
        (&["owner", "set", "idle_seconds", "soon", "--home", &home], "expected a whole number"),
        (&["owner", "set", "grace_max", "5", "--home", &home], "did you mean grace_max_seconds?"),
        (&["replay", "nowhere", "--policy", "queue/easy:fil=shortest"], "did you mean fill?"),
        (&["replay", "nowhere", "--policy", "queue/easy:fill=shortest"], "nowhere: found nothing there"),
        (&["policy", "show", "bertasi/gredy"], "did you mean bertasi/greedy?"),
        (&["work", "--task-memory-gb", "0"], "for '--task-memory-gb <GB>': expected gigabytes, from 0.01"),
        (&["work", "--name", "my pc"], "invalid value 'my pc' for '--name <NAME>': expected letters, digits"),
        (&["submit", "--cores", "1.5", "--", "true"], "expected a whole number"),
        (&["fetch", "same", "--to", "-d"], "to pass '-d' as a value, use '--to=-d'"),
        (&["submit", "-o", "-x.txt", "--", "true"], "to pass '-x.txt' as a value, use '-o=-x.txt'"),
        (&["quota", "set", "ann", "--tasks", "5"], "to name a user: --user ann"),
        (&["explain", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")], "expected one of its tasks too"),
    ] {
        let run = gleaner(wrong).code(2);
        let said = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
        assert!(said.contains(expected), "{wrong:?}: {said}");
    }
}
