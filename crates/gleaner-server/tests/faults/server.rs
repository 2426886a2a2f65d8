//! The coordinator's process as its thread drives it: the real desk, ledger, rows and recovery on a disk in memory.
//!
//! A turn handles what came and lets the desk settle; its commit comes a moment later, and only then its effects. In
//! between, and at any other moment, the process can be killed.

use super::history::Seen;
use super::mutant::Mutant;
use gleaner_server::desk::{Batch, Desk, Effect, Input, Keeping, Order, Recorded, Start, Terms};
use gleaner_server::journal::{Entry, Fact};
use gleaner_server::ledger::{FORMAT, Job};
use gleaner_server::recovery::{RecoveryError, beginning, entries, mend_past, recover};
use gleaner_server::restoring::ledger_at;
use gleaner_server::store::{
    Compaction, Failure, MemoryDisk, MemoryStore, ReadError, Reader as _, Seq, Snapshot, Source, Store,
    StoredRow, verify,
};
use gleaner_units::{RunId, Span, Time};
use gleaner_wire::api::Actor;
use gleaner_wire::session::{End, Outcome, ToAgent};
use gleaner_wire::{BlobHash, JobId, Lineage};
use std::collections::BTreeMap;

/// More often in a row no disk is full.
const STARTS_MAX: u32 = 20;

pub(crate) struct Server {
    pub(crate) disk: MemoryDisk,
    /// Which process it is, counted from 1.
    pub(crate) number: u64,
    process: Option<Process>,
    /// What came since the last turn.
    pub(crate) inbox: Vec<Input>,
    /// The ledger as it was after some rows, to compare with what the journal leads to.
    pub(crate) saved: Vec<(Seq, Vec<u8>)>,
    /// How often it was put back.
    restores: u64,
    /// What was dropped when the journal was compacted, for the checker.
    archive: BTreeMap<Seq, StoredRow>,
    /// How often that was.
    pub(crate) compactions: u64,
    /// The last moment on the coordinator's clock.
    last: Time,
    mutant: Option<Mutant>,
    /// What runs wrote before their end, as far as it is kept.
    outputs: BTreeMap<RunId, Vec<u8>>,
}

struct Process {
    desk: Desk,
    store: MemoryStore,
    /// What is on its way to the disk.
    batch: Option<Batch>,
    /// Whether its start, its first fact, is in a batch yet.
    has_turned: bool,
    /// A moment on its clock, and in truth.
    started: (Time, Time),
}

/// The process has ended.
#[derive(Debug)]
pub(crate) struct Dead;

impl Server {
    pub(crate) fn new(mutant: Option<Mutant>) -> Self {
        Self {
            disk: MemoryDisk::default(),
            number: 0,
            process: None,
            inbox: Vec::new(),
            saved: Vec::new(),
            restores: 0,
            archive: BTreeMap::new(),
            compactions: 0,
            last: Time::ZERO,
            mutant,
            outputs: BTreeMap::new(),
        }
    }

    pub(crate) fn is_up(&self) -> bool {
        self.process.is_some()
    }

    pub(crate) fn is_committing(&self) -> bool {
        self.process.as_ref().is_some_and(|process| process.batch.is_some())
    }

    pub(crate) fn desk(&self) -> Option<&Desk> {
        self.process.as_ref().map(|process| &process.desk)
    }

    /// Starts on what the disk has; `wall` is what the wall clock shows, which may be anything.
    pub(crate) fn start(&mut self, now: Time, wall: Time) -> Result<(), String> {
        let mut store = MemoryStore::open(&self.disk);
        let snapshots = store.snapshots().map_err(|error| error.to_string())?;
        let reader = store.reader().map_err(|error| error.to_string())?;
        let recovered = recover(&*reader, &*snapshots).map_err(|error| format!("recovery: {error}"))?;
        let ledger = recovered.ledger;
        ledger.check()?;
        // Whoever finds the disk full then starts again.
        for start in 1.. {
            match mend_past(&mut store, &ledger) {
                Ok(_) => break,
                Err(error) if start == STARTS_MAX => {
                    return Err(format!("what left memory is lost: {error}"));
                }
                Err(_) => store = MemoryStore::open(&self.disk),
            }
        }
        let clock = wall.max(ledger.now());
        let seed = self.number;
        self.number += 1;
        let start = Start { program: "faults", lineage: lineage_of(self.number), seed };
        let desk = Desk::new(ledger, terms(), clock, start);
        self.process = Some(Process { desk, store, batch: None, has_turned: false, started: (clock, now) });
        self.inbox.clear();
        self.last = clock;
        Ok(())
    }

