//! The arguments of every command, and the help that goes with them.

mod advise;
#[cfg(test)]
mod documented;
mod hosting;
mod live;
mod measuring;
mod people;
mod quota;
mod rigid;
mod rule;
mod spending;
mod trace;
mod tune;
mod workload;

pub(crate) use advise::*;
pub(crate) use hosting::*;
pub(crate) use live::*;
pub(crate) use measuring::*;
pub(crate) use people::*;
pub(crate) use quota::*;
pub(crate) use rigid::*;
pub(crate) use rule::*;
pub(crate) use spending::*;
pub(crate) use trace::*;
pub(crate) use tune::*;
pub(crate) use workload::*;

use crate::completions;
use crate::map::Budget;
use crate::moments::parse_moment;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use gleaner_mapping::Heuristic;
use gleaner_units::Span;
use std::path::PathBuf;

const EXIT_CODES: &str = "Exit codes: 0 ok · 1 a task failed, or a comparison found a difference · \
                          2 bad input or usage · 3 the server cannot be reached or refused · \
                          4 a fault of our own · 130 interrupted";

/// Puts the machines that an organisation already owns to work, and simulates how it would.
#[derive(Debug, Parser)]
#[command(name = "gleaner", version, after_help = EXIT_CODES, propagate_version = true)]
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
    /// Tell this machine's agent whether you are here
    #[command(subcommand)]
    Owner(OwnerArguments),
    /// Which walls around tasks stand on this machine; exits with 1 where an agent would refuse the tasks of others
    Doctor(DoctorArguments),
    /// Copy a coordinator's folder while it works
    Backup(BackupArguments),
    /// Check, rebuild or export a coordinator's journal
    #[command(subcommand)]
    Journal(JournalArguments),
    /// What a coordinator goes by
    #[command(subcommand)]
    Config(ConfigArguments),
    /// Submit a program, to be run once or many times
    Submit(Box<SubmitArguments>),
    /// How jobs are doing
    Status(StatusArguments),
    /// What happens, as it happens
    Watch(WatchArguments),
    /// Machines, jobs, and what waits and why, on a screen of their own; with --json once, as numbers
    Top(PlainArguments),
    /// Wait until jobs are over; exits with 1 if a task failed or was cancelled
    Wait(WaitArguments),
    /// What tasks wrote
    Logs(LogsArguments),
    /// Stop tasks for good
    Cancel(OrderArguments),
    /// Let tasks wait until they are released, running ones too
    Hold(OrderArguments),
    /// Let held tasks go on
    Release(OrderArguments),
    /// Run tasks again that are over
    Rerun(RerunArguments),
    /// Get the files that tasks left
    Fetch(FetchArguments),
    /// What happened to a task, when, why and by whom
    History(HistoryArguments),
    /// The machines of the grid, and what they are doing
    Machines(PlainArguments),
    /// Pause, resume, drain, measure, price or revoke a machine
    #[command(subcommand)]
    Machine(MachineArguments),
    /// What was learnt of the labels: how their tasks divide over CPU, disk and network
    Labels(PlainArguments),
    /// Sign in to a grid, with the line that its administrator gave you
    Login(LoginArguments),
    /// Who did what: orders, joinings and submissions, from a coordinator's journal
    Audit(AuditArguments),
    /// Make a token, for a machine that joins or for a user; list and remove join tokens
    #[command(subcommand)]
    Token(TokenArguments),
    /// See who may sign in, and remove users
    #[command(subcommand)]
    User(UserArguments),
    /// What a live grid's history would have been under another policy
    Replay(ReplayArguments),
    /// Run a scenario in the simulator, under the scheduler that a live grid has
    Simulate(SimulateArguments),
    /// Run a scenario under every combination of some of its numbers, and find the setting to use
    Tune(TuneArguments),
    /// Try every rule that makes sense over a scenario, a log or this grid's own past, and say which to use
    Advise(AdviseArguments),
    /// Why a task runs where it does: what ruled machines out, how the rest scored, what would let it run elsewhere
    Explain(ExplainArguments),
    /// Map independent tasks to machines from a table of expected times
    Map(MapArguments),
    /// Generate, check and import traces of machines that come and go
    #[command(subcommand)]
    Trace(TraceArguments),
    /// Read, convert, generate and filter logs of jobs
    #[command(subcommand)]
    Workload(WorkloadArguments),
    /// Run a paper's experiments again and hold its claims against what comes out
    Paper(PaperArguments),
    /// Evaluate and match expressions in HTCondor's ClassAd language
    #[command(subcommand)]
    Classad(ClassadArguments),
    /// What policies there are, and what each does
    #[command(subcommand)]
    Policy(PolicyArguments),
    /// What may be spent on running tasks, what was, and what is left
    #[command(subcommand)]
    Budget(BudgetArguments),
    /// How much each user may have of the coordinator at a time
    #[command(subcommand)]
    Quota(QuotaArguments),
    /// Measure how fast this program is on this machine
    Bench(BenchArguments),
    /// Print a script that completes commands in your shell: words, files, jobs, machines, policies
    #[command(
        after_help = "For bash: gleaner completions bash > ~/.local/share/bash-completion/completions/gleaner"
    )]
    Completions(CompletionsArguments),
    /// Print the manual page, or write one for each command
    #[command(after_help = MAN_HELP)]
    Man(ManArguments),
}

