//! Any text as a job file, a list of tasks or a job of the API: reading it ends, and so does measuring what it says.
#![no_main]

use gleaner_wire::job::JobSpec;
use gleaner_workload::submit::{Source, each_line, from_csv, from_json, read_job_file};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let source = Source::new("job", text);
    if let Ok(file) = read_job_file(&source) {
        let _ = file.job.check_size();
    }
    let _ = (each_line(&source), from_csv(&source), from_json(&source));
    if let Ok(job) = serde_json::from_str::<JobSpec>(text) {
        let _ = (job.order_bytes_max(), job.lengths());
    }
});
