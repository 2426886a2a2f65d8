//! `gleaner classad`.

use crate::scratch::{Scratch, gleaner};
use assert_cmd::assert::Assert;

fn output(assert: &Assert) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&assert.get_output().stdout), text(&assert.get_output().stderr))
}

fn batch(folder: &Scratch, arguments: &[&str], input: &str) -> Assert {
    let mut command = assert_cmd::Command::new(assert_cmd::cargo::cargo_bin!("gleaner"));
    command.current_dir(folder.path("")).args(["classad", "eval", "--batch"]).args(arguments);
    command.write_stdin(input).assert()
}

#[test]
fn one_expression_gives_one_value() {
    let folder = Scratch::new();
    for (expression, value) in [
        ("1 + 2", "3"),
        ("-1.5", "-1.5"),
        ("strcat(\"a\", 1)", "\"a1\""),
        ("{1, 2}", "{1, 2}"),
        ("missing", "undefined"),
    ] {
        let (stdout, stderr) = output(&gleaner(&folder, &["classad", "eval", expression]).success());
        assert_eq!((stdout.trim_end(), stderr.as_str()), (value, ""), "{expression}");
    }
    let (stdout, _) = output(&gleaner(&folder, &["classad", "eval", "1 < 2", "--json"]).success());
    assert!(stdout.contains("\"version\":1") && stdout.contains("\"value\":\"true\""), "{stdout}");
}

#[test]
fn a_batch_goes_on_after_a_line_that_does_not_parse() {
    let folder = Scratch::new();
    let (stdout, stderr) = output(&batch(&folder, &[], "1+1\n2 +\n[a = 1].a\n").code(1));
    assert_eq!(stdout, "2\nerror\n1\n");
    assert!(stderr.contains("line 2"), "{stderr}");
    let (stdout, stderr) = output(&batch(&folder, &[], "sizee(\"abc\")").success());
    assert_eq!(stdout, "error\n");
    assert!(stderr.contains("sizee") && stderr.contains("`size`"), "{stderr}");
}

#[test]
fn ads_hold_for_every_line() {
    let folder = Scratch::new();
    folder.write("task.ad", "RequestMemory = 512\nOwner = \"ada\"\n");
    folder.write("machine.ad", "[Memory = 1024]");
    let ads = ["--my", "task.ad", "--target", "machine.ad"];
    let lines = "TARGET.Memory >= MY.RequestMemory\nOwner\n";
    let (stdout, _) = output(&batch(&folder, &ads, lines).success());
    assert_eq!(stdout, "true\n\"ada\"\n");
}

#[test]
fn a_match_is_both_ways_and_tells_in_its_exit_code() {
    let folder = Scratch::new();
    folder.write("task.ad", "[Requirements = TARGET.Memory >= 512; Rank = TARGET.Memory]");
    folder.write("machine.ad", "[Memory = 1024; Requirements = true]");
    folder.write("small.ad", "[Memory = 256; Requirements = true]");
    let (stdout, _) =
        output(&gleaner(&folder, &["classad", "match", "task.ad", "machine.ad", "--json"]).success());
    assert!(stdout.contains("\"match\":true") && stdout.contains("\"a_ranks_b\":1024.0"), "{stdout}");
    let (stdout, _) = output(&gleaner(&folder, &["classad", "match", "task.ad", "small.ad"]).code(1));
    assert!(stdout.starts_with("match  false"), "{stdout}");
}

#[test]
fn bad_input_is_pointed_at() {
    let folder = Scratch::new();
    folder.write("bad.ad", "[a = ");
    let (_, stderr) = output(&gleaner(&folder, &["classad", "eval", "1 + * 2"]).code(2));
    assert!(stderr.contains("line 1, column 5") && stderr.contains("    ^"), "{stderr}");
    let (_, stderr) = output(&gleaner(&folder, &["classad", "match", "bad.ad", "none.ad"]).code(2));
    assert!(stderr.contains("bad.ad"), "{stderr}");
    gleaner(&folder, &["classad", "eval"]).code(2);
}
