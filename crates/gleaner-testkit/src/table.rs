//! A grid and its tasks, written as a table:
//!
//! ```text
//! weights 2e-5 0.1 0.1
//! migration 5                 # optional: seconds a move costs
//! machine 4 100 250           # speeds; then optionally x2 for two cores, +tag for what it provides
//! task 0 200000  1 0 0        # arrival, length, composition; then optionally +tag for what it requires
//! load 2 m0 0.95              # from 2 s on, the owner of m0 uses 95 %
//! ```

use gleaner_core::{GridConfig, MachineClass, Migration, TaskClass};
use gleaner_sim::{Answers, LoadChange, Setup, Tasks};
use gleaner_units::{MachineClassId, MachineId, Ops, TaskClassId, Time};

/// Reads a table; classes are numbered in the order in which they appear.
///
/// # Panics
/// Where the table makes no sense.
pub fn setup(text: &str) -> Setup {
    let mut setup = Setup {
        config: GridConfig { weights: Vec::new(), migration: Migration::default() },
        machine_classes: Vec::new(),
        machines: Vec::new(),
        task_classes: Vec::new(),
        tasks: Tasks::default(),
        loads: Vec::new(),
        availability: None,
        budget: None,
        answers: Answers::default(),
    };
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.split_whitespace();
        match words.next() {
            None => {}
            Some("weights") => setup.config.weights = words.map(number).collect(),
            Some("migration") => setup.config.migration.seconds = words.map(number).sum(),
            Some("machine") => add_machine(&mut setup, words),
            Some("task") => add_task(&mut setup, words),
            Some("load") => {
                let [time, machine, load] = words.collect::<Vec<_>>()[..] else { panic!("load: {line}") };
                let machine = MachineId::new(machine.trim_start_matches('m').parse().expect("a machine"));
                setup.loads.push(LoadChange { time: moment(time), machine, load: number(load) });
            }
            Some(other) => panic!("a table has no line of kind {other:?}"),
        }
    }
    setup.check().expect("a table with classes that mean something");
    setup
}

fn number(word: &str) -> f64 {
    word.parse().unwrap_or_else(|_| panic!("{word:?} is no number"))
}

fn moment(word: &str) -> Time {
    Time::from_seconds(number(word)).expect("a moment")
}

fn add_machine<'a>(setup: &mut Setup, words: impl Iterator<Item = &'a str>) {
    let mut class = MachineClass::plain(Vec::new(), 1);
    for word in words {
        match (word.strip_prefix('x'), word.strip_prefix('+')) {
            (Some(cores), _) => class.cores = cores.parse().expect("a number of cores"),
            (_, Some(tag)) => drop(class.provides.insert(tag.to_owned())),
            _ => class.speeds.push(number(word)),
        }
    }
    setup.machines.push(MachineClassId::new(intern(&mut setup.machine_classes, class)));
}

fn add_task<'a>(setup: &mut Setup, mut words: impl Iterator<Item = &'a str>) {
    let arrival = moment(words.next().expect("an arrival"));
    let length = Ops::new(number(words.next().expect("a length"))).expect("a length above 0");
    let mut class = TaskClass::plain(Vec::new());
    for word in words {
        match word.strip_prefix('+') {
            Some(tag) => drop(class.requires.insert(tag.to_owned())),
            None => class.composition.push(number(word)),
        }
    }
    let class = TaskClassId::new(intern(&mut setup.task_classes, class));
    setup.tasks.push(arrival, length, class);
}

fn intern<T: PartialEq>(classes: &mut Vec<T>, class: T) -> usize {
    let found = classes.iter().position(|known| *known == class);
    found.unwrap_or_else(|| {
        classes.push(class);
        classes.len() - 1
    })
}
