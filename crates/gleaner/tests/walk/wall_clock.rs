//! A wall clock that can be set for the processes of a test alone: by `libfaketime`, which answers whoever asks the C
//! library for the time of day. The clocks that nobody can set go on as they are.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

#[derive(Clone)]
pub(crate) struct WallClock(Rc<Dial>);

struct Dial {
    library: PathBuf,
    shows: PathBuf,
}

impl WallClock {
    /// One that is right, kept in a file of this folder.
    pub(crate) fn new(folder: &Path) -> Self {
        let library = find().expect("libfaketime: install it with scripts/install.sh test");
        let clock = Self(Rc::new(Dial { library, shows: folder.join("wall-clock") }));
        clock.set("+0");
        clock
    }

    /// Sets it, for all who look from now on: by how much it is ahead, as `+1d` or `-1d`.
    pub(crate) fn set(&self, ahead: &str) {
        let next = self.0.shows.with_extension("next");
        fs::write(&next, ahead).expect("a clock");
        fs::rename(next, &self.0.shows).expect("a clock");
    }

    /// Lets a command and all that it starts go by this clock.
    pub(crate) fn show_to(&self, command: &mut Command) {
        command.env("LD_PRELOAD", &self.0.library).env("FAKETIME_TIMESTAMP_FILE", &self.0.shows);
        for setting in ["FAKETIME_NO_CACHE", "FAKETIME_DONT_FAKE_MONOTONIC"] {
            command.env(setting, "1");
        }
    }
}

/// Debian puts it into a folder of the architecture's.
fn find() -> Option<PathBuf> {
    let folders = fs::read_dir("/usr/lib").ok()?.flatten();
    folders.map(|folder| folder.path().join("faketime/libfaketimeMT.so.1")).find(|file| file.exists())
}

impl Drop for Dial {
    /// The library leaves two names behind for each process that was killed.
    fn drop(&mut self) {
        let left = fs::read_dir("/dev/shm").into_iter().flatten().flatten();
        for path in left.map(|entry| entry.path()) {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let of = ["faketime_shm_", "sem.faketime_sem_"].iter().find_map(|kind| name.strip_prefix(kind));
            if of.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
                // Another test may have been quicker.
                let _ = fs::remove_file(path);
            }
        }
    }
}
