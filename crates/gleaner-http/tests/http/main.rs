//! The HTTP API over a desk whose journal is in memory.
//!
//! A program of its own: some of it has to be answered within a second, whatever else is tested.

mod access;
mod admin;
mod agent;
mod beside;
mod blobs;
mod bounds;
mod day;
mod document;
mod events;
mod jobs;
mod json;
mod keeping;
mod limits;
mod memory_blobs;
mod output;
mod places;
mod queues;
mod quotas;
mod retired;
mod schemathesis;
mod senders;
mod shared_files;
mod site;
mod users;
mod waiting;
mod world;
