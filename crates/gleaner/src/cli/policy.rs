//! The commands about policies.

use super::{PlainArguments, PolicySetArguments};
use crate::candidates;
use clap::Subcommand;

/// `gleaner policy`.
#[derive(Debug, Subcommand)]
pub(crate) enum PolicyArguments {
    /// List all presets
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Explain the keys of a policy and their values
    Keys {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a preset as a scenario's policy section, with what each part does
    Show {
        /// Its name
        #[arg(add = candidates::policies())]
        name: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the policy in force on the grid, in the same form
    Current(PlainArguments),
    /// Set another policy, or change the one in force; running tasks stay where they are
    Set(PolicySetArguments),
}
