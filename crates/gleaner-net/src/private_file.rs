//! Files with secrets in them: only their owner may read them, and they appear whole or not at all.
//!
//! A new file is written beside its place, synced, and then linked to its name only if that is still free: of two
//! processes that make the same key at once, both end up with the key of the first.

use std::fs::{DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::open_file;

/// A key in PEM takes a few hundred bytes; a file far beyond that is something else.
const FILE_MAX_BYTES: u64 = 64 * 1024;

/// Why a file with a secret could not be read or made.
#[derive(Debug, thiserror::Error)]
pub enum PrivateFileError {
    /// The system refused.
    #[error("cannot {doing} {path}: {why}", path = path.display())]
    Io {
        /// What was being done.
        doing: &'static str,
        /// To which file or folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        why: io::Error,
    },
    /// Others may read it, so what it holds may be known to them.
    #[error("{path} can be read by others (mode {mode:03o}): run `chmod 600` on it if its secret is still one, or \
             delete it to have a new one made", path = path.display())]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// It is too large to be what it should be.
    #[error("{path} is larger than {FILE_MAX_BYTES} bytes, which no key is", path = path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
}

/// What the file at `path` holds; `make` fills it first if there is none. Its folder is made too, for the owner only.
pub(crate) fn read_or_create<E: From<PrivateFileError>>(
    path: &Path,
    make: impl FnOnce() -> Result<Vec<u8>, E>,
) -> Result<Vec<u8>, E> {
    if let Some(content) = read_private(path)? {
        return Ok(content);
    }
    create(path, &make()?)?;
    // Read again, for another process may have been first.
    let content = read_private(path)?;
    Ok(content.ok_or_else(|| failed("read", path)(io::ErrorKind::NotFound.into()))?)
}

/// What the file at `path` holds; none if there is no file. One that others can read is refused.
pub fn read_private(path: &Path) -> Result<Option<Vec<u8>>, PrivateFileError> {
    let file = match open_file(path) {
        Ok(file) => file,
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(why) => return Err(failed("open", path)(why)),
    };
    let mode = file.metadata().map_err(failed("look at", path))?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(PrivateFileError::Exposed { path: path.into(), mode });
    }
    let mut content = Vec::new();
    file.take(FILE_MAX_BYTES + 1).read_to_end(&mut content).map_err(failed("read", path))?;
    if content.len() as u64 > FILE_MAX_BYTES {
        return Err(PrivateFileError::TooLarge { path: path.into() });
    }
    Ok(Some(content))
}

fn create(path: &Path, content: &[u8]) -> Result<(), PrivateFileError> {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(failed("make the folder", folder))?;
    // Temporary files are made with mode 0600, and go away by themselves if this fails.
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed("write in", folder))?;
    file.write_all(content).map_err(failed("write", path))?;
    file.as_file().sync_all().map_err(failed("sync", path))?;
    match file.persist_noclobber(path) {
        Ok(_) => {}
        Err(refusal) if refusal.error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(refusal) => return Err(failed("write", path)(refusal.error)),
    }
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed("sync", folder))
}

fn failed(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> PrivateFileError {
    move |why| PrivateFileError::Io { doing, path: path.into(), why }
}

#[cfg(test)]
mod tests {
    use super::{PrivateFileError, read_or_create};
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    fn mode(path: &std::path::Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn the_first_content_stays_and_is_for_the_owner_only() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("keys/agent.key");
        for content in ["first", "second"] {
            let read = read_or_create::<PrivateFileError>(&path, || Ok(content.into())).unwrap();
            assert_eq!(read, b"first");
        }
        assert_eq!((mode(path.parent().unwrap()), mode(&path)), (0o700, 0o600));
        assert_eq!(
            fs::read_dir(path.parent().unwrap()).unwrap().count(),
            1,
            "nothing else is left in the folder"
        );
    }

    #[test]
    fn whoever_comes_second_takes_the_first_ones_file() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("agent.key");
        let read = read_or_create::<PrivateFileError>(&path, || {
            super::create(&path, b"other process")?;
            Ok(b"mine".into())
        });
        assert_eq!(read.unwrap(), b"other process");
    }

    #[test]
    fn a_file_that_others_can_read_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("agent.key");
        fs::write(&path, "secret").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        let refusal = read_or_create::<PrivateFileError>(&path, || unreachable!()).unwrap_err();
        assert!(matches!(refusal, PrivateFileError::Exposed { mode: 0o640, .. }), "{refusal}");
    }

    /// A start would wait for whoever writes to it.
    #[test]
    fn a_pipe_in_place_of_a_key_is_refused_by_name() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("agent.key");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let refusal = read_or_create::<PrivateFileError>(&path, || unreachable!()).unwrap_err().to_string();
        assert!(refusal.contains("agent.key: it is a pipe, and no file: move it away"), "{refusal}");
    }

    #[test]
    fn a_file_that_is_too_large_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("agent.key");
        fs::write(&path, vec![b'x'; 70_000]).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        let refusal = read_or_create::<PrivateFileError>(&path, || unreachable!()).unwrap_err();
        assert!(matches!(refusal, PrivateFileError::TooLarge { .. }), "{refusal}");
    }
}
