//! Any bytes as an ad in the old form: what can be read can be written, matched and evaluated.
#![no_main]

use gleaner_classad::ClassAd;
use libfuzzer_sys::fuzz_target;

mod ad;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(read) = ClassAd::parse_old(bytes) {
        ad::expect_sound(&read);
    }
});
