//! Small submit files and what becomes of them.

use super::{commands, read_in, read_with};
use gleaner_wire::job::{Checkpointing, Needs, TaskList};
use std::path::Path;

fn read(text: &str) -> Result<gleaner_workload::submit::Submission, String> {
    read_in(Path::new(""), "a.sub", text, &[]).map_err(|error| error.to_string())
}

#[test]
fn keys_become_the_job() {
    let text = "\
executable = bin/run.sh
arguments = \"one 'two three' $(Process)\"
environment = \"A=1 B='x y'\"
getenv = omp_*;HOME, !OMP_secret
initialdir = data
input = in.txt
transfer_input_files = a.csv, /abs/b.csv
transfer_output_files = out.csv, logs
output = $(Cluster).$(Process).out
error = err
log = a.log
request_cpus = 2
request_memory = 2GB
request_disk = 50
requirements = TARGET.Arch == \"X86_64\"
rank = TARGET.Memory
priority = 7
max_retries = 3
hold = true
batch_name = night
checkpoint_exit_code = 85
allowed_execute_duration = 3600
job_max_vacate_time = 60
universe = vanilla
notification = never
queue 3
";
    let submission = read(text).expect("a submission");
    let [job] = submission.jobs.as_slice() else { panic!("several jobs") };
    let spec = &job.spec;
    assert_eq!(spec.command, ["./run.sh", "one", "two three", "{GLEANER_INDEX}"]);
    assert_eq!(spec.tasks, TaskList::Array { first: 0, last: 2, step: 1 });
    assert_eq!(spec.env.keys().collect::<Vec<_>>(), ["A", "B", "HOME", "OMP_NUM_THREADS"]);
    let sources: Vec<&str> = job.inputs.iter().map(|input| input.source.as_str()).collect();
    assert_eq!(sources, ["bin/run.sh", "data/a.csv", "/abs/b.csv"]);
    assert_eq!(job.stdin.as_ref().map(|file| file.source.as_str()), Some("data/in.txt"));
    assert_eq!(job.stdout.as_deref(), Some("data/\0.{GLEANER_INDEX}.out"));
    assert_eq!(spec.outputs, ["out.csv", "logs"]);
    assert_eq!(spec.needs, Needs { cores: 2, memory: 2 << 30, disk: 50 << 10, time_limit_s: 3600.0 });
    assert_eq!(spec.requirements.as_deref(), Some("TARGET.Arch == \"X86_64\""));
    assert_eq!((spec.priority, spec.retries, spec.hold, spec.name.as_str()), (7, 3, true, "night"));
    assert_eq!(spec.checkpoint, Checkpointing { folder: true, exit_code: Some(85), grace_s: 60.0 });
    assert_eq!(submission.notes.len(), 1);
}

/// The commands of all jobs, a job between bars.
fn run(text: &str) -> String {
    match read(&format!("executable = /e\ntransfer_executable = false\n{text}")) {
        Ok(submission) => {
            let jobs = submission.jobs.iter().map(|job| {
                commands(job).iter().map(|words| words[1..].join("_")).collect::<Vec<_>>().join(" ")
            });
            jobs.collect::<Vec<_>>().join(" | ")
        }
        Err(error) => error.lines().next().unwrap_or_default().to_owned(),
    }
}

