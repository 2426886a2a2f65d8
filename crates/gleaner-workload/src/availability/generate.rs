//! Traces drawn from a seed, calibrated to what the paper of Elleuch et al. says of the `XtremLab` traces, which are not
//! public.
//!
//! # What the paper gives, and what does not fit
//!
//! The mean of all speeds is 8.9·10³ operations a second and none is above 99·10³. In September 94 workers are there on
//! average and do 12·10⁶ operations a second together, in June 101 and nearly half of it. Both cannot be: 94 workers that
//! were all as fast as the fastest would do 9.3·10⁶. **Ten times the speeds fit everything else**: 12·10⁶ / 94 and
//! 6.45·10⁶ / 101 are 128·10³ and 64·10³, with 89·10³ between them; a task of 8.5·10⁶ operations then takes about a
//! period of two minutes, and ten minutes after the last arrival all can be done. So the months keep the workers that
//! are counted and the cumulative speeds; [`Profile::MANY_SEPTEMBER`] and [`Profile::MANY_JUNE`] keep the speeds as
//! printed and the cumulative ones, and have 1,348 and 674 machines there, a fourteenth and a seventh as fast.
//!
//! # What was chosen, and why
//!
//! - **Speeds** follow [`SpeedLaw`]: the same two groups of machines in each month, slow ones and fast ones, and of the
//!   fast ones as many as give the month's mean. So June has more workers, of half the speed, and cheaper ones.
//! - **How a speed changes** is not given. A machine's place in the law is a normal value of its own and, weighted 4 to
//!   1 by variance, another that is drawn afresh at exponential distances with a mean of an hour: processors differ
//!   more between machines than an owner's use changes one of them, and owners work in spells of about an hour. The
//!   law of all speeds stays exact whatever the weights.
//! - **Intervals** are exponential, 6,000 s on average: nine of ten or more are then long enough for 12·10⁶ operations
//!   (the paper: 95 %). The fastest machines stay twice as long as the slowest, as the paper says of those that
//!   cost more. Where there are many machines as slow as printed, it takes a day on average, for all alike.
//! - **Absences** are as long as intervals, or half as long where there are many machines. It fixes how many machines a
//!   trace has, and nothing else.
//! - **Day and night**: over a day, machines come up to half more often than on average, and half less often. Where
//!   there are many machines there is none, as the paper gives none.
//! - Machines' own values are spread evenly over the law, one machine to each of as many equal slices, so that the
//!   cumulative speed of every seed is the one asked for. Times are whole multiples of ten seconds, the distance
//!   between the paper's measures; speeds are whole operations a second.

use super::law::{SpeedLaw, normal_below, normal_quantile};
use crate::Stream;
use crate::ids::UniqueIds;
use gleaner_sim::{Draft, Trace};
use gleaner_units::Time;

/// How long a speed lasts on average, in seconds.
const PIECE_S: f64 = 3_600.0;
/// The part of the variance that lies between machines.
const BETWEEN_MACHINES: f64 = 0.8;
/// Moments are multiples of this many seconds.
const STEP_S: f64 = 10.0;
const DAY_S: f64 = 86_400.0;

/// A month of the paper's, in a reading.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Profile {
    /// How many machines are there on average.
    pub present: f64,
    /// How fast they are.
    pub law: SpeedLaw,
    /// How they come and go.
    pub stays: Stays,
    /// Which streams of the seed it draws from: months of one seed have nothing in common.
    purpose: u64,
}

/// How long machines stay, and when they come.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stays {
    /// The mean length of an interval, in seconds.
    pub interval_s: f64,
    /// The mean length of an absence in units of it, if there were no night.
    pub absence: f64,
    /// How many times as long the fastest machines stay as the slowest.
    pub longest: f64,
    /// How much more often than on average machines come at the busiest time of the day, and less often at the other.
    pub day: f64,
}

impl Stays {
    const HOURS: Self = Self { interval_s: 6_000.0, absence: 1.0, longest: 2.0, day: 0.5 };
    const DAYS: Self = Self { interval_s: DAY_S, absence: 0.5, longest: 1.0, day: 0.0 };

    /// The part of the time in which a machine is there, as if it came as often at each time of the day as that lasted.
    fn share_there(&self) -> f64 {
        let sum = self.absence + 1.0;
        1.0 - self.absence / (sum * sum - self.day * self.day).sqrt()
    }

    /// How many times as long as on average a machine stays below whose speed are so many of all. The mean over
    /// intervals is 1.
    fn factor(&self, below: f64) -> f64 {
        let more = self.longest - 1.0;
        if more == 0.0 { 1.0 } else { (1.0 + more * below) * libm::log(self.longest) / more }
    }

