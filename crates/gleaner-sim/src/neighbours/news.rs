//! What is known of machines, what was told of them, and whose turn to tell is next.

use super::books::Residents;
use super::setup::GroupsSetup;
use gleaner_units::{MachineId, PartyId, Span, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Where nothing else happens for so many periods, no more is told: nothing would come of it.
const QUIET_PERIODS_MAX: usize = 100;

/// How a machine is.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Known {
    pub(super) residents: Residents,
    pub(super) load: f64,
}

/// What is known of machines, and was told of them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct News {
    /// By machine.
    pub(super) now: Vec<Known>,
    /// By machine: how many tasks were told of, and which owner's load.
    pub(super) told: Vec<(u32, f64)>,
    /// By group, and by its ids for machines: the moment that what it knows of it was true at.
    pub(super) known_at: Vec<Vec<Time>>,
    /// Who tells next.
    turns: BTreeSet<(Time, PartyId)>,
    /// By group: when it told last, if ever, and when it tells next.
    turn_of: Vec<(Option<Time>, Time)>,
    /// Turns in a row in which nothing else happened.
    quiet: usize,
}

impl News {
    pub(super) fn of(setup: &GroupsSetup, seen: impl Iterator<Item = usize>) -> Self {
        let groups = setup.count() as u64;
        let turn = |group: u64| {
            let after = u128::from(setup.every.nanos()) * u128::from(group + 1) / u128::from(groups);
            (Time::ZERO + Span::from_nanos(after as u64), PartyId::new(group as usize))
        };
        let turns: BTreeSet<(Time, PartyId)> = (0..groups).map(turn).collect();
        let machines = setup.grid.machines.len();
        Self {
            now: vec![Known::default(); machines],
            told: vec![(0, 0.0); machines],
            known_at: seen.map(|machines| vec![Time::ZERO; machines]).collect(),
            turn_of: turns.iter().map(|(at, _)| (None, *at)).collect(),
            turns,
            quiet: 0,
        }
    }

    /// Something else happens. What groups would have told while it was quiet would have been no news, so they count as
    /// having told it: their turns go on from the present, each by its own period, and never from the past. Yields each
    /// group that was quiet, and the last of the moments at which it would have told.
    pub(super) fn stirred(&mut self, now: Time, every: Span) -> Vec<(PartyId, Time)> {
        self.quiet = 0;
        let mut left_out = Vec::new();
        while let Some(&(turn, group)) = self.turns.first()
            && turn < now
        {
            let last = latest(turn, every, now);
            self.turn_of[group.index()].0 = Some(last);
            self.set_turn(group, last + every);
            left_out.push((group, last));
        }
        left_out
    }

    pub(super) fn age(&self, now: Time, group: PartyId, of: MachineId) -> Span {
        now.since(self.known_at[group.index()][of.index()])
    }

    /// Whose turn is next; nobody's where nothing else happened for long.
    pub(super) fn next_turn(&self) -> Option<(Time, PartyId)> {
        let is_quiet = self.quiet >= QUIET_PERIODS_MAX * self.turns.len();
        self.turns.first().copied().filter(|_| self.turns.len() > 1 && !is_quiet)
    }

    /// A group tells now, and next after a period.
    pub(super) fn tells(&mut self, now: Time, group: PartyId, every: Span) {
        self.turn_of[group.index()].0 = Some(now);
        self.set_turn(group, now + every);
        self.quiet += 1;
    }

    /// A group is to tell as soon as it may, so long after it told last.
    pub(super) fn hurries(&mut self, now: Time, group: PartyId, gap: Span) {
        let (told, turn) = self.turn_of[group.index()];
        let soonest = told.map_or(now, |told| now.max(told + gap));
        if soonest < turn {
            self.set_turn(group, soonest);
        }
    }

    fn set_turn(&mut self, group: PartyId, at: Time) {
        let turn = &mut self.turn_of[group.index()].1;
        self.turns.remove(&(*turn, group));
        *turn = at;
        self.turns.insert((at, group));
    }
}

/// The last moment before `now` that is a whole number of periods after a turn in the past.
fn latest(turn: Time, every: Span, now: Time) -> Time {
    let periods = now.since(turn).nanos().div_ceil(every.nanos()) - 1;
    turn + Span::from_nanos(every.nanos() * periods)
}
