//! A task's life, told from the rows of the journal that are about it.

use super::words::{find_end, words};
use crate::journal::{Fact, Last};
use crate::ledger::{Job, Ledger, Step, Told};
use crate::recovery::steps;
use crate::store::StoredRow;
use gleaner_units::{MachineId, TaskId, Time};
use gleaner_wire::VERSION;
use gleaner_wire::api::{History, Transition};
use gleaner_wire::job::Needs;
use gleaner_wire::session::Usage;
use std::collections::VecDeque;

/// From so many seconds on, a report of a start that came late is told of.
const LATE_S: f64 = 1.0;

/// What the rows alone do not say.
#[derive(Clone, Debug)]
pub struct HistoryNames {
    task: TaskId,
    machines: Vec<String>,
    needs: Needs,
}

/// What is needed to tell of a task of a job, of which the description is all here. Costs O(machines).
pub fn history_names(ledger: &Ledger, job: &Job, task: TaskId) -> HistoryNames {
    let machines = ledger.agents().iter().map(|agent| agent.name.clone()).collect();
    HistoryNames { task, machines, needs: job.spec.needs.clone() }
}

/// A task's life as it is read, in words. Of a long one the latest steps are told.
pub struct Story<'a> {
    names: &'a HistoryNames,
    told: VecDeque<Transition>,
    /// The latest start that was heard of: of which run, and when.
    started: Option<(u32, Time)>,
    /// What others compare: of which run, where, and what it came to.
    answers: Vec<(u32, MachineId, Last)>,
    told_max: usize,
    left_out: u64,
}

impl<'a> Story<'a> {
    /// A story of which nothing was read yet, and of which so many steps are to be told at most.
    pub fn new(names: &'a HistoryNames, told_max: usize) -> Self {
        Self { names, told: VecDeque::new(), started: None, answers: Vec::new(), told_max, left_out: 0 }
    }

    /// Reads on. Rows that say nothing of the task are passed over.
    pub fn read(&mut self, rows: &[StoredRow]) {
        for StoredRow { row, .. } in rows {
            // What cannot be read is named by `gleaner journal verify`; the rest is still worth telling.
            let steps = steps(row).unwrap_or_default().into_iter();
            let mut steps = steps.filter(|told| told.tasks.contains(self.names.task)).peekable();
            if steps.peek().is_some()
                && let Ok(fact) = serde_json::from_str(&row.body)
            {
                steps.for_each(|told| self.tell(row.at, &fact, &told));
            }
        }
    }

    /// What was read.
    pub fn end(self) -> History {
        History { version: VERSION, left_out: self.left_out, transitions: self.told.into() }
    }

    fn tell(&mut self, at: Time, fact: &Fact, told: &Told) {
        let name = |machine: MachineId| self.names.machines[machine.index()].clone();
        let (mut cause, actor) = words(told, fact, name);
        let run = told.run.map(|(run, _)| run.number);
        if matches!(told.step, Step::Started) {
            self.started = run.map(|run| (run, at));
        }
        if let (Step::Ended(_), Some(end)) = (told.step, find_end(fact)) {
            let taken = end.outcome.taken(&self.names.needs, &end.usage);
            for note in taken.into_iter().chain(self.heard_late(run, at, &end.usage)) {
                cause.push_str("; ");
                cause.push_str(&note);
            }
        }
        if matches!(told.step, Step::Rerun) {
            self.answers.clear();
        }
        if let Fact::RunEnded { run, agent, end, answer: Some(judged), .. } = fact {
            if judged.likeness.is_none() {
                self.answers.push((run.number, *agent, Last::of(end)));
            }
            let is_result = |last: &Last| judged.result.as_deref() == Some(last);
            if let Some((number, on, _)) = self.answers.iter().find(|(.., last)| is_result(last)) {
                let whose = format!("; the task's result is that of run {number} on {}", name(*on));
                cause.push_str(&whose);
            }
        }
        if self.told.len() == self.told_max {
            self.told.pop_front();
            self.left_out += 1;
        }
        let (phase, machine) = (told.phase, told.run.map(|(_, on)| name(on)));
        self.told.push_back(Transition { at_s: at.seconds(), phase, cause, actor, run, machine });
    }

