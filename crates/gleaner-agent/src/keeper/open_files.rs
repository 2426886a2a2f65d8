//! How many files agent and keeper may have open, and how many tasks.
//!
//! What holds many tasks has many files open: it takes as many as the system lets it. **A task gets the limit that the agent was
//! started with**: programs that know of no more than 1,024 files (`select`) go on as they did.

use std::env;
use std::process::Command;
use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// By what keeper and minders know the limit that tasks get. No task sees it: its environment is its own.
pub const OPEN_FILES: &str = "GLEANER_OPEN_FILES";

/// What each of a keeper's minders takes of its open files.
const OF_MINDER: u64 = 3;
/// Files that a keeper has open besides, or opens for a moment.
const SPARE: u64 = 16;

/// Lets this process have as many files open as it can get. Returns how many it might have at its start; no number is no limit.
pub(super) fn raise() -> Option<u64> {
    static BEFORE: OnceLock<Option<u64>> = OnceLock::new();
    *BEFORE.get_or_init(|| {
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        // A limit that cannot be raised stays as it is.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
        current
    })
}

/// Has a keeper know what tasks may have: what whoever started the agent says, or else what this process had.
pub(super) fn tell(keeper: &mut Command, before: Option<u64>) {
    if let Some(before) = before
        && env::var_os(OPEN_FILES).is_none()
    {
        keeper.env(OPEN_FILES, before.to_string());
    }
}

/// Gives a minder the limit that its tasks get: it has few files open itself.
pub(super) fn lower() {
    let before = env::var(OPEN_FILES).ok().and_then(|text| text.parse::<u64>().ok());
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if let Some(before) = before
        && current.is_none_or(|current| before < current)
    {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(before), maximum });
    }
}

/// How many minders a keeper can have.
pub(super) fn minders_max() -> u64 {
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    files.saturating_sub(SPARE) / OF_MINDER
}
