//! The scores of the first paper (Bertasi, Pettarin, Scquizzato, Silvestri), straight from its formulas as the
//! contract reads them. h is the time per operation, n the tasks on a machine, λ its owner's load.

use super::{About, Choice, Input};
use gleaner_core::{Grid, Machine};
use gleaner_units::{MachineId, TaskClassId};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// What makes one machine better than another for a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Score {
    /// The affinity τ, equation (2): the task's own speed.
    Greedy,
    /// The growth of everyone's execution times, in the reading by execution times; a move's gain is relative to what the
    /// task itself took.
    Social,
    /// The same, with a move's gain relative to what all tasks of both machines took.
    SocialWhole,
    /// τ less the affinity that the residents lose, as the paper prints it.
    SocialAsPrinted,
    /// The number of tasks, whatever they are.
    MinNum,
    /// The operations that a machine does a second on all its cores, whatever is on it (Da Silva and Nesmachnow).
    Power,
    /// Those of one core.
    PowerPerCore,
    /// As power, less what is to be expected to be done in vain.
    ReliablePower,
    /// The operations that a machine does for each joule.
    Energy,
    /// Energy and time alike: the least product of both.
    EnergyDelay,
    /// The same, less what is to be expected to be done in vain.
    ReliableEnergyDelay,
}

impl Choice for Score {
    fn all() -> Vec<Self> {
        Score::ALL.into_iter().chain(Score::POWERS).collect()
    }

    fn about(&self) -> About {
        match self {
            Score::Greedy => About {
                name: "greedy",
                meaning: "The machine with the highest affinity (1−λ)/((n+1)·h), equation (2) of the paper: where the task \
                          itself runs fastest now, whatever that does to the tasks already there.",
                reads: &[Input::Counts, Input::Speeds, Input::OwnerLoads],
            },
            Score::Social => About {
                name: "social",
                meaning: "The machine with the highest −((n+1)·h + Σh)/(1−λ): where an operation of each task, the \
                          newcomer's included, takes least longer than before. This is the paper's idea, in a reading by \
                          execution times; the number of cores does not enter the formula. A move gains as much as the \
                          sum shrinks over both machines, relative to n·h/(1−λ), the moved task's own time where it was.",
                reads: &[Input::Counts, Input::Speeds, Input::OwnerLoads],
            },
            Score::SocialWhole => About {
                name: "social-whole",
                meaning: "As social, with a move's gain relative to the whole sum over both machines: where many tasks share \
                          them, no single move gains much, and a threshold forbids them all.",
                reads: &[Input::Counts, Input::Speeds, Input::OwnerLoads],
            },
            Score::SocialAsPrinted => About {
                name: "social-as-printed",
                meaning: "The machine with the highest τ(j) − Σ τ(k)/(n+1), to the letter of the paper. It is exactly 0 on \
                          every machine that runs only tasks as long per operation as the newcomer, and for a task slower \
                          than the others it rises as a machine fills up: crowded machines win.",
                reads: &[Input::Counts, Input::Speeds, Input::OwnerLoads],
            },
            Score::MinNum => About {
                name: "min-num",
                meaning: "The machine with the fewest tasks, whatever its speed and its owner's load: the paper's baseline.",
                reads: &[Input::Counts],
            },
            Score::Power => About {
                name: "power",
                meaning: "The machine that does the most of the task's operations a second on all its cores together, \
                          whatever is on it: for machines that run one task a core, where what is full takes none.",
                reads: &[Input::Speeds],
            },
            Score::PowerPerCore => About {
                name: "power-per-core",
                meaning: "The machine on one core of which the task runs fastest, whatever is on it.",
                reads: &[Input::Speeds],
            },
            Score::ReliablePower => About {
                name: "reliable-power",
                meaning: "As power, times the part of the runs so far that came to their end there: (1 + finished)/(1 + finished \
                          + lost). What fails and is run again, or is lost with its machine, counts as lost; what was told to \
                          stop does not. All machines that a peer lends count as one.",
                reads: &[Input::Speeds, Input::Ends],
            },
            Score::Energy => About {
                name: "energy",
                meaning: "The machine that does the most of the task's operations for each joule: power over watts. A machine \
                          says its watts in its attribute Watts; one that does not is taken for 100.",
                reads: &[Input::Speeds, Input::Watts],
            },
            Score::EnergyDelay => About {
                name: "energy-delay",
                meaning: "The machine with the least energy times time for an operation: power times power over watts. So half \
                          the energy is worth twice the time.",
                reads: &[Input::Speeds, Input::Watts],
            },
            Score::ReliableEnergyDelay => About {
                name: "reliable-energy-delay",
                meaning: "As energy-delay, times the square of reliable-power's part: what is done in vain costs time and energy.",
                reads: &[Input::Speeds, Input::Watts, Input::Ends],
            },
        }
    }
}

