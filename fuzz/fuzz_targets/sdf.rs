//! Any text as OurGrid's description of a site: reading it ends.
#![no_main]

use gleaner_workload::ourgrid::sdf;
use gleaner_workload::submit::Source;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = sdf::read(&Source::new("site", text));
});
