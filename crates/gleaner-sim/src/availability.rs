//! Machines that come and go by a trace, and what the scheduler is told of them.
//!
//! The trace is what happens; the scheduler sees less. A machine that comes is a new one, of the class of the speed that
//! is predicted for it, rounded to a [`SpeedScale`]; whenever all are looked at again, each whose prediction has
//! another class is reported as measured; one that goes is lost. Tasks meanwhile get on as the trace has it. A task
//! that is not done when its machine goes is lost with it and starts again elsewhere.

use crate::demand;
use crate::forecast::Forecaster;
use crate::speed_scale::SpeedScale;
use crate::trace::Trace;
use gleaner_core::MachineClass;
use gleaner_units::{MachineClassId, MachineId, Span, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// The machines of a run, where a trace says when they are there.
#[derive(Clone, PartialEq, Debug)]
pub struct MachineTraces {
    /// When each machine is there, and how fast it is then. Many runs may have the same.
    pub trace: Arc<Trace>,
    /// By the trace's machines: which of the kinds that [`classes`](Self::classes) was given.
    pub kinds: Vec<u32>,
    /// What speeds are rounded to.
    pub scale: SpeedScale,
    /// How often all machines are looked at: at every multiple of this. Never zero.
    pub look_every: Span,
    /// Where predictions come from.
    pub prediction: Prediction,
    /// What machines ask for an operation.
    pub pricing: Pricing,
    /// Machines, counted as in the trace, that give up every task when most of it is done.
    pub saboteurs: BTreeSet<u32>,
    /// After so many tasks in a row that it did not end, a machine is closed, this time and whenever it comes again.
    pub aborts_max: Option<u32>,
}

/// What machines that come and go ask for an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Pricing {
    /// Each kind its own price, however fast it is.
    OfKind,
    /// Their speed, in units of the smallest representative one above 0: Elleuch et al.
    BySpeed,
    /// The same, but it rises while nearly all machines of a speed are busy, and falls while many are idle.
    ByDemand,
}

/// How a machine's speed in the near future is predicted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Prediction {
    /// From the trace itself: the mean of what comes in so much time, or until the machine goes. Nobody could know it.
    Known(Span),
    /// From what was measured at each look so far, by a [`Forecaster`]; a machine that comes is taken to stay as
    /// fast as it is then.
    Forecast,
}

impl Pricing {
    /// What each level multiplies prices by.
    fn factors(self) -> &'static [f64] {
        match self {
            Pricing::OfKind | Pricing::BySpeed => &[1.0],
            Pricing::ByDemand => &demand::FACTORS,
        }
    }
}

impl Prediction {
    /// Elleuch et al.: the mean of the next fifteen minutes.
    pub const ELLEUCH: Self = Prediction::Known(Span::from_nanos(900_000_000_000));
}

impl MachineTraces {
    /// Each kind of machine at each level of prices with each representative speed, in the order that
    /// `class` goes by.
    pub fn classes(scale: &SpeedScale, kinds: &[MachineClass], pricing: Pricing) -> Vec<MachineClass> {
        let slowest = scale.values()[1];
        let class = |kind: &MachineClass, factor: f64, speed: f64| MachineClass {
            speeds: vec![speed],
            price: match pricing {
                Pricing::OfKind => kind.price,
                Pricing::BySpeed | Pricing::ByDemand => factor * (speed / slowest),
            },
            ..kind.clone()
        };
        let mut classes = Vec::new();
        for kind in kinds {
            for factor in pricing.factors() {
                classes.extend(scale.values().iter().map(|&speed| class(kind, *factor, speed)));
            }
        }
        classes
    }

    /// The classes that a machine of the trace can have: all of its kind, at each level of prices and each speed.
    pub fn classes_of(&self, machine: u32) -> Range<usize> {
        let of_each_kind = self.pricing.factors().len() * self.scale.values().len();
        let first = self.kinds[machine as usize] as usize * of_each_kind;
        first..first + of_each_kind
    }

