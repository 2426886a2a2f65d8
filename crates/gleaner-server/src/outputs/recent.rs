//! So many things of streams, those that were used last.

use gleaner_units::RunId;
use gleaner_wire::session::Stream;
use std::collections::BTreeMap;

type Key = (RunId, Stream);

/// See the module.
#[derive(Debug)]
pub(super) struct Recent<T> {
    most: usize,
    /// With the number of its last use.
    known: BTreeMap<Key, (u64, T)>,
    by_use: BTreeMap<u64, Key>,
    uses: u64,
}

impl<T> Recent<T> {
    /// Nothing, and room for so many.
    pub(super) fn new(most: usize) -> Self {
        Self { most, known: BTreeMap::new(), by_use: BTreeMap::new(), uses: 0 }
    }

    pub(super) fn remove(&mut self, key: Key) -> Option<T> {
        let (used, found) = self.known.remove(&key)?;
        self.by_use.remove(&used);
        Some(found)
    }

    /// What is known of a stream, or from now on. For one more, what was not used for longest goes.
    pub(super) fn get_or_try_insert<E>(
        &mut self,
        key: Key,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<&mut T, E> {
        let found = match self.remove(key) {
            Some(found) => found,
            None => make()?,
        };
        if self.known.len() >= self.most
            && let Some((_, oldest)) = self.by_use.pop_first()
        {
            self.known.remove(&oldest);
        }
        self.uses += 1;
        self.by_use.insert(self.uses, key);
        Ok(&mut self.known.entry(key).insert_entry((self.uses, found)).into_mut().1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_units::TaskId;

    #[test]
    fn what_was_not_used_for_longest_goes() {
        let key = |task: usize| (RunId::new(TaskId::new(task), 1), Stream::Stdout);
        let mut recent = Recent::new(2);
        let mut made = Vec::new();
        for task in [1, 9, 1, 5, 1, 9] {
            let make = || {
                made.push(task);
                Ok::<_, ()>(task)
            };
            assert_eq!(recent.get_or_try_insert(key(task), make), Ok(&mut task.clone()));
        }
        assert_eq!(made, [1, 9, 5, 9], "1 stays, though it is the lowest");
        assert_eq!((recent.remove(key(9)), recent.remove(key(5))), (Some(9), None));
        assert_eq!((recent.known.len(), recent.by_use.len()), (1, 1));
    }
}
