//! The 18 fields of a job.

use super::fields::Fields;
use crate::InputError;
use crate::error::Place;
use std::fmt;

/// What the archive calls the fields, from 1.
const NAMES: [&str; 18] = [
    "job number",
    "submit time",
    "wait time",
    "run time",
    "allocated processors",
    "average CPU time used",
    "used memory",
    "requested processors",
    "requested time",
    "requested memory",
    "status",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "preceding job",
    "think time",
];
/// A line of a log. What a log does not know is none; it is written as −1.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Job {
    /// Field 1.
    pub number: Option<u64>,
    /// Field 2, in seconds from the beginning of the log.
    pub submit_s: Option<f64>,
    /// Field 3.
    pub wait_s: Option<f64>,
    /// Field 4.
    pub run_s: Option<f64>,
    /// Field 5, the processors that it had.
    pub processors: Option<u32>,
    /// Field 6, the mean over its processors.
    pub cpu_s: Option<f64>,
    /// Field 7, the mean over its processors, in kilobytes.
    pub memory_kb: Option<f64>,
    /// Field 8.
    pub requested_processors: Option<u32>,
    /// Field 9, what its user estimated.
    pub requested_s: Option<f64>,
    /// Field 10, for each processor, in kilobytes.
    pub requested_memory_kb: Option<f64>,
    /// Field 11: 1 completed, 0 failed, 5 cancelled; 2 to 4 a part of one job, the last of which completed (3) or failed (4).
    pub status: Option<u64>,
    /// Field 12.
    pub user: Option<u64>,
    /// Field 13.
    pub group: Option<u64>,
    /// Field 14, the program by a number.
    pub executable: Option<u64>,
    /// Field 15.
    pub queue: Option<u64>,
    /// Field 16.
    pub partition: Option<u64>,
    /// Field 17, the number of a job that must end first; of several the first.
    pub preceding: Option<u64>,
    /// Field 18, from the preceding job's end to this one's submission.
    pub think_s: Option<f64>,
}

impl Job {
    /// The job in `line`, which is at `place`.
    pub(super) fn parse(line: &[u8], place: &Place) -> Result<Self, InputError> {
        let mut fields = Fields::new(line, place, &NAMES);
        let begun = Self::begin(&mut fields)?;
        Ok(Self {
            user: fields.whole()?,
            group: fields.whole()?,
            executable: fields.whole()?,
            queue: fields.whole()?,
            partition: fields.whole()?,
            preceding: fields.several()?,
            think_s: fields.seconds()?,
            ..begun
        })
    }

    /// A job of whose line the first eleven fields are read: the Grid Workload Format has the same.
    pub(crate) fn begin(fields: &mut Fields<'_>) -> Result<Self, InputError> {
        Ok(Self {
            number: fields.whole()?,
            submit_s: fields.seconds()?,
            wait_s: fields.seconds()?,
            run_s: fields.seconds()?,
            processors: fields.processors()?,
            cpu_s: fields.amount()?,
            memory_kb: fields.amount()?,
            requested_processors: fields.processors()?,
            requested_s: fields.seconds()?,
            requested_memory_kb: fields.amount()?,
            status: fields.whole()?,
            ..Self::default()
        })
    }
}

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = |field: Option<u64>| Known(field.map(|number| number as f64));
        let processors = |field: Option<u32>| Known(field.map(f64::from));
        let fields = [
            known(self.number),
            Known(self.submit_s),
            Known(self.wait_s),
            Known(self.run_s),
            processors(self.processors),
            Known(self.cpu_s),
            Known(self.memory_kb),
            processors(self.requested_processors),
            Known(self.requested_s),
            Known(self.requested_memory_kb),
            known(self.status),
            known(self.user),
            known(self.group),
            known(self.executable),
            known(self.queue),
            known(self.partition),
            known(self.preceding),
        ];
        fields.iter().try_for_each(|field| write!(f, "{field} "))?;
        Known(self.think_s).fmt(f)
    }
}

/// A field as it is written. Whole numbers are below 2⁵³, so that they are exact.
struct Known(Option<f64>);

impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.unwrap_or(-1.0).fmt(f)
    }
}
