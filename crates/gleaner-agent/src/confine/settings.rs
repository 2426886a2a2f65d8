//! Copies of what programs need of `/etc`: a sandbox is shown their folder with one mount, and not each path with one of its own, by
//! which a task starts 2 to 3 ms sooner.
//!
//! - **What not everybody on the machine may read is not copied**: the agent may be root, and its tasks are not. Nor is what is
//!   neither a file nor a folder nor a link.
//! - **No task finds half a file**: each is written beside the copies, and renamed into its place. They are not synced, since each
//!   agent makes them anew when it starts. What somebody is writing on the machine itself may be copied as it is then: after a
//!   look that finds changes there is another one soon.
//! - Where they are not whole, since the disk has no room or the machine has too many, sandboxes are shown the machine's own paths one by
//!   one. That needs nothing of the disk, and tasks see the same.
//!
//! It is no task's folder that is looked through here, and nothing in it may be changed: [`crate::beneath`] opens what is closed.

use crate::beneath;
use gleaner_net::{Disk, FolderError, make_private};
use rustix::fs::OFlags;
use rustix::process::geteuid;
use std::collections::BTreeMap;
use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Where the settings are.
pub(super) const ETC: &str = "/etc";

/// What programs need of `/etc`; nothing here is secret.
pub(super) const SETTINGS: [&str; 13] = [
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/fonts",
    "/etc/group",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/etc/pki",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
];

/// What the network needs besides.
pub(super) const NETWORK_SETTINGS: [&str; 3] = ["/etc/hosts", "/etc/protocols", "/etc/services"];

/// Who is asked about names.
pub(super) const RESOLVERS: &str = "/etc/resolv.conf";

/// What others may do with a file or folder, as bits of its mode.
const READ: u32 = 0o004;
const ENTER: u32 = 0o001;

/// The most that is copied: some ten times what a machine has that has much.
const MOST: Most = Most { paths: 20_000, bytes: 64 << 20 };

/// Of what is free on the disk, the part that they take at most: little room is for tasks and their owner.
const PART_OF_DISK: u64 = 16;
/// What each takes of a disk besides what is in it, about.
const ENTRY_BYTES: u64 = 4 << 10;

#[derive(Clone, Copy)]
struct Most {
    paths: usize,
    bytes: u64,
}

/// Why there are no whole copies.
#[derive(Debug, thiserror::Error)]
enum SettingsError {
    #[error("{path}: {why}", path = path.display())]
    File { path: PathBuf, why: io::Error },
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error("there are more than {0} files and folders")]
    TooMany(usize),
    #[error("there are more than {0} bytes")]
    TooLarge(u64),
    #[error("the disk has little room left")]
    Short,
}

/// What is at a path below `/etc`.
#[derive(Debug, PartialEq, Eq)]
enum Entry {
    Folder,
    /// Where it is on the machine, and what changes with it.
    File(PathBuf, Sign),
    /// Where it leads.
    Link(PathBuf),
    /// Has nothing in it: here is mounted what only a task with a network sees.
    Empty,
}

/// What changes with what is in a file, and with who may read it: a file that is written to in its place does not change its
/// folder.
#[derive(Debug, PartialEq, Eq)]
struct Sign {
    is: (u64, u64),
    bytes: u64,
    changed: (i64, i64),
}

/// Each path below `/etc`; a folder comes before what is in it.
type Found = BTreeMap<PathBuf, Entry>;

/// The copies of an agent, as they are kept up to date.
#[derive(Debug)]
pub struct Settings {
    shown: PathBuf,
    is_whole: AtomicBool,
    is_changing: AtomicBool,
    copies: Mutex<Copies>,
}

impl Settings {
    /// Makes the copies in a folder of the agent's own, in place of all that is in it. Where that fails, it is said.
    pub fn make(within: &Path) -> Self {
        let copies = Copies::new(within);
        let shown = copies.shown.clone();
        let [is_whole, is_changing] = [false; 2].map(AtomicBool::new);
        let settings = Self { shown, is_whole, is_changing, copies: Mutex::new(copies) };
        settings.follow();
        settings
    }

    /// What a sandbox is shown as `/etc`; none while the copies are not whole.
    pub fn folder(&self) -> Option<&Path> {
        self.is_whole.load(Ordering::Relaxed).then_some(&*self.shown)
    }

