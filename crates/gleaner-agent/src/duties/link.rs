//! The connection to the coordinator: the greeting, heartbeats, and the lease that follows from their answers.
//!
//! - **The lease counts from when an answered message was sent**, so that it never ends later here than there.
//! - **What the coordinator's journal was known to hold is remembered** and said at the next greeting: only the coordinator
//!   can tell whether it still does.
//! - A connection on which nothing is answered for half a lease is given up for a new one.
//! - **What was said is known to be heard once a heartbeat is answered that was sent later**: messages of a connection come in
//!   their order. So it is known whether an order may still wait to be read.

use gleaner_units::{Span, Time};
use gleaner_wire::{ChainHash, Lineage, Met};
use std::collections::VecDeque;

/// How long a greeting may take.
const GREETING_MAX: Span = Span::from_nanos(15_000_000_000);
/// A heartbeat that is not answered for so long is one that the coordinator does not hear, or whose answer does not come.
const ANSWER_MAX: Span = Span::from_nanos(2_000_000_000);
/// Times that the coordinator's journal was put back, that are remembered.
const RESTORES_MAX: usize = 16;
/// How often it is kept what was heard of the coordinator's journal.
const KEEP_EVERY: Span = Span::from_nanos(60_000_000_000);
/// What a coordinator may ask for.
const LEASE_S: std::ops::RangeInclusive<f64> = 0.5..=86_400.0;

/// A start of the coordinator, as it said in its welcome.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    pub(crate) epoch: u32,
    pub(crate) lineage: Lineage,
    /// When its journal was put back by order last.
    pub(crate) restored: Option<Lineage>,
}

/// What is known of the connection.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    state: State,
    met: Option<Met>,
    lease_ends: Option<Time>,
    lease: Span,
    /// Counts over all connections, so that no answer can be taken for another's.
    heartbeats: u64,
    /// When it is worth the write again to keep what is known of the journal.
    keep_at: Time,
}

#[derive(Clone, Debug)]
enum State {
    Down,
    Greeting {
        since: Time,
    },
    Up {
        period: Span,
        next: Time,
        unanswered: VecDeque<(u64, Time)>,
        /// What was said before this heartbeat may not have been read yet.
        hears_since: u64,
    },
}

impl Link {
    pub(crate) fn new(met: Option<Met>) -> Self {
        Self {
            state: State::Down,
            met,
            lease_ends: None,
            lease: Span::ZERO,
            heartbeats: 0,
            keep_at: Time::ZERO,
        }
    }

