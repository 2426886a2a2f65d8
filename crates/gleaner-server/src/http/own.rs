//! The job that somebody asks about, if it is theirs.

use super::refusal::Refusal;
use crate::desk::{Desk, Requester};
use crate::ledger::Job;
use gleaner_wire::JobId;

/// A job of the caller's, or any for an administrator.
pub(super) fn own_job<'a>(desk: &'a Desk, by: &Requester, id: JobId) -> Result<&'a Job, Refusal> {
    let job = desk.ledger().find_job(id).filter(|job| by.role.sees_all() || job.user == by.user);
    job.ok_or_else(|| Refusal::not_found(format!("no job {id} of yours; see `gleaner status`")))
}
