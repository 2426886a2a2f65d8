//! Rigid jobs in one line equal a naive reference job by job, and each fault put in on purpose is noticed.

use crate::basics::seeds;
use gleaner_core::{Decision, Event, GridConfig, MachineClass, Migration, Needs, Room, TaskClass};
use gleaner_policy::{Backfill, Choice, Correction, Fill, Goal, Lengths, Queueing, Recipe};
use gleaner_sim::{Answers, Setup, Simulation, Tasks};
use gleaner_testkit::mutant::{Fault, Mutant};
use gleaner_testkit::naive_queue::{Belief, Job, Machine, Order, Rule, UNSAID, starts};
use gleaner_testkit::random::Choices;
use gleaner_testkit::record::{Entry, Record, run, run_checked};
use gleaner_units::{MachineClassId, MachineId, Ops, TaskClassId, TaskId, Time, UserId};
use std::collections::BTreeMap;

/// As many as are usual.
const SEEDS: u64 = 100;

/// At speed 1 an operation takes a second.
fn setup(jobs: &[Job], machines: &[Machine]) -> Setup {
    let ops = |seconds: u64| Ops::new((seconds as f64).max(f64::MIN_POSITIVE)).expect("above 0");
    let mut machine_classes: Vec<Machine> = machines.to_vec();
    machine_classes.sort_unstable_by_key(|machine| (machine.cores, machine.speed));
    machine_classes.dedup();
    let mut classes: BTreeMap<(u32, usize), usize> = BTreeMap::new();
    let mut tasks = Tasks::default();
    for job in jobs {
        let next = classes.len();
        let class = *classes.entry((job.cores, job.user)).or_insert(next);
        tasks.push(Time::from_nanos(job.submit * 1_000_000_000), ops(job.run), TaskClassId::new(class));
        let said = Some(job.estimate).filter(|estimate| *estimate != UNSAID);
        *tasks.declared.last_mut().expect("one was pushed") = said.map(ops);
    }
    let mut task_classes: Vec<(usize, (u32, usize))> =
        classes.into_iter().map(|(key, index)| (index, key)).collect();
    task_classes.sort_unstable();
    let class_of = |machine: &Machine| {
        machine_classes.iter().position(|other| other == machine).expect("it is among them")
    };
    Setup {
        config: GridConfig { weights: vec![1.0], migration: Migration::default() },
        machines: machines.iter().map(|machine| MachineClassId::new(class_of(machine))).collect(),
        machine_classes: machine_classes.iter().map(|&machine| class(machine)).collect(),
        availability: None,
        task_classes: task_classes.into_iter().map(|(_, key)| task(key)).collect(),
        tasks,
        loads: Vec::new(),
        budget: None,
        answers: Answers::default(),
    }
}

fn class(Machine { cores, speed }: Machine) -> MachineClass {
    let room = Room { slots: Some(cores), memory: None, disk: None };
    MachineClass { room, ..MachineClass::plain(vec![speed.into()], cores) }
}

fn task((cores, user): (u32, usize)) -> TaskClass {
    TaskClass {
        needs: Needs { cores, memory: 0, disk: 0 },
        restarts: true,
        payer: UserId::new(user),
        ..TaskClass::plain(vec![1.0])
    }
}

fn recipe(rule: Rule, belief: Belief) -> Recipe {
    let (backfill, fill) = match rule {
        Rule::Fcfs => (Backfill::Fcfs, Fill::Arrival),
        Rule::Easy(Order::Arrival) => (Backfill::Easy, Fill::Arrival),
        Rule::Easy(Order::Shortest) => (Backfill::Easy, Fill::Shortest),
        Rule::Easy(Order::Area) => (Backfill::Easy, Fill::SmallestArea),
        Rule::Conservative => (Backfill::Conservative, Fill::Arrival),
    };
    let lengths = match belief {
        Belief::Estimate => Lengths::Declared,
        Belief::LastTwo | Belief::LastTwoThenEstimate => Lengths::LastTwo,
        Belief::Learnt => Lengths::Learnt,
    };
    let correction =
        if belief == Belief::LastTwoThenEstimate { Correction::Estimate } else { Correction::Firm };
    let queueing = Queueing { backfill, fill, correction };
    Recipe { goal: Goal::Start(queueing), lengths, ..Recipe::in_line(backfill) }
}

