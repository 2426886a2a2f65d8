//! The connection to the coordinator: the greeting, heartbeats, and the lease that follows from their answers.
//!
//! - **The lease counts from when an answered message was sent**, so that it never ends later here than there.
//! - **A coordinator with a lower epoch than met is turned away**, and one whose epoch is far higher: taken in, it would
//!   lock out the right one for good.
//! - A connection on which nothing is answered for half a lease is given up for a new one.

use gleaner_units::{Span, Time};
use gleaner_wire::limits::EPOCH_JUMP_MAX;
use std::collections::VecDeque;

/// How long a greeting may take.
const GREETING_MAX: Span = Span::from_nanos(15_000_000_000);
/// What a coordinator may ask for.
const LEASE_S: std::ops::RangeInclusive<f64> = 0.5..=86_400.0;

/// What is known of the connection.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    state: State,
    epoch: u32,
    lease_ends: Option<Time>,
    lease: Span,
    /// Counts over all connections, so that no answer can be taken for another's.
    heartbeats: u64,
}

#[derive(Clone, Debug)]
enum State {
    Down,
    Greeting { since: Time },
    Up { period: Span, next: Time, unanswered: VecDeque<(u64, Time)> },
}

impl Link {
    pub(crate) fn new(epoch: u32) -> Self {
        Self { state: State::Down, epoch, lease_ends: None, lease: Span::ZERO, heartbeats: 0 }
    }

    pub(crate) fn epoch(&self) -> u32 {
        self.epoch
    }

    pub(crate) fn is_up(&self) -> bool {
        matches!(self.state, State::Up { .. })
    }

    pub(crate) fn is_greeting(&self) -> bool {
        matches!(self.state, State::Greeting { .. })
    }

    /// How long the coordinator lets this agent go on unheard; zero before it said so.
    pub(crate) fn lease(&self) -> Span {
        self.lease
    }

    /// When nothing may run here any more, unless it is renewed.
    pub(crate) fn lease_ends(&self) -> Option<Time> {
        self.lease_ends
    }

    pub(crate) fn greet(&mut self, now: Time) {
        self.state = State::Greeting { since: now };
    }

    pub(crate) fn down(&mut self) {
        self.state = State::Down;
    }

    /// The coordinator answered the greeting; the error says why it is turned away.
    pub(crate) fn welcomed(
        &mut self,
        now: Time,
        epoch: u32,
        lease_s: f64,
        heartbeat_s: f64,
    ) -> Result<(), String> {
        let State::Greeting { since } = self.state else {
            return Err("it said welcome without having been greeted".into());
        };
        if epoch < self.epoch {
            return Err(format!(
                "its epoch is {epoch}, but one of epoch {} was met before: it was put back to an older state. If that \
                 was meant, delete the file `epoch` in this agent's folder and start the agent again",
                self.epoch
            ));
        }
        if self.epoch > 0 && epoch - self.epoch > EPOCH_JUMP_MAX {
            return Err(format!(
                "its epoch is {epoch}, but one of epoch {} was met before, and no coordinator starts that often. If \
                 it is the right one, delete the file `epoch` in this agent's folder and start the agent again",
                self.epoch
            ));
        }
        let is_sound = LEASE_S.contains(&lease_s) && (0.05..=lease_s / 2.0).contains(&heartbeat_s);
        let (Some(lease), Some(period), true) =
            (Span::from_seconds(lease_s), Span::from_seconds(heartbeat_s), is_sound)
        else {
            return Err(format!(
                "a lease of {lease_s} s with a heartbeat every {heartbeat_s} s makes no sense"
            ));
        };
        self.epoch = epoch;
        self.lease = lease;
        self.state = State::Up { period, next: now, unanswered: VecDeque::new() };
        self.renew(since);
        Ok(())
    }

    /// The number of the heartbeat to send now, if one is due.
    pub(crate) fn next_heartbeat(&mut self, now: Time) -> Option<u64> {
        let State::Up { period, next, unanswered } = &mut self.state else { return None };
        if now < *next {
            return None;
        }
        *next = now + *period;
        self.heartbeats += 1;
        unanswered.push_back((self.heartbeats, now));
        Some(self.heartbeats)
    }

