//! What counts for and against a machine.

use crate::plain::{empty, joined, submitted};
use crate::puppet::tell;
use gleaner_core::{
    Change, Decision, Ends, Event, Grid, LendingEvent, MachineClass, Occasion, Policy, RunEnd, Scheduler,
    TaskClass,
};
use gleaner_units::{MachineClassId, MachineId, PartyId, RunId, TaskClassId, TaskId, Time};

/// Starts each task on the machine of its number, while that is open.
#[derive(Clone, Debug)]
struct ByNumber;

impl Policy for ByNumber {
    fn observe(&mut self, _: &Grid, _: &Change) {}
    fn propose(&mut self, grid: &Grid, _: Time, _: Occasion) -> Option<Decision> {
        let class = TaskClassId::FIRST;
        let (_, task) = grid.waiting_tasks().next()?;
        let on = MachineId::new(task.index());
        (on.index() < grid.machines().len() && grid.can_run(class, on))
            .then_some(Decision::Start { task, on })
    }
    fn rebuild(&mut self, _: &Grid) {}
    fn check(&self, _: &Grid) -> Result<(), String> {
        Ok(())
    }
}

fn grid() -> Scheduler<ByNumber> {
    let mut grid = Scheduler::new(empty(), ByNumber);
    let machine = MachineClass::plain(vec![1.0], 1);
    let task = TaskClass { restarts: true, ..TaskClass::plain(vec![1.0]) };
    tell(&mut grid, &Event::MachineClassMet(Box::new(machine)));
    tell(&mut grid, &Event::TaskClassMet(Box::new(task)));
    tell(&mut grid, &joined(0, 0));
    tell(&mut grid, &submitted(0, 2, 0));
    grid
}

fn run(task: usize, number: u32) -> RunId {
    RunId::new(TaskId::new(task), number)
}

fn ends(grid: &Scheduler<ByNumber>, machine: usize) -> (u32, u32) {
    let Ends { finished, lost } = grid.grid().ends_on(MachineId::new(machine));
    (finished, lost)
}

#[test]
fn what_fails_and_what_is_lost_count_against_a_machine_and_nothing_else() {
    let mut grid = grid();
    let machine = MachineId::FIRST;
    assert!((grid.grid().ends_on(machine).reliability() - 1.0).abs() < f64::EPSILON, "nothing ran yet");
    tell(&mut grid, &Event::RunEnded { run: run(0, 1), end: RunEnd::Lost });
    assert_eq!(ends(&grid, 0), (0, 1), "it failed");
    tell(&mut grid, &Event::RunEnded { run: run(0, 2), end: RunEnd::Kept });
    assert_eq!(ends(&grid, 0), (0, 1), "what was kept is not lost");
    tell(&mut grid, &Event::MachineLost { machine });
    assert_eq!(ends(&grid, 0), (0, 2), "lost with the machine");
    tell(&mut grid, &Event::RunEnded { run: run(0, 3), end: RunEnd::Finished });
    assert_eq!(ends(&grid, 0), (1, 1), "it was not lost after all");
    assert!((grid.grid().ends_on(machine).reliability() - 2.0 / 3.0).abs() < 1e-12);
}

#[test]
fn what_was_told_to_stop_is_no_loss() {
    let mut grid = grid();
    tell(&mut grid, &Event::TasksWithdrawn { first: TaskId::FIRST, count: 1 });
    tell(&mut grid, &Event::RunEnded { run: run(0, 1), end: RunEnd::Lost });
    assert_eq!(ends(&grid, 0), (0, 0));
}

#[test]
fn a_peers_machines_are_one() {
    let mut grid = grid();
    tell(&mut grid, &Event::RunEnded { run: run(0, 1), end: RunEnd::Finished });
    let (machine, class) = (MachineId::new(1), MachineClassId::FIRST);
    let borrowed =
        |from: usize| Event::Lending(LendingEvent::Borrowed { machine, class, from: PartyId::new(from) });
    tell(&mut grid, &borrowed(4));
    tell(&mut grid, &Event::MachineLost { machine });
    assert_eq!(ends(&grid, 1), (0, 0), "nobody's now");
    tell(&mut grid, &borrowed(5));
    assert_eq!(ends(&grid, 1), (0, 0), "another peer's");
    tell(&mut grid, &Event::RunEnded { run: run(1, 2), end: RunEnd::Finished });
    assert_eq!(ends(&grid, 1), (1, 0));
    tell(&mut grid, &Event::MachineLost { machine });
    tell(&mut grid, &borrowed(4));
    assert_eq!(ends(&grid, 1), (0, 1), "what the first peer took back");
}
