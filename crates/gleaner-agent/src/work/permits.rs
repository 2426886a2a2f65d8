//! Which signed tasks were run here, so that nobody has one run again and again on an old signature.
//!
//! A line of the file says that a task began, or that it ended well. **What is remembered is bounded, and nothing is forgotten
//! before its signature has expired**: where there is no room for another, it does not start. With a clock that is ahead, some are forgotten too
//! early: one more line says up to when, and **what expires until then does not start any more**.

mod book;

pub(super) use book::{Clerk, Note};

use crate::home::HomeError;
use crate::owner::Permit;
use book::Book;
use gleaner_units::RunId;
use gleaner_wire::limits::{SIGNED_REMEMBERED_MAX, SIGNED_STARTS_MAX};
use std::collections::BTreeMap;
use std::path::Path;

/// How the line begins that says up to when tasks were forgotten.
const FORGOTTEN: &str = "forgotten ";

#[derive(Debug, Default)]
pub(crate) struct Permits {
    /// By nonce and number; a nonce has one moment at which it expires.
    tasks: BTreeMap<(String, u32), Use>,
    /// The latest moment at which something expired that is forgotten.
    forgotten_s: u64,
    /// Those that run, or ended well under an agent before this one and are not done yet.
    running: BTreeMap<RunId, Permit>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Use {
    expires_s: u64,
    starts: u32,
    is_done: bool,
}

impl Permits {
    /// What an agent before this one wrote down, less what has expired; and who writes down what comes.
    pub(super) fn open(path: &Path, now_s: u64) -> Result<(Self, Clerk), HomeError> {
        let (permits, book) = Self::read(path, now_s)?;
        let clerk = Clerk::start(book).map_err(|why| HomeError::File { path: path.to_owned(), why })?;
        Ok((permits, clerk))
    }

    fn read(path: &Path, now_s: u64) -> Result<(Self, Book), HomeError> {
        let mut permits = Self::default();
        let damaged = Book::read(path, |line| permits.learn(line))?;
        permits.forget(now_s);
        let book = Book::begin(path, &permits.lines(), &damaged)?;
        Ok((permits, book))
    }

    /// Takes in what a line says; whether it could be read.
    fn learn(&mut self, line: &str) -> bool {
        if let Some(until_s) = line.strip_prefix(FORGOTTEN).and_then(|until_s| until_s.parse().ok()) {
            self.forgotten_s = self.forgotten_s.max(until_s);
            return true;
        }
        let Some((key, read)) = parsed(line) else { return false };
        let used = self.tasks.entry(key).or_default();
        used.expires_s = read.expires_s;
        used.starts = used.starts.saturating_add(read.starts);
        used.is_done |= read.is_done;
        true
    }

    /// Forgets what has expired.
    fn forget(&mut self, now_s: u64) {
        let expired = self.tasks.values().map(|used| used.expires_s).filter(|at_s| *at_s <= now_s);
        self.forgotten_s = expired.fold(self.forgotten_s, u64::max);
        self.tasks.retain(|_, used| used.expires_s > now_s);
    }

