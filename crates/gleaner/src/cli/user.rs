//! The arguments of `gleaner user`.

use super::grid::{GridArguments, PlainArguments};
use crate::candidates;
use clap::Subcommand;

/// `gleaner user`.
#[derive(Debug, Subcommand)]
pub(crate) enum UserArguments {
    /// List the users: who may sign in, with which role and until when
    List(PlainArguments),
    /// Show the key that your jobs are signed with, as owners of machines write it down; it is made if there is none
    Key(PlainArguments),
    /// Remove a user, who cannot sign in any more; the user's jobs go on
    Remove {
        /// Their name, as `gleaner user list` has it
        #[arg(add = candidates::users())]
        name: String,
        #[command(flatten)]
        grid: GridArguments,
    },
}
