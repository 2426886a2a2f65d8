//! What the benchmarks map: the same instances in `cargo bench` and in any other measurement.

use crate::Matrix;
use crate::by_class::{ClassedGrid, MachineClass};
use rand_core::Rng;
use rand_pcg::Pcg64;

/// The random stream of this module's instances, one of those of a seed.
const STREAM: u128 = 0x776f_726b_6c6f_6164;

/// How many classes [`speed_classes`] has.
pub const SPEED_CLASSES: usize = 201;

fn unit(random: &mut Pcg64) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// An inconsistent matrix after Braun et al.: a task's size, even from 1 to 3000, times a factor of its own for each
/// machine, even from 1 to 1000.
pub fn random_matrix(tasks: usize, machines: usize, seed: u64) -> Matrix {
    let mut random = Pcg64::new(u128::from(seed), STREAM);
    let mut times = Vec::with_capacity(tasks * machines);
    for _ in 0..tasks {
        let size = 1.0 + 2999.0 * unit(&mut random);
        times.extend((0..machines).map(|_| size * (1.0 + 999.0 * unit(&mut random))));
    }
    Matrix::new(tasks, machines, times).expect("a matrix")
}

/// A consistent matrix: as [`random_matrix`], with each task's times in rising order, so that every task likes the
/// machines in the same order.
pub fn consistent_matrix(tasks: usize, machines: usize, seed: u64) -> Matrix {
    rising(&random_matrix(tasks, machines, seed), 1)
}

/// A semi-consistent matrix: as [`random_matrix`], with each task's times on every other machine in rising order.
pub fn semi_consistent_matrix(tasks: usize, machines: usize, seed: u64) -> Matrix {
    rising(&random_matrix(tasks, machines, seed), 2)
}

/// The same times, those on one machine in every `every`, from the first, in rising order.
fn rising(matrix: &Matrix, every: usize) -> Matrix {
    let mut times = Vec::with_capacity(matrix.tasks() * matrix.machines());
    for row in matrix.rows() {
        let start = times.len();
        times.extend_from_slice(row);
        let mut rising: Vec<f64> = row.iter().copied().step_by(every).collect();
        rising.sort_unstable_by(f64::total_cmp);
        for (time, rising) in times[start..].iter_mut().step_by(every).zip(rising) {
            *time = rising;
        }
    }
    Matrix::new(matrix.tasks(), matrix.machines(), times).expect("a matrix")
}

/// Machines in [`SPEED_CLASSES`] classes of equal size, but for one, whose speeds are 1.00, 1.01, … 3.00; lengths even
/// from 1 to 1000.
pub fn speed_classes(tasks: usize, machines: usize, seed: u64) -> ClassedGrid {
    let mut random = Pcg64::new(u128::from(seed), STREAM);
    let lengths = (0..tasks).map(|_| 1.0 + 999.0 * unit(&mut random)).collect();
    let share = |class: usize| machines * (class + 1) / SPEED_CLASSES - machines * class / SPEED_CLASSES;
    let class = |class: usize| MachineClass { speed: 1.0 + class as f64 / 100.0, machines: share(class) };
    let classes = (0..SPEED_CLASSES).map(class).filter(|class| class.machines > 0).collect();
    ClassedGrid::new(lengths, classes).expect("a grid")
}
