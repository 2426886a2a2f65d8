//! The folder in which an agent keeps everything.
//!
//! ```text
//! lock            held by the agent that uses the folder, with its process
//! runs.lock       held by its keeper too, so that no agent starts before the runs of the one before have ended
//! agent.key       its key; never leaves the machine
//! identity.json   who it is, and with whom it is enrolled
//! met.json        which coordinator it was with last
//! starts          how often an agent was started in it
//! speeds.json     how fast the machine was measured to be
//! rules.toml      its owner's rules, if they wrote some
//! by_hand.json    what its owner said by hand and has not taken back
//! signed          which signed tasks it has run
//! owner.sock      where its owner says something by hand
//! cache/          inputs, by their hashes
//! settings/       copies of what sandboxed tasks see of /etc
//! pipes/          what running programs write goes through these
//! tasks/          a folder for each run, and what its program has written
//! kept/           which of them the coordinator has not taken yet
//! trouble/        what runs left that is yet to be removed, or cannot be
//! ```
//!
//! **Whatever tasks leave, an agent starts**, and at once: it puts aside what there is, and removes it as it works. **What the
//! coordinator has yet to take stays** (`home/kept.rs`).

mod kept;
mod leftovers;
mod orphans;
mod remembered;

pub(crate) use kept::{NotKept, Record};
pub(crate) use orphans::VARIABLE as ORPHANS_VARIABLE;
pub use remembered::Identity;

use crate::allowance::is_full;
use crate::beneath;
use gleaner_net::{FolderError, replace_file};
use gleaner_units::RunId;
use gleaner_wire::limits::OUTPUT_BYTES_MAX;
use gleaner_wire::session::Stream;
use rustix::fs::{FlockOperation, flock};
use rustix::process::geteuid;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

/// How long the runs of an agent that was killed may take to end.
const RUNS_END_S: u64 = 30;

/// How long a lock may outlast its agent: a process that the agent was just starting has it until it runs its program.
const LOCK_OUTLASTS: Duration = Duration::from_secs(1);

/// A process is named in fewer bytes.
const PID_TEXT_MAX: u64 = 16;
/// Bytes of the end that are kept of output that is too long. They are in memory until its run is over.
pub(crate) const END_BYTES: usize = 64 << 10;
/// Bytes of its beginning, so that the end and the line between them have room.
pub(crate) const BEGINNING_BYTES: u64 = OUTPUT_BYTES_MAX - END_BYTES as u64 - 256;

/// Why the folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    /// The system refused.
    #[error("{path}: {why}{advice}", path = path.display(), advice = advice(why))]
    File {
        /// What it was about.
        path: PathBuf,
        /// What the system said.
        why: io::Error,
    },
    /// It is not the agent's alone.
    #[error(transparent)]
    NotOurs(FolderError),
    /// Another agent uses it.
    #[error(
        "{path} is in use by another agent{process}; give this one a folder of its own, or stop that one",
        path = .0.display(),
        process = .1.map_or_else(String::new, |pid| format!(" (process {pid})"))
    )]
    InUse(PathBuf, Option<u32>),
    /// An earlier agent is gone, but not what it ran.
    #[error(
        "{path}: what an earlier agent ran has not ended within {RUNS_END_S} s; end the processes called \
         `gleaner keeper` and start again",
        path = .0.display()
    )]
    StillRuns(PathBuf),
    /// A file of it holds something else than it should.
    #[error("{path} cannot be read: {why}; move the folder away and join again", path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

/// What to do where a disk takes nothing.
fn advice(why: &io::Error) -> &'static str {
    match why.kind() {
        _ if is_full(why) => ": free some space, and start again",
        io::ErrorKind::ReadOnlyFilesystem => {
            ": mend the disk, or choose another folder with --home, and start again"
        }
        _ => "",
    }
}

/// An agent's folder, locked for as long as this lives.
#[derive(Debug)]
pub struct Home {
    folder: PathBuf,
    _locks: [File; 2],
    runs: File,
    is_full_of_trouble: AtomicBool,
    /// Of what is put aside, that which was said to be.
    trouble: Mutex<BTreeSet<PathBuf>>,
}