const RULES: [(Rule, Belief); 13] = [
    (Rule::Fcfs, Belief::Estimate),
    (Rule::Easy(Order::Arrival), Belief::Estimate),
    (Rule::Easy(Order::Shortest), Belief::Estimate),
    (Rule::Easy(Order::Area), Belief::Estimate),
    (Rule::Conservative, Belief::Estimate),
    (Rule::Easy(Order::Arrival), Belief::LastTwo),
    (Rule::Easy(Order::Shortest), Belief::LastTwo),
    (Rule::Easy(Order::Area), Belief::LastTwo),
    (Rule::Conservative, Belief::LastTwo),
    (Rule::Easy(Order::Arrival), Belief::Learnt),
    (Rule::Easy(Order::Shortest), Belief::Learnt),
    (Rule::Easy(Order::Area), Belief::Learnt),
    (Rule::Conservative, Belief::Learnt),
];

/// Small machines, many ties, estimates good and bad: by the seed never too short, or too short, or missing at times.
fn random_jobs(seed: u64, machines: &[Machine], count: usize) -> Vec<Job> {
    let choices = &mut Choices::seeded(seed);
    let (too_short, unsaid) = (seed.is_multiple_of(2), seed.is_multiple_of(3));
    let largest = machines.iter().map(|machine| machine.cores).max().expect("a machine") as usize;
    let mut now = 0;
    let mut job = || {
        now += if choices.one_in(3) { 0 } else { choices.below(12) as u64 };
        let run = if choices.one_in(20) { 0 } else { 1 + choices.below(40) as u64 };
        let longer = if choices.one_in(2) { 0 } else { choices.below(60) as u64 };
        let estimate = match (unsaid && choices.one_in(6), too_short && choices.one_in(4)) {
            (true, _) => UNSAID,
            (_, true) => 1 + choices.below(10) as u64,
            _ => (run + longer).max(1),
        };
        let cores =
            if choices.one_in(2) { 1 + choices.below(largest.min(4)) } else { 1 + choices.below(largest) };
        Job { submit: now, cores: cores as u32, run, estimate, user: choices.below(4) }
    };
    (0..count).map(|_| job()).collect()
}

fn fast_starts(jobs: &[Job], machines: &[Machine], recipe: Recipe) -> Vec<(f64, usize)> {
    let setup = setup(jobs, machines);
    let mut simulation = Simulation::new(&setup, recipe.build());
    simulation.run();
    let tasks = simulation.history().tasks().iter();
    tasks.map(|task| (task.started.seconds(), task.machine.map_or(usize::MAX, MachineId::index))).collect()
}

fn plain(cores: u32) -> Machine {
    Machine { cores, speed: 1 }
}

/// One, or several: equally fast by every other seed.
fn machines(seed: u64) -> Vec<Machine> {
    let choices = &mut Choices::seeded(seed ^ 0xcafe);
    match choices.below(3) {
        0 => vec![plain(4 + choices.below(12) as u32)],
        1 => vec![plain(1 + choices.below(100) as u32)],
        _ => (0..2 + choices.below(3))
            .map(|_| {
                let speed = if seed.is_multiple_of(2) { 1 } else { 1 << choices.below(3) };
                Machine { cores: 2 + choices.below(8) as u32, speed }
            })
            .collect(),
    }
}

