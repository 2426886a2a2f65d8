//! What agents may send of what runs leave.

use super::Desk;
use gleaner_core::Run;
use gleaner_units::{MachineId, RunId, Time};
use gleaner_wire::limits::BLOB_BYTES_MAX;
use std::collections::BTreeSet;

impl Desk {
    /// How many bytes an agent may still send; none if it has no run whose end is awaited. For the files that its runs leave it is what
    /// the quotas of their users allow, and for each checkpoint, which is kept in any case, as much as a file may have. What it
    /// has sent and no end of a run has named yet is a part of that.
    pub fn may_send(&self, agent: MachineId, now: Time) -> Option<u64> {
        let session = self.sessions.get(self.by_agent.get(&agent)?)?;
        // After its lease ended it is not told to run what it brings.
        let runs = self.ledger.live_on(agent).map(Run::id).chain(session.had.iter().copied());
        let awaited: BTreeSet<RunId> = runs.filter(|&run| self.ledger.is_awaited(run, agent)).collect();
        if awaited.is_empty() {
            return None;
        }
        let sent = self.stored.get(&agent).map_or(0, |uploads| uploads.bytes(now));
        let checkpoints = awaited.iter().filter(|run| self.ledger.job_of(run.task).1.spec.checkpoint.folder);
        let checkpoints = BLOB_BYTES_MAX.saturating_mul(checkpoints.count() as u64);
        Some(self.ledger.bytes_left_for(&awaited).saturating_add(checkpoints).saturating_sub(sent))
    }
}
