//! What the grid says that a task has done is what follows from all that passed, whatever became of speeds, owners and
//! neighbours; and in a simulation without foresight it is what the task really did.

use gleaner_core::{Command, Event, Grid, Policy, Scheduler, Settled};
use gleaner_policy::{Order, Recipe, Relocate, Score, Spending};
use gleaner_sim::{Setup, Simulation};
use gleaner_testkit::history;
use gleaner_testkit::naive_progress::NaiveProgress;
use gleaner_testkit::random;
use gleaner_testkit::record::{Entry, run};
use gleaner_units::{TaskId, Time};

/// As far as two ways to add up the same may differ, relative to the larger.
const ROUNDING: f64 = 1e-9;

fn is_close(one: f64, other: f64) -> bool {
    (one - other).abs() <= ROUNDING * one.abs().max(other.abs()).max(1.0)
}

fn moving(seed: u64) -> Recipe {
    let score = Score::ALL[seed as usize % Score::ALL.len()];
    Recipe { relocate: Some(Relocate::by(score)), ..Recipe::by(score) }
}

fn compare(grid: &Grid, now: Time, naive: &NaiveProgress) -> Result<(), String> {
    let placed = grid.tasks().filter(|(_, task)| task.placed_on().is_some());
    let kept: Vec<(TaskId, f64)> = placed.map(|(id, _)| (id, grid.ops_done(now, id))).collect();
    let expected: Vec<(TaskId, f64)> = naive.ops_done().collect();
    let same = kept.len() == expected.len()
        && kept.iter().zip(&expected).all(|(one, other)| one.0 == other.0 && is_close(one.1, other.1));
    if same { Ok(()) } else { Err(format!("at {now}: {kept:?}\n   against {expected:?}")) }
}

#[test]
fn progress_on_live_grids_is_what_follows_from_all_that_passed() {
    for seed in 1..=400 {
        let empty = Grid::new(random::setup(seed).config);
        let mut naive = NaiveProgress::new(empty.classes().weights().to_vec());
        let same = history::live(seed, empty, moving(seed).build(), |step| {
            naive.take_in(step.now, &Entry::Event(step.event.clone()));
            for &command in &step.commands {
                naive.take_in(step.now, &Entry::Command(command));
            }
            compare(step.scheduler.grid(), step.now, &naive)
        });
        same.unwrap_or_else(|broken| panic!("seed {seed}: {broken}"));
    }
}

/// Lets a grid live through a simulation again, and shows it before each event.
fn again(setup: &Setup, policy: impl Policy + Clone, mut see: impl FnMut(&Grid, Time, &Event)) {
    let opening = Simulation::new(setup, policy.clone()).scheduler().grid().clone();
    let mut scheduler = Scheduler::new(opening, policy.clone());
    let record = run(setup, policy).0;
    let mut entries = record.iter().peekable();
    while let Some((now, entry)) = entries.next() {
        let Entry::Event(event) = entry else { unreachable!("a command follows on an event") };
        see(scheduler.grid(), *now, event);
        scheduler.apply(*now, event);
        let mut commands: Vec<Command> = Vec::new();
        while let Some((_, Entry::Command(command))) = entries.peek() {
            commands.push(*command);
            entries.next();
        }
        scheduler.carry_out(*now, &commands, Settled::default()).expect("what was decided then");
    }
}

#[test]
fn a_task_that_ends_has_done_its_length() {
    let mut ended = 0;
    for seed in 1..=100 {
        for setup in [random::setup(seed), random::setup_with_budget(seed)] {
            // The simulated world moves what a task has done in any case, and none of it at once.
            let mut setup = setup;
            setup.config.migration.seconds = 0.0;
            setup.task_classes.iter_mut().for_each(|class| class.restarts = false);
            let batching = setup.budget.map(|budget| Recipe {
                spending: Spending::Cap,
                ..Recipe::in_batches(Order::MinMin, budget.period)
            });
            let recipe = batching.unwrap_or_else(|| moving(seed));
            again(&setup, recipe.build(), |grid, now, event| {
                let Event::AttemptFinished { task, .. } = *event else { return };
                let length = grid.declared_length(task).expect("simulated tasks have lengths").amount();
                let done = grid.ops_done(now, task);
                // An end comes at a whole nanosecond.
                let class = grid.task(task).class();
                let on = grid.task(task).placed_on().expect("it ran");
                let nanosecond = 1e-9 / grid.seconds_per_op(class, on);
                assert!((done - length).abs() <= nanosecond + ROUNDING * length, "{done} of {length}");
                ended += 1;
            });
        }
    }
    assert!(ended > 3000, "only {ended} tasks ended");
}
