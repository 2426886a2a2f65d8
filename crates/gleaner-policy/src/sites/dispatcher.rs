//! The policy for jobs on sites: the line is looked at job by job, and who fits is divided over sites in an order.
//!
//! All that happens at one instant is told before anybody starts: what happens asks for a wake-up at the same instant, and
//! that is answered. Indices are only about what the grid says; where a look at the line is taken up again, by another
//! scheduler even, it goes on as it would have.

use super::line::Line;
use super::maps::Maps;
use super::pass::{Excluded, Pass, excluded_for, fitting, is_enough};
use super::rooms::Rooms;
use super::running::{Running, sites_of};
use super::split::fill;
use super::traffic::Traffic;
use super::unfit::Unfit;
use super::{estimate, places};
use crate::parts::sites::{Nearness, News, Queues, SiteRule, Split};
use crate::wait_for_all::wait_for_all;
use gleaner_core::{Alarm, Cause, Change, Decision, Grid, Occasion, Part, Policy, Stage};
use gleaner_units::{MachineId, TaskId, Time};

/// Gives jobs to sites.
#[derive(Clone, Debug)]
pub struct Dispatcher {
    pub(super) rule: SiteRule,
    pub(super) rooms: Rooms,
    pub(super) line: Line,
    pub(super) running: Running,
    maps: Maps,
    pass: Option<Pass>,
    unfit: Unfit,
}

impl Dispatcher {
    /// The policy that follows `rule`.
    pub(crate) fn new(rule: SiteRule) -> Self {
        let (rooms, line, running) = (Rooms::default(), Line::default(), Running::default());
        Self { rule, rooms, line, running, maps: Maps::default(), pass: None, unfit: Unfit::default() }
    }

    /// The next to start, and on what. Costs O(sites) for each class that finds too little room since any site had more, what the order of
    /// sites costs for the one that starts, and O(log classes) for each other job that is looked at: those behind the last that started,
    /// and with copies all that wait.
    fn next(&mut self, grid: &Grid, now: Time) -> Option<Decision> {
        let Self { rule, line, .. } = self;
        let mut pass = self.pass.take().unwrap_or_else(|| Pass::new(line.in_turn(grid, rule, now)));
        while let Some(&task) = pass.todo.front() {
            if self.rooms.slots() == 0 {
                return None;
            }
            // A copy that was not to be had is not replaced before its room is free everywhere.
            if grid.runs_of(task).any(|run| run.stage() == Stage::Stopping) {
                pass.todo.pop_front();
                continue;
            }
            let homes = self.homes(grid, task);
            let started = homes.into_iter().find_map(|home| self.parts_for(grid, now, &mut pass, home, task));
            let Some(parts) = started else {
                pass.todo.pop_front();
                continue;
            };
            // A job that is to have more copies is looked at again, and so is what is kept for others beside them.
            if self.rule.copies == 1 {
                pass.todo.pop_front();
                self.pass = Some(pass);
            }
            return Some(Decision::Ask { task, parts, until: now.after_seconds(self.rule.patience_s) });
        }
        None
    }

    /// Likewise, where sites are asked what they have before each look at the line: what woke it is that they have answered,
    /// or that something happened.
    fn next_by_survey(&mut self, grid: &Grid, now: Time, woke: Alarm) -> Option<Decision> {
        let survey = Decision::Survey { until: now.after_seconds(self.rule.patience_s) };
        if woke != Alarm::Survey {
            return (!grid.is_surveying() && !self.line.is_empty()).then_some(survey);
        }
        let next = self.next(grid, now);
        if next.is_some() || grid.is_surveying() || self.line.is_empty() {
            return next;
        }
        if grid.survey_missed() {
            return Some(survey);
        }
        // Others' runs end too, of which nobody tells.
        let at = now.after_seconds(self.rule.again_s);
        // The rule before may have left one for later.
        let earlier = grid.alarm(Alarm::Batch);
        earlier.is_none_or(|set| at < set).then_some(Decision::Wake { alarm: Alarm::Batch, at })
    }

    /// Where a job waits: at no site in particular, or at those drawn for its copies that have not started.
    pub(super) fn homes(&self, grid: &Grid, task: TaskId) -> Vec<Option<MachineId>> {
        if self.rule.queues == Queues::Central {
            return vec![None];
        }
        let taken = sites_of(grid, task);
        let homes = places::homes(grid, &self.rule, task).into_iter();
        homes.filter(|home| !taken.contains(home)).map(Some).collect()
    }

    /// On what a job that waits at `home` could start now.
    pub(super) fn parts_for(
        &mut self,
        grid: &Grid,
        now: Time,
        pass: &mut Pass,
        home: Option<MachineId>,
        task: TaskId,
    ) -> Option<Box<[Part]>> {
        let Self { rule, rooms, maps, running, unfit, .. } = self;
        if pass.is_blocked(rule, home) {
            return None;
        }
        let class = grid.task(task).class();
        let cores = grid.classes().demand(class).needs.cores;
        let excluded = excluded_for(grid, rule, (home, task));
        let like = excluded.is_alone().then_some((class, home));
        let look = || {
            let fitting = fitting(grid, class, rooms.free(), &excluded);
            is_enough(rule, cores, &fitting).then_some(fitting)
        };
        let Some(fitting) = unfit.look(rooms, (cores, like), look) else {
            pass.does_not_fit(home, task);
            return None;
        };
        let mut parts = match rule.nearness {
            Nearness::Map => {
                let traffic = Traffic::counted(grid, rule, running.runs(grid));
                let order = maps.nearest_first((grid, rule), rooms, traffic, task);
                divide(rule.split, order, cores, &fitting)
            }
            Nearness::MostFree => {
                divide(rule.split, places::most_free(&fitting).into_iter(), cores, &fitting)
            }
            Nearness::Listed => divide(rule.split, (0..fitting.len()).map(MachineId::new), cores, &fitting),
            Nearness::Data => divide(rule.split, places::by_data(grid, task).into_iter(), cores, &fitting),
            Nearness::EarliestEnd => places::earliest_end(grid, rule, task, &fitting),
        }?;
        parts.sort_unstable();
        let end = estimate::end(grid, rule, task, &parts, now);
        let may = pass.may_start((grid, rule, running), now, home, (task, &parts, end), rooms.free());
        may.then(|| parts.into())
    }
}

