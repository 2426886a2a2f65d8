//! Further runs of tasks whose answers do not decide.

use super::{Naive, Now};
use gleaner_core::{Answer, Comparison, Decision, Likeness, Stage, TaskState, Vote};
use gleaner_units::MachineId;

/// The answers to a task, those together that are the same by what their users' program said to enough machines; else the two that it
/// has to compare first.
fn groups(comparison: &Comparison) -> Result<Vec<Vec<Answer>>, (Answer, Answer)> {
    let mut groups: Vec<Vec<Answer>> = Vec::new();
    for answer in comparison.given().iter().map(|given| given.answer) {
        let mut own = groups.iter().position(|group| group.contains(&answer));
        for (index, group) in groups.iter().enumerate().filter(|_| comparison.is_by_program()) {
            if own.is_some() || answer.is_exact() {
                break;
            }
            if group[0].is_exact() {
                continue;
            }
            let pair = (group[0], answer);
            let says = |likeness| {
                let votes = comparison.votes().iter();
                votes.filter(|vote| (vote.pair, vote.likeness) == (pair, likeness)).count()
                    >= comparison.quorum() as usize
            };
            if says(Likeness::Alike) {
                own = Some(index);
            } else if !says(Likeness::Different) {
                return Err(pair);
            }
        }
        match own {
            Some(index) => groups[index].push(answer),
            None => groups.push(vec![answer]),
        }
    }
    Ok(groups)
}

impl Naive {
    /// One more run of a task whose answers do not decide, before anything that waits.
    pub(super) fn compare(&self, now: &Now<'_>) -> Option<Decision> {
        let grid = now.0;
        now.in_turn(TaskState::Placed).into_iter().find_map(|task| {
            let comparison = grid.comparison(task)?;
            let (given, here) = (comparison.given(), now.here(task));
            if here.iter().any(|run| !matches!(run.stage(), Stage::Sent | Stage::Running)) {
                return None;
            }
            let groups = groups(comparison);
            let votes: Vec<&Vote> = match groups {
                Ok(_) => Vec::new(),
                Err(pair) => comparison.votes().iter().filter(|vote| vote.pair == pair).collect(),
            };
            let quorum = comparison.quorum() as usize;
            let is_short = match &groups {
                Ok(groups) => {
                    let best = groups.iter().map(Vec::len).max().unwrap_or(0);
                    best + here.len() < quorum && given.len() + here.len() < comparison.most() as usize
                }
                Err(pair) => {
                    let says = |likeness| votes.iter().filter(|vote| vote.likeness == likeness).count();
                    let best = [Likeness::Alike, Likeness::Different, Likeness::Failed].map(says);
                    let at_it = here.iter().filter(|run| comparison.compared_by(run.id()) == Some(*pair));
                    best.into_iter().max().unwrap_or(0) + at_it.count() < quorum
                }
            };
            if !is_short {
                return None;
            }
            let said = given.iter().map(|given| given.on).chain(votes.iter().map(|vote| vote.on));
            let said = said.chain(comparison.refused());
            let said: Vec<MachineId> = said.chain(here.iter().map(|run| run.on())).collect();
            let is_one = |one: MachineId, other: MachineId| {
                one == other || (grid.owner_of(one).is_some() && grid.owner_of(one) == grid.owner_of(other))
            };
            let apart = now.machines().filter(|machine| said.iter().any(|other| is_one(*machine, *other)));
            let on = self.place(now, task, &apart.collect::<Vec<_>>())?;
            Some(Decision::Replicate { task, on })
        })
    }
}
