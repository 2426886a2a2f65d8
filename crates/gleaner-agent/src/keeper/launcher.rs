//! Which program launches confined tasks.
//!
//! **It is copied into memory once, by the keeper as the agent starts, who hands the copy to the minders**: an upgrade may replace or remove both
//! programs while the agent runs, and keeper, minders and launcher must be of one version to understand each other. The copy is sealed, so that
//! nothing that happens to the file changes what starts.

use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::fs::{MemfdFlags, OFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::io::Errno;

/// What the launcher's name has behind this program's.
const SUFFIX: &str = "-launch";
const OURSELVES: &str = "/proc/self/exe";

/// The small program beside this one, which starts in half the time; where there is none, or a damaged one, this one can do
/// it too. The kernel lets nobody write to this one while it runs.
pub(super) fn open() -> io::Result<File> {
    let path = beside(&fs::read_link(OURSELVES)?);
    let Ok(file) = open_at_once(&path) else { return File::open(OURSELVES) };
    let copy = match sealed(file) {
        Ok(copy) => copy,
        Err(why) => {
            eprintln!("{} cannot be copied into memory ({why}), and is not used", path.display());
            return File::open(OURSELVES);
        }
    };
    if let Err(why) = check(&copy) {
        // Seen in the agent's log.
        eprintln!("{} is damaged ({why}) and not used: install it again", path.display());
        return File::open(OURSELVES);
    }
    Ok(copy)
}

/// What is no file is opened at once too, not when somebody writes to it.
fn open_at_once(path: &Path) -> io::Result<File> {
    File::options().read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path)
}

/// A copy that nobody can change any more.
fn sealed(mut program: File) -> io::Result<File> {
    if !program.metadata()?.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let memory = match memfd_create("gleaner-launch", flags | MemfdFlags::EXEC) {
        // Kernels before 6.3 know no such flag: there any such file can be run.
        Err(Errno::INVAL) => memfd_create("gleaner-launch", flags)?,
        memory => memory?,
    };
    let mut copy = File::from(memory);
    io::copy(&mut program, &mut copy)?;
    copy.rewind()?;
    fcntl_add_seals(&copy, SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL)?;
    Ok(copy)
}

/// Whether it says what the launcher says to whoever starts it without instructions. Without the magic number it is not even
/// tried: bubblewrap would hand it to a shell.
fn check(mut file: &File) -> io::Result<()> {
    let mut magic = [0; 4];
    file.read_exact(&mut magic)?;
    file.rewind()?;
    if magic != *b"\x7fELF" {
        return Err(io::Error::other("it is no program"));
    }
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let mut command = Command::new(path);
    let said = command.env_clear().stdin(Stdio::null()).stdout(Stdio::null()).output()?.stderr;
    if String::from_utf8_lossy(&said).contains("instructions cannot be read") {
        Ok(())
    } else {
        Err(io::Error::other("it does not start"))
    }
}

fn beside(program: &Path) -> PathBuf {
    let mut path = program.as_os_str().to_owned();
    path.push(SUFFIX);
    path.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::Mode;
    use std::io::Write;

    #[test]
    fn what_is_no_launcher_is_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("launcher");
        let shell = fs::read("/bin/sh").unwrap();
        for (content, expected) in [
            (&b""[..], "failed to fill whole buffer"),
            (b"echo harm > harm", "it is no program"),
            (&shell[..shell.len() / 2], ""),
            (&shell, "it does not start"),
        ] {
            fs::write(&path, content).unwrap();
            let copy = sealed(File::open(&path).unwrap()).unwrap();
            let why = check(&copy).unwrap_err().to_string();
            assert!(why.contains(expected), "{why}");
        }
    }

    #[test]
    fn what_is_no_file_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("launcher");
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, Mode::RWXU, 0).unwrap();
        let why = sealed(open_at_once(&path).unwrap()).unwrap_err().to_string();
        assert!(why.contains("it is no file"), "{why}");
    }

    #[test]
    fn nobody_writes_to_the_copy() {
        let mut copy = sealed(File::open("/bin/sh").unwrap()).unwrap();
        assert!(copy.write_all(b"harm").is_err());
        assert!(copy.set_len(4).is_err());
        let mut kept = Vec::new();
        copy.read_to_end(&mut kept).unwrap();
        assert_eq!(kept, fs::read("/bin/sh").unwrap());
    }
}
