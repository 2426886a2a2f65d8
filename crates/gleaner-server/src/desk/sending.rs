//! What agents may send of what runs leave.

use super::Desk;
use gleaner_core::Run;
use gleaner_units::{MachineId, RunId, Time};
use gleaner_wire::limits::BLOB_BYTES_MAX;
use std::collections::BTreeSet;

impl Desk {
    /// For whom what a run left counts, and how many bytes an agent may still send of that user's runs; nothing if the run's end is not
    /// awaited. For files it is what the user's quota allows, and for each checkpoint, which is kept in any case, as much as a file
    /// may have. What the agent has sent of these runs and no end has named yet is a part of that: **what others left there takes
    /// nothing from it**.
    pub fn may_send(&self, agent: MachineId, run: RunId, now: Time) -> Option<(&str, u64)> {
        let session = self.sessions.get(self.by_agent.get(&agent)?)?;
        if run.task.index() >= self.ledger.task_count() || !self.ledger.is_awaited(run, agent) {
            return None;
        }
        let user = self.ledger.job_of(run.task).1.user.as_str();
        // After its lease ended it is not told to run what it brings.
        let runs = self.ledger.live_on(agent).map(Run::id).chain(session.had.iter().copied());
        let is_theirs =
            |run: &RunId| self.ledger.is_awaited(*run, agent) && self.ledger.job_of(run.task).1.user == user;
        let awaited: BTreeSet<RunId> = runs.filter(is_theirs).chain([run]).collect();
        let sent = self.stored.get(&agent).map_or(0, |uploads| uploads.bytes(&user.to_owned(), now));
        let checkpoints = awaited.iter().filter(|run| self.ledger.job_of(run.task).1.spec.checkpoint.folder);
        let checkpoints = BLOB_BYTES_MAX.saturating_mul(checkpoints.count() as u64);
        let left = self.ledger.bytes_left_for(user, &awaited).saturating_add(checkpoints);
        Some((user, left.saturating_sub(sent)))
    }
}
