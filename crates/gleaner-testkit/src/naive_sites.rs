//! Khoo et al.'s rules for sites as a reader of the paper would write them: every job and every site afresh, each time.

use gleaner_core::{
    Alarm, Cause, Change, Decision, Grid, Needs, Occasion, Part, Policy, Room, Run, Stage, TaskState,
};
use gleaner_policy::SiteRule;
use gleaner_policy::parts::sites::{Behind, Copies, Has, Nearness, News, Split};
use gleaner_policy::sites::map::{AtSource, Bandwidth, Direction, Root};
use gleaner_units::{MachineId, RunId, SiteId, TaskId, Time};

/// The rule: one line for all sites, in order of submission.
pub struct NaiveSites(pub SiteRule);

/// What is free, by site: cores, memory, disk.
type Free = Vec<[u64; 3]>;

/// Who did not answer when it was asked has nothing.
fn free(grid: &Grid) -> Free {
    let of = |room: Room| {
        [u64::from(room.slots.expect("cores")), room.memory.expect("memory"), room.disk.expect("disk")]
    };
    let sites = grid.machines().iter().enumerate();
    let silent = |index: usize| grid.is_dropped(MachineId::new(index));
    sites.map(|(index, machine)| if silent(index) { [0; 3] } else { of(machine.free()) }).collect()
}

fn needs(grid: &Grid, task: TaskId) -> Needs {
    grid.classes().task_class(grid.task(task).class()).needs
}

/// The most cores that fit, found by trying each number.
fn most(needs: Needs, free: [u64; 3]) -> u32 {
    let share =
        |all: u64, cores: u32| (u128::from(all) * u128::from(cores)).div_ceil(u128::from(needs.cores)) as u64;
    let fits = |cores: &u32| {
        u64::from(*cores) <= free[0]
            && share(needs.memory, *cores) <= free[1]
            && share(needs.disk, *cores) <= free[2]
    };
    (1..=needs.cores).rev().find(fits).unwrap_or(0)
}

/// How many parts of jobs wait for their data on a way that is asked for: from where it lies to where they are.
fn transfers(grid: &Grid, on_the_way: impl Fn(usize, usize) -> bool) -> u32 {
    let mut count = 0;
    for (task, of) in grid.tasks() {
        let Some(file) = grid.catalogue().inputs(of.class()).first() else { continue };
        let from = grid.catalogue().holders(*file).first().expect("it lies somewhere").index();
        for run in grid.runs_of(task).filter(|run| [Stage::Asked, Stage::Sent].contains(&run.stage())) {
            let to = grid.parts_of(run).map(|part| part.on.index());
            count += to.filter(|to| *to != from && on_the_way(from, *to)).map(|_| 1).sum::<u32>();
        }
    }
    count
}

fn take(free: &mut Free, grid: &Grid, task: TaskId, part: Part, sign: i64) -> bool {
    let part_needs = needs(grid, task).of_part(part.cores);
    let amounts = [u64::from(part_needs.cores), part_needs.memory, part_needs.disk];
    for (have, amount) in free[part.on.index()].iter_mut().zip(amounts) {
        let Some(left) = have.checked_add_signed(sign * amount.cast_signed()) else { return false };
        *have = left;
    }
    true
}

impl NaiveSites {
    fn siblings(&self, grid: &Grid, task: TaskId) -> Vec<MachineId> {
        let parts = grid.runs_of(task).flat_map(|run| grid.parts_of(run)).map(|part| part.on);
        if self.0.apart && self.0.copies > 1 { parts.collect() } else { Vec::new() }
    }

    fn fitting(&self, grid: &Grid, task: TaskId, free: &Free) -> Vec<u32> {
        let siblings = self.siblings(grid, task);
        let of = |(site, free): (usize, &[u64; 3])| {
            if siblings.contains(&MachineId::new(site)) { 0 } else { most(needs(grid, task), *free) }
        };
        free.iter().enumerate().map(of).collect()
    }

    fn is_enough(&self, grid: &Grid, task: TaskId, free: &Free) -> bool {
        let (fitting, cores) = (self.fitting(grid, task, free), needs(grid, task).cores);
        match self.0.split {
            Split::Whole => fitting.into_iter().any(|fits| fits >= cores),
            Split::Nearest | Split::WholeIfItFits => fitting.into_iter().sum::<u32>() >= cores,
        }
    }

