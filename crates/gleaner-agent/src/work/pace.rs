//! How fast what a program writes is taken: at once, unless it pours.
//!
//! **One that pours is held back by its pipe**, so that it costs the agent next to nothing: the agent is not as nice as tasks are, and
//! is outside of the cgroup that holds them. What a program writes in little pieces costs as much as larger ones, and counts as such.

use std::time::Duration;
use tokio::time::Instant;

/// How long nothing is taken of what pours.
const PAUSE: Duration = Duration::from_millis(2);
/// What may come in a second: what a pipe holds, after each pause.
const BYTES_PER_S: u64 = 32 << 20;
/// What may come at once beyond that.
const AHEAD_MAX: u64 = 1 << 20;
/// What a turn counts for at least.
const TURN_BYTES: u64 = 64 << 10;
/// How often it is told how much there is. Whoever sends it waits longer for more.
const TELL_EVERY: Duration = Duration::from_millis(50);

/// When more is taken, and when what was taken is told.
#[derive(Debug)]
pub(super) struct Pace {
    /// How much came beyond what may come in a second, when something came last.
    ahead: u64,
    came: Instant,
    resumes: Option<Instant>,
    /// When it was told last.
    told: Option<Instant>,
    /// Whether something came since.
    is_untold: bool,
}

impl Pace {
    /// Of a program that starts now.
    pub(super) fn new(now: Instant) -> Self {
        Self { ahead: 0, came: now, resumes: None, told: None, is_untold: false }
    }

    /// So much was taken in one turn.
    pub(super) fn took(&mut self, now: Instant, bytes: u64) {
        let meanwhile = now.saturating_duration_since(self.came).as_micros() as u64;
        let left = self.ahead.saturating_sub(meanwhile.saturating_mul(BYTES_PER_S) / 1_000_000);
        (self.ahead, self.came) = (left + bytes.max(TURN_BYTES), now);
        self.resumes = (self.ahead > AHEAD_MAX).then(|| now + PAUSE);
        self.is_untold = true;
    }

    /// Until when nothing is taken.
    pub(super) fn resumes(&self) -> Option<Instant> {
        self.resumes
    }

    pub(super) fn may_take(&self, now: Instant) -> bool {
        self.resumes.is_none_or(|at| at <= now)
    }

    /// When what was taken is told, if there is something to tell.
    pub(super) fn tells(&self) -> Option<Instant> {
        self.is_untold.then(|| self.told.map_or(self.came, |told| told + TELL_EVERY))
    }

    pub(super) fn is_untold(&self) -> bool {
        self.is_untold
    }

    pub(super) fn tell(&mut self, now: Instant) {
        (self.told, self.is_untold) = (Some(now), false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes whenever it may, for so long, so many bytes at a time. How many turns that takes, how often it tells, and how many bytes come.
    fn pour(bytes: u64, most: Duration) -> (u64, u64, u64) {
        let begun = Instant::now();
        let (mut pace, mut now, mut turns, mut told) = (Pace::new(begun), begun, 0, 0);
        while now < begun + most {
            if pace.may_take(now) {
                pace.took(now, bytes);
                turns += 1;
            }
            if pace.tells().is_some_and(|at| at <= now) {
                pace.tell(now);
                told += 1;
            }
            now += Duration::from_micros(20);
        }
        (turns, told, turns * bytes)
    }

    #[test]
    fn whoever_pours_costs_few_turns_whatever_they_write() {
        for bytes in [1, 64 << 10] {
            let (turns, told, came) = pour(bytes, Duration::from_secs(1));
            let row = format!("{bytes}: {turns} turns, {told} told, {came} bytes");
            assert!(turns <= 530 && told <= 21, "{row}");
            assert!(came <= BYTES_PER_S + AHEAD_MAX + (64 << 10), "{row}");
        }
    }

    #[test]
    fn what_is_short_is_taken_and_told_at_once() {
        let begun = Instant::now();
        let mut pace = Pace::new(begun);
        assert_eq!(pace.tells(), None);
        for piece in 0..(AHEAD_MAX >> 16) {
            pace.took(begun, 64 << 10);
            assert!(pace.may_take(begun), "{piece}");
        }
        assert_eq!(pace.tells(), Some(begun));
        pace.tell(begun);
        pace.took(begun, 1);
        assert_eq!(pace.tells(), Some(begun + TELL_EVERY));
        assert!(!pace.may_take(begun) && pace.may_take(begun + PAUSE));
    }
}