    /// Takes note that a task begins, or says why it does not. **It may begin once the note is written.**
    pub(super) fn begin(&mut self, run: RunId, permit: Permit, now_s: u64) -> Result<Note, String> {
        if permit.expires_s <= self.forgotten_s {
            return Err("this machine's clock was ahead, and it has forgotten what ran here on signatures that expire when this one does; \
                 submit the job again"
                .to_owned());
        }
        let key = (permit.nonce.clone(), permit.number);
        let is_full = self.tasks.len() >= SIGNED_REMEMBERED_MAX && !self.tasks.contains_key(&key);
        if is_full {
            self.forget(now_s);
        }
        if is_full && self.tasks.len() >= SIGNED_REMEMBERED_MAX {
            return Err(format!(
                "this machine remembers {SIGNED_REMEMBERED_MAX} signed tasks, and has no room for more"
            ));
        }
        let is_it = |running: &Permit| (&running.nonce, running.number) == (&key.0, key.1);
        if self.running.values().any(is_it) {
            return Err("the task runs here already on this signature".to_owned());
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
        let line = line(&key, more);
        self.tasks.insert(key, Use { starts: used.starts + 1, ..more });
        self.running.insert(run, permit);
        Ok(if is_full { Note::All(self.lines()) } else { Note::Line(line) })
    }

    /// A run did not begin after all.
    pub(super) fn withdraw(&mut self, run: RunId) {
        let Some(permit) = self.running.remove(&run) else { return };
        if let Some(used) = self.tasks.get_mut(&(permit.nonce, permit.number)) {
            used.starts = used.starts.saturating_sub(1);
        }
    }

    /// A run ended well under an agent before this one, which counted its start.
    pub(super) fn take_up(&mut self, run: RunId, permit: Permit) {
        self.running.insert(run, permit);
    }

    /// A run is over; what is to be written, if anything.
    pub(super) fn ended(&mut self, run: RunId, ended_well: bool) -> Option<Note> {
        let permit = self.running.remove(&run).filter(|_| ended_well)?;
        let key = (permit.nonce, permit.number);
        let line = line(&key, Use { expires_s: permit.expires_s, starts: 0, is_done: true });
        if let Some(used) = self.tasks.get_mut(&key) {
            used.is_done = true;
        }
        Some(Note::Line(line))
    }

    fn lines(&self) -> String {
        let forgotten = (self.forgotten_s > 0).then(|| format!("{FORGOTTEN}{}\n", self.forgotten_s));
        forgotten.into_iter().chain(self.tasks.iter().map(|(key, used)| line(key, *used))).collect()
    }
}

fn line((nonce, number): &(String, u32), Use { expires_s, starts, is_done }: Use) -> String {
    format!("{expires_s} {number} {starts} {} {nonce}\n", u8::from(is_done))
}

/// The whole of a line, or nothing: two that were glued together are none.
fn parsed(line: &str) -> Option<((String, u32), Use)> {
    let words: Vec<&str> = line.split(' ').collect();
    let [expires_s, task, starts, is_done @ ("0" | "1"), nonce] = words[..] else { return None };
    let used =
        Use { expires_s: expires_s.parse().ok()?, starts: starts.parse().ok()?, is_done: is_done == "1" };
    Some(((nonce.to_owned(), task.parse().ok()?), used))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_units::TaskId;
    use std::fs;

    const NOW_S: u64 = 100;

    fn permit(nonce: &str, number: u32, expires_s: u64) -> Permit {
        Permit { nonce: nonce.to_owned(), number, expires_s, retries: 2 }
    }

    /// What is remembered, and is written at once.
    struct Machine {
        permits: Permits,
        book: Book,
    }

    impl Machine {
        fn open(path: &Path, now_s: u64) -> Self {
            let (permits, book) = Permits::read(path, now_s).expect("a file");
            Self { permits, book }
        }

        fn begin(&mut self, run: RunId, permit: Permit, now_s: u64) -> Result<(), String> {
            let note = self.permits.begin(run, permit, now_s)?;
            self.book.write(&note).map_err(|why| why.to_string())
        }

        fn ended(&mut self, run: RunId, ended_well: bool) {
            if let Some(note) = self.permits.ended(run, ended_well) {
                self.book.write(&note).expect("it is written");
            }
        }
    }

    #[test]
    fn a_task_runs_once_whatever_is_started_between() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("signed");
        let open = |now_s| Machine::open(&path, now_s);
        let run = |number| RunId { task: TaskId::new(1), number };
        let mut permits = open(NOW_S);
        let begin = |permits: &mut Machine, number, nonce: &str| {
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
        // What ended well is not run again, by the next agent neither; and not beside itself.
        assert_eq!(begin(&mut permits, 1, "good"), Ok(()));
        assert!(begin(&mut permits, 2, "good").expect_err("it runs").contains("runs here already"));
        permits.ended(run(1), true);
        for _ in 0..2 {
            assert!(begin(&mut permits, 2, "good").expect_err("done").contains("has run here already"));
            permits = open(NOW_S);
        }
        // Another task of the job, and a job that was signed anew.
        assert_eq!(permits.begin(run(3), permit("good", 8, NOW_S + 10), NOW_S), Ok(()));
        assert_eq!(begin(&mut permits, 4, "again"), Ok(()));
        // What has expired is refused anyway, and forgotten.
        assert_eq!(open(NOW_S + 9).permits.tasks.len(), 4);
        assert_eq!(open(NOW_S + 10).permits.tasks.len(), 0);
        assert_eq!(fs::read(&path).expect("a file"), b"forgotten 110\n");
    }

    /// What it left is yet to be stored: another agent does that.
    #[test]
    fn a_task_that_ended_well_under_an_agent_before_does_not_run_beside_that_nor_after_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("signed");
        let run = |number| RunId { task: TaskId::new(1), number };
        let good = || permit("good", 7, NOW_S + 10);
        assert_eq!(Machine::open(&path, NOW_S).begin(run(1), good(), NOW_S), Ok(()));
        let mut next = Machine::open(&path, NOW_S);
        next.permits.take_up(run(1), good());
        let refused = next.begin(run(2), good(), NOW_S).expect_err("it is kept");
        assert!(refused.contains("runs here already"), "{refused}");
        next.ended(run(1), true);
        for mut agent in [next, Machine::open(&path, NOW_S)] {
            let refused = agent.begin(run(2), good(), NOW_S).expect_err("it is done");
            assert!(refused.contains("has run here already"), "{refused}");
        }
    }

