//! The arguments of `gleaner trace`.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// `gleaner trace`.
#[derive(Debug, Subcommand)]
pub(crate) enum TraceArguments {
    /// Generate a trace with the speeds and intervals of the volunteers' machines of Elleuch et al.
    Generate(GenerateArguments),
    /// Read a trace, and print a summary or the first error
    Check(CheckArguments),
    /// Make a trace of an event file of the Failure Trace Archive
    Import(ImportArguments),
}

/// The months of the paper.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Month {
    /// 94 machines that do 12 million operations a second together
    September,
    /// 101 that do half as much
    June,
}

/// How the paper's speeds are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Speeds {
    /// Ten times those printed: as many machines as the paper counts, there for hours
    Tenfold,
    /// As printed: as many machines as the cumulative speed takes, there for days
    AsPrinted,
}

const GENERATE_HELP: &str = "\
Examples:
  gleaner trace generate --out september.csv --machines machines.csv
  gleaner trace generate --month june --present 20 --days 2 --out small.csv

In a scenario: [grid] machines = \"machines.csv\", availability = \"september.csv\", sharing = \"exclusive\"";

/// `gleaner trace generate`.
#[derive(Args, Debug)]
#[command(after_help = GENERATE_HELP)]
pub(crate) struct GenerateArguments {
    /// The month of the paper
    #[arg(long, value_enum, default_value_t = Month::September)]
    pub(crate) month: Month,
    /// How the paper's speeds are read
    #[arg(long, value_enum, default_value_t = Speeds::Tenfold)]
    pub(crate) speeds: Speeds,
    /// How many machines are there on average, instead of the month's
    #[arg(long, value_name = "N", value_parser = parse_positive)]
    pub(crate) present: Option<f64>,
    /// Operations a second of a machine on average, instead of the month's
    #[arg(long, value_name = "OPS", value_parser = parse_positive)]
    pub(crate) mean_speed: Option<f64>,
    /// How long
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=400))]
    pub(crate) days: u32,
    /// The seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) written: WrittenArguments,
}

/// `gleaner trace check`.
#[derive(Args, Debug)]
pub(crate) struct CheckArguments {
    /// The trace
    pub(crate) file: PathBuf,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `gleaner trace import`.
#[derive(Args, Debug)]
pub(crate) struct ImportArguments {
    /// The event file
    pub(crate) file: PathBuf,
    /// How fast every machine is, in operations a second, since the archive does not say
    #[arg(long, value_name = "OPS", value_parser = parse_positive)]
    pub(crate) speed: f64,
    /// Only events of this component, where a node has several
    #[arg(long, value_name = "ID")]
    pub(crate) component: Option<String>,
    #[command(flatten)]
    pub(crate) written: WrittenArguments,
}

/// Where a trace goes.
#[derive(Args, Debug)]
pub(crate) struct WrittenArguments {
    /// Write the trace to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Write the table of machines that a scenario needs beside it
    #[arg(long, value_name = "FILE")]
    pub(crate) machines: Option<PathBuf>,
    /// Print the summary as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

fn parse_positive(text: &str) -> Result<f64, String> {
    let speed = text.parse().ok().filter(|speed: &f64| (1e-9..=1e12).contains(speed));
    speed.ok_or_else(|| "expected a number from 1e-9 to 1e12".to_owned())
}
