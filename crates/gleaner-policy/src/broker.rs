//! The policy of a broker: machines are sites with queues of their own, whose state is a belief, and each task is sent to one
//! of them as soon as any can take it.
//!
//! # Invariants
//! - **What is drawn depends on the grid's seed, the run and the ranks alone**, not on what was drawn before.
//! - **A site of which nothing was heard is taken for idle**, and so is a machine of the grid's own that has room.
//! - **A site to which a task's data cannot come, or where its user's rank is no number, is no candidate.**
//!
//! # Costs
//! A decision costs O(log sites) for each site of which anything was heard since the last decision about the same class, and
//! O(sites) for the first, after news of files, links or places, and where nothing of the class has waited for a while. Where scores count the execution, O(sites) for each
//! task that is not as long as the one before. Whatever may help tasks that wait has each class looked at once for each task that starts, until one finds a site:
//! O(classes that wait) and their logarithm for each that finds none.

mod board;

use crate::parts::belief::Belief;
use crate::parts::choose::Choose;
use crate::parts::rank::{Candidates, Rank, Until};
use board::Board;
use gleaner_core::{Cause, Change, Decision, Grid, Occasion, OwnRank, Policy, Purpose};
use gleaner_units::{MachineId, Ops, RunId, TaskClassId, TaskId, Time};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// How sites are judged and chosen.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Brokering {
    pub(crate) rank: Rank,
    pub(crate) choose: Choose,
    pub(crate) belief: Belief,
}

/// Sends each task to a site.
#[derive(Clone, Debug)]
pub struct Broker {
    rule: Brokering,
    boards: BTreeMap<TaskClassId, Boards>,
    /// The machines of which anything changed, in order; boards have seen a part of it.
    changed: Vec<MachineId>,
}

/// One class's boards: one for each number of input files that sites hold, where that matters.
#[derive(Clone, PartialEq, Debug, Default)]
struct Boards {
    by_files: BTreeMap<Reverse<usize>, Board>,
    /// By machine: on which board it is.
    files: Vec<usize>,
    /// How many of the changes are in.
    seen: usize,
    /// Of the task that it was last asked for, where scores count the execution.
    length: f64,
}

/// The log of changes is cut when it is so many times as long as there are machines.
const LOG_TIMES: usize = 4;

impl Broker {
    pub(crate) fn new(rule: Brokering) -> Self {
        Self { rule, boards: BTreeMap::new(), changed: Vec::new() }
    }

    fn note(&mut self, grid: &Grid, machine: MachineId) {
        if self.boards.is_empty() {
            return;
        }
        if self.changed.len() >= LOG_TIMES * grid.machines().len() {
            let Self { rule, boards, changed, .. } = self;
            // Of a class of which nothing waits, a board would only be kept up to date for a task that may never come.
            boards.retain(|class, _| grid.waiting_count(*class) > 0);
            for (class, boards) in boards {
                boards.catch_up(rule, grid, *class, changed);
                boards.seen = 0;
            }
            self.changed.clear();
        }
        self.changed.push(machine);
    }

    fn forget(&mut self) {
        self.boards.clear();
        self.changed.clear();
    }

    /// The site for a task that waits; none where no site can take it.
    fn place(&mut self, grid: &Grid, task: TaskId) -> Option<MachineId> {
        let class = grid.task(task).class();
        let length = match self.rule.rank.until {
            Until::Begin => 0.0,
            Until::End => grid.declared_length(task).map_or(0.0, Ops::amount),
        };
        let Self { rule, boards, changed } = self;
        match boards.get_mut(&class) {
            Some(boards) if boards.length.to_bits() == length.to_bits() => {
                boards.catch_up(rule, grid, class, changed);
            }
            Some(_) | None => {
                boards.insert(class, Boards::of(rule, grid, (class, length), changed.len()));
            }
        }
        let candidates = boards[&class].by_files.values().find(|board| !board.is_empty())?;
        candidates.choose(rule.choose, || grid.chance_of_next_run(Purpose::Place, task))
    }

