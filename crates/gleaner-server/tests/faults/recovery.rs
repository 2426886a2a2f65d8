//! What the journal leads to: replayed from its start it is, to the byte, what the living coordinators had, snapshots
//! between or not; each decision, made again, is the one that was made; and no account ever spends more than it has.

use gleaner_server::journal::{Entry, Fact};
use gleaner_server::ledger::{Ledger, Told};
use gleaner_server::life::Life;
use gleaner_server::recovery::entries;
use gleaner_server::store::MemoryDisk;
use gleaner_server::store::{Seq, StoredRow};
use gleaner_server::verify::{Before, verify};
use gleaner_units::{Credits, MachineId, RunId, TaskId, Time};
use gleaner_wire::api::TaskPhase;
use gleaner_wire::job::JobSpec;
use std::sync::Arc;

pub(crate) fn check(rows: &[StoredRow], saved: &[(Seq, Vec<u8>)]) -> Result<(), String> {
    let entries = rows.iter().map(|stored| {
        let fact = serde_json::from_str(&stored.row.body).map_err(|error| error.to_string())?;
        Ok((stored.seq, Entry { at: stored.row.at, fact }))
    });
    let entries: Vec<(Seq, Entry)> = entries.collect::<Result<_, String>>()?;
    let mut ledger = Ledger::new();
    let mut steps: Vec<Vec<Told>> = Vec::new();
    let mut saved = saved.iter().peekable();
    for (seq, entry) in &entries {
        steps.push(ledger.replay(entry).map_err(|error| format!("row {seq}: {error}"))?);
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
        tasks.map(TaskId::new).try_for_each(|task| told((&ledger, &steps), spec, task, rows))?;
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

/// What the rows about a task tell of it is what the ledger says and has, step by step.
fn told(
    (ledger, steps): (&Ledger, &[Vec<Told>]),
    spec: &Arc<JobSpec>,
    task: TaskId,
    rows: &[StoredRow],
) -> Result<(), String> {
    let mut life = Life::of(task, Arc::clone(spec));
    // That a machine on which it began was suspended then is told by no row about the task.
    let shown = |phase| if phase == TaskPhase::Suspended { TaskPhase::Running } else { phase };
    let said = |told: &Told| (told.step, shown(told.phase), told.run);
    for (stored, steps) in rows.iter().zip(steps) {
        let by_ledger = steps.iter().filter(|told| told.tasks.contains(task)).map(said).collect::<Vec<_>>();
        let is_listed = stored.row.tasks.iter().any(|range| range.contains(task));
        let by_life = if is_listed {
            let fact = serde_json::from_str(&stored.row.body).map_err(|error| error.to_string())?;
            life.take(stored.row.at, &fact).iter().map(said).collect()
        } else {
            Vec::new()
        };
        if by_ledger != by_life {
            let (seq, body) = (stored.seq, &stored.row.body);
            return Err(format!(
                "of {task}, row {seq} ({body}) says {by_life:?}, and the ledger {by_ledger:?}"
            ));
        }
    }
    let phases = [life.phase(), ledger.record(task).phase].map(shown);
    let mut live: Vec<(RunId, MachineId)> = life.live().collect();
    let runs = ledger.grid().runs_of(task).filter(|run| run.goes_on());
    let mut known: Vec<(RunId, MachineId)> = runs.map(|run| (run.id(), run.on())).collect();
    live.sort();
    known.sort();
    if phases[0] == phases[1] && live == known {
        return Ok(());
    }
    Err(format!("{task} is told as {phases:?} with {live:?}, and the books have {known:?}"))
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
