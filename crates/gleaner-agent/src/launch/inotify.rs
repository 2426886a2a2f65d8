//! Inotify: how many instances and watches of its user's a task in a user namespace may take.
//!
//! The kernel counts them for the namespace, and again for the user who made it: whatever a task takes, the owner's programs lack. So
//! all tasks together get half of what their user may have, in equal parts. A task with a user id of its own takes only what is
//! its own.

use std::fs;

/// Where the limits of a namespace are, and what is believed where they cannot be read: what kernels begin with.
const LIMITS: [(&str, u64); 2] =
    [("/proc/sys/user/max_inotify_instances", 128), ("/proc/sys/user/max_inotify_watches", 8_192)];

/// Lets this user namespace have no more, as long as we may say so. `gleaner doctor` says whether that works on this machine.
pub(super) fn limit(most: [u64; 2]) {
    for ((file, _), most) in LIMITS.into_iter().zip(most) {
        let _ = fs::write(file, most.to_string());
    }
}

/// Of all that a user may have, one part of so many, for each of the limits; at least 1.
pub(crate) fn part(parts: u32) -> [u64; 2] {
    LIMITS.map(|(file, usual)| {
        let most = fs::read_to_string(file).ok().and_then(|said| said.trim().parse().ok());
        most.unwrap_or(usual).div_euclid(parts.max(1).into()).max(1)
    })
}
