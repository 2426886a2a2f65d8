//! Logs of rigid jobs, in whatever format: each is read into a [`Log`].

use crate::error::{Place, quoted};
use crate::swf::{Kept, Log};
use crate::{InputError, batsim, gwf, packed};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io;
use std::path::Path;

const EXPECTED: &str = "a log of jobs, in the Standard or the Grid Workload Format or Batsim's JSON";

const INSTEAD: &str = "a log of jobs: `gleaner workload convert JOURNAL --out live.swf` makes one of it; `gleaner replay JOURNAL` and \
                       `gleaner advise --journal JOURNAL` run it again as it is; JOURNAL is a folder or a file, not packed and no pipe";

/// So many bytes show whether a text is a journal.
pub const JOURNAL_BEGINNING: usize = 256;

/// A format of logs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// The Standard Workload Format of the Parallel Workloads Archive.
    Swf,
    /// The Grid Workload Format of the Grid Workloads Archive.
    Gwf,
    /// Batsim's JSON.
    Batsim,
}

impl Format {
    /// By a file's name, packed or not.
    pub fn of_name(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        match name.rsplit('.').next()? {
            "swf" => Some(Self::Swf),
            "gwf" => Some(Self::Gwf),
            "json" => Some(Self::Batsim),
            _ => None,
        }
    }

    /// By how the text begins, which is all of `file`.
    fn of_text(text: &[u8], file: &Place) -> Result<Self, InputError> {
        let text = packed::without_mark(text).trim_ascii_start();
        match text.first() {
            Some(b'{') => Ok(Self::Batsim),
            Some(b'#') => Ok(Self::Gwf),
            _ => match beginning_of_no_log(text) {
                None => Ok(Self::Swf),
                Some(line) => {
                    let found = format!("{} at its beginning", quoted(&String::from_utf8_lossy(line)));
                    Err(file.error("", found, EXPECTED))
                }
            },
        }
    }
}

/// The first line that is no comment, unless it is a job of the Standard Workload Format, which begins with a number, or names the
/// columns of jobs and one is behind it.
fn beginning_of_no_log(text: &[u8]) -> Option<&[u8]> {
    let lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let mut lines = lines.filter(|line| !line.is_empty() && line[0] != b';').take(2).peekable();
    let first = *lines.peek()?;
    let is_job = |line: &[u8]| {
        let word = line.split(u8::is_ascii_whitespace).next().unwrap_or_default();
        std::str::from_utf8(word).is_ok_and(|word| word.parse::<f64>().is_ok())
    };
    (!lines.any(is_job)).then_some(first)
}

/// Reads the log at `path`, packed with gzip or not, in the format that is given, or that its name or text shows.
pub fn load(path: &Path, format: Option<Format>) -> Result<Log, InputError> {
    parse(path, read(path)?, format)
}

/// Whether a text begins as what `gleaner journal export` writes.
pub fn is_journal(text: &[u8]) -> bool {
    let beginning = &text[..text.len().min(JOURNAL_BEGINNING)];
    let key = b"\"at_ns\":";
    beginning.starts_with(b"{") && beginning.windows(key.len()).any(|part| part == key)
}

/// What the file or pipe at `path` holds, unpacked, within the bound of a log.
pub fn read(path: &Path) -> Result<Vec<u8>, InputError> {
    packed::read(path)
}

/// Reads what the log at `path` holds, in the format that is given, or that its name or text shows.
pub fn parse(path: &Path, bytes: Vec<u8>, format: Option<Format>) -> Result<Log, InputError> {
    let name = path.display().to_string();
    if is_journal(&bytes) {
        return Err(Place::whole(&name).error("", "the journal of a live grid", INSTEAD));
    }
    let shown = format
        .or_else(|| Format::of_name(path))
        .map_or_else(|| Format::of_text(&bytes, &Place::whole(&name)), Ok);
    let log = match shown? {
        Format::Swf => Log::parse(&name, bytes),
        Format::Gwf => gwf::parse(&name, bytes),
        Format::Batsim => batsim::parse(&name, bytes),
    }?;
    if log.jobs().is_empty() {
        return Err(Place::whole(&name).error("", "no jobs", EXPECTED));
    }
    Ok(log)
}

/// Writes what `content` writes, packed with gzip.
pub fn pack(
    out: &mut dyn io::Write,
    content: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut packer = GzEncoder::new(out, Compression::default());
    content(&mut packer)?;
    packer.finish()?.flush()
}

/// What a task of a scenario has at least: it has to have some work, and logs are to the millisecond.
const LENGTH_MIN: f64 = 0.001;

/// Writes the jobs that can be scheduled as a scenario's `tasks.csv`: each one task, of a kind of operations called `ops`,
/// and as many of them as processors times seconds. That a job takes several processors at once is lost.
pub fn write_tasks(kept: &Kept, out: &mut dyn io::Write) -> io::Result<()> {
    writeln!(out, "id,arrival_s,length,ops,user")?;
    for job in &kept.jobs {
        let length = (f64::from(job.processors) * job.run.seconds()).max(LENGTH_MIN);
        let user = job.user.map_or("unknown".to_owned(), |user| format!("u{user}"));
        writeln!(out, "{},{},{length},1,{user}", job.place + 1, job.submit.seconds())?;
    }
    Ok(())
}
