//! Any bytes as a message of an agent: what can be read can be written, and says the same again.
#![no_main]

use gleaner_wire::session::{FromAgent, decode, encode};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(message) = decode::<FromAgent>(bytes) {
        assert!(decode::<FromAgent>(&encode(&message)).is_ok());
    }
});