const SIMULATE_HELP: &str = "\
A scenario is a TOML file that names its tables:

  [grid]
  machines   = \"machines.csv\"     # id, a column for each kind of operation; optional site,cores,price,provides
  owner_load = \"owner_load.csv\"   # optional: time_s,machine,load
  # instead, for machines that come and go (one kind of operation, sharing = \"exclusive\"; see: gleaner trace):
  # availability = \"trace.csv\"     # machine,interval,from_s,until_s,speed; or
  # availability = { trace = \"trace.csv\", look_s = 120, prediction = \"known\" }   # or \"forecast\"
  #   and prices = \"table\", \"speed\" or \"demand\"; aborts_max = 3 (in a row: then a machine takes no more)
  [work]
  tasks   = \"tasks.csv\"           # id,arrival_s,length, a column for each kind (or label); optional domain
  weights = { cpu = 2e-5, disk = 0.1, net = 0.1 }
  [policy]
  preset   = \"bertasi/greedy\"     # see: gleaner policy list
  relocate = { score = \"greedy\", moves_max = 3, gain_min = 0.10 }   # or \"none\"

Also, all optional:

  [grid]   sharing = \"time\"
  [work]   labels = \"labels.csv\" (label, a column for each kind), for a column label in tasks.csv
  [policy] relocate = { …, difference_min = 2 (min-num), period_s = 60 (instead of at events) }
  [policy] budget = { rule = \"b\", recharge = 1000, period_s = 120 }   # or bt, btt; a preset may say the rule
           and charged = \"planned\" (or \"started\", \"ended\"); per = \"user\": each has one (a column user in tasks.csv)
           `gleaner policy keys` explains all keys of [policy]; `gleaner policy set` takes the same
  [migration] seconds = 5, bytes = 1000000 (over the kind net; a move then takes that long)
  [run]    seed = 1

Sites, either drawn, with rigid jobs that may be split over them, or listed, with queues of their own that brokers know from
an index that is out of date:

  [sites]    count = 20, processors = [8, 16], gflops, memory_gb, disk_gb, upload_mbit, download_mbit, load = 0.7; or
             elements = \"elements.csv\" (id,site,cpus,ops_per_s; optional provides,ad,index), optional storage = …
             (site,bytes_per_s,quota), links = … (from,to,bytes_per_s), files = … (id,bytes,sites),
             copies = … (file,site,time_s), keep_replicas, reading_holds_cpu
  [work]     count = 200, days = 3, model = \"lublin\" (or \"log\", log = \"FILE\"), memory_gb, …; where sites are listed
             jobs = \"jobs.csv\" (id,arrival_s,length; optional inputs,requires,ad,element,broker)
  [network]  shared = true; drawn: staging, crossing
  [protocol] brokers = 1, delay_s = 0; drawn: loss, patience_s
  [index]    ttl_s = [30, 50], a level each; optional rank_source = \"element\", transfers_seen; where sites are listed
  [policy]   preset = \"khoo/mrs\"; where sites are listed \"cavalieri/stochastic\"

A scenario of peers that lend each other machines has sections of its own:
  [peers]    workers = \"workers.csv\" (peer,ops_per_s; optional count,cores,watts,fails_after_s), optional outages = …
             (peer,worker,from_s,until_s), silences = … and absences = … (peer,from_s,until_s), stays_s, away_s,
             power = \"learnt\", unrelated, inputs_s
  [letters]  delay_s, loss, heartbeat_s
  [work]     jobs = \"jobs.csv\" (id,peer,arrival_s,lengths; optional user,think_s), or ourgrid = \"FILE\", gap, ops_per_s
  [policy]   preset = \"dasilva/greedy\"

provides and domain hold words parted by blanks: a machine must provide all words of a task's domain. A column ad in
either table holds a ClassAd: [Memory = 16], [Requirements = TARGET.Memory >= 8; Rank = TARGET.Memory].

--out DIR writes tasks.csv (task,machine,arrived_s,started_s,finished_s,moves), machines.csv (machine,busy_s,tasks),
machines_over_time.csv (time_s,machine,tasks), summary.json, plots as SVG, and report.html.

Examples:
  gleaner simulate lab.toml
  gleaner simulate lab.toml --policy bertasi/social --out results
  gleaner simulate lab.toml --set policy.relocate.gain_min=0.05 --json
  gleaner simulate lab.toml --policy bertasi/greedy,bertasi/social --seeds 20 --shake 60 --out results
  gleaner simulate --swf KTH-SP2.swf.gz --cores 100 --policy queue/fcfs,queue/easy,queue/conservative
  gleaner simulate --swf KTH-SP2.swf.gz --policy queue/easy --fill shortest --lengths last-two --out results

Several policies or seeds are compared: means with 95 % intervals, and how far each policy is from the first, seed by seed.
--out DIR then has a report of all, and a folder for each run: POLICY/seed-K.

Of a log, --out DIR also writes jobs.swf (the log with the waits), jobs.csv and schedule.json (in Batsim's columns).";

/// `gleaner simulate`.
#[derive(Args, Debug)]
#[command(after_long_help = SIMULATE_HELP)]
pub(crate) struct SimulateArguments {
    /// The scenario
    #[arg(required_unless_present = "swf")]
    pub(crate) scenario: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) log: RigidArguments,
    /// Schedule by this preset instead of the scenario's; by several, parted by commas, each with the same seeds, and compare
    #[arg(long, value_name = "NAME", value_delimiter = ',', add = completions::policies())]
    pub(crate) policy: Vec<String>,
    /// The seed, instead of the scenario's
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Run with so many seeds, from the first on, and give means with 95 % intervals
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    #[arg(conflicts_with_all = ["checkpoint", "resume"])]
    pub(crate) seeds: Option<u64>,
    /// Move each arrival by up to so much, drawn anew for each seed: for scenarios and logs in which nothing else is drawn
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
  gleaner explain 7/42                             # a task of the live grid, as things stand
  gleaner explain 7/42 --at '2026-11-21 07:30:00'  # or as they stood
  gleaner explain lab.toml t3                      # a task of a scenario, as things stand when it arrives
  gleaner explain sites.toml 17 --svg map.svg      # a job over sites, by number from 1, and its virtual map
  gleaner explain KTH-SP2.swf.gz 212 --cores 100   # a job of a log: what holds it back under queue/easy
  gleaner explain KTH-SP2.swf.gz 212 --set policy.preset=queue/conservative";

/// `gleaner explain`.
#[derive(Args, Debug)]
#[command(after_help = EXPLAIN_HELP)]
pub(crate) struct ExplainArguments {
    /// A task of the live grid, or a scenario or log
    #[arg(value_name = "JOB[/TASK]|SCENARIO|LOG")]
    pub(crate) subject: String,
    /// The scenario's task, as its tasks.csv calls it, or the log's job by its number
    pub(crate) task: Option<String>,
    /// The processors of the log's machine; without it, as many as its header or its largest job says
    #[arg(long, value_name = "N", requires = "task", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) cores: Option<u32>,
    /// Set a key of the scenario, as `policy.preset=bertasi/social`; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE", requires = "task")]
    pub(crate) overrides: Vec<String>,
    /// Draw the virtual map of a job over sites into this file
    #[arg(long, value_name = "FILE", requires = "task")]
    pub(crate) svg: Option<PathBuf>,
    /// A moment of the live grid's past
    #[arg(long, value_name = "MOMENT", value_parser = parse_moment, conflicts_with = "task")]
    pub(crate) at: Option<f64>,
    #[command(flatten)]
    pub(crate) grid: GridArguments,
}

const PAPER_HELP: &str = "\
Papers:
  bertasi    resource-driven allocation on time-shared machines (figures 1 to 4)
  khoo       rigid jobs over sites, weighing processors, memory, disk, links and data (table I)
  elleuch    batches within a budget on volunteers' machines (figures 4 and 5)
  dasilva    peers that lend each other machines (table 2, figures 2 and 3, favours)
  cavalieri  a broker over an index that is out of date (figures 3 to 5, and what the paper did not ask)

Each claim of the paper's text is measured and judged: holds, partly, not.

What a run costs, in time of one core; more cores share it:
  bertasi    6 s for each seed: 5 minutes with all 50
  khoo       5 s for each seed, 8 minutes with all 100; a log takes as long again
  elleuch    figure 4: 3 minutes for each seed; all 5 seeds of all parts: hours
  dasilva    80 s with --seeds 2, half an hour with all
  cavalieri  2 minutes for each seed, an hour with all 30; --part figures: 17 s for each seed

Examples:
  gleaner paper bertasi --out results        # and open results/report.html
  gleaner paper bertasi --figure 3 --seeds 100
  gleaner paper bertasi --json
  gleaner paper cavalieri --out results      # --part ages for what beats the paper's rules
  gleaner paper dasilva --workload marcus_workload_7_days_50_sites.txt.gz --out results   # Ctrl-C, and the same to go on
  gleaner paper elleuch --figure 4 --seeds 50 --out results   # hours; Ctrl-C, and the same again to go on
  gleaner paper elleuch --days 2 --seeds 3                    # a smaller one: tasks arrive for two days
  gleaner paper khoo --log KTH-SP2.swf.gz --out results       # the log's jobs beside the model's";

const MAP_HELP: &str = "\
FILE holds `tasks machines x` and then the times task by task, parted by blanks or line ends; x is anything.

Batch:      min-min, max-min, sufferage (one task a step), sufferage-passes (Maheswaran et al.)
Immediate:  mct, met, olb, kpb:P (the best P per cent of the machines)

Examples:
  gleaner map u_c_hihi.0 --heuristic min-min --bound
  gleaner map u_c_hihi.0 --heuristic sufferage --bound --polish 10s --out results
  gleaner map u_c_hihi.0 --heuristic mct --polish 1000000 --seed 7 --json";

/// `gleaner map`.
#[derive(Args, Debug)]
#[command(after_long_help = MAP_HELP)]
pub(crate) struct MapArguments {
    /// The instance
    pub(crate) file: PathBuf,
    /// min-min, max-min, sufferage, sufferage-passes, mct, met, olb or kpb:P
    #[arg(long, value_name = "NAME", add = completions::words(&Heuristic::NAMES))]
    pub(crate) heuristic: Heuristic,
    /// Compute a lower bound, and the gap to it
    #[arg(long)]
    pub(crate) bound: bool,
    /// Improve the mapping for so many seconds, as 10s, or by so many moves, as 1000000
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

/// `gleaner paper`.
#[derive(Args, Debug)]
#[command(after_help = PAPER_HELP)]
pub(crate) struct PaperArguments {
    /// The paper's short name
    #[arg(add = completions::words(&crate::paper::NAMES))]
    pub(crate) name: String,
    /// Only this figure
    #[arg(long, value_name = "N")]
    pub(crate) figure: Option<u32>,
    /// Runs for each point, each with a seed of its own [default: 50 for bertasi, 5 for elleuch, 100 for khoo, 30 for
    /// dasilva and cavalieri]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=10_000))]
    pub(crate) seeds: Option<u64>,
    /// elleuch, cavalieri: only this part of the experiments
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

/// What the simulations of elleuch and cavalieri answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum PaperPart {
    /// The figures
    Figures,
    /// elleuch: the period between batches
    Periods,
    /// elleuch: Max-Min and Sufferage
    Heuristics,
    /// What hangs on how the paper is read: when a task is charged; ties, networks, the index
    Readings,
    /// elleuch: machines as they are counted, or as slow as printed
    Machines,
    /// elleuch: forecasts, prices that follow demand, a reputation
    FutureWork,
    /// cavalieri: every choice and belief by the age of the index
    Ages,
}

fn parse_days(text: &str) -> Result<f64, String> {
    let days = text.parse().ok().filter(|days| (0.01..=60.0).contains(days));
    days.ok_or_else(|| "expected days, from 0.01 to 60".to_owned())
}

/// `gleaner policy`.
#[derive(Debug, Subcommand)]
pub(crate) enum PolicyArguments {
    /// All presets, a line each
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// What may be chosen for each key of a policy, and what that means
    Keys {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// A preset as a scenario's policy section, with what each part does
    Show {
        /// Its name
        #[arg(add = completions::policies())]
        name: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// The policy that the grid goes by, in the same form
    Current(PlainArguments),
    /// Go by another policy from now on, or change the one in force; what runs stays
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
    /// Say whether two ads want each other, and how much; exits with 1 if they do not
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
  gleaner classad eval 'TARGET.Memory >= MY.RequestMemory' --my task.ad --target machine.ad
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
