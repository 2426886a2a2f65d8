//! The arguments of `gleaner submit`.

use super::grid::GridArguments;
use super::values::{bytes, label, life, program, seconds, tag};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use gleaner_wire::limits::QUORUM_MAX;
use gleaner_workload::submit::operations;
use std::path::PathBuf;

const SUBMIT_HELP: &str = "\
In the command, in --env and in file names, {NAME} stands for a task's value of a parameter:
{GLEANER_INDEX} is its number, {GLEANER_LINE} its line (--each-line), {GLEANER_ITEM} its value \
(--from-json with plain values), and columns (--from-csv, --from-json) and swept parameters go by their own names. Each is a \
variable in the task's environment as well: ${NAME} is left to the shell, which finds the same value there.

A job file (-f job.toml) has a key for each option here: command, name, label, composition, \
length, inputs, outputs, stdin, cwd, requirements, rank, priority, retries, quorum, compare, hold, confinement, env, \
needs, checkpoint, tasks. A file in .jdf is a job description of OurGrid, any other -f FILE an HTCondor \
submit file; what of them Gleaner cannot honour is an error unless --ignore names it.

No job waits for another: `gleaner submit --wait … && gleaner submit …` runs one after the other.

Examples:
  gleaner submit --array 1-1000 -i simulate -- ./simulate {GLEANER_INDEX}
  gleaner submit --each-line urls.txt --network -- curl -sO {GLEANER_LINE}
  gleaner submit --sweep rate=0.1,0.2 --sweep seed=1,2,3 -- ./run {rate} {seed}
  gleaner submit -f job.toml --dry-run
  gleaner submit -f cluster.sub --ignore notify_user --set N=100
  gleaner submit -f bag.jdf --wait";

/// `gleaner submit`.
#[derive(Args, Debug)]
#[command(after_long_help = SUBMIT_HELP)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own on the command line")]
pub(crate) struct SubmitArguments {
    /// The program and its arguments
    #[arg(last = true, required_unless_present = "file", conflicts_with = "file")]
    pub(crate) command: Vec<String>,
    /// A job file (*.toml), an OurGrid job description (*.jdf) or an HTCondor submit file; - for a job file from standard input
    #[arg(short, long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Give a macro of a submit file this value; may be given several times
    #[arg(long = "set", value_name = "NAME=VALUE", requires = "file")]
    pub(crate) macros: Vec<String>,
    /// Go on without this key of a submit file or job description; may be given several times
    #[arg(long, value_name = "KEY", requires = "file")]
    pub(crate) ignore: Vec<String>,

    /// A task for each of these numbers, as 1-1000, 0-90:10 or 1,3,7-9
    #[arg(long, value_name = "FIRST-LAST[:STEP],…", group = "many", help_heading = "Tasks")]
    pub(crate) array: Option<String>,
    /// A task for each line of the file; - for standard input
    #[arg(long, value_name = "FILE", group = "many", help_heading = "Tasks")]
    pub(crate) each_line: Option<PathBuf>,
    /// A task for each entry of a list in JSON, objects or plain values; - for standard input
    #[arg(long, value_name = "FILE", group = "many", help_heading = "Tasks")]
    pub(crate) from_json: Option<PathBuf>,
    /// A task for each row of a CSV file, whose header names the parameters; no field has a line break. - for standard input
    #[arg(long, value_name = "FILE", group = "many", help_heading = "Tasks")]
    pub(crate) from_csv: Option<PathBuf>,
    /// A task for each value; several combine
    #[arg(long, value_name = "NAME=V1,V2,…", group = "many", help_heading = "Tasks")]
    pub(crate) sweep: Vec<String>,

    /// A file, folder or pattern that lies in each task's folder; FILE=NAME for another name there
    #[arg(short, long = "input", value_name = "FILE", help_heading = "Files and surroundings")]
    pub(crate) inputs: Vec<String>,
    /// A file of the task's folder, or a pattern, that is kept
    #[arg(short, long = "output", value_name = "PATTERN", help_heading = "Files and surroundings")]
    pub(crate) outputs: Vec<String>,
    /// What each task reads from standard input
    #[arg(long, value_name = "FILE", help_heading = "Files and surroundings")]
    pub(crate) stdin: Option<String>,
    /// A variable of the task's environment; NAME alone takes its value from here
    #[arg(short, long = "env", value_name = "NAME[=VALUE]", help_heading = "Files and surroundings")]
    pub(crate) env: Vec<String>,
    /// The folder to run in; only with --no-sandbox
    #[arg(long, value_name = "DIR", help_heading = "Files and surroundings")]
    pub(crate) cwd: Option<String>,
    /// Run outside the sandbox, on agents that run as your own user
    #[arg(long, conflicts_with = "network", help_heading = "Files and surroundings")]
    pub(crate) no_sandbox: bool,
    /// Let the tasks reach the network
    #[arg(long, help_heading = "Files and surroundings")]
    pub(crate) network: bool,

