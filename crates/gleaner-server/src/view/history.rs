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
