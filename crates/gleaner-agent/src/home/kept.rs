//! What runs left that the coordinator has not taken yet: it outlasts the agent that ran them.
//!
//! A record for each such run is in `kept/`, beside what is in `tasks/`. An agent that starts moves what the records speak of
//! out of `tasks/`, puts that aside, and moves it back: so whatever else is in `tasks/` goes as ever.
//!
//! - **A record is on the disk after what it speaks of**, and gone before that is removed: a power cut leaves no
//!   record of what is not there, and none that speaks of another run's folder.
//! - **What a record speaks of and is not there in full is not handed in**: the run is lost, and the task runs again. So is one
//!   that ran as its machine went down, which may have torn what it kept.

use super::{BEGINNING_BYTES, Home, HomeError, make_private};
use crate::duties::Kept;
use gleaner_net::read_text;
use gleaner_units::RunId;
use gleaner_wire::session::Stream;
use rustix::fs::syncfs;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const KEPT: &str = "kept";
const RECORD: &str = "json";
/// What a stream has behind its beginning where nobody knows how it went on.
const CUT: &[u8] = b"\n-- what came after this is lost: the agent was killed while the task ran --\n";

/// What is written down of a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    /// Which of the folders that several runs have is its folder, if one is.
    pub(crate) shared: Option<u64>,
    /// What it left.
    pub(crate) kept: Kept,
    /// Which start of the machine its program ran in, where that matters.
    #[serde(default)]
    boot: Option<String>,
}

impl Record {
    pub(crate) fn new(kept: Kept, shared: Option<u64>) -> Self {
        let boot = if kept.is_under_way() { boot() } else { None };
        Self { shared, kept, boot }
    }

    /// Why its run is lost, if it is.
    fn flaw(&self, home: &Home) -> Option<&'static str> {
        let run = self.kept.id();
        let has = |stream| {
            let bytes = self.kept.bytes(stream);
            bytes == 0 || fs::metadata(home.spool(run, stream)).is_ok_and(|about| about.len() >= bytes)
        };
        if self.kept.is_under_way() && (self.boot.is_none() || self.boot != boot()) {
            return Some("it ran as its machine went down: it is lost");
        }
        let is_whole =
            Stream::ALL.into_iter().all(has) && (!self.kept.needs_its_folder() || home.task(run).is_dir());
        (!is_whole).then_some("what it left is not here any more: it is lost")
    }
}

/// The records of these runs could not be written down.
#[derive(Debug)]
pub(crate) struct NotKept {
    pub(crate) runs: BTreeSet<RunId>,
    /// Of the first.
    pub(crate) why: HomeError,
}

impl Home {
    /// Writes records down, after what they speak of: each, though another cannot be.
    pub(crate) fn keep(&self, records: &[Record]) -> Result<(), NotKept> {
        self.sync_before(records)
            .map_err(|why| NotKept { runs: records.iter().map(|record| record.kept.id()).collect(), why })?;
        let failed = records
            .iter()
            .filter_map(|record| self.write_down(record).err().map(|why| (record.kept.id(), why)));
        let (runs, whys): (BTreeSet<RunId>, Vec<HomeError>) = failed.unzip();
        whys.into_iter().next().map_or(Ok(()), |why| Err(NotKept { runs, why }))
    }

    /// What is under way is of use only until the machine goes down.
    fn sync_before(&self, records: &[Record]) -> Result<(), HomeError> {
        make_private(&self.folder.join(KEPT))?;
        if !records.iter().all(|record| record.kept.is_under_way()) {
            let synced = File::open(self.folder.join("tasks")).and_then(|tasks| Ok(syncfs(&tasks)?));
            synced.map_err(|why| HomeError::File { path: self.folder.join("tasks"), why })?;
        }
        Ok(())
    }

    fn write_down(&self, record: &Record) -> Result<(), HomeError> {
        let text = serde_json::to_string(record).expect("it is plain data");
        self.replace(&format!("{KEPT}/{}.{RECORD}", name(record.kept.id())), &text)
    }

