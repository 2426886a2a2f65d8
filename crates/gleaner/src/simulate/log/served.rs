//! The jobs of a log as they ran.

use gleaner_sim::History;
use gleaner_units::Time;
use gleaner_workload::LogExperiment;
use gleaner_workload::swf::Served;

/// The jobs that ended, in the order of the kept ones.
pub(super) fn served(experiment: &LogExperiment, history: &History) -> Vec<Served> {
    let jobs = experiment.kept.jobs.iter().zip(history.tasks());
    let ended = jobs.filter(|(_, task)| task.finished != Time::NEVER);
    ended
        .map(|(job, task)| Served {
            submit: job.submit,
            start: task.started,
            run: task.finished - task.started,
            alone_s: (task.finished - task.started).seconds(),
            processors: job.processors,
            user: job.user,
        })
        .collect()
}
