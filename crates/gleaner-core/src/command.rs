use crate::{Lending, Part};
use gleaner_units::{MachineId, RunId, TaskId};
use serde::{Deserialize, Serialize};

/// An order to the outside, with no choice left in it: it follows from an admitted decision, or from an event alone.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Command {
    /// Run a task, from where its last run left it if that kept anything. Every reply must name the run.
    Start {
        /// The run.
        run: RunId,
        /// Where.
        on: MachineId,
    },
    /// Likewise, as soon as another run there is over.
    StartAfter {
        /// The run.
        run: RunId,
        /// Where.
        on: MachineId,
        /// The other run.
        after: RunId,
    },
    /// Run a task on several machines at a time. Its run begins when all parts have begun, and ends for all of them at once.
    StartWide {
        /// The run.
        run: RunId,
        /// Where, in order of machine.
        parts: Box<[Part]>,
    },
    /// Ask each of these sites to hold its part for a run. Each answer names the run and the site.
    Ask {
        /// The run.
        run: RunId,
        /// Who is asked, and for what, in order of machine.
        parts: Box<[Part]>,
    },
    /// Ask each of these sites how things are there. Each answer names the number and the site.
    Survey {
        /// Which survey it is.
        number: u32,
        /// Who is asked, in order.
        sites: Box<[MachineId]>,
    },
    /// Stop a run, keep what it has done if it can be kept, and say when it is over: all its parts, if it has several.
    Stop {
        /// The run.
        run: RunId,
        /// Where it is, or the first of its parts that can be reached.
        on: MachineId,
        /// Why.
        why: StopReason,
    },
    /// Let a task run again from its beginning: the machine that answered it alone was found to give wrong answers.
    Recheck {
        /// A task that was done.
        task: TaskId,
    },
    /// Give nothing more to a machine until somebody looked into it: it was outvoted again and again.
    Close {
        /// The machine.
        machine: MachineId,
    },
    /// Let peers know, or have, something.
    Lending(Lending),
}

/// Why a run is to stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum StopReason {
    /// Its task goes on elsewhere.
    Moved,
    /// Its task goes on elsewhere, unless it has begun.
    TakenBack,
    /// Its task is not wanted any more, or not now.
    Withdrawn,
    /// Another run of its task came to its end first.
    Superseded,
    /// The machine of one of its parts is out of reach: nothing of it counts any more.
    PartLost,
    /// One of the sites that were asked for it does not hold its part, or has not answered in time.
    NotHeld,
}
