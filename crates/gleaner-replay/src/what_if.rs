//! The last day under another policy, for the coordinator's page.

use crate::{Figures, LeftOut, Past, Placed, Reading};
use gleaner_policy::PolicySpec;
use gleaner_server::recovery::{Recovered, RecoveryError, beginning, entries};
use gleaner_server::store::{Reader, Seq};
use gleaner_server::study::StudyError;
use gleaner_units::Time;
use gleaner_wire::VERSION;
use gleaner_wire::day::{PlacedView, ScheduleView, WhatIfView};
use gleaner_wire::limits::WHAT_IF_TASKS_MAX;

/// Of the tasks that came since a moment: how they went, and would have gone. Costs O(journal) and a simulation of each.
///
/// A compacted journal says nothing of tasks that came before it begins: then that is the moment, and the answer says so.
pub fn what_if(reader: &dyn Reader, since: Time, asked: &PolicySpec) -> Result<WhatIfView, StudyError> {
    let journal = |error: RecoveryError| StudyError::Journal(error.to_string());
    let Recovered { ledger, at: begins, .. } = beginning(reader).map_err(journal)?;
    let is_compacted = begins != Seq::NONE;
    let since = if is_compacted { since.max(ledger.now()) } else { since };
    let mut reading = Reading::since(ledger, since);
    for entry in entries(reader, begins.next()) {
        let (_, entry) = entry.map_err(journal)?;
        reading.read(&entry).map_err(|error| StudyError::Journal(error.to_string()))?;
    }
    let past = reading.end_since(since, WHAT_IF_TASKS_MAX);
    if past.tasks.is_empty() {
        let compacted = StudyError::NothingSince { at: begins };
        return Err(if is_compacted { compacted } else { StudyError::Nothing });
    }
    let (again, again_placed) = past.schedule_under(&past.policy);
    let (other, other_placed) = past.schedule_under(asked);
    let LeftOut { cancelled, unfinished, without_work } = past.left_out;
    Ok(WhatIfView {
        version: VERSION,
        since_s: since.seconds(),
        left_out: cancelled + unfinished + without_work,
        machines: past.machines.clone(),
        schedules: vec![
            schedule(&past, "as it was".to_owned(), past.was, &past.placed),
            schedule(&past, format!("simulated: {}", past.policy.recipe()), again, &again_placed),
            schedule(&past, format!("as asked: {}", asked.recipe()), other, &other_placed),
        ],
    })
}

fn schedule(past: &Past, name: String, went: Figures, placed: &[Option<Placed>]) -> ScheduleView {
    let at_s = |at: Time| past.begun.seconds() + at.seconds();
    let runs = past.tasks.iter().zip(placed).filter_map(|(&(job, task), placed)| {
        let Placed { on, from, to } = (*placed)?;
        Some(PlacedView { job, task, machine: on.index() as u32, from_s: at_s(from), to_s: at_s(to) })
    });
    ScheduleView {
        name,
        makespan_s: went.makespan_s,
        wait_mean_s: went.wait_mean_s,
        wait_max_s: went.wait_max_s,
        moves: went.moves,
        machine_s: went.machine_s,
        unfinished: went.unfinished,
        runs: runs.collect(),
    }
}
