//! Any text as a submit file: reading it ends, and so does measuring what it says.
#![no_main]

use gleaner_workload::submit::Source;
use gleaner_workload::submit::condor::{Surroundings, read};
use libfuzzer_sys::fuzz_target;
use std::collections::BTreeMap;
use std::path::Path;

fuzz_target!(|text: &str| {
    let environment = BTreeMap::new();
    let folder = Path::new("/nonexistent");
    let around = Surroundings { folder, environment: &environment, macros: &[], ignored: &[] };
    if let Ok(submission) = read(&Source::new("job", text), &around) {
        submission.jobs.iter().for_each(|job| drop(job.check_size()));
    }
});
