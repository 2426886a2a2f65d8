//! From the journal to the ledger: what a start does, and whoever wants to know what the facts add up to.

use crate::day::Day;
use crate::journal::{Entry, Fact};
use crate::ledger::{FORMAT, Ledger, ReplayError, Told};
use crate::moments;
use crate::store::{
    CommitError, Past, ROWS_AT_ONCE, ReadError, Reader, Row, Seq, Snapshot, SnapshotError, Snapshots, Store,
    StoredRow,
};
use gleaner_units::Time;
use thiserror::Error;

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
    /// It begins with a state that only another program can read.
    #[error(
        "the journal was compacted at row {at} by a program whose states have format {found}, and this one reads format {known} \
         only: go on with that program"
    )]
    Base {
        /// Where.
        at: Seq,
        /// The state's format.
        found: u32,
        /// The one that is known here.
        known: u32,
    },
    /// Nothing is left that would say what was asked for.
    #[error("the journal was compacted at row {at}, of {}: what was before cannot be told any more", moments::day(*moment))]
    Compacted {
        /// Where.
        at: Seq,
        /// When that row was written.
        moment: Time,
    },
    /// What left memory could not be kept.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// A row is no fact that this program knows.
    #[error(
        "row {seq} of the journal was written by another version of gleaner, and this one does not know what it says ({why}): \
         start the coordinator with the version that wrote it"
    )]
    Row {
        /// The number of the row.
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
    let mut recovered = newest(reader, snapshots)?;
    recovered.read_on(reader, || true)?;
    Ok(recovered)
}

/// The same, unless it is given up before the last row.
pub(crate) fn recover_unless(
    given_up: impl Fn() -> bool,
    reader: &dyn Reader,
    snapshots: &dyn Snapshots,
) -> Result<Option<Recovered>, RecoveryError> {
    let mut recovered = newest(reader, snapshots)?;
    let is_whole = recovered.read_on(reader, || !given_up())?;
    Ok(is_whole.then_some(recovered))
}

/// What the newest snapshot has, or the beginning.
fn newest(reader: &dyn Reader, snapshots: &dyn Snapshots) -> Result<Recovered, RecoveryError> {
    let begins = reader.beginning()?.map_or(Seq::NONE, |beginning| beginning.at);
    match snapshots.latest(FORMAT)? {
        // Behind an older one, rows may be missing.
        Some(snapshot) if snapshot.at >= begins => Recovered::load(&snapshot).or_else(|why| {
            tracing::warn!(
                "the newest snapshot is passed over: {why}. The journal has all that is in it, so the start takes longer and nothing \
                 is lost"
            );
            beginning(reader)
        }),
        Some(_) | None => beginning(reader),
    }
}

/// The ledger as the whole journal has it, whatever the snapshots say.
pub fn replay_all(reader: &dyn Reader) -> Result<Recovered, RecoveryError> {
    let mut recovered = beginning(reader)?;
    recovered.read_on(reader, || true)?;
    Ok(recovered)
}

