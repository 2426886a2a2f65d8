//! Grids and tasks.

use gleaner_core::{GridConfig, MachineClass, Migration, TaskClass};
use gleaner_papers::Stream;
use gleaner_papers::bertasi::jobs::JobSet;
use gleaner_papers::bertasi::{COMPOSITIONS, WEIGHTS, grids};
use gleaner_sim::{Answers, Setup, Tasks};
use gleaner_units::{MachineClassId, Ops, TaskClassId, Time};

/// Tells these streams from those of the papers.
const STREAM: u64 = 0x6265_6e63;
/// Operations a task has on average.
const LENGTH_MEAN: f64 = 1e5;

/// The jobs on the AEOLUS grid.
pub(crate) fn of_jobs(jobs: JobSet) -> Setup {
    Setup {
        tasks: Tasks::truly_declared(
            jobs.arrivals,
            jobs.lengths,
            jobs.kinds.into_iter().map(TaskClassId::new).collect(),
        ),
        ..grid(grids::aeolus().len())
    }
}

/// `tasks` tasks of the paper's five kinds that arrive within `seconds`, one in each equal part of them, on `machines` machines
/// of the AEOLUS grid's kinds.
///
/// Arrivals are drawn, so that none falls on the end of a task: which of the two comes first is a convention, and others
/// have another one.
pub fn crowd(machines: usize, tasks: usize, seconds: f64) -> Setup {
    let mut setup = grid(machines);
    let mut moments = Stream::new(2, STREAM);
    let part = seconds / tasks as f64;
    setup.tasks = draw(tasks, |index| part * (index as f64 + moments.uniform(0.0, 1.0)));
    setup
}

/// The first so many machines of a row of AEOLUS grids.
pub(crate) fn grid(machines: usize) -> Setup {
    let mut kinds: Vec<grids::Speeds> = Vec::new();
    let mut kind_of = |speeds: &grids::Speeds| {
        kinds.iter().position(|known| known == speeds).unwrap_or_else(|| {
            kinds.push(*speeds);
            kinds.len() - 1
        })
    };
    let machines = grids::aeolus()
        .iter()
        .cycle()
        .take(machines)
        .map(|speeds| MachineClassId::new(kind_of(speeds)))
        .collect();
    Setup {
        config: GridConfig { weights: WEIGHTS.to_vec(), migration: Migration::default() },
        machine_classes: kinds.iter().map(machine_class).collect(),
        machines,
        task_classes: COMPOSITIONS.iter().map(task_class).collect(),
        tasks: Tasks::default(),
        loads: Vec::new(),
        availability: None,
        budget: None,
        answers: Answers::default(),
    }
}

fn machine_class(speeds: &grids::Speeds) -> MachineClass {
    MachineClass::plain(speeds.to_vec(), 1)
}

fn task_class(composition: &[f64; 3]) -> TaskClass {
    TaskClass::plain(composition.to_vec())
}

pub(crate) fn draw(count: usize, mut arrival_s: impl FnMut(usize) -> f64) -> Tasks {
    let mut stream = Stream::new(1, STREAM);
    let mut tasks = Tasks::default();
    for index in 0..count {
        let length = stream.uniform(1.0, 2.0 * LENGTH_MEAN).round();
        let class = TaskClassId::new(stream.uniform(0.0, COMPOSITIONS.len() as f64) as usize);
        let arrival = Time::from_seconds(arrival_s(index)).expect("neither negative nor huge");
        tasks.push(arrival, Ops::new(length).expect("at least 1"), class);
    }
    tasks
}
