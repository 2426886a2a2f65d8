//! Several runs of a task: one after the other, at the same time, and such as are spoken of though they are over.

use crate::basics::moving;
use gleaner_core::{Decision, Event, Run, RunEnd, Stage};
use gleaner_policy::{Recipe, Relocate, Replicate, Score, Spending};
use gleaner_sim::{Setup, Simulation, TaskHistory, Waste};
use gleaner_testkit::random::{self, Choices};
use gleaner_testkit::record::{Entry, Record, run, run_checked};
use gleaner_testkit::replicating::Replicating;
use gleaner_testkit::room::overfull;
use gleaner_testkit::table;
use gleaner_units::{MachineId, RunId, TaskId, Time};

fn setups(seed: u64) -> [Setup; 2] {
    [random::setup(seed), random::setup_with_room(seed)]
}

fn histories(simulation: &Simulation<'_, impl gleaner_core::Policy>) -> Vec<TaskHistory> {
    simulation.history().tasks().to_vec()
}

/// Something that nobody should believe: of a run that is over, that is there already, or that never was.
fn hearsay(simulation: &Simulation<'_, impl gleaner_core::Policy>, choices: &mut Choices) -> Option<Event> {
    let grid = simulation.scheduler().grid();
    let task = TaskId::new(choices.below(grid.task_count().max(1)));
    let last = (grid.task_count() > 0).then(|| grid.task(task).runs())?;
    let run = RunId::new(task, choices.below(last as usize + 2) as u32);
    let stage = grid.find_run(run).map(Run::stage);
    let end = [RunEnd::Finished, RunEnd::Kept, RunEnd::Lost][choices.below(3)];
    match stage {
        None | Some(Stage::Held) if choices.one_in(2) => Some(Event::RunEnded { run, end }),
        None | Some(Stage::Held | Stage::Running) => Some(Event::RunStarted(run)),
        Some(Stage::Next | Stage::Asked | Stage::Sent | Stage::Stopping | Stage::Missing) => None,
    }
}

#[test]
fn what_is_said_of_runs_that_are_over_changes_nothing() {
    let mut said = 0;
    for seed in 1..=60 {
        for setup in setups(seed) {
            let recipe = moving(seed);
            let mut calm = Simulation::new(&setup, recipe.build());
            calm.run();
            let choices = &mut Choices::seeded(seed ^ 0x7374_616c);
            let mut rumours = Simulation::new(&setup, recipe.build());
            while rumours.step() {
                if let Some(event) = hearsay(&rumours, choices) {
                    rumours.tell(event);
                    rumours.scheduler().check().unwrap_or_else(|broken| panic!("seed {seed}: {broken}"));
                    said += 1;
                }
            }
            assert_eq!(histories(&rumours), histories(&calm), "seed {seed}, {recipe:?}");
        }
    }
    assert!(said > 3_000, "only {said} rumours");
}

#[test]
fn no_machine_ever_holds_more_than_it_has() {
    let mut moves = 0;
    for seed in 1..=200 {
        let setup = random::setup_with_room(seed);
        let record = run(&setup, moving(seed).build());
        assert_eq!(overfull(&setup, &record), None, "seed {seed}");
        let replicated = run(&setup, Replicating::new(moving(seed).build(), 3));
        assert_eq!(overfull(&setup, &replicated), None, "seed {seed}, replicated");
        let is_move = |entry: &&(Time, Entry)| matches!(entry.1, Entry::Decision(Decision::Relocate { .. }));
        moves += record.0.iter().filter(is_move).count();
    }
    assert!(moves > 200, "only {moves} moves");
}

/// The first of the ends that a record has of each task is the one that counts, and nothing of it ends after that.
fn check_ends(record: &Record, tasks: &[TaskHistory]) {
    for (index, history) in tasks.iter().enumerate() {
        let finished = |entry: &&(Time, Entry)| {
            matches!(entry.1, Entry::Event(Event::RunEnded { run, end: RunEnd::Finished })
                if run.task.index() == index)
        };
        let ends: Vec<Time> = record.0.iter().filter(finished).map(|(at, _)| *at).collect();
        assert_eq!(ends, [history.finished], "t{index}");
    }
}

#[test]
fn the_first_of_several_runs_counts_and_the_others_are_waste() {
    let mut wasted = Waste::default();
    for seed in 1..=100 {
        for setup in setups(seed) {
            let policy = || Replicating::new(moving(seed).build(), 2 + seed as usize % 2);
            let record = run_checked(&setup, policy()).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
            let mut simulation = Simulation::new(&setup, policy());
            simulation.run();
            let history = simulation.history();
            assert_eq!(history.unfinished(), 0, "seed {seed}");
            check_ends(&record, history.tasks());
            assert!(history.wasted().ops >= 0.0, "seed {seed}");
            wasted.runs += history.wasted().runs;
            wasted.ops += history.wasted().ops;
        }
    }
    assert!(wasted.runs > 1_000 && wasted.ops > 1e6, "{wasted:?}");
}

/// Two runs of each task on two machines, of which the second is half as fast: when which copy started and where, when all
/// was done, and what was for nothing.
fn copied(tasks: &str) -> (Vec<(f64, TaskId, MachineId)>, f64, Waste) {
    let mut setup = table::setup(&format!("weights 1\nmachine 1\nmachine 0.5\n{tasks}"));
    setup.machine_classes.iter_mut().for_each(|class| class.room.slots = Some(1));
    let replicate = Replicate::runs(2).expect("two runs");
    let recipe = Recipe { replicate, ..Recipe::by(Score::Greedy) };
    let record = run_checked(&setup, recipe.build()).expect("the grid and the index are whole");
    let copies = record.0.iter().filter_map(|(time, entry)| match entry {
        Entry::Decision(Decision::Replicate { task, on }) => Some((time.seconds(), *task, *on)),
        Entry::Decision(_) | Entry::Event(_) | Entry::Command(_) => None,
    });
    let mut simulation = Simulation::new(&setup, recipe.build());
    simulation.run();
    let history = simulation.history();
    (copies.collect(), history.makespan().seconds(), history.wasted())
}

