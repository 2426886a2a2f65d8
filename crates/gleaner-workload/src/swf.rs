//! Logs of rigid jobs in the Standard Workload Format.
//!
//! A line is a job of 18 fields that blanks part; `;` begins a comment, and comments at the top are a header of
//! `; Key: value`. **A log is kept as it was written**: [`Log::write`] gives back every byte, whatever the line ends, the
//! blanks and the comments, so that what we change is all that changes. [`Log::kept`] has the jobs that can be scheduled.
//!
//! As in the archive's own files: a field that is negative is not known; times may have fractions; a line may have more
//! than 18 fields, which nobody reads; a first line that names the columns is a comment; a job that waits for several
//! others names them as `4&5&6`. A job that was interrupted has a line, and further ones for its `parts`.

mod fields;
mod filter;
mod header;
mod job;
mod kept;
mod line;
mod parts;
mod served;
mod statistics;

pub(crate) use fields::{Columns, Fields};
pub use filter::Filter;
pub use header::Entry;
pub use job::Job;
pub use kept::{Kept, KeptJob, LeftOut};
pub use line::with_field;
pub use served::{MeanMax, Served, Service, Services};
pub use statistics::Statistics;

use crate::InputError;
use crate::error::Place;
use crate::limits::LOG_JOBS_MAX;
use crate::packed;
use parts::Parts;
use std::fmt::Write as _;
use std::io;
use std::ops::Range;
use std::path::Path;

/// A log, byte for byte, and what its lines say.
#[derive(Clone, Debug)]
pub struct Log {
    place: Place,
    text: Vec<u8>,
    jobs: Vec<Job>,
    /// Where each job's line lies in the text, without its end.
    lines: Vec<Range<usize>>,
    parts: Parts,
}

impl Log {
    /// Reads the file at `path`, packed with gzip or not.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, InputError> {
        let path = path.as_ref();
        Self::parse(&path.display().to_string(), packed::read(path)?)
    }

    /// Reads a log that is named `name`, packed with gzip or not.
    pub fn parse(name: &str, bytes: Vec<u8>) -> Result<Self, InputError> {
        Self::parse_within(LOG_JOBS_MAX, name, bytes)
    }

    fn parse_within(jobs_max: usize, name: &str, bytes: Vec<u8>) -> Result<Self, InputError> {
        let place = Place::whole(name);
        let text = packed::unpack(bytes, &place)?;
        let (mut jobs, mut lines) = (Vec::new(), Vec::new());
        let content = packed::without_mark(&text);
        let mut start = text.len() - content.len();
        let mut columns = Columns::default();
        for (number, line) in (1..).zip(content.split(|&byte| byte == b'\n')) {
            let range = start..start + line.strip_suffix(b"\r").unwrap_or(line).len();
            start += line.len() + 1;
            let line = line.trim_ascii();
            if line.is_empty() || line[0] == b';' || columns.are_named_by(line) {
                continue;
            }
            if jobs.len() == jobs_max {
                let found = format!("more than {jobs_max} jobs");
                return Err(place.at_line(number).error("", found, format!("at most {jobs_max}")));
            }
            jobs.push(Job::parse(line, &place.at_line(number))?);
            lines.push(range);
        }
        let parts = Parts::of(&jobs);
        Ok(Self { place, text, jobs, lines, parts })
    }

    /// A log of these jobs, below a header of these entries.
    pub fn of(name: &str, header: &[(&str, String)], jobs: &[Job]) -> Result<Self, InputError> {
        let mut text = String::new();
        for (key, value) in header {
            writeln!(text, "; {key}: {}", value.replace(['\r', '\n'], " ")).expect("memory");
        }
        for job in jobs {
            writeln!(text, "{job}").expect("memory");
        }
        Self::parse(name, text.into_bytes())
    }

    /// What the file was called.
    pub fn name(&self) -> String {
        self.place.file().to_owned()
    }

    /// All lines, in the order of the file; also those that are a part of a job, which [`Log::kept`] leaves out.
    pub fn jobs(&self) -> &[Job] {
        &self.jobs
    }

    /// The same without those that are a part of a job.
    pub fn whole_jobs(&self) -> impl Iterator<Item = &Job> {
        let places = (0..).zip(&self.jobs);
        places.filter(|(place, _)| self.parts.job_of(*place).is_none()).map(|(_, job)| job)
    }

    /// The line of the job at `place` in [`Log::jobs`], as it was written, without its end.
    pub fn line(&self, place: usize) -> &[u8] {
        &self.text[self.lines[place].clone()]
    }

    /// The text as it was written, unpacked.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Writes the log as it was read, unpacked.
    pub fn write(&self, out: &mut dyn io::Write) -> io::Result<()> {
        out.write_all(&self.text)
    }

    /// Writes the comments as they are, and of the jobs' lines what `line` makes of them: nothing leaves a job out.
    pub fn write_with(
        &self,
        out: &mut dyn io::Write,
        mut line: impl FnMut(usize, &[u8]) -> Option<Vec<u8>>,
    ) -> io::Result<()> {
        let mut written = 0;
        for (place, range) in self.lines.iter().enumerate() {
            out.write_all(&self.text[written..range.start])?;
            written = range.end;
            if let Some(changed) = line(place, &self.text[range.clone()]) {
                out.write_all(&changed)?;
            } else {
                // Its line end goes with it.
                let rest = &self.text[written..];
                written += rest.iter().position(|&byte| byte == b'\n').map_or(rest.len(), |end| end + 1);
            }
        }
        out.write_all(&self.text[written..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_ends_at_its_limit() {
        let line = "1 0 0 1 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n";
        let parse = |lines: usize| Log::parse_within(3, "a.swf", line.repeat(lines).into_bytes());
        assert_eq!(parse(3).map(|log| log.jobs().len()), Ok(3));
        let error = parse(4).expect_err("one too many");
        assert_eq!((error.line, error.found.as_str()), (Some(4), "more than 3 jobs"));
    }
}
