//! Who waits, one after the other, with what a plan asks of each.
//!
//! They lie in a tree, in order of their turns. **Each part of it knows who of its own needs least**: of everybody else there,
//! one of these needs no more cores, and is no longer. So a search for somebody who finds room passes a part by where none of
//! these does.

use super::line::Turn;
use super::speeds::Speeds;
use crate::forecast::{Forecast, KNOWN_MAX};
use gleaner_core::Grid;
use gleaner_units::{TaskClassId, TaskId};
use std::ops::ControlFlow;

/// A part of more is cut in two.
const PART_MAX: usize = 32;

/// Somebody who waits.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Waiter {
    pub(crate) turn: Turn,
    pub(crate) class: TaskClassId,
    pub(crate) cores: u32,
    /// Equal where tasks are equally fast on each machine.
    pub(crate) speeds: u32,
    /// How long it is believed to be.
    pub(crate) believed: f64,
    /// How long at most.
    pub(crate) at_most: f64,
}

impl Waiter {
    pub(crate) fn task(&self) -> TaskId {
        self.turn.1
    }

    fn is_unknown(&self) -> bool {
        self.believed.max(self.at_most) > KNOWN_MAX
    }

    /// Whether it finds room wherever the other does.
    fn needs_no_more(&self, other: &Self) -> bool {
        (self.speeds == other.speeds)
            & (self.cores <= other.cores)
            & (self.believed <= other.believed)
            & (self.at_most <= other.at_most)
    }
}

/// A part of the row. None but an only one is empty.
#[derive(Clone, Debug)]
struct Part {
    /// Nobody in it has an earlier one.
    first: Option<Turn>,
    /// Those that need least.
    least: Vec<Waiter>,
    within: Within,
}

#[derive(Clone, Debug)]
enum Within {
    Waiters(Vec<Waiter>),
    Parts(Vec<Part>),
}

/// Adds one to those that need least.
fn add_least(least: &mut Vec<Waiter>, waiter: &Waiter) {
    if !least.iter().any(|other| other.needs_no_more(waiter)) {
        least.retain(|other| !waiter.needs_no_more(other));
        least.push(*waiter);
    }
}

impl Part {
    fn of(within: Within) -> Self {
        let mut part = Self { first: None, least: Vec::new(), within };
        part.first = part.first();
        part.measure();
        part
    }

    fn measure(&mut self) {
        self.least.clear();
        match &self.within {
            Within::Waiters(waiters) => {
                for waiter in waiters {
                    add_least(&mut self.least, waiter);
                }
            }
            Within::Parts(parts) => {
                for waiter in parts.iter().flat_map(|part| &part.least) {
                    add_least(&mut self.least, waiter);
                }
            }
        }
    }

    fn len(&self) -> usize {
        match &self.within {
            Within::Waiters(waiters) => waiters.len(),
            Within::Parts(parts) => parts.len(),
        }
    }

    fn first(&self) -> Option<Turn> {
        match &self.within {
            Within::Waiters(waiters) => waiters.first().map(|waiter| waiter.turn),
            Within::Parts(parts) => parts.first()?.first,
        }
    }

    fn last(&self) -> Option<Turn> {
        match &self.within {
            Within::Waiters(waiters) => waiters.last().map(|waiter| waiter.turn),
            Within::Parts(parts) => parts.last()?.last(),
        }
    }

    /// Puts one in. What is to be put behind this part then, if it was cut.
    fn insert(&mut self, waiter: &Waiter) -> Option<Self> {
        let behind = match &mut self.within {
            Within::Waiters(waiters) => {
                let at = place_of(waiters, waiter.turn);
                waiters.insert(at, *waiter);
                cut(waiters, at).map(Within::Waiters)
            }
            Within::Parts(parts) => {
                let at = part_of(parts, waiter.turn).min(parts.len() - 1);
                let new = parts[at].insert(waiter);
                new.and_then(|new| {
                    parts.insert(at + 1, new);
                    cut(parts, at + 1).map(Within::Parts)
                })
            }
        };
        self.first = self.first();
        if behind.is_none() {
            add_least(&mut self.least, waiter);
        } else {
            self.measure();
        }
        behind.map(Self::of)
    }

