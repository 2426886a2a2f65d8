//! Which folder each run has, and which are free for the next.
//!
//! To make or remove a folder can wait for the disk's journal, which takes milliseconds where the coordinator commits to
//! the same disk: longer than many a program runs. So a folder is used again. **Only one that is as new**
//! ([`is_as_new`](crate::folder::is_as_new)) and **only by a run that may reach as much**: what sandboxed tasks had stays
//! with sandboxed tasks. A run that has files brought to it always gets a folder of its own.

use crate::confine::TransientUser;
use crate::folder::{self, Origin};
use crate::home::Home;
use gleaner_units::RunId;
use gleaner_wire::job::Confinement;
use gleaner_wire::session::Run;
use rustix::process::geteuid;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

/// Folders that wait for a run, of each kind; more are removed.
const SPARE_MAX: usize = 64;

pub(super) struct Folders {
    home: Arc<Home>,
    user: u32,
    made: u64,
    gone: u64,
    lent: BTreeMap<RunId, (Reach, u64)>,
    spare: BTreeMap<Reach, Vec<u64>>,
}

/// How much of the machine a run may reach.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Reach {
    All,
    Sandbox,
}

impl Folders {
    pub(super) fn new(home: Arc<Home>) -> Self {
        Self {
            home,
            user: geteuid().as_raw(),
            made: 0,
            gone: 0,
            lent: BTreeMap::new(),
            spare: BTreeMap::new(),
        }
    }

    /// Where the folder of a run is, or would be if it had one.
    pub(super) fn of(&self, run: RunId) -> PathBuf {
        self.shared(run).map_or_else(|| self.home.task(run), |number| self.home.shared_task(number))
    }

    /// Which of the folders that several runs have is a run's.
    pub(super) fn shared(&self, run: RunId) -> Option<u64> {
        self.lent.get(&run).map(|(_, number)| *number)
    }

    /// A folder for a run that needs nothing brought to it. If it has one already, a first try broke off.
    pub(super) fn lend(&mut self, run: &Run) -> (PathBuf, Origin) {
        if let Some(number) = self.shared(run.id) {
            return (self.home.shared_task(number), Origin::None);
        }
        let reach = match run.confinement {
            Confinement::None => Reach::All,
            Confinement::Sandbox | Confinement::SandboxWithNetwork => Reach::Sandbox,
        };
        let (number, origin) = if let Some(number) = self.spare.get_mut(&reach).and_then(Vec::pop) {
            (number, Origin::EarlierRun)
        } else {
            self.made += 1;
            (self.made, Origin::None)
        };
        self.lent.insert(run.id, (reach, number));
        (self.home.shared_task(number), origin)
    }

    /// Takes the folder of a run back for good: it is to be removed, and no other run gets it.
    pub(super) fn give_up(&mut self, run: RunId) -> PathBuf {
        let path = self.of(run);
        self.lent.remove(&run);
        path
    }

    /// Another name for what is to be removed, which takes its time: its own may be another run's meanwhile.
    pub(super) fn out_of_the_way(&mut self, path: PathBuf) -> PathBuf {
        self.gone += 1;
        let other = path.with_added_extension(format!("gone-{}", self.gone));
        // What cannot be renamed is removed where it is.
        if fs::rename(&path, &other).is_ok() { other } else { path }
    }

