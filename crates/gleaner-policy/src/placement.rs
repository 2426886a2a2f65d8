//! Where a waiting task goes: the machine with the best score, among equals the lowest.

use crate::Score;
use crate::fleet::{Fleet, Objective, Size, Summary};
use crate::parts::budget::Spending;
use crate::parts::choose::Choose;
use crate::parts::score;
use crate::spending::{Conditions, Supply, Terms};
use gleaner_core::{Classes, Grid, tie_threshold};
use gleaner_units::{MachineClassId, MachineId, Ops, TaskClassId, TaskId, Time};

/// Bounds that are summed in another order than the score may fall short of it by rounding; this much, relative,
/// makes up for it.
pub(crate) const ROUNDING: f64 = 1e-13;

/// What one task may be given under a budget, where there is one.
pub struct Means<'a> {
    conditions: Conditions,
    grid: &'a Grid,
    length: Option<Ops>,
    cheapest: f64,
}

impl<'a> Means<'a> {
    /// Of a task that waits; `None` where nothing limits where it goes. Costs O(machine classes).
    pub(crate) fn of(
        spending: Spending,
        (grid, fleet): (&'a Grid, &Fleet),
        now: Time,
        task: TaskId,
    ) -> Option<Self> {
        // How many tasks wait is asked for by rules that no score goes with.
        let class = grid.task(task).class();
        let account = grid.account_of(class)?;
        let conditions =
            Conditions::new(spending, account, now, (1, grid.waiting_ops(class)), &Supply::Unasked)?;
        let row = grid.classes().seconds_per_op_row(class);
        // Machines that are gone make nobody else's price dear.
        let able = fleet.open_classes().filter(|machine| row[machine.index()].is_finite());
        let prices = able.map(|machine| grid.classes().machine_class(machine).price);
        let prices = prices.filter(|price| *price > 0.0);
        let cheapest = prices.fold(f64::INFINITY, f64::min);
        Some(Self { conditions, grid, length: grid.declared_length(task), cheapest })
    }

    /// What has no length can go only where that makes no difference.
    fn allow(&self, class: MachineClassId) -> bool {
        let price = self.grid.classes().machine_class(class).price;
        let is_cheapest = price > 0.0 && price <= self.cheapest;
        let terms = Terms { price, ready_s: 0.0, is_cheapest };
        self.length.map_or(price == 0.0, |length| self.conditions.allows(length.amount(), terms))
    }
}

/// What keeps a task from machines that could take it.
#[derive(Clone, Copy, Default)]
pub struct Within<'a> {
    /// What it may be given, where that is limited.
    pub means: Option<&'a Means<'a>>,
    /// Where it is not to go.
    pub apart: &'a [MachineId],
}

/// The machine for a task of `class` now; none where no machine can take it that it may go to.
pub fn place(
    (score, choose): (Score, Choose),
    grid: &Grid,
    fleet: &Fleet,
    class: TaskClassId,
    within: Within<'_>,
) -> Option<MachineId> {
    let seconds_per_op = grid.classes().seconds_per_op_row(class);
    let size = Size::from(grid.classes().demand(class).needs);
    let liked = Liked::of(grid, fleet, class, within);
    search(choose, fleet, Newcomer { score, choose, grid, class, size, seconds_per_op, liked })
}

/// The machines that can take a task of `class` now and that it likes best, of those that it may go to. Costs O(machines).
pub(crate) fn able<'a>(
    grid: &'a Grid,
    fleet: &Fleet,
    class: TaskClassId,
    within: Within<'a>,
) -> impl Iterator<Item = MachineId> + use<'a> {
    let liked = Liked::of(grid, fleet, class, within);
    let machines = (0..grid.machines().len()).map(MachineId::new);
    let takes = move |on: MachineId| grid.can_run(class, on) && within.apart.binary_search(&on).is_err();
    machines.filter(move |&on| takes(on) && liked.holds(grid.machine(on).class()))
}

/// The score of each machine that can take a task of `class` now and is liked best, best first: what
/// [`place`] chooses from. Costs O(machines): for explanations.
pub fn ratings(score: Score, grid: &Grid, class: TaskClassId) -> Vec<(MachineId, f64)> {
    let fleet = Fleet::of(grid);
    let able = able(grid, &fleet, class, Within::default());
    let mut ratings: Vec<_> =
        able.map(|machine| (machine, score::placement(score, grid, class, machine))).collect();
    ratings.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    ratings
}

/// The machine classes that a task likes best among those that can take it now. Where it goes among their machines is
/// the score's to say.
#[derive(Clone, Copy)]
struct Liked<'a> {
    ranks: Option<&'a [f64]>,
    best: f64,
    within: Within<'a>,
}

