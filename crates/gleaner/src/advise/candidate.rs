//! One of the rules that are tried.

use serde::Serialize;

/// A rule to try.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(super) struct Candidate {
    /// The preset; none for the rule that is in force, or that the scenario says.
    pub(super) preset: Option<String>,
    /// What is set beside it, as keys of the policy.
    pub(super) set: Vec<String>,
}

impl Candidate {
    /// What is in force, or what the scenario says.
    pub(super) fn now() -> Self {
        Self { preset: None, set: Vec::new() }
    }

    /// A preset by itself.
    pub(super) fn plain(preset: &str) -> Self {
        Self { preset: Some(preset.to_owned()), set: Vec::new() }
    }

    /// As it is called in tables.
    pub(super) fn name(&self) -> String {
        let preset = self.preset.as_deref().unwrap_or("as it is now");
        std::iter::once(preset).chain(self.set.iter().map(String::as_str)).collect::<Vec<_>>().join(" ")
    }
}
