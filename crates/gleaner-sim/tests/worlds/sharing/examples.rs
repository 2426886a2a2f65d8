//! What can be worked out by hand.

use crate::basics::at;
use gleaner_sim::sharing::{ClosedLoop, Sharing};
use gleaner_units::{MachineId, RunId, TaskId, Time};

/// A grid of machines with these cores, and tasks given as (machine, task, service seconds), all put on at 0.
fn grid(cores: &[u32], tasks: &[(usize, usize, f64)]) -> Sharing {
    let mut sharing = Sharing::new();
    for &cores in cores {
        sharing.add_machine(cores);
    }
    for &(on, number, service_seconds) in tasks {
        sharing.insert(Time::ZERO, machine(on), task(number), service_seconds);
    }
    sharing
}

fn machine(index: usize) -> MachineId {
    MachineId::new(index)
}

fn task(index: usize) -> RunId {
    RunId::new(TaskId::new(index), 1)
}

/// Completes everything: "task@seconds", in order.
fn completions(mut sharing: Sharing) -> String {
    let mut told = Vec::new();
    while let Some((at, task)) = sharing.next_completion() {
        sharing.complete(at, task);
        sharing.check();
        told.push(format!("{}@{at}", task.task));
    }
    told.join(" ")
}

#[test]
fn two_tasks_share_a_core() {
    assert_eq!(completions(grid(&[1], &[(0, 0, 1.0), (0, 1, 2.0)])), "t0@2.000000000 t1@3.000000000");
}

#[test]
fn a_task_uses_one_core_at_most() {
    assert_eq!(completions(grid(&[4], &[(0, 0, 1.0), (0, 1, 2.0)])), "t0@1.000000000 t1@2.000000000");
    let three_on_two = grid(&[2], &[(0, 0, 2.0), (0, 1, 2.0), (0, 2, 4.0)]);
    assert_eq!(completions(three_on_two), "t0@3.000000000 t1@3.000000000 t2@5.000000000");
}

#[test]
fn completions_of_one_nanosecond_come_in_task_order() {
    let across = grid(&[1, 1, 1], &[(0, 5, 1.0), (1, 3, 1.0), (2, 4, 1.0)]);
    assert_eq!(completions(across), "t3@1.000000000 t4@1.000000000 t5@1.000000000");
    let equal = grid(&[3], &[(0, 2, 1.0), (0, 0, 1.0), (0, 1, 1.0)]);
    assert_eq!(completions(equal), "t0@1.000000000 t1@1.000000000 t2@1.000000000");
    // t3 would finish 0.1 ns after t7 and 0.2 ns after t9: in the same nanosecond, and lower.
    let nearly_equal =
        grid(&[4], &[(0, 9, 1.0), (0, 7, 1.000_000_000_1), (0, 3, 1.000_000_000_2), (0, 1, 1.1)]);
    assert_eq!(completions(nearly_equal), "t3@1.000000000 t7@1.000000000 t9@1.000000000 t1@1.100000000");
}

#[test]
fn a_thousand_equal_tasks_finish_together_in_task_order() {
    let tasks: Vec<_> = (0..1000).map(|number| (0, (number * 387) % 1000, 1.0)).collect();
    let expected: Vec<_> = (0..1000).map(|number| format!("t{number}@1000.000000000")).collect();
    assert_eq!(completions(grid(&[1], &tasks)), expected.join(" "));
}

#[test]
fn owner_load_slows_and_stops_a_machine() {
    let mut sharing = grid(&[1], &[(0, 0, 2.0)]);
    sharing.set_load(at(1.0), machine(0), 0.5);
    assert_eq!(sharing.next_completion(), Some((at(3.0), task(0))));
    sharing.set_load(at(2.0), machine(0), 1.0);
    assert_eq!(sharing.next_completion(), None);
    assert_eq!(sharing.service_left(at(50.0), task(0)), 0.5);
    sharing.set_load(at(100.0), machine(0), 0.0);
    assert_eq!(sharing.busy_seconds(machine(0), at(100.0)), 2.0);
    assert_eq!(completions(sharing), "t0@100.500000000");
}

#[test]
fn a_task_that_is_done_when_the_owner_takes_everything_ends_then() {
    let mut sharing = grid(&[1], &[(0, 0, 2.0)]);
    sharing.set_load(at(2.0), machine(0), 1.0);
    assert_eq!(completions(sharing), "t0@2.000000000");
}

#[test]
fn what_follows_from_a_completion_starts_at_its_exact_moment() {
    // Three thirds of a second do not round: each completion is a third of a nanosecond late or early.
    let mut sharing = grid(&[1], &[(0, 0, 1.0 / 3.0), (0, 1, 2.0 / 3.0), (0, 2, 10.0)]);
    for _ in 0..2 {
        let (at, task) = sharing.next_completion().expect("a completion");
        sharing.complete(at, task);
    }
    let (last, _) = sharing.next_completion().expect("a completion");
    assert_eq!(last, Time::ZERO.after_seconds(11.0));
}

#[test]
fn a_task_taken_off_has_the_rest_of_its_service_left() {
    let mut sharing = grid(&[1, 2], &[(0, 0, 1.0), (0, 1, 2.0)]);
    assert_eq!(sharing.remove(at(1.0), task(0)), 0.5);
    sharing.insert(at(1.0), machine(1), task(0), 0.5);
    assert_eq!((sharing.residents(machine(0)), sharing.residents(machine(1))), (1, 1));
    assert_eq!(sharing.machine_of(task(0)), Some(machine(1)));
    assert_eq!(completions(sharing), "t0@1.500000000 t1@2.500000000");
}

#[test]
fn an_overdue_task_has_nothing_left() {
    let mut sharing = grid(&[1], &[(0, 0, 1.0)]);
    assert_eq!(sharing.remove(at(2.0), task(0)), 0.0);
    assert_eq!(sharing.next_completion(), None);
}

#[test]
#[should_panic(expected = "not the next completion")]
fn only_the_next_completion_completes() {
    grid(&[1], &[(0, 0, 1.0), (0, 1, 1.0)]).complete(at(2.0), task(1));
}

#[test]
fn a_closed_loop_depends_on_its_seed_alone() {
    let outcome = |seed| ClosedLoop::new(70, 30, seed).run(2000);
    assert_eq!(outcome(1), outcome(1));
    assert_ne!(outcome(1).checksum, outcome(2).checksum);
    assert_eq!(outcome(1).checksum, 2_130_455_647_810_152_611, "on every computer");
}
