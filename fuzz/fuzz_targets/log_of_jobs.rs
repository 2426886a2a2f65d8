//! Any bytes as a log of jobs or a trace in each of the formats: reading ends, and what was read can be written again.
#![no_main]

use gleaner_workload::ourgrid::trace::Workload;
use gleaner_workload::swf::{Filter, Log, Statistics};
use gleaner_workload::{batsim, gwf};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let read = [
        Log::parse("log", bytes.to_vec()),
        gwf::parse("log", bytes.to_vec()),
        batsim::parse("log", bytes.to_vec()),
    ];
    for log in read.into_iter().flatten() {
        let _ = Statistics::of(&log, 64);
        let _ = log.filtered(&Filter { scale_load: Some(1.5), cores: Some(8), ..Filter::default() });
        let _ = (gwf::write(&log, &mut Vec::new()), batsim::write(64, &log.kept(64), &mut Vec::new()));
    }
    let _ = Workload::parse("trace", bytes.to_vec());
});
