//! The arguments of `gleaner token`.

use super::grid::{GridArguments, PlainArguments};
use super::values::life;
use clap::{Subcommand, ValueEnum};
use gleaner_wire::api::Role;
use gleaner_wire::limits::{JOIN_SECONDS_MAX, JOIN_TOKEN_USES_MAX};

/// `gleaner token`.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenArguments {
    /// Print the line with which a machine joins; its token works once unless you say otherwise
    Join {
        /// How many machines may join with it
        #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=i64::from(JOIN_TOKEN_USES_MAX)))]
        uses: u32,
        /// How long it can be used, as 12h or 30d
        #[arg(long, value_name = "TIME", default_value = "1h", value_parser = join_life)]
        expires: u32,
        /// Whose machines they are: where answers are compared, all of one owner's have one vote
        #[arg(long, value_name = "NAME")]
        owner: Option<String>,
        #[command(flatten)]
        grid: GridArguments,
    },
    /// List the join tokens that still work
    List(PlainArguments),
    /// Remove a join token: nobody can join with it any more
    Remove {
        /// Its name in `gleaner token list`
        id: String,
        #[command(flatten)]
        grid: GridArguments,
    },
    /// Print the line with which a user signs in; its token replaces an earlier one, and its user keeps the role that they have
    User {
        /// The user's name
        name: String,
        /// What the user may do; as before if nothing is said, and a new one is a user
        #[arg(long, value_enum)]
        role: Option<RoleArgument>,
        /// How long it can be used, as 30d or 12h; without limit if nothing is said
        #[arg(long, value_name = "TIME", value_parser = life)]
        expires: Option<u32>,
        /// It is the same person as a removed user of that name, and gets at that user's jobs and files
        #[arg(long)]
        again: bool,
        #[command(flatten)]
        grid: GridArguments,
    },
}

/// What a user may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum RoleArgument {
    /// Act on what is not their own, and on machines, users and the policy
    Admin,
    /// Submit jobs, and act on these
    User,
    /// See everything, and change nothing
    Reader,
    /// Read the numbers at /metrics, and nothing else
    Metrics,
}

impl From<RoleArgument> for Role {
    fn from(role: RoleArgument) -> Self {
        match role {
            RoleArgument::Admin => Self::Admin,
            RoleArgument::User => Self::User,
            RoleArgument::Reader => Self::Reader,
            RoleArgument::Metrics => Self::Metrics,
        }
    }
}

fn join_life(text: &str) -> Result<u32, String> {
    life(text)
        .ok()
        .filter(|&seconds| seconds <= JOIN_SECONDS_MAX)
        .ok_or_else(|| format!("expected 1 second to {} days", JOIN_SECONDS_MAX / 86_400))
}
