//! Random instances, odd on purpose.

use gleaner_mapping::Matrix;
use gleaner_mapping::by_class::{ClassedGrid, MachineClass};
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

    /// Few classes and lengths, so that much ties, or many; some lengths differ by less than a tie.
    pub(crate) fn grid(&mut self) -> ClassedGrid {
        let kind = self.below(6);
        let mut speed = || match kind {
            0 => 0.1 + 3.0 * self.unit(),
            1 => (1 + self.below(3)) as f64,
            _ => (1 + self.below(4)) as f64 / 3.0,
        };
        let speeds: Vec<f64> = (0..6).map(|_| speed()).collect();
        let count = 1 + self.below(6);
        let class = |speed| MachineClass { speed, machines: 1 + self.below(5) };
        let classes = speeds.into_iter().take(count).map(class).collect();
        let mut length = || match kind {
            0 | 1 => 50.0 * self.unit(),
            2 => self.below(4) as f64,
            3 => 1.0 + self.below(50) as f64 * 1e-13,
            4 => 1e-12 + self.below(50) as f64 * 1e-13,
            _ => (1 + self.below(5)) as f64 / 10.0,
        };
        let lengths = (0..90).map(|_| length()).collect::<Vec<_>>();
        let tasks = 1 + self.below(90);
        ClassedGrid::new(lengths[..tasks].to_vec(), classes).expect("a grid")
    }

    /// Speeds of which some differ by a few units in 2⁻⁵², by less than a tie, or by little more.
    pub(crate) fn close_grid(&mut self) -> ClassedGrid {
        let (tasks, classes) = (1 + self.below(40), 1 + self.below(6));
        let step = [2.3e-16, 1e-15, 1e-13, 3e-12][self.below(4)];
        let class = |_| {
            let speed = (1 + self.below(3)) as f64 * 0.37 * (1.0 + self.below(4) as f64 * step);
            MachineClass { speed, machines: 1 + self.below(3) }
        };
        let classes = (0..classes).map(class).collect();
        let lengths = (0..tasks).map(|_| self.below(500) as f64 * 0.037).collect();
        ClassedGrid::new(lengths, classes).expect("a grid")
    }

    /// Speeds and lengths of which all sums and quotients are exact.
    pub(crate) fn exact_grid(&mut self) -> ClassedGrid {
        let (tasks, classes, lengths) = (1 + self.below(60), 1 + self.below(6), 1 + self.below(50));
        let class = |_| {
            let speed = [0.5, 1.0, 2.0, 4.0][self.below(4)];
            MachineClass { speed, machines: 1 + self.below(4) }
        };
        let classes = (0..classes).map(class).collect();
        let lengths = (0..tasks).map(|_| self.below(lengths) as f64).collect();
        ClassedGrid::new(lengths, classes).expect("a grid")
    }
}