    /// D of a site, from (1) and (2).
    fn distance(&self, grid: &Grid, task: TaskId, free: &Free, site: usize) -> f64 {
        let (class, rule) = (grid.task(task).class(), &self.0);
        let speed =
            |site: usize| 1.0 / grid.classes().seconds_per_op_in_parts(class, grid.machines()[site].class());
        let sites = free.len();
        let mean_speed = (0..sites).map(speed).sum::<f64>() / sites as f64;
        let rate = |from: usize, to: usize| grid.catalogue().bytes_per_s(SiteId::new(from), SiteId::new(to));
        let potential = |site: usize| {
            let others = (0..sites).filter(|other| *other != site);
            match rule.reading.direction {
                Direction::Obtaining => others.map(|other| rate(other, site)).sum::<f64>(),
                Direction::Sending => others.map(|other| rate(site, other)).sum::<f64>(),
            }
        };
        let file = grid.catalogue().inputs(class).first();
        let source = file.and_then(|file| grid.catalogue().holders(*file).first()).map(|site| site.index());
        let need = needs(grid, task);
        let (asked, offered) =
            (grid.classes().task_class(class), grid.classes().machine_class(grid.machines()[site].class()));
        let room = offered.room;
        let has = match rule.has {
            Has::Free => free[site],
            Has::Total => [
                u64::from(room.slots.expect("cores")),
                room.memory.expect("memory"),
                room.disk.expect("disk"),
            ],
        };
        let short = |has: f64, asked: f64| if asked <= 0.0 { 0.0 } else { (1.0 - has / asked).max(0.0) };
        let c = short(has[0] as f64 * speed(site), f64::from(need.cores) * mean_speed);
        let m = short(has[1] as f64, need.memory as f64);
        let f = short(has[2] as f64, need.disk as f64);
        let p = short(potential(site), source.map_or(0.0, potential));
        let x = match rule.reading.root {
            Root::Whole => (c * c + m * m + f * f + p * p).sqrt(),
            Root::AsPrinted => (c * c + m * m + f * f).sqrt() + p * p,
        };
        let run_s = grid.declared_length(task).expect("a length").amount() / mean_speed;
        let y = match (source, file) {
            (Some(source), Some(_)) if source == site => match rule.reading.at_source {
                AtSource::Nothing => 0.0,
                AtSource::Infinite => f64::INFINITY,
            },
            (Some(source), Some(file)) => {
                let shared = match rule.reading.bandwidth {
                    Bandwidth::Idle => 1,
                    Bandwidth::Left => {
                        1 + transfers(grid, |from, _| from == source).max(transfers(grid, |_, to| to == site))
                    }
                };
                let left = rate(source, site) / f64::from(shared);
                grid.catalogue().bytes(*file) as f64 / left / run_s
            }
            _ => 0.0,
        };
        let quality = if rule.axes.quality { short(offered.quality(), asked.quality()) } else { 0.0 };
        let price = offered.price;
        let cost = if rule.axes.cost && price > 0.0 { price / asked.would_pay() } else { 0.0 };
        (x * x + y * y + quality * quality + cost * cost).sqrt()
    }

    fn order(&self, grid: &Grid, task: TaskId, free: &Free) -> Vec<usize> {
        let fitting = self.fitting(grid, task, free);
        let mut left: Vec<usize> = (0..free.len()).collect();
        match self.0.nearness {
            Nearness::Listed => left,
            Nearness::MostFree => {
                left.sort_by_key(|site| (u32::MAX - fitting[*site], *site));
                left
            }
            Nearness::Map => {
                // Again and again the nearest of those that are left; of those as near the lowest.
                let mut order = Vec::new();
                while !left.is_empty() {
                    let distance = |site: &usize| self.distance(grid, task, free, *site);
                    let nearest = left.iter().map(distance).fold(f64::INFINITY, f64::min);
                    let at =
                        left.iter().position(|site| distance(site) <= nearest * (1.0 + 1e-12)).unwrap_or(0);
                    order.push(left.remove(at));
                }
                order
            }
            Nearness::Data | Nearness::EarliestEnd => {
                panic!("the paper has no such order: it is ours, and has no reference")
            }
        }
    }

    fn divided(&self, grid: &Grid, task: TaskId, free: &Free) -> Vec<Part> {
        let (fitting, cores) = (self.fitting(grid, task, free), needs(grid, task).cores);
        let order = self.order(grid, task, free);
        let part = |site: usize, cores: u32| Part { on: MachineId::new(site), cores };
        if self.0.split != Split::Nearest
            && let Some(whole) = order.iter().find(|site| fitting[**site] >= cores)
        {
            return vec![part(*whole, cores)];
        }
        let (mut parts, mut left) = (Vec::new(), cores);
        for site in order {
            let taken = fitting[site].min(left);
            if taken > 0 {
                parts.push(part(site, taken));
                left -= taken;
            }
        }
        assert_eq!(left, 0, "there was enough");
        parts.sort_by_key(|part| part.on);
        parts
    }

    fn end(grid: &Grid, task: TaskId, parts: &[Part], since: Time) -> Time {
        let class = grid.task(task).class();
        let length = grid.declared_length(task).expect("a length").amount();
        let seconds =
            |part: &Part| grid.classes().seconds_per_op_in_parts(class, grid.machine(part.on).class());
        since.after_seconds(length * parts.iter().map(seconds).fold(0.0, f64::max))
    }

