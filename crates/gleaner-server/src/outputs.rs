//! What programs write, where it is too long for the journal: one file for each run and stream.
//!
//! **A file is one run's of one grid**: the grid's folder is called after the moment when it began, so that the runs of a
//! grid whose journal was lost are not taken for those of the next; and what an older state of the journal left behind
//! under a run's name is removed when the run is ordered. How much of a file counts, once a run is over, its end says.
//!
//! **A piece has its place**: one that comes again, after a connection broke, lands where it was. Before the end of a
//! run is committed its files are synced, so that an end that counts has its whole output.

use crate::desk::Written;
use crate::store::{Home, TaskRange};
use gleaner_units::{RunId, TaskId, Time};
use gleaner_wire::limits::OUTPUT_BYTES_MAX;
use gleaner_wire::session::Stream;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// In the coordinator's folder.
pub(crate) const FOLDER: &str = "outputs";
/// Runs of this many tasks share a folder.
const TASKS_PER_FOLDER: usize = 4_096;
/// Files kept open to be appended to.
const OPEN_MAX: usize = 256;

/// Output could not be kept, so nothing that rests on it may be committed.
#[derive(Debug, Error)]
#[error("the output of a task cannot be kept or removed in {} ({source}); free some space or mend the disk, then start again: nothing that was acknowledged is lost", path.display())]
pub struct OutputError {
    path: PathBuf,
    source: io::Error,
}

/// The files of one grid.
#[derive(Debug)]
pub struct Outputs {
    folder: PathBuf,
    open: BTreeMap<(RunId, Stream), File>,
}

impl Outputs {
    /// Those in `home` of the grid that began then.
    pub fn open(home: &Home, began: Time) -> Self {
        Self { folder: folder(home.folder(), began), open: BTreeMap::new() }
    }

    /// Nothing is kept of a run that is ordered now.
    pub fn begin(&mut self, run: RunId) -> Result<(), OutputError> {
        for stream in [Stream::Stdout, Stream::Stderr] {
            self.open.remove(&(run, stream));
            let path = path(&self.folder, run, stream);
            match fs::remove_file(&path) {
                Err(source) if source.kind() != ErrorKind::NotFound => {
                    return Err(OutputError { path, source });
                }
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// Keeps a piece; what is beyond the limit is dropped, as its agent does already.
    pub fn keep(&mut self, written: &Written) -> Result<(), OutputError> {
        let room = OUTPUT_BYTES_MAX.saturating_sub(written.offset);
        let bytes = &written.bytes[..written.bytes.len().min(room as usize)];
        let key = (written.run, written.stream);
        let path = path(&self.folder, written.run, written.stream);
        let failure = |source| OutputError { path: path.clone(), source };
        if !self.open.contains_key(&key) {
            if self.open.len() >= OPEN_MAX {
                self.open.pop_first();
            }
            self.open.insert(key, create(&path).map_err(failure)?);
        }
        self.open[&key].write_all_at(bytes, written.offset).map_err(failure)
    }

    /// Makes sure that what a run wrote outlasts the loss of power, and closes its files. Costs nothing where it wrote
    /// little.
    pub fn seal(&mut self, run: RunId) -> Result<(), OutputError> {
        for stream in [Stream::Stdout, Stream::Stderr] {
            let path = path(&self.folder, run, stream);
            let file = match self.open.remove(&(run, stream)) {
                Some(file) => Some(file),
                None => open_existing(&path).map_err(|source| OutputError { path: path.clone(), source })?,
            };
            if let Some(file) = file {
                file.sync_data().map_err(|source| OutputError { path, source })?;
            }
        }
        Ok(())
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
        for (offset, kept) in [(OUTPUT_BYTES_MAX - 4, 4), (OUTPUT_BYTES_MAX - 1, 4), (OUTPUT_BYTES_MAX, 4)] {
            let bytes = b"four".to_vec();
            outputs.keep(&Written { run, stream, offset, bytes }).expect("a disk");
            let length = length(opened.folder(), Time::ZERO, run, stream).expect("a file");
            assert_eq!(length, OUTPUT_BYTES_MAX - 4 + kept, "at {offset}");
        }
    }
}