impl Score {
    /// Those of the first paper, in the order in which help lists them.
    pub const ALL: [Score; 5] =
        [Score::Greedy, Score::Social, Score::SocialWhole, Score::SocialAsPrinted, Score::MinNum];

    /// Those that look at the machine alone.
    pub const POWERS: [Score; 6] = [
        Score::Power,
        Score::PowerPerCore,
        Score::ReliablePower,
        Score::Energy,
        Score::EnergyDelay,
        Score::ReliableEnergyDelay,
    ];

    /// As it is written in scenarios and presets.
    pub fn name(self) -> &'static str {
        self.about().name
    }

    /// In a few words, for one line about a policy.
    pub(crate) fn summary(self) -> &'static str {
        match self {
            Score::Greedy => "each task to the machine on which it runs fastest now",
            Score::Social => "each task where everyone's execution times grow least",
            Score::SocialWhole => {
                "as social, where a move gains little among many tasks; here to be compared, not used"
            }
            Score::SocialAsPrinted => "the paper's SOCIAL to the letter; here to be compared, not used",
            Score::MinNum => "each task to the machine with the fewest tasks",
            Score::Power => "each task to the most powerful machine that has room",
            Score::PowerPerCore => "each task to the machine with the fastest core that has room",
            Score::ReliablePower => "each task to the most powerful machine by what came to its end there",
            Score::Energy => "each task where an operation takes the least energy",
            Score::EnergyDelay => "each task where energy times time is least",
            Score::ReliableEnergyDelay => {
                "each task where energy times time is least by what came to its end there"
            }
        }
    }

    /// Whether it counts tasks, so that a gain is a difference in their number.
    pub fn counts_tasks(self) -> bool {
        match self {
            Score::MinNum => true,
            Score::Greedy
            | Score::Social
            | Score::SocialWhole
            | Score::SocialAsPrinted
            | Score::Power
            | Score::PowerPerCore
            | Score::ReliablePower
            | Score::Energy
            | Score::EnergyDelay
            | Score::ReliableEnergyDelay => false,
        }
    }

    /// What a decision costs.
    pub(crate) fn cost(self) -> &'static str {
        match self {
            Score::Greedy
            | Score::MinNum
            | Score::Power
            | Score::PowerPerCore
            | Score::Energy
            | Score::EnergyDelay => "A decision costs O(machine classes + log machines).",
            Score::Social => "A decision costs O(machine classes + log machines), and O(machines) at worst.",
            Score::SocialWhole
            | Score::SocialAsPrinted
            | Score::ReliablePower
            | Score::ReliableEnergyDelay => "A decision costs O(machines) at worst.",
        }
    }
}

/// Σ over the tasks on the machine of `of(h)`, from integer counts per class so that every caller gets the same
/// number. `without` leaves one task of that class out; those that cannot run there any more, since it was measured anew, have
/// no time there and are left out too.
fn sum_over_residents(
    grid: &Grid,
    machine: &Machine,
    without: Option<TaskClassId>,
    of: impl Fn(f64) -> f64,
) -> f64 {
    // Not `sum()`: that of no floats is −0, and a division by it has the wrong sign.
    machine.counts().fold(0.0, |sum, (class, count)| {
        let count = count - u32::from(without == Some(class));
        let h = grid.classes().seconds_per_op(class, machine.class());
        if h.is_finite() { sum + f64::from(count) * of(h) } else { sum }
    })
}

