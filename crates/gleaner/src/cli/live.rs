//! The arguments of the commands that talk to a coordinator.

use super::grid::GridArguments;
use super::names::Which;
use crate::candidates;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use gleaner_wire::api::TaskPhase;
use gleaner_wire::limits::{NAME_BYTES_MAX, USER_TOKEN_SECONDS_MAX};
use gleaner_workload::submit::{duration_s, operations, size_bytes};
use std::path::PathBuf;

/// A word that can be a tag of a machine.
pub(super) fn tag(text: &str) -> Result<String, String> {
    let good = |c: char| c.is_ascii_alphanumeric() || "-_.@".contains(c);
    let is_tag = !text.is_empty() && text.len() <= NAME_BYTES_MAX && text.chars().all(good);
    is_tag.then(|| text.to_owned()).ok_or_else(|| "expected letters, digits and -_.@".to_owned())
}

pub(super) fn seconds(text: &str) -> Result<f64, String> {
    duration_s(text).map_err(|error| format!("expected a {}", error.expected))
}

/// How long a token or a signature is good.
pub(super) fn life(text: &str) -> Result<u32, String> {
    let whole = seconds(text)?.round() as u32;
    let expected = || format!("expected 1 second to {} days", USER_TOKEN_SECONDS_MAX / 86_400);
    (1..=USER_TOKEN_SECONDS_MAX).contains(&whole).then_some(whole).ok_or_else(expected)
}

pub(super) fn bytes(text: &str) -> Result<u64, String> {
    size_bytes(text).map_err(|error| format!("expected a {}", error.expected))
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

const SUBMIT_HELP: &str = "\
In the command, in --env and in file names, {NAME} stands for a task's value of a parameter:
{GLEANER_INDEX} is its number, {GLEANER_LINE} its line (--each-line), {GLEANER_ITEM} its value \
(--from-json with plain values), and columns (--from-csv, --from-json) and swept parameters go by their own names. Each is a \
variable in the task's environment as well.

A job file (-f job.toml) has a key for each option here: command, name, label, composition, \
length, inputs, outputs, stdin, cwd, requirements, rank, priority, retries, quorum, compare, hold, confinement, env, \
needs, checkpoint, tasks. A file in .jdf is a job description of OurGrid, any other -f FILE an HTCondor \
submit file; what of them Gleaner cannot honour is an error unless --ignore names it.

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
    /// A task for each row of a CSV file, whose header names the parameters; - for standard input
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
    #[arg(long, help_heading = "Scheduling")]
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
    /// How long one run may take, as 90s or 2h
    #[arg(long, value_name = "TIME", value_parser = seconds, help_heading = "Scheduling")]
    pub(crate) time_limit: Option<f64>,
    /// A tag that a machine must have, as `gleaner work --tag` gave it; may be given several times
    #[arg(long = "tag", value_name = "WORD", value_parser = tag, help_heading = "Scheduling")]
    pub(crate) tags: Vec<String>,
    /// What a machine must be, in the ClassAd language
    #[arg(long, value_name = "EXPR", help_heading = "Scheduling")]
    pub(crate) requirements: Option<String>,
    /// Which machines are better, in the ClassAd language
    #[arg(long, value_name = "EXPR", help_heading = "Scheduling")]
    pub(crate) rank: Option<String>,
    /// Higher goes first
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Scheduling")]
    pub(crate) priority: Option<i32>,
    /// How many more runs a failed task gets
    #[arg(long, value_name = "N", help_heading = "Scheduling")]
    pub(crate) retries: Option<u32>,
    /// How many machines have to give the same exit code, standard output and output files
    #[arg(long, value_name = "N", help_heading = "Scheduling")]
    pub(crate) quorum: Option<u32>,
    /// What says whether two answers are the same (exit code 0, else 1), words apart by spaces; the folders of their output files are
    /// its last two arguments
    #[arg(long, value_name = "PROGRAM", help_heading = "Scheduling")]
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
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// Submit nothing; say where the tasks would go now, and why
    #[arg(long, conflicts_with = "wait")]
    pub(crate) dry_run: bool,
    /// Wait until all tasks are over; exits with 1 if one failed or was cancelled
    #[arg(long)]
    pub(crate) wait: bool,
    #[command(flatten)]
    pub(crate) grid: GridArguments,
}

