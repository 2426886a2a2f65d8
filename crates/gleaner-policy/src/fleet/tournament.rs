use super::Summary;

/// A complete binary tree in an array: node 1 is the root, node i has the children 2i and 2i + 1, and the leaves
/// are the last half, in order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Tournament {
    nodes: Vec<Summary>,
    leaves: usize,
}

impl Tournament {
    /// Adds a leaf at the end. Costs O(log n), and O(n) whenever the number doubles.
    pub fn push(&mut self, summary: Summary) {
        let width = self.width();
        if self.leaves == width {
            let wider = (2 * width).max(1);
            let mut nodes = vec![Summary::NONE; 2 * wider];
            nodes[wider..wider + self.leaves].copy_from_slice(&self.nodes[width..]);
            for node in (1..wider).rev() {
                nodes[node] = nodes[2 * node].join(&nodes[2 * node + 1]);
            }
            self.nodes = nodes;
        }
        self.leaves += 1;
        self.set(self.leaves - 1, summary);
    }

    /// Replaces a leaf.
    #[inline]
    pub fn set(&mut self, leaf: usize, summary: Summary) {
        let mut node = self.width() + leaf;
        if self.nodes[node] == summary {
            return;
        }
        self.nodes[node] = summary;
        while node > 1 {
            node /= 2;
            let joined = self.nodes[2 * node].join(&self.nodes[2 * node + 1]);
            if joined == self.nodes[node] {
                break;
            }
            self.nodes[node] = joined;
        }
    }

    /// The extremes of all leaves, if there are any.
    #[inline]
    pub fn root(&self) -> Option<&Summary> {
        self.nodes.get(1)
    }

    /// The highest score above `floor`, or `floor`; for who knows that the root's bound is above it.
    #[inline]
    pub fn best_below_root(
        &self,
        floor: f64,
        bound: impl Fn(&Summary) -> f64,
        score: impl Fn(usize) -> f64,
    ) -> f64 {
        self.best_below(1, floor, &bound, &score)
    }

    /// The first leaf whose score is at least `threshold`.
    #[inline]
    pub fn first(
        &self,
        threshold: f64,
        bound: impl Fn(&Summary) -> f64,
        score: impl Fn(usize) -> f64,
    ) -> Option<usize> {
        let width = self.width();
        let mut node = 1;
        loop {
            if self.nodes.get(node).is_some_and(|summary| bound(summary) >= threshold) {
                if node < width {
                    node *= 2;
                    continue;
                }
                if score(node - width) >= threshold {
                    return Some(node - width);
                }
            }
            // On to what comes after this node and all below it: after a right child, what comes after its parent;
            // after the root, nothing.
            node >>= node.trailing_ones();
            if node == 0 {
                return None;
            }
            node += 1;
        }
    }

    /// The last leaf whose score is at least `threshold`.
    pub fn last(
        &self,
        threshold: f64,
        bound: impl Fn(&Summary) -> f64,
        score: impl Fn(usize) -> f64,
    ) -> Option<usize> {
        let width = self.width();
        // What is still to be looked into, the last on top.
        let mut open = vec![1];
        while let Some(node) = open.pop() {
            if self.nodes.get(node).is_none_or(|summary| bound(summary) < threshold) {
                continue;
            }
            if node < width {
                open.extend([2 * node, 2 * node + 1]);
            } else if score(node - width) >= threshold {
                return Some(node - width);
            }
        }
        None
    }

    fn best_below(
        &self,
        node: usize,
        floor: f64,
        bound: &impl Fn(&Summary) -> f64,
        score: &impl Fn(usize) -> f64,
    ) -> f64 {
        let width = self.width();
        if node >= width {
            return floor.max(score(node - width));
        }
        let (left, right) = (2 * node, 2 * node + 1);
        let (left_bound, right_bound) = (bound(&self.nodes[left]), bound(&self.nodes[right]));
        let left_first = left_bound >= right_bound;
        let (first, second) = if left_first { (left, right) } else { (right, left) };
        let mut best = floor;
        if left_bound.max(right_bound) > best {
            best = self.best_below(first, best, bound, score);
        }
        if left_bound.min(right_bound) > best {
            best = self.best_below(second, best, bound, score);
        }
        best
    }

    fn width(&self) -> usize {
        self.nodes.len() / 2
    }
}
