//! What runs left that is yet to be removed, or cannot be.

use super::{Home, HomeError, make_private};
use crate::beneath;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError};

/// Leftovers that are put aside: with as many as that the agent takes no new tasks, so that no more come.
const TROUBLE_MAX: usize = 16;
const TROUBLE: &str = "trouble";

impl Home {
    /// Removes what earlier runs left, as far as it can be. A task can leave so much that this takes hours.
    pub(crate) fn clear_leftovers(&self) {
        let trouble = self.folder.join(TROUBLE);
        for left in fs::read_dir(&trouble).into_iter().flatten().flatten() {
            let path = left.path();
            if let Err(why) = beneath::remove(&path)
                && self.trouble().insert(path.clone())
            {
                tracing::error!(%why, path = %path.display(), "what a task left cannot be removed: remove it by hand");
            }
        }
        let mut said = self.trouble();
        said.retain(|path| path.symlink_metadata().is_ok());
        let _ = fs::remove_dir(&trouble);
        drop(said);
        self.count_trouble();
    }

    /// Whether something is put aside.
    pub(crate) fn has_trouble(&self) -> bool {
        self.folder.join(TROUBLE).exists()
    }

    /// Whoever has this is the only one to put something aside, or to remove the folder for that.
    fn trouble(&self) -> MutexGuard<'_, BTreeSet<PathBuf>> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes the folder of a run. If it cannot be, what is left of it is put where it is in nobody's way.
    pub(crate) fn clear(&self, path: &Path) {
        let Err(why) = beneath::remove(path) else { return };
        let aside = match self.put_aside(path) {
            Ok(aside) => {
                let name = aside.display().to_string();
                self.trouble().insert(aside);
                name
            }
            Err(why) => why.to_string(),
        };
        tracing::error!(%why, path = %path.display(), aside, "what a task left cannot be removed: remove it by hand");
        self.count_trouble();
    }

    pub(super) fn put_aside(&self, path: &Path) -> Result<PathBuf, HomeError> {
        let trouble = self.folder.join(TROUBLE);
        let _alone = self.trouble();
        make_private(&trouble)?;
        let mut names = (1_u32..).map(|number| trouble.join(number.to_string()));
        let aside = names.find(|name| !name.exists()).expect("a number is free");
        fs::rename(path, &aside).map_err(|why| HomeError::File { path: path.to_owned(), why })?;
        Ok(aside)
    }

    /// Whether so much is put aside that no more may come.
    pub(crate) fn is_full_of_trouble(&self) -> bool {
        self.is_full_of_trouble.load(Ordering::Relaxed)
    }

    pub(super) fn count_trouble(&self) {
        let count = fs::read_dir(self.folder.join(TROUBLE)).map_or(0, Iterator::count);
        self.is_full_of_trouble.store(count >= TROUBLE_MAX, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_units::{RunId, TaskId};

    use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};
    use std::fs::File;

    #[test]
    fn what_is_put_aside_at_once_gets_names_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::open(folder.path()).unwrap();
        let lefts: Vec<PathBuf> =
            (0..64).map(|number| folder.path().join(format!("tasks/{number}"))).collect();
        for left in &lefts {
            fs::create_dir(left).unwrap();
        }
        std::thread::scope(|scope| {
            for part in lefts.chunks(8) {
                let home = &home;
                scope.spawn(move || part.iter().for_each(|left| drop(home.put_aside(left).unwrap())));
            }
        });
        assert_eq!(fs::read_dir(folder.path().join("trouble")).unwrap().count(), lefts.len());
        assert!(home.has_trouble());
        home.clear_leftovers();
        assert!(!home.has_trouble());
    }

    /// Only root can make a file that cannot be removed, and only some file systems know the mark.
    #[test]
    fn an_agent_starts_whatever_is_left_and_says_when_it_is_too_much() {
        let folder = tempfile::tempdir().unwrap();
        let marked = || {
            let home = Home::open(folder.path()).unwrap();
            let run = home.task(RunId { task: TaskId::new(1), number: 1 });
            fs::create_dir_all(run.join("a")).unwrap();
            let file = File::create(run.join("a/fast")).unwrap();
            let mark = ioctl_getflags(&file)
                .and_then(|flags| ioctl_setflags(&file, flags | IFlags::IMMUTABLE).map(|()| flags));
            mark.map(|flags| (home, file, flags))
        };
        let mut kept = Vec::new();
        for number in 1..=TROUBLE_MAX {
            let Ok((home, file, flags)) = marked() else {
                eprintln!("SKIPPED: no file can be made immutable here");
                return;
            };
            kept.push((file, flags));
            drop(home);
            let home = Home::open(folder.path()).unwrap();
            home.clear_leftovers();
            assert_eq!(fs::read_dir(folder.path().join("trouble")).unwrap().count(), number);
            assert_eq!(fs::read_dir(folder.path().join("tasks")).unwrap().count(), 0);
            assert_eq!(home.is_full_of_trouble(), number == TROUBLE_MAX);
        }
        for (file, flags) in kept {
            ioctl_setflags(&file, flags).unwrap();
        }
        let home = Home::open(folder.path()).unwrap();
        home.clear_leftovers();
        assert!(!folder.path().join("trouble").exists() && !home.is_full_of_trouble());
    }
}
