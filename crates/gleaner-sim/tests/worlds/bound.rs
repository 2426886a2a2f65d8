//! The makespan's lower bound: exact where a hand can check it, and never above what a schedule reaches.

use crate::basics::at;
use gleaner_sim::bound::{BoundBy, BoundMachine, BoundTask, Instance, LowerBound, lower_bound};
use gleaner_units::Ops;
use microlp::{ComparisonOp, OptimizationDirection, Problem};
use proptest::prelude::*;

const NEVER: f64 = f64::INFINITY;

#[derive(Clone, Debug)]
struct Case {
    table: Vec<Vec<f64>>,
    tasks: Vec<BoundTask>,
    machines: Vec<BoundMachine>,
}

/// Class, cores, and the owner's load from each moment on.
type MachineRow<'a> = (usize, u32, &'a [(f64, f64)]);

/// `tasks` are (arrival, length, kind).
fn case(table: &[&[f64]], tasks: &[(f64, f64, usize)], machines: &[MachineRow<'_>]) -> Case {
    let task = |&(arrival, length, kind): &(f64, f64, usize)| BoundTask {
        arrival: at(arrival),
        length: Ops::new(length).unwrap(),
        kind,
        cores: 1,
    };
    let machine = |&(class, cores, loads): &MachineRow<'_>| BoundMachine {
        class,
        cores,
        loads: loads.iter().map(|&(time, load)| (at(time), load)).collect(),
    };
    Case {
        table: table.iter().map(|row| row.to_vec()).collect(),
        tasks: tasks.iter().map(task).collect(),
        machines: machines.iter().map(machine).collect(),
    }
}

impl Case {
    fn bound(&self) -> Option<LowerBound> {
        lower_bound(&Instance { seconds_per_op: &self.table, tasks: &self.tasks, machines: &self.machines })
    }

    #[track_caller]
    fn check(&self, seconds: f64, by: BoundBy) {
        let bound = self.bound().expect("a bound");
        assert!((bound.seconds - seconds).abs() < 1e-7 * seconds.max(1.0), "{bound:?}, expected {seconds}");
        assert_eq!(bound.by, by);
    }
}

#[test]
fn one_task_on_one_machine_takes_its_time() {
    case(&[&[0.5]], &[(2.0, 10.0, 0)], &[(0, 1, &[])]).check(7.0, BoundBy::LongestTask);
}

#[test]
fn a_bound_is_never_above_a_rounded_finish() {
    // A third of a second is rounded down by a third of a nanosecond.
    let bound = case(&[&[1.0 / 3.0]], &[(0.0, 1.0, 0)], &[(0, 1, &[])]).bound().unwrap();
    assert!(bound.seconds <= 0.333_333_333, "{bound:?}");
}

#[test]
fn two_alike_machines_halve_the_work() {
    case(&[&[1.0]], &[(0.0, 3.0, 0); 3], &[(0, 1, &[]), (0, 1, &[])]).check(4.5, BoundBy::Lp);
    case(&[&[1.0]], &[(0.0, 3.0, 0); 3], &[(0, 2, &[])]).check(4.5, BoundBy::Lp);
}

#[test]
fn one_long_task_outweighs_the_pool() {
    let tasks = [(0.0, 9.0, 0), (0.0, 1.0, 0)];
    case(&[&[1.0]], &tasks, &[(0, 1, &[]), (0, 1, &[])]).check(9.0, BoundBy::LongestTask);
}

#[test]
fn work_waits_for_its_arrival() {
    // 2 s of idling before 10, then 4 tasks of 1 s each one after the other.
    let mut tasks = vec![(0.0, 8.0, 0)];
    tasks.extend([(10.0, 1.0, 0); 4]);
    case(&[&[1.0]], &tasks, &[(0, 1, &[])]).check(14.0, BoundBy::Lp);
}

#[test]
fn work_left_over_from_before_an_arrival_counts() {
    let tasks = [(0.0, 8.0, 0), (5.0, 4.0, 0)];
    case(&[&[1.0]], &tasks, &[(0, 1, &[])]).check(12.0, BoundBy::Lp);
}

#[test]
fn each_kind_goes_where_it_is_cheap() {
    // Kind 0 is for class 0, kind 1 for class 1; 12 s and 6 s of work, and kind 0 does half as well on class 1:
    // 12 − x = 6 + 2x.
    let table: [&[f64]; 2] = [&[1.0, 2.0], &[5.0, 1.0]];
    let tasks = [(0.0, 6.0, 0), (0.0, 6.0, 0), (0.0, 3.0, 1), (0.0, 3.0, 1)];
    case(&table, &tasks, &[(0, 1, &[]), (1, 1, &[])]).check(10.0, BoundBy::Lp);
}