    /// What a machine is that is in an interval of the trace, has a representative speed, and asks a price of a level.
    pub(crate) fn class(&self, interval: usize, speed: u32, level: usize) -> MachineClassId {
        let machine = self.trace.intervals()[interval].machine as usize;
        let levels_before = self.kinds[machine] as usize * self.pricing.factors().len() + level;
        MachineClassId::new(levels_before * self.scale.values().len() + speed as usize)
    }

    /// The machine of the trace that is there in an interval.
    pub(crate) fn host(&self, machine: MachineId) -> u32 {
        self.trace.intervals()[machine.index()].machine
    }

    /// How fast a machine that is there, or was just now, is at a moment.
    pub(crate) fn speed(&self, machine: MachineId, now: Time) -> f64 {
        let pieces = self.trace.pieces(machine.index());
        pieces[pieces.partition_point(|piece| piece.from <= now) - 1].speed
    }

    /// The multiple of the period that comes after `time`.
    pub(crate) fn next_look(&self, time: Time) -> Time {
        let every = self.look_every.nanos();
        Time::from_nanos((time.nanos() / every + 1).saturating_mul(every))
    }
}

/// What is predicted for a machine, as long as it is there.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PredictedSpeed {
    /// The place of the representative speed that is predicted.
    speed: u32,
    /// The prediction is the same until then.
    same_until: Time,
    /// The piece of its interval in which it was looked at last, from where the present one is near.
    #[serde(skip)]
    piece: u32,
    forecaster: Option<Box<Forecaster>>,
}

impl PredictedSpeed {
    /// For a machine that comes.
    pub(crate) fn at_join(availability: &MachineTraces, interval: usize, now: Time) -> Self {
        let mut predicted = Self { speed: 0, same_until: Time::ZERO, piece: 0, forecaster: None };
        match availability.prediction {
            Prediction::Known(ahead) => predicted.look_ahead(availability, interval, now, ahead),
            Prediction::Forecast => {
                let speed = availability.trace.pieces(interval)[0].speed;
                predicted.speed = availability.scale.nearest(speed) as u32;
                predicted.forecaster = Some(Box::default());
            }
        }
        predicted
    }

    /// The place of the representative speed that is predicted.
    pub(crate) fn speed(&self) -> u32 {
        self.speed
    }

    /// Looks again.
    pub(crate) fn look(&mut self, availability: &MachineTraces, interval: usize, now: Time) {
        match (&mut self.forecaster, availability.prediction) {
            (Some(forecaster), _) => {
                let since = Time::from_nanos(now.nanos() - availability.look_every.nanos());
                let since = since.max(availability.trace.intervals()[interval].from);
                if since < now {
                    forecaster.measured(availability.trace.mean_speed(interval, since, now));
                    self.speed = availability.scale.nearest(forecaster.forecast()) as u32;
                }
            }
            (None, Prediction::Known(ahead)) if now >= self.same_until => {
                self.look_ahead(availability, interval, now, ahead);
            }
            (None, Prediction::Known(_) | Prediction::Forecast) => {}
        }
    }

    fn look_ahead(&mut self, availability: &MachineTraces, interval: usize, now: Time, ahead: Span) {
        let trace = &*availability.trace;
        let end = trace.intervals()[interval].until;
        let pieces = trace.pieces(interval);
        let gone = pieces[self.piece as usize + 1..].iter().take_while(|piece| piece.from <= now);
        let at = self.piece as usize + gone.count();
        self.piece = at as u32;
        let piece_ends = pieces.get(at + 1).map_or(end, |next| next.from);
        // Nothing else comes within the time looked ahead, and if the machine goes it was as fast until then.
        let same_until = match pieces.get(at + 1) {
            Some(next) => Time::from_nanos(next.from.nanos().saturating_sub(ahead.nanos())),
            None => end,
        };
        let until = (now + ahead).min(end);
        let mean =
            if until <= piece_ends { pieces[at].speed } else { trace.mean_speed(interval, now, until) };
        self.speed = availability.scale.nearest(mean) as u32;
        self.same_until = same_until;
    }
}
