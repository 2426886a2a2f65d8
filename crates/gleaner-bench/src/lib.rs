//! What speed is measured on. `cargo bench` and `gleaner bench` run the same workloads, so that a number that a user
//! reports is one that a developer can take apart.
//!
//! - [`figure_3`] is the paper's largest experiment: many short runs on a grid of 70 machines.
//! - [`growth`] keeps the tasks on each machine the same and multiplies the machines.
//! - [`crowd`] is many tasks at once, on thousands of machines or on one.
//! - [`batches`] is one batch over many machines.
//! - [`rigid`] is a log of rigid jobs on one machine, under queues.
//! - [`sites`] gives jobs to sites by their virtual maps, and multiplies the sites.
//! - [`brokers`] sends jobs to elements by an index that is out of date, and multiplies the elements.
//! - [`peers`] lend each other workers, and multiply.
//! - [`table`] is what `gleaner bench` measures.
//! - [`mapping`] is what `gleaner bench map` measures: each batch heuristic beside its plain reference.
//! - [`live`] is what `gleaner bench live` measures: whole processes beside the limits of the machine.
//! - The loop over the processor-sharing engine alone is [`ClosedLoop`](gleaner_sim::sharing::ClosedLoop).
//!
//! **A workload depends on its parameters only**: not on time, and on no random source but a numbered one.

pub mod batches;
pub mod brokers;
pub mod figure_3;
pub mod growth;
pub mod live;
pub mod mapping;
pub mod peers;
pub mod rigid;
pub mod sites;
pub mod table;

mod processor_time;
mod setups;

pub use processor_time::processor_seconds;
pub use setups::crowd;
