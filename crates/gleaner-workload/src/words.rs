//! Sets of words, as machines provide them and tasks ask for them: `linux gpu` or `linux;gpu`.

use hashbrown::HashMap;
use std::collections::BTreeSet;

/// The sets met so far: many rows write the same few fields.
#[derive(Debug, Default)]
pub(crate) struct WordSets {
    by_field: HashMap<String, u32>,
    by_set: HashMap<BTreeSet<String>, u32>,
    sets: Vec<BTreeSet<String>>,
}

impl WordSets {
    /// A number for the set, the same whatever the order in which the words are written.
    pub(crate) fn number(&mut self, field: &str) -> u32 {
        if let Some(&set) = self.by_field.get(field) {
            return set;
        }
        let words = words(field);
        let set = self.by_set.get(&words).copied().unwrap_or_else(|| {
            let next = self.sets.len() as u32;
            self.by_set.insert(words.clone(), next);
            self.sets.push(words);
            next
        });
        self.by_field.insert(field.to_owned(), set);
        set
    }

    /// The set of that number.
    pub(crate) fn set(&self, number: u32) -> &BTreeSet<String> {
        &self.sets[number as usize]
    }
}

pub(crate) fn words(field: &str) -> BTreeSet<String> {
    let words = field.split(|c: char| c == ';' || c.is_whitespace());
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_separators_do_not_matter() {
        let mut sets = WordSets::default();
        assert_eq!(sets.number("linux gpu"), sets.number(" gpu; linux "));
        assert_ne!(sets.number("linux gpu"), sets.number("linux"));
        assert_eq!(sets.number(""), sets.number(" ; "));
    }
}
