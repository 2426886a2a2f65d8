//! Rows that are nearly alike become one, so that the linear program stays small.

/// A group for each row, counted from 0, at most `groups_max` of them: the group that is widest in some column, by
/// the ratio of its ends, is cut at their geometric mean until there are enough or all rows of a group are equal.
///
/// Costs O(rows · columns) for each level of cuts.
pub(super) fn group(rows: &[Vec<f64>], groups_max: usize) -> Vec<usize> {
    if rows.len() <= groups_max {
        return (0..rows.len()).collect();
    }
    let mut groups = vec![Group::new(rows, (0..rows.len()).collect())];
    while groups.len() < groups_max {
        let widest = (0..groups.len()).fold(
            0,
            |best, at| {
                if groups[at].width > groups[best].width { at } else { best }
            },
        );
        if groups[widest].width <= 1.0 {
            break;
        }
        let (low, high) = groups.swap_remove(widest).cut(rows);
        groups.extend([Group::new(rows, low), Group::new(rows, high)]);
    }
    let mut of_row = vec![0; rows.len()];
    for (at, group) in groups.iter().enumerate() {
        group.members.iter().for_each(|&row| of_row[row] = at);
    }
    of_row
}

/// Each row over its least value, and that value: rows that differ by a factor only become equal. A row whose least
/// is 0 or infinite stays as it is.
pub(super) fn shapes(mut rows: Vec<Vec<f64>>) -> (Vec<Vec<f64>>, Vec<f64>) {
    let shape = |row: &mut Vec<f64>| {
        let least = row.iter().copied().fold(f64::INFINITY, f64::min);
        let scale = if least > 0.0 && least.is_finite() { least } else { 1.0 };
        for value in row.iter_mut() {
            *value /= scale;
        }
        scale
    };
    let scales = rows.iter_mut().map(shape).collect();
    (rows, scales)
}

/// The elementwise harmonic mean of each group's rows, since what adds up is speed, not time: infinite only where
/// all of them are.
pub(super) fn means(rows: &[Vec<f64>], of_row: &[usize]) -> Vec<Vec<f64>> {
    let groups = of_row.iter().max().map_or(0, |last| last + 1);
    let columns = rows.first().map_or(0, Vec::len);
    let mut means = vec![vec![0.0; columns]; groups];
    let mut members = vec![0.0; groups];
    for (row, &group) in rows.iter().zip(of_row) {
        members[group] += 1.0;
        means[group].iter_mut().zip(row).for_each(|(sum, value)| *sum += 1.0 / value);
    }
    for (mean, members) in means.iter_mut().zip(members) {
        for value in mean {
            *value = members / *value;
        }
    }
    means
}

struct Group {
    members: Vec<usize>,
    column: usize,
    low: f64,
    high: f64,
    width: f64,
}

impl Group {
    fn new(rows: &[Vec<f64>], members: Vec<usize>) -> Self {
        let columns = rows.first().map_or(0, Vec::len);
        let mut ends = vec![(f64::INFINITY, 0.0_f64); columns];
        for &row in &members {
            for ((low, high), &value) in ends.iter_mut().zip(&rows[row]) {
                (*low, *high) = (low.min(value), high.max(value));
            }
        }
        let mut group = Self { members, column: 0, low: 1.0, high: 1.0, width: 1.0 };
        for (column, (low, high)) in ends.into_iter().enumerate() {
            // ∞/∞ and 0/0 are no width at all.
            let width = if low == high { 1.0 } else { high / low };
            if width > group.width {
                group = Self { column, low, high, width, ..group };
            }
        }
        group
    }

    /// Both parts have members: the lowest are always in the first, the highest never.
    fn cut(self, rows: &[Vec<f64>]) -> (Vec<usize>, Vec<usize>) {
        let mean = self.low.sqrt() * self.high.sqrt();
        let is_low = |row: &usize| {
            let value = rows[*row][self.column];
            value == self.low || (value < mean && value < self.high)
        };
        self.members.into_iter().partition(is_low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_rows_share_a_group() {
        let never = f64::INFINITY;
        let rows = vec![vec![1.0, 5.0], vec![1.01, 5.0], vec![6.0, 5.0], vec![never, 5.0], vec![12.0, 5.0]];
        let of_row = group(&rows, 3);
        assert_eq!(of_row[0], of_row[1]);
        assert_eq!(of_row[2], of_row[4]);
        assert_eq!(means(&rows, &of_row)[of_row[2]], [8.0, 5.0]);
        assert_eq!(means(&rows, &of_row)[of_row[3]], [never, 5.0]);
    }

    #[test]
    fn a_shape_is_free_of_scale() {
        let never = f64::INFINITY;
        let (rows, scales) =
            shapes(vec![vec![2.0, 6.0], vec![never, 4.0], vec![0.0, 3.0], vec![never, never]]);
        assert_eq!(rows, [[1.0, 3.0], [never, 1.0], [0.0, 3.0], [never, never]]);
        assert_eq!(scales, [2.0, 4.0, 1.0, 1.0]);
    }

    #[test]
    fn equal_rows_are_never_cut() {
        assert_eq!(group(&vec![vec![0.0, f64::INFINITY]; 5], 3), [0; 5]);
    }

    #[test]
    fn zero_and_infinity_are_cut_apart() {
        let rows = vec![vec![0.0], vec![f64::INFINITY], vec![0.0]];
        assert_eq!(group(&rows, 2), [0, 1, 0]);
    }
}
