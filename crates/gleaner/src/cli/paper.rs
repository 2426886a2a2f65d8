//! The arguments of `gleaner paper`.

use super::values::file_to_read;
use crate::candidates;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

const PAPER_HELP: &str = "\
Papers:
  bertasi    tasks on time-shared machines, by what they use (figures 1 to 4);
             --part distributed, readings, lengths: what the paper did not ask
  khoo       rigid jobs over sites, by five resources (table I)
  elleuch    batches within a budget on volunteers' machines (figures 4, 5)
  dasilva    peers that lend each other machines (table 2, figures 2, 3)
  cavalieri  a broker over an index that is out of date (figures 3 to 5)

Each claim of the paper's text is measured and judged: holds, partly, not, or undecided where the seeds do not decide. For dasilva and cavalieri, what the papers did \
not ask is measured too.

What a run costs, in time of one core; more cores share it:
  bertasi    6 s for each seed: 5 minutes with all 50; as long for the parts
  khoo       5 s for each seed, 8 minutes with all 100; as much again for a log
  elleuch    figure 4: 3 minutes for each seed; all parts, 5 seeds: hours
  dasilva    80 s with --seeds 2, half an hour with all
  cavalieri  2 minutes for each seed, an hour with all 30; figures alone: 17 s

elleuch and dasilva keep their runs in the folder of --out: Ctrl-C ends them, and the same command again goes on.

Examples:
  gleaner paper bertasi --out results        # and open results/report.html
  gleaner paper bertasi --figure 3 --seeds 100
  gleaner paper bertasi --json
  gleaner paper cavalieri --part figures --out results
  gleaner paper dasilva --workload marcus_workload.txt.gz --out results
  gleaner paper elleuch --figure 4 --seeds 50 --out results
  gleaner paper elleuch --days 2 --seeds 3   # smaller: tasks of two days
  gleaner paper khoo --log log.swf.gz --out results";

/// The papers there are.
pub(crate) const PAPERS: [&str; 5] = ["bertasi", "khoo", "elleuch", "dasilva", "cavalieri"];

/// `gleaner paper`.
#[derive(Args, Debug)]
#[command(after_help = PAPER_HELP)]
pub(crate) struct PaperArguments {
    /// The paper's short name
    #[arg(add = candidates::words(&PAPERS))]
    pub(crate) name: String,
    /// Only this figure
    #[arg(long, value_name = "N")]
    pub(crate) figure: Option<u32>,
    /// Runs for each point, each with a seed of its own [default: 50 for bertasi, 5 for elleuch, 100 for khoo, 30 for
    /// dasilva and cavalieri]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=10_000))]
    pub(crate) seeds: Option<u64>,
    /// bertasi, elleuch, cavalieri: only this part of the experiments
    #[arg(long, value_enum, conflicts_with = "figure")]
    pub(crate) part: Option<PaperPart>,
    /// elleuch: tasks arrive for so many days, instead of 14
    #[arg(long, value_name = "N", value_parser = parse_days)]
    pub(crate) days: Option<f64>,
    /// khoo: jobs of this log too, in any format that `gleaner simulate --swf` reads; may be given several times
    #[arg(long = "log", value_name = "FILE", value_parser = file_to_read())]
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

/// What the simulations of bertasi, elleuch and cavalieri answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum PaperPart {
    /// The figures
    Figures,
    /// elleuch: the period between batches
    Periods,
    /// elleuch: Max-Min and Sufferage
    Heuristics,
    /// How results depend on readings of the paper: which job moves; when a task is charged; ties, networks, the index
    Readings,
    /// elleuch: machines as they are counted, or as slow as printed; tasks held back from the slowest
    Machines,
    /// elleuch: the recommended rule beside the paper's, at two budgets: 50 patterns of two days with --days 2 --seeds 50
    Recommended,
    /// elleuch: whether it counts how long machines stay
    Stays,
    /// elleuch: forecasts, prices that follow demand, a reputation
    FutureWork,
    /// cavalieri: every choice and belief by the age of the index
    Ages,
    /// bertasi: a scheduler for each group of machines
    Distributed,
    /// bertasi: lengths that were learnt by label
    Lengths,
}

fn parse_days(text: &str) -> Result<f64, String> {
    let days = text.parse().ok().filter(|days| (0.01..=60.0).contains(days));
    days.ok_or_else(|| "expected days, from 0.01 to 60".to_owned())
}
