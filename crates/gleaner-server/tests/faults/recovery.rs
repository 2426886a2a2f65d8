//! What the journal leads to: replayed from its start it is, to the byte, what the living coordinators had, snapshots
//! between or not; each decision, made again, is the one that was made; and no account ever spends more than it has.

use gleaner_core::Stage;
use gleaner_server::journal::{Entry, Fact};
use gleaner_server::ledger::{Ledger, Step, Told};
use gleaner_server::recovery::{entries, steps};
use gleaner_server::store::MemoryDisk;
use gleaner_server::store::{Seq, StoredRow};
use gleaner_server::verify::{Before, verify};
use gleaner_units::{Credits, MachineId, RunId, TaskId, Time};
use std::collections::BTreeMap;

pub(crate) fn check(rows: &[StoredRow], saved: &[(Seq, Vec<u8>)]) -> Result<(), String> {
    let entries = rows.iter().map(|stored| {
        let fact = serde_json::from_str(&stored.row.body).map_err(|error| error.to_string())?;
        Ok((stored.seq, Entry { at: stored.row.at, fact }))
    });
    let entries: Vec<(Seq, Entry)> = entries.collect::<Result<_, String>>()?;
    let mut ledger = Ledger::new();
    let mut told_of_all: Vec<Vec<Told>> = Vec::new();
    let mut saved = saved.iter().peekable();
    for ((seq, entry), stored) in entries.iter().zip(rows) {
        let said = ledger.replay(entry).map_err(|error| format!("row {seq}: {error}"))?;
        let kept = steps(&stored.row).map_err(|error| format!("row {seq}: {error}"))?;
        if kept != said {
            return Err(format!("row {seq} says {kept:?}, and the ledger {said:?}"));
        }
        told_of_all.push(said);
        spending(&ledger, entry.at).map_err(|broken| format!("row {seq}: {broken}"))?;
        while let Some((at, body)) = saved.next_if(|(at, _)| at <= seq) {
            if at == seq && *body != ledger.save() {
                return Err(format!("at row {seq} the journal leads elsewhere than the coordinator was"));
            }
        }
    }
    let mut next = 0;
    for (_, entry) in &entries {
        let Fact::JobSubmitted { spec, .. } = &entry.fact else { continue };
        let tasks = next..next + spec.tasks.count() as usize;
        next = tasks.end;
        tasks.map(TaskId::new).try_for_each(|task| told(&ledger, &told_of_all, task))?;
    }
    let report = verify(Before::default(), entries).map_err(|mismatch| mismatch.to_string())?;
    if report.facts == rows.len() as u64 { Ok(()) } else { Err(format!("{report:?}")) }
}

/// Decided again from where a compacted journal begins, each decision is the one that was made.
pub(crate) fn check_from_beginning(disk: &MemoryDisk) -> Result<(), String> {
    let facts: Result<Vec<_>, _> = entries(disk, Seq::FIRST).collect();
    let facts = facts.map_err(|error| error.to_string())?;
    let before = Before::of(disk).map_err(|error| error.to_string())?;
    verify(before, facts).map(drop).map_err(|mismatch| mismatch.to_string())
}

/// What the journal keeps of a task's life ends where the ledger has it, with the runs that it has.
fn told(ledger: &Ledger, steps: &[Vec<Told>], task: TaskId) -> Result<(), String> {
    let (mut phase, mut begun) = (None, BTreeMap::new());
    for told in steps.iter().flatten().filter(|told| told.tasks.contains(task)) {
        phase = Some(told.phase);
        match (told.step, told.run) {
            (Step::Started, Some((run, on))) => drop(begun.insert(run, on)),
            (Step::Ended(_) | Step::Wasted | Step::Refused | Step::Lost(_), Some((run, _))) => {
                begun.remove(&run);
            }
            (step, None) if step == Step::Started => return Err(format!("{task}: {step:?} without a run")),
            _ => {}
        }
    }
    let known = ledger.grid().runs_of(task).filter(|run| run.goes_on());
    let known: BTreeMap<RunId, MachineId> = known.map(|run| (run.id(), run.on())).collect();
    let running = ledger.grid().runs_of(task).filter(|run| run.stage() == Stage::Running);
    let is_told = running.into_iter().all(|run| begun.contains_key(&run.id()));
    if phase == Some(ledger.record(task).phase)
        && is_told
        && begun.iter().all(|run| known.get(run.0) == Some(run.1))
    {
        return Ok(());
    }
    let phases = (phase, ledger.record(task).phase);
    Err(format!("{task} is told as {phases:?} with {begun:?}, and the books have {known:?}"))
}

fn spending(ledger: &Ledger, at: Time) -> Result<(), String> {
    let Some(accounts) = ledger.grid().accounts() else { return Ok(()) };
    let recharge = accounts.budget().recharge;
    for (payer, account) in accounts.used() {
        let (spent, held, left) = (account.spent(at), account.held(), account.left(at));
        // A smaller budget leaves what is held and spent already as it is.
        let is_over = spent + held > recharge && left > Credits::ZERO;
        if is_over || (spent + held <= recharge && spent + held + left != recharge) {
            return Err(format!("{payer}: {spent} spent, {held} held and {left} left of {recharge}"));
        }
    }
    Ok(())
}