#[test]
fn processes_become_tasks() {
    for (text, expected) in [
        ("arguments = $(Process)\nqueue 12", "0 1 2 3 4 5 6 7 8 9 10 11"),
        ("arguments = f$(Process).1\nqueue 3", "f0.1 f1.1 f2.1"),
        ("arguments = $(x)$(Process)\nqueue 2 x in (a b)", "a0 a1 b2 b3"),
        ("arguments = $(x) $(Step) $(Row)\nqueue 2 x in (a b)", "a_0_0 a_1_0 b_0_1 b_1_1"),
        ("arguments = $(Process)\nqueue 2\nqueue 2", "0 1 2 3"),
        ("arguments = a\nqueue\narguments = b\nqueue 2", "a b b"),
        ("arguments = $(x)\nqueue x from (\na\nb c\n)", "a | b_c"),
        ("request_cpus = $(n)\narguments = $(Process)\nqueue n in (1 2 1)", "0 2 | 1"),
        ("arguments = {GLEANER_INDEX} {x}\nqueue 2", "{GLEANER_INDEX}_{x} {GLEANER_INDEX}_{x}"),
        ("queue arguments in (p q)", "p q"),
        ("arguments = $(x)\nqueue x in [1:3] (a b c d)", "b c"),
        ("arguments = $(x)\nqueue x in [-1:] (a b c d)", "d"),
        ("arguments = $(x)\nqueue x in [::2] (a b c d)", "a c"),
        ("n = 2\narguments = $(Process)\nqueue $(n)*2", "0 1 2 3"),
        ("arguments = $(x)\nqueue 1 + 1 x in (a b)", "a a b b"),
        ("arguments = $(y) $(x)\nqueue 2*1 x,y from (\na b\n)", "b_a b_a"),
        ("arguments = $(x)\nqueue x in a, b c", "a b c"),
        ("arguments = $(ItemIndex) $(Row) $(x)\nqueue x in [1:3] (a b c d)", "1_1_b 2_2_c"),
        ("x = /a/.bashrc\narguments = <$Fn(x)|$Fx(x)>\nqueue", "<.bashrc|>"),
        ("arguments = $INT(Process,%02d)\nqueue 3", "00 01 02"),
        ("foo = 1\nif defined foo\narguments = yes\nendif\nqueue", "yes"),
        ("a = 3\na = $INT(a,%02d)$(b:$(a))\narguments = $(a)\nqueue", "033"),
    ] {
        assert_eq!(run(text), expected, "{text}");
    }
}

#[test]
fn what_is_not_supported_is_named() {
    for (text, expected) in [
        ("arguments = $$(Name)\nqueue", "a.sub:3: arguments: $$(…) asks the machine"),
        (
            "arguments = $(none)\nqueue",
            "a.sub:3: arguments: $(none) has no value: define it, say --set none=VALUE",
        ),
        ("arguments = $(Cluster)\nqueue", "a.sub:3: arguments: $(Cluster) is not known before"),
        ("getenv = true\nqueue", "a.sub:3: getenv: all variables that are set would go to other machines"),
        ("getenv = *\nqueue", "a.sub:3: getenv: all variables that are set would go to other machines"),
        ("getenv = **\nqueue", "a.sub:3: getenv: all variables that are set would go to other machines"),
        ("getenv = !SECRET\nqueue", "a.sub:3: getenv: all variables that are set would go to other machines"),
        ("queue 2 3x in (a)", "a.sub:3: queue: found \"2 3x\"; expected a number from 1"),
        ("universe = java\nqueue", "a.sub:3: universe: there is no universe java"),
        ("+Owner = \"x\"\nqueue", "a.sub:3: +Owner: own attributes of a job"),
        ("foo = 1\nqueue", "a.sub:3: foo: neither a key that Gleaner knows, nor used as a macro"),
        (
            "request_memroy = 1\nqueue",
            "a.sub:3: request_memroy: neither a key that Gleaner knows, nor used as a macro; did you mean request_memory?",
        ),
        ("leave_in_queue = true\nqueue", "a.sub:3: leave_in_queue: every job stays listed"),
        ("request_memory = 2XB\nqueue", "a.sub:3: request_memory: \"2XB\" is no size"),
        ("request_cpus = 0\nqueue", "a.sub:3: request_cpus: 0 is no number of cores from 1 to 65536"),
        ("include : other.sub\nqueue", "a.sub:3: include: one file must say all"),
        ("queue\nhold = true", "a.sub:4: hold: it comes after the last queue"),
        ("rank = 1 +\nqueue", "a.sub:3: rank: at "),
        ("hold = true", "a.sub: found no queue statement"),
        ("if x\nqueue", "a.sub:3: if: found \"x\"; expected true, false"),
        ("if true\nqueue", "a.sub:3: if: found no endif"),
        ("if defined a b\nendif\nqueue", "a.sub:3: if: found defined \"a b\"; expected true, false"),
        ("a = $(Process)\na = $Fn(a)\narguments = $(a)\nqueue", "a.sub:4: a: $(Process) has no value"),
        ("endif\nqueue", "a.sub:3: endif: found no if above"),
        ("queue x in (a", "a.sub:3: queue: found a list that is not closed"),
        ("queue x from ls |", "a.sub:3: queue: found the command \"ls |\""),
        ("queue x in ()", "a.sub:3: queue: found \"x in ()\", which is no item"),
        (
            "queue x matching no/*.such",
            "a.sub:3: queue: found no file or folder that matches \"no/*.such\"; expected at least one, looked for from",
        ),
        (
            "queue x matching dirs Cargo.*",
            "a.sub:3: queue: found no folder that matches \"Cargo.*\", only files; expected at least one",
        ),
        (
            "queue x in [9223372036854775807] (a b)",
            "a.sub:3: queue: found \"x in [9223372036854775807] (a b)\"",
        ),
        ("queue x in [-9223372036854775808:] (a b) c", "a.sub:3: queue: found "),
        ("queue 0", "a.sub:3: queue: found \"0\"; expected a number from 1"),
        ("queue 99999999", "a.sub:3: queue: found \"99999999\"; expected a number from 1"),
        ("nonsense\nqueue", "a.sub:3: found \"nonsense\"; expected name = value"),
    ] {
        let found = run(text);
        assert!(found.starts_with(expected), "{text}\n  {found}\n  {expected}");
    }
}

