//! What the benchmarks map: the same instances in `cargo bench` and in any other measurement.

use crate::Matrix;
use rand_core::Rng;
use rand_pcg::Pcg64;

/// The random stream of this module's instances, one of those of a seed.
const STREAM: u128 = 0x776f_726b_6c6f_6164;

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
