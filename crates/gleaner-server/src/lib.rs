//! The coordinator of the live grid: journal, agents' sessions, HTTP API.

pub mod blobs;
pub mod store;
