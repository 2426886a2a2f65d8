//! Limits of single processes; those of a whole task are its cgroup's.

use rustix::process::{Resource, Rlimit as Bounds, getrlimit, setrlimit};

use super::LaunchError;
use super::instructions::Rlimit;

/// Where memory is short, what is the task's is to go first, and not the minder, who is in the same cgroup.
pub(super) fn go_first() {
    // Without it the largest process goes first, which a minder never is by itself.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
}

/// Of what the kernel counts for a user, and again for each user namespace of that user's: one part of so many of all that the user may
/// have, at least 1.
pub(crate) fn parts_of_user(parts: u32) -> [(Rlimit, u64); 2] {
    let counted =
        [(Rlimit::PendingSignals, Resource::Sigpending), (Rlimit::MessageQueueBytes, Resource::Msgqueue)];
    counted.map(|(rlimit, resource)| {
        let most = getrlimit(resource).current.unwrap_or(u64::MAX);
        (rlimit, most.div_euclid(parts.max(1).into()).max(1))
    })
}

pub(super) fn set(rlimits: &[(Rlimit, u64)]) -> Result<(), LaunchError> {
    for &(rlimit, most) in rlimits {
        let (resource, name) = match rlimit {
            Rlimit::AddressBytes => (Resource::As, "address space"),
            Rlimit::CoreBytes => (Resource::Core, "core dumps"),
            Rlimit::FileBytes => (Resource::Fsize, "file size"),
            Rlimit::MessageQueueBytes => (Resource::Msgqueue, "message queues"),
            Rlimit::OpenFiles => (Resource::Nofile, "open files"),
            Rlimit::PendingSignals => (Resource::Sigpending, "pending signals"),
            Rlimit::Processes => (Resource::Nproc, "processes"),
        };
        // The agent's own bound, where it is tighter, holds for its tasks too.
        let most = getrlimit(resource).maximum.map_or(most, |bound| most.min(bound));
        setrlimit(resource, Bounds { current: Some(most), maximum: Some(most) })
            .map_err(|error| LaunchError::Limit(name, error.into()))?;
    }
    Ok(())
}
