//! The arguments of `gleaner explain`.

use super::{GridArguments, ReadingArguments};
use crate::candidates;
use crate::moments::parse_end_of_moment;
use clap::Args;
use std::path::PathBuf;

const EXPLAIN_HELP: &str = "\
Examples:
  gleaner explain 7/42                         # a task of the live grid, now
  gleaner explain 7/42 --at '2026-11-21 07:30:00'
  gleaner explain lab.toml t3                  # a task of a scenario
  gleaner explain sites.toml 17 --svg map.svg  # job 17 over sites, and a map
  gleaner explain log.swf.gz 212 --cores 100   # job 212 of a log, by queue/easy
  gleaner explain log.swf.gz 212 --policy queue/conservative";

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
    /// By this preset instead of the scenario's, or of a log instead of queue/easy. Behind colons, keys of the policy are set, as
    /// `queue/easy:fill=shortest`
    #[arg(long, value_name = "NAME", requires = "task", add = candidates::policies())]
    pub(crate) policy: Option<String>,
    /// Set a key of the scenario, as `policy.preset=bertasi/social`; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE", requires = "task")]
    pub(crate) overrides: Vec<String>,
    /// Draw the virtual map of a job over sites into this file
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// A moment of the live grid's past, as `gleaner history` shows it: what happened in that second counts
    #[arg(long, value_name = "MOMENT", value_parser = parse_end_of_moment, conflicts_with = "task")]
    pub(crate) at: Option<f64>,
    #[command(flatten)]
    pub(crate) grid: GridArguments,
}
