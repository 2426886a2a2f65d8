//! The arguments of every command, and the help that goes with them.

mod advise;
#[cfg(test)]
mod documented;
mod grid;
mod hosting;
mod keeping;
mod live;
mod measuring;
mod names;
mod people;
mod quota;
mod rigid;
mod rule;
mod spending;
mod tokens;
mod trace;
mod tune;
mod workload;
#[cfg(test)]
mod wrapped;

pub(crate) use advise::*;
pub(crate) use grid::GridArguments;
pub(crate) use hosting::*;
pub(crate) use keeping::*;
pub(crate) use live::*;
pub(crate) use measuring::*;
pub(crate) use names::{JobOrTask, TaskName, Which};
pub(crate) use people::*;
pub(crate) use quota::*;
pub(crate) use rigid::*;
pub(crate) use rule::*;
pub(crate) use spending::*;
pub(crate) use tokens::*;
pub(crate) use trace::*;
pub(crate) use tune::*;
pub(crate) use workload::*;

use crate::candidates;
use crate::map::Budget;
use crate::moments::parse_moment;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use gleaner_mapping::Heuristic;
use gleaner_server::store::FORMAT;
use gleaner_units::Span;
use gleaner_wire::SESSION_VERSION;
use gleaner_wire::meant::meant;
use std::path::PathBuf;
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
    /// It goes on while the coordinator is away, for a day at most, and says so.
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
    #[command(after_help = COMPLETIONS_HELP)]
    Completions(CompletionsArguments),
    /// Print the manual page, or write one for each command
    #[command(after_help = MAN_HELP)]
    Man(ManArguments),
}

const STOPPING_HELP: &str = "\
When this returns, the order is written down, and no machine is given such a task any more. A machine that has one ends it when it \
hears the order: at once, or, while it cannot hear the coordinator, when its lease ends at the latest.";

const COMPLETIONS_HELP: &str = "\
Example, for bash:
  gleaner completions bash > ~/.local/share/bash-completion/completions/gleaner";

const SIMULATE_HELP: &str = "\
A scenario is a TOML file that names its tables, CSV files relative to it. Tasks on machines:

  [grid]
  machines   = \"machines.csv\"      # id, a column for each kind of operation
  owner_load = \"owner_load.csv\"    # optional: time_s,machine,load
  [work]
  tasks   = \"tasks.csv\"            # id,arrival_s,length, a column for each kind
  weights = { cpu = 2e-5, disk = 0.1, net = 0.1 }
  [policy]
  preset   = \"bertasi/greedy\"      # see: gleaner policy list
  relocate = { score = \"greedy\", moves_max = 3, gain_min = 0.10 }

Machines that come and go (see: gleaner trace), each with a line in machines.csv too:
  [grid]
  machines     = \"machines.csv\"    # id,cpu,price (cpu in tasks.csv too)
  availability = \"trace.csv\"       # machine,interval,from_s,until_s,speed
  sharing      = \"exclusive\"       # one task on each core, the others wait

Sites with queues of their own, which brokers know from an index that is out of date:
  [sites]
  elements = \"elements.csv\"        # id,site,cpus,ops_per_s
  [index]
  ttl_s = [30, 50]                 # how old it may be, for each level
  [work]
  jobs = \"jobs.csv\"                # id,arrival_s,length
  [policy]
  preset = \"cavalieri/stochastic\"

Rigid jobs, which may be split over sites; both are drawn, or listed in [sites] table and [work] jobs:
  [sites]
  count = 20
  processors = [8, 16]
  load = 0.7
  [work]
  count = 200
  days = 3
  model = \"lublin\"                 # or \"log\", with log = \"FILE\"
  [policy]
  preset = \"khoo/mrs\"

Peers that lend each other machines:
  [peers]
  workers = \"workers.csv\"          # peer,ops_per_s
  [work]
  jobs = \"jobs.csv\"                # id,peer,arrival_s,lengths
  [policy]
  preset = \"dasilva/greedy\"

docs/scenarios.md has every key with its default, and the optional columns of the tables. A key that there is not is an \
error that names those that there are. `gleaner policy keys` explains the keys of [policy].

--out DIR writes tasks.csv, machines.csv, machines_over_time.csv, summary.json, plots as SVG and report.html. Of a log it \
also writes jobs.swf (the log with the waits), and jobs.csv, schedule.csv and schedule.json with the columns of Batsim.

Several policies or seeds are compared: means with 95 % intervals, and the difference of each policy from the first, seed by \
seed. --out DIR then has one report of all runs and a folder for each: POLICY/seed-K.

Examples:
  gleaner simulate lab.toml
  gleaner simulate lab.toml --policy bertasi/social --out results
  gleaner simulate lab.toml --set policy.relocate.gain_min=0.05 --json
  gleaner simulate lab.toml --policy bertasi/greedy,bertasi/social --seeds 20
  gleaner simulate lab.toml --seeds 20 --shake 60 --out results
  gleaner simulate --swf log.swf.gz --cores 100 --policy queue/fcfs,queue/easy
  gleaner simulate --swf log.swf.gz --policy queue/easy,queue/easy:fill=shortest
  gleaner simulate --swf log.swf.gz --policy queue/easy --lengths last-two";

/// `gleaner simulate`.
#[derive(Args, Debug)]
#[command(after_long_help = SIMULATE_HELP)]
pub(crate) struct SimulateArguments {
    /// The scenario
    #[arg(required_unless_present = "swf")]
    pub(crate) scenario: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) log: RigidArguments,
    /// Schedule by this preset instead of the scenario's; compare several, separated by commas, with the same seeds. Behind
    /// colons, keys of the policy are set, as `queue/easy:fill=shortest`
    #[arg(long, value_name = "NAME", value_delimiter = ',', add = candidates::policies())]
    pub(crate) policy: Vec<String>,
    /// The seed, instead of the scenario's
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Run with this many seeds, from the first on, and give means with 95 % intervals
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    #[arg(conflicts_with_all = ["checkpoint", "resume"])]
    pub(crate) seeds: Option<u64>,
    /// Move each arrival by up to so many seconds, differently for each seed: for scenarios and logs without random numbers
    #[arg(long, value_name = "SECONDS", requires = "seeds", value_parser = parse_shake)]
    pub(crate) shake: Option<Span>,
    /// Set a key of the scenario, as `policy.relocate.gain_min=0.05`; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) overrides: Vec<String>,
    /// Write tables, plots and report.html to this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Save the run to this file at intervals and on Ctrl-C
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Seconds between two saves
    #[arg(long, value_name = "SECONDS", default_value_t = 30, requires = "checkpoint")]
    pub(crate) checkpoint_every: u64,
    /// Go on from a file that --checkpoint wrote
    #[arg(long, value_name = "FILE")]
    pub(crate) resume: Option<PathBuf>,
    /// Print the summary as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn parse_shake(text: &str) -> Result<Span, String> {
    let seconds = text.parse().ok().and_then(Span::from_seconds);
    seconds.ok_or_else(|| "expected seconds, 0 or more".to_owned())
}

