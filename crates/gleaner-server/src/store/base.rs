//! Where a compacted journal begins: rows up to one of them are dropped, and the base has what they add up to.
//!
//! - **Compaction is one commit**: all of it is there or nothing, whenever it is killed.
//! - **What can be asked by row is kept**: whoever compacts says which rows go; the others can still be read, with gaps between them.
//! - **The base is sealed**: a hash over its state, over what had left memory by then and over the rows that were kept is in
//!   the row that says that the journal was compacted.

use super::{Past, Row, Seq, Snapshot, Source};
use gleaner_units::Time;
use gleaner_wire::ChainHash;

/// The row up to which rows may be missing, since the journal was compacted there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Beginning {
    /// Its number: each row behind it is there.
    pub at: Seq,
    /// When it was written.
    pub moment: Time,
    /// What all rows up to it added up to.
    pub chain: ChainHash,
    /// The last row up to it that sent anything out of memory, or had it back.
    pub past: Seq,
    /// A hash over all that is kept of what was before.
    pub seal: ChainHash,
}

/// What to compact.
pub struct Compaction<'a> {
    /// What the rows up to the new beginning add up to.
    pub base: &'a Snapshot,
    /// When the last of those was written.
    pub moment: Time,
    /// What those of them sent out of memory that are behind the former beginning.
    pub pasts: &'a mut dyn Iterator<Item = Result<Past, Source>>,
    /// Which of those rows are dropped: from one to another, both included.
    pub dropped: &'a [(Seq, Seq)],
    /// The row that says so, made with the seal.
    pub row: &'a dyn Fn(ChainHash) -> Row,
}