    #[test]
    fn a_clock_that_was_ahead_lets_nothing_run_twice() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("signed");
        let run = RunId { task: TaskId::new(1), number: 1 };
        let mut before = Machine::open(&path, NOW_S);
        assert_eq!(before.begin(run, permit("good", 7, NOW_S + 10), NOW_S), Ok(()));
        before.ended(run, true);
        drop(Machine::open(&path, NOW_S + 1_000));
        for _ in 0..2 {
            let mut after = Machine::open(&path, NOW_S);
            let refused = after.begin(run, permit("good", 7, NOW_S + 10), NOW_S).expect_err("it ran");
            assert!(refused.contains("clock was ahead"), "{refused}");
            // One that was signed later is another.
            assert_eq!(after.begin(run, permit("later", 7, NOW_S + 11), NOW_S), Ok(()));
        }
    }

    #[test]
    fn a_start_that_came_to_nothing_does_not_count() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut permits = Machine::open(&folder.path().join("signed"), NOW_S).permits;
        let run = RunId { task: TaskId::new(1), number: 1 };
        for _ in 0..=SIGNED_STARTS_MAX + 2 {
            permits.begin(run, permit("failing", 7, NOW_S + 10), NOW_S).expect("it may");
            permits.withdraw(run);
        }
    }

    #[test]
    fn a_machine_remembers_so_many_signed_tasks() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("signed");
        let mut permits = Machine::open(&path, NOW_S);
        let run = RunId { task: TaskId::new(1), number: 1 };
        let used = Use { expires_s: NOW_S + 10, starts: 1, is_done: true };
        let known = |number| (("known".to_owned(), number), used);
        permits.permits.tasks = (1..SIGNED_REMEMBERED_MAX as u32).map(known).collect();
        assert_eq!(permits.begin(run, permit("last", 1, NOW_S + 20), NOW_S), Ok(()));
        permits.ended(run, false);
        let refused = permits.begin(run, permit("late", 1, NOW_S + 20), NOW_S).expect_err("no room");
        assert!(refused.contains(&format!("remembers {SIGNED_REMEMBERED_MAX} signed tasks")), "{refused}");
        assert_eq!(permits.begin(run, permit("last", 1, NOW_S + 20), NOW_S), Ok(()), "it is known");
        assert_eq!(permits.begin(run, permit("late", 1, NOW_S + 20), NOW_S + 10), Ok(()), "others expired");
        assert_eq!(Machine::open(&path, NOW_S + 10).permits.tasks, permits.permits.tasks);
    }

    #[test]
    fn a_line_that_cannot_be_read_is_put_aside_and_no_other_is_lost() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("signed");
        let text = b"200 7 1 0 n\n200 8 1200 7 1 0 m\n\xff\n200 7 0 1 n\n200 8 1";
        fs::write(&path, text).expect("a file");
        let damaged = Book::read(&path, |line| parsed(line).is_some()).expect("a file");
        assert_eq!(damaged.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 3, 5]);
        let done = Use { expires_s: 200, starts: 1, is_done: true };
        let known = BTreeMap::from([(("n".to_owned(), 7), done)]);
        for _ in 0..2 {
            assert_eq!(Machine::open(&path, NOW_S).permits.tasks, known);
            let aside = fs::read(folder.path().join("signed.damaged")).expect("a file");
            assert_eq!(aside, b"200 8 1200 7 1 0 m\n\xff\n200 8 1\n");
        }
    }
}
