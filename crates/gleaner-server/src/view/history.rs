//! A task's life, told from the rows of the journal that are about it.

use crate::journal::Fact;
use crate::ledger::{Job, Ledger, Told};
use crate::life::{Life, words};
use crate::store::StoredRow;
use gleaner_units::{MachineId, TaskId, Time};
use gleaner_wire::VERSION;
use gleaner_wire::api::{History, Transition};
use gleaner_wire::job::JobSpec;
use std::collections::VecDeque;
use std::sync::Arc;

/// What the rows alone do not say.
#[derive(Clone, Debug)]
pub struct HistoryNames {
    task: TaskId,
    spec: Arc<JobSpec>,
    machines: Vec<String>,
}

/// What is needed to tell of a task of a job. Costs O(machines).
pub fn history_names(ledger: &Ledger, task: TaskId, job: &Job) -> HistoryNames {
    let machines = ledger.agents().iter().map(|agent| agent.name.clone()).collect();
    HistoryNames { task, spec: Arc::clone(&job.spec), machines }
}

/// A task's life as it is read, in words. Of a long one the latest steps are told.
pub struct Story<'a> {
    names: &'a HistoryNames,
    life: Life,
    told: VecDeque<Transition>,
    told_max: usize,
    left_out: u64,
}

impl<'a> Story<'a> {
    /// A story of which nothing was read yet, and of which so many steps are to be told at most.
    pub fn new(names: &'a HistoryNames, told_max: usize) -> Self {
        let life = Life::of(names.task, Arc::clone(&names.spec));
        Self { names, life, told: VecDeque::new(), told_max, left_out: 0 }
    }

    /// Reads on. Rows that say nothing of the task are passed over.
    pub fn read(&mut self, rows: &[StoredRow]) {
        for StoredRow { row, .. } in rows {
            // A damaged row is named by `gleaner journal verify`; the rest is still worth telling.
            if let Ok(fact) = serde_json::from_str(&row.body) {
                for told in self.life.take(row.at, &fact) {
                    self.tell(row.at, &fact, &told);
                }
            }
        }
    }

    /// What was read.
    pub fn end(self) -> History {
        History { version: VERSION, left_out: self.left_out, transitions: self.told.into() }
    }

    fn tell(&mut self, at: Time, fact: &Fact, told: &Told) {
        let name = |machine: MachineId| self.names.machines[machine.index()].clone();
        let (cause, actor) = words(told, fact, name);
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
    use crate::journal::Chosen;
    use crate::store::{Row, Seq};
    use gleaner_wire::JobId;
    use gleaner_wire::api::Actor;

    /// As `HISTORY_TOLD_MAX` steps are told over HTTP.
    #[test]
    fn of_a_long_life_the_latest_steps_are_told() {
        let names = HistoryNames {
            task: TaskId::new(0),
            spec: Arc::new(JobSpec::new(["true"])),
            machines: Vec::new(),
        };
        let chosen = || Chosen { job: JobId(1), tasks: Vec::new(), by: Actor::Coordinator };
        for (steps, left_out, first) in [(5, 0, 0.0), (6, 1, 1.0)] {
            let mut story = Story::new(&names, 5);
            for number in 0..steps {
                let fact =
                    if number % 2 == 0 { Fact::TasksHeld(chosen()) } else { Fact::TasksReleased(chosen()) };
                let at = Time::from_nanos(number * 1_000_000_000);
                let body = serde_json::to_string(&fact).expect("plain data");
                let row = Row { at, tasks: Vec::new(), body };
                story.read(&[StoredRow { seq: Seq::new(number + 1), row }]);
            }
            let told = story.end();
            assert_eq!(
                (told.left_out, told.transitions.len(), told.transitions[0].at_s),
                (left_out, 5, first)
            );
        }
    }
}
