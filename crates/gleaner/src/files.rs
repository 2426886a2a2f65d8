//! Files in a folder that a user named. Each is written beside its place and then renamed, so that the folder never
//! holds half a file.

use crate::failure::Failure;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A file that could not be written.
#[derive(Debug, Error)]
#[error("cannot write {}: {error}", path.display())]
pub(crate) struct WriteError {
    /// Which one.
    pub(crate) path: PathBuf,
    /// What the operating system said.
    #[source]
    pub(crate) error: io::Error,
}

impl From<WriteError> for Failure {
    fn from(WriteError { path, error }: WriteError) -> Self {
        Failure::io("write", &path, error)
    }
}

/// Makes the folder if need be, and tries whether a file can be written there.
pub(crate) fn check_writable(dir: &Path) -> Result<(), WriteError> {
    let probe = dir.join(".gleaner.part");
    let run = || {
        fs::create_dir_all(dir)?;
        File::create(&probe)?;
        fs::remove_file(&probe)
    };
    run().map_err(|error| WriteError { path: dir.to_owned(), error })
}

/// The folder that a file is in.
pub(crate) fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes a document of ours to a folder, which is made if need be.
pub(crate) fn write_json(dir: &Path, name: &str, document: &impl serde::Serialize) -> Result<(), WriteError> {
    let text = serde_json::to_string_pretty(document).expect("plain data can always be written to memory");
    write_text(dir, name, &(text + "\n"))
}

/// Writes a text to a folder, which is made if need be.
pub(crate) fn write_text(dir: &Path, name: &str, text: &str) -> Result<(), WriteError> {
    write_file(dir, name, |out| out.write_all(text.as_bytes()))
}

/// Writes a file to a folder, which is made if need be.
pub(crate) fn write_file(
    dir: &Path,
    name: &str,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), WriteError> {
    let path = dir.join(name);
    let beside = dir.join(format!(".{name}.part"));
    let run = || {
        fs::create_dir_all(dir)?;
        let mut out = BufWriter::with_capacity(1 << 16, File::create(&beside)?);
        write(&mut out)?;
        out.into_inner()?.sync_all()?;
        fs::rename(&beside, &path)
    };
    run().map_err(|error| {
        // What is left of a failed run is of no use; that it could not be removed either adds nothing.
        let _ = fs::remove_file(&beside);
        WriteError { path: path.clone(), error }
    })
}