    /// Takes the folder of a run back; what is returned is of no use any more, and is to be removed.
    pub(super) fn take_back(&mut self, run: RunId) -> Option<PathBuf> {
        let Some((reach, number)) = self.lent.remove(&run) else { return Some(self.home.task(run)) };
        let path = self.home.shared_task(number);
        let spare = self.spare.entry(reach).or_default();
        // An agent of root's gives the folder of a sandboxed task to that task's user.
        let may_own = |owner| owner == self.user || (reach == Reach::Sandbox && TransientUser::is_one(owner));
        if spare.len() < SPARE_MAX && folder::is_as_new(&path, may_own) {
            spare.push(number);
            return None;
        }
        Some(path)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::folder::prepare_empty;
    use gleaner_units::{RunId, TaskId};
    use gleaner_wire::job::{Checkpointing, Needs};
    use std::collections::BTreeMap;

    pub(crate) fn run(task: usize, confinement: Confinement) -> Run {
        Run {
            id: RunId { task: TaskId::new(task), number: 1 },
            lineage: gleaner_wire::Lineage::of([1; 8]),
            after: None,
            name: "1/0".into(),
            user: "u".into(),
            label: None,
            command: vec!["true".into()],
            env: BTreeMap::new(),
            cwd: None,
            stdin: None,
            inputs: Vec::new(),
            outputs: Vec::new(),
            needs: Needs::default(),
            checkpoint: Checkpointing::default(),
            fails_at_limit: false,
            resume_from: None,
            answers: None,
            confinement,
            signed: None,
        }
    }

    /// Has a run use a folder; where it was, and whether another run had it before.
    fn used(folders: &mut Folders, run: &Run) -> (PathBuf, Origin) {
        let (path, origin) = folders.lend(run);
        prepare_empty(run, &path, origin).unwrap();
        (path, origin)
    }

    #[test]
    fn a_folder_is_used_again_only_as_new_and_only_by_its_kind() {
        let within = tempfile::tempdir().unwrap();
        let home = Arc::new(Home::open(within.path()).unwrap());
        let mut folders = Folders::new(home);
        let [first, second, third] = [1, 2, 3].map(|task| run(task, Confinement::None));
        let boxed = run(4, Confinement::Sandbox);

        let (path, origin) = used(&mut folders, &first);
        assert_eq!(origin, Origin::None);
        if !folder::is_as_new(&path, |_| true) {
            eprintln!("SKIPPED: on this file system no folder is used again");
            return;
        }
        assert_eq!(folders.take_back(first.id), None);
        assert_eq!(
            used(&mut folders, &boxed).1,
            Origin::None,
            "a sandboxed task gets no folder of another's"
        );
        assert_eq!(used(&mut folders, &second), (path.clone(), Origin::EarlierRun));
        fs::write(path.join("left"), "a secret").unwrap();
        assert_eq!(folders.take_back(second.id), Some(path.clone()), "something is in it");
        assert_ne!(used(&mut folders, &third).0, path);
    }

    #[test]
    fn a_folder_that_was_given_up_is_used_by_nobody_else() {
        let within = tempfile::tempdir().unwrap();
        let mut folders = Folders::new(Arc::new(Home::open(within.path()).unwrap()));
        let [first, second] = [1, 2].map(|task| run(task, Confinement::None));
        let (path, _) = used(&mut folders, &first);
        assert_eq!(folders.give_up(first.id), path);
        assert_ne!(used(&mut folders, &second).0, path);
    }

    #[test]
    fn what_is_yet_to_be_removed_is_in_nobodys_way() {
        let within = tempfile::tempdir().unwrap();
        let mut folders = Folders::new(Arc::new(Home::open(within.path()).unwrap()));
        let (run, mut moved) = (run(1, Confinement::None), Vec::new());
        for _ in 0..2 {
            let path = folders.of(run.id);
            fs::create_dir(&path).unwrap();
            fs::write(path.join("left"), "").unwrap();
            moved.push(folders.out_of_the_way(path));
        }
        assert!(moved.iter().all(|path| path.join("left").exists()) && moved[0] != moved[1]);
    }

    #[test]
    fn a_second_try_begins_with_nothing() {
        let within = tempfile::tempdir().unwrap();
        let mut folders = Folders::new(Arc::new(Home::open(within.path()).unwrap()));
        let run = run(1, Confinement::None);
        let (path, _) = used(&mut folders, &run);
        fs::write(path.join("half"), "").unwrap();
        assert_eq!(used(&mut folders, &run), (path.clone(), Origin::None));
        assert!(!path.join("half").exists());
    }
}
