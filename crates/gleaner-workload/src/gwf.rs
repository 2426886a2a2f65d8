//! Logs of grids in the Grid Workload Format.
//!
//! A line is a job of 29 fields that blanks part; `#` begins a comment. The first 16 are those of the Standard Workload
//! Format, but for users, groups, programs, queues and partitions being names: each becomes its number by first
//! appearance, from 1, which the header tells. The earliest submit time becomes 0, and the header has it
//! where it counts from 1970.

use crate::InputError;
use crate::error::Place;
use crate::limits::LOG_JOBS_MAX;
use crate::packed;
use crate::swf::{Columns, Fields, Job, Log};
use hashbrown::HashMap;
use std::io;

/// What the archive calls the fields, from 1.
const NAMES: [&str; 29] = [
    "JobID",
    "SubmitTime",
    "WaitTime",
    "RunTime",
    "NProcs",
    "AverageCPUTimeUsed",
    "UsedMemory",
    "ReqNProcs",
    "ReqTime",
    "ReqMemory",
    "Status",
    "UserID",
    "GroupID",
    "ExecutableID",
    "QueueID",
    "PartitionID",
    "OrigSiteID",
    "LastRunSiteID",
    "JobStructure",
    "JobStructureParams",
    "UsedNetwork",
    "UsedLocalDiskSpace",
    "UsedResources",
    "ReqPlatform",
    "ReqNetwork",
    "ReqLocalDiskSpace",
    "ReqResources",
    "VOID",
    "ProjectID",
];
/// Behind the partition: nothing of them is used.
const UNUSED: usize = NAMES.len() - 16;
/// Begins the comment with the machine's size, which the format has no field for.
const PROCESSORS: &str = "# MaxProcs:";
/// Smaller times count from the beginning of a log, and not from 1970.
const UNIX_LEAST: f64 = 1e8;
/// What the header calls the columns of names.
const NAMED: [&str; 5] = ["User", "Group", "Executable", "Queue", "Partition"];

/// Names by their numbers.
#[derive(Default)]
struct Numbers {
    by_name: HashMap<Vec<u8>, u64>,
    names: Vec<String>,
}

impl Numbers {
    /// The number of a name; none where it is not known.
    fn of(&mut self, name: &[u8]) -> Option<u64> {
        if name == b"-1" {
            return None;
        }
        if let Some(&number) = self.by_name.get(name) {
            return Some(number);
        }
        self.names.push(String::from_utf8_lossy(name).into_owned());
        let number = self.names.len() as u64;
        self.by_name.insert(name.to_vec(), number);
        Some(number)
    }
}

/// Reads a log that is named `name`, packed with gzip or not.
pub fn parse(name: &str, bytes: Vec<u8>) -> Result<Log, InputError> {
    let place = Place::whole(name);
    let text = packed::unpack(bytes, &place)?;
    let mut jobs: Vec<Job> = Vec::new();
    let mut columns: [Numbers; 5] = Default::default();
    let mut named = Columns::default();
    let mut processors = None;
    for (number, line) in (1..).zip(packed::without_mark(&text).split(|&byte| byte == b'\n')) {
        let line = line.trim_ascii();
        if let Some(said) = line.strip_prefix(PROCESSORS.as_bytes()) {
            processors = Some(String::from_utf8_lossy(said.trim_ascii()).into_owned());
        }
        if line.is_empty() || line[0] == b'#' || named.are_named_by(line) {
            continue;
        }
        if jobs.len() == LOG_JOBS_MAX {
            let found = format!("more than {LOG_JOBS_MAX} jobs");
            return Err(place.at_line(number).error("", found, format!("at most {LOG_JOBS_MAX}")));
        }
        jobs.push(job(line, &place.at_line(number), &mut columns)?);
    }
    let start = jobs.iter().filter_map(|job| job.submit_s).fold(f64::INFINITY, f64::min);
    for submit_s in jobs.iter_mut().filter_map(|job| job.submit_s.as_mut()) {
        *submit_s -= start;
    }
    let mut header =
        vec![("Version", "2.2".to_owned()), ("Conversion", "from the Grid Workload Format".to_owned())];
    if start.is_finite() && start >= UNIX_LEAST {
        header.push(("UnixStartTime", start.to_string()));
    }
    header.extend(processors.map(|processors| ("MaxProcs", processors)));
    for (key, column) in NAMED.iter().zip(&columns) {
        let named = (1..).zip(&column.names).map(|(number, name)| format!("{number} {name}"));
        header.extend(named.map(|value| (*key, value)));
    }
    Log::of(name, &header, &jobs)
}

fn job(line: &[u8], place: &Place, columns: &mut [Numbers; 5]) -> Result<Job, InputError> {
    let mut fields = Fields::new(line, place, &NAMES);
    let mut job = Job::begin(&mut fields)?;
    let [users, groups, executables, queues, partitions] = columns;
    job.user = users.of(fields.next()?);
    job.group = groups.of(fields.next()?);
    job.executable = executables.of(fields.next()?);
    job.queue = queues.of(fields.next()?);
    job.partition = partitions.of(fields.next()?);
    for _ in 0..UNUSED {
        fields.next()?;
    }
    Ok(job)
}

/// Writes a log, without what the format has no field for: preceding jobs and think times. The machine's size is a comment.
pub fn write(log: &Log, out: &mut dyn io::Write) -> io::Result<()> {
    writeln!(out, "# {}", NAMES.join("\t"))?;
    if let Some(processors) = log.processors() {
        writeln!(out, "{PROCESSORS} {processors}")?;
    }
    let start = log.unix_start().unwrap_or(0.0);
    for job in log.jobs() {
        let job = Job { submit_s: job.submit_s.map(|submit_s| start + submit_s), ..*job };
        let text = job.to_string();
        let fields = text.split(' ').take(16).chain(std::iter::repeat_n("-1", UNUSED));
        writeln!(out, "{}", fields.collect::<Vec<_>>().join("\t"))?;
    }
    Ok(())
}
