//! Whatever a submit file, a job file or a list of tasks holds, reading it ends, and an error says where.

use super::read_in;
use gleaner_workload::submit::SubmitFileError;
use gleaner_workload::submit::{Source, each_line, from_json, jdf, read_job_file};
use proptest::prelude::*;
use std::path::Path;

const SUBMIT_FILE: &str = "\
executable = run.sh
arguments = \"one 'two three' $(Process) $(x:4)\"
x = $(y)
y = $INT(Process,%03d)
environment = \"A=1 B='2 3'\"
transfer_input_files = a.txt, b_$(Item).txt
request_memory = 2 GB
request_cpus = 2
requirements = (Memory >= 4) && regexp(\"lab\", Machine)
if defined x
  priority = 3
else
  priority = 4
endif
output = out.$(Cluster).$(Process)
queue 2 Item from (
  a
  b
)
";
const JOB_FILE: &str = "\
name = \"sort\"
command = [\"./run\", \"{rate}\", \"{seed}\"]
inputs = [\"data.csv\", { from = \"big.bin\", to = \"data.bin\" }]
outputs = [\"out/*\"]
requirements = \"TARGET.Memory >= 4\"
length = \"5G\"
[env]
HOW = \"well\"
[needs]
cores = 2
memory = \"2 GiB\"
time_limit = \"5min\"
[checkpoint]
folder = true
[tasks.sweep]
rate = [0.1, 0.2]
seed = [1, 2, 3]
";
const DESCRIPTION: &str = "\
job :
label : sort
requirements : ( os == linux and mem >= 4 ) or not in_path perl
init : put a-{1-3}.csv $PLAYPEN/a-{1-3}.csv
final : get out-$JOB.$TASK out/$TASK
task :
init : if ( os == linux ) then
  store \"lib x.so\" lib.so
 endif
remote : ./sort $TASK > out-$JOB.$TASK
task :
remote : ./sort '{seed}'
check : true
";
const ROWS: &str = "[{\"a\": \"x\", \"b\": 1}, {\"b\": 2.50, \"a\": true}]";
/// What tends to upset readers.
const INSERTS: [&str; 32] = [
    "",
    "\n",
    "\"",
    "'",
    "\0",
    "$(",
    "$(x)$(x)$(x)$(x)",
    "x = $(x)$(x)\n",
    "$$(",
    ")",
    "queue 4294967295\n",
    "queue 99999999\n",
    "queue x in (",
    "if 1\n",
    "endif\n",
    "$INT(",
    "%099d",
    "1e999",
    "-1",
    "99999999999999999999",
    "{",
    "}",
    "[[",
    "= ",
    "\\\n",
    ",",
    "é",
    "[[[[[[[[",
    "\u{202e}",
    "$ENV(HOME)",
    "0-4294967295",
    "include : x\n",
];

type Edits = Vec<(prop::sample::Index, usize, usize)>;

fn edited(good: &str, edits: Edits) -> String {
    let mut text: Vec<char> = good.chars().collect();
    for (at, removed, insert) in edits {
        let at = at.index(text.len() + 1);
        let end = (at + removed).min(text.len());
        text.splice(at..end, INSERTS[insert].chars());
    }
    text.into_iter().collect()
}

fn edits() -> impl Strategy<Value = Edits> {
    prop::collection::vec((any::<prop::sample::Index>(), 0..4_usize, 0..INSERTS.len()), 1..7)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn no_submit_file_makes_the_reader_panic(edits in edits()) {
        let text = edited(SUBMIT_FILE, edits);
        // A file may ask for ten million processes, which takes its time and is none of what is tried here.
        prop_assume!(!text.contains("queue 99999999"));
        match read_in(Path::new("/nonexistent"), "job.sub", &text, &[]) {
            Err(SubmitFileError::Input(error)) => prop_assert!(!error.file.is_empty() && !error.expected.is_empty()),
            Err(SubmitFileError::Unsupported { keys, .. }) => prop_assert!(!keys.is_empty()),
            Ok(submission) => submission.jobs.iter().for_each(|job| drop(job.check_size())),
        }
    }

    #[test]
    fn no_job_file_makes_the_reader_panic(edits in edits()) {
        match read_job_file(&Source::new("job.toml", edited(JOB_FILE, edits))) {
            Err(error) => prop_assert!(!error.file.is_empty() && !error.expected.is_empty()),
            Ok(file) => drop(file.job.check_size()),
        }
    }

    #[test]
    fn no_job_description_makes_the_reader_panic(edits in edits()) {
        let ignored = ["check".to_owned()];
        match jdf::translate(&Source::new("job.jdf", edited(DESCRIPTION, edits)), Path::new("d"), &ignored) {
            Err(SubmitFileError::Input(error)) => prop_assert!(!error.file.is_empty() && !error.expected.is_empty()),
            Err(SubmitFileError::Unsupported { keys, .. }) => prop_assert!(!keys.is_empty()),
            Ok(submission) => submission.jobs.iter().for_each(|job| drop(job.check_size())),
        }
    }

    #[test]
    fn no_list_of_tasks_makes_the_reader_panic(edits in edits()) {
        let source = Source::new("rows", edited(ROWS, edits));
        let _ = (from_json(&source), each_line(&source));
    }
}

/// No queue keeps what stands above it: that would be some ten gigabytes here.
#[test]
fn many_queues_are_one_job() {
    let queue = format!("arguments = $(m)\nqueue 1 in ({})\n", "x".repeat(50));
    let text = format!("executable = e\nm = 1\n{}", queue.repeat(20_000));
    let submission = read_in(Path::new("/nonexistent"), "job.sub", &text, &[]).expect("a job");
    let tasks: Vec<u32> = submission.jobs.iter().map(|job| job.spec.tasks.count()).collect();
    assert_eq!(tasks, [20_000]);
}

/// Each of these would take ages, or more memory than there is.
#[test]
fn macros_that_double_end() {
    for (value, expected) in [("", "take too long"), ("x", "more than 1 MiB")] {
        let doubling =
            (0..31).map(|level| format!("m{level} = $(m{0})$(m{0})\n", level + 1)).collect::<String>();
        let text = format!("{doubling}m31 = {value}\nexecutable = $(m0)\nqueue\n");
        let error = read_in(Path::new("/nonexistent"), "job.sub", &text, &[]).expect_err("no end");
        assert!(error.to_string().contains(expected), "{error}");
    }
    // Twice as long with each line.
    let doubling = format!("a = {}\n{}", "x".repeat(100), "a = $(a)$(A:)\n".repeat(40));
    let text = format!("{doubling}executable = e\narguments = $(a)\nqueue\n");
    let error = read_in(Path::new("/nonexistent"), "job.sub", &text, &[]).expect_err("no end");
    assert!(error.to_string().contains("more than 1 MiB"), "{error}");
    // No reader goes down as deep as this.
    let nested = format!("executable = e\na = {}\nqueue\n", "$(a:".repeat(20_000) + &")".repeat(20_000));
    assert!(read_in(Path::new("/nonexistent"), "job.sub", &nested, &[]).is_err());
    let negated = format!("executable = e\nif {}true\nendif\nqueue\n", "!".repeat(1_000_001));
    assert!(read_in(Path::new("/nonexistent"), "job.sub", &negated, &[]).is_ok());
    let long = format!("executable = x\narguments = {} $(Process)\nqueue 10000000\n", "y".repeat(1_000));
    let error = read_in(Path::new("/nonexistent"), "job.sub", &long, &[]).expect_err("10 GB");
    assert!(error.to_string().contains("bytes of text in all"), "{error}");
    for queue in ["queue 4294967295\n", "queue 10000001\n"] {
        let error = read_in(Path::new("/nonexistent"), "job.sub", &format!("executable = x\n{queue}"), &[]);
        assert!(error.is_err(), "{queue}");
    }
}
