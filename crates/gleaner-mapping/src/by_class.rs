//! Min-Min, Max-Min, MCT and Sufferage where a task's time is its length over the machine's speed, and machines of
//! equal speed form classes.
//!
//! Machines are numbered class by class; no matrix is made. **The result of Min-Min, Max-Min and MCT is that of the same
//! heuristic on [`ClassedGrid::to_matrix`]**, to the bit, ties included. Three things make these fast:
//!
//! - A shorter task ends no later on any machine, so Min-Min's next task is the shortest left and Max-Min's the
//!   longest, but for ties (`lengths`). This holds for rounded sums and quotients too.
//! - A class offers its machine that is free first, so a task looks at classes, not at machines (`pool`).
//! - That look multiplies by the inverse speed, in a loop without branches, and divides only where it comes close.
//!
//! Cost: O(t·log t) to sort, then O(classes + log machines) a step. Memory, input included: under 50 bytes for a task and a
//! machine.
//!
//! **The result of both forms of Sufferage is that of [`plain`]**, to the bit, ties included. On a matrix, rounding decides
//! whether (f₂ + l/s) − (f₁ + l/s) is the same for two lengths l. Here it is:
//!
//! - where a task's best two machines are of one speed, its sufferage is the difference of their ready times, f₂ − f₁;
//! - elsewhere it is that of their ends, f + l·(1/s); and there is none between moments that tie;
//! - of the machines of a speed that tie for being free first, the lowest is offered.
//!
//! Where no sum or quotient is rounded, and what differs does not tie, that is the result on [`ClassedGrid::to_matrix`],
//! to the bit.
//!
//! - Ends are lines over the length, so the first choices are their lower envelope: few speeds lead (`front`).
//! - The tasks of which a speed is the first choice suffer most around one length (`suitors`). Those are found by length
//!   (`ranked`), and of those that suffer alike, the lowest.
//! - A task given away raises one line. Only what lies between the neighbours of that leader is looked at again.
//!
//! Cost: O(t·log t) to sort. A step, or a leader in a pass, then takes a few scans of the classes between neighbouring
//! leaders, a few of all classes, and O(log t + log machines). In theory more: all classes may lead, and many tasks may tie
//! but for rounding. Memory, input included: under 100 bytes for a task and a machine.

mod fleet;
mod front;
mod lengths;
mod lines;
pub mod plain;
mod pool;
mod ranked;
mod sufferage;
mod suitors;

use crate::mapping::Mapping;
use crate::{Heuristic, InvalidMatrix, Matrix};
use gleaner_core::tie_threshold;
use lengths::Lengths;
use pool::Pool;
use thiserror::Error;

/// Machines that are alike.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MachineClass {
    /// Length done in a unit of time.
    pub speed: f64,
    /// How many.
    pub machines: usize,
}

/// Tasks by length and machines by class.
#[derive(Clone, PartialEq, Debug)]
pub struct ClassedGrid {
    lengths: Vec<f64>,
    classes: Vec<MachineClass>,
}

/// Speeds and lengths lie below this, and speeds above its inverse: quotients then neither overflow nor vanish.
pub const EXTENT_MAX: f64 = 1e100;

/// Why numbers are no [`ClassedGrid`].
#[derive(Clone, Copy, PartialEq, Debug, Error)]
pub enum InvalidGrid {
    /// There is nothing to map, or nothing to map it to.
    #[error("found {tasks} tasks and {machines} machines; expected from 1 to {} of each", u32::MAX)]
    Shape {
        /// How many lengths.
        tasks: usize,
        /// How many machines, in all classes.
        machines: usize,
    },
    /// A length that makes no sense.
    #[error("found length {length} for task {task}; expected one from 0 to {EXTENT_MAX:e}")]
    Length {
        /// Whose.
        task: usize,
        /// What is there.
        length: f64,
    },
    /// A class that makes no sense.
    #[error(
        "found {machines} machines of speed {speed} in class {class}; expected at least one, of a speed from \
         {:e} to {EXTENT_MAX:e}",
        1.0 / EXTENT_MAX
    )]
    Class {
        /// Which one.
        class: usize,
        /// Their speed.
        speed: f64,
        /// How many.
        machines: usize,
    },
}

