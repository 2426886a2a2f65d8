//! The arguments of `gleaner journal`.

use crate::moments::parse_moment;
use clap::{Args, Subcommand};
use std::path::PathBuf;

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
    /// only the lost past knows. Users that were removed since, tokens that were replaced and machines that were revoked are let
    /// in again: they are listed.
    Restore(JournalRestoreArguments),
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
