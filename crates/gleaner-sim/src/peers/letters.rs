//! What peers and the discovery service say to each other.

use gleaner_core::{Seek, Want};
use gleaner_units::{MachineClassId, PartyId, RunId, TaskClassId};
use serde::{Deserialize, Serialize};

/// A loan's name: the lender counts its loans, and nobody else gives it one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Loan(pub u64);

/// A letter.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Word {
    /// To discovery: so many workers are wanted for tasks of a class, and so many loans came so far.
    Wants {
        /// For which tasks.
        class: TaskClassId,
        /// How many are missing now.
        workers: u32,
        /// Which of the workers on offer is wanted.
        seek: Seek,
        /// Loans that came so far.
        received: u64,
    },
    /// To discovery: whether there is a worker to lend.
    Offers {
        /// Of which class the most powerful is; nothing where there is none.
        best: Option<MachineClassId>,
    },
    /// To discovery: how many workers were lent to those who want some.
    Served(Vec<(PartyId, TaskClassId, u32)>),
    /// To discovery, and back: I am here.
    Here,
    /// From discovery: these want workers.
    Wanted(Vec<Want>),
    /// From discovery: nobody has such a worker to lend.
    NothingLent {
        /// For the tasks of this class.
        class: TaskClassId,
        /// As it was asked for.
        seek: Seek,
    },
    /// From discovery: a peer was not heard of for so long that it is forgotten.
    Gone(PartyId),
    /// You have a worker of mine.
    Lent {
        /// The loan.
        loan: Loan,
        /// What kind of worker.
        class: MachineClassId,
    },
    /// Your loan is over: I need the worker, or it is lost.
    Recalled(Loan),
    /// I am done with your worker.
    GivenBack(Loan),
    /// The workers that I have of yours, and what I think runs there: said at every heartbeat, so that a lost letter is made up for.
    Holds(Vec<(Loan, Vec<RunId>)>),
    /// Run this on the worker that you lent me.
    Run {
        /// The loan.
        loan: Loan,
        /// The borrower's name for it.
        run: RunId,
    },
    /// Stop this there: its task is done elsewhere, or not wanted any more.
    Stop {
        /// The loan.
        loan: Loan,
        /// The borrower's name for it.
        run: RunId,
    },
    /// What you sent to run there is over.
    Ended {
        /// The loan.
        loan: Loan,
        /// The borrower's name for it.
        run: RunId,
        /// Whether it is done.
        finished: bool,
    },
}
