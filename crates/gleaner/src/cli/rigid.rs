//! The arguments by which `gleaner simulate` runs a log of rigid jobs.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// A log instead of a scenario.
#[derive(Args, Debug)]
pub(crate) struct RigidArguments {
    /// Run the rigid jobs of a log instead of a scenario: in the Standard or the Grid Workload Format or Batsim's JSON, packed
    /// or not
    #[arg(long, value_name = "FILE", conflicts_with = "scenario", requires = "policy")]
    pub(crate) swf: Option<PathBuf>,
    /// The processors of the log's machine; without it, as many as its header says
    #[arg(long, value_name = "N", requires = "swf", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) cores: Option<u32>,
    /// Which of the jobs that may overtake goes first: arrival, shortest or smallest-area (queue/easy)
    #[arg(long, value_name = "ORDER", requires = "swf")]
    pub(crate) fill: Option<String>,
    /// How run times are predicted: estimate, last-two, learnt or true
    #[arg(long, value_name = "WHOSE", requires = "swf")]
    pub(crate) lengths: Option<String>,
    /// Multiply the users' estimates, after those below the run time were raised to it: 1 or more
    #[arg(long, value_name = "TIMES", requires = "swf", default_value = "1", value_parser = times)]
    pub(crate) estimates: f64,
    /// What is believed of a job that runs longer than predicted: firm, estimate, alike, doubled or in-turn
    #[arg(long, value_name = "RULE", requires = "swf")]
    pub(crate) correction: Option<String>,
    /// How many processors a job takes: as many as it was given (field 5 of the log), or as many as it asked for (field 8)
    #[arg(long, value_name = "WHICH", requires = "swf", default_value = "allocated")]
    pub(crate) size: SizeArgument,
    /// What becomes of a job that runs longer than its estimate
    #[arg(long, value_name = "RULE", requires = "swf", default_value = "lengthen")]
    pub(crate) overrun: OverrunArgument,
}

fn times(text: &str) -> Result<f64, String> {
    let times = text.parse().ok().filter(|times: &f64| times.is_finite() && *times >= 1.0);
    times.ok_or_else(|| "expected a finite number, 1 or more".to_owned())
}

/// See [`gleaner_workload::Size`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum SizeArgument {
    /// Field 5, or else field 8
    Allocated,
    /// Field 8, or else field 5
    Requested,
}

/// See [`gleaner_workload::Overrun`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum OverrunArgument {
    /// Its estimate is raised to its run time beforehand
    Lengthen,
    /// It is stopped
    Kill,
}
