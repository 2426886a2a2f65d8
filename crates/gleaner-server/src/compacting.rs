//! Compacting a journal: rows that nobody can ask for any more are dropped, and a state takes their place.
//!
//! **A row is dropped if it is before the new beginning and one of these holds: all its tasks are of forgotten jobs, or it is about no
//! task and records no person's action.** So what is known can still be asked for: the histories and outputs of known jobs, and who did
//! what. Dropped rows cannot be replayed: `explain --at`, `replay` and `verify` begin where the journal does.

use crate::desk::Recorded;
use crate::journal::{Entry, Fact};
use crate::recovery::{RecoveryError, beginning, entries, mend_past, pasts, recover};
use crate::store::{Compaction, Past, ROWS_AT_ONCE, Reader, Row, Seq, Snapshot, Source, Store, TaskRange};
use crate::told::told;
use gleaner_units::Time;
use gleaner_wire::ChainHash;

/// What is to be done to a journal.
#[derive(Clone, Debug)]
pub struct Plan {
    base: Snapshot,
    /// When the last row was written that may be dropped.
    pub moment: Time,
    dropped: Vec<(Seq, Seq)>,
    /// How many rows there are.
    pub rows: u64,
    /// How many of them go.
    pub rows_dropped: u64,
    /// How long those are.
    pub bytes_dropped: u64,
    /// How many jobs were forgotten: their rows go, if they are before the new beginning.
    pub jobs_forgotten: u64,
    /// The journal's last moment.
    until: Time,
}

impl Plan {
    /// The last row that may be dropped.
    pub fn at(&self) -> Seq {
        self.base.at
    }

    /// How long the state is that takes the place of what goes.
    pub fn base_bytes(&self) -> u64 {
        self.base.body.len() as u64
    }
}

/// What goes if a journal begins with the first row that was written at a moment or later; its last row stays in any case. Nothing
/// where no row is before it. Costs O(journal).
pub fn plan(reader: &dyn Reader, before: Time) -> Result<Option<Plan>, RecoveryError> {
    let last = reader.last()?;
    let mut state = beginning(reader)?;
    let mut forgotten = Vec::new();
    let (mut moment, mut until, mut is_behind) = (state.ledger.now(), state.ledger.now(), false);
    for entry in entries(reader, state.at.next()) {
        let (seq, entry) = entry?;
        until = entry.at;
        if let Fact::JobsForgotten { jobs, .. } = &entry.fact {
            forgotten.extend(jobs.iter().map(|(_, tasks)| *tasks));
        }
        is_behind |= entry.at >= before || seq == last;
        if !is_behind {
            moment = entry.at;
            state.take(seq, &entry)?;
        }
    }
    let base = state.snapshot();
    if base.at == Seq::NONE {
        return Ok(None);
    }
    let jobs_forgotten = forgotten.len() as u64;
    let forgotten = TaskRange::merged(forgotten);
    let mut plan = Plan {
        base,
        moment,
        dropped: Vec::new(),
        rows: 0,
        rows_dropped: 0,
        bytes_dropped: 0,
        jobs_forgotten,
        until,
    };
    let mut from = Seq::FIRST;
    loop {
        let page = reader.read(from, ROWS_AT_ONCE)?;
        let Some(end) = page.last() else { return Ok(Some(plan)) };
        from = end.seq.next();
        for stored in &page {
            plan.rows += 1;
            if stored.seq <= plan.base.at && goes(stored.seq, &stored.row, &forgotten)? {
                plan.drop(stored.seq, &stored.row);
            }
        }
    }
}

impl Plan {
    fn drop(&mut self, seq: Seq, row: &Row) {
        self.rows_dropped += 1;
        self.bytes_dropped += (row.body.len() + row.steps.len()) as u64;
        match self.dropped.last_mut() {
            Some((_, last)) if last.next() == seq => *last = seq,
            Some(_) | None => self.dropped.push((seq, seq)),
        }
    }
}

/// Whether nobody can ask for a row any more.
fn goes(seq: Seq, row: &Row, forgotten: &[TaskRange]) -> Result<bool, RecoveryError> {
    if !row.tasks.is_empty() {
        return Ok(row.tasks.iter().all(|tasks| is_within(forgotten, *tasks)));
    }
    let fact = serde_json::from_str(&row.body).map_err(|why| RecoveryError::Row { seq, why })?;
    Ok(told(&fact, |_| String::new(), |_| String::new()).is_none())
}

/// Whether all of some tasks are in ranges, which are in order and do not touch.
fn is_within(ranges: &[TaskRange], tasks: TaskRange) -> bool {
    let next = ranges.partition_point(|range| range.last() < tasks.first());
    ranges.get(next).is_some_and(|range| range.contains(tasks.first()) && range.contains(tasks.last()))
}

/// Does it: all of it, or nothing. Returns the row that says so.
pub fn compact(store: &mut dyn Store, plan: &Plan) -> Result<Seq, RecoveryError> {
    let reader = store.reader()?;
    let source = |error: RecoveryError| -> Source { Box::new(error) };
    let is_before = |past: &Result<(Seq, Past), RecoveryError>| {
        past.as_ref().map_or(true, |(seq, _)| *seq <= plan.base.at)
    };
    let mut pasts =
        pasts(&*reader)?.take_while(is_before).map(|past| past.map(|(_, past)| past).map_err(source));
    let said = |seal: ChainHash| {
        let fact = Fact::JournalCompacted { upto: plan.base.at.number(), dropped: plan.rows_dropped, seal };
        Recorded::without_steps(Entry { at: plan.until, fact }).row()
    };
    let Plan { base, moment, dropped, .. } = plan;
    let last = store.compact(Compaction { base, moment: *moment, pasts: &mut pasts, dropped, row: &said })?;
    let reader = store.reader()?;
    let recovered = recover(&*reader, &*store.snapshots()?)?;
    mend_past(store, &recovered.ledger)?;
    Ok(last)
}