/// A job's cores over sites in that order, in parts.
fn divide(
    split: Split,
    order: impl Iterator<Item = MachineId>,
    cores: u32,
    fitting: &[u32],
) -> Option<Vec<Part>> {
    match split {
        Split::Whole => whole(order, cores, fitting),
        Split::Nearest => spread(order, cores, fitting),
        Split::WholeIfItFits => {
            let order: Vec<MachineId> = order.collect();
            whole(order.iter().copied(), cores, fitting).or_else(|| spread(order.into_iter(), cores, fitting))
        }
    }
}

fn whole(mut order: impl Iterator<Item = MachineId>, cores: u32, fitting: &[u32]) -> Option<Vec<Part>> {
    let on = order.find(|site| fitting[site.index()] >= cores)?;
    Some(vec![Part { on, cores }])
}

fn spread(order: impl Iterator<Item = MachineId>, cores: u32, fitting: &[u32]) -> Option<Vec<Part>> {
    let parts = fill(order, cores, |site| fitting[site.index()])?;
    Some(parts.into_iter().map(|(on, cores)| Part { on, cores }).collect())
}

impl Policy for Dispatcher {
    fn observe(&mut self, grid: &Grid, change: &Change) {
        let Self { rule, rooms, line, running, maps, .. } = self;
        match *change {
            Change::MachineJoined(site) => {
                maps.forget();
                rooms.update(grid, site);
            }
            Change::AvailabilityChanged(site)
            | Change::LoadChanged(site)
            | Change::ResidentsChanged(site)
            | Change::BeliefChanged(site) => rooms.update(grid, site),
            Change::MachineMeasured(_)
            | Change::TaskClassesMeasured
            | Change::TaskClassReplaced(_)
            | Change::MachineClassMet(_) => {
                self.rebuild(grid);
            }
            Change::CatalogueChanged => maps.forget(),
            Change::Wait { first, count } | Change::Withdrawn { first, count } => {
                for task in (0..count as usize).map(|more| TaskId::new(first.index() + more)) {
                    line.update(grid, rule, task);
                }
            }
            Change::RoomTaken(run) => {
                running.take(grid, rule, run);
                line.update(grid, rule, run.task);
            }
            Change::RoomFreed(run, _) => {
                running.free(run);
                // Of one that lost a part the others go on until they are stopped.
                if grid.find_run(run).is_some_and(|run| run.stage() != Stage::Missing) {
                    running.take(grid, rule, run);
                }
                line.update(grid, rule, run.task);
            }
            Change::Finished(task) => line.update(grid, rule, task),
            Change::TaskClassMet(_)
            | Change::Planned(..)
            | Change::Unplanned(_)
            | Change::BudgetChanged
            | Change::Started(_)
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

    fn propose(&mut self, grid: &Grid, now: Time, occasion: Occasion) -> Option<Decision> {
        match occasion.cause {
            Cause::WokeUp { alarm, .. } => match self.rule.news {
                News::Published => self.next(grid, now),
                News::Broadcast => self.next_by_survey(grid, now, alarm),
            },
            Cause::Submitted(_)
            | Cause::Joined(_)
            | Cause::Opened(_)
            | Cause::Measured(_)
            | Cause::Closed(_)
            | Cause::Lost(_)
            | Cause::LoadRose(_)
            | Cause::LoadFell(_)
            | Cause::Freed(_)
            | Cause::Vacated(_)
            | Cause::Published(_)
            | Cause::Wanted
            | Cause::NothingLent
            | Cause::DataCame
            | Cause::Withdrawn
            | Cause::RuleChanged => {
                if self.line.is_empty() {
                    None
                } else {
                    wait_for_all(grid, now)
                }
            }
        }
    }

    fn rebuild(&mut self, grid: &Grid) {
        self.rooms = Rooms::of(grid);
        self.line = Line::of(grid, &self.rule);
        self.running = Running::of(grid, &self.rule);
        self.maps.forget();
        self.pass = None;
        self.unfit = Unfit::default();
    }

    fn check(&self, grid: &Grid) -> Result<(), String> {
        self.rooms.check(grid)?;
        if self.line != Line::of(grid, &self.rule) {
            return Err("who waits is not what the grid says".to_owned());
        }
        if self.running != Running::of(grid, &self.rule) {
            return Err("when runs end is not what the grid says".to_owned());
        }
        let fits = |(class, home)| {
            let cores = grid.classes().demand(class).needs.cores;
            let fitting = fitting(grid, class, self.rooms.free(), &Excluded::but_at(home));
            is_enough(&self.rule, cores, &fitting)
        };
        if self.unfit.likes(&self.rooms).any(fits) {
            return Err("who found too little room finds enough".to_owned());
        }
        self.maps.check(grid, &self.rule, &self.rooms)
    }
}
