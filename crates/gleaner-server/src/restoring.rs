//! Putting a journal back to an older state, or to what can be saved of it: what would be lost by that, and doing it.

mod access;

pub use access::{Access, Names, changed_access};

use crate::clock::Clock;
use crate::desk::Recorded;
use crate::journal::{Entry, Fact};
use crate::ledger::Ledger;
use crate::recovery::{Recovered, RecoveryError, beginning, entries};
use crate::store::{Damage, Home, ReadError, Reader, ReplaceError, Seq, replace};
use gleaner_units::Time;
use gleaner_wire::api::TaskPhase;
use gleaner_wire::{JobId, Lineage};
use std::path::PathBuf;

/// What is in one state of a journal and not in another.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Loss {
    /// Jobs that were handed in, in order.
    pub jobs: Vec<JobId>,
    /// Tasks of other jobs that were done.
    pub results: u64,
    /// Machines that joined.
    pub machines: Vec<String>,
    /// The last fact of each of the two: of what there is, and of what there would be.
    pub until: [Time; 2],
}

/// The ledger as the first rows of a journal have it, whatever is behind them.
pub fn ledger_at(reader: &dyn Reader, last: Seq) -> Result<Ledger, RecoveryError> {
    let Recovered { mut ledger, at: begins, .. } = beginning(reader)?;
    let rows = last.number().saturating_sub(begins.number()) as usize;
    for entry in entries(reader, begins.next()).take(rows) {
        ledger.replay(&entry?.1)?;
    }
    Ok(ledger)
}

/// What is lost if `then` takes the place of `now`.
pub fn loss(now: &Ledger, then: &Ledger) -> Loss {
    let mut loss = Loss { until: [now.now(), then.now()], ..Loss::default() };
    for (id, job) in now.jobs() {
        match then.find_job(id) {
            Some(same) if same.submitted == job.submitted => {
                loss.results += u64::from(job.tally.done.saturating_sub(same.tally.done));
            }
            // There it is over for long, and here some of it runs again.
            None if id < then.next_job() => {}
            Some(_) | None => loss.jobs.push(id),
        }
    }
    // Of what is over for long, only that is known in memory.
    for (_, job) in then.jobs().filter(|(id, _)| now.find_job(*id).is_none() && *id < now.next_job()) {
        let done = now.stretches(job.range()).filter(|(_, record)| record.phase == TaskPhase::Done);
        let done: u32 = done.map(|(tasks, _)| tasks.count()).sum();
        loss.results += u64::from(done.saturating_sub(job.tally.done));
    }
    let is_living = |id: &JobId| now.find_job(*id).is_some();
    let retired = (then.next_job().0..now.next_job().0).map(JobId).filter(|id| !is_living(id));
    loss.jobs.extend(retired);
    loss.jobs.sort_unstable();
    let known = access::keys(then);
    let joined = now.agents().iter().filter(|agent| !agent.revoked && !known.contains(agent.key.as_str()));
    loss.machines = joined.map(|agent| agent.name.clone()).collect();
    loss
}

/// Where so many rows in a row are gone, what is behind them is not looked for: a damaged file may have any number for its last.
const GONE_MAX: u32 = 10_000;

/// What is in a journal behind the rows that can be saved of it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Behind {
    /// The last row that is there, even if it is not what was written; none if nothing is.
    pub last: Option<Seq>,
    /// Jobs that were handed in, as far as their rows can be read.
    pub jobs: Vec<JobId>,
}

/// What is behind a row of a damaged journal. Costs O(that).
pub fn behind(reader: &dyn Reader, last: Seq) -> Behind {
    let mut behind = Behind::default();
    let Ok(there) = reader.last() else { return behind };
    let mut gone = 0;
    let mut next = last.next();
    while next <= there && gone < GONE_MAX {
        match reader.read(next, 1) {
            Ok(rows) => {
                behind.last = Some(next);
                gone = 0;
                let facts = rows.iter().filter_map(|stored| serde_json::from_str(&stored.row.body).ok());
                behind.jobs.extend(facts.filter_map(|fact| match fact {
                    Fact::JobSubmitted { job, .. } => Some(job),
                    _ => None,
                }));
            }
            Err(ReadError::Damaged { damage: Damage::Missing | Damage::Unreadable, .. }) => gone += 1,
            Err(ReadError::Damaged { .. }) => behind.last = Some(next),
            // The file itself cannot be read on.
            Err(_) => break,
        }
        next = next.next();
    }
    behind
}

/// Whether the two are no states of one journal: no two grids began at the same moment.
pub fn is_of_another_grid(now: &Ledger, then: &Ledger) -> bool {
    now.epoch() > 0 && then.epoch() > 0 && now.began() != then.began()
}

/// Puts the first rows of a journal in the place of the one in `home`, and records that it was ordered, so that agents of
/// the past that is lost are let in: now, and no earlier than the last of them was written. Returns where what was there went.
pub fn put_back(
    home: &Home,
    reader: &dyn Reader,
    (last, written): (Seq, Time),
    lineage: Lineage,
) -> Result<PathBuf, ReplaceError> {
    let at = Clock::start(written).now();
    let entry = Entry { at, fact: Fact::JournalRestored { lineage } };
    replace(home, reader, last, Recorded::without_steps(entry).row())
}
