//! What left memory: the store has of it what the ledger had, whatever crashes came between, and the rows alone make it again.

use gleaner_server::journal::{Entry, Fact};
use gleaner_server::ledger::{Job, Ledger, Record, RetiredTask};
use gleaner_server::recovery::mend_past;
use gleaner_server::store::{MemoryDisk, MemoryStore, PastReader as _, Store as _, StoredRow, TaskRange};
use gleaner_units::TaskId;
use gleaner_wire::JobId;
use std::collections::BTreeMap;

/// How many tasks left memory, and how many came back.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) retired: u64,
    pub(crate) revived: u64,
    pub(crate) jobs: u64,
    /// How often results of a job were removed, and how often somebody wanted some kept, or not any more.
    pub(crate) removed: u64,
    pub(crate) kept: u64,
    /// How often the journal was compacted.
    pub(crate) compacted: u64,
}

pub(crate) fn check(rows: &[StoredRow], disk: &MemoryDisk) -> Result<Seen, String> {
    let mut ledger = Ledger::new();
    let mut seen = Seen::default();
    let mut gone: BTreeMap<TaskId, (Record, u32)> = BTreeMap::new();
    for stored in rows {
        let fact = serde_json::from_str(&stored.row.body).map_err(|error| error.to_string())?;
        if let Fact::TasksRetired(ranges) = &fact {
            for task in ranges.iter().flat_map(|range| range.tasks()) {
                let runs = ledger.grid().task(task).runs();
                gone.insert(task, (ledger.record(task).clone(), runs));
                seen.retired += 1;
            }
        }
        if let Fact::TasksRevived(revived) = &fact {
            seen.revived += revived.tasks.iter().map(|alike| u64::from(alike.tasks.count())).sum::<u64>();
        }
        match &fact {
            Fact::ResultsRemoved { jobs, .. } => seen.removed += jobs.len() as u64,
            Fact::ResultsKept { .. } => seen.kept += 1,
            _ => {}
        }
        ledger.replay(&Entry { at: stored.row.at, fact }).map_err(|error| error.to_string())?;
    }
    for (task, (record, runs)) in gone {
        if !ledger.is_retired(task) {
            continue;
        }
        let found = RetiredTask::find(disk, task).map_err(|error| error.to_string())?;
        match found {
            Some(found) if (&found.record, found.runs) == (&record, runs) => {}
            found => {
                return Err(format!(
                    "of {task} {record:?} with {runs} runs left memory, and {found:?} is kept"
                ));
            }
        }
    }
    let mut bytes: BTreeMap<String, u64> = BTreeMap::new();
    for id in (1..ledger.next_job().0).map(JobId) {
        let found = Job::find_past(disk, id).map_err(|error| error.to_string())?;
        if let Some(job) = ledger.find_job(id).or(found.as_ref()) {
            *bytes.entry(job.user.clone()).or_default() += job.bytes + job.described;
        }
        match (ledger.find_job(id), found) {
            (Some(_), None) => {}
            (None, Some(job)) if job.tally.open() == 0 && job.retired == job.count => seen.jobs += 1,
            (living, found) => {
                return Err(format!("job {id} is {living:?} in memory and {found:?} in the store"));
            }
        }
    }
    for (user, bytes) in bytes {
        if ledger.bytes_of(&user) != bytes {
            let said = ledger.bytes_of(&user);
            return Err(format!("{said} bytes are said to be kept for {user}, whose jobs make {bytes}"));
        }
    }
    made_again(rows, &ledger, disk)?;
    Ok(seen)
}

fn made_again(rows: &[StoredRow], ledger: &Ledger, disk: &MemoryDisk) -> Result<(), String> {
    let again = MemoryDisk::default();
    let mut store = MemoryStore::open(&again);
    let rows: Vec<_> = rows.iter().map(|stored| stored.row.clone()).collect();
    store.commit(&rows).map_err(|error| error.to_string())?;
    let is_made = mend_past(&mut store, ledger).map_err(|error| error.to_string())?;
    if is_made != (ledger.past_at().number() > 0) {
        return Err("what left memory is not looked for".to_owned());
    }
    let all = TaskRange::between(TaskId::new(0), TaskId::new(u32::MAX as usize)).expect("a range");
    let jobs = gleaner_server::store::Wanted { limit: usize::MAX, ..Default::default() };
    let kept = [disk, &again].map(|disk| {
        let mut found = Vec::new();
        let is_read = disk.past_jobs(&jobs, &mut |job| found.push(job)).is_ok();
        (disk.past_tasks(all, usize::MAX).ok(), is_read.then_some(found), disk.past_at().ok())
    });
    if kept[0] == kept[1] { Ok(()) } else { Err("the rows alone make another past".to_owned()) }
}
