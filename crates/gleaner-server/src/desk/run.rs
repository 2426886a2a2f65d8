//! What an agent is told to run: a job's description, of which one task's parameters are filled in when it leaves.

use crate::ledger::Ledger;
use gleaner_units::RunId;
use gleaner_wire::job::{Filled, JobSpec};
use gleaner_wire::limits::COMPARE_SECONDS_MAX;
use gleaner_wire::session::{Outcome, Run, Stored};
use gleaner_wire::task_folder::ANSWERS;
use gleaner_wire::{JobId, Lineage};
use std::sync::Arc;

/// An order to run a task, before its texts are filled in: a thousand of them share what their job says.
#[derive(Clone, PartialEq, Debug)]
pub struct RunOrder {
    /// Which run.
    pub run: RunId,
    job: JobId,
    user: String,
    spec: Arc<JobSpec>,
    position: u32,
    fails_at_limit: bool,
    resume_from: Option<Stored>,
    /// What it compares, if that is what it is to do.
    answers: Option<Result<[Option<Stored>; 2], String>>,
    /// It begins on its machine when that run is over.
    after: Option<RunId>,
    lineage: Lineage,
}

impl RunOrder {
    /// # Panics
    /// For a task that no job has.
    pub(super) fn of(ledger: &Ledger, run: RunId) -> Self {
        let (id, job) = ledger.job_of(run.task);
        Self {
            run,
            job: id,
            user: job.user.clone(),
            spec: Arc::clone(&job.spec),
            position: job.position(run.task),
            fails_at_limit: !ledger.may_go_on(run, &Outcome::TimedOut),
            // An answer is one machine's from its beginning.
            resume_from: ledger.record(run.task).checkpoint.clone().filter(|_| !ledger.is_compared(run)),
            answers: ledger.pair_of(run).map(|_| {
                let gone = || "the answers that it is to compare are not kept any more".to_owned();
                ledger.compared_by(run).ok_or_else(gone)
            }),
            after: ledger.grid().leader_of(run),
            lineage: ledger.lineage_of(run).expect("what the grid knows was ordered once"),
        }
    }

