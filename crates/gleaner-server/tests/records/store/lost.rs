//! Rows that were committed and are not there any more, without any loss of power: that is noticed, nothing is changed by
//! it, and what can be saved is saved by order.

use super::{numbers, open, refusal, row, rows};
use crate::home;
use gleaner_server::store::{
    DATABASE, OpenError, Readable, Seq, SqliteReader, Store as _, readable, replace,
};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const LOG: &str = "gleaner.db-wal";
const COMMITS: u64 = 20;

/// A folder as a coordinator leaves it that is killed after so many commits of two rows each.
fn killed() -> TempDir {
    let (folder, copy) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let mut store = open(folder.path());
    for commit in 0..COMMITS {
        store.commit(&rows([2 * commit + 1, 2 * commit + 2])).unwrap();
    }
    for name in [DATABASE, LOG, "journal.last"] {
        fs::copy(folder.path().join(name), copy.path().join(name)).unwrap();
    }
    copy
}

/// Without an order nothing stays behind, and of a file that is no database any more it is said what to do.
#[test]
fn what_can_be_read_leaves_no_folder_behind() {
    let folder = killed();
    let names = || {
        let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        names.collect::<std::collections::BTreeSet<_>>()
    };
    let home = home(folder.path());
    let before = names();
    drop(readable(&home).unwrap());
    assert_eq!(names(), before);

    fs::remove_file(folder.path().join(LOG)).unwrap();
    fs::write(folder.path().join(DATABASE), [7; 4_096]).unwrap();
    let before = names();
    let refused = readable(&home).err().expect("no database").to_string();
    assert!(refused.contains("gleaner journal restore FILE"), "{refused}");
    assert!(!refused.contains("journal.saving"), "{refused}");
    assert_eq!(names(), before);
}

fn alter(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at] ^= 0x10;
    fs::write(path, bytes).unwrap();
}

/// All that is committed is there, or it is said that it is not; and after the order the journal takes more.
fn expect_noticed_and_saved(folder: &Path, what: &str) -> u64 {
    // An empty log is none.
    let files = || [DATABASE, LOG].map(|name| fs::read(folder.join(name)).unwrap_or_default());
    let before = files();
    let refused = refusal(folder);
    let text = refused.to_string();
    assert!(text.contains("gleaner journal restore"), "{what}: {text}");
    assert!(matches!(refused, OpenError::Log { .. } | OpenError::Behind { .. }), "{what}: {text}");
    assert!(files() == before, "{what}: it was changed");
    assert!(SqliteReader::open(folder).is_err(), "{what}: whoever verifies it notices too");

    let home = home(folder);
    let Readable { reader, last, known } = readable(&home).unwrap();
    assert_eq!(known, Some(Seq::new(2 * COMMITS)), "{what}");
    let aside = replace(&home, &*reader, last, row(7)).unwrap();
    drop((home, reader));
    assert!(fs::read(aside.join(DATABASE)).unwrap() == before[0], "{what}: what was there is kept");
    let mut store = open(folder);
    assert_eq!(store.commit(&rows([8])).unwrap(), last.plus(2), "{what}");
    let there = store.reader().unwrap().read(Seq::FIRST, 1_000).unwrap();
    assert_eq!(numbers(&there), (1..=last.number() + 2).collect::<Vec<_>>(), "{what}");
    last.number()
}

#[test]
fn a_bit_that_flips_anywhere_in_the_log_loses_nothing_in_silence() {
    let length = fs::metadata(killed().path().join(LOG)).unwrap().len() as usize;
    let mut saved = Vec::new();
    for at in (40..length - 8).step_by(length / 23) {
        let folder = killed();
        alter(&folder.path().join(LOG), at);
        saved.push(expect_noticed_and_saved(folder.path(), &format!("a bit at {at}")));
    }
    let all = saved.iter().filter(|&&last| last == 2 * COMMITS).count();
    assert!(2 * all > saved.len(), "what later commits wrote again is saved: {saved:?}");
}

