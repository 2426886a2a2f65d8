//! Which past a coordinator has: what tells one whose journal was put back to an older state from the one that it was.
//!
//! Every start of a coordinator draws a [`Lineage`] and records it. A run belongs to the start that ordered it, and an
//! agent remembers which start it was with last ([`Met`]). A journal that was put back has other starts behind the point
//! to which it was put back, whatever its counters say.

use crate::ChainHash;
use gleaner_units::RunId;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::num::ParseIntError;

/// A start of a coordinator, or the act of putting a journal back: a random number, in 16 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Lineage(u64);

impl Lineage {
    /// Of eight random bytes.
    pub const fn of(random: [u8; 8]) -> Self {
        Self(u64::from_le_bytes(random))
    }
}

impl fmt::Display for Lineage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl From<Lineage> for String {
    fn from(lineage: Lineage) -> Self {
        lineage.to_string()
    }
}

impl TryFrom<String> for Lineage {
    type Error = ParseIntError;

    fn try_from(text: String) -> Result<Self, ParseIntError> {
        u64::from_str_radix(&text, 16).map(Self)
    }
}

/// What an agent remembers of the coordinator that it was with last.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Met {
    /// Which of the coordinator's starts it was.
    pub epoch: u32,
    /// What that start drew.
    pub lineage: Lineage,
    /// The last row of its journal that the agent heard of.
    pub row: u64,
    /// What the rows up to it added up to.
    #[serde(default)]
    pub hash: Option<ChainHash>,
    /// The latest times that its journal was put back by order, as far as the agent heard of them.
    pub restores: Vec<Lineage>,
}

/// A run that an agent has, and under which start of the coordinator it was ordered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Had {
    /// Which run.
    pub run: RunId,
    /// Which start.
    pub lineage: Lineage,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lineage_reads_back() {
        for number in [0, 7, u64::MAX] {
            let lineage = Lineage(number);
            let text = serde_json::to_string(&lineage).expect("plain data");
            assert_eq!(
                serde_json::from_str::<Lineage>(&text).expect("it was just written"),
                lineage,
                "{text}"
            );
        }
        assert!(serde_json::from_str::<Lineage>("\"none\"").is_err());
    }
}
