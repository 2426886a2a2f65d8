//! What the world says of itself.

use super::PeersWorld;
use crate::peers::results::PeersOutcome;
use crate::peers::setup::Absence;
use crate::peers::workers::{Ran, Worker};
use crate::refused::Refused;
use gleaner_units::Time;

impl PeersWorld<'_> {
    /// What came of it so far.
    pub fn outcome(&self) -> PeersOutcome {
        let workers = &self.state.workers.all;
        let busy_s = workers.iter().map(|worker| worker.busy_s).collect();
        let watts = |worker: &Worker| self.setup.machine_classes[worker.class.index()].watts();
        let energy_j =
            workers.iter().map(|worker| worker.busy_s * watts(worker) / f64::from(worker.cores)).sum();
        PeersOutcome { busy_s, energy_j, lost_s: self.state.workers.lost_s, ..self.state.outcome.clone() }
    }

    /// What peers sent that made no sense, up to [`REFUSED_MAX`](crate::REFUSED_MAX) of it.
    pub fn refused(&self) -> &[Refused] {
        self.state.refused.kept()
    }

    /// The first [`RUNS_KEPT_MAX`](crate::peers::RUNS_KEPT_MAX) runs that are over, each with the number of its job.
    pub fn ran(&self) -> impl Iterator<Item = (Ran, usize)> + '_ {
        let job = |ran: &Ran| self.state.desks[ran.party.index()].tasks[ran.run.task.index()].1;
        self.state.workers.ran.iter().map(move |ran| (*ran, job(ran) as usize))
    }

    /// When peers are away, as far as that was drawn yet.
    pub fn absences(&self) -> &[Absence] {
        &self.state.absences
    }

    /// When the last task ended that did.
    pub fn last_end(&self) -> Time {
        self.state.outcome.makespan
    }

    /// Tasks that were not done yet.
    pub fn tasks_left(&self) -> u64 {
        self.state.tasks_left
    }

    /// Asserts that the desks' books and the workers agree. Costs O(workers).
    pub fn check(&self) -> Result<(), String> {
        for desk in &self.state.desks {
            desk.check()?;
        }
        for (index, worker) in self.state.workers.all.iter().enumerate() {
            let desk = &self.state.desks[worker.owner.index()];
            let listed = desk.lent.iter().find(|(_, lent)| lent.machine == worker.machine);
            if listed.map(|(loan, lent)| (lent.to, *loan)) != worker.loan {
                return Err(format!("worker {index} is lent otherwise than its peer has it"));
            }
            if !self.state.workers.is_whole(index) {
                return Err(format!("worker {index} runs what it should not"));
            }
        }
        Ok(())
    }
}
