//! The job or task that somebody asks about, if it is theirs.

use super::refusal::Refusal;
use crate::desk::Requester;
use crate::ledger::Job;
use crate::view::Known;
use gleaner_units::TaskId;
use gleaner_wire::JobId;
use std::borrow::Cow;

/// A job of the caller's, or any for an administrator.
pub(super) fn own_job<'a>(known: &Known<'a>, by: &Requester, id: JobId) -> Result<Cow<'a, Job>, Refusal> {
    let job = known.job(id)?.filter(|job| by.role.sees_all() || job.user == by.user);
    job.ok_or_else(|| {
        let keeping = known.desk().terms().keeping;
        // What neither lives nor is in the store was removed, or never there.
        Refusal::not_found(match keeping.records.filter(|_| id < known.ledger().next_job()) {
            Some(kept_for) => format!(
                "no job {id} of yours is known; see `gleaner status`. What is known of a job is removed {:.1} days after its end \
                 (--keep-for)",
                kept_for.seconds() / 86_400.0
            ),
            None => format!("no job {id} of yours; see `gleaner status`"),
        })
    })
}

/// The task that its users call so, if its job is the caller's; and that.
pub(super) fn own_task<'a>(
    known: &Known<'a>,
    by: &Requester,
    id: JobId,
    number: u32,
) -> Result<(Cow<'a, Job>, TaskId), Refusal> {
    let job = own_job(known, by, id)?;
    let found = job.task(number);
    let found = found.ok_or_else(|| Refusal::not_found(format!("job {id} has no task {number}")))?;
    Ok((job, found))
}
