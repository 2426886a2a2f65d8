//! The arguments of the commands that run a grid's programs, and of those that look after a coordinator's folder.

use crate::candidates;
use crate::moments::parse_moment;
use clap::{Args, Subcommand, ValueEnum};
use gleaner_agent::duties::RUNNING_MAX;
use std::net::SocketAddr;
use std::path::PathBuf;

const UP_HELP: &str = "\
Everything is kept in one folder: --home DIR, else GLEANER_HOME, else ~/.local/state/gleaner. \
Start it again, also after a crash, and it goes on where it was.

Examples:
  gleaner up                              # on this machine alone
  gleaner up --listen 0.0.0.0:7717        # others may join
  gleaner up --as $USER                   # run my tasks --no-sandbox here too
  gleaner up --demo                       # and show a few tasks";

/// `gleaner up`.
#[derive(Args, Debug)]
#[command(after_help = UP_HELP)]
pub(crate) struct UpArguments {
    #[command(flatten)]
    pub(crate) serve: ServeArguments,
    /// The user whose tasks may run outside the sandbox here, with all that you may do; nobody if nothing is said
    #[arg(long = "as", value_name = "USER")]
    pub(crate) user: Option<String>,
    /// How many tasks run on this machine at most; as many as it has cores if nothing is said
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(RUNNING_MAX)))]
    pub(crate) slots: Option<u32>,
    /// Show placement, an owner coming back and a task moving, with a few tasks and a second agent
    #[arg(long)]
    pub(crate) demo: bool,
}

/// `gleaner serve`.
#[derive(Args, Clone, Debug)]
pub(crate) struct ServeArguments {
    /// The folder in which everything is kept
    #[arg(long, value_name = "DIR", env = "GLEANER_HOME")]
    pub(crate) home: Option<PathBuf>,
    /// Where to listen
    #[arg(long, value_name = "ADDR:PORT", value_parser = address)]
    pub(crate) listen: Option<SocketAddr>,
    /// A name under which others reach this machine; may be given several times
    #[arg(long = "name", value_name = "HOST")]
    pub(crate) names: Vec<String>,
    /// A certificate of your own for browsers and other programs, in PEM with those that vouch for it; read again when it changes, or at
    /// SIGHUP. Agents and these commands go by the coordinator's own authority
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Its key, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// How long results are kept after their job is over, as 30d or 12h: what it read, left and wrote; `forever` for no end [default: 30d]
    #[arg(long, value_name = "TIME")]
    pub(crate) keep_results_for: Option<String>,
    /// How long a job is known after it is over; no shorter than its results are kept [default: 365d]
    #[arg(long, value_name = "TIME")]
    pub(crate) keep_for: Option<String>,
    /// Accept a folder on a network file system, where locks and syncs may not work
    #[arg(long)]
    pub(crate) network_folder: bool,
    /// Print the coordinator's address as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) log: LogArguments,
}

/// How much a program says of itself.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct LogArguments {
    /// How log lines look; the variable `GLEANER_LOG` says what is logged, as `warn` or `debug`
    #[arg(long, value_name = "FORM", default_value = "text")]
    pub(crate) log: LogForm,
}

/// How log lines look.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum LogForm {
    /// For people
    Text,
    /// One JSON object a line
    Json,
}

const WORK_HELP: &str = "\
The first time, --join and --token say which grid to join; `gleaner up` prints the line, and \
`gleaner token join` makes another. From then on the folder knows. The owner's rules are in \
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
    #[arg(long, value_name = "NAME")]
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
    #[arg(long = "tag", value_name = "WORD", value_parser = super::live::tag)]
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
    #[arg(long, value_name = "GB")]
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

fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "expected an address of this machine and a port, as 0.0.0.0:7717".to_owned())
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

/// `gleaner journal`.
#[derive(Subcommand, Debug)]
pub(crate) enum JournalArguments {
    /// Check every row, that the scheduler would decide the same again, and that the files it names are there
    Verify(JournalVerifyArguments),
    /// Derive everything from the journal afresh, and save that as the snapshot to start from
    Rebuild(JournalFolderArguments),
    /// Write the journal as JSON Lines, one fact a line
    Export(JournalFolderArguments),
    /// Drop the journal's rows of jobs that were forgotten
    ///
    /// The coordinator has to be stopped. Says first what would be dropped, and does nothing without --yes. Of the rows before a
    /// moment, those go that are about forgotten jobs alone (`--keep-for`), and those of machines' reports.
    /// Histories and output of other jobs stay, and so does the audit trail. A state takes the place of what goes:
    /// `explain --at`, `replay`, `journal verify` and a restore to an earlier row begin there.
    Compact(JournalCompactArguments),
    /// Restore the journal from a backup, or from what can be read of a damaged journal
    ///
    /// The coordinator has to be stopped. Says first what would be lost, and does nothing without --yes. What was there
    /// is moved into the folder `replaced` beside it. Results that machines still have of what is lost are refused when
    /// they come, and for a lease after the next start no run begins, since machines that are away may still run what
    /// only the lost past knows.
    Restore(JournalRestoreArguments),
}

const BACKUP_HELP: &str = "\
The copy has the journal as of one moment and all that it names: outputs, files, checkpoints, keys, settings. Into the folder \
of an earlier copy only what is new is copied. It is made on the coordinator's machine, by its user.

Examples:
  gleaner backup /mnt/backup/grid
  gleaner journal verify --home /mnt/backup/grid --files";

/// `gleaner backup`.
#[derive(Args, Debug)]
#[command(after_help = BACKUP_HELP)]
pub(crate) struct BackupArguments {
    /// The folder to make, or that of an earlier copy
    #[arg(value_name = "DIR")]
    pub(crate) to: PathBuf,
    /// The coordinator's folder
    #[arg(long, value_name = "DIR", env = "GLEANER_HOME")]
    pub(crate) home: Option<PathBuf>,
    /// Print what was copied as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `gleaner journal restore`.
#[derive(Args, Debug)]
pub(crate) struct JournalRestoreArguments {
    /// A copy of `gleaner.db`. Without it: the journal that is there, up to the first row that cannot be read
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Restore; without it, only say what would be lost
    #[arg(long)]
    pub(crate) yes: bool,
    /// Restore also the journal of another grid, of which no token and no machine of this one is known
    #[arg(long)]
    pub(crate) other_grid: bool,
    #[command(flatten)]
    pub(crate) of: JournalFolderArguments,
}

/// `gleaner journal compact`.
#[derive(Args, Debug)]
pub(crate) struct JournalCompactArguments {
    /// Only rows before this moment, as "2026-11-21 07:30:00" or in seconds since 1970 [default: 30 days ago]
    #[arg(long, value_name = "TIME", value_parser = parse_moment)]
    pub(crate) before: Option<f64>,
    /// Compact; without it, only say what would be dropped
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) of: JournalFolderArguments,
}

/// `gleaner journal verify`.
#[derive(Args, Debug)]
pub(crate) struct JournalVerifyArguments {
    #[command(flatten)]
    pub(crate) of: JournalFolderArguments,
    /// Read the files too, and check that their content is what it was: takes as long as reading them takes
    #[arg(long)]
    pub(crate) files: bool,
}

/// Which journal.
#[derive(Args, Debug)]
pub(crate) struct JournalFolderArguments {
    /// The coordinator's folder
    #[arg(long, value_name = "DIR", env = "GLEANER_HOME")]
    pub(crate) home: Option<PathBuf>,
    /// Print what was found as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

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