impl<'a> Liked<'a> {
    fn of(grid: &'a Grid, fleet: &Fleet, class: TaskClassId, within: Within<'a>) -> Self {
        let ranks = grid.classes().ranks(class);
        let best = ranks.map_or(0.0, |ranks| {
            let able = fleet.classes_that_take(grid, class, within.apart);
            let able = able.filter(|&machine| within.means.is_none_or(|means| means.allow(machine)));
            able.map(|machine| ranks[machine.index()]).fold(f64::NEG_INFINITY, f64::max)
        });
        Self { ranks, best, within }
    }

    #[inline]
    fn holds(self, class: MachineClassId) -> bool {
        self.within.means.is_none_or(|means| means.allow(class))
            && self.ranks.is_none_or(|ranks| ranks[class.index()] == self.best)
    }
}

struct Newcomer<'a> {
    score: Score,
    choose: Choose,
    grid: &'a Grid,
    class: TaskClassId,
    size: Size,
    seconds_per_op: &'a [f64],
    liked: Liked<'a>,
}

impl Objective for Newcomer<'_> {
    #[expect(
        clippy::inline_always,
        reason = "it is a few instructions, asked for at every node of every search"
    )]
    #[inline(always)]
    fn bound(&self, class: MachineClassId, summary: &Summary) -> f64 {
        let h = self.seconds_per_op[class.index()];
        if h == f64::INFINITY || !summary.may_take(self.size) || !self.liked.holds(class) {
            return f64::NEG_INFINITY;
        }
        match self.choose {
            Choose::First => 0.0,
            Choose::Best
            | Choose::BestLatest
            | Choose::BestByLot
            | Choose::Proportional { .. }
            | Choose::TwoChoices => bound(self.score, (self.class, h), (self.grid.classes(), class), summary),
        }
    }

    #[inline]
    fn score(&self, machine: MachineId) -> f64 {
        match self.choose {
            _ if !self.grid.can_run(self.class, machine)
                || self.liked.within.apart.binary_search(&machine).is_ok() =>
            {
                f64::NEG_INFINITY
            }
            Choose::First => 0.0,
            Choose::Best
            | Choose::BestLatest
            | Choose::BestByLot
            | Choose::Proportional { .. }
            | Choose::TwoChoices => score::placement(self.score, self.grid, self.class, machine),
        }
    }
}

/// At least the score of every machine of a class that a summary covers and that can take a task of a class, which takes h
/// there for an operation.
#[expect(clippy::inline_always, reason = "it is a few instructions, asked for at every node of every search")]
#[inline(always)]
pub(crate) fn bound(
    score: Score,
    (task, h): (TaskClassId, f64),
    (classes, machine): (&Classes, MachineClassId),
    summary: &Summary,
) -> f64 {
    match score {
        // As printed, the residents only take away from the newcomer's own affinity.
        Score::Greedy | Score::SocialAsPrinted => summary.next_share_max / h,
        Score::Social | Score::SocialWhole => match summary.next_burden_min.get(task.index()) {
            // The same operations as in the score: equal machines do not look better than the one found.
            Some(&least) => -least,
            None => (ROUNDING - 1.0) * (summary.next_crowding_min * h + summary.next_times_min),
        },
        Score::MinNum => -summary.next_count_min,
        Score::Power
        | Score::ReliablePower
        | Score::PowerPerCore
        | Score::Energy
        | Score::EnergyDelay
        | Score::ReliableEnergyDelay => power_bound(score, h, (classes, machine)),
    }
}

/// The same for scores that look at nothing but the class: all its machines have it, and none is better than one that never
/// failed.
fn power_bound(score: Score, h: f64, (classes, machine): (&Classes, MachineClassId)) -> f64 {
    let power = f64::from(classes.machine_class(machine).cores) / h;
    match score {
        Score::Energy => power / classes.watts(machine),
        Score::EnergyDelay | Score::ReliableEnergyDelay => score::energy_delay(power, classes.watts(machine)),
        Score::PowerPerCore => 1.0 / h,
        Score::Greedy
        | Score::Social
        | Score::SocialWhole
        | Score::SocialAsPrinted
        | Score::MinNum
        | Score::Power
        | Score::ReliablePower => power,
    }
}

/// The machine that is chosen among those with the best score.
pub(crate) fn search(choose: Choose, fleet: &Fleet, wanted: impl Objective) -> Option<MachineId> {
    let wanted = [wanted];
    let search = fleet.search(&wanted);
    let best = match choose {
        Choose::First => 0.0,
        Choose::Best
        | Choose::BestLatest
        | Choose::BestByLot
        | Choose::Proportional { .. }
        | Choose::TwoChoices => search.best(f64::NEG_INFINITY),
    };
    match choose {
        _ if best == f64::NEG_INFINITY => None,
        Choose::First
        | Choose::Best
        | Choose::BestByLot
        | Choose::Proportional { .. }
        | Choose::TwoChoices => search.lowest(tie_threshold(best)).next().map(|(_, on)| on),
        Choose::BestLatest => search.highest(tie_threshold(best)).next().map(|(_, on)| on),
    }
}
