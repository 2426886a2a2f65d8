//! What must hold of a machine.

use serde::Serialize;

/// Something that must hold of a machine before it can run a task.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// The machine provides this word of the task's domain.
    Provides(String),
    /// The machine has some speed for this kind of operation, counted from 0.
    HasSpeed(usize),
    /// A clause of the task's requirements holds of the machine.
    TaskRequires(String),
    /// A clause of the machine's requirements holds of the task.
    MachineRequires(String),
    /// No try of the task failed on the machine for what may be the machine's fault, or no other machine could take the task.
    HasNotFailedIt,
    /// A clause takes no more work than it may.
    EvaluatesSoon(String),
    /// The machine lets tasks have so many cores.
    HasCores(u32),
    /// The machine lets tasks have so many bytes of memory.
    HasMemory(u64),
    /// The machine lets tasks have so many bytes of disk.
    HasDisk(u64),
    /// The owner leaves some of the machine.
    OwnerLeavesSome,
    /// The machine is neither paused, nor drained, nor out of reach.
    IsOpen,
    /// The tasks on the machine leave so many of its cores.
    CoresAreFree(u32),
    /// The tasks on the machine leave so many bytes of its memory.
    MemoryIsFree(u64),
    /// The tasks on the machine leave so many bytes of its disk.
    DiskIsFree(u64),
}

impl Condition {
    /// Whether a machine that fails it may hold it later, though it stays what it is.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::OwnerLeavesSome
            | Self::IsOpen
            | Self::CoresAreFree(_)
            | Self::MemoryIsFree(_)
            | Self::DiskIsFree(_) => true,
            Self::Provides(_)
            | Self::HasSpeed(_)
            | Self::TaskRequires(_)
            | Self::MachineRequires(_)
            | Self::HasNotFailedIt
            | Self::EvaluatesSoon(_)
            | Self::HasCores(_)
            | Self::HasMemory(_)
            | Self::HasDisk(_) => false,
        }
    }
}
