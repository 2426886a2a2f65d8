//! Bounds are the linear program's optimum, and no mapping goes below.

use crate::draw::Choices;
use crate::hcsp;
use gleaner_mapping::bound::{Bound, worth};
use gleaner_mapping::{Heuristic, Mapping, Matrix};
use microlp::{ComparisonOp, OptimizationDirection, Problem};

#[test]
fn bounds_are_those_that_another_solver_found() {
    for (name, figures) in hcsp::table("lower_bounds.csv") {
        let bound = Bound::of(&hcsp::instance(&name)).value;
        // The table has one decimal.
        assert!((bound - figures[0]).abs() <= 0.050_001, "{name}: {bound} is not {}", figures[0]);
    }
}

/// The program as it stands, solved by a simplex method.
fn optimum(matrix: &Matrix) -> f64 {
    let mut problem = Problem::new(OptimizationDirection::Minimize);
    let end = problem.add_var(1.0, (0.0, f64::INFINITY));
    let shares: Vec<Vec<_>> = matrix
        .rows()
        .map(|row| row.iter().map(|_| problem.add_var(0.0, (0.0, f64::INFINITY))).collect())
        .collect();
    for shares in &shares {
        let whole: Vec<_> = shares.iter().map(|share| (*share, 1.0)).collect();
        problem.add_constraint(&whole[..], ComparisonOp::Eq, 1.0);
    }
    for machine in 0..matrix.machines() {
        let busy = shares.iter().zip(matrix.rows()).map(|(shares, row)| (shares[machine], row[machine]));
        let busy: Vec<_> = busy.chain([(end, -1.0)]).collect();
        problem.add_constraint(&busy[..], ComparisonOp::Le, 0.0);
    }
    problem.solve().expect("an optimum").into_solution().expect("no limit").objective()
}

#[test]
fn bounds_are_the_programs_optimum_or_the_longest_task() {
    for seed in 0..400 {
        let matrix = Choices::seeded(seed).matrix();
        let longest = matrix.rows().map(|row| row.iter().copied().fold(f64::INFINITY, f64::min));
        let longest = longest.fold(0.0, f64::max);
        let expected = optimum(&matrix).max(longest);
        let bound = Bound::of(&matrix);
        let near = 1e-7 * expected.max(1e-9);
        assert!((bound.value - expected).abs() <= near, "seed {seed}: {} for {expected}", bound.value);
    }
}

#[test]
fn no_mapping_goes_below() {
    for seed in 0..300 {
        let mut choices = Choices::seeded(seed);
        let matrix = choices.matrix();
        let bound = Bound::of(&matrix);
        for heuristic in [Heuristic::MinMin, Heuristic::Sufferage, Heuristic::Mct] {
            let makespan = heuristic.map(&matrix).makespan;
            assert!(bound.value <= makespan, "seed {seed}: {} above {makespan}", bound.value);
        }
        let prices: Vec<f64> = (0..matrix.machines()).map(|_| choices.unit() + 1e-3).collect();
        assert!(worth(&matrix, &prices) <= bound.value * (1.0 + 1e-9) + 1e-12, "seed {seed}");
    }
}

#[test]
fn gaps_are_parts_of_the_bound() {
    let matrix = Matrix::new(3, 2, vec![1.0, 9.0, 9.0, 1.0, 1.0, 1.0]).expect("a matrix");
    let bound = Bound::of(&matrix);
    assert!((bound.value - 1.5).abs() < 1e-9, "{}", bound.value);
    let mapping = Mapping::of(&matrix, vec![0, 1, 1]);
    assert!((bound.gap(mapping.makespan).expect("a gap") - 1.0 / 3.0).abs() < 1e-9);
    let nothing = Bound::of(&Matrix::new(1, 1, vec![0.0]).expect("a matrix"));
    assert_eq!((nothing.value, nothing.gap(0.0), nothing.gap(1.0)), (0.0, Some(0.0), None));
}
