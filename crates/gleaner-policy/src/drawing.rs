//! Where a waiting task goes if chance has a say in it: to one of the machines that can take it now and that it likes best.

use crate::Score;
use crate::fleet::Fleet;
use crate::parts::choose::Choose;
use crate::parts::score;
use crate::placement::{Within, able};
use gleaner_core::{Chance, Grid, Purpose, tie_threshold};
use gleaner_units::{MachineId, TaskId};

/// A machine and its score.
type Scored = (MachineId, f64);

/// The machine that is drawn for a task; none where no machine can take it that it may go to. Costs O(machines).
pub(crate) fn draw(
    (score, choose): (Score, Choose),
    grid: &Grid,
    fleet: &Fleet,
    task: TaskId,
    within: Within<'_>,
) -> Option<MachineId> {
    let class = grid.task(task).class();
    let able = able(grid, fleet, class, within);
    let scored: Vec<Scored> = able.map(|on| (on, score::placement(score, grid, class, on))).collect();
    let best = scored.iter().map(|(_, score)| *score).reduce(f64::max)?;
    let chance = &mut grid.chance_of_next_run(Purpose::Place, task);
    Some(match choose {
        Choose::Proportional { power } => in_proportion(&scored, (best, power), chance),
        Choose::TwoChoices => better_of_two(&scored, chance),
        Choose::BestByLot | Choose::Best | Choose::BestLatest | Choose::First => {
            let ties: Vec<&Scored> =
                scored.iter().filter(|(_, score)| *score >= tie_threshold(best)).collect();
            ties[chance.below(ties.len() as u32) as usize].0
        }
    })
}

fn better_of_two(scored: &[Scored], chance: &mut Chance) -> MachineId {
    let count = scored.len() as u32;
    let one = chance.below(count);
    if count == 1 {
        return scored[0].0;
    }
    let other = chance.below(count - 1);
    let other = if other < one { other } else { other + 1 };
    let [low, high] = [one.min(other), one.max(other)].map(|place| scored[place as usize]);
    if low.1 >= tie_threshold(low.1.max(high.1)) { low.0 } else { high.0 }
}

/// Scores above 0 are gains, such below 0 are costs; no score has both.
fn in_proportion(scored: &[Scored], (best, power): (f64, u32), chance: &mut Chance) -> MachineId {
    let share = |score: f64| {
        let of_best = if score == best {
            1.0
        } else if best > 0.0 {
            score / best
        } else {
            best / score
        };
        (0..power).fold(1.0, |share, _| share * of_best)
    };
    let shares: Vec<f64> = scored.iter().map(|(_, score)| share(*score)).collect();
    let mut left = chance.unit() * shares.iter().sum::<f64>();
    let mut taken = scored[0].0;
    for ((on, _), share) in scored.iter().zip(shares).filter(|(_, share)| *share > 0.0) {
        taken = *on;
        if left < share {
            break;
        }
        left -= share;
    }
    taken
}