#[test]
fn the_heads_and_the_end_of_the_log_are_no_exception() {
    for at in [0, 9, 17, 25, 32, 40, 50] {
        let folder = killed();
        alter(&folder.path().join(LOG), at);
        let saved = expect_noticed_and_saved(folder.path(), &format!("a bit at {at}"));
        assert!(at >= 32 || saved == 2 * COMMITS, "all frames are intact behind a bit at {at}: {saved}");
    }
    let folder = killed();
    let mut bytes = fs::read(folder.path().join(LOG)).unwrap();
    bytes[..32].fill(0);
    fs::write(folder.path().join(LOG), bytes).unwrap();
    expect_noticed_and_saved(folder.path(), "no head");
    let folder = killed();
    let log = folder.path().join(LOG);
    alter(&log, fs::metadata(&log).unwrap().len() as usize - 100);
    let saved = expect_noticed_and_saved(folder.path(), "the last commit");
    assert!(saved >= 2 * COMMITS - 2, "{saved}");
}

#[test]
fn a_log_that_was_removed_is_missed() {
    let folder = killed();
    fs::remove_file(folder.path().join(LOG)).unwrap();
    assert_eq!(expect_noticed_and_saved(folder.path(), "no log"), 0, "all of it was in the log");
}

#[test]
fn an_older_copy_in_the_journals_place_is_missed() {
    let folder = TempDir::new().unwrap();
    let copy = folder.path().join("copy");
    open(folder.path()).commit(&rows(1..=3)).unwrap();
    fs::copy(folder.path().join(DATABASE), &copy).unwrap();
    open(folder.path()).commit(&rows(4..=9)).unwrap();
    fs::copy(&copy, folder.path().join(DATABASE)).unwrap();
    let refused = refusal(folder.path());
    assert!(
        matches!(&refused, OpenError::Behind { last, known, .. } if [last.number(), known.number()] == [3, 9]),
        "{refused}"
    );
}

#[test]
fn a_journal_that_is_gone_is_no_new_grid() {
    let folder = TempDir::new().unwrap();
    open(folder.path()).commit(&rows(1..=3)).unwrap();
    fs::remove_file(folder.path().join(DATABASE)).unwrap();
    assert!(matches!(refusal(folder.path()), OpenError::Gone { .. }));
    fs::remove_file(folder.path().join("journal.last")).unwrap();
    fs::create_dir_all(folder.path().join("outputs/1")).unwrap();
    fs::write(folder.path().join("outputs/1/0.1.out"), "text").unwrap();
    assert!(matches!(refusal(folder.path()), OpenError::Gone { .. }));
    assert!(!folder.path().join(DATABASE).exists(), "none was made");
}

/// What was there has been moved aside, and what comes in its place has not been moved in.
#[test]
fn whoever_is_killed_while_a_journal_is_put_back_begins_no_new_grid() {
    for beside in ["journal.new", "replaced/1"] {
        let folder = killed();
        let aside = folder.path().join(beside);
        fs::create_dir_all(&aside).unwrap();
        for name in [DATABASE, LOG, "journal.last"] {
            fs::rename(folder.path().join(name), aside.join(name)).unwrap();
        }
        assert!(matches!(refusal(folder.path()), OpenError::Gone { .. }), "{beside}");
        assert!(!folder.path().join(DATABASE).exists(), "{beside}: none was made");
    }
}

/// All rows of a young grid are in the log, and the file has none.
#[test]
fn a_journal_without_rows_beside_files_of_a_grid_is_no_new_one() {
    for beside in ["blobs/a0", "outputs/1/0", "snapshots"] {
        let folder = killed();
        for lost in [LOG, "journal.last"] {
            fs::remove_file(folder.path().join(lost)).unwrap();
        }
        fs::create_dir_all(folder.path().join(beside)).unwrap();
        drop(open(folder.path()));
        fs::write(folder.path().join(beside).join("file"), "text").unwrap();
        assert!(matches!(refusal(folder.path()), OpenError::Gone { .. }), "{beside}");
    }
}

/// The note is not synced: after a loss of power it may be older, or no note at all.
#[test]
fn a_note_that_is_older_or_none_stands_in_nobodys_way() {
    let folder = killed();
    let note = folder.path().join("journal.last");
    for text in [&b""[..], b"something else", &[0; 24]] {
        fs::write(&note, text).unwrap();
        assert_eq!(open(folder.path()).last(), Seq::new(2 * COMMITS));
    }
}
