//! What users may have, spend and pay.

use super::PolicyKeys;
use crate::limits::{
    QUOTA_BYTES, QUOTA_CORES, QUOTA_DESCRIPTION_BYTES, QUOTA_REQUESTS_PER_S, QUOTA_REQUIREMENT_BYTES,
    QUOTA_TASKS, QUOTA_TASKS_EVER,
};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// What the budget is to be.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BudgetSetting {
    /// The keys of a policy's budget. `null`: running costs nothing.
    // What is forgotten takes nothing away.
    #[serde(deserialize_with = "Option::deserialize")]
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub budget: Option<PolicyKeys>,
}

/// How much a user may have of the coordinator at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Quota {
    /// Tasks that are not over.
    pub tasks: u64,
    /// Tasks that they submit in all, those that are over included: a grid numbers 4,294,967,295.
    #[serde(default = "quota_tasks_ever")]
    #[cfg_attr(feature = "openapi", schema(default = quota_tasks_ever))]
    pub tasks_ever: u64,
    /// Cores that their runs take at a time: what needs more waits.
    #[serde(default = "quota_cores")]
    #[cfg_attr(feature = "openapi", schema(default = quota_cores))]
    pub cores: u32,
    /// Bytes of files and output that are kept for them.
    #[serde(default = "quota_bytes")]
    #[cfg_attr(feature = "openapi", schema(default = quota_bytes))]
    pub bytes: u64,
    /// Bytes of requirements, ranks and labels of their jobs that are not over: equal ones count once, and each a little more.
    #[serde(default = "quota_requirement_bytes")]
    #[cfg_attr(feature = "openapi", schema(default = quota_requirement_bytes))]
    pub requirement_bytes: u64,
    /// Bytes of the coordinator's memory that descriptions of their jobs take that are not over, about.
    #[serde(default = "quota_description_bytes")]
    #[cfg_attr(feature = "openapi", schema(default = quota_description_bytes))]
    pub description_bytes: u64,
    /// Requests in a second, on average; twice as many at once.
    pub requests_per_s: u32,
    /// The highest priority that they may give a job; none: any. Administrators may give any.
    // Always written: snapshots have no names of fields.
    #[serde(default)]
    pub priority: Option<i32>,
}

fn quota_tasks_ever() -> u64 {
    QUOTA_TASKS_EVER
}

fn quota_cores() -> u32 {
    QUOTA_CORES
}

fn quota_bytes() -> u64 {
    QUOTA_BYTES
}

fn quota_requirement_bytes() -> u64 {
    QUOTA_REQUIREMENT_BYTES
}

fn quota_description_bytes() -> u64 {
    QUOTA_DESCRIPTION_BYTES
}

impl Default for Quota {
    fn default() -> Self {
        Self {
            tasks: QUOTA_TASKS,
            tasks_ever: QUOTA_TASKS_EVER,
            cores: QUOTA_CORES,
            bytes: QUOTA_BYTES,
            requirement_bytes: QUOTA_REQUIREMENT_BYTES,
            description_bytes: QUOTA_DESCRIPTION_BYTES,
            requests_per_s: QUOTA_REQUESTS_PER_S,
            priority: None,
        }
    }
}

impl Quota {
    /// Whether `more` bytes may be kept for a user for whom so many are.
    pub fn check_bytes(&self, user: &str, kept: u64, more: u64) -> Result<(), TooManyBytes> {
        if kept.saturating_add(more) <= self.bytes {
            return Ok(());
        }
        Err(TooManyBytes { user: user.to_owned(), kept, more, most: self.bytes })
    }
}

/// More than the quota of stored bytes.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error(
    "{kept} bytes are kept for {user} or on their way (`gleaner quota show`), and {more} more would be above the quota of {most}; \
     ask an administrator for more (`gleaner quota set --user {user} --bytes N`)"
)]
pub struct TooManyBytes {
    user: String,
    kept: u64,
    more: u64,
    most: u64,
}

/// A quota to be set.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QuotaSetting {
    /// For whom; none: for everyone who has none of their own.
    #[serde(default)]
    pub user: Option<String>,
    /// How much. What is left out is set back to its `default`. `null`: the user has no quota of their own any more.
    // What is forgotten takes nothing back.
    #[serde(deserialize_with = "Option::deserialize")]
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub quota: Option<Quota>,
}

/// Who may have how much, and has.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QuotaList {
    /// 1.
    pub version: u32,
    /// What holds for everyone who has none of their own.
    pub everyone: Quota,
    /// The caller, or for an administrator all who have a quota of their own or ever submitted anything.
    pub users: Vec<QuotaView>,
}

/// A user's quota, and what they have of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QuotaView {
    /// Who.
    pub user: String,
    /// What they may have.
    pub quota: Quota,
    /// Their tasks that are not over.
    pub tasks: u64,
    /// Tasks that they ever submitted.
    #[serde(default)]
    pub tasks_ever: u64,
    /// Cores that their runs take.
    pub cores: u64,
    /// Bytes that are kept for them.
    pub bytes: u64,
    /// Bytes of files that they send, or sent within the last day and no job names: these count too.
    #[serde(default)]
    pub sent_bytes: u64,
    /// Bytes of requirements, ranks and labels of theirs.
    #[serde(default)]
    pub requirement_bytes: u64,
    /// Bytes of memory that descriptions of their jobs take that are not over.
    #[serde(default)]
    pub description_bytes: u64,
}

/// The budget, and what became of it in the period that is running.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BudgetView {
    /// 1.
    pub version: u32,
    /// As it was set; none if running costs nothing.
    pub budget: Option<PolicyKeys>,
    /// Whether the policy in force heeds it.
    pub heeded: bool,
    /// When the next period begins, if it is heeded.
    pub next_recharge_s: Option<f64>,
    /// What it is spent from, where it is heeded: one account, or one for each user who ever submitted
    /// anything. A user sees their own of these, and an administrator all.
    pub accounts: Vec<AccountView>,
}

/// What became of a recharge, in credits.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AccountView {
    /// Whose; none where it is everyone's.
    pub user: Option<String>,
    /// Spent in this period, less what was given back in it.
    pub spent: u64,
    /// Held for tasks that are charged when they start or end.
    pub held: u64,
    /// What may still be spent in this period.
    pub left: u64,
    /// Spent since the budget was set, less all that was given back.
    pub paid: u64,
}

/// Whose a machine is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OwnerSpec {
    /// A name: all machines of one owner have one vote where answers are compared. `null`: it has one of its own.
    #[serde(deserialize_with = "Option::deserialize")]
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub owner: Option<String>,
}

/// What running on a machine costs.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PriceSpec {
    /// Credits for a million operations; 0 for nothing.
    pub price: f64,
}
