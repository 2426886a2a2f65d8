//! The capabilities that a task could ever come by, with whatever program: none.

use rustix::io::Errno;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, remove_capability_from_bounding_set, set_capabilities,
};

use super::LaunchError;

/// More than any kernel has.
const COUNT: u32 = 64;

/// Empties the bounding set, for which bubblewrap leaves us one capability, and the sets by which the next program would
/// come by what we have left: the inheritable and, with it, the ambient.
pub(super) fn give_up() -> Result<(), LaunchError> {
    let failed = |error: Errno| LaunchError::Capabilities(error.into());
    for number in 0..COUNT {
        match remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << number)) {
            // The kernel has no more.
            Err(Errno::INVAL) => break,
            other => other.map_err(failed)?,
        }
    }
    let ours = capabilities(None).map_err(failed)?;
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { inheritable: none, ..ours }).map_err(failed)
}
