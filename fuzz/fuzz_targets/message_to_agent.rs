//! Any bytes as a message of a coordinator: what can be read can be written, and says the same again.
#![no_main]

use gleaner_wire::session::{ToAgent, decode, encode};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(message) = decode::<ToAgent>(bytes) {
        assert!(decode::<ToAgent>(&encode(&message)).is_ok());
    }
});
