//! Every heuristic agrees, task by task and to the bit, with the one written down plainly.

mod draw;

use draw::Choices;
use gleaner_mapping::by_class::{ClassedGrid, MachineClass, plain};
use gleaner_mapping::workload::{consistent_matrix, random_matrix, semi_consistent_matrix, speed_classes};
use gleaner_mapping::{Heuristic, Mapping, Matrix, reference};

const HEURISTICS: [Heuristic; 9] = [
    Heuristic::MinMin,
    Heuristic::MaxMin,
    Heuristic::Sufferage,
    Heuristic::SufferagePasses,
    Heuristic::Mct,
    Heuristic::Met,
    Heuristic::Olb,
    Heuristic::Kpb { percent: 20.0 },
    Heuristic::Kpb { percent: 60.0 },
];

/// By class they have references of their own.
type Plain = fn(&ClassedGrid, &[f64]) -> Mapping;
const SUFFERAGE_BY_CLASS: [(Heuristic, Plain); 2] =
    [(Heuristic::Sufferage, plain::sufferage), (Heuristic::SufferagePasses, plain::sufferage_passes)];

#[test]
fn heuristics_agree_with_the_reference() {
    for seed in 0..2000 {
        let mut choices = Choices::seeded(seed);
        let matrix = choices.matrix();
        let ready = choices.ready(matrix.machines());
        for heuristic in HEURISTICS {
            let expected = reference::map_from(heuristic, &matrix, &ready);
            assert_eq!(heuristic.map_from(&matrix, &ready), expected, "seed {seed}, {heuristic}");
        }
    }
}

/// Large enough that short lists run out and tasks wait at machines that are not their best.
#[test]
fn heuristics_agree_with_the_reference_on_larger_matrices() {
    let few_times = |tasks, machines, seed| {
        let mut choices = Choices::seeded(seed);
        let times = (0..tasks * machines).map(|_| (1 + choices.below(3)) as f64 / 10.0).collect();
        Matrix::new(tasks, machines, times).expect("a matrix")
    };
    let equal_times =
        |tasks, machines, _| Matrix::new(tasks, machines, vec![0.1; tasks * machines]).expect("a matrix");
    let kinds: [fn(usize, usize, u64) -> Matrix; 5] =
        [random_matrix, consistent_matrix, semi_consistent_matrix, few_times, equal_times];
    for seed in 0..3 {
        for (kind, make) in kinds.into_iter().enumerate() {
            let matrix = make(400, 37, seed);
            for heuristic in HEURISTICS {
                let expected = reference::map(heuristic, &matrix);
                assert_eq!(heuristic.map(&matrix), expected, "seed {seed}, kind {kind}, {heuristic}");
            }
        }
    }
}

#[test]
fn classes_agree_with_the_matrix_they_stand_for() {
    for seed in 0..2000 {
        let mut choices = Choices::seeded(seed);
        let grid = choices.grid();
        let ready = choices.ready(grid.machines());
        let matrix = grid.to_matrix().expect("a matrix");
        for heuristic in [Heuristic::MinMin, Heuristic::MaxMin, Heuristic::Mct] {
            let expected = reference::map_from(heuristic, &matrix, &ready);
            assert_eq!(grid.map_from(heuristic, &ready), Some(expected), "seed {seed}, {heuristic}");
        }
    }
}

#[test]
fn sufferage_by_class_agrees_with_the_one_written_down() {
    for seed in 0..4000 {
        let mut choices = Choices::seeded(seed);
        let grid = if seed % 4 == 0 { choices.close_grid() } else { choices.grid() };
        let ready = choices.ready(grid.machines());
        for (heuristic, plain) in SUFFERAGE_BY_CLASS {
            let expected = Some(plain(&grid, &ready));
            assert_eq!(grid.map_from(heuristic, &ready), expected, "seed {seed}, {heuristic}");
        }
    }
}

/// Many speeds with few machines each: two of one speed are rarely the best two.
#[test]
fn sufferage_by_class_agrees_with_the_one_written_down_on_larger_grids() {
    for (tasks, machines) in [(150, 40), (150, 300), (100, 1000)] {
        let grid = speed_classes(tasks, machines, 5);
        let idle = vec![0.0; machines];
        for (heuristic, plain) in SUFFERAGE_BY_CLASS {
            let expected = Some(plain(&grid, &idle));
            assert_eq!(grid.map(heuristic), expected, "{tasks} × {machines}, {heuristic}");
        }
    }
}

/// Where no sum is rounded, it makes no difference whose ready times are compared.
#[test]
fn sufferage_by_class_agrees_with_the_matrix_where_sums_are_exact() {
    for seed in 0..2000 {
        let mut choices = Choices::seeded(seed);
        let grid = choices.exact_grid();
        let ready: Vec<f64> = (0..grid.machines()).map(|_| choices.below(4) as f64).collect();
        let matrix = grid.to_matrix().expect("a matrix");
        for (heuristic, _) in SUFFERAGE_BY_CLASS {
            let expected = Some(reference::map_from(heuristic, &matrix, &ready));
            assert_eq!(grid.map_from(heuristic, &ready), expected, "seed {seed}, {heuristic}");
        }
    }
}

#[test]
fn one_machine_takes_the_tasks_in_order() {
    let class = MachineClass { speed: 2.0, machines: 1 };
    let grid = ClassedGrid::new(vec![3.0, 9.0, 1.0, 9.0], vec![class]).expect("a grid");
    for (heuristic, _) in SUFFERAGE_BY_CLASS {
        let expected = Mapping { assignment: vec![0; 4], makespan: 11.0 };
        assert_eq!(grid.map(heuristic), Some(expected), "{heuristic}");
    }
}
