//! A store without a disk, for tests and for simulated histories of faults.
//!
//! The [`MemoryDisk`] is what survives: opening it again is what a restart after a crash finds. Failures are told to it
//! beforehand, by number, so that a history with its seed runs the same each time.

use super::TaskRange;
use super::checksum::chain;
use super::limits::{self, Page};
use super::past::{Amount, FoundJob, Past, PastJob, PastReader, PastTask, Results, Wanted, WithResults};
use super::{
    Beginning, CommitError, Compaction, Damage, ReadError, Reader, Row, Seq, Snapshot, SnapshotError,
    Snapshots, Source, Store, StoredRow,
};
use gleaner_units::TaskId;
use gleaner_wire::{BlobHash, ChainHash, JobId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

/// How many snapshots there are at most.
const KEPT_SNAPSHOTS: usize = 2;

/// What is left of a commit that fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The disk did not get it.
    Lost,
    /// The disk got it, and the word that it did was lost.
    Kept,
}

/// The disk of a [`MemoryStore`]. Clones are the same disk.
#[derive(Clone, Default, Debug)]
pub struct MemoryDisk(Arc<Mutex<Disk>>);

#[derive(Default, Debug)]
struct Disk {
    /// Nothing in place of a row that was dropped.
    rows: Vec<Option<Row>>,
    base: Option<Base>,
    /// What each row and those before it add up to.
    chain: Vec<ChainHash>,
    past_at: Seq,
    past_tasks: BTreeMap<TaskId, PastTask>,
    past_jobs: BTreeMap<JobId, PastJob>,
    altered: BTreeSet<Seq>,
    snapshots: BTreeMap<Seq, Snapshot>,
    commits: u64,
    failing_commits: BTreeMap<u64, Failure>,
    saves: u64,
    failing_saves: BTreeSet<u64>,
}

/// Where the journal begins, with the past as it was there.
#[derive(Clone, Debug)]
struct Base {
    beginning: Beginning,
    snapshot: Snapshot,
    tasks: BTreeMap<TaskId, PastTask>,
    jobs: BTreeMap<JobId, PastJob>,
}

impl MemoryDisk {
    /// The `number`-th commit from now on, counted from 1, will fail.
    pub fn fail_commit(&self, number: u64, failure: Failure) {
        let mut disk = self.disk();
        let number = disk.commits + number;
        disk.failing_commits.insert(number, failure);
    }

    /// The `number`-th snapshot to be saved from now on, counted from 1, will find the disk full.
    pub fn fail_save(&self, number: u64) {
        let mut disk = self.disk();
        let number = disk.saves + number;
        disk.failing_saves.insert(number);
    }

    /// The disk is put back to what it was when `last` was the last row.
    pub fn put_back(&self, last: Seq) {
        let mut disk = self.disk();
        let kept = usize::try_from(last.number()).unwrap_or(usize::MAX);
        disk.rows.truncate(kept);
        disk.altered.retain(|altered| *altered <= last);
        disk.chain.truncate(kept);
        disk.snapshots.retain(|at, _| *at <= last);
        disk.forget_past();
        disk.failing_commits.clear();
    }

    /// What left memory is lost, and the rows are not.
    pub fn lose_past(&self) {
        self.disk().forget_past();
    }

    /// Row `seq` will read as damaged.
    pub fn alter(&self, seq: Seq) {
        self.disk().altered.insert(seq);
    }

    /// Row `seq` reads as it was written again.
    pub fn mend(&self, seq: Seq) {
        self.disk().altered.remove(&seq);
    }

    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.0.lock().expect("nobody panics while holding a disk")
    }
}

impl Disk {
    fn last(&self) -> Seq {
        Seq::new(self.rows.len() as u64)
    }

    fn forget_past(&mut self) {
        let base = self.base.clone();
        self.past_at = base.as_ref().map_or(Seq::NONE, |base| base.beginning.past);
        (self.past_tasks, self.past_jobs) = base.map(|base| (base.tasks, base.jobs)).unwrap_or_default();
    }

