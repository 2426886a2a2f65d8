//! What sites that lend each other workers say, wish and order. A lent worker is, to its lender, a machine that takes no tasks
//! of its own; to the borrower, a machine that joined, and that is lost when it is taken back.

use gleaner_units::{MachineClassId, MachineId, PartyId, Span, TaskClassId};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Which of the workers that peers would lend is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Seek {
    /// Whichever is offered first.
    #[default]
    First,
    /// The most powerful of all that are idle.
    MostPowerful,
    /// The same, if it is more powerful than a worker of this class, which the peer has free itself.
    Above(MachineClassId),
}

/// A peer that wants workers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Want {
    /// Who.
    pub by: PartyId,
    /// That can run tasks of this class.
    pub class: TaskClassId,
    /// How many.
    pub workers: u32,
    /// Which of the workers on offer is wanted.
    pub seek: Seek,
}

/// What a site hears of its peers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum LendingEvent {
    /// These peers want workers; whoever has wanted them longest comes first. All that was wanted before is void.
    Wanted(Vec<Want>),
    /// No peer has a worker to lend of what was asked for: it does not come now.
    NothingLent {
        /// For the tasks of this class.
        class: TaskClassId,
        /// What was asked for.
        seek: Seek,
    },
    /// Whoever asks for workers is answered from now on, or is not any more.
    Connected {
        /// Whether.
        is_connected: bool,
    },
    /// A peer lends a worker: it is a machine here, open and idle.
    Borrowed {
        /// The next machine id, or that of a borrowed machine that is not here any more.
        machine: MachineId,
        /// Of which class it is.
        class: MachineClassId,
        /// Whose it is.
        from: PartyId,
    },
    /// A worker that was lent is back, and idle.
    Returned {
        /// The worker.
        machine: MachineId,
    },
    /// A peer's worker finished work of ours.
    FavourReceived {
        /// Whose worker.
        from: PartyId,
        /// What it was worth: the time that it would have taken here.
        worth: Span,
    },
    /// A worker of ours finished work of a peer.
    FavourDone {
        /// Whose work.
        to: PartyId,
        /// What it was worth.
        worth: Span,
    },
}

/// What a policy wishes among peers, and, once that is admitted, the order that goes out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Lending {
    /// Let peers know how many workers are wanted from now on for the tasks of a class.
    Ask {
        /// Which tasks.
        class: TaskClassId,
        /// 0 where none are wanted any more.
        workers: u32,
        /// What kind of worker is wanted.
        seek: Seek,
    },
    /// Let peers know whether there is a worker to lend.
    Offer {
        /// Of which class the most powerful of them is; nothing where there is none.
        best: Option<MachineClassId>,
    },
    /// Lend an idle machine to a peer that wants one.
    Lend {
        /// One's own.
        machine: MachineId,
        /// Who wants it.
        to: PartyId,
    },
    /// Nothing more for those who want workers now.
    Refuse,
    /// Take back a machine, whatever the peer runs on it.
    Recall {
        /// One that is lent.
        machine: MachineId,
    },
    /// Give a borrowed machine back.
    GiveBack {
        /// With no run on it.
        machine: MachineId,
    },
}

/// Why the grid refused a wish among peers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error, Serialize, Deserialize)]
pub enum LendingRefusal {
    /// Peers know it already.
    #[error("peers were told that already")]
    NothingNew,
    /// Only an open machine without a run can change hands.
    #[error("{0} is not idle")]
    NotIdle(MachineId),
    /// It belongs to a peer.
    #[error("{0} is borrowed")]
    NotOwn(MachineId),
    /// Nothing was lent, or it is being taken back already.
    #[error("{0} is not lent")]
    NotLent(MachineId),
    /// It is one's own, or not here any more.
    #[error("{0} is not borrowed")]
    NotBorrowed(MachineId),
    /// It asked for nothing, or has got it.
    #[error("{0} wants no worker")]
    NotWanted(PartyId),
}