    /// A heartbeat was answered.
    pub(crate) fn beat(&mut self, number: u64) {
        let State::Up { unanswered, .. } = &mut self.state else { return };
        let mut sent = None;
        while let Some(&(oldest, at)) = unanswered.front()
            && oldest <= number
        {
            sent = (oldest == number).then_some(at);
            unanswered.pop_front();
        }
        if let Some(sent) = sent {
            self.renew(sent);
        }
    }

    /// Whether the other side has been silent for too long.
    pub(crate) fn is_silent(&self, now: Time) -> bool {
        self.silent_at().is_some_and(|at| at <= now)
    }

    /// When something has to be done about the connection.
    pub(crate) fn due(&self) -> Option<Time> {
        let heartbeat = match &self.state {
            State::Up { next, .. } => Some(*next),
            State::Down | State::Greeting { .. } => None,
        };
        [heartbeat, self.silent_at()].into_iter().flatten().min()
    }

    fn silent_at(&self) -> Option<Time> {
        match &self.state {
            State::Down => None,
            State::Greeting { since } => Some(*since + GREETING_MAX),
            State::Up { unanswered, .. } => {
                let (_, oldest) = unanswered.front()?;
                Some(*oldest + Span::from_nanos(self.lease.nanos() / 2))
            }
        }
    }

    fn renew(&mut self, sent: Time) {
        self.lease_ends = self.lease_ends.max(Some(sent + self.lease));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Time {
        Time::from_nanos(seconds * 1_000_000_000)
    }

    fn up() -> Link {
        let mut link = Link::new(3);
        link.greet(at(100));
        link.welcomed(at(102), 3, 30.0, 5.0).expect("the epoch is the same");
        link
    }

    #[test]
    fn the_lease_counts_from_the_sending_of_what_was_answered() {
        let mut link = up();
        assert_eq!(link.lease_ends(), Some(at(130)));
        assert_eq!(link.next_heartbeat(at(102)), Some(1));
        assert_eq!(link.next_heartbeat(at(103)), None);
        assert_eq!(link.next_heartbeat(at(107)), Some(2));
        link.beat(7);
        assert_eq!(link.lease_ends(), Some(at(130)), "nothing with that number was sent");
    }

    #[test]
    fn a_beat_renews_as_of_its_own_heartbeat() {
        let mut link = up();
        link.next_heartbeat(at(102));
        link.next_heartbeat(at(107));
        link.beat(1);
        assert_eq!(link.lease_ends(), Some(at(132)));
        link.beat(1);
        assert_eq!(link.lease_ends(), Some(at(132)), "a repeated answer");
        link.beat(2);
        assert_eq!(link.lease_ends(), Some(at(137)));
    }

    #[test]
    fn silence_ends_a_connection_but_not_the_lease() {
        let mut link = up();
        link.next_heartbeat(at(102));
        assert!(!link.is_silent(at(116)) && link.is_silent(at(117)));
        link.down();
        assert!(!link.is_silent(at(999)));
        assert_eq!(link.lease_ends(), Some(at(130)));
        link.greet(at(120));
        assert!(!link.is_silent(at(134)) && link.is_silent(at(135)));
    }

    #[test]
    fn coordinators_that_make_no_sense_are_turned_away() {
        for (epoch, lease_s, heartbeat_s, sound) in [
            (3, 30.0, 5.0, true),
            (9, 1.0, 0.5, true),
            (2, 30.0, 5.0, false),
            (3 + EPOCH_JUMP_MAX, 30.0, 5.0, true),
            (4 + EPOCH_JUMP_MAX, 30.0, 5.0, false),
            (u32::MAX, 30.0, 5.0, false),
            (3, f64::NAN, 5.0, false),
            (3, 0.1, 0.05, false),
            (3, 1e9, 5.0, false),
            (3, 30.0, 16.0, false),
            (3, 30.0, 0.0, false),
            (3, 30.0, f64::NAN, false),
        ] {
            let mut link = Link::new(3);
            link.greet(at(0));
            assert_eq!(link.welcomed(at(1), epoch, lease_s, heartbeat_s).is_ok(), sound, "{epoch} {lease_s}");
        }
        assert!(Link::new(0).welcomed(at(0), 1, 30.0, 5.0).is_err(), "nobody greeted");
    }
}
