//! A folder in which a program of ours keeps everything: nobody else may put anything there.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The permissions of a folder to which others may write, and the mark of one in which all do.
const OTHERS_WRITE: u32 = 0o022;
const SHARED: u32 = 0o1000;
const ROOT: u32 = 0;

/// Why a folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The system refused.
    #[error("{path}: {why}", path = path.display())]
    File {
        /// What it was about.
        path: PathBuf,
        /// What the system said.
        why: io::Error,
    },
    /// It is another user's.
    #[error(
        "{path} belongs to another user (of number {owner}): name a folder of your own with --home, or `chown` this one",
        path = path.display()
    )]
    Foreign {
        /// The folder, or the link to it.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
    },
    /// It is one that many users share, such as `/tmp`.
    #[error("{path} is a folder that all users share: name one of your own with --home", path = .0.display())]
    Shared(PathBuf),
    /// It was open to others, and one of them put something there.
    #[error(
        "{path} belongs to another user (of number {owner}), and is in a folder to which others could write: see what it \
         is, remove it, and start again",
        path = path.display()
    )]
    Planted {
        /// What is there.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
    },
}

/// Makes a folder that is nobody else's, if it is not there. One that is there has to be of the user `us`; it stays open to those whom
/// its owner lets read, and is closed to all others who could write. Whether it had to be closed.
pub fn make_private(path: &Path, us: u32) -> Result<bool, FolderError> {
    let failed = |why| FolderError::File { path: path.to_owned(), why };
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed)?;
    // Whoever made a link decides where it leads.
    let name = fs::symlink_metadata(path).map_err(failed)?.uid();
    let folder = File::open(path).map_err(failed)?;
    let about = folder.metadata().map_err(failed)?;
    let owner = if [us, ROOT].contains(&name) { about.uid() } else { name };
    if owner != us {
        return Err(FolderError::Foreign { path: path.to_owned(), owner });
    }
    if about.mode() & OTHERS_WRITE == 0 {
        return Ok(false);
    }
    if about.mode() & SHARED != 0 {
        return Err(FolderError::Shared(path.to_owned()));
    }
    // First closed, then looked through: nobody puts anything there meanwhile.
    let open = about.mode() & 0o7777;
    let permit = |mode| folder.set_permissions(Permissions::from_mode(mode)).map_err(failed);
    permit(open & !OTHERS_WRITE)?;
    for entry in fs::read_dir(path).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let owner = entry.metadata().map_err(failed)?.uid();
        if owner != us {
            // As it was, or the next start would take it for one that was never open.
            permit(open)?;
            return Err(FolderError::Planted { path: entry.path(), owner });
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{chown, lchown, symlink};

    const OTHER: u32 = 65_534;

    #[test]
    fn an_open_folder_is_closed_and_what_is_another_users_refused() {
        let scratch = tempfile::tempdir().unwrap();
        let us = fs::metadata(scratch.path()).unwrap().uid();
        let folder = |name: &str, mode| {
            let folder = scratch.path().join(name);
            fs::create_dir(&folder).unwrap();
            fs::set_permissions(&folder, Permissions::from_mode(mode)).unwrap();
            folder
        };
        for (name, mode, expected) in
            [("open", 0o777, 0o755), ("group", 0o2770, 0o2750), ("read", 0o755, 0o755), ("own", 0o700, 0o700)]
        {
            let folder = folder(name, mode);
            assert_eq!(make_private(&folder, us).unwrap(), mode != expected);
            assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o7777, expected, "{name}");
        }
        let shared = folder("shared", 0o1777);
        assert!(matches!(make_private(&shared, us), Err(FolderError::Shared(_))));
        assert_eq!(fs::metadata(&shared).unwrap().mode() & 0o7777, 0o1777);
        let link = scratch.path().join("link");
        symlink(scratch.path().join("own"), &link).unwrap();
        assert!(!make_private(&link, us).unwrap());
        let (foreign, planted) = (folder("foreign", 0o700), folder("planted", 0o777));
        fs::write(planted.join("rules.toml"), "").unwrap();
        let given = chown(&foreign, Some(OTHER), None)
            .and_then(|()| chown(planted.join("rules.toml"), Some(OTHER), None))
            .and_then(|()| lchown(&link, Some(OTHER), None));
        if given.is_err() {
            return eprintln!("SKIPPED in part: only root gives a folder to another user");
        }
        for path in [foreign, link] {
            assert!(matches!(make_private(&path, us), Err(FolderError::Foreign { owner: OTHER, .. })));
        }
        for _ in 0..2 {
            let Err(FolderError::Planted { path, .. }) = make_private(&planted, us) else {
                panic!("it was taken")
            };
            assert!(path.ends_with("rules.toml"));
        }
    }
}