const EXPLAIN_HELP: &str = "\
Examples:
  gleaner explain 7/42                         # a task of the live grid, now
  gleaner explain 7/42 --at '2026-11-21 07:30:00'
  gleaner explain lab.toml t3                  # a task of a scenario
  gleaner explain sites.toml 17 --svg map.svg  # job 17 over sites, and a map
  gleaner explain log.swf.gz 212 --cores 100   # job 212 of a log, by queue/easy
  gleaner explain log.swf.gz 212 --set policy.preset=queue/conservative";

/// `gleaner explain`.
#[derive(Args, Debug)]
#[command(after_help = EXPLAIN_HELP)]
pub(crate) struct ExplainArguments {
    /// A task of the live grid, also by its job's name or `last`; a job stands for its first task that waits, or else for its first. Or a scenario or log
    #[arg(value_name = "JOB[/TASK]|SCENARIO|LOG", add = candidates::jobs_and_files())]
    pub(crate) subject: String,
    /// The scenario's task, as its tasks.csv calls it, or the log's job by its number: of several with one number the first
    pub(crate) task: Option<String>,
    /// The processors of the log's machine; without it, as many as its header or its largest job says
    #[arg(long, value_name = "N", requires = "task", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) cores: Option<u32>,
    #[command(flatten)]
    pub(crate) reading: ReadingArguments,
    /// Set a key of the scenario, as `policy.preset=bertasi/social`; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE", requires = "task")]
    pub(crate) overrides: Vec<String>,
    /// Draw the virtual map of a job over sites into this file
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// A moment of the live grid's past
    #[arg(long, value_name = "MOMENT", value_parser = parse_moment, conflicts_with = "task")]
    pub(crate) at: Option<f64>,
    #[command(flatten)]
    pub(crate) grid: GridArguments,
}

const PAPER_HELP: &str = "\
Papers:
  bertasi    tasks on time-shared machines, by what they use (figures 1 to 4);
             --part distributed, readings, lengths: what the paper did not ask
  khoo       rigid jobs over sites, by five resources (table I)
  elleuch    batches within a budget on volunteers' machines (figures 4, 5)
  dasilva    peers that lend each other machines (table 2, figures 2, 3)
  cavalieri  a broker over an index that is out of date (figures 3 to 5)

