//! Whether the journal's decisions are the ones that this program makes: each is proposed again, from the facts alone,
//! and compared.
//!
//! A decision that an older program made may differ with good reason; [`Report::programs`] says which programs wrote
//! the journal.

mod files;

pub(crate) use files::NamedFile;
pub use files::{Depth, Kept, files};

use crate::journal::{Entry, Fact};
use crate::ledger::{Ledger, ReplayError};
use crate::recovery::{Recovered, RecoveryError, beginning, entries};
use crate::store::{Past, Reader, Seq, TaskRange, base_pages};
use gleaner_units::{RunId, TaskId, Time};
use gleaner_wire::{BlobHash, JobId};

use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

/// What a journal was found to hold.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// How many facts.
    pub facts: u64,
    /// How many of them are answers of the policy; all were made again alike.
    pub answers: u64,
    /// How many decisions those hold.
    pub decisions: u64,
    /// The programs that wrote it, each with the number of its starts.
    pub programs: BTreeMap<String, u32>,
    /// When the grid began.
    pub began: Time,
    /// How much each run wrote to its two streams, where that is in files.
    pub outputs: BTreeMap<RunId, Written>,
    /// The files that somebody may still ask for.
    pub files: BTreeSet<BlobHash>,
}

/// What a run wrote to files.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Written {
    /// Bytes of standard output and of standard error.
    pub lengths: [u64; 2],
    /// Whose run it was, the task by its number; nothing if the job had left the journal.
    pub task: Option<(JobId, u32)>,
}

/// The first row that does not follow from those before it.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum Mismatch {
    /// Another decision is made now.
    #[error(
        "row {seq}, written at {at}: recorded {recorded:?}, but {proposed:?} follows from the rows before it"
    )]
    Decision {
        /// Which row.
        seq: Seq,
        /// When it was written.
        at: Time,
        /// As the journal has it.
        recorded: Box<Fact>,
        /// As it would be decided now; nothing if there was nothing to decide.
        proposed: Option<Box<Fact>>,
    },
    /// What the facts add up to contradicts itself.
    #[error("up to row {seq}, the journal makes no sense: {broken}")]
    Inconsistent {
        /// Which row is the last.
        seq: Seq,
        /// What is wrong.
        broken: String,
    },
}

/// What had come of the rows before the first that is decided again.
#[derive(Default)]
pub struct Before {
    at: Seq,
    ledger: Ledger,
    left: Left,
}

impl Before {
    /// Where a journal begins. Costs O(what left memory before).
    pub fn of(reader: &dyn Reader) -> Result<Self, RecoveryError> {
        let Recovered { ledger, at, .. } = beginning(reader)?;
        let mut left = Left::default();
        for page in base_pages(reader) {
            left.take(page?, &mut BTreeMap::new());
        }
        Ok(Self { at, ledger, left })
    }
}

/// Goes through a whole journal, from its first row on, and decides again. Where it begins with a base, what was decided until the next
/// start is taken as it was. Costs what the grid's life cost in decisions.
pub fn verify(before: Before, rows: impl IntoIterator<Item = (Seq, Entry)>) -> Result<Report, Mismatch> {
    // In the middle of a coordinator's life, a policy may know what nobody can tell who begins there.
    let mut decides = before.at == Seq::NONE;
    let (mut answers, mut made) = (0, 0);
    let (report, last, ledger) = follow(before, rows, |ledger, seq, entry| {
        match &entry.fact {
            Fact::Decided { decisions, .. } if decides => {
                answers += 1;
                made += decisions.len() as u64;
                return decide_again(ledger, seq, entry);
            }
            Fact::Decided { .. } => {
                let broken = |why: ReplayError| Mismatch::Inconsistent { seq, broken: why.to_string() };
                return ledger.replay(entry).map(drop).map_err(broken);
            }
            Fact::CoordinatorStarted { .. } => decides = true,
            _ => {}
        }
        ledger.apply(entry);
        Ok(())
    })?;
    ledger.check().map_err(|broken| Mismatch::Inconsistent { seq: last, broken })?;
    Ok(Report { answers, decisions: made, ..report })
}