#[test]
fn a_machine_idle_early_cannot_be_saved_for_later() {
    // Class 0 has nothing to do before 10; what comes then runs nowhere else.
    let table: [&[f64]; 2] = [&[1.0, NEVER], &[NEVER, 1.0]];
    let tasks = [(10.0, 3.0, 0), (10.0, 2.0, 0), (0.0, 4.0, 1), (0.0, 4.0, 1)];
    case(&table, &tasks, &[(0, 1, &[]), (1, 1, &[])]).check(15.0, BoundBy::Lp);
}

#[test]
fn a_class_that_cannot_run_a_kind_does_not_help_it() {
    let table: [&[f64]; 1] = [&[1.0, NEVER]];
    case(&table, &[(0.0, 3.0, 0); 2], &[(0, 1, &[]), (1, 8, &[])]).check(6.0, BoundBy::Lp);
}

#[test]
fn a_class_without_machines_does_not_help() {
    let table: [&[f64]; 2] = [&[4.0, 2.0, 4.0], &[3.0, 0.1, NEVER]];
    let tasks = [(0.0, 2.0, 0), (0.0, 2.0, 0), (0.0, 4.0, 1)];
    case(&table, &tasks, &[(0, 1, &[]), (2, 1, &[])]).check(14.0, BoundBy::Lp);
}

#[test]
fn an_owner_slows_what_is_left() {
    // 5 of 8 before, the rest at half speed.
    case(&[&[1.0]], &[(0.0, 8.0, 0)], &[(0, 1, &[(5.0, 0.5)])]).check(11.0, BoundBy::LongestTask);
    case(&[&[1.0]], &[(0.0, 4.0, 0); 2], &[(0, 1, &[(5.0, 0.5)])]).check(11.0, BoundBy::Lp);
    // And back again at 7: 5, then 1 in two seconds, then 2.
    let loads = [(5.0, 0.5), (7.0, 0.0)];
    case(&[&[1.0]], &[(0.0, 4.0, 0); 2], &[(0, 1, &loads)]).check(9.0, BoundBy::Lp);
}

#[test]
fn an_owner_who_comes_after_the_end_does_not_matter() {
    case(&[&[1.0]], &[(0.0, 4.0, 0); 2], &[(0, 1, &[(9.0, 1.0)])]).check(8.0, BoundBy::Lp);
}

#[test]
fn with_cores_to_spare_an_owner_slows_no_single_task() {
    case(&[&[1.0]], &[(0.0, 8.0, 0)], &[(0, 4, &[(5.0, 0.75)])]).check(8.0, BoundBy::LongestTask);
}

#[test]
fn of_entries_at_one_moment_the_last_holds() {
    let loads = [(0.0, 1.0), (0.0, 0.5)];
    case(&[&[1.0]], &[(0.0, 4.0, 0)], &[(0, 1, &loads)]).check(8.0, BoundBy::LongestTask);
}

#[test]
fn what_never_ends_has_no_bound() {
    let nowhere = case(&[&[NEVER, 1.0]], &[(0.0, 1.0, 0)], &[(0, 1, &[])]);
    assert_eq!(nowhere.bound(), None, "its class has no machine");
    let gone = case(&[&[1.0]], &[(0.0, 6.0, 0)], &[(0, 1, &[(5.0, 1.0)])]);
    assert_eq!(gone.bound(), None, "its owner stays");
    let pooled = case(&[&[1.0]], &[(0.0, 3.0, 0); 2], &[(0, 1, &[(5.0, 1.0)])]);
    assert_eq!(pooled.bound(), None, "only together they do not fit");
    let elsewhere = case(
        &[&[1.0, NEVER], &[1.0, 1.0]],
        &[(0.0, 3.0, 0), (0.0, 3.0, 0), (0.0, 90.0, 1)],
        &[(0, 1, &[(5.0, 1.0)]), (1, 1, &[])],
    );
    assert_eq!(elsewhere.bound(), None, "the other kind's machine stays, but this kind's does not");
}

#[test]
fn no_work_ends_at_once() {
    case(&[&[1.0]], &[], &[(0, 1, &[])]).check(0.0, BoundBy::LongestTask);
    case(&[], &[], &[]).check(0.0, BoundBy::LongestTask);
}