    /// Removes a run's record, and then what its program wrote. Whether its folder may go.
    pub(crate) fn forget_kept(&self, run: RunId) -> bool {
        let record = self.record(run);
        let forgotten =
            fs::remove_file(&record).and_then(|()| File::open(self.folder.join(KEPT))?.sync_all());
        match forgotten {
            Err(why) if why.kind() != io::ErrorKind::NotFound => {
                // What it speaks of stays with it.
                tracing::error!(%why, path = %record.display(), "a record cannot be removed: remove it by hand");
                false
            }
            Ok(()) | Err(_) => {
                self.remove_spools(run);
                true
            }
        }
    }

    /// What runs left that is here in full, and has to be handed in.
    pub(crate) fn kept(&self) -> Vec<Kept> {
        let mut whole = Vec::new();
        for mut record in self.records() {
            let Some(flaw) = record.flaw(self) else {
                if record.kept.is_under_way() {
                    let run = record.kept.id();
                    record.kept.found(Stream::ALL.map(|stream| found(&self.spool(run, stream))));
                }
                whole.push(record.kept);
                continue;
            };
            let run = record.kept.id();
            tracing::warn!(task = record.kept.run.name, run = run.number, "{flaw}");
            let folder = self.task(run);
            // A task can leave so much that its removal takes hours.
            if self.forget_kept(run) && is_there(&folder) {
                match self.put_aside(&folder) {
                    Ok(_) => self.count_trouble(),
                    Err(_) => self.clear(&folder),
                }
            }
        }
        whole
    }

    /// Out of the folder that is put aside.
    pub(super) fn take_kept_out(&self) {
        let aside = self.folder.join(KEPT);
        for record in self.records() {
            let run = record.kept.id();
            let shared = record.shared.map(|number| self.shared_task(number));
            // Once it was moved, the other name may be another run's.
            let folder = Some(self.task(run)).filter(|own| is_there(own)).or(shared);
            take(folder.as_deref(), &aside.join(name(run)));
            for stream in Stream::ALL {
                take(Some(&self.spool(run, stream)), &aside.join(spool_name(run, stream)));
            }
        }
    }

    /// Each into a folder of its own.
    pub(super) fn put_kept_back(&self) {
        let aside = self.folder.join(KEPT);
        for record in self.records() {
            let run = record.kept.id();
            take(Some(&aside.join(name(run))), &self.task(run));
            for stream in Stream::ALL {
                take(Some(&aside.join(spool_name(run, stream))), &self.spool(run, stream));
            }
        }
    }

    fn records(&self) -> Vec<Record> {
        let entries = fs::read_dir(self.folder.join(KEPT)).into_iter().flatten().flatten();
        let paths =
            entries.map(|entry| entry.path()).filter(|path| path.extension() == Some(RECORD.as_ref()));
        paths.filter_map(|path| read(&path)).collect()
    }

    fn record(&self, run: RunId) -> PathBuf {
        self.folder.join(KEPT).join(format!("{}.{RECORD}", name(run)))
    }
}

/// How many bytes there are of a stream whose agent was killed. What came after its beginning was in that agent's memory: the stream says so.
fn found(path: &Path) -> u64 {
    let bytes = || fs::metadata(path).map_or(0, |about| about.len());
    if bytes() == BEGINNING_BYTES {
        let said = File::options().append(true).open(path).and_then(|mut file| file.write_all(CUT));
        if let Err(why) = said {
            tracing::warn!(%why, path = %path.display(), "output of which the end is lost does not say so");
        }
    }
    bytes()
}

/// One that cannot be read is removed: its run is lost.
fn read(path: &Path) -> Option<Record> {
    let parsed = |text: String| {
        let record: Record = serde_json::from_str(&text)?;
        let is_its_own = path.file_stem() == Some(name(record.kept.id()).as_ref());
        is_its_own.then_some(record).ok_or_else(|| io::Error::other("it is another run's"))
    };
    match read_text(path).and_then(parsed) {
        Ok(record) => Some(record),
        Err(why) => {
            tracing::warn!(%why, path = %path.display(), "what a run left is lost: its record cannot be read");
            let _ = fs::remove_file(path);
            None
        }
    }
}

