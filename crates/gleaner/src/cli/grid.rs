//! Which coordinator a command talks to.

use clap::Args;
use std::path::PathBuf;

/// Which coordinator, as whom, and how to answer.
#[derive(Args, Clone, Debug)]
pub(crate) struct GridArguments {
    /// The coordinator's folder, in which its address and your token are
    #[arg(long, value_name = "DIR", env = "GLEANER_HOME")]
    pub(crate) home: Option<PathBuf>,
    /// The coordinator's address instead of the one in the folder
    #[arg(long, value_name = "URL", env = "GLEANER_SERVER", help_heading = "Which grid")]
    pub(crate) server: Option<String>,
    /// The fingerprint of its authority instead of the one in the folder
    #[arg(long, value_name = "HEX", env = "GLEANER_FINGERPRINT", help_heading = "Which grid")]
    pub(crate) fingerprint: Option<String>,
    /// Your token instead of the one in the folder; with a dot and the fingerprint behind it, as `gleaner token user` prints both, no
    /// --fingerprint is needed
    #[arg(
        long,
        value_name = "TOKEN",
        env = "GLEANER_TOKEN",
        hide_env_values = true,
        help_heading = "Which grid"
    )]
    pub(crate) token: Option<String>,
    /// Print the answer as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A command that needs to know nothing but which grid.
#[derive(Args, Debug)]
pub(crate) struct PlainArguments {
    #[command(flatten)]
    pub(crate) grid: GridArguments,
}