    /// Whether the last look found changes: whoever makes them may not be done.
    pub(crate) fn is_changing(&self) -> bool {
        self.is_changing.load(Ordering::Relaxed)
    }

    /// Makes of the copies what the machine's settings are now. Takes as long as the disk does.
    pub(crate) fn follow(&self) {
        // Whoever has them is doing the same.
        let Ok(mut copies) = self.copies.try_lock() else { return };
        let followed = look(Path::new("/"), MOST).and_then(|found| copies.become_as(found));
        self.is_whole.store(followed.is_ok(), Ordering::Relaxed);
        self.is_changing.store(matches!(followed, Ok(true)), Ordering::Relaxed);
        let said = followed.err().map(|why| why.to_string());
        match &said {
            Some(why) if copies.said != said => tracing::warn!(
                why,
                "the machine's settings cannot be copied for tasks, which see its own: each starts some milliseconds later"
            ),
            None if copies.said.is_some() => {
                tracing::info!("the machine's settings are copied for tasks again");
            }
            Some(_) | None => {}
        }
        copies.said = said;
    }
}

impl Entry {
    fn bytes(&self) -> u64 {
        match self {
            Self::File(_, sign) => sign.bytes,
            Self::Folder | Self::Link(_) | Self::Empty => 0,
        }
    }
}

/// Whether a disk has room for so many copies, and as much again several times.
fn has_room(disk: Disk, count: u64, bytes: u64) -> bool {
    let room = count.saturating_mul(ENTRY_BYTES).saturating_add(bytes);
    room <= disk.free / PART_OF_DISK && disk.has_files(count.saturating_mul(PART_OF_DISK))
}

/// Looks at the settings of the machine with this root.
fn look(root: &Path, most: Most) -> Result<Found, SettingsError> {
    let mut found = Found::new();
    for at in NETWORK_SETTINGS.iter().chain([&RESOLVERS]) {
        found.insert(below_etc(at), Entry::Empty);
    }
    let mut open = Vec::new();
    for at in SETTINGS.map(below_etc) {
        let folders = at.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
        found.extend(folders.map(|folder| (folder.to_owned(), Entry::Folder)));
        open.extend(target(&root.join("etc").join(&at), root).map(|from| (at, from)));
    }
    let mut bytes = 0;
    while let Some((at, from)) = open.pop() {
        // What goes meanwhile is as if it had never been there.
        let Ok(about) = fs::symlink_metadata(&from) else { continue };
        let entry = if about.is_symlink() {
            let Ok(leads_to) = fs::read_link(&from) else { continue };
            Entry::Link(leads_to)
        } else if about.is_file() && others_may(&about, READ) {
            bytes += about.len();
            Entry::File(from, Sign::of(&about))
        } else if about.is_dir() && others_may(&about, READ | ENTER) {
            let Ok(names) = fs::read_dir(&from) else { continue };
            let room = most.paths.saturating_sub(found.len() + open.len());
            // One more than there is room for, which is then refused.
            let names = names.flatten().take(room + 1).map(|name| name.file_name());
            open.extend(names.map(|name| (at.join(&name), from.join(&name))));
            Entry::Folder
        } else {
            continue;
        };
        found.insert(at, entry);
        if found.len() + open.len() > most.paths {
            return Err(SettingsError::TooMany(most.paths));
        }
        if bytes > most.bytes {
            return Err(SettingsError::TooLarge(most.bytes));
        }
    }
    Ok(found)
}

fn below_etc(path: &str) -> PathBuf {
    Path::new(path).strip_prefix(ETC).expect("it is a path of /etc").to_owned()
}

/// Where a path leads, if everybody may go there: bubblewrap follows a link in what it mounts, and so is it here.
fn target(path: &Path, root: &Path) -> Option<PathBuf> {
    let target = path.canonicalize().ok()?;
    let mut way = target.ancestors().skip(1).take_while(|folder| *folder != root);
    let is_open = way.all(|folder| fs::metadata(folder).is_ok_and(|about| others_may(&about, ENTER)));
    is_open.then_some(target)
}

fn others_may(about: &Metadata, what: u32) -> bool {
    about.mode() & what == what
}

