//! Which running task moves where: the move with the highest gain above θ; among equals the lowest machine, then
//! the task that the rule's [`Mover`] says.
//!
//! A machine that became worse pushes a task to another; one that became better pulls a task from another. Either
//! way one end is given, and the search is over task classes and machine classes: no task is scored by itself.

use crate::Score;
use crate::fleet::{Fleet, OWN_BOUNDS, Objective, Search, Size, Summary};
use crate::parts::relocate::{Mover, Relocate};
use crate::parts::score::{self, sum_of_times};
use crate::placement::ROUNDING;
use crate::standing::patience_ends;
use gleaner_core::{Grid, exceeds, tie_threshold};
use gleaner_units::{MachineClassId, MachineId, RunId, TaskClassId, TaskId, Time};
use smallvec::SmallVec;
use std::cell::Cell;
use std::cmp::Ordering;

/// A task and the machine to take it to.
pub type Move = (TaskId, MachineId);

/// The state of things that a search reads.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The rule.
    pub rule: &'a Relocate,
    /// What is known.
    pub grid: &'a Grid,
    /// The index over its machines.
    pub fleet: &'a Fleet,
    /// The moment of the decision.
    pub now: Time,
    /// Whether a gain already has what a task that begins anew does again.
    pub weighs: bool,
}

impl View<'_> {
    /// The best move away from a machine.
    pub fn push(&self, from: MachineId) -> Option<Move> {
        let scales = Scales::of(self);
        let mut leaving = Classes::new();
        leaving.extend(Leaving::all(&scales, from));
        best_of(self.fleet, &leaving).map(|(to, turn)| (turn.task, to))
    }

    /// The best move to a machine.
    pub fn pull(&self, to: MachineId) -> Option<Move> {
        if !self.grid.machine(to).takes_tasks() {
            return None;
        }
        let scales = Scales::of(self);
        let mut joining = Classes::new();
        joining.extend(Joining::all(&scales, Target::of(self, to)));
        best_of(self.fleet, &joining).map(|(_, turn)| (turn.task, to))
    }

    /// The best move anywhere. Costs O(machines that run anything × machine classes).
    pub fn rebalance(&self) -> Option<Move> {
        let scales = Scales::of(self);
        let leaving = |from| Leaving::all(&scales, from).collect::<Classes<_>>();
        let machines = (0..self.grid.machines().len()).map(MachineId::new);
        let mut best = f64::NEG_INFINITY;
        // Those that had the best so far or tied with it.
        let mut leading = Vec::new();
        for from in machines.filter(|&machine| self.grid.machine(machine).count() > 0) {
            // Just below, so that ties get through.
            let floor = tie_threshold(best).next_down();
            let own = self.fleet.search(&leaving(from)).best(floor);
            if own > floor {
                best = best.max(own);
                leading.push(from);
            }
        }
        let firsts = leading.into_iter().filter_map(|from| {
            let leaving = leaving(from);
            first(&self.fleet.search(&leaving), &leaving, tie_threshold(best))
        });
        firsts.min().map(|(to, turn)| (turn.task, to))
    }

    /// The gain of a move if it is worth its cost, and the task of the class for which it is whose turn is first.
    fn weigh(&self, class: TaskClassId, from: MachineId, to: MachineId) -> Option<(f64, Turn)> {
        if !self.may_move(class, from, to) {
            return None;
        }
        let gain = score::gain(self.rule.score, self.grid, class, from, to);
        if !self.rule.is_enough(gain) {
            return None;
        }
        let running = self.grid.machine(from).running_of(class);
        let mut movable = running.filter(|run| self.is_worth((class, *run), gain, (from, to)));
        let first = match self.rule.mover {
            Mover::First => movable.next().map(|run| self.turn(run)),
            Mover::Last | Mover::MostDone | Mover::LeastDone => movable.map(|run| self.turn(run)).min(),
        };
        Some((gain, first?))
    }

    /// Whether tasks of that class may go from one machine to the other at all.
    pub(crate) fn may_move(&self, class: TaskClassId, from: MachineId, to: MachineId) -> bool {
        from != to && self.grid.can_run(class, to) && !self.likes_less(class, from, to)
    }

    /// When a running task's turn is among those that would gain alike.
    pub(crate) fn turn(&self, run: RunId) -> Turn {
        Turn { at: self.rule.mover.turn(self.grid, self.now, run), task: run.task }
    }

    /// Whether a running task may move for a gain that is enough: what the move costs is less than what it gains.
    pub(crate) fn is_worth(
        &self,
        (class, run): (TaskClassId, RunId),
        gain: f64,
        (from, to): (MachineId, MachineId),
    ) -> bool {
        if self.grid.stays(run.task) {
            return false;
        }
        // Where it cannot run, it has not run, and a gain without bound times nothing is no number.
        let cannot_run = self.grid.seconds_per_op(class, from) == f64::INFINITY;
        if cannot_run {
            return true;
        }
        let cost = match self.rule.score {
            Score::MinNum
            | Score::Power
            | Score::PowerPerCore
            | Score::ReliablePower
            | Score::Energy
            | Score::EnergyDelay
            | Score::ReliableEnergyDelay => 0.0,
            Score::Greedy | Score::Social | Score::SocialWhole | Score::SocialAsPrinted => {
                self.grid.migration_seconds(from, to)
            }
        };
        let run_s = self.grid.task(run.task).seconds_run(self.now);
        if self.grid.classes().task_class(class).restarts {
            self.is_worth_restarting((run, run_s), (gain, cost), from)
        } else {
            cost == 0.0 || exceeds(gain * run_s, cost)
        }
    }

    /// A task that starts from its beginning does again what it has done so far, as much faster as the gain says. Where it stands
    /// still, anything is better, once it has waited for as long as it had run; and a difference in numbers says nothing of time.
    fn is_worth_restarting(
        &self,
        (run, run_s): (RunId, f64),
        (gain, cost): (f64, f64),
        from: MachineId,
    ) -> bool {
        if let Some(still_since) = self.grid.machine(from).still_since() {
            return self.grid.find_run(run).is_none_or(|run| patience_ends(run, still_since) <= self.now);
        }
        let again = if self.weighs { 0.0 } else { run_s / (1.0 + gain) };
        self.rule.score != Score::MinNum && exceeds(gain * run_s, cost + again)
    }
}

