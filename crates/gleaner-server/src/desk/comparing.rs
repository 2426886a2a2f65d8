//! Whether answers of several machines can be compared, as jobs and the policy ask.

use super::Desk;
use super::admission::{Rejection, RejectionKind};
use gleaner_policy::PolicySpec;
use gleaner_units::TaskId;
use gleaner_wire::job::JobSpec;

impl Desk {
    /// What is being compared, or a user wants compared, goes on under whatever policy; and what cannot be compared is not.
    pub(super) fn check_goes_on_comparing(&self, policy: &PolicySpec) -> Result<(), Rejection> {
        let mut open = self.ledger.jobs().filter(|(_, job)| job.tally.open() > 0);
        if policy.checking().is_some()
            && let Some((id, job)) = open.find(|(_, job)| job.spec.checkpoint.exit_code.is_some())
            && let Some(code) = job.spec.checkpoint.exit_code
        {
            let message = format!(
                "job {id} asks with exit code {code} to be run again, and {} has answers compared, each one machine's from its beginning: \
                 it would never end; wait for such jobs, or cancel them",
                policy.name()
            );
            return Err(Rejection::of(RejectionKind::Conflict, message));
        }
        let Err(why) = policy.recipe().check_comparing() else { return Ok(()) };
        let mut asking = self.ledger.jobs().filter(|(_, job)| job.spec.quorum > 1 && job.tally.open() > 0);
        // What was cancelled is compared with nothing more; if it is to run again, that is asked again.
        let is_open = |task: &TaskId| !self.ledger.record(*task).phase.is_over();
        let lasting = self.ledger.grid().comparisons().filter(|(_, so_far)| so_far.outlasts_rules());
        let compared = lasting.map(|(task, _)| task).find(is_open);
        let compared = compared.map(|task| self.ledger.job_of(task).0);
        match asking.next().map(|(id, _)| id).or(compared) {
            None => Ok(()),
            Some(job) => {
                let message = format!(
                    "job {job} has tasks that several machines have to answer alike, and {} makes no copies for that: {why}; wait \
                     for such jobs, or cancel them",
                    policy.name()
                );
                Err(Rejection::of(RejectionKind::Conflict, message))
            }
        }
    }

    /// Whether the policy in force has several machines answer, where a job asks for that; and whether a job can be one that
    /// several answer, where the policy asks for that.
    pub(super) fn check_comparing(&self, spec: &JobSpec) -> Result<(), Rejection> {
        let policy = self.ledger.policy();
        if spec.quorum > 1
            && let Err(why) = policy.recipe().check_comparing()
        {
            let message = format!(
                "quorum is {}, and the policy in force, {}, makes no copies for that: {why}; submit it without a quorum, or have \
                 an administrator set another policy",
                spec.quorum,
                policy.name()
            );
            return Err(Rejection::of(RejectionKind::Conflict, message));
        }
        if let (Some(_), Some(code)) = (policy.checking(), spec.checkpoint.exit_code) {
            let message = format!(
                "checkpoint.exit_code is {code}, and the policy in force has answers compared, each one machine's from its \
                 beginning: a program that asks to be run again would never end; have it go on by itself"
            );
            return Err(Rejection::of(RejectionKind::Conflict, message));
        }
        Ok(())
    }
}
