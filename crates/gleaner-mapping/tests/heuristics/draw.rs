//! Random instances, odd on purpose.

use gleaner_mapping::Matrix;
use rand_core::Rng;
use rand_pcg::Pcg64;

pub(crate) struct Choices(Pcg64);

impl Choices {
    pub(crate) fn seeded(seed: u64) -> Self {
        Self(Pcg64::new(u128::from(seed), 0x006d_6170_7069_6e67))
    }

    /// From 0 up to, not including, 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.unit() * bound as f64) as usize
    }

    /// Times in which exact ties, ties but for rounding, near ties on either side of 1e-12, and zeros abound.
    pub(crate) fn matrix(&mut self) -> Matrix {
        let (tasks, machines) = (1 + self.below(60), 1 + self.below(14));
        let kind = self.below(7);
        let of_tasks: Vec<f64> = (0..tasks).map(|_| self.unit()).collect();
        let of_machines: Vec<f64> = (0..machines).map(|_| 0.1 + self.unit()).collect();
        let mut time = |task: usize, machine: usize| match kind {
            0 => 100.0 * self.unit(),
            1 => (1 + self.below(4)) as f64,
            2 => (1 + self.below(3)) as f64 / 10.0,
            3 => 1.0 + self.below(40) as f64 * 1e-13,
            4 => of_tasks[task] / of_machines[machine],
            5 => {
                (1 + (of_tasks[task] * 5.0) as usize) as f64
                    / (1 + (of_machines[machine] * 4.0) as usize) as f64
            }
            _ => self.below(6) as f64,
        };
        let times = (0..tasks * machines).map(|at| time(at / machines, at % machines)).collect();
        Matrix::new(tasks, machines, times).expect("a matrix")
    }

    /// Moments from which machines are ready: all at once, at random, or so late that most times tie.
    pub(crate) fn ready(&mut self, machines: usize) -> Vec<f64> {
        let kind = self.below(4);
        let mut moment = || match kind {
            0 | 1 => 0.0,
            2 => self.below(4) as f64,
            _ => 1e12 + self.below(3) as f64,
        };
        (0..machines).map(|_| moment()).collect()
    }
}
