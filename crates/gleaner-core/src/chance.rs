//! Chance that needs no place in a stream: what is drawn depends on a seed, on what it decides and on the run that it is
//! about, and on nothing that was drawn before. So a recovered grid, or a simulation that goes on, draws the same.
//!
//! The generator is `ChaCha8` (`rand_chacha`): the seed and the purpose are its key, what it is about is its stream.

use gleaner_units::RunId;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};

/// What chance decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// Where a task goes.
    Place,
    /// At which sites a job waits.
    Home,
    /// Whether a letter is lost.
    Letter,
    /// Whether a trusted machine's answer is checked.
    Check,
    /// Which machines lie, in a simulation.
    Liar,
    /// Whether one that does lies this time.
    Lie,
}

impl Purpose {
    /// Any number will do, as long as no other purpose has it.
    fn key(self) -> u64 {
        match self {
            Purpose::Place => 0x6272_6f6b_6572,
            Purpose::Home => 0x686f_6d65,
            Purpose::Letter => 0,
            Purpose::Check => 0x63_6865_636b,
            Purpose::Liar => 0x6c69_6172,
            Purpose::Lie => 0x6c_6965,
        }
    }
}

/// Numbers that their key alone tells.
#[derive(Clone, Debug)]
pub struct Chance(ChaCha8Rng);

impl Chance {
    /// For what is decided about a run.
    pub fn of(seed: u64, purpose: Purpose, run: RunId) -> Self {
        let later = u64::from(run.number.saturating_sub(1)) << 32;
        Self::of_nth(seed, purpose, later | run.task.index() as u64)
    }

    /// For what is decided about the n-th of a kind that has a number only.
    pub fn of_nth(seed: u64, purpose: Purpose, nth: u64) -> Self {
        let mut words = ChaCha8Rng::seed_from_u64(seed ^ purpose.key());
        words.set_stream(nth);
        Self(words)
    }

    /// From 0 up to, not including, 1.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// From 0 up to, not including, `bound`.
    pub fn below(&mut self, bound: u32) -> u32 {
        (self.unit() * f64::from(bound)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_units::TaskId;

    fn run(task: usize, number: u32) -> RunId {
        RunId::new(TaskId::new(task), number)
    }

    #[test]
    fn a_key_alone_tells_what_is_drawn() {
        let drawn = |seed, purpose, run| {
            let mut chance = Chance::of(seed, purpose, run);
            [chance.below(1 << 30), chance.below(1 << 30)]
        };
        let one = drawn(1, Purpose::Place, run(2, 3));
        assert_eq!(one, drawn(1, Purpose::Place, run(2, 3)));
        let others = [
            drawn(2, Purpose::Place, run(2, 3)),
            drawn(1, Purpose::Home, run(2, 3)),
            drawn(1, Purpose::Place, run(3, 3)),
            drawn(1, Purpose::Place, run(2, 4)),
        ];
        assert!(!others.contains(&one), "{one:?} is among {others:?}");
        // Recorded: journals hold what was decided by it.
        assert_eq!(one, [1_033_653_713, 667_913_430]);
    }

    /// χ² of ten cells has 9 degrees of freedom: it is above 27.9 once in a thousand cases.
    #[test]
    fn cells_are_equally_likely_over_seeds_tasks_and_runs() {
        let check = |what: &str, draw: &dyn Fn(u32) -> Chance| {
            let mut cells = [0_u32; 10];
            for index in 0..10_000 {
                cells[draw(index).below(10) as usize] += 1;
            }
            let off = cells.iter().map(|&count| f64::from(count) - 1000.0);
            let chi: f64 = off.map(|off| off * off / 1000.0).sum();
            assert!(chi < 27.9, "over {what}: {cells:?}");
        };
        check("seeds", &|index| Chance::of(u64::from(index), Purpose::Place, run(5, 1)));
        check("tasks", &|index| Chance::of(1, Purpose::Place, run(index as usize, 1)));
        check("runs", &|index| Chance::of(1, Purpose::Place, run(5, index + 1)));
        check("letters", &|index| Chance::of_nth(1, Purpose::Letter, u64::from(index)));
    }
}
