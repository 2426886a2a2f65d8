//! What an agent is told to run: a job's description with one task's parameters filled in.

use crate::ledger::Ledger;
use gleaner_wire::job::{Input, fill_in};
use gleaner_wire::session::{Attempt, Run};

/// # Panics
/// For a task that no job has.
pub(super) fn of(ledger: &Ledger, attempt: Attempt) -> Run {
    let (id, job) = ledger.job_of(attempt.task);
    let spec = &job.spec;
    let parameters = spec.tasks.parameters(job.position(attempt.task));
    let fill = |text: &String| fill_in(text, &parameters);
    let mut env: std::collections::BTreeMap<String, String> =
        parameters.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    env.extend(spec.env.iter().map(|(name, value)| (name.clone(), fill(value))));
    Run {
        attempt,
        name: format!("{id}/{}", job.number(attempt.task)),
        user: job.user.clone(),
        label: spec.label.clone(),
        command: spec.command.iter().map(fill).collect(),
        env,
        cwd: spec.cwd.as_ref().map(fill),
        stdin: spec.stdin.clone(),
        inputs: spec.inputs.iter().map(|input| Input { path: fill(&input.path), ..input.clone() }).collect(),
        outputs: spec.outputs.iter().map(fill).collect(),
        needs: spec.needs.clone(),
        checkpoint: spec.checkpoint.clone(),
        resume_from: ledger.record(attempt.task).checkpoint.clone(),
        confinement: spec.confinement,
    }
}
