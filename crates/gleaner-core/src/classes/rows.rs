//! A table of numbers that grows by rows and by columns, and lies in one piece: that of tasks' classes, a row each, and of
//! machines' classes, a column each, is looked into at every step.

use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Rows {
    height: usize,
    columns: usize,
    /// What a row takes, some of it for columns that are still to come.
    stride: usize,
    values: Vec<f64>,
}

impl Rows {
    #[inline]
    pub(super) fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.stride..][..self.columns]
    }

    #[inline]
    pub(super) fn get(&self, row: usize, column: usize) -> f64 {
        assert!(column < self.columns, "no column {column} of {}", self.columns);
        self.values[row * self.stride + column]
    }

    pub(super) fn set_row(&mut self, row: usize, values: &[f64]) {
        self.values[row * self.stride..][..self.columns].copy_from_slice(values);
    }

    /// Its number.
    pub(super) fn push_row(&mut self, values: &[f64]) -> usize {
        assert_eq!(values.len(), self.columns, "a row is as long as the others");
        self.height += 1;
        self.values.extend_from_slice(values);
        self.values.resize(self.height * self.stride, 0.0);
        self.height - 1
    }

    /// Costs O(rows), and O(rows · columns) each time that there are twice as many columns.
    pub(super) fn push_column(&mut self, value: impl Fn(usize) -> f64) {
        if self.columns == self.stride {
            let stride = (2 * self.stride).max(1);
            let mut wider = vec![0.0; self.height * stride];
            for row in 0..self.height {
                wider[row * stride..][..self.columns].copy_from_slice(self.row(row));
            }
            (self.stride, self.values) = (stride, wider);
        }
        let column = self.columns;
        self.columns += 1;
        for row in 0..self.height {
            self.values[row * self.stride + column] = value(row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Rows;

    #[test]
    fn rows_and_columns_come_in_any_order() {
        let (mut table, mut plain) = (Rows::default(), Vec::<Vec<f64>>::new());
        for step in 0..40 {
            let value = |row: usize| (100 * step + row) as f64;
            if step % 3 == 1 {
                table.push_column(value);
                plain.iter_mut().enumerate().for_each(|(row, values)| values.push(value(row)));
            } else {
                let columns = table.columns;
                let row: Vec<f64> = (0..columns).map(value).collect();
                table.push_row(&row);
                plain.push(row);
            }
            let changed = step % plain.len().max(1);
            if step % 5 == 4 {
                plain[changed].iter_mut().for_each(|value| *value += 0.5);
                table.set_row(changed, &plain[changed]);
            }
            for (row, values) in plain.iter().enumerate() {
                assert_eq!(table.row(row), values);
                assert!(values.iter().enumerate().all(|(column, value)| table.get(row, column) == *value));
            }
        }
    }
}
