//! The arguments of `gleaner tune`.

use crate::tune::Parameter;
use clap::Args;
use std::path::PathBuf;

const TUNE_HELP: &str = "\
A parameter is any key of the scenario that holds a number, with the values to try: LOW..HIGH, in so many even steps as \
--steps says, or a list. Every combination is run with the same seeds; what is lowest on average is the setting to use, and \
those that cannot be told from it (95 %, in pairs by seed) are marked.

The measure is a number of the summary that `gleaner simulate --json` prints: makespan_s for machines, flow_mean_s for \
brokers, peers and sites, where nothing else is said. A run that leaves work unfinished rules its setting out.

With --out, runs are kept in DIR as they end: Ctrl-C, and the same again to go on. There are then settings.csv, tune.json, \
report.html, and heat.svg (or curve.svg, for one parameter).

Examples:
  gleaner tune brokers.toml --param policy.alpha=0..1 --param policy.beta=0..1
  gleaner tune brokers.toml --param policy.power=1,2,4,8 --seeds 30
  gleaner tune lab.toml --param policy.relocate.gain_min=0..0.5 --out results";

/// `gleaner tune`.
#[derive(Args, Debug)]
#[command(after_help = TUNE_HELP)]
pub(crate) struct TuneArguments {
    /// The scenario, of machines, brokers, peers or sites
    pub(crate) scenario: PathBuf,
    /// A key and its values, as `policy.alpha=0..1` or `policy.power=1,2,4`; may be given several times
    #[arg(long = "param", value_name = "KEY=VALUES", required = true, value_parser = Parameter::parse)]
    pub(crate) parameters: Vec<Parameter>,
    /// The number of values to try in each range
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..=1_000))]
    pub(crate) steps: u32,
    /// Runs with each setting, each with a seed of its own
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(crate) seeds: u64,
    /// The number of the summary to minimise
    #[arg(long, value_name = "KEY")]
    pub(crate) measure: Option<String>,
    /// Schedule by this preset instead of the scenario's
    #[arg(long, value_name = "NAME")]
    pub(crate) policy: Option<String>,
    /// Set another key of the scenario for all runs; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) overrides: Vec<String>,
    /// Keep runs, and write tables, plots and report.html to this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
