//! What programs write, where it is too long for the journal: one file for each run and stream.
//!
//! **A file is one run's of one grid**: the grid's folder is called after the moment when it began, so that the runs of a
//! grid whose journal was lost are not taken for those of the next; and what an older state of the journal left behind
//! under a run's name is removed when the run is ordered. How much of a file counts, once a run is over, its end says.
//!
//! **What a run wrote is known again**: beside its files lies their hash (`outputs/sums.rs`), made while the pieces came. Of a stream
//! in which a loss of power left a hole there is none.
//!
//! **A piece has its place**: one that comes again, after a connection broke, lands where it was, and one in front of which something
//! is missing is not kept. Before the end of a run is committed its files are synced, so that an end that counts has its whole output.

mod recent;
mod sums;

use crate::desk::Written;
use crate::store::{Home, TaskRange};
use gleaner_units::{RunId, TaskId, Time};
use gleaner_wire::limits::OUTPUT_BYTES_MAX;
use gleaner_wire::session::Stream;
use recent::Recent;
use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use sums::{Running, Sum, Sums};
use thiserror::Error;

/// In the coordinator's folder.
pub(crate) const FOLDER: &str = "outputs";
/// Runs of this many tasks share a folder.
const TASKS_PER_FOLDER: usize = 4_096;
/// Files kept open to be appended to.
const OPEN_MAX: usize = 256;
/// Files of which the hash is known so far, open or not: some 2 KB each.
const GROWING_MAX: usize = 8_192;

/// Output could not be kept, so nothing that rests on it may be committed.
#[derive(Debug, Error)]
#[error("the output of a task cannot be kept or removed in {} ({source}); free some space (or inodes: `df -i`) or mend the disk, then start again: nothing that was acknowledged is lost", path.display())]
pub struct OutputError {
    path: PathBuf,
    source: io::Error,
}

/// The files of one grid.
#[derive(Debug)]
pub struct Outputs {
    folder: PathBuf,
    growing: Recent<Growing>,
    open: Recent<File>,
    /// Streams of runs that are older than this start of the coordinator, and of which nothing came since.
    older: BTreeSet<(RunId, Stream)>,
    /// Those of them in which something is missing. They are not hashed: a hole as long as may be costs its agent one byte.
    torn: BTreeSet<(RunId, Stream)>,
}

/// What is in a file that is appended to.
#[derive(Debug)]
struct Growing {
    length: u64,
    hash: Running,
}

impl Outputs {
    /// Those in `home` of the grid that began then.
    pub fn open(home: &Home, began: Time) -> Self {
        let folder = folder(home.folder(), began);
        let (growing, open) = (Recent::new(GROWING_MAX), Recent::new(OPEN_MAX));
        Self { folder, growing, open, older: BTreeSet::new(), torn: BTreeSet::new() }
    }

    /// These runs may go on from before. Where a loss of power took the end of what was kept of one, its agent does not send that again.
    pub fn go_on_with(&mut self, runs: impl Iterator<Item = RunId>) {
        self.older = runs.flat_map(|run| Stream::ALL.map(|stream| (run, stream))).collect();
    }

