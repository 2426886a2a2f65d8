//! The arguments of `gleaner map`.

use crate::candidates;
use crate::map::Budget;
use clap::Args;
use gleaner_mapping::Heuristic;
use gleaner_wire::meant::meant;
use std::path::PathBuf;

const MAP_HELP: &str = "\
FILE holds `tasks machines x` and then the times task by task, parted by blanks or line ends; x is anything.

Batch:      min-min, max-min, sufferage (one task a step), sufferage-passes (Maheswaran et al.) \
Immediate:  mct, met, olb, kpb:P (the best P per cent of the machines)

Examples:
  gleaner map u_c_hihi.0 --heuristic min-min --bound
  gleaner map u_c_hihi.0 --heuristic sufferage --polish 10s --out results
  gleaner map u_c_hihi.0 --heuristic mct --polish 1000000 --seed 7 --json";

fn parse_heuristic(text: &str) -> Result<Heuristic, String> {
    text.parse().map_err(|error| format!("{error}{}", meant(text, Heuristic::NAMES)))
}

/// `gleaner map`.
#[derive(Args, Debug)]
#[command(after_long_help = MAP_HELP)]
pub(crate) struct MapArguments {
    /// The instance
    pub(crate) file: PathBuf,
    /// min-min, max-min, sufferage, sufferage-passes, mct, met, olb or kpb:P
    #[arg(long, value_name = "NAME", value_parser = parse_heuristic, add = candidates::words(&Heuristic::NAMES))]
    pub(crate) heuristic: Heuristic,
    /// Compute a lower bound, and the gap to it
    #[arg(long)]
    pub(crate) bound: bool,
    /// Improve the mapping for this time, as 10s, or by this number of moves, as 1000000
    #[arg(long, value_name = "SECONDS|MOVES")]
    pub(crate) polish: Option<Budget>,
    /// The seed of the moves
    #[arg(long, value_name = "N", default_value_t = 1, requires = "polish")]
    pub(crate) seed: u64,
    /// Write assignment.csv to this folder, and with --polish the curve: polish.csv, and polish.svg which plots the best
    /// makespan over time above the lower bound
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the mapping as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
