//! What a machine can lack for a while: descriptors, processes, memory of the kernel's. Nobody's task is to blame for that.

use rustix::io::Errno;
use std::io;

/// What the system says then.
const LACKS: [Errno; 6] =
    [Errno::AGAIN, Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::NOBUFS, Errno::TOOMANYREFS];

/// What programs that are not ours say then, in the words of the C library.
const SAID: [&str; 3] = ["Resource temporarily unavailable", "Cannot allocate memory", "Too many open files"];

/// Whether the system has none left of what it takes, and may have some later.
pub(crate) fn is_lack(why: &io::Error) -> bool {
    Errno::from_io_error(why).is_some_and(|why| LACKS.contains(&why))
}

/// Whether a program says so of itself.
pub(crate) fn is_said(why: &str) -> bool {
    SAID.iter().any(|said| why.contains(said))
}
