//! Fewer points where more could not be seen: a run with a million rows must not make a file of 100 MB.

use std::collections::BTreeSet;

use super::shown::Datum;

/// A series with no more points than this is drawn as it is.
pub(super) const POINTS_MAX: usize = 4_000;

/// Keeps of each stretch of points in one pixel column the first, the lowest, the highest and the last, in their
/// order: what a line through them would look like. `column` tells the column of an x.
pub(super) fn by_column(run: Vec<Datum>, column: impl Fn(f64) -> i64) -> Vec<Datum> {
    if run.len() <= POINTS_MAX {
        return run;
    }
    let mut kept = Vec::new();
    for stretch in run.chunk_by(|a, b| column(a.x) == column(b.x)) {
        let indices = || 0..stretch.len();
        let by_y = |&a: &usize, &b: &usize| stretch[a].y.total_cmp(&stretch[b].y);
        let lowest = indices().min_by(by_y).unwrap_or(0);
        let highest = indices().max_by(by_y).unwrap_or(0);
        let corners = BTreeSet::from([0, lowest, highest, stretch.len() - 1]);
        kept.extend(corners.into_iter().map(|at| stretch[at]));
    }
    kept
}

/// Keeps the first point of each cell: markers on the same spot hide each other.
pub(super) fn by_cell(run: Vec<Datum>, cell: impl Fn(&Datum) -> (i64, i64)) -> Vec<Datum> {
    if run.len() <= POINTS_MAX {
        return run;
    }
    let mut taken = BTreeSet::new();
    run.into_iter().filter(|datum| taken.insert(cell(datum))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(points: usize) -> Vec<Datum> {
        (0..points)
            .map(|i| Datum { x: i as f64, y: if i == 54_321 { 99.0 } else { (i % 7) as f64 }, bounds: None })
            .collect()
    }

    #[test]
    fn a_lone_peak_survives_and_the_ends_stay() {
        let thin = by_column(wave(100_000), |x| (x / 200.0) as i64);
        assert!(thin.len() <= 4 * 500);
        assert!(thin.iter().any(|d| d.y == 99.0));
        assert_eq!((thin[0].x, thin[thin.len() - 1].x), (0.0, 99_999.0));
        assert!(thin.is_sorted_by_key(|d| d.x as i64));
    }

    #[test]
    fn short_series_are_left_alone() {
        assert_eq!(by_column(wave(4_000), |_| 0).len(), 4_000);
    }
}
