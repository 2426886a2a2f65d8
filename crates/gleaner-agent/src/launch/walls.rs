//! Landlock: a second wall around files, behind that of the mounts, and around signals and abstract sockets.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;

use landlock::{
    ABI, Access, AccessFs, AccessNet, LandlockStatus, PathBeneath, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

use super::LaunchError;
use super::instructions::Walls;
use crate::keeper::{Network, TASK_FOLDER};

/// The newest rules we know; an older kernel keeps as many of them as it can.
const ABI_WANTED: ABI = ABI::V6;

/// What a task may write to; all else that it sees it may read.
const WRITABLE: [&str; 3] = [TASK_FOLDER, "/tmp", "/dev"];

/// Builds the walls and says of which ABI they are (0: this kernel has no Landlock).
pub(super) fn build(walls: &Walls) -> Result<u8, LaunchError> {
    restrict(walls).map_err(|error| LaunchError::Landlock(error.to_string()))
}

fn restrict(walls: &Walls) -> Result<u8, RulesetError> {
    let mut ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(ABI_WANTED))?
        .scope(Scope::from_all(ABI_WANTED))?;
    if walls.network == Network::None {
        ruleset = ruleset.handle_access(AccessNet::from_all(ABI_WANTED))?;
    }
    let mut ruleset = ruleset
        .create()?
        .add_rules(path_beneath_rules(["/"], AccessFs::from_read(ABI_WANTED)))?
        .add_rules(path_beneath_rules(WRITABLE, AccessFs::from_all(ABI_WANTED)))?;
    // So that a script can open /dev/stdout again.
    for stream in [io::stdout().as_fd(), io::stderr().as_fd()].map(|stream| stream.try_clone_to_owned()) {
        if let Ok(stream) = stream.map(File::from)
            && stream.metadata().is_ok_and(|data| data.is_file())
        {
            ruleset = ruleset.add_rule(PathBeneath::new(stream, AccessFs::WriteFile | AccessFs::Truncate))?;
        }
    }
    let status = ruleset.restrict_self()?;
    Ok(match (status.ruleset, status.landlock) {
        (RulesetStatus::NotEnforced, _) => 0,
        (_, LandlockStatus::Available { effective_abi, .. }) => (effective_abi as u8).min(ABI_WANTED as u8),
        _ => 0,
    })
}
