//! What Gleaner's tests share.
//!
//! - [`table`]: a grid and its tasks, written as a table.
//! - [`naive`]: the policies as a reader of the papers would write them, each machine and task scored afresh. They
//!   share no code with the policies under test.
//! - [`naive_batch`]: the same for batches under a budget.
//! - [`naive_lengths`]: how long tasks are believed to be, by what ran before.
//! - [`naive_peer`]: the policy of a site among peers.
//! - [`naive_broker`]: the same for a broker that sends tasks to sites.
//! - [`naive_progress`]: what each task has done, from the record of all that passed.
//! - [`naive_sites`]: the same for jobs over sites.
//! - [`random`]: grids drawn from a seed.
//! - [`history`]: what the outside of a live grid may report, drawn from a seed.
//! - [`batch_history`]: the same of a grid under batches, with what the reference decides.
//! - [`sites`]: what a broker may be told, drawn from a seed.
//! - [`mutant`]: policies with a fault put in on purpose, which a test worth its name must notice.
//! - [`record`]: what passed between the world and the scheduler, to be compared.
//! - [`replicating`]: a policy that runs tasks more than once at a time.
//! - [`room`]: whether any machine ever held more than it has.
//! - [`spreading`]: a policy that runs tasks on several machines at a time.

pub mod batch_history;
pub mod history;
pub mod mutant;
pub mod naive;
mod naive_ahead;
pub mod naive_batch;
pub mod naive_broker;
pub mod naive_lengths;
pub mod naive_named;
pub mod naive_peer;
pub mod naive_progress;
pub mod naive_queue;
pub mod naive_sites;
pub mod random;
pub mod record;
pub mod replicating;
pub mod room;
pub mod sites;
pub mod spreading;
pub mod table;
