//! Polishing within a budget of moves or of seconds, with progress and Ctrl-C.

use crate::{interrupt, progress};
use gleaner_mapping::bound::Bound;
use gleaner_mapping::polish::Polisher;
use gleaner_mapping::{Mapping, Matrix};
use serde::Serialize;
use std::str::FromStr;
use std::time::{Duration, Instant};

/// Moves between two looks at the clock, at most.
const MOVES_BETWEEN_LOOKS: u64 = 1 << 14;

/// How long to polish.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Budget {
    Moves(u64),
    Time(Duration),
}

impl Budget {
    /// What the progress bar counts to.
    fn total(self) -> (u64, &'static str) {
        match self {
            Budget::Moves(moves) => (moves, "moves"),
            Budget::Time(time) => (time.as_secs(), "seconds"),
        }
    }

    /// What is used: the part of the whole, and on the progress bar.
    fn used(self, moves: u64, elapsed: Duration) -> (f64, u64) {
        match self {
            Budget::Moves(all) => (if all == 0 { 1.0 } else { moves as f64 / all as f64 }, moves),
            Budget::Time(time) => (elapsed.as_secs_f64() / time.as_secs_f64(), elapsed.as_secs()),
        }
    }

    /// How many moves to make before the next look. With a budget of moves that depends on the budget alone, so that
    /// the result does.
    fn round(self, moves: u64) -> u64 {
        match self {
            Budget::Moves(all) => (all / 1000).clamp(1, MOVES_BETWEEN_LOOKS).min(all - moves),
            Budget::Time(_) => MOVES_BETWEEN_LOOKS,
        }
    }
}

impl FromStr for Budget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("found {text:?}; expected seconds, as 10s, or a number of moves, as 1000000");
        match text.strip_suffix('s') {
            Some(seconds) => {
                let seconds: f64 = seconds.parse().map_err(|_| wrong())?;
                Duration::try_from_secs_f64(seconds).map(Self::Time).map_err(|_| wrong())
            }
            None => text.parse().map(Self::Moves).map_err(|_| wrong()),
        }
    }
}

/// What polishing did.
#[derive(Serialize)]
pub(super) struct Polished {
    pub(super) seed: u64,
    pub(super) moves: u64,
    /// The heuristic's makespan.
    pub(super) makespan_before: f64,
    /// Whether the same command gives the same mapping on every machine.
    pub(super) reproducible: bool,
    #[serde(skip)]
    pub(super) curve: Vec<CurvePoint>,
    #[serde(skip)]
    pub(super) interrupted: bool,
}

/// The best makespan from some moment on.
pub(super) struct CurvePoint {
    pub(super) moves: u64,
    pub(super) seconds: f64,
    pub(super) makespan: f64,
}

/// Until the budget is used, the bound is met, or somebody presses Ctrl-C.
pub(super) fn polish(
    matrix: &Matrix,
    start: &Mapping,
    bound: &Bound,
    budget: Budget,
    seed: u64,
) -> (Mapping, Polished) {
    interrupt::listen();
    let began = Instant::now();
    let mut polisher = Polisher::new(matrix, start, bound, seed);
    let mut curve = vec![CurvePoint { moves: 0, seconds: 0.0, makespan: start.makespan }];
    let (total, unit) = budget.total();
    let bar = progress::bar(total, unit);
    loop {
        let (used, position) = budget.used(polisher.moves(), began.elapsed());
        bar.set_position(position);
        // A budget of nothing is not a number of times used.
        if used.is_nan() || used >= 1.0 || polisher.is_optimal() || interrupt::asked() {
            break;
        }
        polisher.advance(budget.round(polisher.moves()), used);
        let makespan = polisher.makespan();
        if curve.last().is_none_or(|last| makespan < last.makespan) {
            curve.push(CurvePoint {
                moves: polisher.moves(),
                seconds: began.elapsed().as_secs_f64(),
                makespan,
            });
            bar.set_message(format!("makespan {makespan:.3}"));
        }
    }
    bar.finish_and_clear();
    let moves = polisher.moves();
    let mapping = polisher.into_best();
    curve.push(CurvePoint { moves, seconds: began.elapsed().as_secs_f64(), makespan: mapping.makespan });
    let interrupted = interrupt::asked();
    let reproducible = matches!(budget, Budget::Moves(_)) && !interrupted;
    (mapping, Polished { seed, moves, makespan_before: start.makespan, reproducible, curve, interrupted })
}