    fn keep(&mut self, past: &Past) {
        self.past_at = past.upto;
        for job in &past.revived {
            self.past_jobs.remove(job);
        }
        let is_back = |task: &TaskId| past.revived_tasks.iter().any(|range| range.contains(*task));
        if !past.revived_tasks.is_empty() {
            self.past_tasks.retain(|task, _| !is_back(task));
        }
        self.past_tasks.extend(past.tasks.iter().map(|task| (task.task, task.clone())));
        self.past_jobs.extend(past.jobs.iter().map(|job| (job.job, job.clone())));
        for (job, tasks, removal) in &past.removed {
            if let Some(job) = self.past_jobs.get_mut(job) {
                (job.results, job.bytes, job.removed) = (Results::Going, 0, Some(*removal));
                job.files.clear();
            }
            self.past_tasks.range_mut(tasks.first()..=tasks.last()).for_each(|(_, task)| task.files.clear());
        }
        for (job, results) in &past.results {
            if let Some(job) = self.past_jobs.get_mut(job) {
                job.results = *results;
            }
        }
        for (job, tasks) in &past.forgotten {
            self.past_jobs.remove(job);
            self.past_tasks.retain(|task, _| !tasks.contains(*task));
        }
    }

    /// Those first that were over first.
    fn with(&self, wanted: &WithResults) -> Vec<&PastJob> {
        let is_wanted = |job: &&PastJob| {
            job.results == wanted.results
                && (wanted.ended.0..=wanted.ended.1).contains(&job.ended)
                && wanted.user.as_ref().is_none_or(|user| job.user == *user)
        };
        let mut found: Vec<&PastJob> = self.past_jobs.values().filter(is_wanted).collect();
        found.sort_by_key(|job| (job.ended, job.job));
        found
    }

    /// What becomes of the commit that is about to be.
    fn next_failure(&mut self) -> Option<Failure> {
        self.commits += 1;
        self.failing_commits.remove(&self.commits)
    }

    fn put(&mut self, row: &Row) {
        let before = self.chain.last().copied().unwrap_or(ChainHash::NONE);
        self.chain.push(chain(&before, self.last().next(), row));
        self.rows.push(Some(row.clone()));
    }

    fn compact(&mut self, what: &Compaction<'_>, pasts: &[Past]) {
        self.forget_past();
        for past in pasts {
            self.keep(past);
        }
        let rows = self.rows.len();
        for (first, last) in what.dropped {
            let place = |seq: Seq| usize::try_from(seq.number()).unwrap_or(rows);
            self.rows[place(*first) - 1..place(*last)].fill(None);
        }
        let at = what.base.at;
        let chain = self.chain[usize::try_from(at.number()).unwrap_or(rows) - 1];
        let beginning = Beginning { at, moment: what.moment, chain, past: self.past_at, seal: chain };
        let (tasks, jobs) = (self.past_tasks.clone(), self.past_jobs.clone());
        self.base = Some(Base { beginning, snapshot: what.base.clone(), tasks, jobs });
        self.put(&(what.row)(chain));
    }

    fn page<'a>(
        &'a self,
        from: Seq,
        at_most: usize,
        wanted: impl Fn(&Row) -> bool + 'a,
    ) -> Result<Vec<StoredRow>, ReadError> {
        let mut page = Page::new(at_most);
        let before = from.max(Seq::FIRST).number() - 1;
        let rows = self.rows.iter().enumerate().skip(usize::try_from(before).unwrap_or(usize::MAX));
        let rows = rows.filter_map(|(index, row)| Some((index, row.as_ref()?)));
        for (index, row) in rows.filter(|(_, row)| wanted(row)) {
            if page.is_full() {
                break;
            }
            let seq = Seq::FIRST.plus(index as u64);
            if self.altered.contains(&seq) {
                return Err(ReadError::Damaged { seq, damage: Damage::Altered });
            }
            page.push(StoredRow { seq, row: row.clone() });
        }
        Ok(page.into_rows())
    }
}

/// The form of the [`Store`] that tests use: it keeps every promise but the one about the loss of power.
#[derive(Debug)]
pub struct MemoryStore {
    disk: MemoryDisk,
    last: Seq,
    stopped: bool,
}

impl MemoryStore {
    /// A store with what is on `disk`.
    pub fn open(disk: &MemoryDisk) -> Self {
        let last = disk.disk().last();
        Self { disk: disk.clone(), last, stopped: false }
    }
}