impl View<'_> {
    /// A task is never moved to where it would rather not be.
    fn likes_less(&self, class: TaskClassId, from: MachineId, to: MachineId) -> bool {
        let rank = |ranks: &[f64], machine: MachineId| ranks[self.grid.machine(machine).class().index()];
        let ranks = self.grid.classes().ranks(class);
        ranks.is_some_and(|ranks| rank(ranks, to) < rank(ranks, from))
    }
}

/// A task, and when its turn is among those that would gain alike.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    at: f64,
    pub(crate) task: TaskId,
}

impl Ord for Turn {
    fn cmp(&self, other: &Self) -> Ordering {
        self.at.total_cmp(&other.at).then(self.task.cmp(&other.task))
    }
}

impl PartialOrd for Turn {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Turn {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Turn {}

/// One for each class of tasks: with few classes without memory from the heap.
type Classes<M> = SmallVec<[M; OWN_BOUNDS]>;

/// Moves are weighed on it. What was weighed last is known: the best move is weighed when it is found, when none before it
/// is as good, and when its task is asked for.
struct Scales<'a> {
    view: View<'a>,
    latest: Cell<Option<(TaskClassId, MachineId, MachineId)>>,
    weight: Cell<Option<(f64, Turn)>>,
}

impl<'a> Scales<'a> {
    fn of(view: &View<'a>) -> Self {
        Self { view: *view, latest: Cell::new(None), weight: Cell::new(None) }
    }

