//! A grid of a few machines, whose orders are carried out at once.

use gleaner_core::{
    Command, Decision, Event, Grid, GridConfig, MachineClass, Migration, Queue, Room, RunEnd, Scheduler,
    TaskClass,
};
use gleaner_policy::{AnyPolicy, Recipe};
use gleaner_units::{MachineClassId, MachineId, Ops, RunId, TaskClassId, TaskId, Time};
use std::collections::BTreeMap;

pub(crate) fn machine(index: usize) -> MachineId {
    MachineId::new(index)
}

pub(crate) fn task(index: usize) -> TaskId {
    TaskId::new(index)
}

/// A grid whose orders are carried out at once.
pub(crate) struct Lab {
    pub(crate) scheduler: Scheduler<AnyPolicy>,
    pub(crate) now: Time,
    pub(crate) runs: BTreeMap<RunId, MachineId>,
    /// When each run began.
    pub(crate) begun: BTreeMap<RunId, Time>,
}

impl Lab {
    /// Machines of these classes, the first of the first one and so on, and one class of tasks.
    pub(crate) fn new(recipe: Recipe, machines: &[MachineClass], of: &[usize], kind: TaskClass) -> Self {
        Self::where_moves_cost(Migration::default(), recipe, machines, of, kind)
    }

    pub(crate) fn where_moves_cost(
        migration: Migration,
        recipe: Recipe,
        machines: &[MachineClass],
        of: &[usize],
        kind: TaskClass,
    ) -> Self {
        let weights = vec![1.0; kind.composition.len()];
        let empty = Grid::new(GridConfig { weights, migration });
        let scheduler = Scheduler::new(empty, recipe.build());
        let (runs, begun) = (BTreeMap::new(), BTreeMap::new());
        let mut lab = Self { scheduler, now: Time::ZERO, runs, begun };
        for class in machines {
            lab.tell(&Event::MachineClassMet(Box::new(class.clone())));
        }
        for (index, class) in of.iter().enumerate() {
            let class = MachineClassId::new(*class);
            lab.tell(&Event::MachineJoined { machine: machine(index), class });
        }
        lab.tell(&Event::TaskClassMet(Box::new(kind)));
        lab
    }

    /// Reports something, and lets the rule answer.
    pub(crate) fn tell(&mut self, event: &Event) -> Vec<Decision> {
        self.scheduler.apply(self.now, event);
        self.answer()
    }

    pub(crate) fn answer(&mut self) -> Vec<Decision> {
        let mut decisions = Vec::new();
        loop {
            self.scheduler.decide(self.now, &mut decisions);
            self.scheduler.check().expect("all indices are right");
            let orders: Vec<Command> = self.scheduler.take_orders().collect();
            if orders.is_empty() {
                return decisions;
            }
            for order in orders {
                match order {
                    Command::Start { run, on } => {
                        self.runs.insert(run, on);
                        self.begun.insert(run, self.now);
                        self.scheduler.apply(self.now, &Event::RunStarted(run));
                    }
                    Command::Stop { run, .. } => {
                        self.runs.remove(&run);
                        self.scheduler.apply(self.now, &Event::RunEnded { run, end: RunEnd::Kept });
                    }
                    // Nobody is there who would lend anything.
                    Command::Lending(_) => {}
                    other => panic!("{other:?}"),
                }
            }
        }
    }

    /// So many seconds pass, with the wake-ups that come meanwhile.
    pub(crate) fn pass(&mut self, seconds: f64) -> Vec<Decision> {
        let until = self.now.after_seconds(seconds);
        let mut decisions = Vec::new();
        while let Some((at, alarm)) = self.scheduler.grid().next_alarm().filter(|(at, _)| *at <= until) {
            self.now = self.now.max(at);
            decisions.extend(self.tell(&Event::WokeUp { alarm }));
        }
        self.now = until;
        decisions
    }

    pub(crate) fn submit(&mut self, length: Option<f64>) -> TaskId {
        let first = task(self.scheduler.grid().task_count());
        let length = length.and_then(Ops::new);
        self.tell(&Event::TasksSubmitted { first, count: 1, class: TaskClassId::new(0), length });
        first
    }

    pub(crate) fn measure(&mut self, index: usize, class: usize) -> Vec<Decision> {
        self.tell(&Event::MachineMeasured { machine: machine(index), class: MachineClassId::new(class) })
    }

    pub(crate) fn run_of(&self, id: TaskId) -> (RunId, MachineId) {
        let run = self.runs.iter().find(|(run, _)| run.task == id);
        run.map(|(run, on)| (*run, *on)).expect("a task that runs")
    }

    pub(crate) fn end(&mut self, id: TaskId) -> Vec<Decision> {
        let (run, _) = self.run_of(id);
        self.runs.remove(&run);
        self.tell(&Event::RunEnded { run, end: RunEnd::Finished })
    }

    pub(crate) fn on(&self, index: usize) -> Vec<TaskId> {
        let on = self.runs.iter().filter(|(_, on)| **on == machine(index));
        on.map(|(run, _)| run.task).collect()
    }

    pub(crate) fn queue(&self, index: usize) -> Vec<TaskId> {
        self.scheduler.grid().plans().ranked(Queue::Machine(machine(index))).collect()
    }
}

/// One core for one task, at that speed.
pub(crate) fn alone(speed: f64) -> MachineClass {
    let room = Room { slots: Some(1), ..Room::default() };
    MachineClass { room, ..MachineClass::plain(vec![speed], 1) }
}

pub(crate) fn plain() -> TaskClass {
    TaskClass::plain(vec![1.0])
}