    pub(crate) fn kill(&mut self) {
        self.process = None;
        self.inbox.clear();
    }

    /// Puts the journal of a process that has ended back to so many rows, and says so in it. Returns how many it has then.
    pub(crate) fn put_back(&mut self, rows: u64) -> Result<u64, String> {
        self.disk.put_back(Seq::new(rows));
        self.saved.retain(|(at, _)| at.number() <= rows);
        let mut store = MemoryStore::open(&self.disk);
        let at = self.rows().last().map_or(Time::ZERO, |stored| stored.row.at);
        self.restores += 1;
        // No start draws the same.
        let lineage = Lineage::of((u64::MAX - self.restores).to_le_bytes());
        let entry = Entry { at, fact: Fact::JournalRestored { lineage } };
        let last = store.commit(&[Recorded::without_steps(entry).row()]);
        last.map(Seq::number).map_err(|error| error.to_string())
    }

    /// Compacts the journal of a process that has ended to begin behind so many rows; all of them are dropped. Whether that was done
    /// is for the disk to say.
    pub(crate) fn compact(&mut self, rows: u64) -> Result<(), String> {
        let at = Seq::new(rows);
        let dropped: Vec<StoredRow> = self.rows().into_iter().filter(|stored| stored.seq <= at).collect();
        let moment = dropped.last().map_or(Time::ZERO, |stored| stored.row.at);
        let until = self.rows().last().map_or(Time::ZERO, |stored| stored.row.at);
        let stale = self.mutant == Some(Mutant::BaseTooOld);
        let text = |error: RecoveryError| error.to_string();
        let ledger = ledger_at(&self.disk, Seq::new(rows - u64::from(stale))).map_err(text)?;
        let base = Snapshot { at, format: FORMAT, body: ledger.save() };
        let mut before = beginning(&self.disk).map_err(text)?.ledger;
        let facts: Vec<_> =
            entries(&self.disk, self.begins().next()).collect::<Result<_, _>>().map_err(text)?;
        let mut pasts = facts.iter().take_while(|(seq, _)| *seq <= at).filter_map(|(_, entry)| {
            let replayed = before.replay(entry);
            replayed.map(|_| before.take_past()).map_err(|error| -> Source { Box::new(error) }).transpose()
        });
        let said = |seal| {
            let fact = Fact::JournalCompacted { upto: rows, dropped: rows, seal };
            Recorded::without_steps(Entry { at: until, fact }).row()
        };
        let dropped_rows = [(Seq::FIRST, at)];
        let what = Compaction { base: &base, moment, pasts: &mut pasts, dropped: &dropped_rows, row: &said };
        // Whoever is killed in the middle of it begins again, or not.
        drop(MemoryStore::open(&self.disk).compact(what));
        if self.begins() == at {
            self.compactions += 1;
            self.archive.extend(dropped.into_iter().map(|stored| (stored.seq, stored)));
        }
        Ok(())
    }

    /// Has a row read as damaged, which whoever verifies notices. Whether a start would need it: then it has to say so, and the
    /// row stays as it is.
    pub(crate) fn flip(&mut self, row: u64) -> Result<bool, String> {
        let row = Seq::new(row);
        self.disk.alter(row);
        let verified = verify(&self.disk).map_err(|error| error.to_string())?;
        if !verified.named.iter().any(|(seq, _)| *seq == row) {
            return Err(format!("row {row} is damaged, and verify says {verified:?}"));
        }
        match recover(&self.disk, &self.disk) {
            Err(RecoveryError::Read(ReadError::Damaged { seq, .. })) if seq == row => Ok(true),
            Err(error) => Err(format!("row {row} is damaged, and a start says {error}")),
            Ok(_) => {
                self.disk.mend(row);
                Ok(false)
            }
        }
    }

    /// Loses all behind a row, and says nothing.
    pub(crate) fn cut(&mut self, row: u64) {
        self.disk.put_back(Seq::new(row));
        self.saved.retain(|(at, _)| at.number() <= row);
    }

