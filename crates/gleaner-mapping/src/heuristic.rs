//! The heuristics by name, and which code runs each.

use crate::mapping::{Building, Mapping};
use crate::{Matrix, immediate, max_min, min_min, passes, sufferage};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// A rule that gives every task a machine.
///
/// The batch rules choose the next task among all that are left by a metric over the moments at which its machines
/// would be done with it; the task then goes to the machine that is done first. The immediate rules take the tasks
/// in order. Ties, within 1e-12 relative of the best, go to the lowest task, then to the lowest machine.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Heuristic {
    /// Batch: the task that can be done earliest.
    MinMin,
    /// Batch: the task whose earliest end is the latest.
    MaxMin,
    /// Batch: the task that would suffer most from its second choice: the largest difference between its second
    /// earliest and its earliest end. With one machine every difference is 0, and tasks go in order.
    Sufferage,
    /// Sufferage as Maheswaran et al. wrote it: passes over all tasks, at the end of which every machine that is
    /// the first choice of some task takes the one that would suffer most.
    SufferagePasses,
    /// Immediate, minimum completion time: the machine that is done first.
    Mct,
    /// Immediate, minimum execution time: the machine that is fastest for the task, however busy.
    Met,
    /// Immediate, opportunistic load balancing: the machine that is free first, however slow.
    Olb,
    /// Immediate, k-percent best: of so many per cent of the machines, those fastest for the task, the one that is
    /// done first.
    Kpb {
        /// Above 0 and at most 100; there is always at least one machine.
        percent: f64,
    },
}

/// Not the name of a heuristic.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("found heuristic {found:?}; expected {}, with P above 0 and at most 100", Heuristic::NAMES.join(", "))]
pub struct UnknownHeuristic {
    /// What was given.
    pub found: String,
}

impl Heuristic {
    /// All names, as [`FromStr`] reads them.
    pub const NAMES: [&'static str; 8] =
        ["min-min", "max-min", "sufferage", "sufferage-passes", "mct", "met", "olb", "kpb:P"];

    /// Maps all tasks to machines that are idle.
    pub fn map(self, matrix: &Matrix) -> Mapping {
        self.map_from(matrix, &vec![0.0; matrix.machines()])
    }

    /// Maps all tasks to machines that are busy until the moments in `ready`.
    ///
    /// # Panics
    /// If `ready` is not one finite moment, 0 or later, for each machine.
    pub fn map_from(self, matrix: &Matrix, ready: &[f64]) -> Mapping {
        assert_eq!(ready.len(), matrix.machines(), "a moment for every machine");
        assert!(ready.iter().all(|moment| *moment >= 0.0 && moment.is_finite()), "moments from 0 on");
        let building = Building::new(matrix.tasks(), ready);
        match self {
            Self::MinMin => min_min::map(matrix, building),
            Self::MaxMin => max_min::map(matrix, building),
            Self::Sufferage => sufferage::map(matrix, building),
            Self::SufferagePasses => passes::map(matrix, building),
            Self::Mct => immediate::mct(matrix, building),
            Self::Met => immediate::met(matrix, building),
            Self::Olb => immediate::olb(matrix, building),
            Self::Kpb { percent } => {
                immediate::kpb(matrix, building, machines_of(percent, matrix.machines()))
            }
        }
    }
}

/// floor(percent · machines / 100), at least 1.
pub(crate) fn machines_of(percent: f64, machines: usize) -> usize {
    ((percent * machines as f64 / 100.0).floor() as usize).clamp(1, machines)
}

impl FromStr for Heuristic {
    type Err = UnknownHeuristic;

    fn from_str(name: &str) -> Result<Self, UnknownHeuristic> {
        let unknown = || UnknownHeuristic { found: name.to_owned() };
        Ok(match name {
            "min-min" => Self::MinMin,
            "max-min" => Self::MaxMin,
            "sufferage" => Self::Sufferage,
            "sufferage-passes" => Self::SufferagePasses,
            "mct" => Self::Mct,
            "met" => Self::Met,
            "olb" => Self::Olb,
            _ => {
                let percent = name.strip_prefix("kpb:").and_then(|percent| percent.parse().ok());
                let percent = percent.filter(|percent| *percent > 0.0 && *percent <= 100.0);
                Self::Kpb { percent: percent.ok_or_else(unknown)? }
            }
        })
    }
}

impl fmt::Display for Heuristic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MinMin => "min-min",
            Self::MaxMin => "max-min",
            Self::Sufferage => "sufferage",
            Self::SufferagePasses => "sufferage-passes",
            Self::Mct => "mct",
            Self::Met => "met",
            Self::Olb => "olb",
            Self::Kpb { percent } => return write!(f, "kpb:{percent}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_and_others_are_refused() {
        for name in Heuristic::NAMES.into_iter().filter(|name| *name != "kpb:P").chain(["kpb:20", "kpb:12.5"])
        {
            assert_eq!(name.parse::<Heuristic>().expect("a heuristic").to_string(), name);
        }
        for name in ["minmin", "kpb", "kpb:", "kpb:0", "kpb:-1", "kpb:101", "kpb:NaN", "Min-Min", ""] {
            assert!(name.parse::<Heuristic>().is_err(), "{name}");
        }
        assert_eq!([machines_of(20.0, 16), machines_of(1.0, 16), machines_of(100.0, 16)], [3, 1, 16]);
    }
}
