//! The arguments of `gleaner simulate`.

use super::RigidArguments;
use crate::candidates;
use clap::Args;
use clap::builder::{StringValueParser, TypedValueParser};
use gleaner_units::Span;
use std::path::PathBuf;

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
  machines     = \"machines.csv\"    # id,ops (ops in tasks.csv too)
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
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = trimmed(), add = candidates::policies())]
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

/// A name between commas may have blanks around it.
fn trimmed() -> impl TypedValueParser<Value = String> {
    StringValueParser::new().map(|name| name.trim().to_owned())
}
