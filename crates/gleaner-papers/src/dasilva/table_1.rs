//! Table 1: processors with their cores and the operations of `SPECpower`'s benchmark that they do a second.

/// As printed, with the cores that rows 18, 19 and 40 must have.
pub const PROCESSORS: &str = include_str!("table_1.csv");

/// A row.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Processor {
    /// As in the paper, from 1.
    pub id: u32,
    /// As printed, or 4 where a digit of the name slid into the column.
    pub cores: u32,
    /// All cores together.
    pub ops_per_s: f64,
}

impl Processor {
    /// Of one core.
    pub fn per_core(&self) -> f64 {
        self.ops_per_s / f64::from(self.cores)
    }
}

/// All rows.
pub fn processors() -> Vec<Processor> {
    let rows = PROCESSORS.lines().skip(1);
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |at: usize| fields[at].parse::<u32>().expect("the table is checked by a test");
        Processor { id: number(0), cores: number(4), ops_per_s: f64::from(number(3)) }
    };
    rows.map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_whole() {
        let rows = processors();
        assert_eq!(rows.len(), 70);
        assert!(rows.iter().zip(1..).all(|(row, id)| row.id == id && row.cores >= 4));
        let mean = rows.iter().map(|row| row.ops_per_s).sum::<f64>() / 70.0;
        let squares: f64 = rows.iter().map(|row| (row.ops_per_s - mean).powi(2)).sum();
        assert!(
            ((squares / 70.0).sqrt() / mean - 0.3694).abs() < 1e-4,
            "its deviation is 36.94 % of its mean"
        );
    }
}
