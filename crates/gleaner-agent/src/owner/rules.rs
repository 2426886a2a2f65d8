//! What the owner configured.

use serde::{Deserialize, Serialize};

use super::hours::Hours;

/// The owner's rules. Each has a default, so that a machine without any configuration gives way to its owner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rules {
    /// Nothing new starts while the owner's load, from 0 to 1, is this or more. Default 0.5.
    pub run_below_load: f64,
    /// Whether the owner's return suspends what runs; otherwise it only keeps new tasks away. What the owner says by
    /// hand always suspends. Default true.
    pub suspend_on_return: bool,
    /// How long a session must be untouched, and other programs quiet, until the owner counts as away. Default 60.
    pub idle_seconds: u32,
    /// From how many busy cores on other programs are the owner at work; at most a quarter of all there are, since
    /// programs that share a small machine with tasks may not get more. Default 0.5.
    pub busy_cores: f64,
    /// Whether people who are logged in count as the owner. Default: watch.
    pub sessions: Sessions,
    /// Whether other programs count as the owner's. Default: watch.
    pub programs: Programs,
    /// Suspend at this many degrees Celsius or more. Default: no limit.
    pub temperature_max: Option<f64>,
    /// Suspend while the machine lives on its battery. Default true.
    pub not_on_battery: bool,
    /// The hours of the local day in which tasks run; outside of them they are suspended. Default: always.
    pub hours: Option<Hours>,
}

/// Whether people who are logged in count as the owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sessions {
    /// A session that is not idle is the owner.
    #[default]
    Watch,
    /// People who type are no reason to stop; for servers, and for a machine whose user also submits from it.
    Ignore,
}

/// Whether other programs count as the owner's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Programs {
    /// What they use is the owner's load, and much of it the owner.
    #[default]
    Watch,
    /// Whatever they use, tasks run; for machines that are there for tasks, and for measuring.
    Ignore,
}

/// A rule whose value makes no sense.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{key} is {found}; it must be {expected}")]
pub struct RulesError {
    key: &'static str,
    found: f64,
    expected: &'static str,
}

/// The part of a small machine that is never asked of the owner's programs before they count.
const BUSY_SHARE_MAX: f64 = 0.25;

impl Default for Rules {
    fn default() -> Self {
        Self {
            run_below_load: 0.5,
            suspend_on_return: true,
            idle_seconds: 60,
            busy_cores: 0.5,
            sessions: Sessions::Watch,
            programs: Programs::Watch,
            temperature_max: None,
            not_on_battery: true,
            hours: None,
        }
    }
}

impl Rules {
    /// Refuses what can never be meant.
    pub fn check(&self) -> Result<(), RulesError> {
        let positive = |value: f64| value > 0.0 && value.is_finite();
        let refuse = |key, found, expected| Err(RulesError { key, found, expected });
        if !(0.0..=1.0).contains(&self.run_below_load) {
            return refuse("run_below_load", self.run_below_load, "a share from 0 to 1");
        }
        if !positive(self.busy_cores) {
            return refuse("busy_cores", self.busy_cores, "a number of cores above 0");
        }
        match self.temperature_max {
            Some(degrees) if !positive(degrees) => {
                refuse("temperature_max", degrees, "degrees Celsius above 0")
            }
            Some(_) | None => Ok(()),
        }
    }

    /// From how many busy cores of `cores` on other programs are the owner at work.
    pub(super) fn busy_threshold(&self, cores: f64) -> f64 {
        self.busy_cores.min(cores * BUSY_SHARE_MAX)
    }
}
