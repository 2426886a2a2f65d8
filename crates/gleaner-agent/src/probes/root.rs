//! The folder that the machine is read from.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::io::Errno;

use super::error::ProbeError;
use super::text::Text;

/// The longest file that is read: `/proc/stat` of a machine with thousands of interrupts has 100 KiB.
const FILE_MAX: u64 = 1 << 20;
/// The most entries of a folder that are listed.
const ENTRIES_MAX: usize = 4096;

/// Where `/proc`, `/sys`, `/run` and `/dev` are found: `/` in life, a recorded tree in tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root(PathBuf);

impl Root {
    /// The tree below `folder`.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    /// Where this tree has the machine's `absolute` path.
    pub(crate) fn path(&self, absolute: &str) -> PathBuf {
        self.0.join(absolute.trim_start_matches('/'))
    }

    /// The whole of a file; `None` where there is none or this machine cannot answer.
    pub(crate) fn read(&self, absolute: &str) -> Result<Option<Text>, ProbeError> {
        let path = self.path(absolute);
        let mut bytes = Vec::new();
        let read = File::open(&path).and_then(|file| file.take(FILE_MAX + 1).read_to_end(&mut bytes));
        match read {
            Ok(length) if length as u64 > FILE_MAX => {
                Err(ProbeError::TooLong { file: path, limit: FILE_MAX })
            }
            Ok(_) => Ok(Some(Text::new(path, String::from_utf8_lossy(&bytes).into_owned()))),
            Err(error) if means_absent(&error) => Ok(None),
            Err(source) => Err(ProbeError::Unreadable { file: path, source }),
        }
    }

    /// The names in a folder, in order; none where there is no folder.
    pub(crate) fn list(&self, absolute: &str) -> Result<Vec<String>, ProbeError> {
        let folder = self.path(absolute);
        let mut names = match names_in(&folder) {
            Ok(names) => names,
            Err(error) if means_absent(&error) => return Ok(Vec::new()),
            Err(source) => return Err(ProbeError::Unreadable { file: folder, source }),
        };
        if names.len() > ENTRIES_MAX {
            return Err(ProbeError::TooMany { folder, limit: ENTRIES_MAX });
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Whether the folder is there.
    pub(crate) fn has_folder(&self, absolute: &str) -> bool {
        self.path(absolute).is_dir()
    }

    /// When a file was last read from; for a terminal, when somebody last typed.
    pub(crate) fn accessed(&self, absolute: &str) -> Option<SystemTime> {
        fs::metadata(self.path(absolute)).and_then(|metadata| metadata.accessed()).ok()
    }
}

fn names_in(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)?.take(ENTRIES_MAX + 1) {
        // A name that is not UTF-8 is none of those that the kernel or systemd gives.
        names.extend(entry?.file_name().into_string());
    }
    Ok(names)
}

/// A file that is missing or not ours to read, a process that has just ended, pressure accounting that was not
/// compiled in, a sensor that is asleep: the machine has no answer, and nobody did anything wrong.
fn means_absent(error: &io::Error) -> bool {
    if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::PermissionDenied) {
        return true;
    }
    let silent = [
        Errno::SRCH,
        Errno::OPNOTSUPP,
        Errno::NODEV,
        Errno::NODATA,
        Errno::AGAIN,
        Errno::INVAL,
        Errno::NXIO,
        Errno::IO,
    ];
    Errno::from_io_error(error).is_some_and(|errno| silent.contains(&errno))
}
