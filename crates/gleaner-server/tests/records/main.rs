//! What the coordinator keeps: its journal, its blobs, and the books that follow from its facts.

mod blobs;
mod ledger;
mod parts;
mod second_runs;
mod small_world;
mod store;
