//! A task's life, told from the rows of the journal that are about it.

use super::words::{find_end, words};
use crate::journal::Fact;
use crate::ledger::{Job, Ledger, Step, Told};
use crate::recovery::steps;
use crate::store::StoredRow;
use gleaner_units::{MachineId, TaskId, Time};
use gleaner_wire::VERSION;
use gleaner_wire::api::{History, Transition};
use gleaner_wire::job::Needs;
use std::collections::VecDeque;

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
    told_max: usize,
    left_out: u64,
}

impl<'a> Story<'a> {
    /// A story of which nothing was read yet, and of which so many steps are to be told at most.
    pub fn new(names: &'a HistoryNames, told_max: usize) -> Self {
        Self { names, told: VecDeque::new(), told_max, left_out: 0 }
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
        if let (Step::Ended(_), Some(end)) = (told.step, find_end(fact))
            && let Some(taken) = end.outcome.taken(&self.names.needs, &end.usage)
        {
            cause.push_str("; ");
            cause.push_str(&taken);
        }
        if self.told.len() == self.told_max {
            self.told.pop_front();
            self.left_out += 1;
        }
        let (phase, machine, run) = (told.phase, told.run.map(|(_, on)| name(on)), told.run);
        let run = run.map(|(run, _)| run.number);
        self.told.push_back(Transition { at_s: at.seconds(), phase, cause, actor, run, machine });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desk::Recorded;
    use crate::journal::{Chosen, Entry};
    use crate::ledger::Wish;
    use crate::store::{Seq, TaskRange};
    use gleaner_wire::JobId;
    use gleaner_wire::api::{Actor, TaskPhase};

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
}