impl Home {
    /// Opens the folder, which is made if it is not there, and clears it of the runs of an agent that was killed.
    pub fn open(folder: &Path) -> Result<Self, HomeError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |why| HomeError::File { path, why }
        };
        make_private(folder)?;
        let in_use = || HomeError::InUse(folder.into(), pid_in(&folder.join("lock")));
        // The file says by whom. Who removes it lets nobody in.
        let whole = File::open(folder).map_err(failed(folder))?;
        let whole = lock((whole, folder), LOCK_OUTLASTS)?.ok_or_else(in_use)?;
        let own = lock_file(&folder.join("lock"), LOCK_OUTLASTS)?.ok_or_else(in_use)?;
        // Whoever finds the folder in use is told by whom; without it they are told less.
        let _ = own.set_len(0).and_then(|()| own.write_all_at(std::process::id().to_string().as_bytes(), 0));
        let runs = lock_file(&folder.join("runs.lock"), Duration::from_secs(RUNS_END_S))?;
        let runs = runs.ok_or_else(|| HomeError::StillRuns(folder.into()))?;
        let folder = folder.canonicalize().map_err(failed(folder))?;
        let orphans = orphans::end(&folder);
        if orphans > 0 {
            tracing::warn!(orphans, "ended processes of tasks that outlived an earlier agent");
        }
        let is_full_of_trouble = AtomicBool::new(false);
        let trouble = Mutex::default();
        let home = Self { folder, _locks: [whole, own], runs, is_full_of_trouble, trouble };
        home.put_runs_aside()?;
        Ok(home)
    }

    /// Puts aside what runs have here while none goes on, but for what the coordinator has yet to take.
    fn put_runs_aside(&self) -> Result<(), HomeError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |why| HomeError::File { path, why }
        };
        let (tasks, pipes) = (self.folder.join("tasks"), self.folder.join("pipes"));
        beneath::remove(&pipes).map_err(failed(&pipes))?;
        self.take_kept_out();
        match fs::remove_dir(&tasks) {
            Err(why) if why.kind() != io::ErrorKind::NotFound => match self.put_aside(&tasks) {
                // What fills the disk may be in there.
                Err(HomeError::File { why, .. }) if is_full(&why) => {
                    beneath::remove(&tasks).map_err(failed(&tasks))?;
                }
                aside => drop(aside?),
            },
            Ok(()) | Err(_) => {}
        }
        let folders = [tasks, pipes, self.cache()];
        let make = || folders.iter().try_for_each(|path| make_private(path));
        match make() {
            Err(HomeError::File { why, .. }) if is_full(&why) => {
                self.clear_leftovers();
                make()?;
            }
            made => made?,
        }
        self.put_kept_back();
        self.count_trouble();
        Ok(())
    }

    /// Removes what runs left, as the next start would, where there may be none.
    pub(crate) fn leave(&self) {
        if let Err(why) = self.put_runs_aside() {
            tracing::warn!(%why, "what tasks left here stays until the next start");
        }
        self.clear_leftovers();
    }

    /// The lock of runs once more, for whoever ends them when this agent is gone.
    pub fn held(&self) -> io::Result<Stdio> {
        self.runs.try_clone().map(Stdio::from)
    }

    /// What tells this agent from others on its machine: its folder is its alone, so its name is too.
    pub(crate) fn place(&self) -> String {
        orphans::place(&self.folder)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Where the key is.
    pub fn key(&self) -> PathBuf {
        self.folder.join("agent.key")
    }

    /// Where inputs are kept.
    pub fn cache(&self) -> PathBuf {
        self.folder.join("cache")
    }

    /// Where copies of the machine's settings are.
    pub(crate) fn settings(&self) -> PathBuf {
        self.folder.join("settings")
    }

    /// Where the owner may have written rules.
    pub fn rules(&self) -> PathBuf {
        self.folder.join("rules.toml")
    }

    /// Where it is written down which signed tasks were run here.
    pub fn signed(&self) -> PathBuf {
        self.folder.join("signed")
    }

    /// The folder of a run.
    pub fn task(&self, run: RunId) -> PathBuf {
        self.folder.join(format!("tasks/{}.{}", run.task, run.number))
    }

    /// A folder that several runs have, one after the other.
    pub fn shared_task(&self, number: u64) -> PathBuf {
        self.folder.join(format!("tasks/shared-{number}"))
    }

    /// Where is kept what a run's program writes.
    pub fn spool(&self, run: RunId, stream: Stream) -> PathBuf {
        let RunId { task, number } = run;
        self.folder.join(format!("tasks/{task}.{number}.{}", stream.name()))
    }

    /// Removes what a run's program wrote.
    pub(crate) fn remove_spools(&self, run: RunId) {
        for stream in Stream::ALL {
            // Many write to one of them only.
            let _ = fs::remove_file(self.spool(run, stream));
        }
    }

    /// Where is tried whether the disk takes something.
    pub fn trial(&self) -> PathBuf {
        self.folder.join("tasks/.trial")
    }

    /// A pipe for what a program writes.
    pub fn pipe(&self, number: u64, stream: Stream) -> PathBuf {
        self.folder.join(format!("pipes/{number}.{}", stream.name()))
    }

    /// Writes a file whole or not at all.
    fn replace(&self, name: &str, text: &str) -> Result<(), HomeError> {
        let path = self.folder.join(name);
        let written = replace_file(&path, 0o600, |out| out.write_all(text.as_bytes()));
        written.map_err(|why| HomeError::File { path, why })
    }
}

