//! What the grid says that a task has done is what follows from all that passed, whatever became of speeds, owners and
//! neighbours; and in a simulation without foresight it is what the task really did.

use crate::basics::moving;
use gleaner_core::{Event, Grid, Policy, Run, RunEnd, Scheduler, Settled};
use gleaner_policy::{Recipe, Spending, TaskOrder};
use gleaner_sim::{Setup, Simulation};
use gleaner_testkit::history;
use gleaner_testkit::naive_progress::NaiveProgress;
use gleaner_testkit::random;
use gleaner_testkit::record::{Entry, run};
use gleaner_units::{RunId, TaskId, Time};

/// As far as two ways to add up the same may differ, relative to the larger.
const ROUNDING: f64 = 1e-9;

fn is_close(one: f64, other: f64) -> bool {
    (one - other).abs() <= ROUNDING * one.abs().max(other.abs()).max(1.0)
}

fn compare(grid: &Grid, now: Time, naive: &NaiveProgress) -> Result<(), String> {
    let runs = grid.tasks().flat_map(|(id, _)| grid.runs_of(id)).filter(|run| run.counts()).map(Run::id);
    let mut kept: Vec<(RunId, f64)> = runs.map(|id| (id, grid.ops_done(now, id))).collect();
    kept.sort_by_key(|(id, _)| *id);
    let expected: Vec<(RunId, f64)> = naive.ops_done().collect();
    let same = kept.len() == expected.len()
        && kept.iter().zip(&expected).all(|(one, other)| one.0 == other.0 && is_close(one.1, other.1));
    if !same {
        return Err(format!("at {now}: {kept:?}\n   against {expected:?}"));
    }
    let took: Vec<(TaskId, f64)> =
        grid.tasks().filter_map(|(id, _)| Some((id, grid.took(id)?.ops()))).collect();
    let expected: Vec<(TaskId, f64)> = naive.lengths().collect();
    // What is kept of an end is a whole number of nanoseconds.
    let nanosecond = |id: TaskId| 1e-9 / grid.took(id).expect("what was found").seconds_per_op;
    let is_close = |(id, one): (TaskId, f64), other: f64| {
        (one - other).abs() <= nanosecond(id) + ROUNDING * one.abs().max(other.abs())
    };
    let same = took.len() == expected.len()
        && took.iter().zip(&expected).all(|(one, other)| one.0 == other.0 && is_close(*one, other.1));
    if same { Ok(()) } else { Err(format!("lengths at {now}: {took:?}\n   against {expected:?}")) }
}

#[test]
fn progress_on_live_grids_is_what_follows_from_all_that_passed() {
    for seed in 1..=400 {
        let empty = Grid::new(random::setup(seed).config);
        let mut naive = NaiveProgress::new(empty.classes().weights().to_vec());
        let same = history::live(seed, empty, moving(seed).build(), |step| {
            naive.take_in(step.now, &Entry::Event(step.event.clone()));
            for decision in &step.decisions {
                naive.take_in(step.now, &Entry::Decision(decision.clone()));
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
    let mut entries = record.iter().filter(|(_, entry)| !matches!(entry, Entry::Command(_))).peekable();
    while let Some((now, entry)) = entries.next() {
        let Entry::Event(event) = entry else { unreachable!("a decision follows on an event") };
        see(scheduler.grid(), *now, event);
        scheduler.apply(*now, event);
        let mut decisions = Vec::new();
        while let Some((_, Entry::Decision(decision))) = entries.peek() {
            decisions.push(decision.clone());
            entries.next();
        }
        scheduler.carry_out(*now, &decisions, Settled::default()).expect("what was decided then");
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
                ..Recipe::in_batches(TaskOrder::MinMin, budget.period)
            });
            let recipe = batching.unwrap_or_else(|| moving(seed));
            again(&setup, recipe.build(), |grid, now, event| {
                let Event::RunEnded { run, end: RunEnd::Finished } = *event else { return };
                let length = setup.tasks.lengths[run.task.index()].amount();
                let done = grid.ops_done(now, run);
                // An end comes at a whole nanosecond.
                let class = grid.task(run.task).class();
                let on = grid.placed_on(run.task).expect("it ran");
                let nanosecond = 1e-9 / grid.seconds_per_op(class, on);
                assert!((done - length).abs() <= nanosecond + ROUNDING * length, "{done} of {length}");
                ended += 1;
            });
        }
    }
    assert!(ended > 3000, "only {ended} tasks ended");
}
