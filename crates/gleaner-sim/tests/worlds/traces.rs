//! The worked traces of the contract, to its nine digits.

use gleaner_policy::{Recipe, Relocate, Score};
use gleaner_sim::Simulation;
use gleaner_testkit::table;

const MACHINES: &str = "
    weights 2e-5 0.1 0.1
    machine 4 100 250
    machine 2 100 250
    machine 1 800 250
";

const FIRST: &str = "
    task 0 200000  1 0 0
    task 0  50000  0.7 0.1 0.2
    task 1 120000  0.2 0.8 0
    task 2  90000  1 0 0
    task 3  30000  0.2 0.8 0
";

const SECOND: &str = "
    task 0   300000  1 0 0
    task 0.1  60000  0.7 0.1 0.2
    task 0.2 150000  0.2 0.8 0
    task 0.3  90000  0.5 0.5 0
    task 0.4  30000  0.2 0.8 0
    load 2 m2 0.95
";

/// `expected` has one line a task: the machine where it ended, and when.
fn check(tasks: &str, recipe: Recipe, moves: u64, expected: &str) {
    let setup = table::setup(&format!("{MACHINES}{tasks}"));
    let mut simulation = Simulation::new(&setup, recipe.build());
    simulation.run();
    let history = simulation.history();
    let expected = expected.lines().map(str::trim).filter(|line| !line.is_empty());
    for (index, (task, line)) in history.tasks().iter().zip(expected).enumerate() {
        let (machine, seconds) = line.split_once(' ').expect("a machine and a time");
        assert_eq!(task.machine.expect("every task ran").to_string(), machine, "t{index}");
        assert_eq!(task.finished.to_string(), seconds, "t{index}");
    }
    assert_eq!(history.moves(), moves);
}

fn greedy(relocate: Option<Relocate>) -> Recipe {
    Recipe { relocate, ..Recipe::by(Score::Greedy) }
}

#[test]
fn a_greedy_without_relocation() {
    check(
        FIRST,
        greedy(None),
        0,
        "m0 1.000000000
         m2 12.770000000
         m2 20.925000000
         m0 2.450000000
         m2 12.360000000",
    );
}

#[test]
fn b_greedy_with_greedy_relocation() {
    check(
        FIRST,
        greedy(Some(Relocate::by(Score::Greedy))),
        1,
        "m0 1.000000000
         m0 8.652816901
         m2 17.325000000
         m0 2.450000000
         m2 9.240000000",
    );
}

#[test]
fn c_an_owner_takes_a_machine() {
    check(
        SECOND,
        greedy(Some(Relocate::by(Score::Greedy))),
        4,
        "m0 1.500000000
         m0 21.440579030
         m0 127.826779899
         m1 64.795449823
         m1 43.308141026",
    );
}

#[test]
fn d_min_num_moves_nothing() {
    let recipe = Recipe { relocate: Some(Relocate::by(Score::MinNum)), ..Recipe::by(Score::MinNum) };
    check(
        SECOND,
        recipe,
        0,
        "m0 2.700000000
         m1 22.240000000
         m2 278.000000000
         m0 46.725000000
         m1 35.380000000",
    );
}

/// A machine with one fast core, one with two slow ones; each core has one task at a time.
#[test]
fn exclusive_cores_take_one_task_each_and_the_others_wait_in_order() {
    let mut setup = table::setup(
        "weights 1
         machine 2
         machine 1 x2
         task 0 8 1
         task 0 2 1
         task 0 3 1
         task 1 4 1
         task 1 1 1",
    );
    for class in &mut setup.machine_classes {
        class.room.slots = Some(class.cores);
    }
    let mut simulation = Simulation::new(&setup, greedy(None).build());
    simulation.run();
    let history = simulation.history().tasks().iter();
    let lives = history.map(|task| {
        let on = task.machine.expect("every task ran");
        format!("{on} {} {}", task.started.seconds(), task.finished.seconds())
    });
    // t3 takes the core that t1 leaves, t4 the one that t2 leaves.
    assert_eq!(lives.collect::<Vec<_>>(), ["m0 0 4", "m1 0 2", "m1 0 3", "m1 2 6", "m1 3 4"]);
}
