use gleaner_units::{MachineId, RunId, Time};
use serde::{Deserialize, Serialize};

/// What happens next in the world, in the order in which things of one instant happen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(crate) enum Next {
    /// The next row of the owners' loads.
    Load,
    /// A run ends.
    Completion(RunId),
    /// A task that goes on from a checkpoint begins.
    Landing(RunId),
    /// A machine goes.
    Departure(MachineId),
    /// The next machine comes.
    Join,
    /// All machines that are there are looked at.
    Look,
    /// The next thing to be told of a machine.
    News,
    /// The next task is submitted.
    Arrival,
}

/// The earliest of what may come next. Total order: time, then kind, then sequence within the kind, which each
/// source keeps by itself.
#[inline]
pub(crate) fn earliest<const N: usize>(sources: [Option<(Time, Next)>; N]) -> Option<(Time, Next)> {
    let mut first = None;
    for source in sources {
        if source.is_some() && (first.is_none() || source < first) {
            first = source;
        }
    }
    first
}
