//! What comes in: orders, what agents say and send, and that time passed.

use super::{Checked, Order, OrderId, Rejection, Requester, SessionId};
use gleaner_units::{MachineId, RunId};
use gleaner_wire::BlobHash;
use gleaner_wire::session::{End, FromAgent, Hello, Profile};

/// What comes in.
#[derive(Clone, Debug)]
pub enum Input {
    /// Someone wants something done.
    Order {
        /// For the answer.
        id: OrderId,
        /// Who.
        by: Requester,
        /// What.
        order: Box<Order>,
    },
    /// An agent proved who it is.
    Connected {
        /// From now on.
        session: SessionId,
        /// What it said.
        hello: Box<Checked<Hello>>,
        /// What it may use for files.
        token: String,
        /// Whether the journal still has the row that it remembers, as it heard of it.
        fits: bool,
    },
    /// A connected agent said something.
    Frame {
        /// Over which connection.
        session: SessionId,
        /// What.
        frame: Box<FromAgent>,
    },
    /// It said what its machine is.
    Profile {
        /// Over which connection.
        session: SessionId,
        /// What it is.
        profile: Box<Checked<Profile>>,
    },
    /// What a run of an agent's answered, whose end was [to be compared](super::Effect::Compare).
    Answered {
        /// Over which connection it was reported.
        session: SessionId,
        /// Which run.
        run: RunId,
        /// How it ended.
        end: Box<End>,
        /// Equal where the answers are.
        digest: BlobHash,
    },
    /// An agent has sent all of a file.
    Stored {
        /// Who.
        agent: MachineId,
        /// Which run left it.
        run: RunId,
        /// The hash of the file.
        blob: BlobHash,
        /// How long it is.
        bytes: u64,
    },
    /// An agent has sent a file for which there is no space; it will send it again.
    NoSpace {
        /// Who.
        agent: MachineId,
        /// The hash of the file.
        blob: BlobHash,
    },
    /// A connection is gone.
    Disconnected {
        /// The session that it carried.
        session: SessionId,
    },
    /// Time passed.
    Tick,
}

impl Input {
    /// What a connected agent said, unless its machine cannot be what it says.
    pub fn said(session: SessionId, frame: FromAgent) -> Result<Self, Rejection> {
        Ok(match frame {
            FromAgent::Profile(profile) => {
                Self::Profile { session, profile: Box::new(Checked::of(profile)?) }
            }
            frame => Self::Frame { session, frame: Box::new(frame) },
        })
    }
}
