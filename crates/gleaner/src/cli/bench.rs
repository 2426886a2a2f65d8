//! The arguments of `gleaner bench`.

use super::values::seconds;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use gleaner_bench::live::Subject;
use std::path::PathBuf;

/// `gleaner bench`.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct BenchArguments {
    #[command(subcommand)]
    pub(crate) what: Option<BenchCommand>,
    /// Print the figures as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `gleaner bench COMMAND`.
#[derive(Subcommand, Debug)]
pub(crate) enum BenchCommand {
    /// Measure a coordinator and agents, beside the limits of disk, network and process start
    Live(BenchLiveArguments),
    /// Measure the batch heuristics beside their naive references
    Map(BenchMapArguments),
}

/// `gleaner bench map`.
#[derive(Args, Debug)]
#[command(after_help = "\
Matrices are of 8192 tasks and 256 machines. What counts is processor time: the least of three runs, and one run of each \
plain reference, whose mapping must be the same. The references take some minutes.")]
pub(crate) struct BenchMapArguments {
    /// Print the figures as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `gleaner bench live`.
#[derive(Args, Debug)]
#[command(after_help = "\
Everything it starts and makes is gone when it ends. The machine should have nothing else to do: what limits it and what \
is measured take turns, but a busy machine still blurs the figures. All of it takes about ten minutes.")]
pub(crate) struct BenchLiveArguments {
    /// What to measure; everything if nothing is said
    #[arg(value_name = "WHAT", value_parser = subjects())]
    pub(crate) subjects: Vec<Subject>,
    /// A folder for the files of the measurement, on the disk to be measured
    #[arg(long, value_name = "DIR")]
    pub(crate) scratch: Option<PathBuf>,
    /// How long to measure an idle agent
    #[arg(long, value_name = "TIME", value_parser = seconds, default_value = "1min")]
    pub(crate) idle_for: f64,
    /// Print the figures as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Subjects by their names.
fn subjects() -> impl TypedValueParser<Value = Subject> {
    let named = |subject: Subject| PossibleValue::new(subject.name()).help(subject.summary());
    PossibleValuesParser::new(Subject::ALL.map(named)).map(|name| {
        let found = Subject::ALL.into_iter().find(|subject| subject.name() == name);
        found.expect("no other name is let through")
    })
}
