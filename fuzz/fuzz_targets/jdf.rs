//! Any text as OurGrid's description of a job: reading it ends, and so does measuring what it says.
#![no_main]

use gleaner_workload::submit::{Source, jdf};
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|text: &str| {
    if let Ok(submission) = jdf::translate(&Source::new("job", text), Path::new("/nonexistent"), &[]) {
        submission.jobs.iter().for_each(|job| drop(job.check_size()));
    }
});