    /// See [`View::weigh`].
    fn weigh(&self, class: TaskClassId, from: MachineId, to: MachineId) -> Option<(f64, Turn)> {
        if self.latest.get() != Some((class, from, to)) {
            self.weight.set(self.view.weigh(class, from, to));
            self.latest.set(Some((class, from, to)));
        }
        self.weight.get()
    }
}

/// Tasks that may move: for the machine at the other end, which of them would go and what would be gained.
trait Movable: Objective {
    fn task(&self, other: MachineId) -> Option<Turn>;
}

/// The highest gain over all movers; among equals the lowest machine, then the task whose turn is first.
fn best_of<M: Movable>(fleet: &Fleet, movers: &[M]) -> Option<(MachineId, Turn)> {
    let search = fleet.search(movers);
    let best = search.best(f64::NEG_INFINITY);
    if best == f64::NEG_INFINITY { None } else { first(&search, movers, tie_threshold(best)) }
}

/// Of the moves that gain so much, the one to or from the lowest machine; there, of the task whose turn is first.
fn first<M: Movable>(search: &Search<'_, M>, movers: &[M], threshold: f64) -> Option<(MachineId, Turn)> {
    let lowest = search.lowest(threshold);
    lowest.filter_map(|(place, machine)| Some((machine, movers[place].task(machine)?))).min()
}

/// What a gain is, and how large it has to be.
#[derive(Clone, Copy)]
struct Worth {
    score: Score,
    least: f64,
}

impl Worth {
    fn of(rule: &Relocate) -> Self {
        Self { score: rule.score, least: rule.least_gain() }
    }

    /// A bound that no worthwhile gain can meet is as good as none.
    #[inline]
    fn or_none(self, bound: f64) -> f64 {
        if bound >= self.least { bound } else { f64::NEG_INFINITY }
    }
}

/// Tasks of one class on a machine that would rather be elsewhere.
struct Leaving<'a> {
    scales: &'a Scales<'a>,
    worth: Worth,
    class: TaskClassId,
    size: Size,
    from: MachineId,
    seconds_per_op: &'a [f64],
    /// τ now.
    affinity: f64,
    /// By how much n·Σh/(1−λ) shrinks when one of them goes.
    relief: f64,
    /// n·h/(1−λ): the task's own term now.
    own: f64,
    count: f64,
}

impl<'a> Leaving<'a> {
    fn all(scales: &'a Scales<'a>, from: MachineId) -> impl Iterator<Item = Leaving<'a>> {
        let view = &scales.view;
        let machine = view.grid.machine(from);
        let sum = sum_of_times(view.grid, machine);
        let (count, free) = (f64::from(machine.count()), 1.0 - machine.load());
        let worth = Worth::of(view.rule);
        machine.counts().map(move |(class, _)| {
            let h = view.grid.seconds_per_op(class, from);
            Leaving {
                scales,
                worth,
                class,
                size: Size::from(view.grid.classes().demand(class).needs),
                from,
                seconds_per_op: view.grid.classes().seconds_per_op_row(class),
                // 0 where it cannot run: then all bounds are infinite, or no number, which is taken for that.
                affinity: machine.share(machine.shares()) / h,
                relief: (sum + (count - 1.0) * h) / free,
                own: count * h / free,
                count,
            }
        })
    }
}

impl Objective for Leaving<'_> {
    #[expect(
        clippy::inline_always,
        reason = "it is a few instructions, asked for at every node of every search"
    )]
    #[inline(always)]
    fn bound(&self, class: MachineClassId, summary: &Summary) -> f64 {
        let h = self.seconds_per_op[class.index()];
        if h == f64::INFINITY || !summary.may_take(self.size) {
            return f64::NEG_INFINITY;
        }
        let bound = match self.worth.score {
            Score::Greedy => (summary.next_share_max / h - self.affinity) / self.affinity,
            Score::Social => {
                let burden = summary.next_crowding_min * h + summary.next_times_min;
                rounded_up((self.relief - burden) / self.own)
            }
            Score::SocialWhole
            | Score::SocialAsPrinted
            | Score::Power
            | Score::PowerPerCore
            | Score::ReliablePower
            | Score::Energy
            | Score::EnergyDelay
            | Score::ReliableEnergyDelay => f64::INFINITY,
            Score::MinNum => self.count - summary.next_count_min,
        };
        self.worth.or_none(bound)
    }

    fn score(&self, to: MachineId) -> f64 {
        self.scales.weigh(self.class, self.from, to).map_or(f64::NEG_INFINITY, |(gain, _)| gain)
    }
}

