use super::Summary;

/// A complete binary tree in an array: node 1 is the root, node i has the children 2i and 2i + 1, and the leaves
/// are the last half, in order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Tournament {
    nodes: Vec<Summary>,
    leaves: usize,
}

/// Depth of a tree over 2³² machines, times the one sibling that waits at each level.
const STACK: usize = 40;

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

    /// The extremes of all leaves.
    pub fn all(&self) -> Summary {
        self.nodes.get(1).copied().unwrap_or(Summary::NONE)
    }

    /// The highest score above `floor`, or `floor`.
    #[inline]
    pub fn best(&self, floor: f64, bound: impl Fn(&Summary) -> f64, score: impl Fn(usize) -> f64) -> f64 {
        let mut best = floor;
        let mut open = [0; STACK];
        let mut depth = self.open_root(&mut open, |root| bound(root) > floor);
        while depth > 0 {
            depth -= 1;
            let node = open[depth];
            if bound(&self.nodes[node]) <= best {
                continue;
            }
            if node >= self.width() {
                best = best.max(score(node - self.width()));
                continue;
            }
            // The more promising child goes on top of the stack.
            let (left, right) = (2 * node, 2 * node + 1);
            let left_first = bound(&self.nodes[left]) >= bound(&self.nodes[right]);
            open[depth] = if left_first { right } else { left };
            open[depth + 1] = if left_first { left } else { right };
            depth += 2;
        }
        best
    }

    /// The first leaf whose score is at least `threshold`.
    #[inline]
    pub fn first(
        &self,
        threshold: f64,
        bound: impl Fn(&Summary) -> f64,
        score: impl Fn(usize) -> f64,
    ) -> Option<usize> {
        let mut open = [0; STACK];
        let mut depth = self.open_root(&mut open, |root| bound(root) >= threshold);
        while depth > 0 {
            depth -= 1;
            let node = open[depth];
            if bound(&self.nodes[node]) < threshold {
                continue;
            }
            if node >= self.width() {
                let leaf = node - self.width();
                if score(leaf) >= threshold {
                    return Some(leaf);
                }
                continue;
            }
            open[depth] = 2 * node + 1;
            open[depth + 1] = 2 * node;
            depth += 2;
        }
        None
    }

    fn width(&self) -> usize {
        self.nodes.len() / 2
    }

    #[inline]
    fn open_root(&self, open: &mut [usize; STACK], wanted: impl Fn(&Summary) -> bool) -> usize {
        let worth = self.nodes.get(1).is_some_and(wanted);
        open[0] = 1;
        usize::from(worth)
    }
}