impl ClassedGrid {
    /// Tasks of these lengths, and classes of at least one machine each.
    pub fn new(lengths: Vec<f64>, classes: Vec<MachineClass>) -> Result<Self, InvalidGrid> {
        let machines = classes.iter().fold(0_usize, |sum, class| sum.saturating_add(class.machines));
        let countable = |count: usize| count > 0 && u32::try_from(count).is_ok();
        if !countable(lengths.len()) || !countable(machines) {
            return Err(InvalidGrid::Shape { tasks: lengths.len(), machines });
        }
        if let Some(task) = lengths.iter().position(|length| !(0.0..=EXTENT_MAX).contains(length)) {
            return Err(InvalidGrid::Length { task, length: lengths[task] });
        }
        let sound = |class: &MachineClass| {
            class.machines > 0 && (1.0 / EXTENT_MAX..=EXTENT_MAX).contains(&class.speed)
        };
        if let Some(class) = classes.iter().position(|class| !sound(class)) {
            let MachineClass { speed, machines } = classes[class];
            return Err(InvalidGrid::Class { class, speed, machines });
        }
        Ok(Self { lengths, classes })
    }

    /// The length of each task.
    pub fn lengths(&self) -> &[f64] {
        &self.lengths
    }

    /// The classes, in the order in which their machines are numbered.
    pub fn classes(&self) -> &[MachineClass] {
        &self.classes
    }

    /// How many tasks.
    pub fn tasks(&self) -> usize {
        self.lengths.len()
    }

    /// How many machines, in all classes.
    pub fn machines(&self) -> usize {
        self.classes.iter().map(|class| class.machines).sum()
    }

    /// Every task's time on every machine.
    pub fn to_matrix(&self) -> Result<Matrix, InvalidMatrix> {
        let mut times = Vec::new();
        for length in &self.lengths {
            for class in &self.classes {
                times.extend(std::iter::repeat_n(length / class.speed, class.machines));
            }
        }
        Matrix::new(self.tasks(), self.machines(), times)
    }

    /// Maps all tasks to machines that are idle, or `None` for MET, OLB and KPB, which have no form by class: those run
    /// on [`ClassedGrid::to_matrix`].
    pub fn map(&self, heuristic: Heuristic) -> Option<Mapping> {
        self.map_from(heuristic, &vec![0.0; self.machines()])
    }

    /// The same for machines that are busy until the moments in `ready`.
    ///
    /// # Panics
    /// If `ready` is not one finite moment, 0 or later, for each machine.
    pub fn map_from(&self, heuristic: Heuristic, ready: &[f64]) -> Option<Mapping> {
        assert_eq!(ready.len(), self.machines(), "a moment for every machine");
        assert!(ready.iter().all(|moment| *moment >= 0.0 && moment.is_finite()), "moments from 0 on");
        let pool = Pool::new(&self.classes, ready);
        Some(match heuristic {
            Heuristic::MinMin => self.min_min(pool),
            Heuristic::MaxMin => self.max_min(pool),
            Heuristic::Mct => self.mct(pool),
            Heuristic::Sufferage => sufferage::in_steps(self, ready),
            Heuristic::SufferagePasses => sufferage::in_passes(self, ready),
            Heuristic::Met | Heuristic::Olb | Heuristic::Kpb { .. } => return None,
        })
    }

    fn min_min(&self, mut pool: Pool) -> Mapping {
        let mut left = Lengths::new(&self.lengths);
        let mut assignment = vec![0; self.tasks()];
        while let Some(shortest) = left.shortest() {
            let limit = pool.look(left.length(shortest)).limit;
            // Only what the shortest's look came close to can tie with it for a longer task.
            let tied = left.longer(shortest).take_while(|run| pool.reaches(left.length(*run), limit));
            let run = tied.min_by_key(|run| left.lowest(*run)).expect("the shortest ties with itself");
            let target =
                if run == shortest { pool.target(left.length(run)) } else { pool.look(left.length(run)) };
            assignment[left.take(run)] = pool.assign(target);
        }
        finished(&pool, assignment)
    }

    fn max_min(&self, mut pool: Pool) -> Mapping {
        let mut left = Lengths::new(&self.lengths);
        let mut assignment = vec![0; self.tasks()];
        while let Some(longest) = left.longest() {
            let mut target = pool.look(left.length(longest));
            let (limit, mut run) = (tie_threshold(target.end), longest);
            for shorter in left.shorter(longest).skip(1) {
                // Where the longest's class would be done before, no look can find it to be later.
                if pool.end(target.class, left.length(shorter)) < limit {
                    break;
                }
                let its_target = pool.look(left.length(shorter));
                if its_target.end < limit {
                    break;
                }
                if left.lowest(shorter) < left.lowest(run) {
                    (target, run) = (its_target, shorter);
                }
            }
            assignment[left.take(run)] = pool.assign(target);
        }
        finished(&pool, assignment)
    }

    fn mct(&self, mut pool: Pool) -> Mapping {
        let assignment = self.lengths.iter().map(|&length| {
            let target = pool.look(length);
            pool.assign(target)
        });
        let assignment = assignment.collect();
        finished(&pool, assignment)
    }
}

fn finished(pool: &Pool, assignment: Vec<u32>) -> Mapping {
    Mapping { makespan: pool.makespan(), assignment }
}
