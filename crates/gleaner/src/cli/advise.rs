//! The arguments of `gleaner advise`.

use super::values::file_to_read;
use clap::Args;
use gleaner_units::Span;
use std::path::PathBuf;

const ADVISE_HELP: &str = "\
Every preset is tried, by itself and with the parts that it can be combined with (relocation, copies, the order of filling, \
predicted lengths, what brokers believe), with the same seeds, arrivals moved by up to --shake seconds in each run. The advice \
is one sentence, the command that follows it, and the table behind it. What the best gains over the rule as it is is measured \
with seeds that did not choose it. As good is a rule that cannot be told from the best; of the rule as it is, these seeds say so. \
Where moving arrivals takes most of the waiting away, the advice says so: then ask again with --shake 0, or less.

Without a scenario or a log, advice is about the tasks that the grid of the folder ran in the last --days days. It reads the \
journal and changes nothing. The journal is on the coordinator's machine; elsewhere give a backup or an export with --journal.

Examples:
  gleaner advise lab.toml --out advice
  gleaner advise --swf KTH-SP2.swf.gz --cores 100
  gleaner advise --days 7 --measure wait_mean_s";

/// `gleaner advise`.
#[derive(Args, Debug)]
#[command(after_help = ADVISE_HELP)]
pub(crate) struct AdviseArguments {
    /// The scenario, of machines, brokers, peers or sites
    #[arg(conflicts_with_all = ["swf", "journal"])]
    pub(crate) scenario: Option<PathBuf>,
    /// A log of rigid jobs instead, in any format that `gleaner simulate --swf` reads
    #[arg(long, value_name = "FILE", conflicts_with = "journal", value_parser = file_to_read())]
    pub(crate) swf: Option<PathBuf>,
    /// The processors of the log's machine; without it, as many as its header says
    #[arg(long, value_name = "N", requires = "swf", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) cores: Option<u32>,
    /// A grid's journal instead: its folder, its database, or what `gleaner journal export` wrote
    #[arg(long, value_name = "PATH", value_parser = file_to_read())]
    pub(crate) journal: Option<PathBuf>,
    /// The folder of the grid here
    #[arg(long, value_name = "DIR", env = "GLEANER_HOME")]
    pub(crate) home: Option<PathBuf>,
    /// Of a grid's history, use the tasks of this many last days
    #[arg(long, value_name = "N", default_value_t = 30.0, value_parser = days)]
    pub(crate) days: f64,
    /// Try only these presets, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) policy: Vec<String>,
    /// The number that is to be low; where nothing else is said, `makespan_s` for machines, `slowdown_mean` for logs,
    /// `flow_mean_s` for all else
    #[arg(long, value_name = "KEY")]
    pub(crate) measure: Option<String>,
    /// Runs with each rule, each with a seed of its own
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(2..=10_000))]
    pub(crate) seeds: u64,
    /// Move each arrival by up to so many seconds, differently in each run; of a grid's history the tasks of an array
    /// together (default: 60); jobs over sites come when they are drawn to, or when their table says
    #[arg(long, value_name = "SECONDS", value_parser = crate::cli::parse_shake)]
    pub(crate) shake: Option<Span>,
    /// Set a key of the scenario for all runs; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) overrides: Vec<String>,
    /// Keep runs, and write tables and report.html to this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

fn days(text: &str) -> Result<f64, String> {
    let days = text.parse().ok().filter(|days: &f64| days.is_finite() && *days > 0.0);
    days.ok_or_else(|| "expected days, more than 0".to_owned())
}
