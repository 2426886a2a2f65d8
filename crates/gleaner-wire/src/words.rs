//! Many short texts in one piece: a job with a million rows must not be a million allocations.

use crate::room::room;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// A list of texts; in every format it looks like any other list.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Words {
    text: String,
    /// Where each ends.
    ends: Vec<u32>,
}

impl Words {
    /// How many.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Bytes of memory that they take, about.
    pub(crate) fn memory_bytes(&self) -> usize {
        room(self.text.len()) + room(self.ends.len() * size_of::<u32>())
    }

    /// Adds one.
    ///
    /// # Panics
    /// Past 4 GiB in all, which is far above what is read from anyone.
    pub fn push(&mut self, word: &str) {
        self.text.push_str(word);
        self.ends.push(u32::try_from(self.text.len()).expect("more than 4 GiB of words"));
    }

    /// The one at a place.
    pub fn get(&self, index: usize) -> &str {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start as usize..self.ends[index] as usize]
    }

    /// One after the other.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|index| self.get(index))
    }
}

impl<'a> FromIterator<&'a str> for Words {
    fn from_iter<I: IntoIterator<Item = &'a str>>(items: I) -> Self {
        let mut words = Self::default();
        items.into_iter().for_each(|word| words.push(word));
        words
    }
}

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Serialize for Words {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().collect::<Vec<_>>())
    }
}

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Words;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of texts")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Words, A::Error> {
                let mut words = Words::default();
                // The text itself may be borrowed or not; either way it is copied only once more.
                while let Some(word) = items.next_element::<std::borrow::Cow<'_, str>>()? {
                    if word.len() + words.text.len() > u32::MAX as usize {
                        return Err(serde::de::Error::custom("more than 4 GiB of values"));
                    }
                    words.push(&word);
                }
                words.text.shrink_to_fit();
                words.ends.shrink_to_fit();
                Ok(words)
            }
        }
        deserializer.deserialize_seq(Each)
    }
}
