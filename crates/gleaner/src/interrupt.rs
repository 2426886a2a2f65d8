//! Ctrl-C and SIGTERM: the work stops at the next convenient point, and what was done is kept.

use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

/// From now on a signal asks to stop; a second one ends the process at once.
pub(crate) fn listen() {
    let stop = || {
        if ASKED.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    };
    // Where there is no way to listen, the signal ends the process as it always did.
    let _ = ctrlc::set_handler(stop);
}

/// Whether somebody asked to stop.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}