#[test]
fn the_faster_of_two_runs_counts() {
    let copies = vec![(0.0, TaskId::new(0), MachineId::new(1))];
    assert_eq!(copied("task 0 10 1\n"), (copies, 10.0, Waste { runs: 1, ops: 5.0 }));
}

#[test]
fn a_copy_starts_once_nothing_waits_and_the_faster_run_counts() {
    // The last task waits for the first.
    let copies = vec![(14.0, TaskId::new(1), MachineId::new(0))];
    let tasks = "task 0 10 1\ntask 0 30 1\ntask 0 4 1\n";
    assert_eq!(copied(tasks), (copies, 44.0, Waste { runs: 1, ops: 22.0 }));
}

#[test]
fn what_several_runs_cost_is_never_more_than_there_is() {
    let mut wasted = 0;
    for seed in 1..=60 {
        let setup = random::setup_with_budget(seed);
        let recipe = Recipe { spending: Spending::Cap, ..Recipe::by(Score::Greedy) };
        let policy = || Replicating::new(recipe.build(), 2);
        run_checked(&setup, policy()).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        let mut simulation = Simulation::new(&setup, policy());
        simulation.run();
        let recharge = setup.budget.expect("it has one").recharge;
        let most = simulation.history().periods().iter().map(|period| period.spent).max();
        assert!(most.is_none_or(|most| most <= recharge), "seed {seed}: {most:?} of {recharge}");
        wasted += simulation.history().wasted().runs;
    }
    assert!(wasted > 50, "only {wasted} runs were superseded");
}

#[test]
fn what_keeps_nothing_starts_again_where_it_is_moved_to() {
    // After 10 s the owner takes nearly all of the machine, and the other one is better.
    let text = "weights 1\nmachine 2\nmachine 1\ntask 0 100 1\nload 10 m0 0.99\n";
    for (restarts, end) in [(false, 90.0), (true, 110.0)] {
        let mut setup = table::setup(text);
        setup.task_classes[0].restarts = restarts;
        let rule = Relocate::by(Score::Greedy);
        let recipe = Recipe { relocate: Some(rule), ..Recipe::by(Score::Greedy) };
        let mut simulation = Simulation::new(&setup, recipe.build());
        simulation.run();
        let history = simulation.history();
        assert_eq!((history.moves(), history.makespan().seconds()), (1, end), "restarts: {restarts}");
    }
}

/// It is on its way to m1 when the owner of that comes, and goes on to m2 as soon as it is there.
#[test]
fn what_comes_to_a_machine_that_stands_still_does_not_wait_for_its_owner() {
    let setup = table::setup(
        "weights 1\nmigration 10\nmachine 10\nmachine 10\nmachine 9\ntask 0 2000 1\nload 100 m0 1\nload 105 m1 1",
    );
    let recipe = Recipe { relocate: Some(Relocate::by(Score::Greedy)), ..Recipe::by(Score::Greedy) };
    let mut simulation = Simulation::new(&setup, recipe.build());
    simulation.run();
    let history = simulation.history();
    assert_eq!((history.unfinished(), history.moves()), (0, 2));
    // 1,000 operations at 10/s, two moves, and the other 1,000 at 9/s.
    assert!((history.makespan().seconds() - (120.0 + 1_000.0 / 9.0)).abs() < 1e-6, "{history:?}");
}

#[test]
fn a_task_of_several_cores_has_a_share_for_each() {
    // Three cores are wanted where there are two: each gets two thirds, and what is alone has all that it wants.
    let mut setup = table::setup("weights 1\nmachine 1 x2 +big\ntask 0 100 1 +big\ntask 0 200 1\n");
    setup.task_classes[0].needs.cores = 2;
    let mut simulation = Simulation::new(&setup, Recipe::by(Score::Greedy).build());
    simulation.run();
    let ends: Vec<f64> = histories(&simulation).iter().map(|task| task.finished.seconds()).collect();
    assert_eq!(ends, [150.0, 250.0]);
    let waste = |seconds: f64| (simulation.busy_seconds(MachineId::new(0)) - seconds).abs();
    assert!(waste(250.0) < 1e-6);
}

#[test]
fn a_run_beside_a_slow_one_ends_first() {
    // One task: alone it is as fast as the machine where the policy put it, together as fast as the fastest of all.
    for seed in 1..=40 {
        let mut setup = random::setup(seed);
        setup.loads.clear();
        setup.tasks.arrivals.truncate(1);
        setup.tasks.lengths.truncate(1);
        setup.tasks.declared.truncate(1);
        setup.tasks.classes.truncate(1);
        let end = |copies| {
            let mut run =
                Simulation::new(&setup, Replicating::new(Recipe::by(Score::MinNum).build(), copies));
            run.run();
            (run.history().makespan(), run.history().wasted())
        };
        let ((alone, nothing), (together, wasted)) = (end(1), end(setup.machines.len()));
        assert_eq!(nothing, Waste::default(), "seed {seed}");
        assert!(together <= alone, "seed {seed}: {together} after {alone}");
        let length = setup.tasks.lengths[0].amount();
        assert!(wasted.ops <= length * wasted.runs as f64, "seed {seed}: {wasted:?}");
    }
}
