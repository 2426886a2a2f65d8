//! The arguments of `gleaner backup`.

use clap::Args;
use std::path::PathBuf;

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
