//! Which program launches confined tasks, and how it comes from the keeper to the minders.
//!
//! **It is opened once, by the keeper as the agent starts**: an upgrade may replace or remove both programs while the
//! agent runs, and keeper, minders and launcher must be of one version to understand each other.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// What the launcher's name has behind this program's.
const SUFFIX: &str = "-launch";
const OURSELVES: &str = "/proc/self/exe";

/// The small program beside this one, which starts in half the time; where there is none, this one can do it too.
pub(super) fn open() -> io::Result<File> {
    let ours = fs::read_link(OURSELVES)?;
    File::open(beside(&ours)).or_else(|_| File::open(OURSELVES))
}

fn beside(program: &Path) -> PathBuf {
    let mut path = program.as_os_str().to_owned();
    path.push(SUFFIX);
    path.into()
}

/// By what word a minder gets it from the keeper.
pub(super) fn word(launcher: &File) -> String {
    launcher.as_raw_fd().to_string()
}

/// The launcher that the keeper, which must be the parent, has open under this word.
pub(super) fn from_keeper(word: &str) -> io::Result<File> {
    let keeper = rustix::process::getppid().ok_or_else(|| io::Error::other("there is no keeper"))?;
    File::open(format!("/proc/{}/fd/{word}", keeper.as_raw_nonzero()))
}
