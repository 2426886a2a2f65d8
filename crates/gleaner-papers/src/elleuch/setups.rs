//! From a case and a seed to what the simulator runs, and to what comes of it.

use super::case::{Case, Month, Variant};
use super::outcome::Outcome;
use super::{ARRIVALS_MAX, PERIOD_S, patterns};
use crate::Stream;
use gleaner_core::{Budget, GridConfig, MachineClass, Migration, Room, Scope, TaskClass};
use gleaner_sim::{Answers, MachineTraces, Prediction, Pricing, Setup, Simulation, SpeedScale, Trace};
use gleaner_units::{Credits, MachineId, Span};
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

/// Every pattern meets the same machines, as in the paper.
pub(super) const TRACE_SEED: u64 = 1;
/// A trace goes on after the last arrival: twice as long, and three days. What is not done by then never is.
const TRACE_DAYS: f64 = 3.0;
const TRACE_DAYS_MORE: f64 = 3.0;
/// How many machines give up what they begin.
const SABOTEURS_SHARE: f64 = 0.1;
/// The stream that says which.
const SABOTEURS: u64 = 0x0e11_0002;
/// So many aborts in a row put a machine aside.
const ABORTS_MAX: u32 = 3;
/// How many events pass between two looks at whether to go on.
const EVENTS_BETWEEN_LOOKS: u32 = 2_000;
/// A run stalls when in so long a time, six hours,
const STALL_S: f64 = 21_600.0;
/// less than this part of what comes in it on average is done, while more than what comes in it is there to be done.
const STALL_SHARE: f64 = 0.05;

/// The traces of both months in both readings, each drawn when it is first needed.
#[derive(Debug)]
pub(super) struct Traces {
    days: f64,
    /// By month, and then whether machines are as slow as printed.
    months: [OnceLock<Arc<Trace>>; 4],
}

impl Traces {
    /// For so many days of arrivals.
    pub(super) fn new(days: f64) -> Self {
        Self { days, months: std::array::from_fn(|_| OnceLock::new()) }
    }

    fn of(&self, Case { month, variant, .. }: Case) -> Arc<Trace> {
        let end_s = (self.days * TRACE_DAYS + TRACE_DAYS_MORE) * 86_400.0;
        let draw = || Arc::new(month.profile(variant).draw(TRACE_SEED, end_s));
        let at = 2 * month as usize + usize::from(variant.has_many_machines());
        Arc::clone(self.months[at].get_or_init(draw))
    }
}

/// How many machines are there at a batch of a day, and of how many representative speeds, on average.
pub(super) fn workers_and_classes(month: Month, day: u32) -> (f64, f64) {
    let profile = month.profile(Variant::Standard);
    let scale = SpeedScale::elleuch().times(profile.law.unit);
    let from_s = f64::from(day) * 86_400.0;
    let trace = profile.draw(TRACE_SEED, from_s + 86_400.0);
    let batches = 86_400 / PERIOD_S;
    let (mut workers, mut classes) = (0, 0);
    for batch in 0..batches {
        let now = from_s + f64::from(batch * PERIOD_S);
        let speeds: Vec<usize> = (0..trace.intervals().len())
            .filter(|&at| {
                let interval = trace.intervals()[at];
                interval.from.seconds() <= now && now < interval.until.seconds()
            })
            .map(|at| {
                let pieces = trace.pieces(at);
                let piece = pieces.partition_point(|piece| piece.from.seconds() <= now) - 1;
                scale.nearest(pieces[piece].speed)
            })
            .collect();
        workers += speeds.len();
        classes += speeds.into_iter().collect::<BTreeSet<usize>>().len();
    }
    (workers as f64 / f64::from(batches), classes as f64 / f64::from(batches))
}