fn equals_its_reference(seed: u64, rules: &[(Rule, Belief)]) {
    let machines = machines(seed);
    let jobs = random_jobs(seed, &machines, 80);
    for &(rule, belief) in rules {
        let fast = fast_starts(&jobs, &machines, recipe(rule, belief));
        let slow = starts(&jobs, &machines, rule, belief);
        let differs = (0..jobs.len()).find(|&job| fast[job] != slow[job]);
        if let Some(job) = differs {
            panic!(
                "seed {seed}, {machines:?}, {rule:?} {belief:?}: job {job} {:?} starts at {:?}, by the reference at {:?}",
                jobs[job], fast[job], slow[job]
            );
        }
    }
}

#[test]
fn queues_equal_their_references_job_by_job() {
    for seed in seeds(SEEDS) {
        equals_its_reference(seed, &RULES);
        // What is believed where an estimate is over or missing is not the reference's matter here.
        if !seed.is_multiple_of(2) && !seed.is_multiple_of(3) {
            equals_its_reference(
                seed,
                &[Order::Arrival, Order::Shortest, Order::Area]
                    .map(|order| (Rule::Easy(order), Belief::LastTwoThenEstimate)),
            );
        }
    }
}

#[test]
fn what_a_queue_knows_is_what_the_grid_says_after_every_event() {
    for seed in seeds(SEEDS).take(20) {
        let machines = machines(seed);
        let jobs = random_jobs(seed, &machines, 40);
        for (rule, belief) in RULES {
            let checked = run_checked(&setup(&jobs, &machines), recipe(rule, belief).build());
            checked.unwrap_or_else(|broken| panic!("seed {seed}, {rule:?} {belief:?}: {broken}"));
        }
        for correction in Correction::all() {
            let fill = Fill::Shortest;
            let queueing = Queueing { backfill: Backfill::Easy, fill, correction };
            let recipe = Recipe {
                goal: Goal::Start(queueing),
                lengths: Lengths::Learnt,
                ..Recipe::in_line(Backfill::Easy)
            };
            let checked = run_checked(&setup(&jobs, &machines), recipe.build());
            checked.unwrap_or_else(|broken| panic!("seed {seed}, {recipe}: {broken}"));
        }
    }
}

/// It asks to be woken only where somebody can start, or where a run should end just now.
#[test]
fn no_wake_up_is_in_vain() {
    for seed in seeds(SEEDS) {
        let machines = machines(seed);
        // Of a job that takes longer than was said, the end is no reason to wake, and nothing may be known of it then.
        let jobs = random_jobs(6 * seed + 1, &machines, 80);
        for rule in [Rule::Fcfs, Rule::Easy(Order::Arrival), Rule::Easy(Order::Shortest)] {
            let Record(entries) = run(&setup(&jobs, &machines), recipe(rule, Belief::Estimate).build());
            for (place, (woken, entry)) in entries.iter().enumerate() {
                if !matches!(entry, Entry::Event(Event::WokeUp { .. })) {
                    continue;
                }
                let starts =
                    matches!(entries.get(place + 1), Some((_, Entry::Decision(Decision::Start { .. }))));
                let ends = |(at, entry): &(Time, Entry)| {
                    at == woken && matches!(entry, Entry::Event(Event::RunEnded { .. }))
                };
                assert!(
                    starts || entries.iter().any(ends),
                    "seed {seed}, {rule:?}: woken at {woken} for nothing"
                );
            }
        }
    }
}

#[test]
fn a_fault_in_any_queue_is_noticed() {
    for (rule, belief) in RULES {
        let noticed = (1..=60).find(|&seed| {
            let machines = machines(seed);
            let setup = setup(&random_jobs(seed, &machines, 80), &machines);
            let recipe = recipe(rule, belief);
            run(&setup, Mutant::new(recipe.build(), Fault::Deaf(7), seed)) != run(&setup, recipe.build())
        });
        assert!(noticed.is_some(), "{rule:?} {belief:?} with a fault went unnoticed");
    }
}