    /// How many seconds pass from `now` on while machines come as often as in `usual_s` on average.
    fn warped(&self, now: f64, usual_s: f64) -> f64 {
        let turn = |time: f64| libm::cos(2.0 * std::f64::consts::PI * time / DAY_S);
        let swing = self.day * DAY_S / (2.0 * std::f64::consts::PI);
        let passed = |seconds: f64| seconds + swing * (turn(now) - turn(now + seconds));
        let (mut low, mut high) = (usual_s / (1.0 + self.day), usual_s / (1.0 - self.day));
        while high - low > 1.0 {
            let middle = f64::midpoint(low, high);
            if passed(middle) < usual_s { low = middle } else { high = middle }
        }
        high
    }
}

impl Profile {
    /// A month in which the arrivals can be sustained.
    pub const SEPTEMBER: Self = Self::of_hours(94.0, 12e6, 0x5e);
    /// A month with half as much.
    pub const JUNE: Self = Self::of_hours(101.0, 6.45e6, 0x10);
    /// The first with machines as slow as printed.
    pub const MANY_SEPTEMBER: Self = Self::of_days(12e6, 0x5e);
    /// The second with machines as slow as printed.
    pub const MANY_JUNE: Self = Self::of_days(6e6, 0x10);

    const fn of_hours(present: f64, cumulative_speed: f64, purpose: u64) -> Self {
        let unit = 10.0;
        // By the mean of the law.
        let fast_share = (cumulative_speed / present / unit - 6e3) / 29e3;
        Self { present, law: SpeedLaw { fast_share, unit }, stays: Stays::HOURS, purpose }
    }

    const fn of_days(cumulative_speed: f64, purpose: u64) -> Self {
        Self { present: cumulative_speed / 8.9e3, law: SpeedLaw::PAPER, stays: Stays::DAYS, purpose }
    }

    /// The same with more or fewer machines.
    #[must_use]
    pub fn with_present(self, present: f64) -> Self {
        Self { present, ..self }
    }

    /// The same with machines that are all faster or slower.
    #[must_use]
    pub fn with_mean_speed(self, mean_speed: f64) -> Self {
        let unit = self.law.unit * mean_speed / self.law.mean();
        Self { law: SpeedLaw { unit, ..self.law }, ..self }
    }

    /// What the machines that are there on average do together, in operations a second.
    pub fn cumulative_speed(&self) -> f64 {
        self.present * self.law.mean()
    }

    /// How many machines ever come.
    pub fn machines(&self) -> usize {
        (self.present / self.stays.share_there()).round() as usize
    }

    /// The trace of a seed from 0 to `end_s` seconds; what lasts longer is cut off there.
    pub fn draw(&self, seed: u64, end_s: f64) -> Trace {
        let machines = self.machines();
        let mut own = Stream::new(seed, self.purpose << 32);
        let mut slices: Vec<usize> = (0..machines).collect();
        own.shuffle(&mut slices);
        let (mut ids, mut drafts) = (UniqueIds::default(), Vec::new());
        for (machine, slice) in slices.into_iter().enumerate() {
            ids.insert(&format!("w{machine}"));
            let place = (slice as f64 + own.unit()) / machines as f64;
            let stream = Stream::new(seed, self.purpose << 32 | (machine as u64 + 1));
            let factor = self.stays.factor(place);
            let stays = Stays { interval_s: factor * self.stays.interval_s, ..self.stays };
            let own = normal_quantile(place);
            let host = Host { machine: machine as u32, law: self.law, stays, own, stream, end_s };
            host.live(&mut drafts);
        }
        Trace::of(ids.into_ids(), drafts)
    }
}

/// One machine and its owner.
struct Host {
    machine: u32,
    law: SpeedLaw,
    stays: Stays,
    own: f64,
    stream: Stream,
    end_s: f64,
}

impl Host {
    fn live(mut self, drafts: &mut Vec<Draft>) {
        // As if it had gone on for ever: an exponential rest is as long as a whole.
        let there = self.stream.unit() < 1.0 / (1.0 + self.stays.absence);
        let mut now = if there { 0.0 } else { self.absence(0.0) };
        while now < self.end_s {
            let until = (now + self.length(self.stays.interval_s)).min(self.end_s);
            drafts.push(self.interval(now, until));
            now = until + self.absence(until);
        }
    }

    fn absence(&mut self, from: f64) -> f64 {
        let usual_s = self.length(self.stays.absence * self.stays.interval_s);
        if self.stays.day == 0.0 { usual_s } else { in_steps(self.stays.warped(from, usual_s)) }
    }

    fn interval(&mut self, from: f64, until: f64) -> Draft {
        let mut draft = Draft::new(self.machine, time(from));
        let mut now = from;
        while now < until {
            now = (now + self.length(PIECE_S)).min(until);
            let speed = self.speed();
            draft.go_on(time(now), speed);
        }
        draft
    }

    /// Exponential, and at least a step.
    fn length(&mut self, mean: f64) -> f64 {
        in_steps(-mean * libm::log(1.0 - self.stream.unit()))
    }

