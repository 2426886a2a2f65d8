//! Queues on real logs: job by job as their references have it, and as others ran them.

mod batsim;
mod published;
mod references;

use gleaner_policy::{Lengths, PolicySpec, Tree};
use gleaner_sim::Simulation;
use gleaner_units::Time;
use gleaner_workload::swf::{KeptJob, Log, Served};
use gleaner_workload::{LogExperiment, Reading};
use serde_json::json;

fn policy(preset: &str, keys: &[(&str, &str)]) -> PolicySpec {
    let mut tree = Tree::from_iter([("preset".to_owned(), json!(preset))]);
    tree.extend(keys.iter().map(|(key, value)| ((*key).to_owned(), json!(value))));
    PolicySpec::read(tree).expect("a policy")
}

/// The jobs as they ran, in order of submission, and what came of them.
fn run(log: &Log, cores: u32, policy: &PolicySpec, reading: Reading) -> (Vec<KeptJob>, Vec<Served>) {
    let LogExperiment { experiment, kept, .. } = LogExperiment::of(log, cores, policy, reading, 1);
    assert!(
        policy.recipe().lengths != Lengths::True || experiment.setup.tasks.declared.len() == kept.jobs.len()
    );
    let mut simulation = Simulation::new(&experiment.setup, experiment.recipe.build());
    simulation.run();
    let served = kept.jobs.iter().zip(simulation.history().tasks()).map(|(job, task)| {
        assert_ne!(task.finished, Time::NEVER, "job {} did not end", job.place);
        let run = task.finished - task.started;
        let (submit, start, alone_s) = (job.submit, task.started, run.seconds());
        Served { submit, start, run, alone_s, processors: job.processors, user: job.user }
    });
    let served = served.collect();
    (kept.jobs, served)
}