    fn start(&mut self, grid: &Grid, task: TaskId) -> Option<Decision> {
        let on = self.place(grid, task)?;
        Some(Decision::Start { task, on })
    }

    /// What has waited longest of the classes for which there is a site.
    fn start_anywhere(&mut self, grid: &Grid, helps: impl Fn(TaskClassId) -> bool) -> Option<Decision> {
        grid.first_waiting(helps).find_map(|task| self.start(grid, task))
    }
}

impl Boards {
    /// Costs O(machines).
    fn of(rule: &Brokering, grid: &Grid, (class, length): (TaskClassId, f64), seen: usize) -> Self {
        let mut boards = Self { seen, length, ..Self::default() };
        for machine in (0..grid.machines().len()).map(MachineId::new) {
            boards.set(rule, grid, class, machine);
        }
        boards
    }

    fn catch_up(&mut self, rule: &Brokering, grid: &Grid, class: TaskClassId, changed: &[MachineId]) {
        for machine in &changed[self.seen..] {
            self.set(rule, grid, class, *machine);
        }
        self.seen = changed.len();
    }

    fn set(&mut self, rule: &Brokering, grid: &Grid, class: TaskClassId, machine: MachineId) {
        if machine.index() >= self.files.len() {
            // Machines join in order of their ids.
            self.files.push(match rule.rank.candidates {
                Candidates::All => 0,
                Candidates::MostFiles => files_at(grid, class, machine),
            });
        }
        let rank = rank(rule, grid, (class, self.length), machine).ok();
        let board = self.by_files.entry(Reverse(self.files[machine.index()])).or_default();
        board.set(machine, rank, rule.choose);
    }
}

/// How many of a class's input files are where a machine is.
fn files_at(grid: &Grid, class: TaskClassId, machine: MachineId) -> usize {
    let catalogue = grid.catalogue();
    let Some(site) = catalogue.site_of(machine) else { return 0 };
    catalogue.inputs(class).iter().filter(|file| catalogue.holders(**file).contains(&site)).count()
}

/// Why a site is no candidate for a task.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum NoCandidate {
    /// The grid's own conditions do not hold; `gleaner_core::Explanation` says which.
    CannotRun,
    /// What the task requires of published values does not hold.
    Published,
    /// The task's own rank of it is undefined, an error, a text, or not finite.
    RankIsNoNumber,
    /// No way leads there for the task's input files.
    DataCannotCome,
}

impl NoCandidate {
    /// What such sites are like, after "3 of 5 machines".
    pub fn in_words(self) -> &'static str {
        match self {
            Self::CannotRun => "cannot run it now",
            Self::Published => "publish values that fail its requirements",
            Self::RankIsNoNumber => "have no place in its own rank, which is no number there",
            Self::DataCannotCome => "cannot get its input files",
        }
    }
}

/// The rank of a machine that can take a task of that class now.
fn rank(
    rule: &Brokering,
    grid: &Grid,
    (class, length): (TaskClassId, f64),
    machine: MachineId,
) -> Result<f64, NoCandidate> {
    if !grid.can_run(class, machine) {
        return Err(NoCandidate::CannotRun);
    }
    let (access, transfer) = data_seconds(grid, class, machine);
    let traversal_s = traversal_s(rule.belief, grid, machine);
    if !grid.published_requirements_hold(class, machine, traversal_s) {
        return Err(NoCandidate::Published);
    }
    let own = match grid.own_rank(class, machine, traversal_s) {
        OwnRank::Number(own) => own,
        OwnRank::NoNumber => return Err(NoCandidate::RankIsNoNumber),
        OwnRank::Silent => {
            let execution = match rule.rank.until {
                Until::Begin => 0.0,
                Until::End => access + length * grid.seconds_per_op(class, machine),
            };
            -(traversal_s + execution)
        }
    };
    let is_candidate = own.is_finite() && access.is_finite() && transfer.is_finite();
    if is_candidate { Ok(rule.rank.of(own, access, transfer)) } else { Err(NoCandidate::DataCannotCome) }
}

