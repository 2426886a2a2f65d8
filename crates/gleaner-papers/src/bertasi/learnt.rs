//! What lengths are worth that were learnt by label: which part of the way from the paper's rules, which know none, to rules that
//! know all.
//!
//! A label is what a user says of a job. Here it is one of ten, by how large a number is that has a given correlation with the
//! logarithm of the job's length. What is known of a label are the lengths of another day's 2,000 jobs: all of figure 3's arrive
//! before enough of them have ended to learn from.

use super::compared::{Compared, Measure, measured};
use super::jobs::PERMUTATIONS;
use super::scheme::{Parameters, Scheme};
use super::setups;
use super::two_days::{Day, TwoDays};
use crate::{Stopped, Stream, Watch};
use gleaner_core::{Cause, Change, Decision, Grid, Occasion, Policy};
use gleaner_policy::{Lengths as LengthsBelieved, Recipe, Score};
use gleaner_sim::bound::makespan_bound;
use gleaner_sim::{Setup, Simulation};
use gleaner_units::{MachineId, TaskId, Time};

/// How many labels there are.
const LABELS: usize = 10;

/// The stream of what users err.
const LABELLING: u64 = 0xbe27_0002;

/// The seeds of the days before.
const ANOTHER_DAY: u64 = 1_000_000;

/// Moves at one occasion, as the paper's.
const MOVES_MAX: u32 = 3;

/// By which part the later of two machines must be done earlier for a move.
const GAIN_MIN: f64 = 0.01;

/// What is left of a job that has done more than any of its label before, in units of what it has done.
const LONGER: f64 = 0.1;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Rule {
    /// The paper's, which knows nothing of lengths.
    Papers(Score),
    /// By expected ends, where labels say so much of lengths: this part of the variance of their logarithms.
    Labels(f64),
    /// By ends, where all lengths are known.
    Known,
    /// SOCIAL weighted by what remains: where labels say so much of lengths and the policy learns them from the day before, or
    /// where all lengths are known.
    Weighed(Option<f64>),
}

const RULES: [Rule; 11] = [
    Rule::Papers(Score::Greedy),
    Rule::Papers(Score::Social),
    Rule::Labels(0.0),
    Rule::Labels(0.25),
    Rule::Labels(0.5),
    Rule::Labels(0.75),
    Rule::Labels(1.0),
    Rule::Known,
    Rule::Weighed(Some(0.5)),
    Rule::Weighed(Some(1.0)),
    Rule::Weighed(None),
];

impl Rule {
    fn name(self) -> String {
        match self {
            Rule::Papers(score) => Scheme::relocating(score).name(),
            Rule::Labels(part) => format!("by end, labels say {:.0} %", 100.0 * part),
            Rule::Known => "by end, lengths known".to_owned(),
            Rule::Weighed(None) => "SOCIAL by what remains, lengths known".to_owned(),
            Rule::Weighed(Some(part)) => {
                format!("SOCIAL by what remains, labels say {:.0} %", 100.0 * part)
            }
        }
    }
}

/// How many simulations it takes.
pub fn simulations(seeds: u64) -> u64 {
    seeds * RULES.len() as u64
}

/// Simulates, on all cores.
pub fn conduct(seeds: u64, watch: Watch<'_>) -> Result<Compared, Stopped> {
    let measures = measured(&RULES, seeds, watch, |rule, seed| measure(*rule, seed))?;
    let rules = RULES.iter().zip(measures).map(|(rule, runs)| (rule.name(), 0, runs));
    let about = "Figure 3's machines and jobs, the orders of arrival in turn. By end: a job goes where all that is there and \
                 itself would be done first by what is expected to remain, and a machine that gets free takes a job over from \
                 the one that would be done last. By what remains: SOCIAL, where each job weighs as much as it has left; what \
                 labels mean it learns from the runs of another day's jobs.";
    Ok(Compared::of(
        "lengths",
        about.to_owned(),
        vec!["above the bound (%)", "moves"],
        &rules.collect::<Vec<_>>(),
    ))
}

