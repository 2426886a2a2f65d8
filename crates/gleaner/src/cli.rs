//! The arguments of every command, and the help that goes with them.

use crate::map::Budget;
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use gleaner_mapping::Heuristic;
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
    /// Run a scenario in the simulator, under the scheduler that a live grid has
    Simulate(SimulateArguments),
    /// Map independent tasks to machines from a table of expected times
    Map(MapArguments),
    /// Run a paper's experiments again and hold its claims against what comes out
    Paper(PaperArguments),
    /// What policies there are, and what each does
    #[command(subcommand)]
    Policy(PolicyArguments),
    /// Measure how fast this program is on this machine
    Bench(BenchArguments),
    /// Print a script that completes commands in your shell
    #[command(
        after_help = "For bash: gleaner completions bash > ~/.local/share/bash-completion/completions/gleaner"
    )]
    Completions(CompletionsArguments),
}

const SIMULATE_HELP: &str = "\
A scenario is a TOML file that names its tables:

  [grid]
  machines   = \"machines.csv\"     # id, a column for each kind of operation; optional site,cores,price,provides
  owner_load = \"owner_load.csv\"   # optional: time_s,machine,load
  [work]
  tasks   = \"tasks.csv\"           # id,arrival_s,length, a column for each kind (or label); optional domain
  weights = { cpu = 2e-5, disk = 0.1, net = 0.1 }
  [policy]
  preset   = \"bertasi/greedy\"     # see: gleaner policy list
  relocate = { score = \"greedy\", moves_max = 3, gain_min = 0.10 }   # or \"none\"

Examples:
  gleaner simulate lab.toml
  gleaner simulate lab.toml --policy bertasi/social --out results
  gleaner simulate lab.toml --set policy.relocate.gain_min=0.05 --json";

/// `gleaner simulate`.
#[derive(Args, Debug)]
#[command(after_long_help = SIMULATE_HELP)]
pub(crate) struct SimulateArguments {
    /// The scenario
    pub(crate) scenario: PathBuf,
    /// Schedule by this preset instead of the scenario's
    #[arg(long, value_name = "NAME")]
    pub(crate) policy: Option<String>,
    /// The seed, instead of the scenario's
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Run with so many seeds, from the first on, and summarise
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    #[arg(conflicts_with_all = ["checkpoint", "resume"])]
    pub(crate) seeds: Option<u64>,
    /// Set a key of the scenario, as policy.relocate.gain_min=0.05; may be given several times
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
    #[arg(long, value_name = "NAME")]
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
    /// Write assignment.csv, and with --polish polish.csv and polish.svg, to this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the mapping as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `gleaner paper`.
#[derive(Args, Debug)]
#[command(after_help = "Papers: bertasi — resource-driven allocation on shared machines (figures 1 to 4)")]
pub(crate) struct PaperArguments {
    /// The paper's short name
    pub(crate) name: String,
    /// Only this figure
    #[arg(long, value_name = "N")]
    pub(crate) figure: Option<u32>,
    /// Runs for each point, each with a seed of its own
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(2..=10_000))]
    pub(crate) seeds: u64,
    /// Write tables, plots and report.html to this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the claims as JSON
    #[arg(long)]
    pub(crate) json: bool,
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
    /// What one preset does, where it comes from and what it costs
    Show {
        /// Its name
        name: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

impl PolicyArguments {
    pub(crate) fn json(&self) -> bool {
        match self {
            PolicyArguments::List { json } | PolicyArguments::Show { json, .. } => *json,
        }
    }
}

/// `gleaner bench`.
#[derive(Args, Debug)]
pub(crate) struct BenchArguments {
    /// Print the figures as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `gleaner completions`.
#[derive(Args, Debug)]
pub(crate) struct CompletionsArguments {
    /// The shell
    pub(crate) shell: Shell,
}
