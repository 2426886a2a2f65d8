//! Figure 2: where the tasks of each type are, second by second, when S₃'s owner comes back at 1500 s.

use super::scheme::{Parameters, Scheme};
use super::{COMPOSITIONS, grids, setups};
use crate::statistics::mean;
use crate::{Run, Stopped, Watch};
use gleaner_core::{Command, Decision, Event, RunEnd};
use gleaner_policy::{Recipe, Score};
use gleaner_sim::bound::makespan_bound;
use gleaner_sim::{Observer, Setup, Simulation};
use gleaner_units::{MachineId, PartyId, TaskId, Time};
use rayon::prelude::*;

/// When S₃'s owner comes back.
pub const OWNER_RETURNS_S: usize = 1500;
/// Where the paper's x axis ends.
pub const PAPER_END_S: usize = 6500;
/// θ of the SOCIAL relocator beyond the paper's 10 %, to see what it would take to make it move.
pub const GAINS: [f64; 4] = [0.10, 0.05, 0.01, 0.001];

/// What the printed lengths are to be multiplied by for both of the figure's axes to fit.
pub const FITTING: f64 = 0.30;
/// Where the paper's y axis ends.
pub const PAPER_PEAK: f64 = 310.0;

const MACHINES: usize = grids::SYNTHETIC.len();
/// S₃.
pub const S3: usize = 3;
/// C₄.
pub const DATA: usize = 4;

/// Tasks by machine and by type.
pub type Counts = [[u32; COMPOSITIONS.len()]; MACHINES];

/// One run, looked at every second.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Watched {
    /// The tasks on each machine at each whole second from 0 on, until the end of the run.
    pub seconds: Vec<Counts>,
    /// Moves off S₃ less moves onto it from 1500 s on.
    pub left_s3: i64,
}

/// What one run says about the paper's statements.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Measures {
    /// In the end.
    pub run: Run,
    /// Of the tasks on S₃ at 1500 s, the share that was taken elsewhere.
    pub left_s3: f64,
    /// By how many tasks S₀, S₁, S₂ grow after 1500 s at most.
    pub growth: [f64; 3],
    /// How many tasks S₀, S₁ and S₂ have more after 1500 s, at most.
    pub growth_together: f64,
    /// The share of C₄'s unfinished tasks that is on S₃, on average until 1500 s.
    pub data_on_s3: f64,
    /// How far S₁ and S₂ are apart, relative to how many tasks they have.
    pub twins_apart: f64,
    /// How far this is from GREEDY, machine by machine and type by type, in the same sense.
    pub from_greedy: f64,
    /// The most tasks on a machine until 6500 s.
    pub peak: f64,
}

/// One seed: what each rule did.
#[derive(Clone, PartialEq, Debug)]
pub struct Sample {
    /// No schedule ends earlier.
    pub bound_s: f64,
    /// In the order of [`Score::ALL`].
    pub measures: Vec<Measures>,
    /// The SOCIAL rule with each of [`GAINS`].
    pub by_gain: Vec<Run>,
}

/// All seeds, and the first one second by second.
#[derive(Clone, PartialEq, Debug)]
pub struct Samples {
    /// One entry a seed.
    pub seeds: Vec<Sample>,
    /// The first seed's runs in the order of [`Score::ALL`]; for the plots.
    pub first: Vec<Watched>,
}

/// How many simulations a seed takes.
pub fn simulations() -> u64 {
    (Score::ALL.len() + GAINS.len()) as u64
}

/// Simulates, on all cores, with lengths that are multiplied by a number.
pub fn conduct(seeds: u64, parameters: Parameters, times: f64, watch: Watch<'_>) -> Result<Samples, Stopped> {
    let one = |seed: u64| -> Result<(Sample, Vec<Watched>), Stopped> {
        let setup = setups::figure_2(seed, times);
        let run = |recipe| {
            let run = look(&setup, recipe);
            if watch().is_break() { Err(Stopped) } else { Ok(run) }
        };
        let schemes = Score::ALL.iter().map(|score| run(Scheme::relocating(*score).recipe(parameters)));
        let watched: Vec<(Run, Watched)> = schemes.collect::<Result<_, _>>()?;
        let social =
            |gain_min| Scheme::relocating(Score::Social).recipe(Parameters { gain_min, ..parameters });
        let by_gain = GAINS.iter().map(|gain| Ok(run(social(*gain))?.0)).collect::<Result<_, _>>()?;
        let greedy = &watched[0].1;
        let measures = watched.iter().map(|(run, watched)| measure(*run, watched, greedy)).collect();
        let bound_s = makespan_bound(&setup).expect("no owner takes a whole machine");
        let kept =
            if seed == 1 { watched.into_iter().map(|(_, watched)| watched).collect() } else { Vec::new() };
        Ok((Sample { bound_s, measures, by_gain }, kept))
    };
    let all: Vec<_> = (1..=seeds).into_par_iter().map(one).collect::<Result<_, _>>()?;
    let (seeds, mut kept): (Vec<Sample>, Vec<Vec<Watched>>) = all.into_iter().unzip();
    Ok(Samples { seeds, first: kept.swap_remove(0) })
}

