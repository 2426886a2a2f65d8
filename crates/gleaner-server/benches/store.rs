//! What a commit costs beside a bare sync of the same disk, and how fast a journal is read at start-up.
//!
//! `cargo bench -p gleaner-server --bench store [FOLDER]`: the disk that is measured is the folder's.

use gleaner_server::store::{Home, NetworkFolder, Row, Seq, SqliteStore, Store, TaskRange};
use gleaner_units::{TaskId, Time};
use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const BODY_BYTES: usize = 150;
const START_UP_ROWS: u64 = 3_000_000;
const START_UP_PAGE: usize = 4096;

fn main() {
    let parent = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let parent = parent.map_or_else(std::env::temp_dir, PathBuf::from);
    let folder = tempfile::tempdir_in(parent).expect("a folder to measure in");
    bare_syncs(folder.path());
    commits(folder.path());
    start_up(folder.path());
}

fn rows(first: u64, count: u64) -> Vec<Row> {
    let row = |number: u64| Row {
        steps: String::new(),
        at: Time::from_nanos(number),
        tasks: vec![TaskRange::one(TaskId::new(number as usize / 3))],
        body: format!("{{\"fact\":{number:0width$}}}", width = BODY_BYTES - 9),
    };
    (first..first + count).map(row).collect()
}

fn print(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    println!("{what:<48} p50 {:>9.1?}  p99 {:>9.1?}  max {:>9.1?}", at(0.5), at(0.99), at(1.0));
}

fn timed(count: u64, mut run: impl FnMut(u64)) -> Vec<Duration> {
    let one = |number| {
        let start = Instant::now();
        run(number);
        start.elapsed()
    };
    (0..count).map(one).collect()
}

/// An append of 150 bytes, and one of the 8 KiB that a commit of one row writes, over space that is there already.
fn bare_syncs(folder: &Path) {
    for bytes in [BODY_BYTES, 8192] {
        let name = folder.join(format!("append-{bytes}"));
        let mut file = File::create(name).expect("a file");
        let times = timed(1000, |_| {
            file.write_all(&vec![7; bytes]).expect("written");
            file.sync_data().expect("synced");
        });
        print(&format!("append of {bytes} bytes and fdatasync"), times);
        let times = timed(1000, |number| {
            file.write_all_at(&vec![8; bytes], number * bytes as u64).expect("written");
            file.sync_data().expect("synced");
        });
        print(&format!("{bytes} bytes in place and fdatasync"), times);
    }
}

fn open(folder: &Path) -> SqliteStore {
    let home = Home::open(folder, NetworkFolder::Refuse).expect("a folder of our own");
    SqliteStore::open(&home).expect("a journal")
}

fn commits(folder: &Path) {
    for (batch, count) in [(1, 5000), (100, 1000), (10_000, 50)] {
        let mut store = open(&folder.join(format!("home-{batch}")));
        let commits: Vec<_> = (0..count).map(|commit| rows(commit * batch, batch)).collect();
        let times = timed(count, |commit| {
            store.commit(&commits[commit as usize]).expect("committed");
        });
        let total: Duration = times.iter().sum();
        let rate = (batch * count) as f64 / total.as_secs_f64();
        print(&format!("commit of {batch} rows ({rate:.0} rows/s)"), times);
    }
}

fn start_up(folder: &Path) {
    let home = folder.join("start-up");
    let mut store = open(&home);
    for first in (0..START_UP_ROWS).step_by(10_000) {
        store.commit(&rows(first, 10_000)).expect("committed");
    }
    drop(store);
    let start = Instant::now();
    let store = open(&home);
    let reader = store.reader().expect("a reader");
    let mut next = Seq::FIRST;
    while next <= store.last() {
        next = next.plus(reader.read(next, START_UP_PAGE).expect("intact rows").len() as u64);
    }
    println!("open and read of {START_UP_ROWS} rows: {:.2?}", start.elapsed());
    let times = timed(1000, |task| {
        reader.history(TaskId::new(task as usize * 1000), Seq::FIRST, 100).expect("intact rows");
    });
    print("history of a task", times);
}