/// Up to 3 kinds, 4 machines in 3 classes, 7 tasks; each kind runs on class 0, which has a machine that stays.
fn small_case(load_changes: usize, arrivals: f64) -> impl Strategy<Value = Case> {
    let h = prop_oneof![4 => 0.1..4.0, 1 => Just(NEVER)];
    let row = (0.1..4.0, h.clone(), h).prop_map(|(always, second, third)| vec![always, second, third]);
    let loads =
        prop::collection::vec((0.0..20.0, prop_oneof![0.0..0.95, Just(0.95), Just(1.0)]), 0..=load_changes);
    let loads = loads.prop_map(|mut loads| {
        loads.sort_by(|a: &(f64, f64), b| a.0.total_cmp(&b.0));
        loads.into_iter().map(|(time, load)| (at(time), load)).collect()
    });
    let machine =
        (0..3_usize, 1..3_u32, loads).prop_map(|(class, cores, loads)| BoundMachine { class, cores, loads });
    let task = (0.0..=arrivals, 0.5..9.0, 0..3_usize).prop_map(|(arrival, length, kind)| BoundTask {
        arrival: at(arrival),
        length: Ops::new(length).unwrap(),
        kind,
        cores: 1,
    });
    let rows = prop::collection::vec(row, 3);
    let machines = prop::collection::vec(machine, 0..4);
    let tasks = prop::collection::vec(task, 1..8);
    (rows, machines, tasks).prop_map(|(table, mut machines, tasks)| {
        machines.push(BoundMachine { class: 0, cores: 1, loads: Vec::new() });
        Case { table, tasks, machines }
    })
}

/// When a core of this machine that starts `ops` at `start` has done them, at its fair share when all its cores
/// are busy.
fn finish(machine: &BoundMachine, start: f64, core_seconds: f64) -> f64 {
    let (mut now, mut left) = (start, core_seconds);
    let changes: Vec<_> = machine.loads.iter().map(|(time, load)| (time.seconds(), *load)).collect();
    loop {
        let load = changes.iter().rev().find(|(time, _)| *time <= now).map_or(0.0, |(_, load)| *load);
        let next = changes.iter().map(|(time, _)| *time).find(|time| *time > now).unwrap_or(f64::INFINITY);
        let rate = 1.0 - load;
        if rate > 0.0 && now + left / rate <= next {
            return now + left / rate;
        }
        if next.is_infinite() {
            return next;
        }
        (now, left) = (next, left - rate * (next - now));
    }
}

/// The makespan when task `i` goes to slot `choice[i]`, each slot (a core) serving first come, first served.
fn makespan(case: &Case, choice: &[usize]) -> f64 {
    let slots: Vec<&BoundMachine> =
        case.machines.iter().flat_map(|m| std::iter::repeat_n(m, m.cores as usize)).collect();
    let mut order: Vec<usize> = (0..case.tasks.len()).collect();
    order.sort_by_key(|&task| case.tasks[task].arrival);
    let mut free = vec![0.0_f64; slots.len()];
    for task in order {
        let slot = choice[task] % slots.len();
        let BoundTask { arrival, length, kind, .. } = case.tasks[task];
        let core_seconds = length.amount() * case.table[kind][slots[slot].class];
        if core_seconds.is_infinite() {
            return f64::INFINITY;
        }
        free[slot] = finish(slots[slot], free[slot].max(arrival.seconds()), core_seconds);
    }
    free.into_iter().fold(0.0, f64::max)
}

/// The makespan of the best assignment of them all.
fn best_makespan(case: &Case) -> f64 {
    let slots: usize = case.machines.iter().map(|machine| machine.cores as usize).sum();
    let count = slots.pow(case.tasks.len() as u32);
    (0..count)
        .map(|code| {
            let choice: Vec<_> =
                (0..case.tasks.len()).map(|at| code / slots.pow(at as u32) % slots).collect();
            makespan(case, &choice)
        })
        .fold(f64::INFINITY, f64::min)
}

