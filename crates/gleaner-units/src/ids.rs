use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! dense_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(u32);

        impl $name {
            /// The `index`-th of its kind, counted from 0 in the order in which they were first seen.
            ///
            /// # Panics
            /// Past 2³² − 1: readers bound their input far below that.
            pub fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("more than 2^32 ids of one kind"))
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
