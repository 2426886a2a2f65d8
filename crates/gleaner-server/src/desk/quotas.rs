//! Whether a user may have more.

use super::Desk;
use super::admission::{Rejection, RejectionKind};
use super::order::Requester;
use gleaner_wire::api::Role;
use gleaner_wire::job::JobSpec;

impl Desk {
    /// Whether somebody may submit such a job as things stand, whatever files it needs.
    pub fn check_room(&self, by: &Requester, spec: &JobSpec) -> Result<(), Rejection> {
        let (user, tasks) = (by.user.as_str(), spec.tasks.count());
        self.check_numbers(user, tasks)?;
        self.check_quota(user, tasks)?;
        self.check_priority(by, user, spec)?;
        self.check_requirements(user, spec)?;
        self.check_descriptions(user, spec)?;
        self.check_comparing(spec)
    }

    /// Whether there are numbers for so many tasks more, and a user may have them: none is given a second time.
    pub(super) fn check_numbers(&self, user: &str, more: u32) -> Result<(), Rejection> {
        let left = u32::MAX as usize - self.ledger.task_count();
        if more as usize > left {
            let message = format!(
                "this grid has had {} tasks, and can number {left} more: have an administrator begin another one in an empty folder \
                 (`gleaner serve --home`); what this one has can be asked for as before",
                self.ledger.task_count()
            );
            return Err(Rejection::of(RejectionKind::Conflict, message));
        }
        let (most, ever) = (self.ledger.people().quota(user).tasks_ever, self.ledger.tasks_ever(user));
        if ever + u64::from(more) <= most {
            return Ok(());
        }
        let message = format!(
            "{user} has submitted {ever} tasks so far, and {more} more would be above the quota of {most} in all; ask an administrator \
             for more (`gleaner quota set --user {user} --tasks-ever N`)"
        );
        Err(Rejection::of(RejectionKind::Quota, message))
    }

    /// Whether a user may have so many tasks more that are not over.
    pub(super) fn check_quota(&self, user: &str, more: u32) -> Result<(), Rejection> {
        let (most, open) = (self.ledger.people().quota(user).tasks, self.ledger.open_tasks(user));
        if open + u64::from(more) <= most {
            return Ok(());
        }
        Err(Rejection::of(
            RejectionKind::Quota,
            format!(
                "{user} has {open} tasks that are not over, and {more} more would be above the quota of {most}; wait \
                 until some are over, or ask an administrator for more (`gleaner quota set --user {user} --tasks N`)"
            ),
        ))
    }

    /// Whether whoever asks may have a user's job run with its priority.
    pub(super) fn check_priority(&self, by: &Requester, user: &str, spec: &JobSpec) -> Result<(), Rejection> {
        let most = self.ledger.people().quota(user).priority.filter(|_| by.role != Role::Admin);
        let Some(most) = most.filter(|most| spec.priority > *most) else { return Ok(()) };
        let priority = spec.priority;
        Err(Rejection::of(
            RejectionKind::Quota,
            format!(
                "the priority of the job is {priority}, and {user} may give {most} at most; a job keeps its priority, also when it is \
                 run again: submit it with a lower one (`gleaner submit --priority={most}`, or `priority = {most}` in its file), or ask \
                 an administrator for more (`gleaner quota set --user {user} --priority N`)"
            ),
        ))
    }

    /// Whether a user may have so many bytes of requirements more.
    pub(super) fn check_requirements(&self, user: &str, spec: &JobSpec) -> Result<(), Rejection> {
        let most = self.ledger.people().quota(user).requirement_bytes;
        let (used, more) =
            (self.ledger.requirement_bytes_of(user), self.ledger.more_requirement_bytes(user, spec));
        if more == 0 || used + more <= most {
            return Ok(());
        }
        Err(Rejection::of(
            RejectionKind::Quota,
            format!(
                "requirements, ranks and labels of {user}'s jobs that are not over take {used} bytes, and {more} more would be \
                 above the quota of {most}; let jobs have the same ones, wait until some are over, or ask an administrator for more \
                 (`gleaner quota set --user {user} --requirements BYTES`)"
            ),
        ))
    }

    /// Whether the description of one more job of a user's that is not over may be in memory.
    pub(super) fn check_descriptions(&self, user: &str, spec: &JobSpec) -> Result<(), Rejection> {
        let most = self.ledger.people().quota(user).description_bytes;
        let (used, more) = (self.ledger.description_bytes_of(user), spec.memory_bytes());
        if used + more <= most {
            return Ok(());
        }
        Err(Rejection::of(
            RejectionKind::Quota,
            format!(
                "descriptions of {user}'s jobs that are not over (commands, variables, tables, lists of files) take {used} bytes of memory \
                 here, and {more} more would be above the quota of {most}; wait until some are over, put what is long into input files, \
                 or ask an administrator for more (`gleaner quota set --user {user} --descriptions BYTES`)"
            ),
        ))
    }

    /// Whether so much more may be kept for a user.
    pub(super) fn check_bytes(&self, user: &str, more: u64) -> Result<(), Rejection> {
        match self.ledger.people().quota(user).check_bytes(user, self.ledger.bytes_of(user), more) {
            Ok(()) => Ok(()),
            Err(above) => Err(Rejection::of(RejectionKind::Quota, above.to_string())),
        }
    }
}