impl Movable for Leaving<'_> {
    fn task(&self, to: MachineId) -> Option<Turn> {
        self.scales.weigh(self.class, self.from, to).map(|(_, task)| task)
    }
}

/// A machine that could take one more task.
#[derive(Clone, Copy)]
struct Target {
    machine: MachineId,
    sum: f64,
    count: f64,
    free: f64,
}

impl Target {
    fn of(view: &View<'_>, id: MachineId) -> Self {
        let machine = view.grid.machine(id);
        Self {
            machine: id,
            sum: sum_of_times(view.grid, machine),
            count: f64::from(machine.count()),
            free: 1.0 - machine.load(),
        }
    }
}

/// Tasks of one class, wherever they are, that the target could take.
struct Joining<'a> {
    scales: &'a Scales<'a>,
    worth: Worth,
    class: TaskClassId,
    target: Target,
    seconds_per_op: &'a [f64],
    /// τ there.
    affinity: f64,
    /// By how much n·Σh/(1−λ) would grow there.
    burden: f64,
}

impl<'a> Joining<'a> {
    fn all(scales: &'a Scales<'a>, target: Target) -> impl Iterator<Item = Joining<'a>> {
        let view = &scales.view;
        let worth = Worth::of(view.rule);
        let fits = move |&class: &TaskClassId| view.grid.can_run(class, target.machine);
        view.grid.placed_classes().filter(fits).map(move |class| {
            let h = view.grid.seconds_per_op(class, target.machine);
            Joining {
                scales,
                worth,
                class,
                target,
                seconds_per_op: view.grid.classes().seconds_per_op_row(class),
                affinity: score::next_share(view.grid, class, view.grid.machine(target.machine)) / h,
                burden: ((target.count + 1.0) * h + target.sum) / target.free,
            }
        })
    }
}

impl Objective for Joining<'_> {
    #[expect(
        clippy::inline_always,
        reason = "it is a few instructions, asked for at every node of every search"
    )]
    #[inline(always)]
    fn bound(&self, class: MachineClassId, summary: &Summary) -> f64 {
        if !summary.may_hold(self.class) {
            return f64::NEG_INFINITY;
        }
        let h = self.seconds_per_op[class.index()];
        let bound = match self.worth.score {
            // Where it cannot run, as a machine that was measured anew may turn out, it stands still: anything is better.
            Score::Greedy | Score::Social if h == f64::INFINITY => f64::INFINITY,
            Score::Greedy => {
                let slowest = summary.share_min / h;
                (self.affinity - slowest) / slowest
            }
            Score::Social => {
                // Σh/(n·h) + (n−1)/n − burden·(1−λ)/(n·h), each at its best.
                let relief = summary.mean_max / h + (summary.count_max - 1.0) / summary.count_max;
                rounded_up(relief - self.burden / (summary.crowding_max * h))
            }
            Score::SocialWhole
            | Score::SocialAsPrinted
            | Score::Power
            | Score::PowerPerCore
            | Score::ReliablePower
            | Score::Energy
            | Score::EnergyDelay
            | Score::ReliableEnergyDelay => f64::INFINITY,
            Score::MinNum => summary.count_max - self.target.count,
        };
        self.worth.or_none(bound)
    }

    fn score(&self, from: MachineId) -> f64 {
        let gain = self.gain(from);
        gain.map_or(f64::NEG_INFINITY, |(gain, _)| gain)
    }
}

impl Joining<'_> {
    fn gain(&self, from: MachineId) -> Option<(f64, Turn)> {
        // The bit that stands for this class may have been set by another.
        self.scales.view.grid.machine(from).runs_of(self.class).next()?;
        self.scales.weigh(self.class, from, self.target.machine)
    }
}

impl Movable for Joining<'_> {
    fn task(&self, from: MachineId) -> Option<Turn> {
        self.gain(from).map(|(_, task)| task)
    }
}

/// A bound on what rounding may have made of a gain.
fn rounded_up(gain: f64) -> f64 {
    let bound = gain + (gain.abs() + 1.0) * ROUNDING;
    // Infinite sums, as of a machine that its owner uses whole, bound nothing.
    if bound.is_nan() { f64::INFINITY } else { bound }
}
