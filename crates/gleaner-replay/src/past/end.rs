//! What it came to: the tasks that are compared, how they went, and the grid on which they are run again.

use super::caps::CapChange;
use super::figures::{Figures, mean, span, waits_of};
use super::{Noted, Reading};
use gleaner_core::{GridConfig, Migration};
use gleaner_policy::PolicySpec;
use gleaner_sim::{Answers, Setup, Tasks};
use gleaner_units::{MachineId, Ops, TaskId, Time};
use gleaner_wire::JobId;
use gleaner_wire::api::TaskPhase;
use serde::Serialize;

/// A live grid's history, ready to be run again.
#[derive(Debug)]
pub struct Past {
    /// What was.
    pub was: Figures,
    /// The policy that was in force at the end.
    pub policy: PolicySpec,
    /// What the simulator is given, but for what may be spent and how many machines have to agree.
    pub setup: Setup,
    /// How many cores users' runs might take at a time, by time.
    pub caps: Vec<CapChange>,
    /// What was left to chance went by it at the end.
    pub seed: u64,
    /// Tasks that are no part of the comparison.
    pub left_out: LeftOut,
    /// Which tasks the setup's are, in its order.
    pub tasks: Vec<(JobId, u32)>,
    /// The machines, by name.
    pub machines: Vec<String>,
    /// Where each task was.
    pub placed: Vec<Option<Placed>>,
    /// When the setup's time begins.
    pub begun: Time,
}

/// A task on the machine where it ended, from its first start.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Placed {
    /// Where.
    pub on: MachineId,
    /// On the setup's clock.
    pub from: Time,
    /// Likewise.
    pub to: Time,
}

/// Tasks that are no part of the comparison, by why.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct LeftOut {
    /// Nobody let them run to their end.
    pub cancelled: u64,
    /// They had not ended when the journal did.
    pub unfinished: u64,
    /// They ended without having run for a measurable time anywhere.
    pub without_work: u64,
}

impl Reading {
    /// What it came to.
    pub fn end(self) -> Past {
        self.end_since(Time::ZERO, usize::MAX)
    }

    /// The same of the latest tasks that came since a moment.
    pub fn end_since(mut self, since: Time, tasks_max: usize) -> Past {
        let begun = self.begun.unwrap_or(Time::ZERO);
        let since = Time::from_nanos(since.since(begun).nanos());
        let (ended, mut left_out) = self.ended_since(since);
        let mut compared: Vec<(TaskId, Ops)> = Vec::new();
        for task in ended {
            if let Some(length) = self.length(&self.tasks[&task]) {
                compared.push((task, length));
            } else {
                left_out.without_work += 1;
            }
        }
        compared.sort_by_key(|(task, _)| (self.tasks[task].came, *task));
        compared.drain(..compared.len().saturating_sub(tasks_max));
        // Owners' loads come by time; what was noted of the time before a machine joined belongs to the front.
        self.loads.sort_by_key(|change| change.time);
        // A machine that left when all was done, as when the coordinator stopped, takes nothing from a run that lasts longer;
        // and a quota that was lowered while tasks ran keeps none of those from running that begin later here than they did.
        if let Some(over) = compared.iter().filter_map(|(task, _)| self.tasks[task].ended).max() {
            self.loads.retain(|change| change.time < over || change.load < 1.0);
            self.caps.lift_from(over);
        }
        let was = self.was(&compared);
        let tasks = compared.iter().map(|(task, _)| (self.tasks[task].job, self.tasks[task].number));
        Past {
            was,
            policy: self.ledger.policy().clone(),
            seed: self.ledger.grid().seed(),
            left_out,
            setup: self.setup(&compared),
            caps: self.caps.changes(&self.ledger),
            tasks: tasks.collect(),
            machines: self.ledger.agents().iter().map(|agent| agent.name.clone()).collect(),
            placed: compared.iter().map(|(task, _)| self.tasks[task].placed()).collect(),
            begun,
        }
    }

