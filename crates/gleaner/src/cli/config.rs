//! The arguments of `gleaner config`.

use super::serve::ServeArguments;
use clap::{Args, Subcommand};

/// `gleaner config`.
#[derive(Subcommand, Debug)]
pub(crate) enum ConfigArguments {
    /// Show every setting, its value and where it comes from
    Show(ConfigShowArguments),
}

/// `gleaner config show`.
#[derive(Args, Debug)]
#[command(mut_arg("json", |json| json.help("Print the settings as JSON")))]
pub(crate) struct ConfigShowArguments {
    #[command(flatten)]
    pub(crate) serve: ServeArguments,
}
