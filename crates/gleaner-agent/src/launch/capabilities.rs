//! The capabilities that a task could ever come by, with whatever program: none.

use rustix::io::Errno;
use rustix::thread::{
    CapabilitySet, clear_ambient_capability_set, remove_capability_from_bounding_set,
};

use super::LaunchError;

/// More than any kernel has.
const COUNT: u32 = 64;

/// Empties the bounding set, for which bubblewrap leaves us one capability. That one goes with the next program, since
/// nothing stays that would hand it on.
pub(super) fn give_up() -> Result<(), LaunchError> {
    for number in 0..COUNT {
        match remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << number)) {
            // The kernel has no more.
            Err(Errno::INVAL) => break,
            other => other.map_err(|error| LaunchError::Capabilities(error.into()))?,
        }
    }
    clear_ambient_capability_set().map_err(|error| LaunchError::Capabilities(error.into()))
}