#[test]
fn all_keys_are_named_at_once_and_can_be_ignored() {
    let text = "executable = e\nfoo = 1\nuniverse = grid\nbar = 2\nqueue\n";
    let error = read(text).expect_err("three keys");
    let named: Vec<&str> = error.lines().filter_map(|line| line.split(": ").nth(1)).collect();
    assert_eq!(named[..3], ["foo", "universe", "bar"]);
    let ignored = ["FOO", "universe", "bar"].map(str::to_owned);
    assert!(read_in(Path::new(""), "a.sub", text, &ignored).is_ok());
}

#[test]
fn a_key_to_ignore_that_the_file_does_not_have_is_said_with_the_nearest() {
    let text =
        "executable = e\nnotify_user = a\ninclude : b\nif false\nfoo = 1\nfi @=end\nx\n@end\nendif\nqueue\n";
    let unmet = |keys: &[&str]| {
        let keys: Vec<String> =
            ["notify_user", "include"].iter().chain(keys).map(ToString::to_string).collect();
        read_in(Path::new(""), "a.sub", text, &keys).expect("a submission").unmet
    };
    assert_eq!(unmet(&["FOO", "fi", "Notify_User"]), [""; 0]);
    let nothing = "the file has nothing of that name to go on without";
    assert_eq!(
        unmet(&["Notfy_user", "wantcorefile", "queue"]),
        [
            format!("--ignore Notfy_user: {nothing}; did you mean notify_user?"),
            format!("--ignore wantcorefile: {nothing}"),
            format!("--ignore queue: {nothing}"),
        ]
    );
}

#[test]
fn a_macro_that_is_given_a_value_is_one_that_the_file_has() {
    let text = "executable = /e\nif defined b-c\nendif\narguments = $( A ) $INT( n ,%d) $(x)\nrequest_memory = 1\n\
                queue x in ($(item))";
    let given = |name: &str| {
        let macros =
            [("a", "$(within)"), ("b-c", "1"), ("n", "1"), ("item", "1"), ("within", "1"), (name, "1")];
        let macros = macros.map(|(name, value)| (name.to_owned(), value.to_owned()));
        read_with(Path::new(""), "a.sub", text, (&[], &macros)).map_err(|error| error.to_string())
    };
    assert!(given("a").is_ok(), "{:?}", given("a"));
    for name in ["request_memory", "arguments", "nonsense"] {
        let said = given(name).expect_err("nothing looks it up");
        assert!(said.contains(&format!("there is no $({name}) in the file")), "{said}");
    }
}

#[test]
fn a_slice_stands_before_or_behind_what_is_to_match() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["a.txt", "b.txt", "c.txt", "[d].txt"] {
        std::fs::write(folder.path().join(name), "").expect("a file is written");
    }
    std::fs::create_dir(folder.path().join("e.txt")).expect("a folder is made");
    for (queue, expected) in [
        ("f matching files [1:3] *.txt", "a.txt b.txt"),
        ("f matching [1:3] files *.txt", "a.txt b.txt"),
        ("f matching [a-b]*.txt", "a.txt b.txt"),
        ("f matching c* e*", "c.txt e.txt/"),
    ] {
        let text = format!("executable = /e\ntransfer_executable = false\narguments = $(f)\nqueue {queue}\n");
        let submission = read_in(folder.path(), "a.sub", &text, &[]).expect("a submission");
        let words: Vec<String> =
            submission.jobs.iter().flat_map(commands).map(|words| words[1].clone()).collect();
        assert_eq!(words.join(" "), expected, "{queue}");
    }
}
