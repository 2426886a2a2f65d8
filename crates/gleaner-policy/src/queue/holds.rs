//! What runs hold of machines, and until when that is believed.

use super::ends::{End, Ends};
use crate::forecast::Forecast;
use crate::parts::queue::{Backfill, Correction, Queueing};
use crate::tournament::Tournament;
use gleaner_core::{Availability, Grid, Room};
use gleaner_units::{MachineClassId, MachineId, Ops, RunId, Span, TaskClassId, Time};
use hashbrown::HashMap;

/// What a run holds of its machine.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Hold {
    cores: u32,
    since: Time,
    /// When it is believed to end.
    until: Time,
}

/// The machines, with what runs hold of each.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Holds {
    recipe: Queueing,
    /// Looked into, and never gone through: it has no order.
    runs: HashMap<RunId, Hold>,
    /// By machine.
    ends: Vec<Ends>,
    /// By machine: when the first run there is believed to end, and the machine; [`NO_END`] without a run.
    firsts: Tournament<(Time, MachineId)>,
    /// By class of machines: those that take tasks, those with the fewest free cores first.
    rooms: Vec<Vec<(u32, MachineId)>>,
    /// By machine: where it is in `rooms`.
    listed: Vec<Option<(MachineClassId, u32)>>,
    /// What was believed until now was looked at then.
    looked: Time,
}

/// After all ends.
const NO_END: (Time, MachineId) = (Time::NEVER, MachineId::FIRST);

pub(super) fn slots(room: Room) -> u32 {
    room.slots.unwrap_or(u32::MAX)
}

impl Holds {
    pub(crate) fn new(recipe: Queueing) -> Self {
        Self {
            recipe,
            runs: HashMap::new(),
            ends: Vec::new(),
            firsts: Tournament::default(),
            rooms: Vec::new(),
            listed: Vec::new(),
            looked: Time::ZERO,
        }
    }

    /// Of a whole grid, as it was last looked at. Costs O(machines + runs).
    pub(crate) fn of(recipe: Queueing, grid: &Grid, forecast: &Forecast, looked: Time) -> Self {
        let mut holds = Self::new(recipe);
        holds.rooms.resize_with(grid.classes().machine_classes().len(), Vec::new);
        for index in 0..grid.machines().len() {
            let machine = grid.machine(MachineId::new(index));
            holds.join(grid, MachineId::new(index));
            machine.runs().chain(machine.stopping().iter().copied()).for_each(|run| {
                holds.take(grid, forecast, run);
            });
        }
        holds.look(grid, forecast, looked);
        holds
    }

    pub(crate) fn join(&mut self, grid: &Grid, id: MachineId) {
        let class = grid.classes().machine_class(grid.machine(id).class());
        self.ends.push(Ends::of(slots(class.room)));
        self.firsts.push(NO_END);
        self.listed.push(None);
        self.list(grid, id);
    }

    /// Takes note of how much is free. Costs O(log machines), but for the moving of what lies side by side in memory.
    pub(crate) fn list(&mut self, grid: &Grid, id: MachineId) {
        let machine = grid.machine(id);
        let takes = machine.availability() == Availability::Open && machine.capacity() > 0.0;
        let now = takes.then(|| (machine.class(), slots(machine.free())));
        let before = std::mem::replace(&mut self.listed[id.index()], now);
        if before == now {
            return;
        }
        if let (Some((class, had)), Some((now_of, free))) = (before, now)
            && class == now_of
        {
            let rooms = &mut self.rooms[class.index()];
            let at = rooms.partition_point(|room| *room < (had, id));
            let is_after = at == 0 || rooms[at - 1] < (free, id);
            // Mostly its neighbours stay who they are.
            if is_after && rooms.get(at + 1).is_none_or(|next| (free, id) < *next) {
                rooms[at].0 = free;
                return;
            }
        }
        if let Some((class, free)) = before {
            let rooms = &mut self.rooms[class.index()];
            rooms.remove(rooms.partition_point(|room| *room < (free, id)));
        }
        if let Some((class, free)) = now {
            let rooms = &mut self.rooms[class.index()];
            rooms.insert(rooms.partition_point(|room| *room < (free, id)), (free, id));
        }
    }

