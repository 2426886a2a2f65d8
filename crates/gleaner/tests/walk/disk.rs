//! A small disk that can be filled, and a folder that is shown by a program.

use crate::processes::signal;
use rustix::process::Signal;
use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use tempfile::TempDir;

/// In memory, unmounted when dropped: declare it before what uses it.
pub(crate) struct SmallDisk {
    folder: TempDir,
}

impl SmallDisk {
    /// One that holds so much.
    pub(crate) fn new(mebibytes: u32) -> Self {
        Self::with(&format!("size={mebibytes}m"))
    }

    /// One that holds so much, and so many files.
    pub(crate) fn with_inodes(mebibytes: u32, inodes: u32) -> Self {
        Self::with(&format!("size={mebibytes}m,nr_inodes={inodes}"))
    }

    fn with(bounds: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("gleaner-disk-").tempdir().expect("a folder");
        let made = Self { folder };
        mount(&["-t", "tmpfs", "-o", &format!("{bounds},mode=0700"), "none"], made.path());
        made
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Nothing can be written to it from now on.
    pub(crate) fn protect(&self) {
        mount(&["-o", "remount,ro"], self.path());
    }

    /// Takes all room that is left, also what others gave back since the last time.
    pub(crate) fn fill(&self) {
        let mut file = fs::File::options().append(true).create(true).open(self.filler()).expect("a file");
        for size in [1 << 16, 1 << 12, 1] {
            while file.write_all(&vec![0; size]).is_ok() {}
        }
    }

    /// Takes what is left but so much.
    pub(crate) fn fill_but(&self, mebibytes: u64) {
        let disk = rustix::fs::statvfs(self.path()).expect("a disk");
        let taken = (disk.f_bavail * disk.f_frsize).saturating_sub(mebibytes << 20);
        let mut file = fs::File::options().append(true).create(true).open(self.filler()).expect("a file");
        file.write_all(&vec![0; taken as usize]).expect("there is so much room");
    }

    /// It can hold no more files than so many from now on.
    pub(crate) fn take_inodes_but(&self, left: u64) {
        fs::create_dir_all(self.inodes()).expect("a folder");
        let free = || rustix::fs::statvfs(self.path()).expect("a disk").f_favail;
        for number in 0.. {
            if free() <= left || fs::File::create(self.inodes().join(number.to_string())).is_err() {
                break;
            }
        }
    }

    /// Gives them back.
    pub(crate) fn give_inodes_back(&self) {
        fs::remove_dir_all(self.inodes()).expect("they were taken");
    }

    fn inodes(&self) -> PathBuf {
        self.path().join("inodes")
    }

    /// Gives it back.
    pub(crate) fn clear(&self) {
        fs::remove_file(self.filler()).expect("it was full");
    }

    fn filler(&self) -> PathBuf {
        self.path().join("filler")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        unmount(self.path());
    }
}

/// A folder seen through FUSE. Unmounted when dropped: declare it before what uses it.
pub(crate) struct Mounted(TempDir);

impl Mounted {
    /// Shows another folder as it is; `None` where this machine has no way to.
    pub(crate) fn by_a_program(shown: &Path) -> Option<Self> {
        let at = tempfile::Builder::new().prefix("gleaner-fuse-").tempdir().expect("a folder");
        let mounted = Command::new("bindfs").arg(shown).arg(at.path()).output().ok()?;
        mounted.status.success().then(|| Self(at))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        unmount(self.path());
    }
}

/// A disk that can hang: a folder seen through FUSE, by a program that can be stopped. Unmounted when dropped.
pub(crate) struct HangingDisk {
    mounted: Mounted,
    shown_by: Child,
}

impl HangingDisk {
    /// Shows another folder; `None` where this machine has no way to.
    pub(crate) fn showing(shown: &Path) -> Option<Self> {
        let at = tempfile::Builder::new().prefix("gleaner-fuse-").tempdir().expect("a folder");
        let device = |path: &Path| fs::metadata(path).map(|data| data.dev()).ok();
        let before = device(at.path());
        let mut shown_by = Command::new("bindfs").arg("-f").arg(shown).arg(at.path()).spawn().ok()?;
        let mounted = Mounted(at);
        let patience = std::time::Duration::from_secs(10);
        let came = crate::processes::until("the folder is shown, or not", patience, || {
            let ended = shown_by.try_wait().expect("it is ours").is_some();
            (ended || device(mounted.path()) != before).then_some(!ended)
        });
        came.then_some(Self { mounted, shown_by })
    }

    pub(crate) fn path(&self) -> &Path {
        self.mounted.path()
    }

    /// Whoever uses it waits.
    pub(crate) fn hang(&self) {
        signal(self.shown_by.id(), Signal::STOP);
    }

    pub(crate) fn go_on(&self) {
        signal(self.shown_by.id(), Signal::CONT);
    }
}

impl Drop for HangingDisk {
    fn drop(&mut self) {
        self.go_on();
        let _ = self.shown_by.kill();
        let _ = self.shown_by.wait();
    }
}

fn mount(arguments: &[&str], at: &Path) {
    let output = Command::new("mount").args(arguments).arg(at).output().expect("the command mount");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "a small disk cannot be mounted: {said}; run the walk as root");
}

/// What still uses it loses it as soon as it ends.
fn unmount(at: &Path) {
    let unmounted = Command::new("umount").arg("--lazy").arg(at).status();
    if !unmounted.is_ok_and(|status| status.success()) {
        eprintln!("{} stays mounted", at.display());
    }
}
