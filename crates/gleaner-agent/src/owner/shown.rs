//! Whether a folder that the owner lets tasks read is shown to them now. It is looked at anew whenever a task starts: what is on the
//! way to it may be another user's, and lead elsewhere than it did when the rules were read.

use crate::keeper::{Input, TASK_FOLDER};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat, readlinkat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// Links on the way to a folder, as many as the kernel follows.
const LINKS_MAX: u32 = 40;
/// What the sandbox makes by itself, or shows anyway.
const OWN_PLACES: [&str; 13] = [
    "/bin", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/run", "/sbin", "/sys", "/tmp",
    "/usr",
];
/// The folder of root's own, which has the machine's keys.
const ROOTS: &str = "/root";

/// Why tasks do not see a folder.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Hidden {
    /// It is not there, or cannot be opened.
    #[error("is no folder here now")]
    Missing,
    /// Who made the link says where it leads.
    #[error("leads over another user's link")]
    Link,
    #[error("leads to {found}, which tasks are not shown", found = .0.display())]
    Elsewhere(PathBuf),
    /// The agent's own folder is in it, or it is in that.
    #[error("leads to the agent's own folder")]
    Agents,
}

/// The folder as a task may see it, for an agent whose folder is `home`.
pub(crate) fn look(folder: &Path, home: &Path) -> Result<Input, Hidden> {
    let missing = |_| Hidden::Missing;
    let opened = open(folder)?;
    let from = fs::read_link(format!("/proc/self/fd/{}", opened.as_raw_fd())).map_err(missing)?;
    let own = home.canonicalize().unwrap_or_else(|_| home.to_owned());
    if own.starts_with(&from) || from.starts_with(&own) {
        return Err(Hidden::Agents);
    }
    if !may_be_shown(&from) {
        return Err(Hidden::Elsewhere(from));
    }
    let about = fstat(&opened).map_err(|_| Hidden::Missing)?;
    Ok(Input { from, at: folder.to_owned(), known_as: Some((about.st_dev, about.st_ino)) })
}

/// Opens a folder, over links of root's and of this process's user only.
fn open(folder: &Path) -> Result<OwnedFd, Hidden> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let step = |at: &OwnedFd, part: &OsStr, more| openat(at, part, flags | more, Mode::empty());
    let mut at = openat(CWD, "/", flags, Mode::empty()).map_err(|_| Hidden::Missing)?;
    let mut left = backwards(folder);
    let mut links = 0;
    while let Some(part) = left.pop() {
        match step(&at, &part, OFlags::DIRECTORY) {
            Ok(next) => at = next,
            Err(Errno::NOTDIR | Errno::LOOP) if links < LINKS_MAX => {
                links += 1;
                let link = step(&at, &part, OFlags::empty()).map_err(|_| Hidden::Missing)?;
                let about = fstat(&link).map_err(|_| Hidden::Missing)?;
                if FileType::from_raw_mode(about.st_mode) != FileType::Symlink {
                    return Err(Hidden::Missing);
                }
                if ![0, rustix::process::geteuid().as_raw()].contains(&about.st_uid) {
                    return Err(Hidden::Link);
                }
                let target = readlinkat(&link, c"", Vec::new()).map_err(|_| Hidden::Missing)?;
                left.extend(backwards(Path::new(OsStr::from_bytes(target.to_bytes()))));
            }
            Err(_) => return Err(Hidden::Missing),
        }
    }
    Ok(at)
}

/// The parts of a path, the last first. One that begins at the root leads there from anywhere.
fn backwards(path: &Path) -> Vec<OsString> {
    path.components().rev().map(|part| part.as_os_str().to_owned()).collect()
}

/// Whether a folder can be shown in the sandbox where it is on the machine.
pub(super) fn may_be_shown(folder: &Path) -> bool {
    let mut parts = folder.components();
    let is_whole =
        parts.next() == Some(Component::RootDir) && parts.all(|part| matches!(part, Component::Normal(_)));
    let is_own = OWN_PLACES.into_iter().chain([TASK_FOLDER]).any(|place| folder.starts_with(place));
    is_whole && folder.parent().is_some() && folder != Path::new(ROOTS) && !is_own
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{lchown, symlink};

    #[test]
    fn links_lead_to_what_may_be_shown_only_and_are_nobody_elses() {
        // Not below /tmp, which no task is shown of the machine's.
        let within = tempfile::tempdir_in("/var/tmp").unwrap();
        let within = within.path().canonicalize().unwrap();
        let (home, data, lab) = (within.join("agent"), within.join("data"), within.join("lab"));
        fs::create_dir_all(home.join("tasks")).unwrap();
        fs::create_dir_all(data.join("deep")).unwrap();
        for (target, expected) in [
            (data.join("deep"), Ok(data.join("deep"))),
            ("data/../data/./deep".into(), Ok(data.join("deep"))),
            (home.clone(), Err(Hidden::Agents)),
            (home.join("tasks"), Err(Hidden::Agents)),
            (within.clone(), Err(Hidden::Agents)),
            ("/root".into(), Err(Hidden::Elsewhere("/root".into()))),
            ("/etc/ssl".into(), Err(Hidden::Elsewhere("/etc/ssl".into()))),
            ("/".into(), Err(Hidden::Agents)),
            (lab.clone(), Err(Hidden::Missing)),
            ("nosuch".into(), Err(Hidden::Missing)),
            ("/etc/passwd".into(), Err(Hidden::Missing)),
        ] {
            symlink(&target, &lab).unwrap();
            let found = look(&lab, &home).map(|input| (input.at, input.from));
            // Who is not root cannot look at /root.
            if rustix::process::geteuid().is_root() || target != Path::new("/root") {
                assert_eq!(found, expected.map(|from| (lab.clone(), from)), "{}", target.display());
            }
            fs::remove_file(&lab).unwrap();
        }
        symlink(&data, &lab).unwrap();
        assert!(look(&lab.join("deep"), &home).is_ok(), "a link on the way");
        if lchown(&lab, Some(65_534), None).is_err() {
            eprintln!("SKIPPED: only root can make another user's link");
            return;
        }
        assert_eq!(look(&lab, &home), Err(Hidden::Link));
        assert_eq!(look(&lab.join("deep"), &home), Err(Hidden::Link));
        std::os::unix::fs::chown(&data, Some(65_534), None).unwrap();
        assert!(look(&data, &home).is_ok(), "another user's folder may be shown");
    }
}
