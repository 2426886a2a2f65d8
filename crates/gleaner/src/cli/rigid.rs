//! The arguments by which `gleaner simulate` runs a log of rigid jobs.

use super::values::file_to_read;
use crate::failure::Failure;
use clap::{Args, ValueEnum};
use gleaner_workload::{Overrun, Reading, Size, Times};
use std::path::PathBuf;

/// A log instead of a scenario.
#[derive(Args, Debug)]
pub(crate) struct RigidArguments {
    /// Run the rigid jobs of a log instead of a scenario: in the Standard or the Grid Workload Format or Batsim's JSON, packed
    /// or not; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "scenario", requires = "policy", value_parser = file_to_read())]
    pub(crate) swf: Option<PathBuf>,
    /// The processors of the log's machine; without it, as many as its header says, and an error where that says nothing
    #[arg(long, value_name = "N", requires = "swf", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) cores: Option<u32>,
    /// Which of the jobs that may overtake goes first: arrival, shortest or smallest-area (queue/easy)
    #[arg(long, value_name = "ORDER", requires = "swf")]
    pub(crate) fill: Option<String>,
    /// How run times are predicted: estimate, last-two, learnt or true
    #[arg(long, value_name = "WHOSE", requires = "swf")]
    pub(crate) lengths: Option<String>,
    /// What is believed of a job that runs longer than predicted: firm, estimate, alike, doubled or in-turn
    #[arg(long, value_name = "RULE", requires = "swf")]
    pub(crate) correction: Option<String>,
    #[command(flatten)]
    pub(crate) reading: ReadingArguments,
}

/// How a log is read.
#[derive(Args, Debug)]
pub(crate) struct ReadingArguments {
    /// Multiply a log's estimates, after those below the run time were raised to it: 1 or more
    #[arg(long, value_name = "TIMES", value_parser = times)]
    estimates: Option<f64>,
    /// How many processors a log's job takes: as many as it was given (field 5, the default), or as many as it asked for (field 8)
    #[arg(long, value_name = "WHICH")]
    size: Option<SizeArgument>,
    /// What becomes of a log's job that runs longer than its estimate (default: lengthen)
    #[arg(long, value_name = "RULE")]
    overrun: Option<OverrunArgument>,
}

impl ReadingArguments {
    pub(crate) fn reading(&self) -> Reading {
        Reading {
            overrun: match self.overrun {
                Some(OverrunArgument::Lengthen) | None => Overrun::Lengthen,
                Some(OverrunArgument::Kill) => Overrun::Kill,
            },
            size: match self.size {
                Some(SizeArgument::Allocated) | None => Size::Allocated,
                Some(SizeArgument::Requested) => Size::Requested,
            },
            estimates: self.estimates.map_or_else(Times::default, Times),
            shake: None,
        }
    }

    /// Refuses what is said of a log where there is none.
    pub(crate) fn check_no_log(&self) -> Result<(), Failure> {
        let said = [
            ("--estimates", self.estimates.is_some()),
            ("--size", self.size.is_some()),
            ("--overrun", self.overrun.is_some()),
        ];
        match said.into_iter().find(|(_, is_said)| *is_said) {
            Some((option, _)) => {
                Err(Failure::Usage(format!("{option}: found no log; expected one, as KTH-SP2.swf.gz")))
            }
            None => Ok(()),
        }
    }
}

fn times(text: &str) -> Result<f64, String> {
    let times = text.parse().ok().filter(|times: &f64| times.is_finite() && *times >= 1.0);
    times.ok_or_else(|| "expected a finite number, 1 or more".to_owned())
}

/// See [`Size`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum SizeArgument {
    /// Field 5, or else field 8
    Allocated,
    /// Field 8, or else field 5
    Requested,
}

/// See [`Overrun`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum OverrunArgument {
    /// Its estimate is raised to its run time beforehand
    Lengthen,
    /// It is stopped
    Kill,
}