fn measure(rule: Rule, seed: u64) -> Measure {
    let setup = setups::figure_3((seed - 1) as usize % PERMUTATIONS.len(), seed);
    match rule {
        Rule::Papers(score) => run(&setup, Scheme::relocating(score).recipe(Parameters::default()).build()),
        Rule::Known => run(&setup, ByEnd { lengths: Lengths::Known(lengths(&setup)) }),
        Rule::Weighed(None) => run(&setup, weighed(LengthsBelieved::True).build()),
        Rule::Weighed(Some(part)) => {
            let before = setups::figure_3(0, seed + ANOTHER_DAY);
            let day = |setup, seed| Day { setup, labels: labels(&lengths(setup), part, seed) };
            let days = TwoDays::of(&day(&before, seed + ANOTHER_DAY), &day(&setup, seed), LABELS);
            let mut simulation = Simulation::new(&days.setup, weighed(LengthsBelieved::Learnt).build());
            simulation.run();
            let (makespan_s, moves) = days.second(simulation.history());
            against_the_bound(&setup, makespan_s, moves)
        }
        Rule::Labels(part) => {
            let before = lengths(&setups::figure_3(0, seed + ANOTHER_DAY));
            let mut by_label = vec![Vec::new(); LABELS];
            for (label, length) in labels(&before, part, seed + ANOTHER_DAY).into_iter().zip(&before) {
                by_label[label].push(*length);
            }
            let by_label = by_label.into_iter().map(Seen::of).collect();
            let of = labels(&lengths(&setup), part, seed);
            run(&setup, ByEnd { lengths: Lengths::Learnt { of, by_label } })
        }
    }
}

fn lengths(setup: &Setup) -> Vec<f64> {
    setup.tasks.lengths.iter().map(|length| length.amount()).collect()
}

/// The label of each length: by tenths of a number that says so much of the logarithm.
fn labels(lengths: &[f64], part: f64, seed: u64) -> Vec<usize> {
    let logs: Vec<f64> = lengths.iter().map(|length| libm::log(*length)).collect();
    let count = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / count;
    let deviation = (logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / count).sqrt();
    let mut stream = Stream::new(seed, LABELLING);
    let mut said =
        |log: &f64| part.sqrt() * (log - mean) / deviation + (1.0 - part).sqrt() * stream.normal(0.0, 1.0);
    let said: Vec<f64> = logs.iter().map(&mut said).collect();
    let mut order: Vec<usize> = (0..said.len()).collect();
    order.sort_by(|one, other| said[*one].total_cmp(&said[*other]));
    let mut labels = vec![0; said.len()];
    for (rank, at) in order.into_iter().enumerate() {
        labels[at] = rank * LABELS / said.len();
    }
    labels
}

fn run(setup: &Setup, policy: impl Policy) -> Measure {
    let mut simulation = Simulation::new(setup, policy);
    simulation.run();
    let history = simulation.history();
    assert_eq!(history.unfinished(), 0, "every task of an experiment ends");
    against_the_bound(setup, history.makespan().seconds(), history.moves() as f64)
}

fn against_the_bound(setup: &Setup, makespan_s: f64, moves: f64) -> Measure {
    let bound_s = makespan_bound(setup).expect("every machine runs every job");
    Measure { makespan_s, more: vec![100.0 * (makespan_s / bound_s - 1.0), moves] }
}

/// SOCIAL with its relocator, by what is believed to remain of each job.
fn weighed(lengths: LengthsBelieved) -> Recipe {
    Recipe { lengths, ..Scheme::relocating(Score::Social).recipe(Parameters::default()) }
}

/// What is known of lengths.
enum Lengths {
    /// All, by task.
    Known(Vec<f64>),
    /// Those of another day's jobs.
    Learnt {
        /// By task: its label.
        of: Vec<usize>,
        by_label: Vec<Seen>,
    },
}

/// The lengths that were seen of a label, longest first, each with the sum of all as long or longer.
struct Seen(Vec<(f64, f64)>);

impl Seen {
    fn of(mut lengths: Vec<f64>) -> Self {
        lengths.sort_by(|one, other| other.total_cmp(one));
        let sums = lengths.iter().scan(0.0, |sum, length| {
            *sum += length;
            Some((*length, *sum))
        });
        Self(sums.collect())
    }

    /// The operations that one has left on average, of which so many are done.
    fn left(&self, done: f64) -> f64 {
        let longer = self.0.partition_point(|(length, _)| *length > done);
        if longer == 0 { LONGER * done } else { self.0[longer - 1].1 / longer as f64 - done }
    }
}

impl Lengths {
    /// The operations that a task has left on average, of which so many are done.
    fn left(&self, task: TaskId, done: f64) -> f64 {
        match self {
            Lengths::Known(lengths) => (lengths[task.index()] - done).max(0.0),
            Lengths::Learnt { of, by_label } => by_label[of[task.index()]].left(done),
        }
    }
}

