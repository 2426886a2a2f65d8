//! The arguments of `gleaner doctor`.

use clap::Args;
use std::path::PathBuf;

/// `gleaner doctor`.
#[derive(Args, Debug)]
pub(crate) struct DoctorArguments {
    /// The folder that an agent would keep its tasks in; what is tried there is removed again
    #[arg(long, value_name = "DIR", env = "GLEANER_AGENT_HOME")]
    pub(crate) home: Option<PathBuf>,
    /// Print what was found as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
