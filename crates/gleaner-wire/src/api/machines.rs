//! What the API says of machines, and what joins them.

use crate::session::{Profile, Sample};
use serde::{Deserialize, Serialize};

/// A machine.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MachineView {
    /// Its name.
    pub machine: String,
    /// What it is doing, in one word.
    pub state: MachineState,
    /// Why, where someone wants it so.
    pub why: Option<String>,
    /// What was ordered that keeps new tasks from it, until `resume`, with who ordered it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub orders: Vec<String>,
    /// Why another agent that comes under this machine's identity is not let in, while it comes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Whose it is, where an administrator said so: all machines of one owner have one vote where answers are compared.
    #[serde(default)]
    pub owner: Option<String>,
    /// What it is.
    pub profile: Profile,
    /// λ, as the scheduler knows it.
    pub owner_load: f64,
    /// Credits for a million operations.
    #[serde(default)]
    pub price: f64,
    /// How many tasks are there or on their way.
    pub tasks: u32,
    /// What it told last; none while it is not connected.
    pub sample: Option<Sample>,
    /// When it was last heard of, as far as this coordinator remembers.
    pub heard_s: Option<f64>,
    /// What its answers were worth so far, where they were compared with others'.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<TrustView>,
}

/// What a machine's answers were worth so far.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TrustView {
    /// Answers that other machines agreed on, since the last that they did not.
    pub row: u32,
    /// All that they ever agreed on.
    pub agreed: u64,
    /// Answers that were outvoted.
    pub wrong: u64,
    /// When the last of them was.
    pub last_wrong_s: Option<f64>,
    /// Whether it is asked alone, but for a task now and then.
    pub alone: bool,
}

/// What a machine is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum MachineState {
    /// It takes tasks.
    Open,
    /// It takes no new tasks.
    Closed,
    /// It is not connected; its lease runs on.
    Away,
    /// It was not heard of until its lease ended.
    Lost,
    /// It may not come back.
    Revoked,
}

impl MachineState {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Open, Self::Closed, Self::Away, Self::Lost, Self::Revoked];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
            Self::Away => "away",
            Self::Lost => "lost",
            Self::Revoked => "revoked",
        }
    }
}

/// All machines.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MachineList {
    /// 1.
    pub version: u32,
    /// In order of joining.
    pub machines: Vec<MachineView>,
}

/// How an agent asks to be enrolled, with a join token.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Enrolment {
    /// How it would be called.
    pub name: String,
    /// Its public key, in base64.
    pub key: String,
    /// What the machine is.
    pub profile: Profile,
    /// Whether the machine was set up anew: it takes its name from an agent that is not connected, which is forgotten.
    #[serde(default)]
    pub replace: bool,
}

/// An agent's number.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Enrolled {
    /// 1.
    pub version: u32,
    /// Its number.
    pub agent: u32,
    /// Its name, which may have got a number to tell it from others.
    pub name: String,
}