/// Each task where all that is there would be done first; a machine that gets free takes from the one that would be done last.
struct ByEnd {
    lengths: Lengths,
}

impl ByEnd {
    /// The seconds after which a machine would be done with all that is there.
    fn end_s(&self, grid: &Grid, now: Time, on: MachineId) -> f64 {
        let machine = grid.machine(on);
        let work = machine.counts().map(|(class, _)| {
            let runs = machine.runs_of(class);
            let left = runs.map(|run| self.lengths.left(run.task, grid.ops_done(now, run)));
            grid.seconds_per_op(class, on) * left.sum::<f64>()
        });
        work.sum::<f64>() / machine.capacity()
    }

    fn place(&self, grid: &Grid, now: Time, task: TaskId) -> Option<MachineId> {
        let class = grid.task(task).class();
        let own = self.lengths.left(task, 0.0);
        let end_s = |on: MachineId| {
            let alone_s = own * grid.seconds_per_op(class, on) / grid.machine(on).capacity();
            self.end_s(grid, now, on) + alone_s
        };
        let able = machines(grid).filter(|on| grid.can_run(class, *on)).map(|on| (end_s(on), on));
        able.min_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, on)| on)
    }

    fn pull(&self, grid: &Grid, now: Time, to: MachineId) -> Option<Decision> {
        let ends = machines(grid).map(|on| (self.end_s(grid, now, on), on));
        let (last_s, from) = ends.max_by(|one, other| one.0.total_cmp(&other.0))?;
        let own_s = self.end_s(grid, now, to);
        let source = grid.machine(from);
        let running =
            source.counts().flat_map(|(class, _)| source.running_of(class).map(move |run| (class, run)));
        let movable =
            running.filter(|(class, run)| from != to && grid.can_run(*class, to) && !grid.stays(run.task));
        let after = movable.map(|(class, run)| {
            let left = self.lengths.left(run.task, grid.ops_done(now, run));
            let takes_s = |on| left * grid.seconds_per_op(class, on) / grid.machine(on).capacity();
            ((last_s - takes_s(from)).max(own_s + takes_s(to)), run.task)
        });
        let (after_s, task) =
            after.min_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)))?;
        (after_s < (1.0 - GAIN_MIN) * last_s).then_some(Decision::Relocate { task, to })
    }
}

fn machines(grid: &Grid) -> impl Iterator<Item = MachineId> {
    (0..grid.machines().len()).map(MachineId::new)
}

impl Policy for ByEnd {
    fn observe(&mut self, _: &Grid, _: &Change) {}

    fn propose(&mut self, grid: &Grid, now: Time, occasion: Occasion) -> Option<Decision> {
        match occasion.cause {
            Cause::Submitted(class) => {
                let task = grid.longest_waiting_of(class)?;
                Some(Decision::Start { task, on: self.place(grid, now, task)? })
            }
            Cause::Freed(machine) if occasion.moves < MOVES_MAX => self.pull(grid, now, machine),
            _ => None,
        }
    }

    fn rebuild(&mut self, _: &Grid) {}

    fn check(&self, _: &Grid) -> Result<(), String> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The part of the variance of the logarithms that lies between labels.
    fn explained(part: f64) -> f64 {
        let lengths = lengths(&setups::figure_3(0, 1));
        let labels = labels(&lengths, part, 1);
        let logs: Vec<f64> = lengths.iter().map(|length| libm::log(*length)).collect();
        let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
        let (all, count) = (mean(&logs), logs.len() as f64);
        let between = (0..LABELS).map(|label| {
            let own = logs.iter().zip(&labels).filter(|(_, own)| **own == label).map(|(log, _)| *log);
            let own: Vec<f64> = own.collect();
            own.len() as f64 * (mean(&own) - all).powi(2)
        });
        between.sum::<f64>() / count / (logs.iter().map(|log| (log - all).powi(2)).sum::<f64>() / count)
    }

    #[test]
    fn labels_say_about_as_much_as_they_are_to() {
        for part in [0.0, 0.25, 0.5, 0.75, 1.0] {
            let found = explained(part);
            assert!((found - part).abs() < 0.06, "{part}: {found}");
        }
    }

    #[test]
    fn what_is_left_is_the_mean_of_what_was_longer() {
        let seen = Seen::of(vec![5.0, 9.0, 1.0]);
        let left = |done| seen.left(done);
        assert_eq!((left(0.0), left(1.0), left(6.0)), (5.0, 6.0, 3.0));
        assert!((left(10.0) - 1.0).abs() < 1e-12);
    }
}