/// (submit, cores, run), all estimates exact, on 10 processors, and when each starts.
#[test]
fn the_worked_examples_of_easy() {
    for (jobs, expected) in [
        ([(0, 6, 100), (1, 8, 50), (2, 4, 98)], [0, 100, 2]),
        ([(0, 6, 100), (1, 8, 50), (2, 4, 99)], [0, 100, 150]),
        ([(0, 6, 100), (1, 6, 50), (2, 4, 1_000)], [0, 100, 2]),
    ] {
        let jobs = jobs.map(|(submit, cores, run)| Job { submit, cores, run, estimate: run, user: 0 });
        let found = fast_starts(&jobs, &[plain(10)], recipe(Rule::Easy(Order::Arrival), Belief::Estimate));
        assert_eq!(
            found.iter().map(|start| start.0).collect::<Vec<_>>(),
            expected.map(f64::from),
            "{jobs:?}"
        );
    }
}

/// With exact estimates nobody starts later than he would if nobody came after him, which is what was kept for him.
#[test]
fn nobody_starts_later_than_the_moment_first_kept_for_him() {
    for seed in seeds(SEEDS).take(30) {
        let machines = machines(seed);
        let mut jobs = random_jobs(seed, &machines, 60);
        for job in &mut jobs {
            job.estimate = job.run.max(1);
            job.run = job.estimate;
        }
        let rule = recipe(Rule::Conservative, Belief::Estimate);
        let whole = fast_starts(&jobs, &machines, rule);
        for last in (0..jobs.len()).step_by(7) {
            let alone = fast_starts(&jobs[..=last], &machines, rule);
            assert_eq!(alone[last], whole[last], "seed {seed}, job {last}");
        }
    }
}

/// What no machine there could ever take holds nobody back.
#[test]
fn nobody_waits_for_machines_that_are_not_there() {
    let job = |submit, cores| Job { submit, cores, run: 10, estimate: 10, user: 0 };
    let jobs = [job(0, 9), job(1, 3), job(2, 3)];
    for (rule, belief) in RULES {
        let found = fast_starts(&jobs, &[plain(4)], recipe(rule, belief));
        assert_eq!((found[1].0, found[2].0), (1.0, 11.0), "{rule:?} {belief:?}");
    }
}

/// At 100 s the first job is over by its user's word, is not, and is believed to take until 200 s: the third may overtake then.
#[test]
fn who_may_overtake_when_a_declared_length_proves_too_short_starts_then() {
    let job = |submit, cores, run, estimate| Job { submit, cores, run, estimate, user: 0 };
    let jobs = [job(0, 6, 1_000, 100), job(1, 8, 50, 50), job(60, 4, 50, 50)];
    let queueing = Queueing { correction: Correction::Estimate, ..Queueing::default() };
    let recipe = Recipe { goal: Goal::Start(queueing), ..Recipe::in_line(Backfill::Easy) };
    let found = fast_starts(&jobs, &[plain(10)], recipe);
    assert_eq!(found.iter().map(|start| start.0).collect::<Vec<_>>(), [0.0, 1_000.0, 100.0]);
}

#[test]
fn who_waits_behind_a_job_that_is_cancelled_starts_at_once() {
    let job = |cores, run| Job { submit: 0, cores, run, estimate: run, user: 0 };
    for rule in [Rule::Fcfs, Rule::Easy(Order::Arrival), Rule::Conservative] {
        // The second waits for the whole machine, and the third would delay it.
        let setup = setup(&[job(2, 100), job(4, 10), job(2, 1_000)], &[plain(4)]);
        let mut simulation = Simulation::new(&setup, recipe(rule, Belief::Estimate).build());
        simulation.run_through_instant();
        assert_eq!(simulation.history().tasks()[2].started, Time::NEVER, "{rule:?}");
        simulation.tell(Event::TasksWithdrawn { first: TaskId::new(1), count: 1 });
        simulation.run();
        assert_eq!(simulation.history().tasks()[2].started, Time::ZERO, "{rule:?}");
    }
}