impl Store for MemoryStore {
    fn forget_past(&mut self) -> Result<(), CommitError> {
        self.disk.disk().forget_past();
        Ok(())
    }

    fn sweep(&mut self) -> Result<bool, CommitError> {
        Ok(false)
    }

    fn compact(&mut self, what: Compaction<'_>) -> Result<Seq, CommitError> {
        if self.stopped {
            return Err(CommitError::Stopped { last: self.last });
        }
        let failure = self.disk.disk().next_failure();
        // Whoever makes the past anew reads this disk meanwhile.
        let pasts: Result<Vec<Past>, Source> = what.pasts.collect();
        let error = match (pasts, failure) {
            (Err(source), _) => CommitError::Io { last: self.last, source },
            (Ok(_), Some(Failure::Lost)) => CommitError::DiskFull { last: self.last },
            (Ok(pasts), failure) => {
                let mut disk = self.disk.disk();
                disk.compact(&what, &pasts);
                if failure.is_none() {
                    self.last = disk.last();
                    return Ok(self.last);
                }
                CommitError::DiskFull { last: self.last }
            }
        };
        self.stopped = true;
        Err(error)
    }

    fn commit_with(&mut self, rows: &[Row], past: Option<&Past>) -> Result<Seq, CommitError> {
        if self.stopped {
            return Err(CommitError::Stopped { last: self.last });
        }
        limits::admit(rows)?;
        if rows.is_empty() && past.is_none() {
            return Ok(self.last);
        }
        let mut disk = self.disk.disk();
        let failure = disk.next_failure();
        if failure != Some(Failure::Lost) {
            for row in rows {
                disk.put(row);
            }
            if let Some(past) = past {
                disk.keep(past);
            }
        }
        if failure.is_some() {
            self.stopped = true;
            return Err(CommitError::DiskFull { last: self.last });
        }
        self.last = disk.last();
        Ok(self.last)
    }

    fn last(&self) -> Seq {
        self.last
    }

    fn chain(&self) -> ChainHash {
        self.disk.disk().chain.last().copied().unwrap_or(ChainHash::NONE)
    }

    fn reader(&self) -> Result<Box<dyn Reader>, ReadError> {
        Ok(Box::new(self.disk.clone()))
    }

    fn snapshots(&self) -> Result<Box<dyn Snapshots>, ReadError> {
        Ok(Box::new(self.disk.clone()))
    }
}

impl Reader for MemoryDisk {
    fn last(&self) -> Result<Seq, ReadError> {
        Ok(self.disk().last())
    }

    fn chain(&self, at: Seq) -> Result<Option<ChainHash>, ReadError> {
        let index = at.number().checked_sub(1).and_then(|index| usize::try_from(index).ok());
        Ok(index.and_then(|index| self.disk().chain.get(index).copied()))
    }

    fn beginning(&self) -> Result<Option<Beginning>, ReadError> {
        Ok(self.disk().base.as_ref().map(|base| base.beginning))
    }

    fn base(&self) -> Result<Option<Snapshot>, ReadError> {
        Ok(self.disk().base.as_ref().map(|base| base.snapshot.clone()))
    }

    fn is_sealed(&self) -> Result<bool, ReadError> {
        Ok(true)
    }

    fn read(&self, from: Seq, at_most: usize) -> Result<Vec<StoredRow>, ReadError> {
        self.disk().page(from, at_most, |_| true)
    }

    fn history(&self, task: TaskId, from: Seq, at_most: usize) -> Result<Vec<StoredRow>, ReadError> {
        self.disk().page(from, at_most, |row| row.tasks.iter().any(|range| range.contains(task)))
    }
}

impl PastReader for MemoryDisk {
    fn past_at(&self) -> Result<Seq, ReadError> {
        Ok(self.disk().past_at)
    }

    fn past_task(&self, task: TaskId) -> Result<Option<Vec<u8>>, ReadError> {
        Ok(self.disk().past_tasks.get(&task).map(|past| past.body.clone()))
    }

