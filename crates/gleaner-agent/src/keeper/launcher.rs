//! Which program launches confined tasks.
//!
//! **It is opened once, by the keeper as the agent starts, who hands it to the minders**: an upgrade may replace or remove both programs while the
//! agent runs, and keeper, minders and launcher must be of one version to understand each other.

use std::fs::{self, File};
use std::io;
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
