//! The job or task that somebody asks about, if it is theirs.

use super::looking::NotSeen;
use super::refusal::Refusal;
use gleaner_server::desk::Requester;
use gleaner_server::ledger::Job;
use gleaner_server::moments::long;
use gleaner_server::view::Known;
use gleaner_units::TaskId;
use gleaner_wire::JobId;
use std::borrow::Cow;

/// A job of the caller's, or any for an administrator. What was asked for with it may be long, and is read too.
pub(super) fn own_job<'a>(known: &Known<'a>, by: &Requester, id: JobId) -> Result<Cow<'a, Job>, NotSeen> {
    own(known, by, (id, known.job(id)?))
}

/// The same; of what was asked for with a job that left memory there is command, name and label.
pub(super) fn own_listed<'a>(known: &Known<'a>, by: &Requester, id: JobId) -> Result<Cow<'a, Job>, NotSeen> {
    own(known, by, (id, known.listed(id)?))
}

fn own<'a>(
    known: &Known<'a>,
    by: &Requester,
    (id, found): (JobId, Option<Cow<'a, Job>>),
) -> Result<Cow<'a, Job>, NotSeen> {
    let job = found.filter(|job| by.role.sees_all() || job.user == by.user);
    job.ok_or_else(|| {
        // The same words for what never was, what was removed, and what is another's.
        let removed = known.desk().terms().keeping.records.map_or_else(String::new, |kept_for| {
            format!(". What is known of a job is removed {} after its end (--keep-for)", long(kept_for))
        });
        Refusal::not_found(format!("no job {id} of yours; see `gleaner status`{removed}")).into()
    })
}

/// The task that its users call so, if its job is the caller's; and that.
pub(super) fn own_task<'a>(
    known: &Known<'a>,
    by: &Requester,
    id: JobId,
    number: u32,
) -> Result<(Cow<'a, Job>, TaskId), NotSeen> {
    let job = own_job(known, by, id)?;
    let found = job.task(number).ok_or_else(|| Refusal::not_found(job.has_no_task(id, number)))?;
    Ok((job, found))
}
