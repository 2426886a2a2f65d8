//! The checksum that each row carries, so that a row altered on the disk is named instead of believed.

use super::Seq;

/// Binds the row's number too: a row that moved to another place does not pass for the one that was there.
pub(super) fn checksum(seq: Seq, at: i64, tasks: &[u8], body: &[u8]) -> i64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seq.number().to_le_bytes());
    hasher.update(&at.to_le_bytes());
    hasher.update(&(tasks.len() as u64).to_le_bytes());
    hasher.update(tasks);
    hasher.update(body);
    let mut short = [0; 8];
    hasher.finalize_xof().fill(&mut short);
    i64::from_le_bytes(short)
}