    /// When a job fits by what is believed of what runs, and what is free then.
    fn kept(&self, grid: &Grid, now: Time, head: TaskId) -> (Time, Free) {
        let mut runs: Vec<(Time, RunId, Vec<Part>)> = Vec::new();
        for (task, _) in grid.tasks() {
            for run in grid.runs_of(task).filter(|run| run.stage() != Stage::Missing) {
                let parts: Vec<Part> = grid.parts_of(run).collect();
                runs.push((Self::end(grid, task, &parts, run.since()), run.id(), parts));
            }
        }
        runs.sort_by_key(|(end, run, _)| (*end, *run));
        let mut free = free(grid);
        let mut fits: Option<Time> = None;
        for (end, run, parts) in runs {
            let end = end.max(now);
            if let Some(at) = fits
                && end > at
            {
                return (at, free);
            }
            for part in parts {
                take(&mut free, grid, run.task, part, 1);
            }
            if run.task == head || self.is_enough(grid, head, &free) {
                fits = Some(end);
            }
        }
        (fits.unwrap_or(Time::NEVER), free)
    }

    fn next(&self, grid: &Grid, now: Time) -> Option<Decision> {
        let wants = |task: TaskId| match grid.task(task).state() {
            TaskState::Waiting => true,
            TaskState::Placed => {
                let mut runs = grid.runs_of(task);
                let going_on = grid.runs_of(task).filter(|run: &&Run| run.goes_on()).count();
                runs.all(|run| run.stage() != Stage::Stopping) && going_on < self.0.copies as usize
            }
            TaskState::Finished(_) | TaskState::Withdrawn | TaskState::Retired => false,
        };
        let mut line: Vec<TaskId> = grid.tasks().map(|(task, _)| task).filter(|task| wants(*task)).collect();
        if self.0.extra == Copies::WhenIdle {
            line.sort_by_key(|task| grid.task(*task).state() != TaskState::Waiting);
        }
        let now_free = free(grid);
        let mut head: Option<(TaskId, (Time, Free))> = None;
        for task in line {
            if !self.is_enough(grid, task, &now_free) {
                if head.is_none() {
                    head = Some((task, self.kept(grid, now, task)));
                }
                continue;
            }
            let parts = self.divided(grid, task, &now_free);
            if let Some((first, (at, then))) = &head {
                let may = match self.0.behind {
                    Behind::Starts => true,
                    Behind::Waits => false,
                    Behind::Easy => {
                        let mut left = then.clone();
                        Self::end(grid, task, &parts, now) <= *at
                            || (parts.iter().all(|part| take(&mut left, grid, task, *part, -1))
                                && self.is_enough(grid, *first, &left))
                    }
                    Behind::Patient => {
                        panic!("the paper has no such patience: it is ours, and has no reference")
                    }
                };
                if !may {
                    continue;
                }
            }
            let parts = parts.into();
            return Some(Decision::Ask { task, parts, until: now.after_seconds(self.0.patience_s) });
        }
        None
    }
}

impl Policy for NaiveSites {
    fn observe(&mut self, _: &Grid, _: &Change) {}

    fn propose(&mut self, grid: &Grid, now: Time, occasion: Occasion) -> Option<Decision> {
        if let Cause::WokeUp { alarm, .. } = occasion.cause {
            return if self.0.news == News::Broadcast {
                self.by_survey(grid, now, alarm)
            } else {
                self.next(grid, now)
            };
        }
        self.wants(grid, now)
    }

    fn rebuild(&mut self, _: &Grid) {}

    fn check(&self, _: &Grid) -> Result<(), String> {
        Ok(())
    }
}

impl NaiveSites {
    /// Broadcast, answers until the time-out, then the jobs in turn.
    fn by_survey(&self, grid: &Grid, now: Time, woke: Alarm) -> Option<Decision> {
        let broadcast = Some(Decision::Survey { until: now.after_seconds(self.0.patience_s) });
        match (grid.is_surveying(), self.has_jobs(grid), woke) {
            (true, _, _) | (_, false, _) => None,
            (_, _, Alarm::Survey) => self.next(grid, now).or_else(|| {
                if grid.survey_missed() {
                    return broadcast;
                }
                let is_set = grid.alarm(Alarm::Batch).is_some();
                let at = now.after_seconds(self.0.again_s);
                if is_set { None } else { Some(Decision::Wake { alarm: Alarm::Batch, at }) }
            }),
            _ => broadcast,
        }
    }

    fn wants(&self, grid: &Grid, now: Time) -> Option<Decision> {
        let earlier = grid.alarm(Alarm::Batch);
        (self.has_jobs(grid) && earlier.is_none_or(|at| now < at))
            .then_some(Decision::Wake { alarm: Alarm::Batch, at: now })
    }

    fn has_jobs(&self, grid: &Grid) -> bool {
        let copies =
            |task: TaskId| grid.runs_of(task).filter(|run| run.goes_on()).count() < self.0.copies as usize;
        let placed =
            |(task, of): (TaskId, &gleaner_core::Task)| of.state() == TaskState::Placed && copies(task);
        grid.has_waiting() || grid.tasks().any(placed)
    }
}
