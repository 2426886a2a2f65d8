use crate::Claim;
use serde::Serialize;

/// What `gleaner paper NAME --json` prints.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Document {
    /// Of this document.
    pub version: u32,
    /// The paper's short name.
    pub paper: &'static str,
    /// How many seeds, from 1 on.
    pub seeds: u64,
    /// In the order of the paper.
    pub claims: Vec<Claim>,
}
