//! Kinds: what is equal to the bit is kept once, numbered in order of first appearance.

use hashbrown::HashMap;

/// Numbers what it is shown. A key is the bits of a vector and whatever else tells two kinds apart.
#[derive(Debug, Default)]
pub(crate) struct Kinds {
    seen: HashMap<Vec<u64>, u32>,
    key: Vec<u64>,
}

/// Whether a kind was met before.
pub(crate) enum Met {
    Before(u32),
    /// For the first time: the caller adds it to its list under this number.
    First(u32),
}

impl Kinds {
    pub(crate) fn meet(&mut self, vector: &[f64], rest: &[u64]) -> Met {
        self.key.clear();
        self.key.extend(vector.iter().map(|value| value.to_bits()));
        self.key.extend(rest);
        if let Some(&kind) = self.seen.get(self.key.as_slice()) {
            return Met::Before(kind);
        }
        let kind = self.seen.len() as u32;
        self.seen.insert(self.key.clone(), kind);
        Met::First(kind)
    }
}