/// The sites that could run a task of that class, but are no candidates, by the reason. Costs O(machines): for explanations.
pub(crate) fn passed_over(
    rule: &Brokering,
    grid: &Grid,
    class: TaskClassId,
) -> BTreeMap<NoCandidate, Vec<MachineId>> {
    let mut reasons: BTreeMap<NoCandidate, Vec<MachineId>> = BTreeMap::new();
    for machine in (0..grid.machines().len()).map(MachineId::new) {
        if let Err(reason) = rank(rule, grid, (class, 0.0), machine) {
            reasons.entry(reason).or_default().push(machine);
        }
    }
    reasons.remove(&NoCandidate::CannotRun);
    reasons
}

/// The seconds to read a class's input files where a machine is, and to bring them there; none where it reads nothing, or
/// nobody said where the machine is.
fn data_seconds(grid: &Grid, class: TaskClassId, machine: MachineId) -> (f64, f64) {
    let catalogue = grid.catalogue();
    match catalogue.site_of(machine) {
        Some(site) => (catalogue.seconds_to_read(class, site), catalogue.seconds_to_bring(class, site)),
        None => (0.0, 0.0),
    }
}

/// The seconds that a task waits there, as far as is known. Costs O(runs that the site cannot know of) where they count.
fn traversal_s(belief: Belief, grid: &Grid, machine: MachineId) -> f64 {
    let published = grid.belief(machine);
    let said_s = published.map_or(0.0, |belief| belief.state().traversal_s);
    let brokers = match belief {
        Belief::AsPublished => return said_s,
        Belief::OwnDispatches { brokers } => f64::from(brokers),
    };
    let (free, (count, seconds)) = if let Some(belief) = published {
        let sent = belief.sent_since().iter().map(|sent| sent.run);
        (belief.state().cores_free, sum_of_times(grid, machine, sent))
    } else {
        let own = grid.machine(machine);
        (own.cores(), sum_of_times(grid, machine, own.runs()))
    };
    if count == 0 {
        return said_s;
    }
    // As long as there are free cores but one, a run that was sent keeps nobody waiting.
    let keeping = (brokers * f64::from(count) - f64::from(free.max(1)) + 1.0).max(0.0);
    let mean_s = seconds / f64::from(count);
    said_s + keeping * mean_s / f64::from(grid.machine(machine).cores())
}

/// How many runs there are, and how long they take on a machine together, as far as lengths were declared.
fn sum_of_times(grid: &Grid, machine: MachineId, runs: impl Iterator<Item = RunId>) -> (u32, f64) {
    runs.fold((0, 0.0), |(count, seconds), run| {
        let class = grid.task(run.task).class();
        let length = grid.declared_length(run.task).map_or(0.0, Ops::amount);
        let (access, _) = data_seconds(grid, class, machine);
        (count + 1, seconds + access + length * grid.seconds_per_op(class, machine))
    })
}

/// The sites that could take a task of that class now, each with its rank, best first. Costs O(machines): for explanations.
pub(crate) fn ratings(
    rule: &Brokering,
    grid: &Grid,
    class: TaskClassId,
    length: f64,
) -> Vec<(MachineId, f64)> {
    let machines = (0..grid.machines().len()).map(MachineId::new);
    let mut ratings: Vec<_> = machines
        .filter_map(|machine| Some((machine, rank(rule, grid, (class, length), machine).ok()?)))
        .collect();
    let files = |machine| match rule.rank.candidates {
        Candidates::All => 0,
        Candidates::MostFiles => files_at(grid, class, machine),
    };
    let most = ratings.iter().map(|(machine, _)| files(*machine)).max().unwrap_or(0);
    ratings.retain(|(machine, _)| files(*machine) == most);
    ratings.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    ratings
}

