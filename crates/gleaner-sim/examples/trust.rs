//! Wrong results accepted, and what it costs: the tables of docs/trust.md.
//!
//! `cargo run -p gleaner-sim --example trust` prints them.

use gleaner_core::{Checking, GridConfig, MachineClass, Migration, Room, TaskClass, Trusting};
use gleaner_policy::{Choose, Recipe, Replicate, Score};
use gleaner_sim::{Answered, Answers, Liars, Setup, Simulation, Tasks};
use gleaner_units::{MachineClassId, Ops, TaskClassId, Time};

const MACHINES: usize = 100;
const TASKS: usize = 10_000;
const SEEDS: u64 = 10;
/// Student's t: with as many seeds, the mean lies so many standard errors off in 5 of 100 cases.
const T: f64 = 2.262;
/// Each machine is busy with something half of the time, where a task runs once.
const LOAD: f64 = 0.5;

/// What is compared, and in which words.
fn rules() -> Vec<(&'static str, Option<Checking>)> {
    let of = |quorum, most, trust| match Replicate::agreeing(quorum, most, trust) {
        Some(Replicate::Quorum(checking)) => Some(checking),
        _ => panic!("{quorum} of {most} is no quorum"),
    };
    let trust = |after| Some(Trusting { after, check_every: 20 });
    vec![
        ("1 copy", None),
        ("quorum 2", of(2, 5, None)),
        ("quorum 3", of(3, 7, None)),
        ("quorum 2, trust after 10", of(2, 5, trust(10))),
        ("quorum 3, trust after 10", of(3, 7, trust(10))),
    ]
}

/// Machines that are alike, each with one core, and tasks of one length that come at equal distances.
fn setup(checking: Option<Checking>, liars: Liars, owned: Option<usize>) -> Setup {
    let room = Room { slots: Some(1), ..Room::default() };
    let machine = MachineClass { room, ..MachineClass::plain(vec![1.0], 1) };
    let task = TaskClass::plain(vec![1.0]);
    let length = 100.0;
    let every_s = length / (LOAD * MACHINES as f64) * checking.map_or(1.0, |rule| f64::from(rule.quorum));
    let mut tasks = Tasks::default();
    for task in 0..TASKS {
        let arrival = Time::from_seconds(task as f64 * every_s).expect("a moment");
        tasks.push(arrival, Ops::new(length).expect("a length"), TaskClassId::new(0));
    }
    Setup {
        config: GridConfig { weights: vec![1.0], migration: Migration::default() },
        machine_classes: vec![machine],
        machines: vec![MachineClassId::new(0); MACHINES],
        availability: None,
        task_classes: vec![task],
        tasks,
        loads: Vec::new(),
        budget: None,
        answers: Answers { checking, liars: Some(liars), owned },
    }
}

/// Who lies: what share of the owners, how often, together or not; how many machines each has, and whether the grid knows that.
#[derive(Clone, Copy)]
struct World {
    share: f64,
    chance: f64,
    collude: bool,
    each: usize,
    is_known: bool,
}

fn run(checking: Option<Checking>, world: World, seed: u64) -> Answered {
    let World { share, chance, collude, each, is_known } = world;
    let liars = Liars::with_owners((MACHINES, each), share, (chance, collude), seed);
    let setup = setup(checking, liars, is_known.then_some(each));
    // Any machine is as likely as any other.
    let recipe = Recipe { choose: Choose::BestByLot, ..Recipe::by(Score::Greedy) };
    let mut simulation = Simulation::new(&setup, recipe.build()).with_seed(seed);
    simulation.run();
    simulation.answered().expect("answers are compared")
}

/// The mean, and half of the interval that has it in 95 of 100 cases.
fn interval(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, T * (variance / n).sqrt())
}

/// Prints a table; how many machines were closed that do not lie is returned.
fn table(title: &str, (chance, collude): (f64, bool), (each, is_known): (usize, bool)) -> usize {
    let mut closed = 0;
    println!("\n**{title}**\n");
    println!("| liars | rule | wrong results accepted | work per task |");
    println!("|---|---|---|---|");
    for share in if each == 1 { vec![0.0, 0.01, 0.05, 0.2] } else { vec![0.1, 0.2] } {
        let world = World { share, chance, collude, each, is_known };
        for (name, checking) in rules() {
            let runs: Vec<Answered> = (1..=SEEDS).map(|seed| run(checking, world, seed)).collect();
            let of = |value: &dyn Fn(&Answered) -> f64| interval(&runs.iter().map(value).collect::<Vec<_>>());
            let (wrong, wrong_by) = of(&|run| 100.0 * run.wrong as f64 / run.accepted.max(1) as f64);
            let (work, work_by) = of(&|run| run.work);
            closed += runs.iter().map(|run| run.honest_closed).sum::<usize>();
            println!(
                "| {} % | {name} | {wrong:.3} ± {wrong_by:.3} % | {work:.3} ± {work_by:.3} |",
                100.0 * share
            );
        }
    }
    closed
}

fn main() {
    println!("{MACHINES} machines, {TASKS} tasks, {SEEDS} seeds; ± is half of the 95 % interval.");
    let unknown = "Owners of ten machines who lie on all of them, and the grid does not know whose they are";
    let closed = [
        table("Liars that always lie, each for itself", (1.0, false), (1, false)),
        table("Liars that always lie, and tell the same lie", (1.0, true), (1, false)),
        table("Liars that lie about one task in ten, and tell the same lie", (0.1, true), (1, false)),
        table(unknown, (1.0, true), (10, false)),
        table("The same, and the grid knows", (1.0, true), (10, true)),
    ];
    println!("\nMachines that do not lie and were closed: {}", closed.iter().sum::<usize>());
}
