//! The folder with the journal, and what is wrong with it.

use crate::cli::JournalFolderArguments;
use crate::failure::Failure;
use crate::home;
use gleaner_server::store::{self, Home, NetworkFolder};

/// The folder with a journal in it, for this process alone. None is made.
pub(super) fn with_journal(of: &JournalFolderArguments) -> Result<Home, Failure> {
    let folder = home::folder(of.home.as_deref())?;
    store::expect_journal(&folder)?;
    Ok(Home::open(&folder, NetworkFolder::Refuse)?)
}

pub(crate) fn fault(error: impl std::fmt::Display) -> Failure {
    Failure::Coordinator(error.to_string())
}