/// Whether divisible work fits into the pools before `end`: the linear program as it is usually stated, with
/// nothing of the code under test in it.
fn fits(case: &Case, end: f64) -> bool {
    let mut cuts: Vec<f64> = vec![0.0, end];
    cuts.extend(case.tasks.iter().map(|task| task.arrival.seconds()));
    cuts.extend(case.machines.iter().flat_map(|machine| &machine.loads).map(|(time, _)| time.seconds()));
    cuts.retain(|&cut| cut <= end);
    cuts.sort_by(f64::total_cmp);
    cuts.dedup();
    let mut problem = Problem::new(OptimizationDirection::Minimize);
    let mut done = vec![Vec::new(); case.tasks.len()];
    for interval in cuts.windows(2) {
        for machine in &case.machines {
            let load = machine.loads.iter().rev().find(|(time, _)| time.seconds() <= interval[0]);
            let capacity = f64::from(machine.cores)
                * (1.0 - load.map_or(0.0, |(_, load)| *load))
                * (interval[1] - interval[0]);
            let mut used = Vec::new();
            for (at, task) in case.tasks.iter().enumerate() {
                let h = case.table[task.kind][machine.class];
                if h.is_finite() && task.arrival.seconds() <= interval[0] {
                    let part = problem.add_var(0.0, (0.0, f64::INFINITY));
                    done[at].push((part, 1.0));
                    used.push((part, h * task.length.amount()));
                }
            }
            problem.add_constraint(used, ComparisonOp::Le, capacity);
        }
    }
    for parts in done {
        problem.add_constraint(parts, ComparisonOp::Ge, 1.0);
    }
    problem.solve().is_ok()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_bound_is_the_linear_programs_optimum(case in small_case(1, 12.0)) {
        let bound = case.bound().unwrap();
        prop_assert!(fits(&case, bound.seconds * (1.0 + 1e-5)));
        // The solver also takes what exceeds a constraint by some 1e-5.
        prop_assert!(bound.by == BoundBy::LongestTask || !fits(&case, bound.seconds * (1.0 - 1e-4)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn no_schedule_ends_before_the_bound(
        case in small_case(3, 12.0),
        choices in prop::collection::vec(prop::collection::vec(0..24_usize, 8), 12),
    ) {
        let bound = case.bound().expect("a machine stays").seconds;
        for choice in choices {
            prop_assert!(makespan(&case, &choice) >= bound, "{choice:?} beats {bound}");
        }
    }

    #[test]
    fn the_bound_is_at_least_all_work_at_full_capacity(case in small_case(0, 0.0)) {
        let cores: f64 = case.machines.iter().map(|machine| f64::from(machine.cores)).sum();
        let best = |kind: usize| {
            let h = case.machines.iter().map(|machine| case.table[kind][machine.class]);
            h.fold(f64::INFINITY, f64::min)
        };
        let work: f64 = case.tasks.iter().map(|task| task.length.amount() * best(task.kind)).sum();
        prop_assert!(case.bound().unwrap().seconds >= work / cores * (1.0 - 1e-8));
    }

    #[test]
    fn the_bound_does_not_depend_on_the_order_of_its_input(case in small_case(3, 12.0)) {
        let mut turned = case.clone();
        turned.tasks.reverse();
        turned.machines.reverse();
        let (one, other) = (case.bound().unwrap().seconds, turned.bound().unwrap().seconds);
        prop_assert!((one - other).abs() <= 1e-8 * one);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_best_of_all_assignments_is_no_better(mut case in small_case(1, 0.0)) {
        case.machines.truncate(2);
        case.machines.push(BoundMachine { class: 0, cores: 1, loads: Vec::new() });
        case.tasks.truncate(5);
        prop_assert!(best_makespan(&case) >= case.bound().unwrap().seconds);
    }
}

/// Many arrivals, load changes, kinds and classes: the program is made coarser, and stays valid.
#[test]
fn large_instances_are_thinned() {
    let mut state = 7_u64;
    let mut draw = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 24)
    };
    let machines: Vec<_> = (0..60)
        .map(|class| {
            let loads = (0..40).map(|k| (at(25.0 * f64::from(k) + 20.0 * draw()), 0.9 * draw())).collect();
            BoundMachine { class, cores: 1, loads }
        })
        .collect();
    let table: Vec<Vec<f64>> = (0..80).map(|_| (0..60).map(|_| 0.2 + 3.0 * draw()).collect()).collect();
    let tasks: Vec<_> = (0..400)
        .map(|task| BoundTask {
            arrival: at(100.0 * draw()),
            length: Ops::new(1.0 + 30.0 * draw()).unwrap(),
            kind: task % 80,
            cores: 1,
        })
        .collect();
    let case = Case { table, tasks, machines };
    let bound = case.bound().expect("a bound").seconds;
    for turn in 0..40 {
        let choice: Vec<_> = (0..400).map(|task| task * 7 + turn + (draw() * 60.0) as usize).collect();
        assert!(makespan(&case, &choice) >= bound);
    }
    assert_eq!(case.bound().unwrap().seconds.to_bits(), bound.to_bits(), "the same every time");
}
