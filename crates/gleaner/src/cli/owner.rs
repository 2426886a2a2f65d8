//! The arguments of `gleaner owner`.

use crate::candidates;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `gleaner owner`.
#[derive(Subcommand, Debug)]
pub(crate) enum OwnerArguments {
    /// Say that you are here: all tasks are suspended until you say that you are away
    Here(OwnMachineArguments),
    /// Say that you are away
    Away(OwnMachineArguments),
    /// Suspend all tasks, whether you are here or not
    Pause(OwnMachineArguments),
    /// Start no new tasks; running ones go on to their end
    Drain(OwnMachineArguments),
    /// End all tasks within the grace that the rules allow, and start no new ones
    Evict(OwnMachineArguments),
    /// Go on as the rules say
    Resume(OwnMachineArguments),
    /// Show how many tasks are here, and what they may do
    Status(OwnMachineArguments),
    /// Show the rules in force, and their file
    Show(OwnMachineArguments),
    /// Set a rule; the agent follows it within a second
    Set(OwnerSetArguments),
}

/// `gleaner owner set`.
#[derive(Args, Debug)]
pub(crate) struct OwnerSetArguments {
    /// Which rule, such as `grace_max_seconds`; `gleaner owner show` lists them
    #[arg(add = candidates::rules())]
    pub(crate) key: String,
    /// A number, a word, true or false, or a list such as `["mon-fri 18:00-07:30"]`; `default` takes the rule back
    #[arg(allow_negative_numbers = true)]
    pub(crate) value: String,
    #[command(flatten)]
    pub(crate) of: OwnMachineArguments,
}

/// Which agent of this machine is meant.
#[derive(Args, Debug)]
pub(crate) struct OwnMachineArguments {
    /// The agent's folder; that of `gleaner up` if nothing is said
    #[arg(long, value_name = "DIR", env = "GLEANER_AGENT_HOME")]
    pub(crate) home: Option<PathBuf>,
    /// Print the answer as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
