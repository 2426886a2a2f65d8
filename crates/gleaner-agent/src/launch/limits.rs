//! Limits of single processes; those of a whole task are its cgroup's.

use rustix::process::{Resource, Rlimit as Bounds, getrlimit, setrlimit};

use super::LaunchError;
use super::instructions::Rlimit;

/// Where memory is short, what is the task's is to go first, and not the minder, who is in the same cgroup.
pub(super) fn go_first() {
    // Without it the largest process goes first, which a minder never is by itself.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
}

pub(super) fn set(rlimits: &[(Rlimit, u64)]) -> Result<(), LaunchError> {
    for &(rlimit, most) in rlimits {
        let (resource, name) = match rlimit {
            Rlimit::AddressBytes => (Resource::As, "address space"),
            Rlimit::CoreBytes => (Resource::Core, "core dumps"),
            Rlimit::FileBytes => (Resource::Fsize, "file size"),
            Rlimit::OpenFiles => (Resource::Nofile, "open files"),
            Rlimit::Processes => (Resource::Nproc, "processes"),
        };
        // The agent's own bound, where it is tighter, holds for its tasks too.
        let most = getrlimit(resource).maximum.map_or(most, |bound| most.min(bound));
        setrlimit(resource, Bounds { current: Some(most), maximum: Some(most) })
            .map_err(|error| LaunchError::Limit(name, error.into()))?;
    }
    Ok(())
}
