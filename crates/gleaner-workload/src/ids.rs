//! Identifiers by the million: one string and where each ends in it.

use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

/// Identifiers in the order of the file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ids {
    text: String,
    ends: Vec<usize>,
}

impl Ids {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The `index`-th, counted from 0.
    ///
    /// # Panics
    /// Past the last.
    #[inline]
    pub fn id(&self, index: usize) -> &str {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.text[start..self.ends[index]]
    }

    /// All of them in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|index| self.id(index))
    }

    fn push(&mut self, id: &str) {
        self.text.push_str(id);
        self.ends.push(self.text.len());
    }
}

/// Identifiers that are told apart while they are read. The index costs a few bytes each and is dropped after.
#[derive(Debug, Default)]
pub(crate) struct UniqueIds {
    ids: Ids,
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl UniqueIds {
    /// Whether it is the first of that name; a second is not added.
    pub(crate) fn insert(&mut self, id: &str) -> bool {
        let Self { ids, index, hasher } = self;
        let hash = hasher.hash_one(id);
        let same = |&known: &u32| ids.id(known as usize) == id;
        match index.entry(hash, same, |&known| hasher.hash_one(ids.id(known as usize))) {
            Entry::Occupied(_) => false,
            Entry::Vacant(free) => {
                free.insert(ids.len() as u32);
                ids.push(id);
                true
            }
        }
    }

    pub(crate) fn find(&self, id: &str) -> Option<usize> {
        let known = self.index.find(self.hasher.hash_one(id), |&known| self.ids.id(known as usize) == id)?;
        Some(*known as usize)
    }

    pub(crate) fn ids(&self) -> &Ids {
        &self.ids
    }

    pub(crate) fn into_ids(self) -> Ids {
        self.ids
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_of_the_same_name_is_refused() {
        let mut ids = UniqueIds::default();
        for index in 0..1000 {
            assert!(ids.insert(&format!("t{index}")));
        }
        assert!(!ids.insert("t7"));
        assert_eq!(ids.find("t999"), Some(999));
        assert_eq!(ids.find("t"), None);
        assert_eq!(ids.into_ids().iter().nth(10), Some("t10"));
    }
}
