//! `gleaner journal compact`: drops the rows of jobs that were forgotten.

use super::folder::{fault, with_journal};
use crate::cli::JournalCompactArguments;
use crate::columns::{plural, rough_size};
use crate::failure::Failure;
use crate::{Outcome, moments, stdout};
use gleaner_server::compacting::{Plan, compact, plan};
use gleaner_server::store::{DATABASE, SqliteStore, Store as _};
use gleaner_units::Time;
use serde_json::json;
use std::fs;
use std::time::SystemTime;

pub(super) fn run(JournalCompactArguments { before, yes, of }: &JournalCompactArguments) -> Outcome {
    let home = with_journal(of)?;
    let mut store = SqliteStore::open(&home)?;
    let before = before.map_or_else(a_month_ago, |at_s| Time::from_seconds(at_s).unwrap_or(Time::ZERO));
    let plan = plan(&*store.reader().map_err(fault)?, before).map_err(fault)?;
    let plan = plan.filter(|plan| plan.rows_dropped > 0);
    let size = || fs::metadata(home.folder().join(DATABASE)).map_or(0, |file| file.len());
    let was = size();
    let mut unshrunk = None;
    if let Some(plan) = plan.as_ref().filter(|_| *yes) {
        compact(&mut store, plan).map_err(fault)?;
        unshrunk = store.shrink().err();
    }
    drop(store);
    let is_done = *yes && plan.is_some();
    if of.json {
        return stdout::print_json(&json!({
            "version": 1,
            "rows": plan.as_ref().map(|plan| plan.rows),
            "rows_dropped": plan.as_ref().map_or(0, |plan| plan.rows_dropped),
            "upto": plan.as_ref().map(|plan| plan.at().number()),
            "compacted": is_done,
            "bytes_before": was,
            "bytes": size(),
        }));
    }
    let Some(plan) = plan else {
        return stdout::print(
            "No row before that moment is of no use any more: there is nothing to compact.\n",
        );
    };
    stdout::print(if is_done { done(&plan, was, size()) } else { would(&plan, was) })?;
    unshrunk.map_or(Ok(()), |error| {
        let why = format!(
            "the rows are dropped, but the file is as large as it was ({error}). New rows take the room that is free in it; \
             `sqlite3 gleaner.db VACUUM` gives it back to the disk, while the coordinator is stopped"
        );
        Err(Failure::Coordinator(why))
    })
}

fn a_month_ago() -> Time {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Time::from_seconds(now.as_secs_f64() - 30.0 * 86_400.0).unwrap_or(Time::ZERO)
}

fn would(plan: &Plan, size: u64) -> String {
    let Plan { rows, rows_dropped, bytes_dropped, jobs_forgotten, .. } = plan;
    let base_bytes = plan.base_bytes();
    let grows = if base_bytes < *bytes_dropped { "" } else { ": the file may grow rather than shrink" };
    format!(
        "{} of {rows} rows would be dropped, with {} of text (the journal's file has {}):\n  \
         of what was before {}, the rows of {} and what machines reported\n\
         A state of {} would take their place{grows}.\n\
         What is known of other jobs stays, with their histories and output, and so does the audit trail.\n\
         explain --at, replay and verify then begin at row {}. `gleaner journal export` writes all rows to a file first.\n\
         Nothing was changed. To do it, say it again with --yes.\n",
        rows_dropped,
        rough_size(*bytes_dropped),
        rough_size(size),
        moments::clock(plan.moment.seconds()),
        plural(*jobs_forgotten, "forgotten job"),
        rough_size(base_bytes),
        plan.at().next(),
    )
}

fn done(plan: &Plan, was: u64, is: u64) -> String {
    format!(
        "{} of {} rows were dropped; the journal begins behind row {}, of {}.\nIts file has {} (before: {}).\n",
        plan.rows_dropped,
        plan.rows,
        plan.at(),
        moments::clock(plan.moment.seconds()),
        rough_size(is),
        rough_size(was),
    )
}
