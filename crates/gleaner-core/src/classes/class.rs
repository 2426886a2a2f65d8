//! One class of machines, and one of tasks: what its members have in common, and what their ads say in numbers.

use crate::ad::Ad;
use crate::room::{Needs, Room};
use gleaner_classad::RANK;
use gleaner_units::UserId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Words that a machine provides or a task requires.
pub type Tags = BTreeSet<String>;

/// What an ad calls the power that its machine takes at work.
pub const WATTS: &str = "Watts";

/// What an ad calls the quality of service that its machine offers, or that its task asks for.
pub const QUALITY: &str = "Quality";

/// What a task's ad calls the credits that its user would pay for an operation.
pub const WOULD_PAY: &str = "WouldPay";

/// What a machine takes that does not say.
pub const WATTS_USUAL: f64 = 100.0;

/// All machines with the same speeds, cores, room, price, tags and ad.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MachineClass {
    /// S: operations a second of each kind.
    pub speeds: Vec<f64>,
    /// How many tasks run at full speed side by side.
    pub cores: u32,
    /// What it takes in at a time.
    pub room: Room,
    /// Credits for an operation.
    pub price: f64,
    /// What tasks may ask of it.
    pub provides: Tags,
    /// What it says of itself, and what its owner asks of tasks.
    pub ad: Option<Ad>,
}

impl MachineClass {
    /// One that costs nothing, says nothing, and has no room but its cores.
    pub fn plain(speeds: Vec<f64>, cores: u32) -> Self {
        Self { speeds, cores, room: Room::default(), price: 0.0, provides: Tags::new(), ad: None }
    }

    /// How many tasks of one core have a core of their own there at a time: it may have fewer slots than cores.
    #[inline]
    pub fn width(&self) -> u32 {
        self.room.slots.map_or(self.cores, |slots| slots.min(self.cores))
    }

    /// Whether tasks that each have their slots may have to share cores.
    #[inline]
    pub fn has_more_slots_than_cores(&self) -> bool {
        self.room.slots.is_some_and(|slots| slots > self.cores)
    }

    /// What such a machine takes at work, in watts: what its ad says as [`WATTS`], and [`WATTS_USUAL`] where it says nothing
    /// above 0.
    pub fn watts(&self) -> f64 {
        said(self.ad.as_ref(), WATTS).filter(|watts| *watts > 0.0).unwrap_or(WATTS_USUAL)
    }

    /// The quality of service that such a machine offers: what its ad says as [`QUALITY`], and none where it says nothing.
    pub fn quality(&self) -> f64 {
        said(self.ad.as_ref(), QUALITY).unwrap_or(0.0)
    }
}

/// The number, finite and 0 or more, that an ad says under a name.
fn said(ad: Option<&Ad>, name: &str) -> Option<f64> {
    let number = ad?.class_ad().get(name)?.as_literal()?.as_number()?;
    (number.is_finite() && number >= 0.0).then_some(number)
}

/// All tasks with the same composition, needs, priority and payer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TaskClass {
    /// C: how the operations divide over the kinds.
    pub composition: Vec<f64>,
    /// What it takes of a machine's room.
    pub needs: Needs,
    /// Of the tasks that wait, those with the highest go first.
    pub priority: i32,
    /// Whether it starts from its beginning wherever it is moved to, since it keeps nothing to go on from.
    pub restarts: bool,
    /// Whose account pays for it, where each user has one.
    pub payer: UserId,
    /// The task's domain: the machines that provide all of these.
    pub requires: Tags,
    /// What it says of itself, asks of machines, and likes in them.
    pub ad: Option<Ad>,
}

impl TaskClass {
    /// One that takes one core, asks nothing, and goes on elsewhere from where it was.
    pub fn plain(composition: Vec<f64>) -> Self {
        Self {
            composition,
            needs: Needs::default(),
            priority: 0,
            restarts: false,
            payer: UserId::default(),
            requires: Tags::new(),
            ad: None,
        }
    }

    /// The quality of service that such a task asks for: what its ad says as [`QUALITY`], and none where it says nothing.
    pub fn quality(&self) -> f64 {
        said(self.ad.as_ref(), QUALITY).unwrap_or(0.0)
    }

    /// The credits that its user would pay for an operation: what its ad says as [`WOULD_PAY`], and any number of them where
    /// it says nothing.
    pub fn would_pay(&self) -> f64 {
        said(self.ad.as_ref(), WOULD_PAY).unwrap_or(f64::INFINITY)
    }

    pub(super) fn demand(&self) -> Demand {
        let Self { needs, priority, payer, .. } = *self;
        Demand { needs, priority, payer }
    }

    /// Whether its tasks say which machines they like best.
    pub fn is_ranked(&self) -> bool {
        self.ad.as_ref().is_some_and(|ad| ad.class_ad().get(RANK).is_some())
    }
}

/// What of a task class is asked for at every step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Demand {
    /// What a task takes of a machine's room.
    pub needs: Needs,
    /// Of the tasks that wait, those with the highest go first.
    pub priority: i32,
    /// Whose account pays.
    pub payer: UserId,
}
