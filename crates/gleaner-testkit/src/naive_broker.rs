//! A broker as a reader of Cavalieri, Monforte and Scibilia would write it: every site ranked afresh for every task, chances
//! added up one after the other. It shares no code with the policy under test.

use gleaner_core::{Cause, Change, Decision, Grid, Occasion, Policy};
use gleaner_units::{MachineId, RunId, TaskClassId, TaskId, Time};
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};

/// Which site is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// The lowest of the best.
    Best,
    /// Any of the best.
    Lot,
    /// The lowest.
    First,
    /// Pᵢ = Kᵢ / Σ K, with Kᵢ = 1/|Rᵢ| to this power.
    Power(u32),
    /// The better of two.
    Two,
}

/// A whole reference policy.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NaiveBroker {
    /// α.
    pub alpha: f64,
    /// β.
    pub beta: f64,
    /// Whether the traversal time includes the execution.
    pub with_execution: bool,
    /// Whether only those are candidates that hold most files.
    pub most_files: bool,
    /// Which site.
    pub choice: Choice,
    /// How many brokers there are, where what was sent counts.
    pub brokers: Option<u32>,
}

struct Draws(ChaCha8Rng);

impl Draws {
    fn of(grid: &Grid, task: TaskId) -> Self {
        let mut words = ChaCha8Rng::seed_from_u64(grid.seed() ^ u64::from_be_bytes(*b"\0\0broker"));
        words.set_stream(u64::from(grid.task(task).runs()) << 32 | task.index() as u64);
        Self(words)
    }

    fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * 2.0_f64.powi(-53)
    }

    fn index(&mut self, count: usize) -> usize {
        (self.unit() * count as f64).floor() as usize
    }
}

impl NaiveBroker {
    fn candidates(&self, grid: &Grid, task: TaskId) -> Vec<(MachineId, f64)> {
        let class = grid.task(task).class();
        let able = (0..grid.machines().len()).map(MachineId::new).filter(|site| grid.can_run(class, *site));
        let able: Vec<(MachineId, f64)> = able
            .map(|site| (site, self.rank(grid, task, site)))
            .filter(|(_, rank)| rank.is_finite())
            .collect();
        let files = |site| files(grid, class, site);
        let most = able.iter().map(|(site, _)| files(*site)).max().unwrap_or(0);
        able.into_iter().filter(|(site, _)| !self.most_files || files(*site) == most).collect()
    }

    /// (1) to (3).
    fn rank(&self, grid: &Grid, task: TaskId, site: MachineId) -> f64 {
        let class = grid.task(task).class();
        let (access, transfer) = file_times(grid, class, site);
        if transfer == f64::INFINITY {
            return f64::NEG_INFINITY;
        }
        let mut traversal = self.traversal(grid, site);
        if self.with_execution {
            traversal += access + execution(grid, task, site);
        }
        let rank_expr = -traversal;
        let file_rank = -(self.beta * access + (1.0 - self.beta) * transfer);
        self.alpha * rank_expr + (1.0 - self.alpha) * file_rank
    }

    fn traversal(&self, grid: &Grid, site: MachineId) -> f64 {
        let belief = grid.belief(site);
        let published = belief.map_or(0.0, |belief| belief.state().traversal_s);
        let Some(brokers) = self.brokers else { return published };
        let cores = grid.machine(site).cores();
        let free = belief.map_or(cores, |belief| belief.state().cores_free);
        let runs: Vec<RunId> = match belief {
            Some(belief) => belief.sent_since().iter().map(|sent| sent.run).collect(),
            None => grid.machine(site).runs().collect(),
        };
        if runs.is_empty() {
            return published;
        }
        let time = |run: &RunId| {
            let (access, _) = file_times(grid, grid.task(run.task).class(), site);
            access + execution(grid, run.task, site)
        };
        let mean = runs.iter().map(time).sum::<f64>() / runs.len() as f64;
        let others = f64::from(brokers) * runs.len() as f64;
        let begins_at_once = f64::from(free.max(1)) - 1.0;
        published + (others - begins_at_once).max(0.0) * mean / f64::from(cores)
    }

