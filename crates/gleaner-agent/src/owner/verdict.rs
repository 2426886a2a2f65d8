//! What follows from the owner's rules for the tasks of this machine.

use std::fmt;

use super::attendance::{Attendance, Hand, Owner, Said, Sign};
use super::hours::{Hours, WeekMinute};
use super::rules::{GIGABYTE, Rules};
use crate::probes::Sample;

/// How many degrees below the limit a machine must cool before tasks that were suspended for heat go on.
pub const COOLING: f64 = 5.0;

/// What tasks may do on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Run, and take new ones.
    Run,
    /// What runs is suspended, and nothing starts.
    Suspend(Reason),
    /// What runs goes on, and nothing starts.
    NoNewTasks(Reason),
}

/// Why not. Of several reasons that suspend, or else of several that do not, the first in this order is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The owner paused the agent by hand.
    Paused,
    /// The owner is here.
    OwnerHere(Sign),
    /// The machine is too hot.
    TooHot,
    /// The machine lives on its battery.
    OnBattery,
    /// It is not the time of day.
    OutsideHours,
    /// The owner drains the agent by hand, or had all tasks leave.
    Draining,
    /// The disk with the tasks' folders is full.
    DiskFull,
    /// Less is free on it than the owner wants.
    DiskKeptFree(Shortfall),
    /// Too much of what tasks left cannot be removed, as only the agent itself knows.
    Leftovers,
    /// The owner's load is as high as the rules allow, or higher.
    LoadTooHigh,
    /// The owner's load has not been measured yet.
    LoadUnknown,
}

/// How much is free where the owner wants more to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortfall {
    /// Bytes, about: they stay as they were first seen until they are others by a quarter, since each change is told and recorded.
    pub free: u64,
    /// Bytes that [`Rules::disk_free_min_gb`] keeps free.
    pub keeps: u64,
}

impl Shortfall {
    fn new(free: u64, keeps: u64, before: Verdict) -> Self {
        match before {
            Verdict::NoNewTasks(Reason::DiskKeptFree(known))
                if known.keeps == keeps && known.free.abs_diff(free) <= known.free / 4 =>
            {
                known
            }
            _ => Self { free, keeps },
        }
    }
}

/// The verdict for now. `before` is the verdict so far: a hot machine must cool by [`COOLING`], and numbers are not told anew for little.
///
/// What suspends goes before what only keeps new tasks away: where [`Rules::suspend_on_return`] is off, the owner's
/// return stands between the hours and the draining.
pub fn decide(
    rules: &Rules,
    attendance: &Attendance,
    sample: &Sample,
    minute: WeekMinute,
    before: Verdict,
) -> Verdict {
    let hand = attendance.hand();
    if hand == Hand::Paused {
        return Verdict::Suspend(Reason::Paused);
    }
    let owner = attendance.owner();
    if let Owner::Here(sign) = owner
        && (rules.suspend_on_return || sign == Sign::ByHand)
    {
        return Verdict::Suspend(Reason::OwnerHere(sign));
    }
    if let Some(reason) = surroundings(rules, sample, minute, before) {
        return Verdict::Suspend(reason);
    }
    if let Owner::Here(sign) = owner {
        return Verdict::NoNewTasks(Reason::OwnerHere(sign));
    }
    if hand == Hand::Draining {
        return Verdict::NoNewTasks(Reason::Draining);
    }
    if let Some(free) = sample.free_disk.filter(|free| *free < rules.disk_free_min()) {
        return Verdict::NoNewTasks(match rules.disk_free_min_gb {
            None => Reason::DiskFull,
            Some(_) => Reason::DiskKeptFree(Shortfall::new(free, rules.disk_free_min(), before)),
        });
    }
    match sample.load {
        None => Verdict::NoNewTasks(Reason::LoadUnknown),
        Some(load) if load >= rules.run_below_load => Verdict::NoNewTasks(Reason::LoadTooHigh),
        Some(_) => Verdict::Run,
    }
}

/// What suspends tasks although nobody is there.
fn surroundings(rules: &Rules, sample: &Sample, minute: WeekMinute, before: Verdict) -> Option<Reason> {
    let cooling = if before == Verdict::Suspend(Reason::TooHot) { COOLING } else { 0.0 };
    let is_hot = |(degrees, limit): (f64, f64)| degrees >= limit - cooling;
    if sample.temperature.zip(rules.temperature_max).is_some_and(is_hot) {
        return Some(Reason::TooHot);
    }
    if rules.not_on_battery && sample.on_battery == Some(true) {
        return Some(Reason::OnBattery);
    }
    let is_outside = |hours: &Vec<Hours>| !hours.iter().any(|hours| hours.contain(minute));
    rules.hours.as_ref().is_some_and(is_outside).then_some(Reason::OutsideHours)
}

impl Reason {
    /// All that the owner said by hand and has not taken back, whichever reason a verdict gives.
    pub fn by_hand(said: Said) -> impl Iterator<Item = Self> {
        let hand = match said.hand {
            Hand::Off => None,
            Hand::Paused => Some(Self::Paused),
            Hand::Draining => Some(Self::Draining),
        };
        said.here.then_some(Self::OwnerHere(Sign::ByHand)).into_iter().chain(hand)
    }
}

/// For people, as the end of "no new tasks: …" or "suspended: …".
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DiskKeptFree(Shortfall { free, keeps }) => {
                let (free, keeps) = (gigabytes(*free), gigabytes(*keeps));
                return write!(
                    f,
                    "about {free} GB are free on its disk, and the owner keeps {keeps} GB free (disk_free_min_gb)"
                );
            }
            Self::Paused => "the owner paused it",
            Self::OwnerHere(Sign::ByHand) => "the owner is here (said by hand)",
            Self::OwnerHere(Sign::Session) => "somebody is logged in and not idle",
            Self::OwnerHere(Sign::Programs) => "the owner's programs use the CPU",
            Self::TooHot => "the machine is too hot",
            Self::OnBattery => "the machine runs on its battery",
            Self::OutsideHours => "outside the owner's hours",
            Self::Draining => "the owner wants it back (said by hand)",
            Self::DiskFull => "its disk is full: free some space",
            Self::Leftovers => "what tasks left cannot be removed: see the folder `trouble` in the agent's",
            Self::LoadTooHigh => "the owner's load is too high",
            Self::LoadUnknown => "the owner's load is not measured yet",
        })
    }
}

/// With three digits, as the owner writes them.
fn gigabytes(bytes: u64) -> f64 {
    let exact = bytes as f64 / GIGABYTE;
    let unit = 10_f64.powi(2 - exact.max(1e-6).log10().floor() as i32);
    (exact * unit).round() / unit
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run => f.write_str("tasks run"),
            Self::Suspend(reason) => write!(f, "suspended: {reason}"),
            Self::NoNewTasks(reason) => write!(f, "no new tasks: {reason}"),
        }
    }
}