Each claim of the paper's text is measured and judged: holds, partly, not, or undecided where the seeds do not decide. For dasilva and cavalieri, what the papers did \
not ask is measured too.

What a run costs, in time of one core; more cores share it:
  bertasi    6 s for each seed: 5 minutes with all 50; as long for the parts
  khoo       5 s for each seed, 8 minutes with all 100; as much again for a log
  elleuch    figure 4: 3 minutes for each seed; all parts, 5 seeds: hours
  dasilva    80 s with --seeds 2, half an hour with all
  cavalieri  2 minutes for each seed, an hour with all 30; figures alone: 17 s

elleuch and dasilva keep their runs in the folder of --out: Ctrl-C ends them, and the same command again goes on.

Examples:
  gleaner paper bertasi --out results        # and open results/report.html
  gleaner paper bertasi --figure 3 --seeds 100
  gleaner paper bertasi --json
  gleaner paper cavalieri --part figures --out results
  gleaner paper dasilva --workload marcus_workload.txt.gz --out results
  gleaner paper elleuch --figure 4 --seeds 50 --out results
  gleaner paper elleuch --days 2 --seeds 3   # smaller: tasks of two days
  gleaner paper khoo --log log.swf.gz --out results";

const MAP_HELP: &str = "\
FILE holds `tasks machines x` and then the times task by task, parted by blanks or line ends; x is anything.

Batch:      min-min, max-min, sufferage (one task a step), sufferage-passes (Maheswaran et al.) \
Immediate:  mct, met, olb, kpb:P (the best P per cent of the machines)

Examples:
  gleaner map u_c_hihi.0 --heuristic min-min --bound
  gleaner map u_c_hihi.0 --heuristic sufferage --polish 10s --out results
  gleaner map u_c_hihi.0 --heuristic mct --polish 1000000 --seed 7 --json";

fn parse_heuristic(text: &str) -> Result<Heuristic, String> {
    text.parse().map_err(|error| format!("{error}{}", meant(text, Heuristic::NAMES)))
}