/// The same, but no decision is made again: for the files that a journal names.
pub(crate) fn follow_all(reader: &dyn Reader) -> Result<Report, RecoveryError> {
    let mut unreadable = None;
    let rows =
        entries(reader, Seq::FIRST).map_while(|entry| entry.map_err(|error| unreadable = Some(error)).ok());
    let followed = follow(Before::of(reader)?, rows, |ledger, _, entry| ledger.replay(entry).map(drop));
    let (report, ..) = followed.map_err(RecoveryError::from)?;
    unreadable.map_or(Ok(report), Err)
}

/// Takes each row in by `step`. Returns what it found, the last row, and what all rows come to.
fn follow<E>(
    before: Before,
    rows: impl IntoIterator<Item = (Seq, Entry)>,
    mut step: impl FnMut(&mut Ledger, Seq, &Entry) -> Result<(), E>,
) -> Result<(Report, Seq, Ledger), E> {
    let Before { at: begins, mut ledger, mut left } = before;
    let mut report = Report::default();
    let mut last = Seq::NONE;
    for (seq, entry) in rows {
        last = seq;
        report.facts += 1;
        match &entry.fact {
            Fact::CoordinatorStarted { program, .. } => {
                *report.programs.entry(program.clone()).or_default() += 1;
            }
            Fact::RunEnded { run, end, .. } => {
                let lengths = [&end.stdout, &end.stderr]
                    .map(|tail| if tail.bytes.is_empty() { tail.offset } else { 0 });
                if lengths != [0, 0] {
                    let job = ledger.find_job_of(run.task);
                    let task = job.map(|(id, job)| (id, job.number(run.task)));
                    report.outputs.insert(*run, Written { lengths, task });
                }
            }
            Fact::ResultsRemoved { jobs, .. } if seq <= begins => {
                for removed in jobs {
                    forget_outputs(&mut report.outputs, removed.tasks);
                }
            }
            _ => {}
        }
        if seq <= begins {
            continue;
        }
        step(&mut ledger, seq, &entry)?;
        if let Some(past) = ledger.take_past() {
            left.take(past, &mut report.outputs);
        }
        // Nobody is to be told.
        ledger.take_orders();
    }
    report.began = ledger.began();
    report.files = left.jobs.into_values().chain(left.tasks.into_values()).flatten().collect();
    report.files.extend(ledger.files().copied());
    Ok((report, last, ledger))
}

/// The files that what left memory names.
#[derive(Default)]
struct Left {
    jobs: BTreeMap<JobId, Vec<BlobHash>>,
    tasks: BTreeMap<TaskId, Vec<BlobHash>>,
}

impl Left {
    fn take(&mut self, past: Past, outputs: &mut BTreeMap<RunId, Written>) {
        let Past { tasks, jobs, revived, revived_tasks, removed, forgotten, .. } = past;
        for job in revived {
            self.jobs.remove(&job);
        }
        for tasks in revived_tasks {
            self.forget(tasks);
        }
        self.jobs
            .extend(jobs.into_iter().filter(|job| !job.files.is_empty()).map(|job| (job.job, job.files)));
        self.tasks.extend(
            tasks.into_iter().filter(|task| !task.files.is_empty()).map(|task| (task.task, task.files)),
        );
        let removed = removed.into_iter().map(|(job, tasks, _)| (job, tasks));
        for (job, tasks) in removed.chain(forgotten) {
            self.jobs.remove(&job);
            self.forget(tasks);
            forget_outputs(outputs, tasks);
        }
    }

    fn forget(&mut self, tasks: TaskRange) {
        let gone: Vec<TaskId> =
            self.tasks.range(tasks.first()..=tasks.last()).map(|(task, _)| *task).collect();
        for task in gone {
            self.tasks.remove(&task);
        }
    }
}

fn forget_outputs(outputs: &mut BTreeMap<RunId, Written>, tasks: TaskRange) {
    let ends = RunId::new(tasks.first(), 0)..=RunId::new(tasks.last(), u32::MAX);
    let gone: Vec<RunId> = outputs.range(ends).map(|(run, _)| *run).collect();
    for run in gone {
        outputs.remove(&run);
    }
}

fn decide_again(ledger: &mut Ledger, seq: Seq, entry: &Entry) -> Result<(), Mismatch> {
    let proposed = ledger.decide(entry.at).map(|(fact, _)| fact);
    if proposed.as_ref() == Some(&entry.fact) {
        return Ok(());
    }
    let (recorded, proposed) = (Box::new(entry.fact.clone()), proposed.map(Box::new));
    Err(Mismatch::Decision { seq, at: entry.at, recorded, proposed })
}