    fn past_tasks(&self, range: TaskRange, at_most: usize) -> Result<Vec<(TaskId, Vec<u8>)>, ReadError> {
        let disk = self.disk();
        let found = disk.past_tasks.range(range.first()..=range.last()).take(at_most);
        Ok(found.map(|(task, past)| (*task, past.body.clone())).collect())
    }

    fn past_job(&self, job: JobId) -> Result<Option<FoundJob>, ReadError> {
        Ok(self.disk().past_jobs.get(&job).map(found))
    }

    fn past_job_listed(&self, job: JobId) -> Result<Option<FoundJob>, ReadError> {
        Ok(self.disk().past_jobs.get(&job).map(listed))
    }

    fn past_job_with_key(&self, user: &str, key: &str) -> Result<Option<FoundJob>, ReadError> {
        let disk = self.disk();
        let mut jobs = disk.past_jobs.values();
        Ok(jobs.find(|job| job.user == user && job.key.as_deref() == Some(key)).map(listed))
    }

    fn past_jobs(&self, wanted: &Wanted, each: &mut dyn FnMut(FoundJob)) -> Result<(), ReadError> {
        let disk = self.disk();
        let is_wanted = |job: &&PastJob| {
            wanted.user.as_ref().is_none_or(|user| job.user == *user)
                && wanted.state.is_none_or(|state| job.state == state)
                && wanted.before.is_none_or(|before| job.job < before)
        };
        disk.past_jobs.values().rev().filter(is_wanted).take(wanted.limit).map(listed).for_each(each);
        Ok(())
    }

    fn past_with(
        &self,
        wanted: &WithResults,
        limit: usize,
        each: &mut dyn FnMut(FoundJob),
    ) -> Result<(), ReadError> {
        self.disk().with(wanted).into_iter().take(limit).map(listed).for_each(each);
        Ok(())
    }

    fn past_amount(&self, wanted: &WithResults) -> Result<Amount, ReadError> {
        let disk = self.disk();
        let found = disk.with(wanted);
        Ok(Amount { jobs: found.len() as u64, bytes: found.iter().map(|job| job.bytes).sum() })
    }

    fn base_tasks(&self, from: TaskId, at_most: usize) -> Result<Vec<PastTask>, ReadError> {
        let disk = self.disk();
        let base = disk.base.iter().flat_map(|base| base.tasks.range(from..));
        Ok(base.take(at_most).map(|(_, task)| task.clone()).collect())
    }

    fn base_jobs(&self, from: JobId, at_most: usize) -> Result<Vec<PastJob>, ReadError> {
        let disk = self.disk();
        let base = disk.base.iter().flat_map(|base| base.jobs.range(from..));
        Ok(base.take(at_most).map(|(_, job)| job.clone()).collect())
    }

    fn names_file(&self, file: &BlobHash) -> Result<bool, ReadError> {
        let disk = self.disk();
        let mut files = { disk.past_jobs.values().flat_map(|job| &job.files) }
            .chain(disk.past_tasks.values().flat_map(|task| &task.files));
        Ok(files.any(|named| named == file))
    }
}

fn listed(past: &PastJob) -> FoundJob {
    FoundJob { spec: Vec::new(), ..found(past) }
}

fn found(past: &PastJob) -> FoundJob {
    let PastJob { job, results, bytes, removed, .. } = *past;
    FoundJob { job, results, bytes, removed, body: past.body.clone(), spec: past.spec.clone() }
}

impl Snapshots for MemoryDisk {
    fn save(&mut self, snapshot: &Snapshot) -> Result<(), SnapshotError> {
        let mut disk = self.disk();
        let at = snapshot.at;
        if at == Seq::NONE || at > disk.last() {
            return Err(SnapshotError::NotCommitted { at });
        }
        disk.saves += 1;
        let save = disk.saves;
        if disk.failing_saves.remove(&save) {
            return Err(SnapshotError::DiskFull);
        }
        disk.snapshots.insert(at, snapshot.clone());
        while disk.snapshots.len() > KEPT_SNAPSHOTS {
            disk.snapshots.pop_first();
        }
        Ok(())
    }

    fn latest(&self, format: u32) -> Result<Option<Snapshot>, SnapshotError> {
        Ok(self.disk().snapshots.values().rfind(|snapshot| snapshot.format == format).cloned())
    }
}