    /// Nothing is kept of a run that is ordered now.
    pub fn begin(&mut self, run: RunId) -> Result<(), OutputError> {
        let files = Stream::ALL.map(|stream| {
            self.older.remove(&(run, stream));
            self.torn.remove(&(run, stream));
            self.growing.remove((run, stream));
            self.open.remove((run, stream));
            path(&self.folder, run, stream)
        });
        for path in files.into_iter().chain([sums_path(&self.folder, run)]) {
            match fs::remove_file(&path) {
                Err(source) if source.kind() != ErrorKind::NotFound => {
                    return Err(OutputError { path, source });
                }
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// Keeps a piece; what is beyond the limit is dropped, as its agent does already, and so is what does not join what is kept: no
    /// agent leaves anything out.
    pub fn keep(&mut self, written: &Written) -> Result<(), OutputError> {
        let room = OUTPUT_BYTES_MAX.saturating_sub(written.offset);
        let bytes = &written.bytes[..written.bytes.len().min(room as usize)];
        let key = (written.run, written.stream);
        let path = path(&self.folder, written.run, written.stream);
        let failure = |source| OutputError { path: path.clone(), source };
        let file = self.open.get_or_try_insert(key, || create(&path)).map_err(failure)?;
        let begin =
            || file.metadata().map(|found| Growing { length: found.len(), hash: Running::over(found.len()) });
        let growing = self.growing.get_or_try_insert(key, begin).map_err(failure)?;
        let may_miss_some = self.older.remove(&key);
        if written.offset > growing.length {
            if !may_miss_some {
                return Ok(());
            }
            self.torn.insert(key);
        }
        file.write_all_at(bytes, written.offset).map_err(failure)?;
        growing.hash.add(written.offset, bytes);
        growing.length = growing.length.max(written.offset + bytes.len() as u64);
        Ok(())
    }

    /// How much is kept of what a run wrote to a stream.
    pub fn kept(&self, run: RunId, stream: Stream) -> Result<u64, OutputError> {
        let path = path(&self.folder, run, stream);
        match fs::metadata(&path) {
            Ok(metadata) => Ok(metadata.len()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(0),
            Err(source) => Err(OutputError { path, source }),
        }
    }

    /// Makes sure that what a run wrote outlasts the loss of power, and closes its files, of which so much counts. Costs nothing where
    /// it wrote little.
    pub fn seal(&mut self, run: RunId, lengths: [u64; 2]) -> Result<(), OutputError> {
        let mut sums = Sums::default();
        for ((stream, length), sum) in Stream::ALL.into_iter().zip(lengths).zip(&mut sums.0) {
            let path = path(&self.folder, run, stream);
            let failure = |source| OutputError { path: path.clone(), source };
            let growing = self.growing.remove((run, stream));
            let is_torn = self.torn.remove(&(run, stream));
            let file = match self.open.remove((run, stream)) {
                Some(file) => Some(file),
                None => open_existing(&path).map_err(failure)?,
            };
            if let Some(file) = file {
                file.sync_data().map_err(failure)?;
                *sum = match growing.and_then(|growing| growing.hash.of(length)) {
                    Some(sum) => Some(sum),
                    None if is_torn => None,
                    None => Sum::read(&file, length).map_err(failure)?,
                };
            }
        }
        let path = sums_path(&self.folder, run);
        // Not synced: one that a loss of power tears is told from a whole one, and then only the lengths are compared.
        let written = if sums == Sums::default() { Ok(()) } else { fs::write(&path, sums.encode()) };
        written.map_err(|source| OutputError { path, source })
    }
}

/// Removes all that runs of some tasks wrote: what is not there is removed already. Costs O(files in their folders).
pub fn remove(home: &Path, began: Time, tasks: Vec<TaskRange>) -> Result<(), OutputError> {
    let (outputs, tasks) = (folder(home, began), TaskRange::merged(tasks));
    let number = |task: TaskId| task.index() / TASKS_PER_FOLDER;
    let numbers: BTreeSet<usize> =
        tasks.iter().flat_map(|range| number(range.first())..=number(range.last())).collect();
    for number in numbers {
        let path = outputs.join(number.to_string());
        remove_in(&path, &tasks).map_err(|source| OutputError { path, source })?;
    }
    Ok(())
}

fn remove_in(folder: &Path, tasks: &[TaskRange]) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let task = entry.file_name().to_str().and_then(|name| name.split('.').next()?.parse().ok());
        let is_meant = |task| {
            let behind = tasks.partition_point(|range| range.first() <= task);
            tasks[..behind].last().is_some_and(|range| range.contains(task))
        };
        if task.is_some_and(|task| is_meant(TaskId::new(task))) {
            match fs::remove_file(entry.path()) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
    }
    // A loss of power brings none of them back.
    File::open(folder)?.sync_all()
}

/// A part of what a run wrote to a stream: at most `at_most` bytes from `offset` on. Nothing where it wrote nothing.
pub fn read(
    home: &Path,
    began: Time,
    run: RunId,
    stream: Stream,
    offset: u64,
    at_most: usize,
) -> io::Result<Vec<u8>> {
    let Some(file) = open_existing(&path(&folder(home, began), run, stream))? else {
        return Ok(Vec::new());
    };
    let length = file.metadata()?.len().saturating_sub(offset).min(at_most as u64);
    let mut bytes = vec![0; length as usize];
    file.read_exact_at(&mut bytes, offset)?;
    Ok(bytes)
}

/// How much is kept of what a run wrote to a stream.
pub fn length(home: &Path, began: Time, run: RunId, stream: Stream) -> io::Result<u64> {
    let found = open_existing(&path(&folder(home, began), run, stream))?;
    found.map_or(Ok(0), |file| Ok(file.metadata()?.len()))
}

/// Whether a stream of a run is another than what the run wrote; nothing where no hash of it was kept.
pub fn is_changed(
    home: &Path,
    began: Time,
    run: RunId,
    stream: Stream,
    length: u64,
) -> io::Result<Option<bool>> {
    let folder = folder(home, began);
    let kept = match fs::read(sums_path(&folder, run)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        read => Sums::decode(&read?),
    };
    let Some(sum) = kept.and_then(|sums| sums.0[stream as usize]).filter(|sum| sum.length == length) else {
        return Ok(None);
    };
    let Some(file) = open_existing(&path(&folder, run, stream))? else { return Ok(Some(true)) };
    Ok(Some(Sum::read(&file, length)? != Some(sum)))
}

/// Where a stream of a run is in a coordinator's folder.
pub(crate) fn place(began: Time, run: RunId, stream: Stream) -> PathBuf {
    path(&folder(Path::new(""), began), run, stream)
}

/// Where the hashes of what a run wrote are in a coordinator's folder.
pub(crate) fn sums_place(began: Time, run: RunId) -> PathBuf {
    sums_path(&folder(Path::new(""), began), run)
}

fn folder(home: &Path, began: Time) -> PathBuf {
    home.join(FOLDER).join(began.nanos().to_string())
}

fn path(folder: &Path, run: RunId, stream: Stream) -> PathBuf {
    let task = run.task.index();
    let name = match stream {
        Stream::Stdout => "out",
        Stream::Stderr => "err",
    };
    folder.join((task / TASKS_PER_FOLDER).to_string()).join(format!("{task}.{}.{name}", run.number))
}

fn sums_path(folder: &Path, run: RunId) -> PathBuf {
    path(folder, run, Stream::Stdout).with_extension("sums")
}

fn create(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

fn open_existing(path: &Path) -> io::Result<Option<File>> {
    match OpenOptions::new().read(true).open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::NetworkFolder;

    #[test]
    fn what_is_beyond_the_limit_is_dropped() {
        let home = tempfile::tempdir().expect("a folder");
        let opened = Home::open(home.path(), NetworkFolder::Accept).expect("a home");
        let mut outputs = Outputs::open(&opened, Time::ZERO);
        let (run, stream) = (RunId::new(TaskId::new(0), 1), Stream::Stdout);
        let file = create(&path(&outputs.folder, run, stream)).expect("a disk");
        file.set_len(OUTPUT_BYTES_MAX - 4).expect("a disk");
        for (offset, kept) in [(OUTPUT_BYTES_MAX - 4, 4), (OUTPUT_BYTES_MAX - 1, 4), (OUTPUT_BYTES_MAX, 4)] {
            let bytes = b"four".to_vec();
            outputs.keep(&Written { run, stream, offset, bytes }).expect("a disk");
            let length = length(opened.folder(), Time::ZERO, run, stream).expect("a file");
            assert_eq!(length, OUTPUT_BYTES_MAX - 4 + kept, "at {offset}");
        }
    }

    /// One byte at the end of what may be kept would have all before it read.
    #[test]
    fn a_piece_in_front_of_which_something_is_missing_is_not_kept() {
        let home = tempfile::tempdir().expect("a folder");
        let opened = Home::open(home.path(), NetworkFolder::Accept).expect("a home");
        let mut outputs = Outputs::open(&opened, Time::ZERO);
        let (run, stream) = (RunId::new(TaskId::new(0), 1), Stream::Stdout);
        for (offset, bytes, kept) in [
            (OUTPUT_BYTES_MAX - 1, &b"x"[..], 0),
            (1, b"x", 0),
            (0, b"first", 5),
            (6, b"x", 5),
            (5, b" second", 12),
            (0, b"first", 12),
            (13, b"x", 12),
        ] {
            outputs.keep(&Written { run, stream, offset, bytes: bytes.to_vec() }).expect("a disk");
            assert_eq!(outputs.kept(run, stream).expect("a file"), kept, "at {offset}");
        }
    }

    /// A loss of power takes what was not synced, and its agent has heard that it came.
    #[test]
    fn what_goes_on_after_a_loss_of_power_is_kept() {
        let home = tempfile::tempdir().expect("a folder");
        let opened = Home::open(home.path(), NetworkFolder::Accept).expect("a home");
        let (run, stream) = (RunId::new(TaskId::new(0), 1), Stream::Stdout);
        let mut outputs = Outputs::open(&opened, Time::ZERO);
        outputs.go_on_with([run].into_iter());
        for (offset, kept) in [(100, 101), (103, 101), (101, 102)] {
            outputs.keep(&Written { run, stream, offset, bytes: b"x".to_vec() }).expect("a disk");
            assert_eq!(outputs.kept(run, stream).expect("a file"), kept, "at {offset}");
        }
    }

    /// One byte behind a hole would have all of the hole read.
    #[test]
    fn a_stream_with_a_hole_is_not_hashed() {
        let home = tempfile::tempdir().expect("a folder");
        let opened = Home::open(home.path(), NetworkFolder::Accept).expect("a home");
        let run = RunId::new(TaskId::new(0), 1);
        let mut outputs = Outputs::open(&opened, Time::ZERO);
        outputs.go_on_with([run].into_iter());
        let lengths = [OUTPUT_BYTES_MAX, 5];
        for (stream, offset, bytes) in
            [(Stream::Stdout, OUTPUT_BYTES_MAX - 1, &b"x"[..]), (Stream::Stderr, 0, b"whole")]
        {
            outputs.keep(&Written { run, stream, offset, bytes: bytes.to_vec() }).expect("a disk");
        }
        outputs.seal(run, lengths).expect("a disk");
        let changed = |stream, length| is_changed(opened.folder(), Time::ZERO, run, stream, length);
        assert_eq!(changed(Stream::Stdout, lengths[0]).expect("a file"), None);
        assert_eq!(changed(Stream::Stderr, lengths[1]).expect("a file"), Some(false));
    }

    /// More streams than files may be open: none has to be read again at its end, whichever runs they are of.
    #[test]
    fn what_is_known_of_a_stream_outlasts_its_open_file() {
        let home = tempfile::tempdir().expect("a folder");
        let opened = Home::open(home.path(), NetworkFolder::Accept).expect("a home");
        let mut outputs = Outputs::open(&opened, Time::ZERO);
        let runs = || (0..OPEN_MAX + 8).map(|task| RunId::new(TaskId::new(task), 1));
        let stream = Stream::Stdout;
        for (offset, bytes) in [(0, b"first "), (6, b"second")] {
            for run in runs() {
                outputs.keep(&Written { run, stream, offset, bytes: bytes.to_vec() }).expect("a disk");
            }
        }
        for run in runs() {
            let known = outputs.growing.remove((run, stream)).and_then(|growing| growing.hash.of(12));
            assert!(known.is_some(), "{run}");
        }
    }

    /// In order, again after a connection broke, after a start of the coordinator, and with more than counts.
    #[test]
    fn a_byte_that_was_changed_is_noticed_however_the_pieces_came() {
        let home = tempfile::tempdir().expect("a folder");
        let opened = Home::open(home.path(), NetworkFolder::Accept).expect("a home");
        let stream = Stream::Stdout;
        let pieces: [&[(u64, &[u8])]; 4] = [
            &[(0, b"first "), (6, b"second")],
            &[(0, b"first "), (0, b"first s"), (7, b"econd")],
            &[(0, b"first "), (6, b"second"), (0, b"first ")],
            &[(0, b"first second"), (12, b" and more")],
        ];
        for (number, (pieces, restarts)) in
            pieces.iter().flat_map(|pieces| [(pieces, false), (pieces, true)]).enumerate()
        {
            let run = RunId::new(TaskId::new(number), 1);
            let mut outputs = Outputs::open(&opened, Time::ZERO);
            for &(offset, bytes) in *pieces {
                if restarts {
                    outputs = Outputs::open(&opened, Time::ZERO);
                }
                outputs.keep(&Written { run, stream, offset, bytes: bytes.to_vec() }).expect("a disk");
            }
            let changed =
                |length| is_changed(home.path(), Time::ZERO, run, stream, length).expect("it can be read");
            assert_eq!(changed(12), None, "no hash is kept of what is not whole yet");
            outputs.seal(run, [12, 0]).expect("a disk");
            assert_eq!((changed(12), changed(11)), (Some(false), None), "{pieces:?}");

            let file = path(&folder(home.path(), Time::ZERO), run, stream);
            let mut bytes = fs::read(&file).expect("it is there");
            bytes[7] ^= 1;
            fs::write(&file, &bytes).expect("a disk");
            assert_eq!(changed(12), Some(true), "{pieces:?}");
            let sums = file.with_extension("sums");
            let whole = fs::read(&sums).expect("it is there");
            for torn in [&whole[..0], &whole[..20], &[0; 112][..]] {
                fs::write(&sums, torn).expect("a disk");
                assert_eq!(changed(12), None, "what was torn says nothing");
            }
            outputs.begin(run).expect("a disk");
            assert!(!sums.exists() && !file.exists());
        }
    }
}
