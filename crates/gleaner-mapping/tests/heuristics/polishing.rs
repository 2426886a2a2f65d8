//! Polishing never makes a mapping longer, finds the best of small ones, and comes close to the bound on large ones.

use crate::draw::Choices;
use crate::hcsp;
use gleaner_mapping::bound::Bound;
use gleaner_mapping::polish::Polisher;
use gleaner_mapping::{Heuristic, Mapping, Matrix};

fn polished(matrix: &Matrix, start: &Mapping, moves: u64, seed: u64) -> Mapping {
    let bound = Bound::of(matrix);
    let mut polisher = Polisher::new(matrix, start, &bound, seed);
    for round in 0..100 {
        polisher.advance(moves / 100, f64::from(round) / 100.0);
    }
    assert_eq!(polisher.moves(), moves / 100 * 100);
    let claimed = polisher.makespan();
    let best = polisher.into_best();
    assert!(
        (best.makespan - claimed).abs() <= 1e-9 * claimed,
        "{} was claimed, {} it is",
        claimed,
        best.makespan
    );
    assert_eq!(best, Mapping::of(matrix, best.assignment.clone()));
    best
}

#[test]
fn mappings_never_become_longer() {
    for seed in 0..200 {
        let matrix = Choices::seeded(seed).matrix();
        for heuristic in [Heuristic::MinMin, Heuristic::Olb] {
            let start = heuristic.map(&matrix);
            let best = polished(&matrix, &start, 2_000, seed);
            assert!(best.makespan <= start.makespan * (1.0 + 1e-12), "seed {seed}, {heuristic}");
        }
    }
}

/// The least makespan of all mappings.
fn least(matrix: &Matrix) -> f64 {
    let mappings = matrix.machines().pow(matrix.tasks() as u32);
    let digit =
        |number: usize, at: usize| (number / matrix.machines().pow(at as u32) % matrix.machines()) as u32;
    let assignment = |number: usize| (0..matrix.tasks()).map(|at| digit(number, at)).collect();
    (0..mappings).map(|number| Mapping::of(matrix, assignment(number)).makespan).fold(f64::INFINITY, f64::min)
}

#[test]
fn the_best_of_small_instances_is_found() {
    for seed in 0..40 {
        let mut choices = Choices::seeded(seed);
        let times = (0..7 * 3).map(|_| 1.0 + 9.0 * choices.unit()).collect();
        let matrix = Matrix::new(7, 3, times).expect("a matrix");
        let best = polished(&matrix, &Heuristic::Mct.map(&matrix), 50_000, seed).makespan;
        let least = least(&matrix);
        assert!(best <= least * (1.0 + 1e-12), "seed {seed}: {best}, but {least} is possible");
    }
}

#[test]
fn equal_seeds_give_equal_mappings() {
    let matrix = gleaner_mapping::workload::random_matrix(200, 10, 3);
    let start = Heuristic::MinMin.map(&matrix);
    let polish = |seed| polished(&matrix, &start, 20_000, seed);
    assert_eq!(polish(1), polish(1));
    assert_ne!(polish(1).assignment, polish(2).assignment);
}

#[test]
fn classic_instances_come_close_to_the_bound() {
    for (name, _) in hcsp::table("lower_bounds.csv") {
        let matrix = hcsp::instance(&name);
        let best = polished(&matrix, &Heuristic::MinMin.map(&matrix), 1_000_000, 1);
        let gap = Bound::of(&matrix).gap(best.makespan).expect("a gap");
        // A thousandth of what ten seconds allow; the aim of 1.5 % is theirs.
        assert!(gap < 0.04, "{name}: {gap}");
    }
}