/// Machines, tasks and budget.
pub(super) fn setup(case: Case, seed: u64, traces: &Traces) -> Setup {
    let period_s = case.variant.period_s();
    let period = Span::from_nanos(u64::from(period_s) * 1_000_000_000);
    let unit = case.month.profile(case.variant).law.unit;
    let (trace, scale) = (traces.of(case), SpeedScale::elleuch().times(unit));
    let kind = MachineClass {
        room: Room { slots: Some(1), ..Room::default() },
        provides: BTreeSet::new(),
        ..MachineClass::plain(Vec::new(), 1)
    };
    let pricing = if case.variant == Variant::DemandPrices { Pricing::ByDemand } else { Pricing::BySpeed };
    Setup {
        config: GridConfig { weights: vec![1.0], migration: Migration::default() },
        machine_classes: MachineTraces::classes(&scale, &[kind], pricing),
        machines: Vec::new(),
        availability: Some(MachineTraces {
            kinds: vec![0; trace.machines().len()],
            trace,
            scale,
            look_every: period,
            prediction: if case.variant == Variant::Forecast {
                Prediction::Forecast
            } else {
                Prediction::ELLEUCH
            },
            pricing,
            saboteurs: match case.variant {
                Variant::Saboteurs | Variant::PutAside => saboteurs(traces.of(case).machines().len()),
                _ => BTreeSet::new(),
            },
            aborts_max: (case.variant == Variant::PutAside).then_some(ABORTS_MAX),
        }),
        task_classes: vec![TaskClass { requires: BTreeSet::new(), ..TaskClass::plain(vec![1.0]) }],
        tasks: patterns::tasks(seed, period_s, traces.days),
        loads: Vec::new(),
        answers: Answers::default(),
        budget: case.budget.map(|recharge| Budget {
            recharge: Credits::new(recharge),
            period,
            charged: case.charged(),
            scope: Scope::Shared,
        }),
    }
}

/// The same for every pattern.
fn saboteurs(machines: usize) -> BTreeSet<u32> {
    let mut stream = Stream::new(TRACE_SEED, SABOTEURS);
    (0..machines as u32).filter(|_| stream.unit() < SABOTEURS_SHARE).collect()
}

/// Runs a case with a seed, to the end or until it stalls; none if it was to stop.
pub(super) fn simulate(case: Case, seed: u64, traces: &Traces, stop: &dyn Fn() -> bool) -> Option<Outcome> {
    let setup = setup(case, seed, traces);
    let mut simulation = Simulation::new(&setup, case.recipe().build());
    let mut pace = Pace::new(case);
    loop {
        for _ in 0..EVENTS_BETWEEN_LOOKS {
            if !simulation.step() {
                return Some(outcome(&setup, &simulation));
            }
        }
        if stop() {
            return None;
        }
        let progress = simulation.progress();
        let arrived = setup.tasks.arrivals.partition_point(|arrival| *arrival <= progress.now);
        if pace.stalls(progress.now.seconds(), arrived, progress.finished) {
            return Some(outcome(&setup, &simulation));
        }
    }
}

/// How much is done from one look to the next.
struct Pace {
    /// Tasks that come between two looks, on average.
    usual: f64,
    looked_s: f64,
    finished: usize,
}

impl Pace {
    fn new(case: Case) -> Self {
        let periods = STALL_S / f64::from(case.variant.period_s());
        Self { usual: periods * ARRIVALS_MAX as f64 / 2.0, looked_s: 0.0, finished: 0 }
    }

    fn stalls(&mut self, now_s: f64, arrived: usize, finished: usize) -> bool {
        if now_s < self.looked_s + STALL_S {
            return false;
        }
        let ended = (finished - self.finished) as f64;
        let left = (arrived - finished) as f64;
        (self.looked_s, self.finished) = (now_s, finished);
        ended < STALL_SHARE * self.usual && left > self.usual
    }
}

fn outcome<P: gleaner_core::Policy>(setup: &Setup, simulation: &Simulation<'_, P>) -> Outcome {
    let history = simulation.history();
    let trace = &setup.availability.as_ref().expect("machines come by a trace").trace;
    let unfinished = history.unfinished();
    let end = if unfinished == 0 { history.makespan() } else { trace.end() };
    // Of a run that is given up, what it used until then.
    let seen = end.min(simulation.progress().now);
    let (mut there_s, mut busy_s, mut could) = (0.0, 0.0, 0.0);
    for (index, interval) in trace.intervals().iter().enumerate() {
        if interval.from < seen {
            let until = interval.until.min(seen);
            there_s += until.since(interval.from).seconds();
            could += trace.ops_until(index, until);
            busy_s += simulation.busy_seconds(MachineId::new(index));
        }
    }
    let tasks = history.tasks().iter().zip(&setup.tasks.lengths);
    let done: f64 = tasks.filter(|(task, _)| task.finished <= seen).map(|(_, length)| length.amount()).sum();
    Outcome {
        makespan_s: end.seconds(),
        unfinished,
        stalls: seen < end,
        use_share: busy_s / there_s,
        work_share: done / could,
        aborts: history.aborts(),
        paid: history.paid().amount(),
    }
}