impl Sign {
    fn of(about: &Metadata) -> Self {
        Self {
            is: (about.dev(), about.ino()),
            bytes: about.len(),
            changed: (about.ctime(), about.ctime_nsec()),
        }
    }
}

#[derive(Debug)]
struct Copies {
    within: PathBuf,
    shown: PathBuf,
    /// Whether what an earlier agent left is gone.
    is_begun: bool,
    has: Found,
    /// Why they are not whole, as it was said.
    said: Option<String>,
}

impl Copies {
    fn new(within: &Path) -> Self {
        Self {
            within: within.to_owned(),
            shown: within.join("etc"),
            is_begun: false,
            has: Found::new(),
            said: None,
        }
    }

    /// Changes what is not as it was found, and says whether anything was not. What is no more goes first, so that a full disk does
    /// not keep it.
    fn become_as(&mut self, found: Found) -> Result<bool, SettingsError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |why| SettingsError::File { path, why }
        };
        if !self.is_begun || !self.shown.is_dir() {
            beneath::remove(&self.within).map_err(failed(&self.within))?;
            self.has.clear();
            make_private(&self.within, geteuid().as_raw())?;
            make_folder(&self.shown).map_err(failed(&self.shown))?;
            self.is_begun = true;
        }
        let is_folder = |entry: &Entry| *entry == Entry::Folder;
        let stays =
            |at: &Path, had: &Entry| found.get(at).is_some_and(|now| is_folder(now) == is_folder(had));
        let gone = self.has.iter().rev().filter(|(at, had)| !stays(at, had));
        let gone: Vec<_> = gone.map(|(at, _)| at.clone()).collect();
        let mut is_changed = !gone.is_empty();
        for at in gone {
            let path = self.shown.join(&at);
            let was_folder = self.has.get(&at).is_some_and(is_folder);
            let removed = if was_folder { fs::remove_dir(&path) } else { fs::remove_file(&path) };
            or_gone(removed).map_err(failed(&path))?;
            self.has.remove(&at);
        }
        let news = || found.iter().filter(|(at, entry)| self.has.get(*at) != Some(*entry));
        is_changed |= news().next().is_some();
        let bytes: u64 = news().map(|(_, entry)| entry.bytes()).sum();
        let disk = Disk::of(&self.shown).map_err(failed(&self.shown))?;
        if !has_room(disk, news().count() as u64, bytes) {
            return Err(SettingsError::Short);
        }
        for (at, entry) in found {
            if self.has.get(&at) != Some(&entry) {
                let path = self.shown.join(&at);
                self.put(&path, &entry).map_err(failed(&path))?;
                self.has.insert(at, entry);
            }
        }
        Ok(is_changed)
    }

    fn put(&self, path: &Path, entry: &Entry) -> io::Result<()> {
        let part = self.within.join("part");
        or_gone(fs::remove_file(&part))?;
        match entry {
            Entry::Folder => return make_folder(path),
            Entry::Link(leads_to) => symlink(leads_to, &part)?,
            Entry::Empty => write(&part, io::empty())?,
            Entry::File(from, sign) => match open_public(from)? {
                Some(file) => write(&part, file.take(sign.bytes))?,
                // It was closed, or went, since it was found: the next look finds it so.
                None => return or_gone(fs::remove_file(path)),
            },
        }
        fs::rename(&part, path)
    }
}

/// Opens a file, if it is one that everybody may read.
fn open_public(path: &Path) -> io::Result<Option<File>> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    match File::options().read(true).custom_flags(flags).open(path) {
        Ok(file) => {
            let about = file.metadata()?;
            Ok((about.is_file() && others_may(&about, READ)).then_some(file))
        }
        Err(why) if matches!(why.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) => {
            Ok(None)
        }
        Err(why) => Err(why),
    }
}

/// Makes a file that everybody may read, whatever the process takes from the permissions of what it makes.
fn write(path: &Path, mut from: impl Read) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    io::copy(&mut from, &mut file)?;
    file.set_permissions(Permissions::from_mode(0o644))
}

/// Makes a folder likewise. One that is there already is of a try that broke off.
fn make_folder(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)?;
    fs::set_permissions(path, Permissions::from_mode(0o755))
}

/// What is not there is removed.
fn or_gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

#[cfg(test)]
mod tests;