/// Σ h over the tasks on the machine that can run there. Costs O(classes there).
pub(crate) fn sum_of_times(grid: &Grid, machine: &Machine) -> f64 {
    sum_over_residents(grid, machine, None, |h| h)
}

/// The score of starting a task of `class` on a machine that can run it; the highest wins.
pub(crate) fn placement(score: Score, grid: &Grid, class: TaskClassId, on: MachineId) -> f64 {
    let machine = grid.machine(on);
    let h = grid.classes().seconds_per_op(class, machine.class());
    let n = machine.count();
    match score {
        Score::Greedy => next_share(grid, class, machine) / h,
        Score::Social | Score::SocialWhole => {
            -(f64::from(n + 1) * h + sum_of_times(grid, machine)) / (1.0 - machine.load())
        }
        Score::SocialAsPrinted => social_as_printed(grid, class, machine, h),
        Score::MinNum => -f64::from(n),
        Score::Power => f64::from(machine.cores()) / h,
        Score::PowerPerCore => 1.0 / h,
        Score::ReliablePower => f64::from(machine.cores()) / h * grid.ends_on(on).reliability(),
        Score::Energy => f64::from(machine.cores()) / h / grid.classes().watts(machine.class()),
        Score::EnergyDelay => {
            energy_delay(f64::from(machine.cores()) / h, grid.classes().watts(machine.class()))
        }
        Score::ReliableEnergyDelay => {
            let reliability = grid.ends_on(on).reliability();
            energy_delay(f64::from(machine.cores()) / h, grid.classes().watts(machine.class()))
                * (reliability * reliability)
        }
    }
}

/// One over energy times time, for an operation.
pub(crate) fn energy_delay(ops_per_s: f64, watts: f64) -> f64 {
    ops_per_s * ops_per_s / watts
}

fn cores(grid: &Grid, class: TaskClassId) -> u64 {
    u64::from(grid.classes().demand(class).needs.cores)
}

/// The share of a core that a newcomer gets for each core that it wants.
#[inline]
pub(crate) fn next_share(grid: &Grid, class: TaskClassId, machine: &Machine) -> f64 {
    machine.share(machine.shares() + cores(grid, class))
}

/// What is less than this of the newcomer's own affinity is rounding, where the letter of the paper says 0.
const NOTHING: f64 = 1e-12;

/// f(j, m) = τ(j, m) − Σ τ(k, m)/(n + 1). Exactly 0, and so a tie, where the residents take as long per operation as
/// the newcomer.
fn social_as_printed(grid: &Grid, class: TaskClassId, machine: &Machine, h: f64) -> f64 {
    let n = machine.count();
    let own = next_share(grid, class, machine) / h;
    if n == 0 {
        return own;
    }
    let inverse_times = sum_over_residents(grid, machine, None, |resident| 1.0 / resident);
    let difference = own - machine.share(machine.shares()) * inverse_times / f64::from(n + 1);
    if difference.abs() <= NOTHING * own { 0.0 } else { difference }
}

/// How much is gained by moving a task of `class`, relative to how things were; for MIN-NUM, how many tasks more
/// the source has. The task is on `from` and can run on `to`.
pub(crate) fn gain(score: Score, grid: &Grid, class: TaskClassId, from: MachineId, to: MachineId) -> f64 {
    match score {
        Score::Greedy => {
            let (source, target) = (grid.machine(from), grid.machine(to));
            let before = source.share(source.shares()) / grid.seconds_per_op(class, from);
            let after = next_share(grid, class, target) / grid.seconds_per_op(class, to);
            (after - before) / before
        }
        Score::Social => social_gain(grid, class, grid.machine(from), grid.machine(to)),
        Score::SocialWhole => social_gain_of_the_whole(grid, class, grid.machine(from), grid.machine(to)),
        Score::SocialAsPrinted => social_gain_as_printed(grid, class, grid.machine(from), grid.machine(to)),
        Score::MinNum => f64::from(grid.machine(from).count()) - f64::from(grid.machine(to).count()),
        Score::Power
        | Score::PowerPerCore
        | Score::ReliablePower
        | Score::Energy
        | Score::EnergyDelay
        | Score::ReliableEnergyDelay => {
            let power = |on| placement(score, grid, class, on);
            (power(to) - power(from)) / power(from)
        }
    }
}

