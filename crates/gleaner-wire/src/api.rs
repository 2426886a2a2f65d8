//! What the HTTP API under `/api/v1` answers. Times are seconds since 1970.

mod jobs;
mod machines;
mod people;
mod quotas;
mod reasons;

pub use jobs::*;
pub use machines::*;
pub use people::*;
pub use quotas::*;
pub use reasons::*;

use crate::JobId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The rule in force.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PolicyView {
    /// 1.
    pub version: u32,
    /// The preset's name.
    pub name: String,
    /// As it was set.
    pub policy: PolicyKeys,
    /// In words.
    pub text: String,
}

/// What was learnt of labels.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LabelList {
    /// 1.
    pub version: u32,
    /// By user and name: the caller's own, or for an administrator all.
    pub labels: Vec<LabelView>,
}

/// What was learnt of a label.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LabelView {
    /// Whose.
    pub user: String,
    /// Its name.
    pub label: String,
    /// The shares of CPU, disk and network that the scheduler counts with.
    pub composition: [f64; 3],
    /// From how many runs.
    pub runs: u64,
}

/// What came of bytes that were sent to measure the network.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Swallowed {
    /// 1.
    pub version: u32,
    /// How many came.
    pub bytes: u64,
}

/// The grid at a glance.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GridView {
    /// 1.
    pub version: u32,
    /// Who asks.
    pub user: String,
    /// What they may do.
    pub role: Role,
    /// Which program.
    pub program: String,
    /// How often the coordinator started.
    pub epoch: u32,
    /// All tasks.
    pub tasks: Tally,
    /// How many machines are in each state.
    pub machines: BTreeMap<String, usize>,
    /// The preset of the policy in force.
    pub policy: String,
}

/// Something that just happened, as live views get it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LiveEvent {
    /// When.
    pub at_s: f64,
    /// The job it is about.
    pub job: Option<JobId>,
    /// The task's number, if it is about one.
    pub task: Option<u32>,
    /// The machine it is about.
    pub machine: Option<String>,
    /// The phase that was entered.
    pub phase: Option<TaskPhase>,
    /// In words.
    pub text: String,
}

/// Why a request was refused.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Problem {
    /// 1.
    pub version: u32,
    /// What was wrong.
    pub error: ProblemDetail,
}

/// What was wrong, for programs and for people.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProblemDetail {
    /// A word that does not change.
    pub code: String,
    /// What, where, and what to do.
    pub message: String,
}

/// A policy, or its budget, in the words of a scenario's `[policy]` section: a tree of keys.
///
/// It is data here, and no more: its words are those of `gleaner-policy`, which agents, who know this crate, do not have.
/// `gleaner_policy::PolicySpec` reads it, and says at which key what was found and what is expected.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(value_type = Object))]
pub struct PolicyKeys(pub serde_json::Map<String, serde_json::Value>);
