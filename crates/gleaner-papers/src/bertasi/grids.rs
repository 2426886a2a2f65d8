//! The two grids. A machine has one core: it "performs at most one operation at a given time instant".

/// S: operations a second of each kind.
pub type Speeds = [f64; 3];

/// S₀ to S₃ of the synthetic grid; S₁ = S₂.
pub const SYNTHETIC: [Speeds; 4] =
    [[4.0, 100.0, 250.0], [2.0, 100.0, 250.0], [2.0, 100.0, 250.0], [1.0, 800.0, 250.0]];

/// Table 3, a line a row: how many machines in sequence, and their speeds.
const AEOLUS_ROWS: [(usize, Speeds); 23] = [
    (1, [0.70, 50.0, 500.0]),
    (1, [0.80, 50.0, 500.0]),
    (1, [0.87, 50.0, 500.0]),
    (1, [0.90, 50.0, 500.0]),
    (2, [0.93, 50.0, 500.0]),
    (1, [1.00, 60.0, 500.0]),
    (1, [1.30, 60.0, 500.0]),
    (1, [1.40, 60.0, 500.0]),
    (1, [1.67, 75.0, 500.0]),
    (6, [1.70, 70.0, 500.0]),
    (1, [1.80, 70.0, 500.0]),
    (3, [2.00, 100.0, 500.0]),
    (1, [2.20, 100.0, 500.0]),
    (1, [2.40, 100.0, 500.0]),
    (1, [2.40, 100.0, 1000.0]),
    (2, [2.53, 90.0, 1000.0]),
    (1, [2.60, 90.0, 1000.0]),
    (30, [2.66, 105.0, 1000.0]),
    (6, [2.80, 85.0, 500.0]),
    (2, [2.83, 100.0, 500.0]),
    (2, [3.00, 80.0, 500.0]),
    (2, [3.10, 80.0, 500.0]),
    (2, [3.20, 80.0, 500.0]),
];

/// S₀ to S₆₉ of the AEOLUS grid.
pub fn aeolus() -> Vec<Speeds> {
    AEOLUS_ROWS.iter().flat_map(|&(count, speeds)| std::iter::repeat_n(speeds, count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_aeolus_grid_has_the_machines_of_table_3() {
        let grid = aeolus();
        assert_eq!(grid.len(), 70);
        let rows = [
            (0, [0.70, 50.0, 500.0]),
            (5, [0.93, 50.0, 500.0]),
            (6, [1.00, 60.0, 500.0]),
            (9, [1.67, 75.0, 500.0]),
            (10, [1.70, 70.0, 500.0]),
            (15, [1.70, 70.0, 500.0]),
            (19, [2.00, 100.0, 500.0]),
            (20, [2.20, 100.0, 500.0]),
            (22, [2.40, 100.0, 1000.0]),
            (25, [2.60, 90.0, 1000.0]),
            (26, [2.66, 105.0, 1000.0]),
            (55, [2.66, 105.0, 1000.0]),
            (56, [2.80, 85.0, 500.0]),
            (62, [2.83, 100.0, 500.0]),
            (65, [3.00, 80.0, 500.0]),
            (67, [3.10, 80.0, 500.0]),
            (69, [3.20, 80.0, 500.0]),
        ];
        for (machine, speeds) in rows {
            assert_eq!(grid[machine], speeds, "S{machine}");
        }
    }

    #[test]
    fn thirty_machines_are_alike_and_frequencies_rise() {
        let grid = aeolus();
        assert_eq!(grid.iter().filter(|speeds| **speeds == [2.66, 105.0, 1000.0]).count(), 30);
        assert!(grid.is_sorted_by(|a, b| a[0] <= b[0]));
    }
}
