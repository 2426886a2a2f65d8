//! What came of a run of peers, in numbers.

use crate::simulate::compare::{Measure, Measured, Metric};
use crate::simulate::service::ServiceSummary;
use gleaner_sim::peers::{PeersOutcome, PeersSetup};
use gleaner_units::{Ops, Time};
use gleaner_workload::PeersScenario;
use gleaner_workload::swf::{Served, Services};
use serde::Serialize;

const JOULES_PER_KWH: f64 = 3.6e6;

/// What came of a run.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Summary {
    pub(super) version: u32,
    pub(super) policy: String,
    pub(super) rule: String,
    pub(super) seed: u64,
    pub(super) peers: usize,
    pub(super) workers: usize,
    pub(super) jobs: usize,
    /// Jobs that did not end.
    pub(super) unfinished: usize,
    pub(super) tasks: u64,
    /// Of jobs: each begins with the first of its tasks, and ends with the last.
    #[serde(flatten)]
    pub(super) service: ServiceSummary,
    /// The time of a task on its worker.
    pub(super) task_mean_s: Option<f64>,
    /// The part of the tasks that ended on another peer's worker.
    pub(super) remote_share: f64,
    /// The standard deviation of the time that workers ran something, relative to its mean.
    pub(super) load_deviation: f64,
    /// Runs that were stopped where they were.
    pub(super) stopped: u64,
    /// Runs that failed.
    pub(super) failed: u64,
    /// What workers took while they ran something.
    pub(super) energy_kwh: f64,
    pub(super) makespan_s: Option<f64>,
    /// Letters that crossed others.
    pub(super) late: u64,
    /// Letters that made no sense.
    pub(super) refused: u64,
}

impl Measured for Summary {
    fn measures(&self) -> Vec<Measure> {
        let own = [
            Metric::of("task_mean_s", "s", 1, self.task_mean_s),
            Metric::of("makespan_s", "s", 0, self.makespan_s),
            Metric::of("remote_share", "", 3, self.remote_share),
            Metric::of("load_deviation", "", 3, self.load_deviation),
            Metric::of("stopped", "runs", 1, self.stopped as f64),
            Metric::of("failed", "runs", 1, self.failed as f64),
            Metric::of("energy_kwh", "kWh", 3, self.energy_kwh),
            Metric::of("unfinished", "jobs", 1, self.unfinished as f64),
        ];
        self.service.measures().into_iter().chain(own).collect()
    }
}

pub(super) fn summary(
    (scenario, setup): (&PeersScenario, &PeersSetup),
    seed: u64,
    came: &PeersOutcome,
    until: Time,
) -> Summary {
    let ended = came.ended.iter().flatten().count();
    let busy_s: f64 = came.busy_s.iter().sum();
    let cores = |site: &gleaner_sim::peers::Site| {
        site.workers.iter().map(|kind| f64::from(setup.machine_classes[kind.index()].cores)).sum::<f64>()
    };
    let first = setup.jobs.iter().map(|job| job.submitted).min().unwrap_or_default();
    let all_s = until.since(first).seconds() * setup.peers.iter().map(cores).sum::<f64>();
    let share = |part: f64, all: f64| if all > 0.0 { part / all } else { 0.0 };
    Summary {
        version: 1,
        policy: scenario.policy.clone(),
        rule: scenario.recipe.to_string(),
        seed,
        peers: setup.peers.len(),
        workers: came.busy_s.len(),
        jobs: setup.jobs.len(),
        unfinished: setup.jobs.len() - ended,
        tasks: came.tasks,
        service: ServiceSummary::of(
            &Services::of(&served(setup, came), 1),
            share(came.lost_s, busy_s),
            "peers",
        )
        .with_utilisation(share(busy_s, all_s)),
        task_mean_s: (came.tasks > 0).then(|| came.mean_task_s()),
        remote_share: share(came.remote as f64, came.tasks as f64),
        load_deviation: if busy_s > 0.0 { came.load_deviation() } else { 0.0 },
        stopped: came.stopped,
        failed: came.failed,
        energy_kwh: came.energy_j / JOULES_PER_KWH,
        makespan_s: (came.tasks > 0).then(|| came.makespan.seconds()),
        late: came.late,
        refused: came.refused,
    }
}

/// The jobs that ended. Alone, one takes as long as its longest task does on the fastest worker.
fn served(setup: &PeersSetup, came: &PeersOutcome) -> Vec<Served> {
    let fastest = setup.machine_classes.iter().map(|class| class.speeds[0]).fold(0.0, f64::max);
    let mut lengths = setup.lengths.iter();
    let jobs = setup.jobs.iter().zip(&came.ended).zip(&came.started);
    let served = jobs.filter_map(|((job, ended), started)| {
        let own = lengths.by_ref().take(job.tasks as usize);
        let longest = own.map(|length| Ops::amount(*length)).fold(0.0, f64::max);
        let ((submit, end), start) = ((*ended)?, (*started)?);
        Some(Served {
            submit,
            start,
            run: end.since(start),
            alone_s: setup.weights[0] * longest / fastest,
            processors: 1,
            user: Some(job.peer.index() as u64),
        })
    });
    served.collect()
}
