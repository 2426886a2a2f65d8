//! Files in a folder that a user named. Each is written beside its place and then renamed, so that the folder never
//! holds half a file.

use crate::failure::Failure;
use gleaner_net::replace_file;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// As of any program's files.
const MODE: u32 = 0o666;

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

/// Refuses to write over the file that is read, by whatever name. The folder that is written to is made if need be: until then
/// nobody knows where a name leads.
pub(crate) fn check_is_not_read(option: &str, written: &Path, read: &Path) -> Result<(), Failure> {
    let dir = folder_of(written);
    fs::create_dir_all(dir).map_err(|error| WriteError { path: dir.to_owned(), error })?;
    let (Ok(one), Ok(other)) = (fs::metadata(written), fs::metadata(read)) else { return Ok(()) };
    if one.is_file() && (one.dev(), one.ino()) == (other.dev(), other.ino()) {
        let written = written.display();
        return Err(Failure::Usage(format!(
            "{option}: found {written}, which is the file that is read; expected another"
        )));
    }
    Ok(())
}

/// Makes the folder if need be, unless something else has its name, and tries whether a file can be written there.
pub(crate) fn check_writable(dir: &Path) -> Result<(), WriteError> {
    let probe = dir.join(".gleaner.part");
    let run = || {
        if fs::metadata(dir).is_ok_and(|there| !there.is_dir()) {
            return Err(io::Error::new(io::ErrorKind::NotADirectory, "found a file; expected a folder"));
        }
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

/// Writes a file to a folder, which is made if need be. What is there and is no regular file, as a pipe or a device, is written
/// to and stays; a link stays too, and the file that it leads to is replaced.
pub(crate) fn write_file(
    dir: &Path,
    name: &str,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), WriteError> {
    let path = dir.join(name);
    let run = || {
        fs::create_dir_all(dir)?;
        match fs::metadata(&path) {
            Ok(there) if there.is_file() => replace_file(&fs::canonicalize(&path)?, MODE, write),
            Ok(_) => write_into(&path, write),
            // A link to a file that is not there yet makes it.
            Err(_) if path.is_symlink() => write_into(&path, write),
            Err(_) => replace_file(&path, MODE, write),
        }
    };
    run().map_err(|error| WriteError { path: path.clone(), error })
}

fn write_into(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, File::create(path)?);
    write(&mut out)?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{FileTypeExt, symlink};
    use std::process::Command;

    #[test]
    fn what_is_no_regular_file_stays_what_it_is() {
        let dir = tempfile::tempdir().expect("a folder");
        let at = |name: &str| dir.path().join(name);
        fs::write(at("real"), "before").expect("a file");
        symlink(at("real"), at("link")).expect("a link");
        symlink(at("new"), at("dangling")).expect("a link");
        for name in ["link", "dangling"] {
            write_text(dir.path(), name, "after").expect("it is written");
            assert!(at(name).is_symlink(), "{name}");
        }
        for name in ["real", "new"] {
            assert_eq!(fs::read_to_string(at(name)).expect("a file"), "after", "{name}");
        }
        assert!(Command::new("mkfifo").arg(at("pipe")).status().expect("it runs").success());
        let pipe = at("pipe");
        let reader = std::thread::spawn(move || fs::read_to_string(pipe).expect("a reader"));
        write_text(dir.path(), "pipe", "through").expect("it is written");
        assert_eq!(reader.join().expect("no panic"), "through");
        assert!(fs::metadata(at("pipe")).expect("it is there").file_type().is_fifo());
    }

    #[test]
    fn a_file_that_is_read_is_known_by_any_name() {
        let dir = tempfile::tempdir().expect("a folder");
        let at = |name: &str| dir.path().join(name);
        for name in ["a", "b"] {
            fs::write(at(name), "").expect("a file");
        }
        symlink(at("a"), at("soft")).expect("a link");
        fs::hard_link(at("a"), at("hard")).expect("a link");
        for (written, is_refused) in
            [("a", true), ("./a", true), ("soft", true), ("hard", true), ("b", false), ("new", false)]
        {
            assert_eq!(check_is_not_read("--out", &at(written), &at("a")).is_err(), is_refused, "{written}");
        }
        // A folder that is not there yet is no reason to take it for another.
        assert!(check_is_not_read("--out", &at("fresh/../a"), &at("a")).is_err());
        let null = Path::new("/dev/null");
        assert!(check_is_not_read("--out", null, null).is_ok(), "nothing is lost there");
    }

    #[test]
    fn a_file_is_no_folder_to_write_to() {
        let dir = tempfile::tempdir().expect("a folder");
        let (file, fresh) = (dir.path().join("s.toml"), dir.path().join("fresh"));
        fs::write(&file, "").expect("a file");
        let refused = check_writable(&file).expect_err("a file").to_string();
        assert_eq!(refused, format!("cannot write {}: found a file; expected a folder", file.display()));
        assert!(check_writable(&fresh).is_ok() && fresh.is_dir());
    }

    #[test]
    fn a_file_that_cannot_be_written_whole_leaves_the_one_before() {
        let dir = tempfile::tempdir().expect("a folder");
        write_text(dir.path(), "a", "whole").expect("it is written");
        let failing = write_file(dir.path(), "a", |out| {
            out.write_all(b"half")?;
            Err(io::Error::other("no more"))
        });
        assert!(failing.is_err());
        assert_eq!(fs::read_to_string(dir.path().join("a")).expect("a file"), "whole");
        assert_eq!(fs::read_dir(dir.path()).expect("a folder").count(), 1, "nothing else is left");
    }
}
