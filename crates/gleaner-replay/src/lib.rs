//! What a live grid's history would have been under another policy.
//!
//! ```text
//! journal ──Entry──▶ Reading ──▶ Past { was, setup } ──Simulation──▶ Figures
//! ```
//!
//! [`Reading`] follows the journal through a ledger, as a coordinator that recovers does, and notes beside it when
//! tasks came, ran and ended. What it makes of this is a [`Setup`](gleaner_sim::Setup): the same machines, the same
//! owners, the same tasks at the same moments, each with as much work as it turned out to be: the time that it ran, less what
//! its neighbours and the owner had of its machine's cores meanwhile, as the simulator shares them out. So the policy that was
//! leads back to what was, also where a machine has more slots than cores. Bounds on users' cores hold from and
//! until the moments at which they were set ([`CapChange`]), and none when all tasks that are compared had ended.
//!
//! What the simulator is not told, and takes to be otherwise than it was:
//! - machines are as they were last measured, and labels as they were last learnt, from the start;
//! - a machine that is not there, or takes no tasks, is one whose owner uses all of it: what runs there stands still;
//! - a task that failed, or was held and released, comes when it last came to wait, and runs once;
//! - a move takes as long as the moves took that there were;
//! - what ran is taken to have wanted its cores all the time: a task that slept, or waited for a disk, among more tasks than
//!   there are cores, would have been as long alone, and is shorter here;
//! - what was cancelled, or came before the tasks that are compared, is not there, so that its neighbours end sooner;
//! - a task begins at once and leaves at once, without the time that it took to say so.
//!
//! So compare the other policy with *the simulator's* run of the policy that was, which is always made beside it; how
//! far that one lies from what was says how good the model is.

mod coming;
mod past;
mod shares;
mod source;
mod what_if;

pub use past::{CapChange, Figures, LeftOut, LoggedJob, LoggedTask, Past, Placed, Reading, TaskLog};
pub use source::{SourceError, read, read_last, read_log};
pub use what_if::what_if;
