//! Which program launches confined tasks, and how it comes from the keeper to the minders.
//!
//! **It is opened once, by the keeper as the agent starts**: an upgrade may replace or remove both programs while the
//! agent runs, and keeper, minders and launcher must be of one version to understand each other.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::process::{getpid, getppid};

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

/// By what word a minder gets it from the keeper: where that has it open.
pub(super) fn word(launcher: &File) -> String {
    format!("{}/{}", getpid(), launcher.as_raw_fd())
}

/// What the keeper, which must be the parent, has open under this word.
pub(super) fn from_keeper(word: &str) -> io::Result<File> {
    let (keeper, file) = word.split_once('/').ok_or_else(|| io::Error::other("not a keeper's word"))?;
    // The parent may be another by now, with something else under that number, which may be a pipe: opening it must not
    // wait for anyone, and what was opened counts only if the keeper was there still.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let launcher = rustix::fs::open(format!("/proc/{keeper}/fd/{file}"), flags, Mode::empty())?;
    match getppid() {
        Some(parent) if parent.to_string() == keeper => Ok(launcher.into()),
        Some(_) | None => Err(io::Error::other("the keeper is gone")),
    }
}
