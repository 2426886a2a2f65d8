//! What a machine's tasks show of its speeds. An agent measures its machine itself, and a policy gives the most to
//! whoever says that it is the fastest: what is said is held against runs whose length was declared.
//!
//! Of many runs the fastest counts: tasks share a machine, and lengths are declared too long as well as too short. A
//! machine that says no more than [`SPEED_DOUBT`] times what it shows is believed.

use gleaner_wire::limits::{SPEED_DOUBT, SPEED_MAX, SPEED_MIN, SPEED_RUNS_MIN};
use serde::{Deserialize, Serialize};

/// What is shown is this at least: below, products would come to 0, and stay there.
const TIMES_MIN: f64 = 1e-18;
/// And this at most: above, they would not be finite.
const TIMES_MAX: f64 = 1e18;

/// See the module.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Shown {
    runs: u32,
    /// How many times longer the fastest run took than it would at the speeds that are said.
    least: f64,
    /// Which share of the speeds is counted with.
    share: f64,
    /// Why it is not all of them.
    why: Option<String>,
}

impl Default for Shown {
    fn default() -> Self {
        Self { runs: 0, least: f64::INFINITY, share: 1.0, why: None }
    }
}

impl Shown {
    /// Which share of the speeds that are said is counted with.
    pub fn share(&self) -> f64 {
        self.share
    }

    /// Why that is not all of them.
    pub fn why(&self) -> Option<&String> {
        self.why.as_ref()
    }

    /// A run of so many million operations of this composition took so long.
    pub(super) fn run(&mut self, speeds: [f64; 3], composition: [f64; 3], (length, elapsed_s): (f64, f64)) {
        let kinds = composition.iter().zip(speeds).filter(|(share, _)| **share > 0.0);
        let said_s: f64 = length * kinds.map(|(share, speed)| share / speed).sum::<f64>();
        let times = elapsed_s / said_s;
        if times.is_finite() && times > 0.0 {
            self.runs = self.runs.saturating_add(1);
            self.least = self.least.min(times.clamp(TIMES_MIN, TIMES_MAX));
        }
    }

    /// The machine says other speeds from now on. What it has shown stands, as the kind has it that changes most. No speed counts as the
    /// least that may be said: whoever says none of a kind for a while gains nothing. Older journals have speeds beyond the bounds.
    pub(super) fn said(&mut self, before: [f64; 3], now: [f64; 3]) {
        let bounded = |speed: f64| speed.clamp(SPEED_MIN, SPEED_MAX);
        let times = before.into_iter().zip(now).map(|(before, now)| bounded(now) / bounded(before));
        let most = times.fold(0.0, f64::max);
        // Where no run has shown anything yet, nothing changes.
        if self.least.is_finite() {
            self.least = (self.least * most).clamp(TIMES_MIN, TIMES_MAX);
        }
    }

    /// Which share should be counted with: powers of two, so that a machine's class changes seldom.
    pub(super) fn due_share(&self) -> f64 {
        if self.runs < SPEED_RUNS_MIN || !self.least.is_finite() {
            return 1.0;
        }
        let mut share = 1.0;
        while self.least * share > SPEED_DOUBT {
            share /= 2.0;
        }
        share
    }

    pub(super) fn doubt(&mut self, share: f64, why: &str) {
        self.share = share;
        self.why = (share < 1.0).then(|| why.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CPU: [f64; 3] = [1.0, 0.0, 0.0];

    fn after(runs: u32, said: f64, length: f64, elapsed_s: f64) -> Shown {
        let mut shown = Shown::default();
        (0..runs).for_each(|_| shown.run([said, 1.0, 1.0], CPU, (length, elapsed_s)));
        shown
    }

    #[test]
    fn who_shows_a_sixteenth_of_what_it_says_is_believed_and_no_less() {
        for (runs, said, expected) in [
            (8, 1e3, 1.0),
            (8, 16e3, 1.0),
            (8, 17e3, 0.5),
            (8, 64e3, 0.25),
            // Too few to tell.
            (7, 1e9, 1.0),
        ] {
            // A thousand million operations in a second.
            assert_eq!(after(runs, said, 1e3, 1.0).due_share(), expected, "{said} after {runs} runs");
        }
        assert!(after(8, 1e9, 1e3, 1.0).due_share() <= 16e3 / 1e9);
        assert_eq!(after(8, 1e3, 1e3, 0.0).due_share(), 1.0, "what took no time shows nothing");
    }

    #[test]
    fn one_fast_run_restores_it() {
        let mut shown = after(8, 1e6, 1e3, 1.0);
        assert!(shown.due_share() < 1.0);
        shown.run([1e6, 1.0, 1.0], CPU, (1e3, 1e-3));
        assert_eq!(shown.due_share(), 1.0);
    }

    #[test]
    fn to_say_something_else_does_not_help() {
        let mut shown = after(8, 64e3, 1e3, 1.0);
        shown.said([64e3, 1.0, 1.0], [128e3, 1.0, 1.0]);
        assert_eq!(shown.due_share(), 0.125);
        shown.said([128e3, 1.0, 1.0], [1e3, 1.0, 1.0]);
        assert_eq!(shown.due_share(), 0.125, "a kind that stays the same keeps the doubt");
        let mut honest = after(8, 64e3, 1e3, 1.0);
        honest.said([64e3, 64.0, 64.0], [1e3, 1.0, 1.0]);
        assert_eq!(honest.due_share(), 1.0);
    }

    #[test]
    fn to_say_next_to_nothing_for_a_while_does_not_help() {
        const SAID: [f64; 3] = [1e9, 1.0, 1.0];
        for between in [
            // As older journals may have it.
            &[[1e9, 1e-310, 1.0]][..],
            &[[4e-321; 3], [1e-20; 3]],
            &[[-0.0; 3]],
            &[[1e9, SPEED_MIN, 1.0]],
            &[[SPEED_MIN; 3]],
            &[[0.0, SPEED_MIN, 0.0], [1e9, SPEED_MIN, 0.0]],
            &[[0.0; 3]],
        ] {
            // It does a thousand million operations in a second, and says a third of that at first, or far more.
            for first in [333.0, 1e6, 1e9] {
                let mut shown = after(SPEED_RUNS_MIN, first, 1e3, 1.0);
                let mut before = [first, 1.0, 1.0];
                for now in between.iter().copied().chain([SAID]) {
                    shown.said(before, now);
                    before = now;
                }
                let share = shown.due_share();
                assert!(share * 1e9 <= 16e3, "{share} after {first}, {between:?}");
                // Nor does it spoil what is shown: a run as fast as that restores all.
                shown.run(SAID, CPU, (1e9, 1.0));
                assert_eq!(shown.due_share(), 1.0, "after {first}, {between:?}");
            }
        }
    }
}
