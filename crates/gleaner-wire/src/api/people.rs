//! Users, their roles and their tokens.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A new token, shown this once.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NewToken {
    /// 1.
    pub version: u32,
    /// The token.
    pub token: String,
    /// When it is of no use any more, if ever.
    pub expires_s: Option<f64>,
    /// The command that uses it: on the machine that joins, or on the user's.
    pub line: String,
    /// What its user may do, where it is a user's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// What they could do before, if they were known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<Role>,
}

/// What a user may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Role {
    /// Act on their own jobs, on what is not their own, and on machines, users and the policy.
    Admin,
    /// Submit jobs, and act on these.
    #[default]
    User,
    /// See everything, and change nothing.
    Reader,
    /// Read the numbers at `/metrics`, and nothing else.
    Metrics,
}

impl Role {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::User => "user",
            Self::Reader => "reader",
            Self::Metrics => "metrics",
        }
    }

    /// Whether jobs of others exist for them.
    pub fn sees_all(self) -> bool {
        matches!(self, Self::Admin | Self::Reader)
    }
}

/// Who may sign in, and how many may join. No answer has a secret in it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UserList {
    /// 1.
    pub version: u32,
    /// By name.
    pub users: Vec<UserView>,
    /// The join tokens that are still good.
    pub join_tokens: Vec<JoinTokenView>,
}

/// A join token, without its secret.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct JoinTokenView {
    /// What it is called: the beginning of its hash.
    pub id: String,
    /// How many machines may still join with it.
    pub uses: u32,
    /// When it is of no use any more.
    pub expires_s: f64,
    /// Whose machines they are, where that was said.
    #[serde(default)]
    pub owner: Option<String>,
}

/// A user.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UserView {
    /// Unique.
    pub name: String,
    /// What they may do.
    pub role: Role,
    /// When their token is of no use any more, if ever.
    pub expires_s: Option<f64>,
}

/// Who caused something.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Actor {
    /// A user, by name.
    User(String),
    /// An agent, by its machine's name: its owner's rules, or what happened there.
    Agent(String),
    /// The coordinator itself.
    Coordinator,
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(name) => write!(f, "user {name}"),
            Self::Agent(name) => write!(f, "agent {name}"),
            Self::Coordinator => f.write_str("coordinator"),
        }
    }
}
