//! One batch of the second paper's heuristics: many waiting tasks, each with a length of its own, on machines of 200 classes.
//! What is measured is the scheduler's whole answer: the plan, and each decision as it is admitted and recorded.

use crate::processor_seconds;
use gleaner_core::{
    Alarm, Decision, Event, Grid, GridConfig, MachineClass, Migration, Room, Scheduler, TaskClass,
};
use gleaner_papers::Stream;
use gleaner_policy::{AnyPolicy, Choice as _, PolicySpec, TaskOrder, Tree};
use gleaner_units::{MachineClassId, MachineId, Ops, TaskClassId, TaskId, Time};
use serde_json::json;

/// Operations a second, for each class of machines.
const SPEEDS: usize = 200;
const SPEED_STEP: f64 = 100.0;
/// Operations of a task, from the shortest to the longest.
const LENGTHS: (f64, f64) = (5e6, 12e6);
/// Longer than all tasks take: the batch plans them all.
const PERIOD_S: f64 = 1e9;
/// Tells this stream from those of the papers.
const STREAM: u64 = 0x6261_7463;

/// A scheduler whose batch is about to begin.
pub struct Due {
    scheduler: Scheduler<AnyPolicy>,
    now: Time,
}

impl Due {
    /// So many tasks wait for so many machines, all of which are idle.
    pub fn new(order: TaskOrder, tasks: usize, machines: usize) -> Self {
        let mut stream = Stream::new(1, STREAM);
        let mut scheduler = Scheduler::new(grid(), policy(order));
        for speed in 1..=SPEEDS {
            let room = Room { slots: Some(1), ..Room::default() };
            let class = MachineClass { room, ..MachineClass::plain(vec![SPEED_STEP * speed as f64], 1) };
            scheduler.apply(Time::ZERO, &Event::MachineClassMet(Box::new(class)));
        }
        for machine in 0..machines {
            let class = MachineClassId::new(stream.uniform(0.0, SPEEDS as f64) as usize);
            let machine = MachineId::new(machine);
            scheduler.apply(Time::ZERO, &Event::MachineJoined { machine, class });
        }
        scheduler.apply(Time::ZERO, &Event::TaskClassMet(Box::new(TaskClass::plain(vec![1.0]))));
        for first in 0..tasks {
            let length = Ops::new(stream.uniform(LENGTHS.0, LENGTHS.1).round());
            let (first, class) = (TaskId::new(first), TaskClassId::FIRST);
            scheduler.apply(Time::ZERO, &Event::TasksSubmitted { first, count: 1, class, length });
        }
        let mut due = Self { scheduler, now: Time::ZERO };
        due.decide();
        due.now = due.scheduler.grid().alarm(Alarm::Batch).expect("the next batch has its moment");
        due
    }

    /// Seconds of the batch, from its alarm to the last of its decisions.
    pub fn seconds(mut self) -> f64 {
        processor_seconds(|| {
            self.scheduler.apply(self.now, &Event::WokeUp { alarm: Alarm::Batch });
            self.decide();
        })
    }

    fn decide(&mut self) -> Vec<Decision> {
        let mut decisions = Vec::new();
        while self.scheduler.is_asked() {
            self.scheduler.decide(self.now, &mut decisions);
        }
        self.scheduler.take_orders().for_each(drop);
        decisions
    }
}

fn grid() -> Grid {
    Grid::new(GridConfig { weights: vec![1.0], migration: Migration::default() })
}

fn policy(order: TaskOrder) -> AnyPolicy {
    let preset = format!("elleuch/{}", order.name());
    let tree =
        Tree::from_iter([("preset".to_owned(), json!(preset)), ("period_s".to_owned(), json!(PERIOD_S))]);
    PolicySpec::read(tree).expect("a preset with its period").recipe().build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_plans_all_tasks_and_begins_the_first_of_them() {
        for order in TaskOrder::all().into_iter().filter(|order| *order != TaskOrder::Submission) {
            let mut due = Due::new(order, 60, 20);
            due.scheduler.apply(due.now, &Event::WokeUp { alarm: Alarm::Batch });
            let decisions = due.decide();
            let started = decisions.iter().filter(|decision| matches!(decision, Decision::Start { .. }));
            let planned = decisions.iter().filter(|decision| matches!(decision, Decision::Plan { .. }));
            let (started, planned) = (started.count(), planned.count());
            assert!((1..=20).contains(&started) && planned == 60, "{order:?}: {started} and {planned}");
        }
    }
}