const STATUS_HELP: &str = "\
Examples:
  gleaner status                        # all jobs, newest first
  gleaner status 7                      # one, and why tasks failed
  gleaner status last --failed          # its tasks that failed
  gleaner status 7 --tasks --from 1000  # its tasks from the thousandth on
  gleaner status 7 --jsonl              # its tasks, a JSON document a line";

/// `gleaner status`.
#[derive(Args, Debug)]
#[command(after_help = STATUS_HELP)]
pub(crate) struct StatusArguments {
    /// The job: its number, its name, or `last`; all jobs, newest first, if none is named
    #[arg(add = candidates::jobs())]
    pub(crate) job: Option<Which>,
    /// The jobs in this state
    #[arg(long, value_name = "STATE", conflicts_with = "job", value_parser = phases())]
    pub(crate) state: Option<TaskPhase>,
    /// The jobs of this user
    #[arg(long, value_name = "NAME", conflicts_with = "job", add = candidates::users())]
    pub(crate) user: Option<String>,
    /// The job's tasks too
    #[arg(long, requires = "job")]
    pub(crate) tasks: bool,
    /// The job's tasks that failed
    #[arg(long, requires = "job", conflicts_with = "phase")]
    pub(crate) failed: bool,
    /// The job's tasks in this phase
    #[arg(long, value_name = "PHASE", requires = "job", value_parser = phases())]
    pub(crate) phase: Option<TaskPhase>,
    /// The place in the job of the first task to list, from 0
    #[arg(long, value_name = "N", requires = "job", default_value_t = 0)]
    pub(crate) from: u32,
    /// Print all of these tasks, or all jobs if no job is named, a JSON document a line
    #[arg(long, conflicts_with = "json")]
    pub(crate) jsonl: bool,
    /// How many jobs or tasks to list at most
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    #[command(flatten)]
    pub(crate) grid: GridArguments,
}

/// Where a task is in its life, or the tasks of a job together: both have the same names.
fn phases() -> impl TypedValueParser<Value = TaskPhase> {
    PossibleValuesParser::new(TaskPhase::ALL.map(TaskPhase::name)).map(|name| {
        let found = TaskPhase::ALL.into_iter().find(|phase| phase.name() == name);
        found.expect("no other name is let through")
    })
}

/// `gleaner watch`.
#[derive(Args, Debug)]
pub(crate) struct WatchArguments {
    /// The job (its number, its name, or `last`), until it is over; the whole grid, until Ctrl-C, if none is named
    #[arg(add = candidates::jobs())]
    pub(crate) job: Option<Which>,
    #[command(flatten)]
    pub(crate) grid: GridArguments,
}

/// `gleaner wait`.
#[derive(Args, Debug)]
pub(crate) struct WaitArguments {
    /// The jobs: numbers, as 7 or 1-4, names, or `last`
    #[arg(required = true, value_name = "JOB", add = candidates::jobs())]
    pub(crate) jobs: Vec<Which>,
    #[command(flatten)]
    pub(crate) grid: GridArguments,
}

/// `gleaner logs`.
#[derive(Args, Debug)]
pub(crate) struct LogsArguments {
    /// A task, or a job (its number, its name, or `last`) for all its tasks one after the other
    #[arg(value_name = "JOB[/TASK]", add = candidates::jobs())]
    pub(crate) of: Which,
    /// Go on until the task is over, across retries
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Only what it wrote to standard output
    #[arg(long, conflicts_with = "stderr")]
    pub(crate) stdout: bool,
    /// Only what it wrote to standard error, to standard output
    #[arg(long)]
    pub(crate) stderr: bool,
    /// Only the last lines of each stream
    #[arg(long, value_name = "LINES", conflicts_with = "follow")]
    pub(crate) tail: Option<usize>,
    /// The run whose output to show, from 1; the last one if nothing is said
    #[arg(long, value_name = "N", conflicts_with = "follow", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) run: Option<u32>,
    #[command(flatten)]
    pub(crate) grid: GridArguments,
}

