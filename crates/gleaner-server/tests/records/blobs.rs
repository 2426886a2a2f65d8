//! What every form of the blobs promises, and what only a form with a disk can break.

mod conformance;
mod disk;

use gleaner_server::blobs::Terms;
use gleaner_units::Time;

/// Taken at this many nanoseconds, whatever it is.
fn at(nanos: u64) -> Terms {
    Terms { at: Time::from_nanos(nanos), at_most: 1 << 30, claimed: None, announced: None }
}
