//! The arguments of every command, and the help that goes with them: a file for each command, with its name.

mod advise;
mod audit;
mod backup;
mod bench;
mod budget;
mod classad;
mod completions;
mod config;
mod doctor;
#[cfg(test)]
mod documented;
mod explain;
mod fetch;
mod grid;
mod history;
mod journal;
mod keep;
mod login;
mod logs;
mod machine;
mod man;
mod map;
mod names;
mod orders;
mod owner;
mod paper;
mod policy;
mod quota;
mod replay;
mod rigid;
mod serve;
mod simulate;
mod status;
mod submit;
mod token;
mod trace;
mod tune;
mod up;
mod usage;
mod user;
mod values;
mod wait;
mod watch;
mod work;
mod workload;
#[cfg(test)]
mod wrapped;

pub(crate) use advise::*;
pub(crate) use audit::*;
pub(crate) use backup::*;
pub(crate) use bench::*;
pub(crate) use budget::*;
pub(crate) use classad::*;
pub(crate) use completions::*;
pub(crate) use config::*;
pub(crate) use doctor::*;
pub(crate) use explain::*;
pub(crate) use fetch::*;
pub(crate) use grid::{GridArguments, PlainArguments};
pub(crate) use history::*;
pub(crate) use journal::*;
pub(crate) use keep::*;
pub(crate) use login::*;
pub(crate) use logs::*;
pub(crate) use machine::*;
pub(crate) use man::*;
pub(crate) use map::*;
pub(crate) use names::{JobOrTask, Jobs, TaskName, TaskNumbers, Which};
pub(crate) use orders::*;
pub(crate) use owner::*;
pub(crate) use paper::*;
pub(crate) use policy::*;
pub(crate) use quota::*;
pub(crate) use replay::*;
pub(crate) use rigid::*;
pub(crate) use serve::*;
pub(crate) use simulate::*;
pub(crate) use status::*;
pub(crate) use submit::*;
pub(crate) use token::*;
pub(crate) use trace::*;
pub(crate) use tune::*;
pub(crate) use up::*;
pub(crate) use usage::*;
pub(crate) use user::*;
pub(crate) use values::DASH;
pub(crate) use wait::*;
pub(crate) use watch::*;
pub(crate) use work::*;
pub(crate) use workload::*;

use clap::{Arg, CommandFactory, FromArgMatches, Parser, Subcommand};
use gleaner_server::store::FORMAT;
use gleaner_wire::SESSION_VERSION;
use std::sync::LazyLock;

const EXIT_CODES: &str = "Exit codes: 0 ok · 1 a task failed, or a comparison found a difference · \
                          2 bad input or usage · 3 the server cannot be reached or refused · \
                          4 a fault of our own · 130 interrupted";

/// What has to be the same where programs of two builds meet: in a journal, and between an agent and its coordinator.
static VERSIONS: LazyLock<String> = LazyLock::new(|| {
    let version = env!("CARGO_PKG_VERSION");
    format!("{version}\njournal format {FORMAT}\nsession version {SESSION_VERSION}")
});

/// Puts the machines that an organisation already owns to work, and simulates how it would.
#[derive(Debug, Parser)]
#[command(name = "gleaner", version, long_version = VERSIONS.as_str(), propagate_version = true)]
#[command(after_help = EXIT_CODES, max_term_width = 120)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// What this process was started with. A negative number behind an option is its value, so that the error names the option and what
    /// it takes.
    pub(crate) fn of_this_process() -> Result<Self, clap::Error> {
        let mut command = with_negative_numbers(Self::command());
        let matches = command.try_get_matches_from_mut(std::env::args_os())?;
        Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }
}

fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let of_option = |arg: Arg| {
        let takes_value = !arg.is_positional() && arg.get_action().takes_values();
        if takes_value { arg.allow_negative_numbers(true) } else { arg }
    };
    command.mut_args(of_option).mut_subcommands(with_negative_numbers)
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start a grid on this machine: coordinator, agent, and a line for others to join
    Up(UpArguments),
    /// Run the coordinator alone
    Serve(ServeArguments),
    /// Run an agent: lend this machine to a grid
    Work(WorkArguments),
    /// Tell this machine's agent whether you are here, and set its rules
    #[command(subcommand)]
    Owner(OwnerArguments),
    /// Check which defences around tasks work on this machine; exits with 1 if an agent would refuse the tasks of others
    Doctor(DoctorArguments),
    /// Copy a coordinator's folder while it works
    Backup(BackupArguments),
    /// Check, rebuild or export a coordinator's journal
    #[command(subcommand)]
    Journal(JournalArguments),
    /// Show a coordinator's settings
    #[command(subcommand)]
    Config(ConfigArguments),
    /// Submit a program, to be run once or many times
    Submit(Box<SubmitArguments>),
    /// Show jobs: their states, their tasks, and why tasks failed
    Status(StatusArguments),
    /// Show events as they happen
    Watch(WatchArguments),
    /// Show machines, jobs, and what waits and why, on a screen that updates itself; with --json once, as numbers
    Top(PlainArguments),
    /// Wait until jobs are over; exits with 1 if a task failed or was cancelled
    ///
    /// Once it has reached the coordinator, it goes on while that is away, for a day at most, and says so.
    Wait(WaitArguments),
    /// Show what tasks wrote
    Logs(LogsArguments),
    /// Cancel tasks: stop them for good
    #[command(after_help = STOPPING_HELP)]
    Cancel(OrderArguments),
    /// Hold tasks until they are released, running ones too
    #[command(after_help = STOPPING_HELP)]
    Hold(OrderArguments),
    /// Release held tasks
    Release(OrderArguments),
    /// Run finished, failed or cancelled tasks again
    Rerun(RerunArguments),
    /// Get the output files of tasks
    Fetch(FetchArguments),
    /// Show when results of jobs that are over are removed, and keep some
    Keep(KeepArguments),
    /// Show what happened to a task, when, why and by whom
    History(HistoryArguments),
    /// Show the machines of the grid, and what they are doing
    Machines(PlainArguments),
    /// Pause, resume, drain, measure, price or revoke a machine
    #[command(subcommand)]
    Machine(MachineArguments),
    /// Show how tasks of each label use CPU, disk and network
    Labels(PlainArguments),
    /// Show what you used in the last day: runs, core hours, what of them was for nothing, peak memory; for administrators, everybody
    Use(UseArguments),
    /// Sign in to a grid, with the line that its administrator gave you
    Login(LoginArguments),
    /// Show who did what: orders, machines that joined, and submissions, from a coordinator's journal
    Audit(AuditArguments),
    /// Make a token, for a machine that joins or for a user; list and remove join tokens
    #[command(subcommand)]
    Token(TokenArguments),
    /// See who may sign in, and remove users
    #[command(subcommand)]
    User(UserArguments),
    /// Run a live grid's history again in the simulator under another policy
    Replay(ReplayArguments),
    /// Run a scenario in the simulator, with the scheduler of the live grid
    Simulate(SimulateArguments),
    /// Run a scenario under every combination of some of its numbers, and find the setting to use
    Tune(TuneArguments),
    /// Try every rule that makes sense over a scenario, a log or this grid's own past, and say which to use
    Advise(AdviseArguments),
    /// Explain why a task runs where it does: which machines were ruled out, how the others scored, what would let it run elsewhere
    Explain(ExplainArguments),
    /// Map independent tasks to machines from a table of expected times
    Map(MapArguments),
    /// Generate, check and import traces of machines that come and go
    #[command(subcommand)]
    Trace(TraceArguments),
    /// Read, convert, generate and filter logs of jobs
    #[command(subcommand)]
    Workload(WorkloadArguments),
    /// Run a paper's experiments again and compare the results with its claims
    Paper(PaperArguments),
    /// Evaluate and match expressions in HTCondor's ClassAd language
    #[command(subcommand)]
    Classad(ClassadArguments),
    /// List, explain, show and set policies
    #[command(subcommand)]
    Policy(PolicyArguments),
    /// Show, set or remove the budget for running tasks
    #[command(subcommand)]
    Budget(BudgetArguments),
    /// Show or set how many tasks and requests each user may have
    #[command(subcommand)]
    Quota(QuotaArguments),
    /// Measure how fast this program is on this machine
    Bench(BenchArguments),
    /// Print a script that completes commands in your shell: words, files, jobs, machines, policies
    Completions(CompletionsArguments),
    /// Print the manual page, or write one for each command
    Man(ManArguments),
}

const STOPPING_HELP: &str = "\
When this returns, the order is written down, and no machine is given such a task any more. A machine that has one ends it when it \
hears the order: at once, or, while it cannot hear the coordinator, when its lease ends at the latest.";
