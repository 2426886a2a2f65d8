//! What is the matter with folders and files that a command was to work on: a mistake of who named them, or a fault.

use super::{Failure, is_mistake};
use crate::home;
use gleaner_server::backup::BackupError;
use gleaner_server::store::{CopyError, HomeError, OpenError, ReplaceError};
use std::path::Path;

fn told(message: String, is_mistake: bool) -> Failure {
    if is_mistake { Failure::Usage(message) } else { Failure::Coordinator(message) }
}

impl From<HomeError> for Failure {
    fn from(error: HomeError) -> Self {
        let is_mistake = match &error {
            HomeError::Locked { .. }
            | HomeError::Network { .. }
            | HomeError::NoFolder { .. }
            | HomeError::NotOurs(_) => true,
            HomeError::ReadOnly { .. } | HomeError::Io { .. } => false,
        };
        told(error.to_string(), is_mistake)
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        let is_mistake = match &error {
            OpenError::None { file } => {
                return Self::Usage(elsewhere(file).unwrap_or_else(|| error.to_string()));
            }
            OpenError::Newer { .. } | OpenError::Older { .. } | OpenError::Foreign { .. } => true,
            OpenError::Damaged { .. }
            | OpenError::Log { .. }
            | OpenError::Behind { .. }
            | OpenError::Gone { .. }
            | OpenError::DiskFull { .. }
            | OpenError::ReadOnly { .. }
            | OpenError::Io { .. } => false,
        };
        told(error.to_string(), is_mistake)
    }
}

/// Where the journal is that is not in a folder which only signs in to its coordinator.
fn elsewhere(file: &Path) -> Option<String> {
    let folder = file.parent()?;
    let address = home::signs_in_to(folder)?;
    Some(format!(
        "{} has no journal, since it only signs in to {address}: run this on that coordinator's machine, or with --home on a backup of \
         its folder; `gleaner advise --journal` and `gleaner replay` also read what `gleaner journal export` wrote there",
        folder.display()
    ))
}

impl From<ReplaceError> for Failure {
    fn from(error: ReplaceError) -> Self {
        match error {
            ReplaceError::Home(error) => error.into(),
            ReplaceError::Open(error) => error.into(),
            ReplaceError::Read(_) | ReplaceError::Commit(_) | ReplaceError::Io { .. } => {
                told(error.to_string(), false)
            }
        }
    }
}

impl From<BackupError> for Failure {
    fn from(error: BackupError) -> Self {
        let is_mistake = match error {
            BackupError::Open(error) => return error.into(),
            BackupError::InUse(_)
            | BackupError::OfAnotherGrid(_)
            | BackupError::OfAnotherVersion { .. }
            | BackupError::Within { .. }
            | BackupError::NoFolder(_)
            | BackupError::Others(_)
            | BackupError::Write { source: CopyError::DiskFull, .. } => true,
            BackupError::File { ref source, .. } => is_mistake(source.kind()),
            BackupError::UnderWay(_)
            | BackupError::Read(_)
            | BackupError::Recovery(_)
            | BackupError::Write { .. } => false,
        };
        told(error.to_string(), is_mistake)
    }
}
