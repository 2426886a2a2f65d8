use crate::{Change, Command};

/// What comes of an event or of a decision.
#[derive(Clone, Debug, Default)]
pub(crate) struct Effects {
    /// For the policy.
    pub(crate) changes: Vec<Change>,
    /// For the outside.
    pub(crate) orders: Vec<Command>,
}
