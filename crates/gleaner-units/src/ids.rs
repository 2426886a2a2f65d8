use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! dense_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(u32);

        impl $name {
            /// The first of its kind.
            pub const FIRST: Self = Self(0);

            /// The `index`-th of its kind, counted from 0 in the order in which they were first seen.
            ///
            /// # Panics
            /// Past 2³² − 1: readers bound their input far below that.
            #[inline]
            pub const fn new(index: usize) -> Self {
                assert!(index <= u32::MAX as usize, "more than 2^32 ids of one kind");
                Self(index as u32)
            }

            /// The position in tables that hold one entry each.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

dense_id!(
    /// One program run: what is placed, moved and retried.
    TaskId, "t"
);
dense_id!(
    /// Whatever runs tasks.
    MachineId, "m"
);
dense_id!(
    /// Whoever tasks belong to.
    UserId, "user "
);
dense_id!(
    /// All tasks that the scheduler cannot tell apart.
    TaskClassId, "task class "
);
dense_id!(
    /// All machines that the scheduler cannot tell apart but for their load and their tasks.
    MachineClassId, "machine class "
);

dense_id!(
    /// A scheduler with what it decides about: a coordinator, a broker, a peer, a site's own queue.
    PartyId, "party "
);
dense_id!(
    /// Machines behind one network link, and the files that are stored there.
    SiteId, "site "
);
dense_id!(
    /// Data that tasks read, wherever copies of it are.
    FileId, "file "
);

/// One try at a task: its only name, in the scheduler, on the wire, in the journal and in the simulator. Whoever gave it
/// is the scheduler; nobody else makes one up.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct RunId {
    /// Of which task.
    pub task: TaskId,
    /// Which of its tries, from 1.
    pub number: u32,
}

impl RunId {
    /// The run of that number.
    #[inline]
    pub fn new(task: TaskId, number: u32) -> Self {
        Self { task, number }
    }

    /// One number that orders as the id does, so that a comparison needs no branch.
    #[inline]
    pub fn rank(self) -> u64 {
        u64::from(self.task.0) << 32 | u64::from(self.number)
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.task, self.number)
    }
}