/// `gleaner cancel`, `hold`, `release` and `rerun`.
#[derive(Args, Debug)]
pub(crate) struct OrderArguments {
    /// Jobs (numbers, as 7 or 1-4, names, or `last`), or tasks of jobs, as 7/42
    #[arg(value_name = "JOB[/TASK]", required = true, add = candidates::jobs())]
    pub(crate) of: Vec<Which>,
    #[command(flatten)]
    pub(crate) grid: GridArguments,
}

/// `gleaner rerun`.
#[derive(Args, Debug)]
pub(crate) struct RerunArguments {
    /// Only tasks that failed
    #[arg(long)]
    pub(crate) failed: bool,
    #[command(flatten)]
    pub(crate) order: OrderArguments,
}

/// A command that needs to know nothing but which grid.
#[derive(Args, Debug)]
pub(crate) struct PlainArguments {
    #[command(flatten)]
    pub(crate) grid: GridArguments,
}

/// `gleaner machine`.
#[derive(Debug, Subcommand)]
pub(crate) enum MachineArguments {
    /// Suspend all tasks there, as if its owner were back, until `resume`
    Pause(MachineName),
    /// Resume: take back `pause` and `drain`
    Resume(MachineName),
    /// Start nothing new there; what runs may end
    Drain(MachineName),
    /// Measure its speed again, when its owner does not need it: once in ten minutes at most
    Measure(MachineName),
    /// Revoke it: it can never connect again
    Revoke(MachineName),
    /// Revoke it, remove it from the list, and free its name for another machine
    Forget(MachineName),
    /// Set the price of a machine, for policies that follow a budget
    Price(PriceArguments),
    /// Say whose a machine is: where answers are compared, all machines of one owner have one voice
    Owner(MachineOwnerArguments),
}

fn credits(text: &str) -> Result<f64, String> {
    let credits = text.parse().ok().filter(|credits: &f64| credits.is_finite() && *credits >= 0.0);
    credits.ok_or_else(|| "expected a number of credits, 0 or more".to_owned())
}

/// `gleaner machine price`.
#[derive(Args, Debug)]
pub(crate) struct PriceArguments {
    /// Its name, as `gleaner machines` has it
    #[arg(add = candidates::machines())]
    pub(crate) name: String,
    /// Credits for a million operations; 0 for nothing
    #[arg(value_parser = credits)]
    pub(crate) credits: f64,
    #[command(flatten)]
    pub(crate) grid: GridArguments,
}

/// `gleaner machine owner`.
#[derive(Args, Debug)]
pub(crate) struct MachineOwnerArguments {
    /// Its name, as `gleaner machines` has it
    #[arg(add = candidates::machines())]
    pub(crate) name: String,
    /// The owner's name
    #[arg(required_unless_present = "none")]
    pub(crate) owner: Option<String>,
    /// It is nobody's but its own, and has a voice of its own
    #[arg(long, conflicts_with = "owner")]
    pub(crate) none: bool,
    #[command(flatten)]
    pub(crate) grid: GridArguments,
}

/// The machine that a command is for.
#[derive(Args, Debug)]
pub(crate) struct MachineName {
    /// Its name, as `gleaner machines` has it
    #[arg(add = candidates::machines())]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) grid: GridArguments,
}

/// `gleaner history`.
#[derive(Args, Debug)]
pub(crate) struct HistoryArguments {
    /// The task; a job (its number, its name, or `last`) stands for its first
    #[arg(value_name = "JOB[/TASK]", add = candidates::jobs())]
    pub(crate) task: Which,
    #[command(flatten)]
    pub(crate) grid: GridArguments,
}

/// `gleaner fetch`.
#[derive(Args, Debug)]
pub(crate) struct FetchArguments {
    /// A task, or a job (its number, its name, or `last`) for all its tasks, each into a folder of its own
    #[arg(value_name = "JOB[/TASK]", add = candidates::jobs())]
    pub(crate) of: Which,
    /// The folder to put them in
    #[arg(long, value_name = "DIR")]
    pub(crate) to: PathBuf,
    /// Replace files that are there
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) grid: GridArguments,
}
