//! Numbers for how fast tasks are: equal where they are equally fast on each class of machines. **A number that no class of tasks
//! has any more is given again**: there are as many as classes of tasks at a time, however many there were.

use gleaner_units::TaskClassId;
use std::collections::BTreeMap;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Speeds {
    /// By number.
    known: Vec<Known>,
    numbers: BTreeMap<Vec<u64>, u32>,
    /// Those that no class has.
    unused: Vec<u32>,
    /// By class of tasks.
    of_classes: Vec<u32>,
}

#[derive(Clone, Debug, Default)]
struct Known {
    /// The seconds per operation on each class of machines.
    bits: Vec<u64>,
    /// How many classes of tasks have it.
    classes: u32,
}

impl Speeds {
    /// The next class of tasks, by its seconds per operation.
    pub(super) fn add(&mut self, row: &[f64]) {
        let number = self.take(row);
        self.of_classes.push(number);
    }

    /// A class is another from now on.
    pub(super) fn replace(&mut self, class: TaskClassId, row: &[f64]) {
        let number = self.take(row);
        let before = std::mem::replace(&mut self.of_classes[class.index()], number);
        self.give_back(before);
    }

    /// Of a class.
    pub(super) fn of(&self, class: TaskClassId) -> u32 {
        self.of_classes[class.index()]
    }

    /// All numbers are below this.
    pub(super) fn count(&self) -> usize {
        self.known.len()
    }

    fn take(&mut self, row: &[f64]) -> u32 {
        let bits: Vec<u64> = row.iter().map(|seconds| seconds.to_bits()).collect();
        let number = self.numbers.get(&bits).copied().unwrap_or_else(|| self.number(bits));
        self.known[number as usize].classes += 1;
        number
    }

    fn number(&mut self, bits: Vec<u64>) -> u32 {
        let number = self.unused.pop().unwrap_or_else(|| {
            self.known.push(Known::default());
            self.known.len() as u32 - 1
        });
        self.known[number as usize].bits.clone_from(&bits);
        self.numbers.insert(bits, number);
        number
    }

    fn give_back(&mut self, number: u32) {
        let known = &mut self.known[number as usize];
        known.classes -= 1;
        if known.classes == 0 {
            self.numbers.remove(&std::mem::take(&mut known.bits));
            self.unused.push(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_no_more_numbers_than_classes_at_a_time() {
        let mut speeds = Speeds::default();
        let [first, second] = [0, 1].map(TaskClassId::new);
        speeds.add(&[1.0]);
        speeds.add(&[1.0]);
        for change in 2..10_000 {
            speeds.replace(second, &[f64::from(change)]);
            assert_ne!(speeds.of(first), speeds.of(second));
        }
        assert!(speeds.count() <= 3, "{}", speeds.count());
        speeds.replace(second, &[1.0]);
        assert_eq!(speeds.of(first), speeds.of(second));
    }
}