    fn place(&self, grid: &Grid, task: TaskId) -> Option<MachineId> {
        let candidates = self.candidates(grid, task);
        let best = candidates.iter().map(|(_, rank)| *rank).fold(f64::NEG_INFINITY, f64::max);
        let good = |rank: f64| best - rank <= 1e-12 * best.abs();
        let draws = &mut Draws::of(grid, task);
        let first = candidates.first()?.0;
        Some(match self.choice {
            Choice::First => first,
            Choice::Best => candidates.iter().find(|(_, rank)| good(*rank))?.0,
            Choice::Lot => {
                let tied: Vec<_> = candidates.iter().filter(|(_, rank)| good(*rank)).collect();
                tied[draws.index(tied.len())].0
            }
            Choice::Two if candidates.len() == 1 => first,
            Choice::Two => {
                let one = draws.index(candidates.len());
                let other =
                    (0..candidates.len()).filter(|at| *at != one).nth(draws.index(candidates.len() - 1))?;
                let (low, high) = (candidates[one.min(other)], candidates[one.max(other)]);
                if high.1 - low.1 > 1e-12 * high.1.abs().max(low.1.abs()).min(high.1.abs()) {
                    high.0
                } else {
                    low.0
                }
            }
            Choice::Power(power) => {
                let free: Vec<_> = candidates.iter().filter(|(_, rank)| *rank >= 0.0).collect();
                if !free.is_empty() {
                    return Some(free[draws.index(free.len())].0);
                }
                let k = |rank: f64| (1.0 / rank.abs()).powi(power.cast_signed());
                let total: f64 = candidates.iter().map(|(_, rank)| k(*rank)).sum();
                let (mut left, drawn) = (0.0, draws.unit() * total);
                let chosen = candidates.iter().find(|(_, rank)| {
                    left += k(*rank);
                    drawn < left
                });
                chosen.or(candidates.last())?.0
            }
        })
    }
}

fn files(grid: &Grid, class: TaskClassId, site: MachineId) -> usize {
    let data = grid.catalogue();
    let here = data.site_of(site);
    let held = data.inputs(class).iter().filter(|f| here.is_some_and(|s| data.holders(**f).contains(&s)));
    held.count()
}

fn execution(grid: &Grid, task: TaskId, site: MachineId) -> f64 {
    let length = grid.declared_length(task).map_or(0.0, gleaner_units::Ops::amount);
    length * grid.seconds_per_op(grid.task(task).class(), site)
}

fn file_times(grid: &Grid, class: TaskClassId, site: MachineId) -> (f64, f64) {
    let data = grid.catalogue();
    let Some(here) = data.site_of(site) else { return (0.0, 0.0) };
    let (mut access, mut transfer) = (0.0, 0.0);
    for &file in data.inputs(class) {
        access += data.seconds_to_read(class, here) * data.bytes(file) as f64
            / data.inputs(class).iter().map(|f| data.bytes(*f) as f64).sum::<f64>();
        let rates = data.holders(file).iter().map(|from| data.bytes_per_s(*from, here));
        transfer += data.bytes(file) as f64 / rates.fold(0.0, f64::max);
    }
    (access, transfer)
}

impl Policy for NaiveBroker {
    fn observe(&mut self, _: &Grid, _: &Change) {}

    fn propose(&mut self, grid: &Grid, _: Time, occasion: Occasion) -> Option<Decision> {
        let mut waiting: Vec<TaskId> = grid.waiting_tasks().map(|(_, task)| task).collect();
        waiting.sort_by_key(|task| {
            let class = grid.classes().task_class(grid.task(*task).class());
            (std::cmp::Reverse(class.priority), *task)
        });
        match occasion.cause {
            Cause::Submitted(class) => waiting.retain(|task| grid.task(*task).class() == class),
            Cause::Joined(site)
            | Cause::Opened(site)
            | Cause::Measured(site)
            | Cause::LoadFell(site)
            | Cause::Freed(site)
            | Cause::Vacated(site)
            | Cause::Published(site) => waiting.retain(|task| grid.can_run(grid.task(*task).class(), site)),
            Cause::DataCame => {
                waiting.retain(|task| !grid.catalogue().inputs(grid.task(*task).class()).is_empty());
            }
            Cause::Lost(_) | Cause::RuleChanged => {}
            Cause::WokeUp { .. }
            | Cause::LoadRose(_)
            | Cause::Closed(_)
            | Cause::Wanted
            | Cause::NothingLent
            | Cause::Withdrawn => return None,
        }
        waiting.into_iter().find_map(|task| Some(Decision::Start { task, on: self.place(grid, task)? }))
    }

    fn rebuild(&mut self, _: &Grid) {}

    fn check(&self, _: &Grid) -> Result<(), String> {
        Ok(())
    }
}
