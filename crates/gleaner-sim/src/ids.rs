//! Identifiers by the million: one string and where each ends in it.

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

    /// One more at the end.
    pub fn push(&mut self, id: &str) {
        self.text.push_str(id);
        self.ends.push(self.text.len());
    }
}
