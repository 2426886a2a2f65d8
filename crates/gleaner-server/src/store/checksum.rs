//! The checksum that each row carries, so that a row altered on the disk is named instead of believed, and the hash that ties it
//! to all rows before it.

use super::{Row, Seq};
use gleaner_wire::ChainHash;

/// What all rows up to this one add up to. It goes on from the row before: none can be changed, taken away or put in without
/// changing what all later ones add up to.
pub(super) fn chain(before: &ChainHash, seq: Seq, row: &Row) -> ChainHash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(before.as_bytes());
    hasher.update(&seq.number().to_le_bytes());
    hasher.update(&row.at.nanos().to_le_bytes());
    hasher.update(&(row.tasks.len() as u64).to_le_bytes());
    for range in &row.tasks {
        for task in [range.first(), range.last()] {
            hasher.update(&(task.index() as u64).to_le_bytes());
        }
    }
    hasher.update(&(row.steps.len() as u64).to_le_bytes());
    hasher.update(row.steps.as_bytes());
    hasher.update(row.body.as_bytes());
    ChainHash::of(hasher.finalize().into())
}

/// Binds the row's number too: a row that moved to another place does not pass for the one that was there.
pub(super) fn checksum(seq: Seq, at: i64, [tasks, steps, body]: [&[u8]; 3]) -> i64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seq.number().to_le_bytes());
    hasher.update(&at.to_le_bytes());
    for column in [tasks, steps] {
        hasher.update(&(column.len() as u64).to_le_bytes());
        hasher.update(column);
    }
    hasher.update(body);
    let mut short = [0; 8];
    hasher.finalize_xof().fill(&mut short);
    i64::from_le_bytes(short)
}
