//! What tasks are worth at some prices of machines.

use crate::Matrix;

/// More than the relative error of a worth: that of a product, of a compensated sum and of a quotient.
const ROUND_OFF: f64 = 1e-12;

/// What all tasks are worth at least: a lower bound of every makespan, if the prices are 0 or more.
///
/// # Panics
/// If there is not a price from 0 on for each machine, or if all are 0.
pub fn worth(matrix: &Matrix, prices: &[f64]) -> f64 {
    assert_eq!(prices.len(), matrix.machines(), "a price for every machine");
    let sum = sum_of(prices.iter().copied());
    assert!(sum > 0.0 && prices.iter().all(|price| *price >= 0.0), "prices from 0 on, not all 0");
    let worths = matrix.rows().map(|row| cheapest(row, prices).1);
    // The sum of the prices may be off by as much again.
    sum_of(worths) / sum * (1.0 - 2.0 * ROUND_OFF)
}

/// The machine that is cheapest for a task, the first of these, and what the task costs there.
pub(super) fn cheapest(row: &[f64], prices: &[f64]) -> (usize, f64) {
    let costs = row.iter().zip(prices).map(|(time, price)| time * price).enumerate();
    costs.fold(
        (0, f64::INFINITY),
        |least, (machine, cost)| if cost < least.1 { (machine, cost) } else { least },
    )
}

/// A sum whose error does not grow with the number of terms: what is lost at each step is kept (Neumaier).
fn sum_of(terms: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0);
    for term in terms {
        let next = sum + term;
        lost += if sum.abs() >= term.abs() { (sum - next) + term } else { (term - next) + sum };
        sum = next;
    }
    sum + lost
}

#[cfg(test)]
mod tests {
    use super::sum_of;

    #[test]
    fn sums_keep_what_small_terms_add() {
        let terms = [1e16, 1.0, 1.0, -1e16, 3.0];
        assert_eq!(sum_of(terms.into_iter()), 5.0);
    }
}
