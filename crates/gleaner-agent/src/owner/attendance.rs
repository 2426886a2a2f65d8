//! Whether the owner is here: by what they said, by whether they type, by whether their programs run.

use gleaner_units::Time;
use serde::{Deserialize, Serialize};

use super::rules::{Programs, Rules, Sessions};
use crate::probes::Sample;

/// Seconds for which whoever typed counts as not idle at least: Linux notes the use of a terminal only every eight seconds, in whole seconds.
const TYPING_S: f64 = 9.0;

/// What the owner says by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// I am here: everything stops until [`Word::Away`].
    Here,
    /// I am away: takes back `Here`, and ends the wait after the last sign of me.
    Away,
    /// Stop everything until [`Word::Resume`].
    Pause,
    /// Finish what runs, and take nothing new until [`Word::Resume`].
    Drain,
    /// Have everything leave, and take nothing new until [`Word::Resume`].
    Evict,
    /// Take back `Pause`, `Drain` and `Evict`.
    Resume,
}

/// What the owner ordered last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hand {
    /// Nothing, or to resume.
    #[default]
    Off,
    /// To stop everything.
    Paused,
    /// To take nothing new.
    Draining,
}

/// What the owner said by hand and has not taken back: it holds over starts of the agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Said {
    /// What they ordered last.
    pub hand: Hand,
    /// Whether they said to be here.
    pub here: bool,
}

/// How the owner showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// They said so.
    ByHand,
    /// A login session is not idle.
    Session,
    /// Programs that are not ours use the CPU.
    Programs,
}

/// Whether the owner is here, and by which sign; of several the one that is first in [`Sign`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// No sign of them, for long enough.
    Away,
    /// Here, or was so a moment ago.
    Here(Sign),
}

/// What is known of the owner. They are back with the first sample that shows a sign of them, and away only after
/// [`Rules::idle_seconds`] without one: so samples have to be taken at least once a second.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attendance {
    said: Said,
    last_sign: Option<(Time, Sign)>,
}

impl Attendance {
    /// Nobody has shown or said anything yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Nobody has shown yet, and that was said before.
    pub fn of(said: Said) -> Self {
        Self { said, ..Self::default() }
    }

    /// What the owner said and has not taken back.
    pub fn said(&self) -> Said {
        self.said
    }

    /// The owner says something.
    pub fn hear(&mut self, word: Word) {
        match word {
            Word::Here => self.said.here = true,
            Word::Away => {
                self.said.here = false;
                self.last_sign = None;
            }
            Word::Pause => self.said.hand = Hand::Paused,
            Word::Drain | Word::Evict => self.said.hand = Hand::Draining,
            Word::Resume => self.said.hand = Hand::Off,
        }
    }

    /// A sample was taken at `now`. An earlier sign that the rules do not watch any more counts no longer.
    pub fn observe(&mut self, rules: &Rules, now: Time, sample: &Sample) {
        let is_kept = |&(at, sign): &(Time, Sign)| {
            is_watched(rules, sign) && now.since(at).seconds() < f64::from(rules.idle_seconds)
        };
        let seen = sign_in(rules, sample).map(|sign| (now, sign));
        self.last_sign = seen.or_else(|| self.last_sign.filter(is_kept));
    }

    /// Whether the owner is here, as of the last sample.
    pub fn owner(&self) -> Owner {
        match self.last_sign {
            _ if self.said.here => Owner::Here(Sign::ByHand),
            Some((_, sign)) => Owner::Here(sign),
            None => Owner::Away,
        }
    }

    /// What the owner ordered last.
    pub fn hand(&self) -> Hand {
        self.said.hand
    }
}

fn is_watched(rules: &Rules, sign: Sign) -> bool {
    match sign {
        Sign::ByHand => true,
        Sign::Session => rules.sessions == Sessions::Watch,
        Sign::Programs => rules.programs == Programs::Watch,
    }
}

fn sign_in(rules: &Rules, sample: &Sample) -> Option<Sign> {
    let idle_enough = f64::from(rules.idle_seconds).max(TYPING_S);
    let is_typing = || sample.session_idle.is_some_and(|idle| idle.seconds() < idle_enough);
    if is_watched(rules, Sign::Session) && is_typing() {
        return Some(Sign::Session);
    }
    let cores = sample.load? * sample.cores;
    let is_busy = cores >= rules.busy_threshold(sample.cores);
    (is_busy && is_watched(rules, Sign::Programs)).then_some(Sign::Programs)
}
