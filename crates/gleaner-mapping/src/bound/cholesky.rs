//! Solves small systems of equations with a symmetric, positive definite matrix.

/// A matrix as the product of a lower triangle and its transpose.
pub(super) struct Factor {
    size: usize,
    /// Row by row; what is above the diagonal means nothing.
    lower: Vec<f64>,
}

/// What stands for a pivot that round-off has made nothing of: its unknown becomes 0.
const NO_PIVOT: f64 = 1e64;

impl Factor {
    /// Of a matrix given row by row, of which only the lower triangle is read.
    pub(super) fn of(mut matrix: Vec<f64>, size: usize) -> Self {
        for at in 0..size {
            let (above, rows) = matrix.split_at_mut(at * size);
            for (other, row) in above.chunks_exact(size).enumerate() {
                rows[other] = (rows[other] - dot(&rows[..other], &row[..other])) / row[other];
            }
            let diagonal = rows[at];
            let pivot = diagonal - dot(&rows[..at], &rows[..at]);
            rows[at] = if pivot > diagonal * f64::EPSILON { pivot.sqrt() } else { NO_PIVOT };
        }
        Self { size, lower: matrix }
    }

    /// Replaces the right side by the solution.
    pub(super) fn solve(&self, side: &mut [f64]) {
        for (at, row) in self.lower.chunks_exact(self.size).enumerate() {
            side[at] = (side[at] - dot(&row[..at], &side[..at])) / row[at];
        }
        for (at, row) in self.lower.chunks_exact(self.size).enumerate().rev() {
            let value = side[at] / row[at];
            side[at] = value;
            side[..at].iter_mut().zip(row).for_each(|(side, factor)| *side -= factor * value);
        }
    }
}

/// In four sums, so that they need not wait for each other.
fn dot(left: &[f64], right: &[f64]) -> f64 {
    let ((lefts, left_rest), (rights, right_rest)) = (left.as_chunks::<4>(), right.as_chunks::<4>());
    let mut sums = [0.0; 4];
    for (left, right) in lefts.iter().zip(rights) {
        for lane in 0..4 {
            sums[lane] += left[lane] * right[lane];
        }
    }
    let rest: f64 = left_rest.iter().zip(right_rest).map(|(left, right)| left * right).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_what_it_was_made_of() {
        let size = 11;
        let at = |row: usize, column: usize| {
            let off = 1.0 / (1.0 + row.abs_diff(column) as f64);
            if row == column { 3.0 + row as f64 } else { off }
        };
        let matrix: Vec<f64> = (0..size * size).map(|index| at(index / size, index % size)).collect();
        let solution: Vec<f64> = (0..size).map(|index| index as f64 - 4.0).collect();
        let mut side: Vec<f64> = matrix.chunks_exact(size).map(|row| dot(row, &solution)).collect();
        Factor::of(matrix, size).solve(&mut side);
        for (found, expected) in side.iter().zip(solution) {
            assert!((found - expected).abs() < 1e-12, "{found} for {expected}");
        }
    }
}