fn look(setup: &Setup, recipe: Recipe) -> (Run, Watched) {
    let mut eye = Eye::new(setup);
    let mut simulation = Simulation::unopened(setup, recipe.build()).observed_by(&mut eye);
    simulation.open();
    simulation.run();
    let run = Run::of(setup, &simulation);
    drop(simulation);
    eye.pass(Time::from_seconds(run.makespan_s).expect("a time that came"));
    (run, eye.watched)
}

/// Counts tasks as they come and go.
struct Eye<'a> {
    setup: &'a Setup,
    on: Vec<Option<MachineId>>,
    now: Counts,
    watched: Watched,
}

impl<'a> Eye<'a> {
    fn new(setup: &'a Setup) -> Self {
        Self { setup, on: vec![None; setup.tasks.len()], now: Counts::default(), watched: Watched::default() }
    }

    /// What was so until `time` is what the whole seconds before it saw.
    fn pass(&mut self, time: Time) {
        while (self.watched.seconds.len() as f64) < time.seconds() {
            self.watched.seconds.push(self.now);
        }
    }

    fn put(&mut self, task: TaskId, to: Option<MachineId>) {
        let kind = self.setup.tasks.classes[task.index()].index();
        let from = std::mem::replace(&mut self.on[task.index()], to);
        if let Some(from) = from {
            self.now[from.index()][kind] -= 1;
        }
        if let Some(to) = to {
            self.now[to.index()][kind] += 1;
        }
    }
}

impl Observer for Eye<'_> {
    fn event(&mut self, now: Time, _: PartyId, event: &Event) {
        self.pass(now);
        if let Event::RunEnded { run, end: RunEnd::Finished } = event {
            self.put(run.task, None);
        }
    }

    fn decision(&mut self, now: Time, _: PartyId, decision: &Decision) {
        match *decision {
            Decision::Start { task, on } => self.put(task, Some(on)),
            Decision::Relocate { task, to } => {
                let is_s3 = |machine: MachineId| i64::from(machine.index() == S3);
                let from = self.on[task.index()].map_or(0, is_s3);
                self.put(task, Some(to));
                if now.seconds() >= OWNER_RETURNS_S as f64 {
                    self.watched.left_s3 += from - is_s3(to);
                }
            }
            Decision::Follow { .. }
            | Decision::TakeBack { .. }
            | Decision::StartWide { .. }
            | Decision::Ask { .. }
            | Decision::Survey { .. }
            | Decision::ReplicateWide { .. }
            | Decision::Replicate { .. }
            | Decision::Collect
            | Decision::Plan { .. }
            | Decision::Lending(_)
            | Decision::Wake { .. } => {}
        }
    }

    fn command(&mut self, _: Time, _: PartyId, _: &Command) {}
}

fn total(counts: &Counts, machine: usize) -> f64 {
    counts[machine].iter().map(|count| f64::from(*count)).sum()
}

fn measure(run: Run, watched: &Watched, greedy: &Watched) -> Measures {
    let none = Counts::default();
    let before = watched.seconds.get(OWNER_RETURNS_S - 1).unwrap_or(&none);
    let after = || watched.seconds.iter().skip(OWNER_RETURNS_S);
    let growth =
        |of: &dyn Fn(&Counts) -> f64| after().map(|counts| of(counts) - of(before)).fold(0.0, f64::max);
    let together = |counts: &Counts| (0..S3).map(|machine| total(counts, machine)).sum();
    let window = &watched.seconds[..watched.seconds.len().min(PAPER_END_S)];
    let totals = window.iter().flat_map(|counts| (0..MACHINES).map(|machine| total(counts, machine)));
    Measures {
        run,
        // Where nothing was on S3, nothing left it.
        left_s3: watched.left_s3 as f64 / total(before, S3).max(1.0),
        growth: [0, 1, 2].map(|machine| growth(&|counts| total(counts, machine))),
        growth_together: growth(&together),
        data_on_s3: data_on_s3(watched),
        twins_apart: apart(window.iter().flat_map(|counts| counts[1].iter().zip(&counts[2]))),
        from_greedy: from_greedy(watched, greedy),
        peak: totals.fold(0.0, f64::max),
    }
}

fn data_on_s3(watched: &Watched) -> f64 {
    let share = |counts: &Counts| {
        let all: u32 = counts.iter().map(|kinds| kinds[DATA]).sum();
        (all > 0).then(|| f64::from(counts[S3][DATA]) / f64::from(all))
    };
    mean(watched.seconds.iter().take(OWNER_RETURNS_S).filter_map(share))
}

fn from_greedy(watched: &Watched, greedy: &Watched) -> f64 {
    let none = Counts::default();
    let at = |run: &Watched, second| *run.seconds.get(second).unwrap_or(&none);
    let pairs: Vec<(Counts, Counts)> =
        (0..PAPER_END_S).map(|second| (at(watched, second), at(greedy, second))).collect();
    apart(pairs.iter().flat_map(|(one, other)| one.iter().flatten().zip(other.iter().flatten())))
}

/// Σ|a − b| over Σ(a + b)/2: 0 for the same, 2 for nothing in common.
fn apart<'a>(pairs: impl Iterator<Item = (&'a u32, &'a u32)>) -> f64 {
    let sums = pairs.fold((0.0, 0.0), |(apart, both), (a, b)| {
        (apart + f64::from(a.abs_diff(*b)), both + f64::from(a + b) / 2.0)
    });
    if sums.1 == 0.0 { 0.0 } else { sums.0 / sums.1 }
}