impl Policy for Broker {
    fn observe(&mut self, grid: &Grid, change: &Change) {
        match *change {
            Change::MachineJoined(machine)
            | Change::MachineMeasured(machine)
            | Change::AvailabilityChanged(machine)
            | Change::ResidentsChanged(machine)
            | Change::LoadChanged(machine)
            | Change::BeliefChanged(machine) => self.note(grid, machine),
            Change::CatalogueChanged | Change::TaskClassesMeasured | Change::TaskClassReplaced(_) => {
                self.forget();
            }
            // Ranks are about machines and data; what a task does shows in its machine's residents.
            Change::MachineClassMet(_)
            | Change::TaskClassMet(_)
            | Change::Wait { .. }
            | Change::Planned(..)
            | Change::Unplanned(_)
            | Change::BudgetChanged
            | Change::Started(_)
            | Change::Finished(_)
            | Change::Withdrawn { .. }
            | Change::RoomTaken(_)
            | Change::RoomFreed(..)
            | Change::AnswerKept(_)
            | Change::FollowerChanged(_)
            | Change::StaleReply(_)
            | Change::Refused(..)
            | Change::CapsChanged
            | Change::EndsForgotten
            | Change::LoansChanged
            | Change::AlarmChanged(_) => {}
        }
    }

    fn propose(&mut self, grid: &Grid, _: Time, occasion: Occasion) -> Option<Decision> {
        match occasion.cause {
            Cause::Submitted(class) => self.start(grid, grid.longest_waiting_of(class)?),
            Cause::Joined(machine)
            | Cause::Opened(machine)
            | Cause::Measured(machine)
            | Cause::LoadFell(machine)
            | Cause::Freed(machine)
            | Cause::Vacated(machine)
            | Cause::Published(machine) => self.start_anywhere(grid, |class| grid.can_run(class, machine)),
            Cause::Lost(_) | Cause::RuleChanged => self.start_anywhere(grid, |_| true),
            Cause::DataCame => self.start_anywhere(grid, |class| !grid.catalogue().inputs(class).is_empty()),
            Cause::WokeUp { .. }
            | Cause::LoadRose(_)
            | Cause::Closed(_)
            | Cause::Wanted
            | Cause::NothingLent
            | Cause::Withdrawn => None,
        }
    }

    fn rebuild(&mut self, _: &Grid) {
        self.forget();
    }

    fn check(&self, grid: &Grid) -> Result<(), String> {
        for (&class, boards) in &self.boards {
            let mut kept = boards.clone();
            kept.catch_up(&self.rule, grid, class, &self.changed);
            let fresh = Boards::of(&self.rule, grid, (class, kept.length), kept.seen);
            if kept != fresh {
                return Err(format!("the sites for {class} are kept as {kept:?}, and are {fresh:?}"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_core::{Event, GridConfig, Migration, Scheduler, TaskClass};
    use std::cell::Cell;

    const CLASSES: usize = 2_000;

    #[test]
    fn each_class_is_looked_at_once_where_none_finds_a_site() {
        let rule = Brokering { rank: Rank::default(), choose: Choose::Best, belief: Belief::AsPublished };
        let grid = Grid::new(GridConfig { weights: vec![1.0], migration: Migration::default() });
        let mut scheduler = Scheduler::new(grid, Broker::new(rule));
        for class in (0..CLASSES).map(TaskClassId::new) {
            let plain = TaskClass::plain(vec![1.0]);
            let priority = [0, 1, 2][class.index() % 3];
            scheduler.apply(Time::ZERO, &Event::TaskClassMet(Box::new(TaskClass { priority, ..plain })));
            let first = TaskId::new(class.index());
            scheduler.apply(Time::ZERO, &Event::TasksSubmitted { first, count: 1, class, length: None });
        }
        let grid = scheduler.grid();
        let looks = Cell::new(0);
        let helps = |_| {
            looks.set(looks.get() + 1);
            true
        };
        assert_eq!(Broker::new(rule).start_anywhere(grid, helps), None);
        assert_eq!(looks.get(), CLASSES);
        // And in the order in which they would start.
        let all = grid.first_waiting(|_| true).collect::<Vec<_>>();
        let turn = |task: &TaskId| (Reverse(task.index() % 3), *task);
        assert!(all.len() == CLASSES && all.is_sorted_by_key(turn));
        assert_eq!(all.first().copied(), grid.longest_waiting(|_| true));
    }
}
