//! Prices that follow supply and demand: what machines of a speed ask rises while nearly all of them are busy, and falls
//! while many are idle.

use serde::{Deserialize, Serialize};

/// What prices are multiplied by, from the lowest level to the highest: each step is √2.
pub(crate) const FACTORS: [f64; 9] = [
    0.25,
    0.25 * std::f64::consts::SQRT_2,
    0.5,
    std::f64::consts::FRAC_1_SQRT_2,
    1.0,
    std::f64::consts::SQRT_2,
    2.0,
    2.0 * std::f64::consts::SQRT_2,
    4.0,
];
/// Where every price begins: as it would be if none followed demand.
pub(crate) const MIDDLE: usize = 4;

/// A price rises where at least this part of the machines is busy.
const RISES_FROM: f64 = 0.9;
/// A price falls where at most this part of the machines is busy.
const FALLS_TO: f64 = 0.5;

/// The level of each representative speed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct PriceLevels {
    levels: Vec<u8>,
}

impl PriceLevels {
    pub(crate) fn new(speeds: usize) -> Self {
        Self { levels: vec![MIDDLE as u8; speeds] }
    }

    /// The level of a speed.
    pub(crate) fn level(&self, speed: u32) -> usize {
        usize::from(self.levels[speed as usize])
    }

    /// Moves each level by a step at most, by the machines there are: their speeds, and whether they are busy. A speed
    /// that no machine has keeps its level.
    pub(crate) fn follow(&mut self, machines: impl Iterator<Item = (u32, bool)>) {
        let mut counts = vec![(0_u32, 0_u32); self.levels.len()];
        for (speed, busy) in machines {
            let (all, at_work) = &mut counts[speed as usize];
            *all += 1;
            *at_work += u32::from(busy);
        }
        for (level, (all, busy)) in self.levels.iter_mut().zip(counts) {
            let share = f64::from(busy) / f64::from(all);
            // Without a machine the share is no number, and neither holds.
            if share >= RISES_FROM {
                *level = (*level + 1).min(FACTORS.len() as u8 - 1);
            } else if share <= FALLS_TO {
                *level = level.saturating_sub(1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_rise_with_demand_and_fall_with_supply() {
        let mut levels = PriceLevels::new(3);
        let machines = [(0, true), (0, true), (1, true), (1, false)];
        levels.follow(machines.into_iter());
        assert_eq!([0, 1, 2].map(|speed| levels.level(speed)), [MIDDLE + 1, MIDDLE - 1, MIDDLE]);
        (0..10).for_each(|_| levels.follow(machines.into_iter()));
        assert_eq!([0, 1, 2].map(|speed| FACTORS[levels.level(speed)]), [4.0, 0.25, 1.0]);
    }
}
