//! Peers that lend each other workers: what a job costs when peers multiply, each with as much to do as before.

use crate::processor_seconds;
use gleaner_core::{MachineClass, TaskClass};
use gleaner_policy::{Choose, Peering, Recipe, Score};
use gleaner_sim::peers::{Job, PeersSetup, Site, peers};
use gleaner_units::{MachineClassId, Ops, PartyId, TaskClassId, Time};

/// From ten peers to a thousand.
pub const PEERS: [usize; 3] = [10, 100, 1_000];

/// Of workers, in turn.
const SPEEDS: [f64; 5] = [500.0, 1_000.0, 1_300.0, 1_500.0, 2_400.0];
/// Workers of a peer, in turn: thirty on average.
const WORKERS: [usize; 4] = [8, 16, 32, 64];
const LENGTH: f64 = 1e6;
const LOAD: f64 = 0.5;

/// So many peers, each with so many jobs of one task.
pub fn setup(count: usize, jobs_a_peer: usize) -> PeersSetup {
    let class = |speed: f64| MachineClass::plain(vec![speed], 1);
    let task = TaskClass { restarts: true, ..TaskClass::plain(vec![1.0]) };
    let site = |peer: usize| Site {
        workers: (0..WORKERS[peer % 4]).map(|at| MachineClassId::new((peer + at) % SPEEDS.len())).collect(),
    };
    let sites: Vec<Site> = (0..count).map(site).collect();
    let kinds = sites.iter().flat_map(|site| &site.workers);
    let power: f64 = kinds.map(|kind| SPEEDS[kind.index()]).sum();
    let jobs = count * jobs_a_peer;
    let between_s = LENGTH / (LOAD * power);
    let job = |number: usize| Job {
        submitted: Time::from_seconds(between_s * number as f64).expect("a moment"),
        // In no order, and each as often as another.
        peer: PartyId::new(number * 7 % count),
        broker: 0,
        class: TaskClassId::FIRST,
        tasks: 1,
        after: None,
    };
    let length =
        |number: usize| Ops::new(LENGTH * (0.25 + (number * 31 % 16) as f64 / 10.0)).expect("above 0");
    PeersSetup {
        seed: 1,
        weights: vec![1.0],
        machine_classes: SPEEDS.map(class).to_vec(),
        task_classes: vec![task],
        peers: sites,
        jobs: (0..jobs).map(job).collect(),
        lengths: (0..jobs).map(length).collect(),
        ..PeersSetup::default()
    }
}

/// Greedy, with the Network of Favours.
pub fn greedy() -> Recipe {
    Recipe { choose: Choose::BestLatest, peering: Some(Peering::default()), ..Recipe::by(Score::Power) }
}

/// Seconds for each job of a whole run.
///
/// # Panics
/// Where a task did not end: the setup is of this module.
pub fn seconds_per_job(setup: &PeersSetup, recipe: Recipe) -> f64 {
    let took = processor_seconds(|| {
        let mut run = peers(setup, |_| recipe.build());
        run.run();
        assert_eq!(run.outside().tasks_left(), 0, "every task ends");
    });
    took / setup.jobs.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_ends() {
        assert!(seconds_per_job(&setup(10, 20), greedy()) >= 0.0);
    }
}