    /// Those that came since a moment and ran to their end, and how many did not.
    pub(super) fn ended_since(&self, since: Time) -> (Vec<TaskId>, LeftOut) {
        let mut left_out = self.never_noted(since);
        let mut ended = Vec::new();
        for (&task, noted) in self.tasks.iter().filter(|(_, noted)| noted.came >= since) {
            if self.ledger.record(task).phase == TaskPhase::Cancelled {
                left_out.cancelled += 1;
            } else if noted.ended.is_none() {
                left_out.unfinished += 1;
            } else {
                ended.push(task);
            }
        }
        (ended, left_out)
    }

    /// Those that came since a moment and of which no run started or ended. Costs O(stretches of alike tasks).
    fn never_noted(&self, since: Time) -> LeftOut {
        let mut left_out = LeftOut::default();
        for (tasks, _) in self.came.ranges().filter(|(_, came)| *came >= since) {
            for (stretch, record) in self.ledger.stretches(tasks) {
                let noted = self.tasks.range(stretch.first()..=stretch.last()).count();
                let count = u64::from(stretch.count()) - noted as u64;
                if record.phase == TaskPhase::Cancelled {
                    left_out.cancelled += count;
                } else {
                    left_out.unfinished += count;
                }
            }
        }
        left_out
    }

    /// How much work a task was: what takes its machines as long as it did, among the neighbours that it had there.
    fn length(&self, noted: &Noted) -> Option<Ops> {
        let grid = self.ledger.grid();
        let class = noted.class;
        let done = noted.work.iter().map(|&(on, seconds)| {
            let per_operation = grid.seconds_per_op(class, on);
            if per_operation.is_finite() && per_operation > 0.0 { seconds / per_operation } else { 0.0 }
        });
        Ops::new(done.sum()).filter(|length| length.amount() > 0.0)
    }

    fn was(&self, compared: &[(TaskId, Ops)]) -> Figures {
        let noted: Vec<&Noted> = compared.iter().map(|(task, _)| &self.tasks[task]).collect();
        let waits = noted.iter().filter_map(|task| Some(task.began()?.since(task.came).seconds()));
        let ends = noted.iter().filter_map(|task| task.ended);
        let flows = noted.iter().filter_map(|task| Some(task.ended?.since(task.came).seconds()));
        Figures {
            makespan_s: span(noted.first().map(|task| task.came), ends.max()),
            flow_mean_s: mean(flows),
            moves: noted.iter().map(|task| u64::from(task.moves)).sum(),
            machine_s: noted.iter().map(|task| task.machine_s).sum(),
            unfinished: 0,
            ..waits_of(waits)
        }
    }

    fn setup(&self, compared: &[(TaskId, Ops)]) -> Setup {
        let grid = self.ledger.grid();
        let (moves, seconds) = self.moved;
        let seconds = if moves == 0 { 0.0 } else { seconds / f64::from(moves) };
        Setup {
            config: GridConfig {
                weights: grid.classes().weights().to_vec(),
                migration: Migration { seconds, ..Migration::default() },
            },
            machine_classes: grid.classes().machine_classes().to_vec(),
            machines: grid.machines().iter().map(gleaner_core::Machine::class).collect(),
            task_classes: grid.classes().task_classes().to_vec(),
            tasks: Tasks::truly_declared(
                compared.iter().map(|(task, _)| self.tasks[task].came).collect(),
                compared.iter().map(|(_, length)| *length).collect(),
                compared.iter().map(|(task, _)| self.tasks[task].class).collect(),
            ),
            loads: self.loads.clone(),
            budget: None,
            // How many have to agree, the policy says.
            answers: Answers::default(),
            // When a machine was there is told by its owner's use of it.
            availability: None,
        }
    }
}

impl Noted {
    fn placed(&self) -> Option<Placed> {
        Some(Placed { on: self.on?, from: self.began()?, to: self.ended? })
    }
}
