//! Any bytes as a log of jobs in the Standard Workload Format: reading ends, and what was read can be counted, filtered and written again.
#![no_main]

use gleaner_workload::swf::Log;
use libfuzzer_sys::fuzz_target;

mod log;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(log) = Log::parse("log", bytes.to_vec()) {
        log::expect_sound(&log);
    }
});
