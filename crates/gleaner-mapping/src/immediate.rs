//! The immediate heuristics: task after task, in order.

use crate::Matrix;
use crate::mapping::{Building, Mapping, earliest, highest_tie, lowest_least};

pub(crate) fn mct(matrix: &Matrix, building: Building) -> Mapping {
    each(matrix, building, earliest)
}

pub(crate) fn met(matrix: &Matrix, building: Building) -> Mapping {
    each(matrix, building, |_, row| lowest_least(row))
}

pub(crate) fn olb(matrix: &Matrix, building: Building) -> Mapping {
    each(matrix, building, |ready, _| lowest_least(ready))
}

/// O(w·log w) a task.
pub(crate) fn kpb(matrix: &Matrix, building: Building, count: usize) -> Mapping {
    let mut fastest = Fastest::default();
    each(matrix, building, |ready, row| {
        let among = fastest.of(row, count);
        let done = |machine: &usize| ready[*machine] + row[*machine];
        let limit = highest_tie(among.iter().map(done).fold(f64::INFINITY, f64::min));
        *among.iter().filter(|machine| done(machine) <= limit).min().expect("the least ties with itself")
    })
}

fn each(matrix: &Matrix, mut building: Building, mut choose: impl FnMut(&[f64], &[f64]) -> usize) -> Mapping {
    for (task, row) in matrix.rows().enumerate() {
        let machine = choose(&building.ready, row);
        building.assign(task, machine, row[machine]);
    }
    building.done()
}

/// The machines that are fastest for a task, one after the other; ties go to the lowest each time.
#[derive(Default)]
struct Fastest {
    by_time: Vec<usize>,
}

impl Fastest {
    fn of(&mut self, row: &[f64], count: usize) -> &[usize] {
        self.by_time.clear();
        self.by_time.extend(0..row.len());
        self.by_time.sort_unstable_by(|&a, &b| row[a].total_cmp(&row[b]).then(a.cmp(&b)));
        for rank in 0..count {
            let limit = highest_tie(row[self.by_time[rank]]);
            let equal = row[self.by_time[rank]];
            // Equal times are in order already, so only those that differ within a tie can come first.
            let tied = self.by_time[rank..].iter().take_while(|machine| row[**machine] <= limit);
            if row[self.by_time[rank..][tied.clone().count() - 1]] == equal {
                continue;
            }
            let (at, _) = tied.enumerate().min_by_key(|(_, machine)| **machine).expect("at least itself");
            self.by_time[rank..=rank + at].rotate_right(1);
        }
        &self.by_time[..count]
    }
}
