//! From the journal to the ledger: what a start does, and whoever wants to know what the facts add up to.

use crate::day::Day;
use crate::journal::{Entry, Fact};
use crate::ledger::{FORMAT, Ledger, ReplayError};
use crate::store::{
    CommitError, ReadError, Reader, Seq, Snapshot, SnapshotError, Snapshots, Store, StoredRow,
};
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
    /// What left memory could not be kept.
    #[error(transparent)]
    Commit(#[from] CommitError),
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
    /// The last day, for people.
    pub day: Day,
    /// The last row that is in it.
    pub at: Seq,
    /// How many rows were read since the snapshot.
    pub rows: u64,
}

/// The ledger and the day as the journal has them, from the newest snapshot on.
pub fn recover(reader: &dyn Reader, snapshots: &dyn Snapshots) -> Result<Recovered, RecoveryError> {
    let from = match snapshots.latest(FORMAT)? {
        Some(snapshot) => Recovered::load(&snapshot)?,
        None => Recovered::nothing(),
    };
    replay(from, reader)
}

/// The ledger as the whole journal has it, whatever the snapshots say.
pub fn replay_all(reader: &dyn Reader) -> Result<Recovered, RecoveryError> {
    replay(Recovered::nothing(), reader)
}

impl Recovered {
    fn nothing() -> Self {
        Self { ledger: Ledger::new(), day: Day::default(), at: Seq::NONE, rows: 0 }
    }

    fn load(snapshot: &Snapshot) -> Result<Self, ReplayError> {
        let (ledger, rest) = Ledger::load(&snapshot.body)?;
        let day = if rest.is_empty() {
            Day::default()
        } else {
            postcard::from_bytes(rest).map_err(|error| ReplayError::Snapshot(error.to_string()))?
        };
        Ok(Self { ledger, day, at: snapshot.at, rows: 0 })
    }

    /// So that a start need not read the rows again.
    ///
    /// # Panics
    /// Never: all of it is plain data.
    pub fn snapshot(&self) -> Snapshot {
        let body = postcard::to_extend(&self.day, self.ledger.save()).expect("plain data");
        Snapshot { at: self.at, format: FORMAT, body }
    }
}

/// Makes anew what the store keeps of the past, where that is not what left this ledger's memory: the rows say it all.
/// Returns whether it had to. Costs O(journal) then.
pub fn mend_past(store: &mut dyn Store, ledger: &Ledger) -> Result<bool, RecoveryError> {
    let reader = store.reader()?;
    if reader.past_at()? == ledger.past_at() {
        return Ok(false);
    }
    store.forget_past()?;
    let mut again = Ledger::new();
    for entry in entries(&*reader, Seq::FIRST) {
        let (_, entry) = entry?;
        again.replay(&entry)?;
        if let Some(past) = again.take_past() {
            store.commit_with(&[], Some(&past))?;
        }
    }
    Ok(true)
}

fn replay(mut recovered: Recovered, reader: &dyn Reader) -> Result<Recovered, RecoveryError> {
    for entry in entries(reader, recovered.at.next()) {
        let (seq, entry) = entry?;
        recovered.day.pass(&recovered.ledger, &entry);
        recovered.ledger.replay(&entry)?;
        recovered.day.read(&recovered.ledger, &entry);
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