    fn remove(&mut self, turn: Turn) -> Option<Waiter> {
        let removed = match &mut self.within {
            Within::Waiters(waiters) => {
                let at = place_of(waiters, turn);
                let is_there = waiters.get(at).is_some_and(|waiter| waiter.turn == turn);
                is_there.then(|| waiters.remove(at))
            }
            Within::Parts(parts) => {
                let at = part_of(parts, turn);
                let removed = parts.get_mut(at)?.remove(turn);
                if parts[at].len() == 0 {
                    parts.remove(at);
                } else {
                    join(parts, at);
                }
                removed
            }
        };
        self.first = self.first();
        if self.least.iter().any(|waiter| waiter.turn == turn) {
            self.measure();
        }
        removed
    }

    /// See [`Row::all`]; from a turn on, or all.
    fn search(
        &self,
        from: Option<Turn>,
        may: &mut impl FnMut(&[Waiter], Turn) -> bool,
        found: &mut impl FnMut(&Waiter) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        // Those who need least may have had their turn before.
        if let (None, Some(first)) = (from, self.first)
            && !may(&self.least, first)
        {
            return ControlFlow::Continue(());
        }
        match &self.within {
            Within::Waiters(waiters) => {
                let waiters = &waiters[from.map_or(0, |turn| place_of(waiters, turn))..];
                let Some(first) = waiters.first() else { return ControlFlow::Continue(()) };
                for waiter in waiters {
                    let only = std::slice::from_ref(waiter);
                    // What does not hold of him from the first turn on holds even less from his own.
                    if may(only, first.turn) && may(only, waiter.turn) {
                        found(waiter)?;
                    }
                }
            }
            Within::Parts(parts) => {
                let start = from.map_or(0, |turn| part_of(parts, turn));
                for (number, part) in parts[start..].iter().enumerate() {
                    part.search(from.filter(|_| number == 0), may, found)?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn in_order(&self) -> Vec<Waiter> {
        match &self.within {
            Within::Waiters(waiters) => waiters.clone(),
            Within::Parts(parts) => parts.iter().flat_map(Self::in_order).collect(),
        }
    }
}

fn place_of(waiters: &[Waiter], turn: Turn) -> usize {
    waiters.partition_point(|waiter| waiter.turn < turn)
}

/// The first part that does not end before that turn.
fn part_of(parts: &[Part], turn: Turn) -> usize {
    parts.partition_point(|part| part.last() < Some(turn))
}

/// Cuts what has too many since one was put in there: mostly somebody comes last, and those before are full.
fn cut<T>(within: &mut Vec<T>, newest: usize) -> Option<Vec<T>> {
    let len = within.len();
    let at = if newest + 1 == len { len - 1 } else { len / 2 };
    (len > PART_MAX).then(|| within.split_off(at))
}

/// Makes a part and its neighbour one, if both have few.
fn join(parts: &mut Vec<Part>, at: usize) {
    let at = at.min(parts.len().saturating_sub(2));
    let [one, other] = &parts[at..parts.len().min(at + 2)] else { return };
    if one.len() + other.len() > PART_MAX / 2 {
        return;
    }
    let other = parts.remove(at + 1);
    let one = &mut parts[at];
    match (&mut one.within, other.within) {
        (Within::Waiters(waiters), Within::Waiters(more)) => waiters.extend(more),
        (Within::Parts(parts), Within::Parts(more)) => parts.extend(more),
        (Within::Waiters(_), Within::Parts(_)) | (Within::Parts(_), Within::Waiters(_)) => {
            unreachable!("neighbours are alike")
        }
    }
    one.measure();
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    whole: Part,
    /// Those of whom nobody knows how long they are.
    unknown: usize,
    speeds: Speeds,
}

impl Default for Row {
    fn default() -> Self {
        let whole = Part::of(Within::Waiters(Vec::new()));
        Self { whole, unknown: 0, speeds: Speeds::default() }
    }
}

impl Row {
    pub(crate) fn add_class(&mut self, grid: &Grid, class: TaskClassId) {
        self.speeds.add(grid.classes().seconds_per_op_row(class));
    }

    /// A class of which nobody waits is another from now on.
    pub(crate) fn replace_class(&mut self, grid: &Grid, class: TaskClassId) {
        self.speeds.replace(class, grid.classes().seconds_per_op_row(class));
    }

    /// Somebody waits. Costs O(log waiters), but for the moving of what is in memory's nearest levels.
    pub(crate) fn add(&mut self, grid: &Grid, forecast: &Forecast, turn: Turn) {
        let class = grid.task(turn.1).class();
        self.insert(&Waiter {
            turn,
            class,
            cores: grid.classes().demand(class).needs.cores,
            speeds: self.speeds.of(class),
            believed: forecast.length(grid, turn.1).amount(),
            at_most: forecast.at_most(grid, turn.1).amount(),
        });
    }

    fn insert(&mut self, waiter: &Waiter) {
        self.unknown += usize::from(waiter.is_unknown());
        if let Some(behind) = self.whole.insert(waiter) {
            let nothing = Part::of(Within::Parts(Vec::new()));
            let before = std::mem::replace(&mut self.whole, nothing);
            self.whole = Part::of(Within::Parts(vec![before, behind]));
        }
    }

    /// Somebody waits no more. Costs as much.
    pub(crate) fn remove(&mut self, turn: Turn) {
        let Some(removed) = self.whole.remove(turn) else { return };
        self.unknown -= usize::from(removed.is_unknown());
        while let Within::Parts(parts) = &mut self.whole.within
            && parts.len() < 2
        {
            self.whole = parts.pop().unwrap_or_else(|| Part::of(Within::Waiters(Vec::new())));
        }
    }

    /// The first from that turn on who counts, and of whom something holds that holds of whoever needs no more if it holds of anybody.
    /// It is asked whether it holds of any of some, with a turn: nobody whom the answer is for has an earlier one, and what does not
    /// hold from a turn on does not from a later one. Those who do not count are looked at one by one.
    pub(crate) fn first(
        &self,
        from: Option<Turn>,
        counts: impl Fn(&Waiter) -> bool,
        mut may: impl FnMut(&[Waiter], Turn) -> bool,
    ) -> Option<Waiter> {
        let mut first = None;
        let mut found = |waiter: &Waiter| {
            if !counts(waiter) {
                return ControlFlow::Continue(());
            }
            first = Some(*waiter);
            ControlFlow::Break(())
        };
        let _ = self.whole.search(from, &mut may, &mut found);
        first
    }

    /// Gives all from that turn on of whom such a thing holds.
    pub(crate) fn all(
        &self,
        from: Option<Turn>,
        mut may: impl FnMut(&Waiter) -> bool,
        mut found: impl FnMut(&Waiter),
    ) {
        let mut each = |waiter: &Waiter| {
            found(waiter);
            ControlFlow::Continue(())
        };
        let _ = self.whole.search(from, &mut |waiters, _| waiters.iter().any(&mut may), &mut each);
    }

    /// The last.
    pub(crate) fn last(&self) -> Option<Turn> {
        self.whole.last()
    }

    /// The numbers of all speeds are below this.
    pub(crate) fn speeds_met(&self) -> usize {
        self.speeds.count()
    }

    /// Whether it is known of all how long they are.
    pub(crate) fn is_known(&self) -> bool {
        self.unknown == 0
    }

    /// What differs from what the grid says.
    pub(crate) fn check(&self, fresh: &Self) -> Result<(), String> {
        let (kept, derived) = (self.whole.in_order(), fresh.whole.in_order());
        // Speeds are numbered as they are met.
        let like =
            |waiter: &Waiter| (waiter.turn, waiter.class, waiter.cores, waiter.believed, waiter.at_most);
        if kept.iter().map(like).eq(derived.iter().map(like)) && self.unknown == fresh.unknown {
            Ok(())
        } else {
            Err("the row is not who waits".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cmp::Reverse;

    fn check(part: &Part) {
        let mut measured = part.clone();
        measured.measure();
        let everybody = part.in_order();
        for waiter in &everybody {
            assert!(part.least.iter().any(|least| least.needs_no_more(waiter)));
        }
        assert!(part.least.iter().all(|least| everybody.contains(least)));
        assert_eq!(part.least.len(), measured.least.len());
        assert_eq!(part.first, part.in_order().first().map(|waiter| waiter.turn));
        if let Within::Parts(parts) = &part.within {
            assert!(!parts.is_empty() && parts.len() <= PART_MAX);
            assert!(parts.iter().all(|part| part.len() > 0));
            parts.iter().for_each(check);
        }
    }

    /// Whoever came and left leaves what is there in a plain row, and a search finds whom a look at everybody does.
    #[test]
    fn it_is_a_row_in_order() {
        let mut random = 11_u64;
        let mut draw = move |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % below
        };
        let (mut row, mut plain) = (Row::default(), Vec::<Waiter>::new());
        let (mut most, mut passed) = (0, 0);
        for step in 0..6_000 {
            if draw(4) < if step < 3_000 { 3 } else { 1 } {
                let priority = if draw(5) == 0 { draw(3) as i32 } else { 0 };
                let believed = draw(1_000) as f64;
                let waiter = Waiter {
                    turn: (Reverse(priority), TaskId::new(step)),
                    class: TaskClassId::new(0),
                    cores: 1 << draw(6),
                    speeds: draw(2) as u32,
                    believed,
                    at_most: believed + draw(3) as f64,
                };
                row.insert(&waiter);
                plain.insert(plain.partition_point(|other| other.turn < waiter.turn), waiter);
            } else if !plain.is_empty() {
                // Mostly of those in front.
                let below = if draw(2) == 0 { plain.len() } else { plain.len().min(9) };
                let left = plain.remove(draw(below as u64) as usize);
                row.remove(left.turn);
                row.remove(left.turn);
            }
            most = most.max(plain.len());
            assert_eq!(row.last(), plain.last().map(|waiter| waiter.turn));
            if step % 50 > 0 {
                continue;
            }
            assert_eq!(row.whole.in_order(), plain);
            check(&row.whole);
            let from = plain.get(draw(plain.len() as u64 + 1) as usize).map(|waiter| waiter.turn);
            let (cores, believed, speeds) = (1 << draw(6), draw(200) as f64, draw(2) as u32);
            let fits = |waiter: &Waiter| {
                waiter.cores <= cores && waiter.at_most <= believed && waiter.speeds == speeds
            };
            let expected: Vec<Waiter> =
                plain.iter().filter(|waiter| from <= Some(waiter.turn) && fits(waiter)).copied().collect();
            let mut looks = 0;
            let counts = |waiter: &Waiter| !waiter.task().index().is_multiple_of(3);
            let counting = expected.iter().find(|waiter| counts(waiter));
            assert_eq!(row.first(from, counts, |waiters, _| waiters.iter().any(fits)).as_ref(), counting);
            let first = row.first(
                from,
                |_| true,
                |waiters, turn| {
                    looks += waiters.len();
                    assert!(waiters.iter().all(|waiter| turn <= waiter.turn));
                    waiters.iter().any(fits)
                },
            );
            assert_eq!(first.as_ref(), expected.first());
            passed += usize::from(first.is_none() && 4 * looks < plain.len());
            let mut all = Vec::new();
            row.all(from, fits, |waiter| all.push(*waiter));
            assert_eq!(all, expected);
        }
        assert!(most > PART_MAX * PART_MAX, "two floors are no test");
        assert!(passed > 0, "no part was ever passed by");
    }
}
