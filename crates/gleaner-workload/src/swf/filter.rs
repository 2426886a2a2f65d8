//! A part of a log, or a log under more load.

use super::{Log, with_field};
use crate::InputError;
use std::collections::BTreeSet;

/// Which jobs stay, and how much faster they come. What is not said changes nothing.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Filter {
    /// Only jobs that are submitted at this time or later.
    pub from_s: Option<f64>,
    /// Only jobs that are submitted before.
    pub to_s: Option<f64>,
    /// Only jobs of these users.
    pub users: BTreeSet<u64>,
    /// Only jobs that are not larger than a machine of so many processors, whether they ran or not.
    pub cores: Option<u32>,
    /// How many times the load: all gaps between submissions are divided by it. More than 0.
    pub scale_load: Option<f64>,
}

impl Log {
    /// The part of it that stays. Lines and comments stay as they are, but for submit times if the load is scaled: those
    /// become whole seconds, as far from the first job's as they should. That no job stays is an error.
    ///
    /// # Panics
    /// If the load is scaled by something that is not a number above 0.
    pub fn filtered(&self, filter: &Filter) -> Result<Self, InputError> {
        let by = filter.scale_load.unwrap_or(1.0);
        assert!(by.is_finite() && by > 0.0, "a load scaled by {by}");
        let stays = |place: usize| {
            // A part stays with its job: its own line may lack the submit time.
            let place = self.parts.job_of(place).unwrap_or(place);
            let job = &self.jobs[place];
            let after = filter.from_s.is_none_or(|from| job.submit_s.is_some_and(|submit| submit >= from));
            let before = filter.to_s.is_none_or(|to| job.submit_s.is_some_and(|submit| submit < to));
            let theirs = filter.users.is_empty() || job.user.is_some_and(|user| filter.users.contains(&user));
            // What says of no processors is too large for no machine.
            let fits = filter.cores.is_none_or(|cores| job.size().is_none_or(|size| size <= cores));
            after && before && theirs && fits
        };
        if !(0..self.jobs.len()).any(stays) {
            return Err(self.place.error("", "no job that the filter keeps", "at least one"));
        }
        let submits =
            (0..self.jobs.len()).filter(|&place| stays(place)).filter_map(|place| self.jobs[place].submit_s);
        let first = submits.fold(f64::INFINITY, f64::min);
        let mut text = Vec::with_capacity(self.text.len());
        self.write_with(&mut text, |place, line| {
            stays(place).then(|| match self.jobs[place].submit_s {
                Some(submit) if filter.scale_load.is_some() => {
                    with_field(line, 2, &(first + (submit - first) / by).round().to_string())
                }
                Some(_) | None => line.to_vec(),
            })
        })
        .expect("memory takes all that is written");
        Self::parse(self.place.file(), text)
    }
}
