//! What came of a run among peers.

use gleaner_units::{Span, Time};
use serde::{Deserialize, Serialize};

/// Sums over all peers.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct PeersOutcome {
    /// Jobs that ended.
    pub jobs: u64,
    /// Tasks that ended.
    pub tasks: u64,
    /// From when a job was handed in to the end of its last task, summed over jobs.
    pub job_response_s: f64,
    /// From when a task's job was handed in to its end, summed over tasks.
    pub task_response_s: f64,
    /// The time on its worker of what ended, summed over tasks.
    pub task_time_s: f64,
    /// Tasks that ended on another peer's worker.
    pub remote: u64,
    /// Runs that were stopped where they were.
    pub stopped: u64,
    /// Runs that failed.
    pub failed: u64,
    /// When the last task ended.
    pub makespan: Time,
    /// By worker, peer after peer: how long it ran something.
    pub busy_s: Vec<f64>,
    /// By peer.
    pub peers: Vec<PeerOutcome>,
    /// By job: when it came and when it ended, if it did.
    pub ended: Vec<Option<(Time, Time)>>,
    /// By job: when the first run of one of its tasks began, if any did.
    pub started: Vec<Option<Time>>,
    /// How long workers ran what was stopped.
    pub lost_s: f64,
    /// What workers took while they ran something, in joules: each its watts, by the part of its cores that did.
    pub energy_j: f64,
    /// Letters that were not acted on since they crossed others.
    pub late: u64,
    /// Letters that were refused.
    pub refused: u64,
}

/// Of one peer.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct PeerOutcome {
    /// Jobs that ended.
    pub jobs: u64,
    /// Tasks that ended.
    pub tasks: u64,
    /// Their tasks' time on workers, at whatever peer.
    pub used_s: f64,
    /// Of that, at other peers.
    pub received_s: f64,
    /// Time of its workers that others' finished tasks took.
    pub given_s: f64,
    /// Summed over jobs.
    pub job_response_s: f64,
}

impl PeersOutcome {
    /// The mean response of a job.
    pub fn mean_job_s(&self) -> f64 {
        self.job_response_s / self.jobs as f64
    }

    /// The mean time of a task on its worker.
    pub fn mean_task_s(&self) -> f64 {
        self.task_time_s / self.tasks as f64
    }

    /// The standard deviation of the time that workers ran something, relative to the mean.
    pub fn load_deviation(&self) -> f64 {
        let count = self.busy_s.len() as f64;
        let mean = self.busy_s.iter().sum::<f64>() / count;
        let squares: f64 = self.busy_s.iter().map(|busy| (busy - mean) * (busy - mean)).sum();
        (squares / count).sqrt() / mean
    }

    pub(super) fn finished(
        &mut self,
        (owner, lender): (usize, usize),
        (submitted, now): (Time, Time),
        (on_worker, computed): (Span, Span),
    ) {
        self.tasks += 1;
        self.task_response_s += now.since(submitted).seconds();
        self.task_time_s += on_worker.seconds();
        self.makespan = self.makespan.max(now);
        let peer = &mut self.peers[owner];
        peer.tasks += 1;
        peer.used_s += computed.seconds();
        if owner != lender {
            self.remote += 1;
            peer.received_s += computed.seconds();
            self.peers[lender].given_s += computed.seconds();
        }
    }

    pub(super) fn job_ended(&mut self, owner: usize, job: u32, (submitted, now): (Time, Time)) {
        let response = now.since(submitted);
        self.ended[job as usize] = Some((submitted, now));
        self.jobs += 1;
        self.job_response_s += response.seconds();
        self.peers[owner].jobs += 1;
        self.peers[owner].job_response_s += response.seconds();
    }
}