    /// Which coordinator it was with last.
    pub(crate) fn met(&self) -> Option<&Met> {
        self.met.as_ref()
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

    /// The coordinator answered the greeting. Returns whether its journal was put back since it was met last; the error
    /// says why it is turned away.
    pub(crate) fn welcomed(
        &mut self,
        now: Time,
        start: Start,
        lease_s: f64,
        heartbeat_s: f64,
    ) -> Result<bool, String> {
        let State::Greeting { since } = self.state else {
            return Err("it said welcome without having been greeted".into());
        };
        let is_sound = LEASE_S.contains(&lease_s) && (0.05..=lease_s / 2.0).contains(&heartbeat_s);
        let (Some(lease), Some(period), true) =
            (Span::from_seconds(lease_s), Span::from_seconds(heartbeat_s), is_sound)
        else {
            return Err(format!(
                "a lease of {lease_s} s with a heartbeat every {heartbeat_s} s makes no sense"
            ));
        };
        let was_put_back = self.meet(start);
        self.lease = lease;
        let hears_since = self.heartbeats + 1;
        self.state = State::Up { period, next: now, unanswered: VecDeque::new(), hears_since };
        self.renew(since);
        Ok(was_put_back)
    }

    fn meet(&mut self, Start { epoch, lineage, restored }: Start) -> bool {
        let known = self.met.take();
        let same = known.as_ref().filter(|known| known.lineage == lineage);
        let (row, hash) = same.map_or((0, None), |known| (known.row, known.hash));
        let mut restores = known.map_or(Vec::new(), |known| known.restores);
        let news = restored.filter(|restored| !restores.contains(restored));
        if let Some(restored) = news {
            restores.push(restored);
            let forgotten = restores.len().saturating_sub(RESTORES_MAX);
            restores.drain(..forgotten);
        }
        self.met = Some(Met { epoch, lineage, row, hash, restores });
        news.is_some()
    }

    /// This side did not read for a while: whether it hears, a heartbeat shows that is sent now.
    pub(crate) fn stood_still(&mut self, now: Time) {
        if let State::Up { next, hears_since, .. } = &mut self.state {
            (*next, *hears_since) = (now, self.heartbeats + 1);
        }
    }

    /// What the coordinator has read so far, a heartbeat shows that is sent now: its number.
    pub(crate) fn ask(&mut self, now: Time) -> u64 {
        if let State::Up { next, .. } = &mut self.state {
            *next = now.min(*next);
        }
        self.heartbeats + 1
    }

    /// Whether the coordinator's orders are heard: those of a moment ago, if not the last.
    pub(crate) fn hears(&self, now: Time) -> bool {
        let State::Up { unanswered, hears_since, .. } = &self.state else { return false };
        let (answered, in_time) = match unanswered.front() {
            Some(&(oldest, sent)) => (oldest - 1, now < sent + ANSWER_MAX),
            None => (self.heartbeats, true),
        };
        in_time && answered >= *hears_since
    }

    /// The number of the heartbeat to send now, if one is due.
    pub(crate) fn next_heartbeat(&mut self, now: Time) -> Option<u64> {
        let State::Up { period, next, unanswered, .. } = &mut self.state else { return None };
        if now < *next {
            return None;
        }
        *next = now + *period;
        self.heartbeats += 1;
        unanswered.push_back((self.heartbeats, now));
        Some(self.heartbeats)
    }

    /// A heartbeat was answered; the coordinator's journal has so many rows, which add up to that. Returns what is to be kept
    /// of it, now and then.
    pub(crate) fn beat(&mut self, now: Time, number: u64, row: u64, hash: Option<ChainHash>) -> Option<Met> {
        self.renewed_by(number);
        let met = self.met.as_mut().filter(|met| met.row < row)?;
        (met.row, met.hash) = (row, hash);
        if now < self.keep_at {
            return None;
        }
        self.keep_at = now + KEEP_EVERY;
        self.met.clone()
    }

    fn renewed_by(&mut self, number: u64) {
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

    fn start(epoch: u32) -> Start {
        Start { epoch, lineage: Lineage::of([epoch as u8; 8]), restored: None }
    }

    fn up() -> Link {
        let mut link = Link::new(None);
        link.greet(at(100));
        link.welcomed(at(102), start(3), 30.0, 5.0).expect("it makes sense");
        link
    }

    #[test]
    fn what_was_heard_of_a_journal_is_remembered_until_another_start_is_met() {
        let mut link = up();
        let hash = Some(ChainHash::of([4; 32]));
        let kept = link.beat(at(102), 1, 40, hash).expect("the first is kept");
        assert_eq!((kept.row, kept.hash), (40, hash));
        assert_eq!(link.beat(at(103), 2, 38, None), None);
        assert_eq!(link.met().map(|met| (met.epoch, met.row, met.hash)), Some((3, 40, hash)));
        assert_eq!(link.beat(at(104), 3, 40, None), None, "it knows that row");
        let restored = Some(Lineage::of([9; 8]));
        for (epoch, row, restores) in [(3, 40, 1), (4, 0, 1)] {
            link.greet(at(110));
            link.welcomed(at(111), Start { restored, ..start(epoch) }, 30.0, 5.0).expect("it makes sense");
            let met = link.met().expect("it met one");
            assert_eq!((met.epoch, met.row, met.restores.len()), (epoch, row, restores));
        }
    }

    #[test]
    fn the_lease_counts_from_the_sending_of_what_was_answered() {
        let mut link = up();
        assert_eq!(link.lease_ends(), Some(at(130)));
        assert_eq!(link.next_heartbeat(at(102)), Some(1));
        assert_eq!(link.next_heartbeat(at(103)), None);
        assert_eq!(link.next_heartbeat(at(107)), Some(2));
        link.beat(at(108), 7, 0, None);
        assert_eq!(link.lease_ends(), Some(at(130)), "nothing with that number was sent");
    }

    #[test]
    fn a_beat_renews_as_of_its_own_heartbeat() {
        let mut link = up();
        link.next_heartbeat(at(102));
        link.next_heartbeat(at(107));
        link.beat(at(108), 1, 0, None);
        assert_eq!(link.lease_ends(), Some(at(132)));
        link.beat(at(108), 1, 0, None);
        assert_eq!(link.lease_ends(), Some(at(132)), "a repeated answer");
        link.beat(at(108), 2, 0, None);
        assert_eq!(link.lease_ends(), Some(at(137)));
    }

    #[test]
    fn it_hears_once_a_heartbeat_is_answered_that_was_sent_since() {
        let mut link = up();
        assert!(!link.hears(at(102)), "what was said before its welcome may wait");
        link.next_heartbeat(at(102));
        link.beat(at(103), 1, 0, None);
        assert!(link.hears(at(106)));
        link.next_heartbeat(at(107));
        assert!(link.hears(at(108)) && !link.hears(at(109)), "an answer takes a while, and not two seconds");
        link.beat(at(110), 2, 0, None);
        assert!(link.hears(at(110)));
        link.stood_still(at(111));
        assert!(!link.hears(at(111)));
        assert_eq!(link.next_heartbeat(at(111)), Some(3), "at once");
        link.beat(at(111), 2, 0, None);
        assert!(!link.hears(at(111)), "the answer to another");
        link.beat(at(111), 3, 0, None);
        assert!(link.hears(at(111)));
        link.down();
        assert!(!link.hears(at(111)));
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
        for (lease_s, heartbeat_s, sound) in [
            (30.0, 5.0, true),
            (1.0, 0.5, true),
            (f64::NAN, 5.0, false),
            (0.1, 0.05, false),
            (1e9, 5.0, false),
            (30.0, 16.0, false),
            (30.0, 0.0, false),
            (30.0, f64::NAN, false),
        ] {
            let mut link = Link::new(None);
            link.greet(at(0));
            assert_eq!(link.welcomed(at(1), start(3), lease_s, heartbeat_s).is_ok(), sound, "{lease_s}");
        }
        assert!(Link::new(None).welcomed(at(0), start(1), 30.0, 5.0).is_err(), "nobody greeted");
    }
}