    /// A name, for people
    #[arg(long, help_heading = "Scheduling")]
    pub(crate) name: Option<String>,
    /// A label: tasks with the same label use machines alike, and their use is learnt
    #[arg(long, value_parser = label, help_heading = "Scheduling")]
    pub(crate) label: Option<String>,
    /// The shares of CPU, disk and network, if you know them
    #[arg(
        long,
        value_name = "CPU,DISK,NET",
        value_parser = shares,
        help_heading = "Scheduling"
    )]
    pub(crate) composition: Option<Composition>,
    /// Operations of each task, as 12e6 or 5G: what policies plan by that spend a budget. A parameter
    /// `GLEANER_LENGTH` of the tasks, as a column of --from-json, goes before it
    #[arg(long, value_name = "OPS", value_parser = length, help_heading = "Scheduling")]
    pub(crate) length: Option<f64>,
    /// Cores of one machine
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Scheduling")]
    pub(crate) cores: Option<u32>,
    /// Memory, as 4GB: kept free, and not exceeded
    #[arg(long, value_name = "SIZE", value_parser = bytes, help_heading = "Scheduling")]
    pub(crate) memory: Option<u64>,
    /// How large the task's folder may grow, as 10GB
    #[arg(long, value_name = "SIZE", value_parser = bytes, help_heading = "Scheduling")]
    pub(crate) disk: Option<u64>,
    /// How long one run may take, as 90s, 1h30m or 01:30:00; 0 for as long as it likes
    #[arg(long, value_name = "TIME", value_parser = seconds, help_heading = "Scheduling")]
    pub(crate) time_limit: Option<f64>,
    /// A tag that a machine must have, as `gleaner work --tag` gave it; may be given several times
    #[arg(long = "tag", value_name = "WORD", value_parser = tag, help_heading = "Scheduling")]
    pub(crate) tags: Vec<String>,
    /// What a machine must be, in the ClassAd language
    #[arg(long, value_name = "EXPR", help_heading = "Scheduling")]
    pub(crate) requirements: Option<String>,
    /// Which machines are better, in the ClassAd language; batches, plans, queues and gleaner/bags do not read it
    #[arg(long, value_name = "EXPR", help_heading = "Scheduling")]
    pub(crate) rank: Option<String>,
    /// Higher goes first
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Scheduling")]
    pub(crate) priority: Option<i32>,
    /// How many more runs a failed task gets
    #[arg(long, value_name = "N", help_heading = "Scheduling")]
    pub(crate) retries: Option<u32>,
    /// How many machines have to give the same exit code, standard output and output files
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(QUORUM_MAX)), help_heading = "Scheduling")]
    pub(crate) quorum: Option<u32>,
    /// What says whether two answers are the same (exit code 0, else 1), words apart by spaces; the folders of their output files are
    /// its last two arguments
    #[arg(long, value_name = "PROGRAM", value_parser = program, help_heading = "Scheduling")]
    pub(crate) compare: Option<String>,
    /// The program saves its state in the folder `GLEANER_CHECKPOINT`, and resumes from it
    #[arg(long, help_heading = "Scheduling")]
    pub(crate) checkpoint: bool,
    /// The exit code with which the program says: I have checkpointed, run me again
    #[arg(long, value_name = "CODE", value_parser = clap::value_parser!(u8).range(1..), help_heading = "Scheduling")]
    pub(crate) checkpoint_exit_code: Option<u8>,
    /// How long it has from SIGTERM to SIGKILL
    #[arg(long, value_name = "TIME", value_parser = seconds, help_heading = "Scheduling")]
    pub(crate) grace: Option<f64>,
    /// Hold the job: nothing starts until it is released
    #[arg(long, conflicts_with = "wait", help_heading = "Scheduling")]
    pub(crate) hold: bool,

    /// Sign the job with your key, for machines whose owners run only what certain users signed (see `gleaner user key`)
    #[arg(long, env = "GLEANER_SIGN", value_parser = clap::builder::FalseyValueParser::new(), help_heading = "Scheduling")]
    pub(crate) sign: bool,
    /// How long the signature is good: no task starts on such a machine after that
    #[arg(long, value_name = "TIME", value_parser = life, default_value = "7d", help_heading = "Scheduling")]
    pub(crate) sign_for: u32,

    /// Submit the job only once, however often it is submitted with this key
    #[arg(long, value_parser = NonEmptyStringValueParser::new(), value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// Submit nothing; say where the tasks would go now, and why
    #[arg(long, conflicts_with = "wait")]
    pub(crate) dry_run: bool,
    /// Wait until all tasks are over; exits with 1 if one failed or was cancelled
    #[arg(long)]
    pub(crate) wait: bool,
    /// With --wait, wait no longer than this, as 30m or 2h: exits with 1 if not all are over by then, and they go on
    #[arg(long, value_name = "TIME", value_parser = seconds, requires = "wait")]
    pub(crate) wait_at_most: Option<f64>,
    #[command(flatten)]
    pub(crate) grid: GridArguments,
}

fn length(text: &str) -> Result<f64, String> {
    operations(text).map_err(|error| format!("expected a {}", error.expected))
}

/// The shares of CPU, disk and network.
pub(crate) type Composition = [f64; 3];

fn shares(text: &str) -> Result<Composition, String> {
    let shares: Result<Vec<f64>, _> = text.split(',').map(|share| share.trim().parse::<f64>()).collect();
    let shares: Option<Composition> = shares.ok().and_then(|shares| shares.try_into().ok());
    let valid = shares.filter(|shares| shares.iter().all(|share| (0.0..=1.0).contains(share)));
    valid.ok_or_else(|| "expected the shares of CPU, disk and network, as 0.7,0.1,0.2".to_owned())
}