    /// The last row of those that were dropped.
    pub(crate) fn begins(&self) -> Seq {
        let beginning = self.disk.beginning().expect("memory can be read");
        beginning.map_or(Seq::NONE, |beginning| beginning.at)
    }

    /// When in truth the desk next wants to know the time.
    pub(crate) fn next_tick(&self) -> Option<Time> {
        let process = self.process.as_ref()?;
        let next = process.desk.next_tick();
        let (clock, truth) = process.started;
        (next < Time::NEVER).then(|| truth + next.since(clock))
    }

    /// Handles the first so many inputs. Returns what a driver with a fault lets out at once.
    pub(crate) fn turn(&mut self, now: Time, inputs: usize) -> Vec<Effect> {
        let Some(process) = &mut self.process else { return Vec::new() };
        let (clock, truth) = process.started;
        let clock = clock + now.since(truth);
        self.last = clock;
        for mut input in self.inbox.drain(..inputs) {
            read_before(&mut input, &self.disk);
            process.desk.handle(clock, input, &self.disk).expect("memory can be read");
        }
        process.desk.handle(clock, Input::Tick, &self.disk).expect("memory can be read");
        let mut batch = process.desk.settle(clock);
        let mut hasty = Vec::new();
        match self.mutant {
            Some(Mutant::EffectsBeforeCommit) => hasty = std::mem::take(&mut batch.effects),
            Some(Mutant::AnyEndCounts) => count_any_end(&mut batch),
            Some(Mutant::LeaseTooShort) => lengthen_leases(&mut batch.effects),
            Some(Mutant::PastsConfused) => forget_nothing(&mut batch.effects),
            Some(Mutant::BadMachineStaysOpen) => {
                batch.recorded.retain(|recorded| !closes(&recorded.entry.fact));
            }
            _ => {}
        }
        process.batch = Some(batch);
        process.has_turned = true;
        hasty
    }

    /// Commits what the last turn led to, and returns what may be let out then.
    pub(crate) fn commit(&mut self, seen: &mut Vec<(Time, Seen)>, now: Time) -> Result<Vec<Effect>, Dead> {
        let Some(process) = &mut self.process else { return Err(Dead) };
        let Some(batch) = process.batch.take() else { return Err(Dead) };
        for written in &batch.written {
            let kept = self.outputs.entry(written.run).or_default();
            kept.truncate(written.offset as usize);
            kept.extend_from_slice(&written.bytes);
        }
        let kept = batch.written.iter().map(|written| {
            let (run, offset) = (written.run, written.offset);
            (now, Seen::Kept { run, offset, bytes: written.bytes.len() as u64 })
        });
        if self.mutant == Some(Mutant::OutputAfterCommit) {
            // The process that would keep it dies in one of eight cases.
            seen.extend(kept.filter(|_| !now.nanos().is_multiple_of(8)));
        } else {
            seen.extend(kept);
        }
        let rows: Vec<_> = batch.recorded.iter().map(Recorded::row).collect();
        if rows.is_empty() {
            return Ok(batch.effects);
        }
        if self.mutant == Some(Mutant::CommitNotSynced) && now.nanos().is_multiple_of(16) {
            self.disk.fail_commit(1, Failure::Lost);
            drop(process.store.commit_with(&rows, batch.past.as_ref()));
            return Ok(batch.effects);
        }
        let last = process.store.commit_with(&rows, batch.past.as_ref());
        let on_disk = MemoryStore::open(&self.disk).last().number();
        seen.push((now, Seen::Committed { rows: on_disk }));
        last.map(|_| batch.effects).map_err(|_| Dead)
    }

    /// What a run answered that ended so, from what is kept of it: how it ended, and what it wrote.
    pub(crate) fn answer(&self, run: RunId, end: &End) -> BlobHash {
        let code = if let Outcome::Exited { code } = end.outcome { Some(code) } else { None };
        let mut answer = format!("{code:?} {:?} ", std::mem::discriminant(&end.outcome)).into_bytes();
        let kept = self.outputs.get(&run).map_or(&[][..], Vec::as_slice);
        answer.extend(kept.iter().take(end.stdout.offset as usize).chain(&end.stdout.bytes));
        if self.mutant == Some(Mutant::AnswersAreAlike) {
            answer.clear();
        }
        BlobHash::of(&answer)
    }