    /// A run takes its room. Costs O(log runs + log machines).
    pub(crate) fn take(&mut self, grid: &Grid, forecast: &Forecast, id: RunId) {
        let Some(run) = grid.find_run(id) else { return };
        // What is promised to the first in line should hold.
        let length = if self.is_firm() && self.recipe.backfill == Backfill::Easy {
            forecast.cautious(grid, id.task)
        } else {
            forecast.length(grid, id.task)
        };
        let class = grid.task(id.task).class();
        let cores = grid.classes().demand(class).needs.cores;
        let (on, since) = (run.on(), run.since());
        let until = ends_after(since, seconds(grid, length, class, on));
        self.runs.insert(id, Hold { cores, since, until });
        self.change_ends(on, |ends| ends.take(End { at: until, run: id, cores }));
    }

    /// A run takes its room no more.
    pub(crate) fn free(&mut self, id: RunId, on: MachineId) {
        if let Some(Hold { cores, until, .. }) = self.runs.remove(&id) {
            self.change_ends(on, |ends| ends.give(End { at: until, run: id, cores }));
        }
    }

    fn change_ends(&mut self, on: MachineId, change: impl FnOnce(&mut Ends)) {
        change(&mut self.ends[on.index()]);
        self.note_first(on);
    }

    fn note_first(&mut self, on: MachineId) {
        let first = self.ends[on.index()].first_after(self.looked).map_or(NO_END, |at| (at, on));
        if self.firsts.get(on.index()) != first {
            self.firsts.set(on.index(), first);
        }
    }

    fn is_firm(&self) -> bool {
        self.recipe.correction == Correction::Firm
    }

    /// What should have ended by now and has not is believed to end later, or counts as late. Whether there was any. Costs
    /// O(log runs) each.
    pub(crate) fn look(&mut self, grid: &Grid, forecast: &Forecast, now: Time) -> bool {
        self.looked = now;
        let mut any = false;
        while let Some((_, on)) = self.first_end().filter(|(at, _)| *at <= now) {
            any = true;
            while let Some(late) =
                self.ends[on.index()].first().filter(|end| end.at <= now && !self.is_firm())
            {
                let until = self.corrected(grid, forecast, now, (late.run, on));
                let ends = &mut self.ends[on.index()];
                ends.give(late);
                ends.take(End { at: until, ..late });
            }
            self.note_first(on);
        }
        any
    }

    /// When a run that has not ended is believed to end now.
    fn corrected(
        &mut self,
        grid: &Grid,
        forecast: &Forecast,
        now: Time,
        (id, on): (RunId, MachineId),
    ) -> Time {
        let correction = self.recipe.correction;
        let hold = self.runs.get_mut(&id).expect("what ends is held");
        let class = grid.task(id.task).class();
        let seconds_per_op = grid.seconds_per_op(class, on);
        let believed = seconds(grid, forecast.length(grid, id.task), class, on);
        let limit = stopped_by(grid, class, Forecast::limit(grid, id.task) * seconds_per_op);
        let alike = || {
            let ops = now.since(hold.since).seconds() / seconds_per_op;
            forecast.beyond(id.task, ops).map(|ops| hold.since.after_seconds(ops * seconds_per_op))
        };
        let by_alike = if correction == Correction::Alike { alike() } else { None };
        let by_rule = || corrected(correction, hold.since, now, (believed, limit));
        hold.until = by_alike.filter(|end| *end > now).unwrap_or_else(by_rule);
        hold.until
    }

    /// When the next run is believed to end.
    pub(crate) fn next_end(&self) -> Option<Time> {
        self.first_end().map(|(at, _)| at)
    }

    #[inline]
    fn first_end(&self) -> Option<(Time, MachineId)> {
        self.firsts.first().filter(|first| *first != NO_END)
    }

    /// When cores are free again, by machine.
    pub(crate) fn ends(&self) -> &[Ends] {
        &self.ends
    }

