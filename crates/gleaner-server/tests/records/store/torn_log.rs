//! Power goes in the middle of a commit: what was committed before is there, the last commit is there or not.

use super::{numbers, open, rows};
use gleaner_server::store::{Reader as _, Seq, SqliteReader, Store as _, TornTail, verify};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const LOG: &str = "gleaner.db-wal";
const BEFORE: u64 = 40;
const LAST: u64 = 25;
/// Where the salts of a frame end.
const SALTS_END: usize = 16;
/// A frame: its header and a page.
const FRAME: usize = 24 + 4096;

/// The file and its log after some commits and before the last one is complete in the file, and how long the log was
/// before it.
struct Crashed {
    database: Vec<u8>,
    log: Vec<u8>,
    log_before: usize,
}

impl Crashed {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let read = |name| fs::read(folder.path().join(name)).unwrap();
        let mut store = open(folder.path());
        store.commit(&rows(1..=BEFORE / 2)).unwrap();
        store.commit(&rows(BEFORE / 2 + 1..=BEFORE)).unwrap();
        let log_before = read(LOG).len();
        store.commit(&rows(BEFORE + 1..=BEFORE + LAST)).unwrap();
        Self { database: read("gleaner.db"), log: read(LOG), log_before }
    }

    /// What a restart keeps when the log is `log`, and how many bytes it finds torn.
    fn restart(&self, folder: &Path, log: &[u8]) -> (u64, u64) {
        fs::write(folder.join("gleaner.db"), &self.database).unwrap();
        fs::write(folder.join(LOG), log).unwrap();
        // Nobody was told of the last commit, so nothing says that it was there.
        drop(fs::remove_file(folder.join("journal.last")));
        let mut store = open(folder);
        let kept = store.last().number();
        let torn = store.torn_tail();
        assert!(torn.is_none_or(|torn| torn.last == store.last()), "{torn:?}");
        let found = verify(&*store.reader().unwrap()).unwrap();
        assert_eq!((found.intact, found.damaged), (kept, 0));
        assert_eq!(store.commit(&rows(100..=100)).unwrap(), Seq::new(kept + 1));
        drop(store);
        assert_eq!(open(folder).torn_tail(), None, "it is said once");
        let reader = SqliteReader::open(folder).unwrap();
        assert_eq!(numbers(&reader.read(Seq::FIRST, 1000).unwrap()), (1..=kept + 1).collect::<Vec<_>>());
        (kept, torn.map_or(0, |torn| torn.bytes))
    }
}

/// Some positions in the part of the log that the last commit wrote: all around the headers, and a stride between.
fn positions(crashed: &Crashed) -> impl Iterator<Item = usize> {
    let (start, end) = (crashed.log_before, crashed.log.len());
    (start..end).filter(move |position| position - start < 32 || end - position < 8 || position % 127 == 0)
}

#[test]
fn a_cut_log_loses_the_last_commit_as_a_whole_or_not_at_all() {
    let crashed = Crashed::new();
    let folder = TempDir::new().unwrap();
    assert_eq!(crashed.restart(folder.path(), &crashed.log), (BEFORE + LAST, 0));
    for length in positions(&crashed) {
        let left = length - crashed.log_before;
        // Without its salts a frame cannot be told from one of an earlier round.
        let of_frame = left % FRAME;
        let torn = if of_frame < SALTS_END { left - of_frame } else { left } as u64;
        assert_eq!(crashed.restart(folder.path(), &crashed.log[..length]), (BEFORE, torn), "cut to {length}");
    }
}

#[test]
fn a_garbled_log_loses_the_last_commit_as_a_whole_or_not_at_all() {
    let crashed = Crashed::new();
    let folder = TempDir::new().unwrap();
    for position in positions(&crashed) {
        let mut log = crashed.log.clone();
        log[position] ^= 0xff;
        let (kept, torn) = crashed.restart(folder.path(), &log);
        assert!(kept == BEFORE || kept == BEFORE + LAST, "{kept} rows kept, garbled at {position}");
        assert_eq!(torn > 0, kept == BEFORE, "garbled at {position}");
    }
}

/// What a killed coordinator wrote and did not sync is read from the system's cache: a start must bring it to the disk
/// before anything rests on it. It does so by moving it out of the log.
#[test]
fn after_a_start_nothing_rests_on_the_log() {
    let crashed = Crashed::new();
    let (folder, without_log) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    fs::write(folder.path().join("gleaner.db"), &crashed.database).unwrap();
    fs::write(folder.path().join(LOG), &crashed.log).unwrap();
    let started = open(folder.path());
    fs::copy(folder.path().join("gleaner.db"), without_log.path().join("gleaner.db")).unwrap();
    assert_eq!(started.last(), Seq::new(BEFORE + LAST));
    assert_eq!(open(without_log.path()).last(), started.last());
}

/// Sectors reach the disk in any order: the tail may be there and the middle not.
#[test]
fn a_log_with_a_hole_loses_the_last_commit_as_a_whole() {
    const SECTOR: usize = 512;
    let crashed = Crashed::new();
    let folder = TempDir::new().unwrap();
    for start in (crashed.log_before..crashed.log.len()).step_by(SECTOR) {
        let mut log = crashed.log.clone();
        let end = log.len().min(start + SECTOR);
        log[start..end].fill(0);
        let was_zero = log == crashed.log;
        let (kept, torn) = crashed.restart(folder.path(), &log);
        assert_eq!(
            (kept, torn > 0),
            if was_zero { (BEFORE + LAST, false) } else { (BEFORE, true) },
            "hole at {start}"
        );
    }
}

#[test]
fn a_torn_tail_is_told_in_words() {
    assert_eq!(
        TornTail { last: Seq::new(57), bytes: 4_120 }.to_string(),
        "the journal ended in the middle of a commit: all rows up to 57 are kept, and 4120 bytes behind them are not. \
         Nothing that was acknowledged is lost, since nothing is acknowledged before the disk says that it has it; what \
         was under way is done again. There is nothing to do"
    );
}