/// Where the journal begins: with nothing, or with what it was compacted to.
pub fn beginning(reader: &dyn Reader) -> Result<Recovered, RecoveryError> {
    match reader.base()? {
        None => Ok(Recovered::nothing()),
        Some(base) if base.format == FORMAT => Ok(Recovered::load(&base)?),
        Some(Snapshot { at, format: found, .. }) => Err(RecoveryError::Base { at, found, known: FORMAT }),
    }
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

    /// Takes in the rows that are left, as long as they are wanted; whether that was to the last.
    fn read_on(&mut self, reader: &dyn Reader, is_wanted: impl Fn() -> bool) -> Result<bool, RecoveryError> {
        for entry in entries(reader, self.at.next()) {
            if !is_wanted() {
                return Ok(false);
            }
            let (seq, entry) = entry?;
            self.take(seq, &entry)?;
        }
        Ok(true)
    }

    /// Takes in the next row.
    pub(crate) fn take(&mut self, seq: Seq, entry: &Entry) -> Result<(), ReplayError> {
        self.day.pass(&self.ledger, entry);
        self.ledger.replay(entry)?;
        self.day.read(&self.ledger, entry);
        (self.at, self.rows) = (seq, self.rows + 1);
        Ok(())
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
    tracing::info!(
        "what is kept of jobs that are over is made anew from the journal, which may take minutes"
    );
    make_past_anew(store)?;
    Ok(true)
}

/// Makes anew what the store keeps of the past, whatever it has. Costs O(journal).
pub fn make_past_anew(store: &mut dyn Store) -> Result<(), RecoveryError> {
    let reader = store.reader()?;
    store.forget_past()?;
    for past in pasts(&*reader)? {
        store.commit_with(&[], Some(&past?.1))?;
    }
    Ok(())
}

/// What each row since the journal's beginning sent out of memory, or had back.
pub(crate) fn pasts(
    reader: &dyn Reader,
) -> Result<impl Iterator<Item = Result<(Seq, Past), RecoveryError>>, RecoveryError> {
    let Recovered { mut ledger, at, .. } = beginning(reader)?;
    let past = move |entry: Result<(Seq, Entry), RecoveryError>| {
        let followed = entry.and_then(|(seq, entry)| {
            ledger.replay(&entry)?;
            Ok(ledger.take_past().map(|past| (seq, past)))
        });
        followed.transpose()
    };
    Ok(entries(reader, at.next()).filter_map(past))
}

/// The journal's facts from a row on, a page of rows at a time: all that are intact, and nothing after an error.
pub fn entries(reader: &dyn Reader, from: Seq) -> impl Iterator<Item = Result<(Seq, Entry), RecoveryError>> {
    rows(reader, from).map(|stored| stored.and_then(entry))
}

/// The same with all that the rows have.
pub fn rows(reader: &dyn Reader, from: Seq) -> impl Iterator<Item = Result<StoredRow, RecoveryError>> {
    let pages = std::iter::successors(Some((from, Ok(Vec::new()))), move |(from, page)| {
        page.as_ref().ok()?;
        let page = match reader.read(*from, ROWS_AT_ONCE) {
            Err(ReadError::Damaged { seq, .. }) if seq > *from => {
                reader.read(*from, (seq.number() - from.number()) as usize)
            }
            read => read,
        };
        let next = page.as_ref().map_or(Some(*from), |rows| Some(rows.last()?.seq.next()))?;
        Some((next, page))
    });
    pages.flat_map(|(_, page)| match page {
        Ok(rows) => rows.into_iter().map(Ok).collect(),
        Err(error) => vec![Err(error.into())],
    })
}

/// What a row says.
pub fn entry(stored: StoredRow) -> Result<(Seq, Entry), RecoveryError> {
    let StoredRow { seq, row } = stored;
    let fact = serde_json::from_str::<Fact>(&row.body).map_err(|why| RecoveryError::Row { seq, why })?;
    Ok((seq, Entry { at: row.at, fact }))
}

/// What a row was for each task that it is about.
pub fn steps(row: &Row) -> Result<Vec<Told>, serde_json::Error> {
    if row.steps.is_empty() { Ok(Vec::new()) } else { serde_json::from_str(&row.steps) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_version_wrote_is_for_that_version() {
        let row = Row {
            at: Time::ZERO,
            tasks: Vec::new(),
            steps: String::new(),
            body: r#"{"planet_joined":{}}"#.to_owned(),
        };
        let error = entry(StoredRow { seq: Seq::FIRST, row }).err().map(|error| error.to_string());
        let error = error.expect("no such fact");
        assert!(error.starts_with("row 1 of the journal was written by another version"), "{error}");
        assert!(error.contains("planet_joined") && error.contains("start the coordinator with"), "{error}");
    }
}