/// `gleaner map`.
#[derive(Args, Debug)]
#[command(after_long_help = MAP_HELP)]
pub(crate) struct MapArguments {
    /// The instance
    pub(crate) file: PathBuf,
    /// min-min, max-min, sufferage, sufferage-passes, mct, met, olb or kpb:P
    #[arg(long, value_name = "NAME", value_parser = parse_heuristic, add = candidates::words(&Heuristic::NAMES))]
    pub(crate) heuristic: Heuristic,
    /// Compute a lower bound, and the gap to it
    #[arg(long)]
    pub(crate) bound: bool,
    /// Improve the mapping for this time, as 10s, or by this number of moves, as 1000000
    #[arg(long, value_name = "SECONDS|MOVES")]
    pub(crate) polish: Option<Budget>,
    /// The seed of the moves
    #[arg(long, value_name = "N", default_value_t = 1, requires = "polish")]
    pub(crate) seed: u64,
    /// Write assignment.csv to this folder, and with --polish the curve: polish.csv, and polish.svg which plots the best
    /// makespan over time above the lower bound
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the mapping as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The papers there are.
pub(crate) const PAPERS: [&str; 5] = ["bertasi", "khoo", "elleuch", "dasilva", "cavalieri"];

/// `gleaner paper`.
#[derive(Args, Debug)]
#[command(after_help = PAPER_HELP)]
pub(crate) struct PaperArguments {
    /// The paper's short name
    #[arg(add = candidates::words(&PAPERS))]
    pub(crate) name: String,
    /// Only this figure
    #[arg(long, value_name = "N")]
    pub(crate) figure: Option<u32>,
    /// Runs for each point, each with a seed of its own [default: 50 for bertasi, 5 for elleuch, 100 for khoo, 30 for
    /// dasilva and cavalieri]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=10_000))]
    pub(crate) seeds: Option<u64>,
    /// bertasi, elleuch, cavalieri: only this part of the experiments
    #[arg(long, value_enum, conflicts_with = "figure")]
    pub(crate) part: Option<PaperPart>,
    /// elleuch: tasks arrive for so many days, instead of 14
    #[arg(long, value_name = "N", value_parser = parse_days)]
    pub(crate) days: Option<f64>,
    /// khoo: jobs of this log too, in any format that `gleaner simulate --swf` reads; may be given several times
    #[arg(long = "log", value_name = "FILE")]
    pub(crate) logs: Vec<PathBuf>,
    /// dasilva: both rules on this trace of bags of tasks too, as OurGrid's simulator reads them
    #[arg(long, value_name = "FILE")]
    pub(crate) workload: Option<PathBuf>,
    /// dasilva: as many jobs as in the paper, up to 904,624 an instance
    #[arg(long)]
    pub(crate) full: bool,
    /// Write claims.json, each run as CSV, plots and report.html to this folder; elleuch and dasilva go on with what is
    /// there
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the claims as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What the simulations of bertasi, elleuch and cavalieri answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum PaperPart {
    /// The figures
    Figures,
    /// elleuch: the period between batches
    Periods,
    /// elleuch: Max-Min and Sufferage
    Heuristics,
    /// How results depend on readings of the paper: which job moves; when a task is charged; ties, networks, the index
    Readings,
    /// elleuch: machines as they are counted, or as slow as printed; tasks held back from the slowest
    Machines,
    /// elleuch: the recommended rule beside the paper's, at two budgets: 50 patterns of two days with --days 2 --seeds 50
    Recommended,
    /// elleuch: whether it counts how long machines stay
    Stays,
    /// elleuch: forecasts, prices that follow demand, a reputation
    FutureWork,
    /// cavalieri: every choice and belief by the age of the index
    Ages,
    /// bertasi: a scheduler for each group of machines
    Distributed,
    /// bertasi: lengths that were learnt by label
    Lengths,
}

fn parse_days(text: &str) -> Result<f64, String> {
    let days = text.parse().ok().filter(|days| (0.01..=60.0).contains(days));
    days.ok_or_else(|| "expected days, from 0.01 to 60".to_owned())
}

/// `gleaner policy`.
#[derive(Debug, Subcommand)]
pub(crate) enum PolicyArguments {
    /// List all presets
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Explain the keys of a policy and their values
    Keys {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a preset as a scenario's policy section, with what each part does
    Show {
        /// Its name
        #[arg(add = candidates::policies())]
        name: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the policy in force on the grid, in the same form
    Current(PlainArguments),
    /// Set another policy, or change the one in force; running tasks stay where they are
    Set(PolicySetArguments),
}

impl PolicyArguments {
    pub(crate) fn json(&self) -> bool {
        match self {
            PolicyArguments::List { json }
            | PolicyArguments::Keys { json }
            | PolicyArguments::Show { json, .. } => *json,
            PolicyArguments::Current(arguments) => arguments.grid.json,
            PolicyArguments::Set(arguments) => arguments.grid.json,
        }
    }
}

/// `gleaner classad`.
#[derive(Debug, Subcommand)]
pub(crate) enum ClassadArguments {
    /// Print the value of an expression
    Eval(EvalArguments),
    /// Say whether two ads match, and their ranks; exits with 1 if they do not match
    Match(MatchArguments),
}

impl ClassadArguments {
    pub(crate) fn json(&self) -> bool {
        match self {
            ClassadArguments::Eval(arguments) => arguments.json,
            ClassadArguments::Match(arguments) => arguments.json,
        }
    }
}

const EVAL_HELP: &str = "\
Examples:
  gleaner classad eval 'strcat(\"a\", 1 + 2)'
  gleaner classad eval 'TARGET.Memory >= 8' --my task.ad --target machine.ad
  printf '1 + 1\\n[a = 1].a\\n' | gleaner classad eval --batch

Files hold one ad in the new form ([a = 1; b = 2]), the old one (a = 1, a line each), XML or JSON.";

/// `gleaner classad eval`.
#[derive(Args, Debug)]
#[command(after_help = EVAL_HELP)]
pub(crate) struct EvalArguments {
    /// The expression
    #[arg(required_unless_present = "batch", conflicts_with = "batch", allow_hyphen_values = true)]
    pub(crate) expression: Option<String>,
    /// Read one expression a line from standard input and print one value a line; exits with 1 if one does not parse
    #[arg(long, conflicts_with = "json")]
    pub(crate) batch: bool,
    /// The ad in which names and MY. are looked up
    #[arg(long, value_name = "FILE")]
    pub(crate) my: Option<PathBuf>,
    /// The ad in which TARGET. is looked up
    #[arg(long, value_name = "FILE")]
    pub(crate) target: Option<PathBuf>,
    /// Print type and value as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `gleaner classad match`.
#[derive(Args, Debug)]
pub(crate) struct MatchArguments {
    /// The file of one ad
    #[arg(value_name = "A")]
    pub(crate) one: PathBuf,
    /// The file of the other
    #[arg(value_name = "B")]
    pub(crate) other: PathBuf,
    /// Print the answer as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const MAN_HELP: &str = "\
Examples:
  gleaner man | man -l -
  gleaner man --out ~/.local/share/man/man1; man gleaner-submit";

/// `gleaner man`.
#[derive(Args, Debug)]
pub(crate) struct ManArguments {
    /// Write the pages of all commands to this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// `gleaner completions`.
#[derive(Args, Debug)]
pub(crate) struct CompletionsArguments {
    /// The shell
    pub(crate) shell: Shell,
}
