//! From the journal to the ledger: what a start does, and whoever wants to know what the facts add up to.

use crate::journal::{Entry, Fact};
use crate::ledger::{FORMAT, Ledger, ReplayError};
use crate::store::{ReadError, Reader, Seq, SnapshotError, Snapshots, StoredRow};
use thiserror::Error;

/// Rows read at once.
const PAGE: usize = 10_000;

/// Why a journal leads nowhere.
#[derive(Debug, Error)]
pub enum RecoveryError {
    /// The journal could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The snapshots could not be read.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// The journal does not lead where it says it did.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// A row is no fact that this program knows.
    #[error(
        "row {seq} of the journal cannot be read ({why}); it may be from a newer version: install that one"
    )]
    Row {
        /// Which.
        seq: Seq,
        /// What is wrong.
        why: serde_json::Error,
    },
}

/// What a journal leads to.
pub struct Recovered {
    /// All that is known.
    pub ledger: Ledger,
    /// The last row that is in it.
    pub at: Seq,
    /// How many rows were read since the snapshot.
    pub rows: u64,
}

/// The ledger as the journal has it, from the newest snapshot on.
pub fn recover(reader: &dyn Reader, snapshots: &dyn Snapshots) -> Result<Recovered, RecoveryError> {
    let (ledger, at) = match snapshots.latest(FORMAT)? {
        Some(snapshot) => (Ledger::load(&snapshot.body)?, snapshot.at),
        None => (Ledger::new(), Seq::NONE),
    };
    replay(Recovered { ledger, at, rows: 0 }, reader)
}

/// The ledger as the whole journal has it, whatever the snapshots say.
pub fn replay_all(reader: &dyn Reader) -> Result<Recovered, RecoveryError> {
    replay(Recovered { ledger: Ledger::new(), at: Seq::NONE, rows: 0 }, reader)
}

fn replay(mut recovered: Recovered, reader: &dyn Reader) -> Result<Recovered, RecoveryError> {
    for entry in entries(reader, recovered.at.next()) {
        let (seq, entry) = entry?;
        recovered.ledger.replay(&entry)?;
        recovered.at = seq;
        recovered.rows += 1;
    }
    Ok(recovered)
}

/// The journal's facts from a row on, a page of rows at a time. Nothing comes after an error.
pub fn entries(reader: &dyn Reader, from: Seq) -> impl Iterator<Item = Result<(Seq, Entry), RecoveryError>> {
    let pages = std::iter::successors(Some((from, Ok(Vec::new()))), move |(from, page)| {
        page.as_ref().ok()?;
        let page = reader.read(*from, PAGE);
        let next = page.as_ref().map_or(Some(*from), |rows| Some(rows.last()?.seq.next()))?;
        Some((next, page))
    });
    pages.flat_map(|(_, page)| match page {
        Ok(rows) => rows.into_iter().map(entry).collect(),
        Err(error) => vec![Err(error.into())],
    })
}

fn entry(stored: StoredRow) -> Result<(Seq, Entry), RecoveryError> {
    let StoredRow { seq, row } = stored;
    let fact = serde_json::from_str::<Fact>(&row.body).map_err(|why| RecoveryError::Row { seq, why })?;
    Ok((seq, Entry { at: row.at, fact }))
}