    /// As the agent gets it; an error says why it cannot be sent.
    pub fn filled_in(&self) -> Result<Run, String> {
        let spec = &self.spec;
        let Filled { command, env, cwd, inputs, outputs } = spec.filled_in(self.position)?;
        let mut run = Run {
            id: self.run,
            lineage: self.lineage,
            after: self.after,
            name: format!("{}/{}", self.job, spec.tasks.number(self.position)),
            user: self.user.clone(),
            label: spec.label.clone(),
            command,
            env,
            cwd,
            stdin: spec.stdin,
            inputs,
            outputs,
            needs: spec.needs.clone(),
            checkpoint: spec.checkpoint.clone(),
            fails_at_limit: self.fails_at_limit,
            resume_from: self.resume_from.clone(),
            answers: None,
            confinement: spec.confinement,
            signed: spec.signed.clone(),
        };
        if let Some(answers) = &self.answers {
            let answers = answers.as_ref().map_err(String::clone)?;
            run.command = spec.compare.iter().cloned().chain(ANSWERS.map(str::to_owned)).collect();
            run.answers = Some(Box::new(answers.clone()));
            (run.outputs, run.stdin) = (Vec::new(), None);
            let limit = run.needs.time_limit_s;
            run.needs.time_limit_s =
                if limit > 0.0 { limit.min(COMPARE_SECONDS_MAX) } else { COMPARE_SECONDS_MAX };
        }
        Ok(run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_units::{RunId, TaskId};
    use gleaner_wire::job::{Input, LENGTH, OwnInputs, TaskList};
    use gleaner_wire::limits::{FRAME_BYTES_MAX, ITEMS_MAX, ORDER_BYTES_MAX};
    use gleaner_wire::session::{ToAgent, encode};
    use std::collections::BTreeMap;

    fn order(spec: JobSpec) -> RunOrder {
        let run = RunId { task: TaskId::new(0), number: 1 };
        let (job, user) = (JobId(1), "ada".to_owned());
        let lineage = Lineage::of([1; 8]);
        RunOrder {
            run,
            job,
            user,
            spec: Arc::new(spec),
            position: 0,
            fails_at_limit: false,
            resume_from: None,
            answers: None,
            after: None,
            lineage,
        }
    }

    fn message_bytes(spec: JobSpec) -> usize {
        let run = order(spec).filled_in().expect("it can be sent");
        encode(&ToAgent::Run(Box::new(run))).len()
    }

    #[test]
    fn the_longest_orders_are_messages() {
        let many = |words: usize, text: &str| JobSpec::new(std::iter::repeat_n(text, words));
        let longest = |words: usize| {
            let room = ORDER_BYTES_MAX as usize / words - 400;
            many(words, &"x".repeat(room))
        };
        for words in [1, 100, ITEMS_MAX] {
            let bytes = message_bytes(longest(words));
            assert!(bytes <= FRAME_BYTES_MAX / 2, "{words} words make {bytes} bytes");
        }
        let mut files = many(1, "x");
        let blob = "0".repeat(64).try_into().expect("a hash");
        files.inputs = vec![Input { path: "x".repeat(100), blob, executable: true }; ITEMS_MAX];
        files.tasks = TaskList::Sweep { axes: vec![(LENGTH.to_owned(), vec!["7".to_owned()])] };
        assert!(message_bytes(files) <= FRAME_BYTES_MAX / 2);
    }

    #[test]
    fn each_task_gets_its_own_files() {
        let file = |digit: &str, path: &str| Input {
            path: path.to_owned(),
            blob: digit.repeat(64).try_into().expect("a hash"),
            executable: false,
        };
        let mut spec = JobSpec::new(["run"]);
        spec.tasks = TaskList::Array { first: 1, last: 3, step: 1 };
        spec.inputs = vec![file("0", "common")];
        let files = ["1", "2"]
            .map(|task| (format!("in/{task}"), vec![file(task, "in"), file(task, "n{GLEANER_INDEX}")]));
        spec.own_inputs =
            vec![OwnInputs { of: "in/{GLEANER_INDEX}".to_owned(), files: BTreeMap::from(files) }];
        let inputs =
            |position: u32| RunOrder { position, ..order(spec.clone()) }.filled_in().map(|run| run.inputs);
        assert_eq!(inputs(0), Ok(vec![file("0", "common"), file("1", "in"), file("1", "n1")]));
        assert_eq!(inputs(1), Ok(vec![file("0", "common"), file("2", "in"), file("2", "n2")]));
        assert_eq!(inputs(2), Err("its job has no file \"in/3\"".to_owned()));
        assert_eq!(spec.files().count(), 5);
    }

    #[test]
    fn a_run_that_compares_gets_the_jobs_program_and_both_answers() {
        let mut spec = JobSpec::new(["./simulate"]);
        (spec.compare, spec.outputs) =
            (vec!["./close".to_owned(), "1e-6".to_owned()], vec!["out".to_owned()]);
        let stored = |digit: &str| Stored { blob: digit.repeat(64).try_into().expect("a hash"), size: 1 };
        let pair = [Some(stored("1")), None];
        for (limit_s, expected) in [(0.0, COMPARE_SECONDS_MAX), (7.0, 7.0), (1e6, COMPARE_SECONDS_MAX)] {
            spec.needs.time_limit_s = limit_s;
            let run = RunOrder { answers: Some(Ok(pair.clone())), ..order(spec.clone()) }.filled_in();
            let run = run.expect("it can be sent");
            assert_eq!(run.command, ["./close", "1e-6", ".answers/1", ".answers/2"]);
            assert_eq!((run.answers, run.outputs.len()), (Some(Box::new(pair.clone())), 0));
            assert_eq!(run.needs.time_limit_s, expected);
        }
        // Its task's own program would say something else by its exit code.
        let gone = RunOrder { answers: Some(Err("gone".to_owned())), ..order(spec) }.filled_in();
        assert!(gone.expect_err("there is nothing to compare").contains("gone"));
    }

    #[test]
    fn what_is_too_long_is_not_built() {
        let mut spec = JobSpec::new(["echo", &"{a}".repeat(40_000)]);
        spec.tasks = TaskList::Sweep { axes: vec![("a".to_owned(), vec!["x".repeat(128 << 10)])] };
        let why = order(spec).filled_in().expect_err("5 GB");
        assert!(why.contains("at most 2097152 can be sent"), "{why}");
    }
}