    fn speed(&mut self) -> f64 {
        let spell = self.stream.normal(0.0, 1.0);
        let value = BETWEEN_MACHINES.sqrt() * self.own + (1.0 - BETWEEN_MACHINES).sqrt() * spell;
        self.law.quantile(normal_below(value)).round()
    }
}

/// At least one.
fn in_steps(seconds: f64) -> f64 {
    (seconds / STEP_S).round().max(1.0) * STEP_S
}

fn time(seconds: f64) -> Time {
    Time::from_seconds(seconds).expect("a generator's times are neither negative nor huge")
}

#[cfg(test)]
mod tests {
    use super::super::statistics::Statistics;
    use super::*;

    const MONTH_S: f64 = 30.0 * DAY_S;

    fn near(found: f64, expected: f64, share: f64) {
        assert!((found / expected - 1.0).abs() < share, "{found} for {expected}");
    }

    /// What the paper says of its months, on several seeds. The shares have room for chance; the rest has none to speak
    /// of.
    #[test]
    fn months_are_as_the_paper_has_them() {
        for (profile, present, cumulative_speed) in
            [(Profile::SEPTEMBER, 94.0, 12e6), (Profile::JUNE, 101.0, 6.45e6)]
        {
            for seed in 1..=3 {
                let statistics = Statistics::of(&profile.draw(seed, MONTH_S));
                near(statistics.present_mean, present, 0.03);
                near(statistics.cumulative_speed, cumulative_speed, 0.03);
                near(statistics.interval_mean_s, 6_000.0, 0.05);
                assert!((0.895..=0.95).contains(&statistics.long_intervals), "{statistics:?}");
                assert!(statistics.speed_max <= 990e3, "{statistics:?}");
            }
        }
    }

    #[test]
    fn many_machines_are_as_slow_as_printed() {
        for profile in [Profile::MANY_SEPTEMBER, Profile::MANY_JUNE] {
            for seed in 1..=3 {
                let statistics = Statistics::of(&profile.draw(seed, MONTH_S));
                near(statistics.cumulative_speed, profile.cumulative_speed(), 0.03);
                near(statistics.speed_mean, 8.9e3, 0.03);
                near(statistics.speed_90, 12e3, 0.03);
                near(statistics.present_mean, profile.present, 0.03);
                near(statistics.interval_mean_s, DAY_S, 0.1);
                assert!((97e3..=99e3).contains(&statistics.speed_max), "seed {seed}: {statistics:?}");
                near(statistics.long_intervals, 0.95, 0.01);
            }
        }
    }

    /// Machines that are dearer stay longer, and more come by day.
    #[test]
    fn the_fast_stay_longer_and_the_nights_are_quiet() {
        let trace = Profile::SEPTEMBER.draw(1, MONTH_S);
        let (mut slow, mut fast, mut by_day, mut by_night) = ((0.0, 0.0), (0.0, 0.0), 0, 0);
        for (index, interval) in trace.intervals().iter().enumerate() {
            let seconds = interval.until.since(interval.from).seconds();
            let mean = trace.ops_in(index) / seconds;
            let sum = if mean < 120e3 { &mut slow } else { &mut fast };
            *sum = (sum.0 + seconds, sum.1 + 1.0);
            if interval.from.seconds() % DAY_S < DAY_S / 2.0 { by_day += 1 } else { by_night += 1 }
        }
        assert!(fast.0 / fast.1 > 1.2 * slow.0 / slow.1, "{fast:?} and {slow:?}");
        assert!(f64::from(by_day) > 1.2 * f64::from(by_night), "{by_day} by day and {by_night} by night");
    }

    #[test]
    fn other_numbers_may_be_asked_for() {
        let profile = Profile::JUNE.with_present(10.0).with_mean_speed(500.0);
        let statistics = Statistics::of(&profile.draw(1, MONTH_S));
        near(statistics.present_mean, 10.0, 0.1);
        near(statistics.speed_mean, 500.0, 0.1);
    }

    #[test]
    fn a_seed_means_the_same_everywhere_and_months_have_nothing_in_common() {
        let first = |profile: Profile, seed| {
            let trace = profile.draw(seed, 86_400.0);
            let sum: f64 = (0..trace.intervals().len()).map(|index| trace.ops_in(index)).sum();
            (trace.intervals().len(), trace.piece_count(), sum)
        };
        assert_eq!(first(Profile::JUNE, 1), first(Profile::JUNE, 1));
        assert_ne!(first(Profile::JUNE, 1), first(Profile::JUNE, 2));
        let speeds = |profile: Profile| {
            let trace = profile.draw(1, 86_400.0);
            trace.pieces(0).iter().map(|piece| piece.speed).collect::<Vec<_>>()
        };
        assert_ne!(speeds(Profile::JUNE), speeds(Profile::SEPTEMBER));
    }
}
