//! The least of many values that change one at a time, and the first of those that are small enough.
//!
//! A tree of minima with eight children a node: a node's children fill one cache line. Changing a value, finding
//! the least and finding the first that passes a test each cost O(log n), eight comparisons a level.

use crate::scan::lesser;

const CHILDREN: usize = 8;

/// Values by index. A value that takes no part is infinite.
#[derive(Clone, Debug)]
pub(crate) struct Tournament {
    /// The leaves first, the root last; each level is padded with infinities to full nodes.
    levels: Vec<Vec<f64>>,
}

impl Tournament {
    pub(crate) fn new(values: impl IntoIterator<Item = f64>) -> Self {
        let mut levels = vec![padded(values.into_iter().collect())];
        while levels[levels.len() - 1].len() > CHILDREN {
            let above = levels[levels.len() - 1].chunks_exact(CHILDREN).map(least_of).collect();
            levels.push(padded(above));
        }
        Self { levels }
    }

    pub(crate) fn least(&self) -> f64 {
        least_of(&self.levels[self.levels.len() - 1])
    }

    #[inline]
    pub(crate) fn value(&self, index: usize) -> f64 {
        self.levels[0][index]
    }

    pub(crate) fn set(&mut self, index: usize, value: f64) {
        let mut index = index;
        let mut value = value;
        for level in &mut self.levels {
            if level[index] == value {
                // Nothing above changes either.
                return;
            }
            level[index] = value;
            let parent = index / CHILDREN;
            value = least_of(&level[parent * CHILDREN..][..CHILDREN]);
            index = parent;
        }
    }

    /// The lowest index whose value passes `test`, which a value passes if a larger one does.
    pub(crate) fn first(&self, test: impl Fn(f64) -> bool) -> Option<usize> {
        let mut node = 0;
        for level in self.levels.iter().rev() {
            let children = &level[node * CHILDREN..][..CHILDREN];
            node = node * CHILDREN + children.iter().position(|value| test(*value))?;
        }
        Some(node)
    }
}

#[inline]
fn least_of(node: &[f64]) -> f64 {
    node.iter().fold(f64::INFINITY, |least, &value| lesser(value, least))
}

fn padded(mut values: Vec<f64>) -> Vec<f64> {
    values.resize(values.len().max(1).next_multiple_of(CHILDREN), f64::INFINITY);
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_a_scan() {
        let mut values: Vec<f64> = (0..700).map(|i| f64::from(i * 7919 % 211)).collect();
        let mut tree = Tournament::new(values.iter().copied());
        for step in 0..3000_usize {
            let (at, value) = (step * 31 % 700, f64::from((step * step % 503) as u32));
            values[at] = value;
            tree.set(at, value);
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            assert_eq!(tree.least(), least, "step {step}");
            let limit = least + (step % 40) as f64;
            let first = values.iter().position(|value| *value <= limit);
            assert_eq!(tree.first(|value| value <= limit), first, "step {step}");
        }
        assert_eq!(tree.first(|value| value < 0.0), None);
    }
}
