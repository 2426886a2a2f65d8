//! The arguments of `gleaner work`.

use super::serve::LogArguments;
use super::values::{machine_name, tag, task_memory_gb};
use clap::Args;
use gleaner_agent::duties::RUNNING_MAX;
use std::path::PathBuf;

const WORK_HELP: &str = "\
The first time, --join and --token say which grid to join: `gleaner token join` on the coordinator's \
machine prints the line, as `gleaner up` does. From then on the folder knows. The owner's rules are in \
DIR/rules.toml, which is written with all of them as comments; `gleaner owner show` lists them.

Examples:
  gleaner work --join https://lab:7717 --token glj_…
  gleaner work --home /var/lib/gleaner-agent --tag gpu";

/// `gleaner work`.
#[derive(Args, Debug)]
#[command(after_help = WORK_HELP)]
pub(crate) struct WorkArguments {
    /// The coordinator's address; alone, without a token, if an agent that has joined is to find it at a new one. Where nobody is there,
    /// the agent tries the address at which it met the coordinator last
    #[arg(long, value_name = "URL")]
    pub(crate) join: Option<String>,
    /// The token that lets this agent join
    #[arg(long, value_name = "TOKEN", env = "GLEANER_JOIN_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<String>,
    /// The folder in which this agent keeps everything
    #[arg(long, value_name = "DIR", env = "GLEANER_AGENT_HOME")]
    pub(crate) home: Option<PathBuf>,
    /// What this machine is called; its host name if nothing is said. Once it has joined, it keeps its name
    #[arg(long, value_name = "NAME", value_parser = machine_name)]
    pub(crate) name: Option<String>,
    /// This machine was installed again: take over its old name, and remove its old entry. Only where this folder has not joined yet
    #[arg(long, requires = "join")]
    pub(crate) replace: bool,
    /// The user whose tasks may run outside the sandbox here, as the coordinator knows them
    #[arg(long = "as", value_name = "USER")]
    pub(crate) user: Option<String>,
    /// How many tasks run here at most; as many as the machine has cores if nothing is said
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(RUNNING_MAX)))]
    pub(crate) slots: Option<u32>,
    /// A word that tasks may ask for; may be given several times. Kept until others are given
    #[arg(long = "tag", value_name = "WORD", value_parser = tag)]
    pub(crate) tags: Vec<String>,
    /// An attribute that requirements may mention, as 'Building="B2"'; may be given several times. Kept until others are given
    #[arg(long = "attribute", value_name = "NAME=EXPR")]
    pub(crate) attributes: Vec<String>,
    /// Take back all tags and attributes that were given before
    #[arg(long, conflicts_with_all = ["tags", "attributes"])]
    pub(crate) no_tags: bool,
    /// Gigabytes of inputs to keep for later tasks
    #[arg(long, value_name = "GB", default_value_t = 10.0)]
    pub(crate) cache_gb: f64,
    /// Gigabytes of memory for a task that names none; a slot's share of the machine's memory if nothing is said
    #[arg(long, value_name = "GB", value_parser = task_memory_gb, allow_negative_numbers = true)]
    pub(crate) task_memory_gb: Option<f64>,
    /// The cgroup in which the owner's use is measured
    #[arg(long, value_name = "PATH")]
    pub(crate) measure_cgroup: Option<String>,
    /// Print what the machine is called, and which grid it works for, as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) log: LogArguments,
}
