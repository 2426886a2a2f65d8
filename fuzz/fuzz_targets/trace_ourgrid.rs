//! Any bytes as a trace of bags of tasks: reading ends.
#![no_main]

use gleaner_workload::ourgrid::trace::Workload;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = Workload::parse("trace", bytes.to_vec());
});