    /// That the start of a run that ended was heard of late: its agent says how long it took.
    fn heard_late(&self, run: Option<u32>, at: Time, usage: &Usage) -> Option<String> {
        let (_, heard) = self.started.filter(|(number, _)| Some(*number) == run)?;
        let (elapsed_s, late_s) = (usage.elapsed_s, usage.elapsed_s - at.since(heard).seconds());
        (late_s >= LATE_S)
            .then(|| format!("it took {elapsed_s:.1} s: its start was heard of {late_s:.1} s late"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desk::Recorded;
    use crate::journal::{Chosen, Entry};
    use crate::ledger::{Verdict, Wish};
    use crate::store::{Seq, TaskRange};
    use gleaner_units::RunId;
    use gleaner_wire::JobId;
    use gleaner_wire::api::{Actor, TaskPhase};
    use gleaner_wire::session::{End, Outcome};

    /// As `HISTORY_TOLD_MAX` steps are told over HTTP.
    #[test]
    fn of_a_long_life_the_latest_steps_are_told() {
        let names = HistoryNames { task: TaskId::new(0), machines: Vec::new(), needs: Needs::default() };
        let chosen = || Chosen { job: JobId(1), tasks: Vec::new(), by: Actor::Coordinator };
        for (steps, left_out, first) in [(5, 0, 0.0), (6, 1, 1.0)] {
            let mut story = Story::new(&names, 5);
            for number in 0..steps {
                let (fact, step, phase) = if number % 2 == 0 {
                    (Fact::TasksHeld(chosen()), Step::Is(Wish::Hold), TaskPhase::Held)
                } else {
                    (Fact::TasksReleased(chosen()), Step::Released, TaskPhase::Waiting)
                };
                let told = |task| Told { tasks: TaskRange::one(TaskId::new(task)), step, phase, run: None };
                let at = Time::from_nanos(number * 1_000_000_000);
                let recorded = Recorded { entry: Entry { at, fact }, steps: vec![told(0), told(7)] };
                story.read(&[StoredRow { seq: Seq::new(number + 1), row: recorded.row() }]);
            }
            let told = story.end();
            assert_eq!(
                (told.left_out, told.transitions.len(), told.transitions[0].at_s),
                (left_out, 5, first)
            );
        }
    }

    #[test]
    fn a_start_that_was_heard_of_late_is_told_with_its_runs_end() {
        let (task, on) = (TaskId::new(0), MachineId::new(0));
        let names = HistoryNames { task, machines: vec!["lab".to_owned()], needs: Needs::default() };
        for (elapsed_s, note) in [(2.0, ""), (4.1, "; it took 4.1 s: its start was heard of 2.1 s late")] {
            let run = RunId { task, number: 1 };
            let mut end = End::of(Outcome::Exited { code: 0 });
            end.usage.elapsed_s = elapsed_s;
            let ended = Fact::RunEnded { run, agent: on, end: Box::new(end), answer: None, is_left: None };
            let mut story = Story::new(&names, 5);
            let facts = [
                (10, Fact::RunStarted(run), Step::Started, TaskPhase::Running),
                (12, ended, Step::Ended(Verdict::Done), TaskPhase::Done),
            ];
            for (seconds, fact, step, phase) in facts {
                let at = Time::from_nanos(seconds * 1_000_000_000);
                let told = Told { tasks: TaskRange::one(task), step, phase, run: Some((run, on)) };
                let recorded = Recorded { entry: Entry { at, fact }, steps: vec![told] };
                story.read(&[StoredRow { seq: Seq::new(seconds), row: recorded.row() }]);
            }
            let cause = story.end().transitions.pop().expect("the end").cause;
            assert!(cause.ends_with(note) && cause.contains("heard of") != note.is_empty(), "{cause}");
        }
    }
}
