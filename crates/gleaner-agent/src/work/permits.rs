//! Which signed tasks were run here, so that nobody has one run again and again on an old signature.
//!
//! A line of the file says that a task began, or that it ended well. **What is remembered is bounded, and nothing is forgotten
//! before its signature has expired**: where there is no room for another, it does not start.

use crate::owner::Permit;
use gleaner_units::RunId;
use gleaner_wire::limits::{SIGNED_REMEMBERED_MAX, SIGNED_STARTS_MAX};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub(crate) struct Permits {
    path: PathBuf,
    file: File,
    /// By nonce and number; a nonce has one moment at which it expires.
    tasks: BTreeMap<(String, u32), Use>,
    /// Those that run.
    running: BTreeMap<RunId, Permit>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Use {
    expires_s: u64,
    starts: u32,
    is_done: bool,
}

impl Permits {
    /// What an agent before this one wrote down, less what has expired.
    pub(crate) fn open(path: &Path, now_s: u64) -> io::Result<Self> {
        let mut tasks: BTreeMap<(String, u32), Use> = BTreeMap::new();
        match File::open(path) {
            Err(why) if why.kind() == io::ErrorKind::NotFound => {}
            opened => {
                for line in BufReader::new(opened?).lines() {
                    // The last may be cut short.
                    let Some((key, read)) = parsed(&line?) else { continue };
                    let used = tasks.entry(key).or_default();
                    used.expires_s = read.expires_s;
                    used.starts = used.starts.saturating_add(read.starts);
                    used.is_done |= read.is_done;
                }
            }
        }
        tasks.retain(|_, used| used.expires_s > now_s);
        Ok(Self { path: path.to_owned(), file: written(path, &tasks)?, tasks, running: BTreeMap::new() })
    }

    /// Takes note that a task begins, or says why it does not.
    pub(crate) fn begin(&mut self, run: RunId, permit: Permit, now_s: u64) -> Result<(), String> {
        let key = (permit.nonce.clone(), permit.number);
        if self.tasks.len() >= SIGNED_REMEMBERED_MAX && !self.tasks.contains_key(&key) {
            self.forget_expired(now_s).map_err(|why| format!("{}: {why}", self.path.display()))?;
        }
        let is_known = self.tasks.contains_key(&key);
        if !is_known && self.tasks.len() >= SIGNED_REMEMBERED_MAX {
            return Err(format!(
                "this machine remembers {SIGNED_REMEMBERED_MAX} signed tasks, and has no room for more"
            ));
        }
        let used = self.tasks.get(&key).copied().unwrap_or_default();
        if used.is_done {
            return Err("the task has run here already on this signature; submit the job again".to_owned());
        }
        if used.starts >= SIGNED_STARTS_MAX.saturating_add(permit.retries) {
            return Err(format!(
                "the task has begun {} times here on this signature; submit the job again",
                used.starts
            ));
        }
        let more = Use { expires_s: permit.expires_s, starts: 1, is_done: false };
        self.note(&key, more).map_err(|why| format!("{}: {why}", self.path.display()))?;
        self.tasks.insert(key, Use { starts: used.starts + 1, ..more });
        self.running.insert(run, permit);
        Ok(())
    }

    /// A run is over.
    pub(crate) fn ended(&mut self, run: RunId, ended_well: bool) {
        let Some(permit) = self.running.remove(&run).filter(|_| ended_well) else { return };
        let key = (permit.nonce, permit.number);
        if let Err(why) = self.note(&key, Use { expires_s: permit.expires_s, starts: 0, is_done: true }) {
            tracing::warn!(%why, path = %self.path.display(), "that a signed task is done is not written down");
        }
        if let Some(used) = self.tasks.get_mut(&key) {
            used.is_done = true;
        }
    }

    fn forget_expired(&mut self, now_s: u64) -> io::Result<()> {
        self.tasks.retain(|_, used| used.expires_s > now_s);
        self.file = written(&self.path, &self.tasks)?;
        Ok(())
    }

    fn note(&mut self, key: &(String, u32), used: Use) -> io::Result<()> {
        self.file.write_all(line(key, used).as_bytes())
    }
}

fn line((nonce, number): &(String, u32), Use { expires_s, starts, is_done }: Use) -> String {
    format!("{expires_s} {number} {starts} {} {nonce}\n", u8::from(is_done))
}

fn parsed(line: &str) -> Option<((String, u32), Use)> {
    let mut words = line.splitn(5, ' ');
    let mut number = || words.next()?.parse::<u64>().ok();
    let (expires_s, task, starts, is_done) = (number()?, number()?, number()?, number()?);
    let used = Use { expires_s, starts: u32::try_from(starts).ok()?, is_done: is_done == 1 };
    Some(((words.next()?.to_owned(), u32::try_from(task).ok()?), used))
}

/// The file with these alone, open to add to.
fn written(path: &Path, tasks: &BTreeMap<(String, u32), Use>) -> io::Result<File> {
    let new = path.with_extension("new");
    let mut file = File::options().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
    let text: String = tasks.iter().map(|(key, used)| line(key, *used)).collect();
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&new, path)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_units::TaskId;

    const NOW_S: u64 = 100;

    fn permit(nonce: &str, number: u32, expires_s: u64) -> Permit {
        Permit { nonce: nonce.to_owned(), number, expires_s, retries: 2 }
    }

    #[test]
    fn a_task_runs_once_whatever_is_started_between() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("signed");
        let open = |now_s| Permits::open(&path, now_s).expect("a file");
        let run = |number| RunId { task: TaskId::new(1), number };
        let mut permits = open(NOW_S);
        let begin = |permits: &mut Permits, number, nonce: &str| {
            permits.begin(run(number), permit(nonce, 7, NOW_S + 10), NOW_S)
        };
        // What fails or is moved away is tried again, but not for ever.
        for number in 0..SIGNED_STARTS_MAX + 2 {
            assert_eq!(begin(&mut permits, number, "failing"), Ok(()), "{number}");
            permits.ended(run(number), false);
            if number % 7 == 0 {
                permits = open(NOW_S);
            }
        }
        assert!(begin(&mut permits, 99, "failing").expect_err("too often").contains("has begun"));
        // What ended well is not run again, by the next agent neither.
        assert_eq!(begin(&mut permits, 1, "good"), Ok(()));
        permits.ended(run(1), true);
        for _ in 0..2 {
            assert!(begin(&mut permits, 2, "good").expect_err("done").contains("has run here already"));
            permits = open(NOW_S);
        }
        // Another task of the job, and a job that was signed anew.
        assert_eq!(permits.begin(run(3), permit("good", 8, NOW_S + 10), NOW_S), Ok(()));
        assert_eq!(begin(&mut permits, 4, "again"), Ok(()));
        // What has expired is refused anyway, and forgotten.
        assert_eq!(open(NOW_S + 9).tasks.len(), 4);
        assert_eq!(open(NOW_S + 10).tasks.len(), 0);
        assert_eq!(fs::read(&path).expect("a file"), b"");
    }

    #[test]
    fn a_machine_remembers_so_many_signed_tasks() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut permits = Permits::open(&folder.path().join("signed"), NOW_S).expect("a file");
        let run = RunId { task: TaskId::new(1), number: 1 };
        let used = Use { expires_s: NOW_S + 10, starts: 1, is_done: true };
        let known = |number| ((String::new(), number), used);
        permits.tasks = (1..SIGNED_REMEMBERED_MAX as u32).map(known).collect();
        assert_eq!(permits.begin(run, permit("last", 1, NOW_S + 20), NOW_S), Ok(()));
        let refused = permits.begin(run, permit("late", 1, NOW_S + 20), NOW_S).expect_err("no room");
        assert!(refused.contains(&format!("remembers {SIGNED_REMEMBERED_MAX} signed tasks")), "{refused}");
        assert_eq!(permits.begin(run, permit("last", 1, NOW_S + 20), NOW_S), Ok(()), "it is known");
        assert_eq!(permits.begin(run, permit("late", 1, NOW_S + 20), NOW_S + 10), Ok(()), "others expired");
    }

    #[test]
    fn a_line_that_was_cut_short_counts_for_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("signed");
        fs::write(&path, "200 7 1 0 n\n200 7 0 1 n\n200 8 1").expect("a file");
        let tasks = Permits::open(&path, NOW_S).expect("a file").tasks;
        let done = Use { expires_s: 200, starts: 1, is_done: true };
        assert_eq!(tasks, BTreeMap::from([(("n".to_owned(), 7), done)]));
    }
}