/// The decrease of Σ n·h/(1−λ) over the tasks of both machines, what an operation of each of them takes, relative to the
/// moved task's own term before. A task that cannot run where it is gains without bound, as by GREEDY.
fn social_gain(grid: &Grid, class: TaskClassId, source: &Machine, target: &Machine) -> f64 {
    let h = grid.classes().seconds_per_op(class, source.class());
    if h == f64::INFINITY {
        return f64::INFINITY;
    }
    let n = f64::from(source.count());
    // n·Σh less (n − 1)·(Σh − h): without a difference of large sums.
    let relief = sum_of_times(grid, source) + (n - 1.0) * h;
    let free = 1.0 - source.load();
    if free.partial_cmp(&0.0) != Some(Ordering::Greater) {
        // Both are infinite: the limit of their ratio as the source's load nears 1.
        return relief / (n * h);
    }
    let newcomer = grid.classes().seconds_per_op(class, target.class());
    let target_n = f64::from(target.count());
    let burden = ((target_n + 1.0) * newcomer + sum_of_times(grid, target)) / (1.0 - target.load());
    (relief / free - burden) / (n * h / free)
}

/// The same decrease, relative to the whole sum before: all of it, where that is infinite since the task cannot run where it is.
fn social_gain_of_the_whole(grid: &Grid, class: TaskClassId, source: &Machine, target: &Machine) -> f64 {
    if grid.classes().seconds_per_op(class, source.class()) == f64::INFINITY {
        return 1.0;
    }
    let h = grid.classes().seconds_per_op(class, target.class());
    let (n, target_n) = (f64::from(source.count()), f64::from(target.count()));
    let (sum, target_sum) = (sum_of_times(grid, source), sum_of_times(grid, target));
    let left = sum_over_residents(grid, source, Some(class), |h| h);
    let free = 1.0 - source.load();
    if free.partial_cmp(&0.0) != Some(Ordering::Greater) {
        // Both sums are infinite: the limit of their ratio as the source's load nears 1.
        return 1.0 - (n - 1.0) * left / (n * sum);
    }
    let target_free = 1.0 - target.load();
    let before = n * sum / free + target_n * target_sum / target_free;
    let after = (n - 1.0) * left / free + (target_n + 1.0) * (target_sum + h) / target_free;
    (before - after) / before
}

/// f(j, m, m') with the sums of affinities as printed; |J| counts the tasks before the move, and 0/0 = 0.
fn social_gain_as_printed(grid: &Grid, class: TaskClassId, source: &Machine, target: &Machine) -> f64 {
    let affinities = |machine: &Machine, shares: u64, inverse_times: f64| match shares {
        0 => 0.0,
        _ => machine.share(shares) * inverse_times,
    };
    let moved = cores(grid, class);
    let (n, target_n) = (source.count(), target.count());
    let before = affinities(source, source.shares(), sum_over_residents(grid, source, None, |h| 1.0 / h));
    let after = affinities(
        source,
        source.shares().saturating_sub(moved),
        sum_over_residents(grid, source, Some(class), |h| 1.0 / h),
    );
    let target_sum = sum_over_residents(grid, target, None, |h| 1.0 / h);
    let target_before = affinities(target, target.shares(), target_sum);
    let newcomer = 1.0 / grid.classes().seconds_per_op(class, target.class());
    let target_after = affinities(target, target.shares() + moved, target_sum + newcomer);
    let all = f64::from(n + target_n);
    let (own, other) = (f64::from(n) / all, f64::from(target_n) / all);
    let change = own * (after - before) + other * (target_after - target_before);
    let scale = after + before;
    if scale == 0.0 { 0.0 } else { change / scale }
}
