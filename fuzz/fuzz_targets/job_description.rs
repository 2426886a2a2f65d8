//! Any text as a job in each of the forms: reading it ends, and so does measuring what it says.
#![no_main]

use gleaner_wire::job::JobSpec;
use gleaner_workload::submit::condor::{Surroundings, read};
use gleaner_workload::ourgrid::sdf;
use gleaner_workload::submit::{Source, each_line, from_json, jdf, read_job_file};
use libfuzzer_sys::fuzz_target;
use std::collections::BTreeMap;
use std::path::Path;

fuzz_target!(|text: &str| {
    let source = Source::new("job", text);
    let (folder, environment) = (Path::new("/nonexistent"), BTreeMap::new());
    let around = Surroundings { folder, environment: &environment, macros: &[], ignored: &[] };
    if let Ok(submission) = read(&source, &around) {
        submission.jobs.iter().for_each(|job| drop(job.check_size()));
    }
    if let Ok(submission) = jdf::translate(&source, folder, &[]) {
        submission.jobs.iter().for_each(|job| drop(job.check_size()));
    }
    let _ = sdf::read(&source);
    if let Ok(file) = read_job_file(&source) {
        let _ = file.job.check_size();
    }
    let _ = (each_line(&source), from_json(&source));
    if let Ok(job) = serde_json::from_str::<JobSpec>(text) {
        let _ = (job.order_bytes_max(), job.lengths());
    }
});