fn name(run: RunId) -> String {
    format!("{}.{}", run.task, run.number)
}

fn spool_name(run: RunId, stream: Stream) -> String {
    format!("{}.{}", name(run), stream.name())
}

fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Which start of the machine this is.
fn boot() -> Option<String> {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()
}

/// Moves what is there, unless it was moved already.
fn take(from: Option<&Path>, to: &Path) {
    let Some(from) = from.filter(|from| is_there(from) && !is_there(to)) else { return };
    let moved = fs::rename(from, to).or_else(|_| {
        // A task can take from a folder of its own the rights that it takes to be moved.
        fs::set_permissions(from, Permissions::from_mode(0o700))?;
        fs::rename(from, to)
    });
    if let Err(why) = moved {
        tracing::error!(%why, path = %from.display(), "what a run left cannot be kept");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_units::TaskId;
    use gleaner_wire::job::Confinement;
    use serde_json::{Value, json};
    use std::os::unix::fs::symlink;

    fn run(task: usize) -> RunId {
        RunId::new(TaskId::new(task), 1)
    }

    /// Of a run that wrote nine bytes, and left files in its folder.
    fn record(run: RunId, shared: Option<u64>) -> Record {
        let ruling = json!({
            "outcome": {"exited": {"code": 0}}, "keeps_checkpoint": false, "keeps_files": true
        });
        Record::new(kept(run, 9, &json!({"folder": {"ruling": ruling, "usage": {}}})), shared)
    }

    fn kept(run: RunId, bytes: u64, left: &Value) -> Kept {
        let nothing = json!({"kept": 0, "dropped": 0});
        let order = crate::work::run(run.task.index(), Confinement::None);
        let kept = json!({"run": order, "left": left, "wrote": [{"kept": bytes, "dropped": 0}, nothing]});
        serde_json::from_value(kept).expect("it is a record")
    }

    /// A folder with one file in it.
    fn fill(folder: &Path, file: &str) {
        fs::create_dir(folder).unwrap();
        fs::write(folder.join(file), "").unwrap();
    }

    fn ids(home: &Home) -> Vec<RunId> {
        let mut ids: Vec<RunId> = home.kept().iter().map(Kept::id).collect();
        ids.sort();
        ids
    }

    #[test]
    fn what_is_written_down_outlasts_agents_until_it_is_taken_and_nothing_else_does() {
        let within = tempfile::tempdir().unwrap();
        let home = Home::open(within.path()).unwrap();
        let [own, shared, torn, lost] = [1, 2, 3, 4].map(run);
        fill(&home.task(own), "own");
        fill(&home.shared_task(1), "shared");
        fill(&home.task(torn), "torn");
        fill(&home.task(lost), "not written down");
        for (run, text) in [(own, "123456789"), (shared, "123456789"), (torn, "1234"), (lost, "123456789")] {
            fs::write(home.spool(run, Stream::Stdout), text).unwrap();
        }
        // Nobody may move a folder of another's that cannot be written to.
        fs::set_permissions(home.task(own), Permissions::from_mode(0o500)).unwrap();
        home.keep(&[record(own, None), record(shared, Some(1)), record(torn, None)]).unwrap();
        drop(home);
        for _ in 0..2 {
            let home = Home::open(within.path()).unwrap();
            assert_eq!(ids(&home), [own, shared], "of the third some is missing");
            assert!(home.task(own).join("own").exists() && home.task(shared).join("shared").exists());
            assert_eq!(fs::read(home.spool(shared, Stream::Stdout)).unwrap(), b"123456789");
            assert!(!is_there(&home.task(lost)) && !is_there(&home.spool(lost, Stream::Stdout)));
            // By now it is another run's.
            fill(&home.shared_task(1), "another's");
        }
        let home = Home::open(within.path()).unwrap();
        assert!(home.forget_kept(own));
        home.clear(&home.task(own));
        assert_eq!(ids(&home), [shared]);
        assert!(!is_there(&home.task(own)) && !is_there(&home.spool(own, Stream::Stdout)));
        assert!(home.task(shared).join("shared").exists());
    }

    #[test]
    fn a_record_that_cannot_be_written_down_is_named_and_costs_no_other() {
        let within = tempfile::tempdir().unwrap();
        let home = Home::open(within.path()).unwrap();
        let runs = [1, 2, 3].map(run);
        for run in runs {
            fill(&home.task(run), "left");
            fs::write(home.spool(run, Stream::Stdout), "123456789").unwrap();
        }
        fs::create_dir_all(home.record(runs[1])).unwrap();
        let records = runs.map(|run| record(run, None));
        assert_eq!(home.keep(&records).unwrap_err().runs, BTreeSet::from([runs[1]]));
        assert_eq!(ids(&home), [runs[0], runs[2]]);
        fs::remove_dir(home.record(runs[1])).unwrap();
        home.keep(&records[1..2]).unwrap();
        assert_eq!(ids(&home), runs);
    }

    #[test]
    fn what_ran_as_its_agent_was_killed_is_found_unless_the_machine_went_down() {
        let within = tempfile::tempdir().unwrap();
        let home = Home::open(within.path()).unwrap();
        let [ran, went_down, unknown] = [1, 2, 3].map(run);
        let of_run = |run| Record::new(kept(run, 0, &json!("checkpoint")), None);
        for run in [ran, went_down, unknown] {
            fill(&home.task(run), "half");
        }
        fs::write(home.spool(ran, Stream::Stderr), "123456789").unwrap();
        File::create(home.spool(ran, Stream::Stdout)).unwrap().set_len(BEGINNING_BYTES).unwrap();
        let another = Record { boot: Some("another".to_owned()), ..of_run(went_down) };
        home.keep(&[of_run(ran), another, Record { boot: None, ..of_run(unknown) }]).unwrap();
        drop(home);
        let home = Home::open(within.path()).unwrap();
        assert_eq!(ids(&home), [ran]);
        let wrote = Stream::ALL.map(|stream| home.kept()[0].bytes(stream));
        let said = BEGINNING_BYTES + CUT.len() as u64;
        assert_eq!(wrote, [said, 9], "the coordinator may have had no room for it");
        assert!(fs::read(home.spool(ran, Stream::Stdout)).unwrap().ends_with(CUT), "its end is lost");
        assert!(home.task(ran).join("half").exists() && !is_there(&home.task(went_down)));
        let aside = fs::read_dir(within.path().join("trouble")).unwrap();
        assert_eq!(aside.count(), 2, "nobody waits for their removal");
    }

    #[test]
    fn an_agent_starts_whatever_a_record_is() {
        let within = tempfile::tempdir().unwrap();
        let home = Home::open(within.path()).unwrap();
        fs::create_dir(within.path().join(KEPT)).unwrap();
        let place = |name: &str| within.path().join(KEPT).join(name);
        fs::write(place("1.1.json"), "{").unwrap();
        fs::write(place("2.1.json"), serde_json::to_string(&record(run(3), None)).unwrap()).unwrap();
        symlink("/nowhere", place("4.1.json")).unwrap();
        fs::create_dir(place("5.1.json")).unwrap();
        drop(home);
        let home = Home::open(within.path()).unwrap();
        assert_eq!(ids(&home), []);
    }

    #[test]
    fn what_was_being_moved_as_an_agent_was_killed_is_found() {
        let within = tempfile::tempdir().unwrap();
        let home = Home::open(within.path()).unwrap();
        let kept = run(1);
        fill(&home.task(kept), "left");
        fs::write(home.spool(kept, Stream::Stdout), "123456789").unwrap();
        home.keep(&[record(kept, None)]).unwrap();
        fs::rename(home.task(kept), within.path().join(KEPT).join(name(kept))).unwrap();
        drop(home);
        let home = Home::open(within.path()).unwrap();
        assert_eq!(ids(&home), [kept]);
        assert!(home.task(kept).join("left").exists());
    }
}
