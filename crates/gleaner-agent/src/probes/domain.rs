//! Which part of the machine a load is a share of, and which CPU use is our own.
//!
//! An agent normally measures the whole machine. In a container or a cgroup with a CPU quota only that quota is there
//! to share, and whoever else runs inside it is the owner; so the cgroup's own use and its quota are what counts.

use gleaner_units::Span;

use super::cgroup::Cgroup;
use super::error::ProbeError;
use super::root::Root;
use super::{machine, process};

/// The part of the machine that is shared with its owner.
#[derive(Clone, Debug)]
pub struct Domain {
    root: Root,
    measured: Option<Cgroup>,
    /// Where limits of memory are looked for.
    confined: Cgroup,
    cores: f64,
}

/// Whose CPU use is not the owner's. **Either may miss some of it, and neither counts what is not ours**: of the two, more counts.
#[derive(Clone, Copy, Debug)]
pub struct Ours<'a> {
    /// These processes. List the agent itself and every living process of a task: then the use of one that ends
    /// stays in the sum, if whoever waited for it is listed. Nobody waits for the children of who ignores their ends.
    pub processes: &'a [u32],
    /// What tasks have used by their cgroups, where these are accounted for.
    pub tasks: Option<Span>,
}

impl Domain {
    /// The whole machine.
    pub fn machine(root: &Root) -> Result<Self, ProbeError> {
        let confined = Cgroup::own(root)?;
        Ok(Self { root: root.clone(), measured: None, confined, cores: machine::cores(root)? })
    }

    /// The cgroup that sets the tightest CPU quota for the agent, or the whole machine if none does.
    pub fn detect(root: &Root) -> Result<Self, ProbeError> {
        let machine = Self::machine(root)?;
        let own = &machine.confined;
        match own.quota()? {
            Some(quota) if quota.cores < machine.cores => {
                if !own.accounts_for_its_cpu() {
                    return Err(ProbeError::NotAccounted { path: own.path().to_owned() });
                }
                let measured = own.above(quota.levels_up);
                Self { measured: Some(measured), cores: quota.cores, ..machine }.accounted()
            }
            _ => Ok(machine),
        }
    }

    /// The cgroup called `path` in the hierarchies, whatever its quota is.
    pub fn cgroup(root: &Root, path: &str) -> Result<Self, ProbeError> {
        let cgroup = Cgroup::at(root, path)?;
        let cores = machine::cores(root)?;
        let quota = cgroup.quota()?.map_or(cores, |quota| quota.cores.min(cores));
        Self { root: root.clone(), measured: Some(cgroup.clone()), confined: cgroup, cores: quota }
            .accounted()
    }

    /// How many cores there are to share: a quota of a quarter is 0.25.
    pub fn cores(&self) -> f64 {
        self.cores
    }

    pub(crate) fn root(&self) -> &Root {
        &self.root
    }

    /// The CPU time of all, ours included.
    pub(crate) fn cpu_used(&self) -> Result<Option<Span>, ProbeError> {
        match &self.measured {
            Some(cgroup) => cgroup.cpu_used(),
            None => machine::cpu_used(&self.root),
        }
    }

    /// Bytes that one more program could take.
    pub(crate) fn memory_free(&self) -> Result<Option<u64>, ProbeError> {
        let machine = machine::memory_available(&self.root)?;
        let cgroup = self.confined.memory_left()?;
        Ok([machine, cgroup].into_iter().flatten().min())
    }

    fn accounted(self) -> Result<Self, ProbeError> {
        match &self.measured {
            Some(cgroup) if cgroup.cpu_used()?.is_none() => {
                Err(ProbeError::NotAccounted { path: cgroup.path().to_owned() })
            }
            Some(_) | None => Ok(self),
        }
    }
}

impl<'a> Ours<'a> {
    /// That of some processes.
    pub fn of(processes: &'a [u32]) -> Self {
        Self { processes, tasks: None }
    }

    /// The CPU time of the processes. One that is gone adds nothing, and neither does one that cannot be read: a task that manages
    /// that must not hide the owner's use.
    pub(crate) fn cpu_used(self, root: &Root, faults: &mut Vec<ProbeError>) -> Span {
        let mut nanos = 0u64;
        for &pid in self.processes {
            match process::cpu_used(root, pid) {
                Ok(used) => nanos = nanos.saturating_add(used.map_or(0, Span::nanos)),
                Err(fault) => faults.push(fault),
            }
        }
        Span::from_nanos(nanos)
    }
}