    /// The machines of a class that have that many cores free, with how many, those with the fewest first.
    pub(crate) fn with_room(
        &self,
        class: MachineClassId,
        cores: u32,
    ) -> impl Iterator<Item = (u32, MachineId)> + '_ {
        let rooms = &self.rooms[class.index()];
        rooms[rooms.partition_point(|room| room.0 < cores)..].iter().copied()
    }

    /// The machines of a class that take tasks, in no order.
    pub(crate) fn open(&self, class: MachineClassId) -> impl Iterator<Item = MachineId> + '_ {
        self.rooms[class.index()].iter().map(|(_, machine)| *machine)
    }

    /// Whether there is any.
    #[inline]
    pub(crate) fn has_open(&self, class: MachineClassId) -> bool {
        !self.rooms[class.index()].is_empty()
    }

    /// Whether there is but one machine that takes tasks.
    pub(crate) fn is_one(&self) -> bool {
        self.rooms.iter().map(Vec::len).sum::<usize>() == 1
    }

    /// The most cores that are free on any machine. Costs O(machine classes).
    pub(crate) fn free_most(&self) -> u32 {
        self.rooms.iter().filter_map(|rooms| rooms.last().map(|(free, _)| *free)).max().unwrap_or(0)
    }

    /// What differs from what the grid says.
    pub(crate) fn check(&self, grid: &Grid, forecast: &Forecast) -> Result<(), String> {
        let fresh = Self::of(self.recipe, grid, forecast, self.looked);
        if self.runs != fresh.runs {
            return Err("what runs hold is not what the grid says".to_owned());
        }
        if (&self.rooms, &self.listed) != (&fresh.rooms, &fresh.listed) {
            return Err("the machines with room are not those of the grid".to_owned());
        }
        if (&self.ends, &self.firsts) != (&fresh.ends, &fresh.firsts) {
            return Err("when cores are free again is not what runs hold".to_owned());
        }
        Ok(())
    }
}

fn seconds(grid: &Grid, length: Ops, class: TaskClassId, on: MachineId) -> f64 {
    stopped_by(grid, class, length.amount() * grid.seconds_per_op(class, on))
}

/// So many seconds, or as many as runs of a class may take.
pub(super) fn stopped_by(grid: &Grid, class: TaskClassId, seconds: f64) -> f64 {
    let limit = grid.limit(class).map_or(f64::INFINITY, Span::seconds);
    seconds.min(limit)
}

/// When what lasts so long ends. What takes no time holds its cores for the instant.
pub(super) fn ends_after(begin: Time, seconds: f64) -> Time {
    begin.after_seconds(seconds).max(begin.next())
}

const MINUTE: f64 = 60.0;
const HOUR: f64 = 3_600.0;
/// What is added to what was believed at first, one after the other.
const IN_TURN: [f64; 11] = [
    MINUTE,
    5.0 * MINUTE,
    15.0 * MINUTE,
    30.0 * MINUTE,
    HOUR,
    2.0 * HOUR,
    5.0 * HOUR,
    10.0 * HOUR,
    20.0 * HOUR,
    50.0 * HOUR,
    100.0 * HOUR,
];

/// When a run is believed to end that was believed to take `believed` seconds, and may take `limit`, and has not ended now.
/// It follows from these alone, however often it was asked before.
fn corrected(rule: Correction, since: Time, now: Time, (believed, limit): (f64, f64)) -> Time {
    let later = |seconds: f64| Some(since.after_seconds(seconds)).filter(|end| *end > now);
    let by_rule = match rule {
        Correction::Firm | Correction::Estimate | Correction::Alike => None,
        Correction::Doubled => doublings(believed).find_map(|seconds| later(seconds.min(limit))),
        Correction::InTurn => IN_TURN.iter().find_map(|more| later((believed + more).min(limit))),
    };
    let by_limit = || later(limit);
    let beyond = || doublings(limit.max(1e-9)).find_map(later);
    by_rule.or_else(by_limit).or_else(beyond).unwrap_or(Time::NEVER)
}

/// Twice as long, and so on, as far as time goes.
fn doublings(seconds: f64) -> impl Iterator<Item = f64> {
    std::iter::successors(Some(seconds * 2.0), |seconds| Some(seconds * 2.0)).take(128)
}
