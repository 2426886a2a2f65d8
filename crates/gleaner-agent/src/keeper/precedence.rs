//! Tasks give way: whoever else wants a processor of the machine gets it first.
//!
//! A process inherits how nice it is from the one that started it, so the first of a task is enough. Where the kernel groups
//! processes by sessions (`sched_autogroup_enabled`, as on desktops), niceness counts within a session only, and the session
//! has one of its own.

use std::fs;
use std::time::Duration;

use rustix::process::{Pid, getpriority_process, nice, setpriority_pgrp};

use super::next_look::NextLook;
use crate::family;

/// A program that is over before this is in nobody's way.
const FIRST_LOOK: Duration = Duration::from_millis(200);
const PAUSE: Duration = Duration::from_secs(2);

/// How much nicer tasks are than the agent: they get a tenth of what others get that want the same processor.
const NICER: i32 = 10;

/// Has this process give way, and all that come from it.
pub(crate) fn give_way() {
    // Nobody is refused that.
    let _ = nice(NICER);
}

/// Has a process give way that was started just now as the first of its group, with what it has started itself since.
pub(crate) fn have_give_way(first: Pid) {
    if let Ok(ours) = getpriority_process(None) {
        // One that has ended already is in nobody's way.
        let _ = setpriority_pgrp(Some(first), ours + NICER);
    }
}

/// Has the session of this process give way, where the kernel looks at that.
pub(crate) fn have_session_give_way() {
    let _ = fs::write("/proc/self/autogroup", NICER.to_string());
}

/// The watch on the sessions of a task: a sandbox is one, and each new one is as urgent as any until it is told otherwise.
#[derive(Debug)]
pub(crate) struct Sessions {
    pub(super) next_look: NextLook,
}

impl Sessions {
    /// Of a task that starts now; none where the kernel knows no such groups.
    pub(crate) fn new() -> Option<Self> {
        let enabled = fs::read_to_string("/proc/sys/kernel/sched_autogroup_enabled").unwrap_or_default();
        (enabled.trim() == "1").then(|| Self { next_look: NextLook::after(FIRST_LOOK) })
    }

    /// Looks, if it is time to, and has all sessions below this process give way. The kernel takes this ten times a second from all users but
    /// root together; what it does not take is tried again at the next look.
    pub(crate) fn look(&mut self) {
        if !self.next_look.is_due() {
            return;
        }
        for process in family::descendants() {
            let session = format!("/proc/{process}/autogroup");
            let said = fs::read_to_string(&session).unwrap_or_default();
            if niceness(&said).is_some_and(|nice| nice < NICER) {
                let _ = fs::write(&session, NICER.to_string());
            }
        }
        self.next_look = NextLook::after(PAUSE);
    }
}

/// How nice a session is, which any process in it may set: in "/autogroup-123 nice 10", and nothing for one that is in no group.
fn niceness(said: &str) -> Option<i32> {
    said.trim_end().rsplit_once("nice ")?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_as_nice_as_its_line_says() {
        for (said, expected) in [
            ("/autogroup-123 nice 0\n", Some(0)),
            ("/autogroup-123 nice 1\n", Some(1)),
            ("/autogroup-7 nice -20\n", Some(-20)),
            ("/autogroup-7 nice 10\n", Some(NICER)),
            ("", None),
        ] {
            assert_eq!(niceness(said), expected, "{said}");
        }
    }
}
