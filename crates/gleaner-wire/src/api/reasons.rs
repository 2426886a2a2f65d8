//! Why a task is where it is, and what a change would do.

use serde::{Deserialize, Serialize};

/// Where a task could go, and why it does or does not.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ExplanationView {
    /// 1.
    pub version: u32,
    /// The moment that is explained.
    pub at_s: f64,
    /// In one sentence.
    pub summary: String,
    /// The machines that were ruled out, by the rule that did it.
    pub ruled_out: Vec<RuledOutView>,
    /// The others, best first, with their scores.
    pub ratings: Vec<Rating>,
    /// What would let it start.
    pub remedies: Vec<String>,
    /// Where and when it is expected to start, while a queue keeps cores for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starts: Option<ExpectedStart>,
    /// What the scores are, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scores_are: Option<String>,
}

/// How a remedy begins that is more machines, where too few could answer for a quorum.
pub const MORE_MACHINES: &str = "with more machines: ";

impl ExplanationView {
    /// What is said of a quorum that too few machines could answer, where it is one.
    pub fn find_too_few(&self) -> Option<&str> {
        self.remedies.iter().find_map(|remedy| remedy.strip_prefix(MORE_MACHINES))
    }
}

/// When a task is expected to start.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ExpectedStart {
    /// The machine on which cores are kept for it.
    pub machine: String,
    /// When, by the clock; none where nobody knows when what runs there ends.
    pub at_s: Option<f64>,
    /// Whose word that is: `believed` of the runs there, `declared` as one takes longer than was believed, or `nobody`.
    pub by: String,
}

/// Machines that a rule ruled out.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RuledOutView {
    /// The rule, in words.
    pub rule: String,
    /// How many.
    pub count: usize,
    /// Some of them: where there are fewer than `count`, more are not named.
    pub machines: Vec<String>,
}

/// A machine's score for a task.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Rating {
    /// Its name.
    pub machine: String,
    /// As the policy in force has it; higher is better.
    pub score: f64,
}

/// Where the tasks of a job would go if it were submitted now.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Preview {
    /// 1.
    pub version: u32,
    /// How many would start at once on each machine.
    pub starts: Vec<PreviewStart>,
    /// How many would wait.
    pub waiting: u32,
    /// Why.
    pub explanation: ExplanationView,
}

/// Tasks that would start on a machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PreviewStart {
    /// The machine's name.
    pub machine: String,
    /// How many.
    pub tasks: u32,
}