fn make_private(path: &Path) -> Result<(), HomeError> {
    let was_open = gleaner_net::make_private(path, geteuid().as_raw()).map_err(|error| match error {
        FolderError::File { path, why } => HomeError::File { path, why },
        other => HomeError::NotOurs(other),
    })?;
    if was_open {
        tracing::warn!(path = %path.display(), "others could write to the agent's folder: it is closed to them now");
    }
    Ok(())
}

/// The agent that works in a folder now: its process. None where it did not say so.
pub fn worker_in(folder: &Path) -> Option<u32> {
    let path = folder.join("lock");
    let file = File::open(&path).ok()?;
    match flock(&file, FlockOperation::NonBlockingLockShared) {
        Err(rustix::io::Errno::WOULDBLOCK) => pid_in(&path),
        Ok(()) | Err(_) => None,
    }
}

/// What an agent wrote into its lock.
fn pid_in(lock: &Path) -> Option<u32> {
    let mut text = String::new();
    File::open(lock).ok()?.take(PID_TEXT_MAX).read_to_string(&mut text).ok()?;
    text.parse().ok()
}

/// The file, made where it is not there, and locked.
fn lock_file(path: &Path, patience: Duration) -> Result<Option<File>, HomeError> {
    let mut options = File::options();
    let opened = options.read(true).write(true).create(true).truncate(false).mode(0o600).open(path);
    let file = opened.map_err(|why| HomeError::File { path: path.to_owned(), why })?;
    lock((file, path), patience)
}

/// What was opened, locked; none if another still holds it after so long.
fn lock((file, path): (File, &Path), patience: Duration) -> Result<Option<File>, HomeError> {
    let failed = |why| HomeError::File { path: path.to_owned(), why };
    let until = Instant::now() + patience;
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(Some(file)),
            Err(rustix::io::Errno::WOULDBLOCK) if Instant::now() < until => {
                thread::sleep(Duration::from_millis(5));
            }
            Err(rustix::io::Errno::WOULDBLOCK) => return Ok(None),
            Err(why) => return Err(failed(why.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_net::Fingerprint;
    use gleaner_units::{RunId, TaskId};
    use gleaner_wire::Met;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    #[test]
    fn what_it_remembers_outlasts_it_and_what_ran_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::open(folder.path()).unwrap();
        let us = std::process::id();
        let second = Home::open(folder.path());
        assert!(
            matches!(second, Err(HomeError::InUse(_, Some(pid))) if pid == us),
            "two agents in one folder"
        );
        assert_eq!(worker_in(folder.path()), Some(us));
        assert_eq!((home.identity().unwrap(), home.met().unwrap()), (None, None));
        let lineage = gleaner_wire::Lineage::of([7; 8]);
        let met = Met {
            epoch: 7,
            lineage,
            row: 3,
            hash: Some(gleaner_wire::ChainHash::NONE),
            restores: vec![lineage],
        };
        let identity = Identity {
            agent: 3,
            name: "lab".into(),
            address: "https://127.0.0.1:1".parse().unwrap(),
            authority: Fingerprint::of_der(b"authority"),
        };
        home.enrol(&identity).unwrap();
        home.remember(&met).unwrap();
        assert_eq!(home.count_start().unwrap(), 1);
        let run = home.task(RunId { task: TaskId::new(1), number: 1 });
        fs::create_dir(&run).unwrap();
        drop(home);
        let home = Home::open(folder.path()).unwrap();
        assert_eq!((home.identity().unwrap(), home.met().unwrap()), (Some(identity), Some(met)));
        assert_eq!(home.count_start().unwrap(), 2);
        assert!(!run.exists());
    }

    #[test]
    fn an_agent_starts_when_the_runs_of_the_one_before_have_ended() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::open(folder.path()).unwrap();
        let mut keeper =
            std::process::Command::new("sleep").arg("0.3").stdout(home.held().unwrap()).spawn().unwrap();
        drop(home);
        Home::open(folder.path()).unwrap();
        assert!(keeper.try_wait().unwrap().is_some(), "it did not wait");
    }

    #[test]
    fn a_folder_that_is_open_to_others_is_closed_with_all_that_is_in_it() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("home");
        drop(Home::open(&folder).unwrap());
        for path in [folder.clone(), folder.join("cache")] {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
            drop(Home::open(&folder).unwrap());
            assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o755);
        }
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o1777)).unwrap();
        assert!(matches!(Home::open(&folder), Err(HomeError::NotOurs(FolderError::Shared(_)))));
    }
}
