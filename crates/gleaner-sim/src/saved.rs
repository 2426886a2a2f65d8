use crate::setup::Setup;
use crate::world::World;
use gleaner_core::Grid;
use gleaner_units::Time;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Changes whenever the layout does.
const FORMAT: u32 = 1;

/// A run in the middle. Of the policy only the name is in it: its indices are rebuilt from the grid.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Saved {
    format: u32,
    setup: u64,
    rule: String,
    pub(crate) grid: Grid,
    pub(crate) world: World,
    pub(crate) now: Time,
    pub(crate) events: u64,
}

/// Why a run cannot go on from a file.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum RestoreError {
    /// Not one of our files, or cut off.
    #[error("this is no checkpoint, or its end is missing")]
    Unreadable,
    /// Of another version.
    #[error("the checkpoint has format {found}; this program reads {FORMAT}")]
    Format {
        /// As the file says.
        found: u32,
    },
    /// Of another run.
    #[error("the checkpoint belongs to another scenario: its machines, tasks or loads are not these")]
    OtherSetup,
    /// Of the same scenario under another policy.
    #[error("the checkpoint was made under another policy: {0}")]
    OtherPolicy(String),
}

impl Saved {
    pub(crate) fn new(setup: &Setup, rule: &str, grid: Grid, world: World, now: Time, events: u64) -> Self {
        Self { format: FORMAT, setup: fingerprint(setup), rule: rule.to_owned(), grid, world, now, events }
    }

    pub(crate) fn check(&self, setup: &Setup, rule: &str) -> Result<(), RestoreError> {
        if self.format != FORMAT {
            return Err(RestoreError::Format { found: self.format });
        }
        if self.setup != fingerprint(setup) {
            return Err(RestoreError::OtherSetup);
        }
        if self.rule == rule { Ok(()) } else { Err(RestoreError::OtherPolicy(self.rule.clone())) }
    }

    /// As a file's contents.
    pub fn to_bytes(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("plain data can always be written to memory")
    }

    /// From a file's contents.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RestoreError> {
        match postcard::take_from_bytes::<u32>(bytes) {
            Ok((FORMAT, _)) => postcard::from_bytes(bytes).map_err(|_| RestoreError::Unreadable),
            Ok((found, _)) => Err(RestoreError::Format { found }),
            Err(_) => Err(RestoreError::Unreadable),
        }
    }
}

/// FNV-1a over the setup's numbers: tells scenarios apart; no defence against one made to collide.
fn fingerprint(setup: &Setup) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |word: u64| {
        for byte in word.to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    let classes = postcard::to_stdvec(&(&setup.config, &setup.machine_classes, &setup.task_classes));
    classes.expect("plain data can always be written to memory").iter().for_each(|&byte| add(byte.into()));
    setup.machines.iter().for_each(|class| add(class.index() as u64));
    for row in &setup.loads {
        add(row.time.nanos());
        add(row.machine.index() as u64);
        add(row.load.to_bits());
    }
    for index in 0..setup.tasks.len() {
        add(setup.tasks.arrivals[index].nanos());
        add(setup.tasks.lengths[index].amount().to_bits());
        add(setup.tasks.classes[index].index() as u64);
    }
    hash
}