    /// Takes a snapshot of all that is committed, and remembers it.
    pub(crate) fn snapshot(&mut self, keep: bool) {
        let is_committed = |process: &&Process| process.has_turned && process.batch.is_none();
        let Some(process) = self.process.as_ref().filter(is_committed) else { return };
        let (at, body) = (process.store.last(), process.desk.ledger().save());
        if keep {
            let mut snapshots = process.store.snapshots().expect("memory can be read");
            // One that fails leaves the older ones.
            drop(snapshots.save(&Snapshot { at, format: FORMAT, body: body.clone() }));
        }
        self.saved.push((at, body));
    }

    /// What its starts drew so far.
    pub(crate) fn starts(&self) -> Vec<Lineage> {
        (1..=self.number).map(lineage_of).collect()
    }

    /// The jobs in the journal, each with its user and its tasks.
    pub(crate) fn jobs(&self) -> BTreeMap<JobId, (String, u32)> {
        let facts =
            self.rows().into_iter().map(|stored| serde_json::from_str(&stored.row.body).expect("a fact"));
        let jobs = facts.filter_map(|fact| match fact {
            Fact::JobSubmitted { job, user, spec, .. } => Some((job, (user, spec.tasks.count()))),
            _ => None,
        });
        jobs.collect()
    }

    /// All that is on the disk, behind all that was dropped of it.
    pub(crate) fn rows(&self) -> Vec<StoredRow> {
        let mut rows: Vec<StoredRow> = self.archive.values().cloned().collect();
        loop {
            let from = rows.last().map_or(Seq::FIRST, |row| row.seq.next());
            let page = self.disk.read(from, usize::MAX).expect("memory can be read");
            if page.is_empty() {
                return rows;
            }
            rows.extend(page);
        }
    }

    /// A wall clock that went on from the last moment, give or take.
    pub(crate) fn wall(&self, passed: Span, jump: i64) -> Time {
        let wall = (self.last + passed).nanos().saturating_add_signed(jump);
        Time::from_nanos(wall)
    }
}

/// Hardly anything that is over stays in memory, and its results are due soon.
fn terms() -> Terms {
    let keeping = Keeping { results: Some(Span::from_nanos(10_000_000_000)), records: None };
    Terms { over_max: 2, keeping, ..Terms::default() }
}

/// What the desk does not read itself.
fn read_before(input: &mut Input, disk: &MemoryDisk) {
    let Input::Order { by, order, .. } = input else { return };
    match &mut **order {
        Order::Submit { job, key: Some(key), .. } => {
            job.compare_with_retired(disk, &by.user, key).expect("memory can be read");
        }
        Order::Rerun(id, _, spec) => {
            *spec = Job::find_past(disk, *id).expect("memory can be read").map(|job| job.spec);
        }
        _ => {}
    }
}

/// Another for each start.
fn lineage_of(number: u64) -> Lineage {
    Lineage::of(number.to_le_bytes())
}

fn count_any_end(batch: &mut Batch) {
    for recorded in &mut batch.recorded {
        if let Fact::ResultRefused { run, agent, end } = &recorded.entry.fact {
            let (run, agent, end) = (*run, *agent, end.clone());
            recorded.entry.fact = Fact::RunEnded { run, agent, end, answer: None, is_left: None };
        }
    }
    for effect in &mut batch.effects {
        if let Effect::Send(_, ToAgent::Settled { accepted, .. }) = effect {
            *accepted = true;
        }
    }
}

/// Whether the coordinator closes a machine by it, of itself.
fn closes(fact: &Fact) -> bool {
    matches!(fact, Fact::MachineOpened { open: false, by: Actor::Coordinator, .. })
}

fn forget_nothing(effects: &mut [Effect]) {
    for effect in effects {
        if let Effect::Send(_, ToAgent::Welcome { forget, .. }) = effect {
            forget.clear();
        }
    }
}

fn lengthen_leases(effects: &mut [Effect]) {
    for effect in effects {
        if let Effect::Send(_, ToAgent::Welcome { lease_s, .. }) = effect {
            *lease_s *= 5.0;
        }
    }
}
