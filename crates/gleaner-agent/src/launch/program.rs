//! Why a task's program does not start, in a sentence that names it: the same one with and without a sandbox.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

/// What a sentence has of a name, or of a list of folders.
const SHOWN_BYTES_MAX: usize = 1_000;

/// See the module.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// A bare name that no folder has.
    #[error("{0}: no such program in the task's PATH ({1})")]
    NotInPath(String, String),
    /// A path that leads nowhere.
    #[error("{0}: no such file where the task runs")]
    NotThere(String),
    /// A file whose first line, or whose header, names a program that is not there.
    #[error("{0}: what its first line, or its header, names to run it is not there")]
    NoInterpreter(String),
    /// A folder.
    #[error("{0}: it is a folder")]
    Folder(String),
    /// It has no permission to be executed.
    #[error("{0}: it may not be executed (`chmod +x` allows that)")]
    Forbidden(String),
    /// The kernel knows no such kind of program.
    #[error("{0}: it is no program that this machine can execute")]
    Unknown(String),
    /// Anything else.
    #[error("{0}: {1}")]
    Other(String, io::Error),
}

impl ProgramError {
    /// What the system's error means of a program that is found from `folder`; a bare name was looked for in `path`.
    pub(crate) fn of(program: &str, folder: &Path, path: &str, error: io::Error) -> Self {
        let (name, path) = (shortened(program), shortened(path));
        let found = fs::metadata(folder.join(program)).ok();
        match error.kind() {
            ErrorKind::NotFound if !program.contains('/') => Self::NotInPath(name, path),
            ErrorKind::NotFound if found.is_some() => Self::NoInterpreter(name),
            ErrorKind::NotFound | ErrorKind::NotADirectory => Self::NotThere(name),
            ErrorKind::PermissionDenied if found.is_some_and(|found| found.is_dir()) => Self::Folder(name),
            ErrorKind::PermissionDenied => Self::Forbidden(name),
            _ if error.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error()) => {
                Self::Unknown(name)
            }
            _ => Self::Other(name, error),
        }
    }
}

/// A name or a list of folders may be as long as its user likes.
fn shortened(text: &str) -> String {
    let end = text.floor_char_boundary(SHOWN_BYTES_MAX);
    if end < text.len() { format!("{}…", &text[..end]) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;

    #[test]
    fn each_mistake_has_its_sentence() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, content: &[u8], mode| {
            let path = folder.path().join(name);
            fs::write(&path, content).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            path.display().to_string()
        };
        let script = file("script", b"#!/no/such/shell\n", 0o755);
        let plain = file("plain", b"echo\n", 0o644);
        let binary = file("binary", b"\x7fELF and nothing more", 0o755);
        for (program, expected) in [
            (
                "no-such-program",
                "no-such-program: no such program in the task's PATH (/bin:/usr/bin)".to_owned(),
            ),
            ("./no/such", "./no/such: no such file where the task runs".to_owned()),
            (&script, format!("{script}: what its first line, or its header, names to run it is not there")),
            (&plain, format!("{plain}: it may not be executed (`chmod +x` allows that)")),
            ("/usr", "/usr: it is a folder".to_owned()),
            (&binary, format!("{binary}: it is no program that this machine can execute")),
        ] {
            let path = "/bin:/usr/bin";
            let error = Command::new(program).env_clear().env("PATH", path).spawn().unwrap_err();
            assert_eq!(ProgramError::of(program, Path::new("/"), path, error).to_string(), expected);
        }
        let long = "ä".repeat(100_000);
        let said = ProgramError::of(&long, Path::new("/"), &long, ErrorKind::NotFound.into()).to_string();
        assert!(said.len() < 3 * SHOWN_BYTES_MAX && said.contains("ä…"), "{}", said.len());
    }
}
