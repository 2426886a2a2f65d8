//! Runs of several parts: no machine ever holds more than it has, each goes at the rate of its slowest part, and a run
//! that was saved goes on to the same end.

use crate::basics::moving;
use gleaner_core::{Command, Decision, Grid, Part, Stage};
use gleaner_policy::{Recipe, Score};
use gleaner_sim::{Setup, Simulation};
use gleaner_testkit::record::{Entry, Record, run, run_checked};
use gleaner_testkit::room::overfull;
use gleaner_testkit::spreading::Spreading;
use gleaner_testkit::{history, random, table};
use gleaner_units::MachineId;

fn wide_starts(Record(entries): &Record) -> usize {
    let is_wide = |entry: &Entry| matches!(entry, Entry::Decision(Decision::StartWide { .. }));
    entries.iter().filter(|(_, entry)| is_wide(entry)).count()
}

#[test]
fn no_machine_ever_holds_more_than_it_has() {
    let mut starts = 0;
    for seed in 1..=400 {
        let setup = random::setup_with_room(seed);
        let record = run_checked(&setup, Spreading(moving(seed).build()));
        let record = record.unwrap_or_else(|broken| panic!("seed {seed}: {broken}"));
        assert_eq!(overfull(&setup, &record), None, "seed {seed}");
        starts += wide_starts(&record);
    }
    assert!(starts > 300, "only {starts} runs had several parts");
}

#[test]
fn a_part_too_large_is_noticed() {
    let fattened = |setup: &Setup, Record(mut entries): Record| {
        for (_, entry) in &mut entries {
            if let Entry::Command(Command::StartWide { parts, .. }) = entry {
                parts[0].cores += 4;
            }
        }
        overfull(setup, &Record(entries))
    };
    let noticed = (1..=100).any(|seed| {
        let setup = random::setup_with_room(seed);
        let record = run(&setup, Spreading(moving(seed).build()));
        fattened(&setup, record).is_some()
    });
    assert!(noticed);
}

#[test]
fn live_grids_stay_whole() {
    let (mut starts, mut broken_up) = (0, 0);
    for seed in 1..=400 {
        let empty = Grid::new(random::setup(seed).config);
        let whole = history::live(seed, empty, Spreading(moving(seed).build()), |step| {
            let wide = |decision: &&Decision| matches!(decision, Decision::StartWide { .. });
            starts += step.decisions.iter().filter(wide).count();
            let grid = step.scheduler.grid();
            let stops = grid.tasks().flat_map(|(task, _)| grid.runs_of(task));
            broken_up += stops
                .filter(|run| run.is_wide() && run.is_superseded() && run.stage() == Stage::Stopping)
                .count();
            step.scheduler.check()
        });
        whole.unwrap_or_else(|broken| panic!("seed {seed}: {broken}"));
    }
    assert!(starts > 500 && broken_up > 300, "{starts} starts, {broken_up} of them lost a part");
}

/// Machines with as many slots as cores; the first class of tasks needs so many cores.
fn exclusive(text: &str, cores: u32) -> Setup {
    let mut setup = table::setup(text);
    for class in &mut setup.machine_classes {
        class.room.slots = Some(class.cores);
    }
    setup.task_classes[0].needs.cores = cores;
    setup
}

#[test]
fn a_run_goes_at_the_rate_of_its_slowest_part() {
    for (cores, rest, end) in [
        // 100 operations at 2 a second, though one part could do 4.
        (3, "", 50.0),
        // The slow machine's owner takes half of both cores after 20 s: 60 operations are left, at 1 a second.
        (3, "load 20 m1 0.5", 80.0),
        // He takes all of them for a while.
        (3, "load 20 m1 1\nload 30 m1 0", 60.0),
        // The fast machine's owner leaves a quarter, and then the slow one is no longer the slowest.
        (3, "load 20 m0 0.75", 80.0),
        // One core of the slow machine is all that is needed of it, but its owner takes half of the machine.
        (2, "load 0 m1 0.5", 50.0),
    ] {
        let text = format!("weights 1\nmachine 4\nmachine 2 x2\ntask 0 100 1\n{rest}");
        let setup = exclusive(&text, cores);
        let mut simulation = Simulation::new(&setup, Spreading(Recipe::by(Score::Greedy).build()));
        simulation.run();
        assert_eq!(simulation.history().makespan().seconds(), end, "{cores} cores, {rest}");
        assert!(simulation.busy_seconds(machine(1)) <= end);
    }
}

fn machine(index: usize) -> MachineId {
    MachineId::new(index)
}

#[test]
fn parts_and_other_tasks_share_a_machine() {
    // A time-shared machine of one core: a part and a task have half of it each until the task is done.
    let mut setup = table::setup("weights 1\nmachine 1\nmachine 1\ntask 0 100 1\ntask 0 10 1 +big\n");
    setup.machine_classes[0].provides.insert("big".to_owned());
    setup.task_classes[0].needs.cores = 2;
    let record = run(&setup, Spreading(Recipe::by(Score::Greedy).build()));
    let parts: Box<[Part]> = (0..2).map(|index| Part { on: machine(index), cores: 1 }).collect();
    let is_start = |entry: &Entry| matches!(entry, Entry::Command(Command::StartWide { parts: found, .. }) if *found == parts);
    assert!(record.0.iter().any(|(_, entry)| is_start(entry)), "{record:?}");
    let mut simulation = Simulation::new(&setup, Spreading(Recipe::by(Score::Greedy).build()));
    simulation.run();
    let ended: Vec<f64> = simulation.history().tasks().iter().map(|task| task.finished.seconds()).collect();
    assert_eq!(ended, [110.0, 20.0]);
}

#[test]
fn a_run_that_was_saved_goes_on_to_the_same_end() {
    for seed in 1..=40 {
        let setup = random::setup_with_room(seed);
        let policy = || Spreading(moving(seed).build());
        let mut whole = Simulation::new(&setup, policy());
        whole.run();
        let mut broken = Simulation::new(&setup, policy());
        for _ in 0..whole.progress().events / 2 {
            broken.step();
        }
        let saved = broken.save("wide");
        let mut resumed = Simulation::restore(&setup, policy, "wide", &saved).expect("what was just saved");
        resumed.run();
        assert_eq!(resumed.save("wide"), whole.save("wide"), "seed {seed}");
    }
}
