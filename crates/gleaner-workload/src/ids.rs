//! Identifiers that are told apart while they are read.

use gleaner_sim::Ids;
use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

/// Identifiers and where each is. The index costs a few bytes each and is dropped after.
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
