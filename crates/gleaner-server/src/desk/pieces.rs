//! In how many pieces the open tasks of large jobs lie, each of neighbours that are alike.
//!
//! Each order about tasks by number can make two more by each range that it names, and an order about all of them costs the desk's thread
//! and the journal as much as there are. **They are counted again only after orders that could have made as many as there may
//! be**, so that asking often costs nobody anything.

use crate::limits::PIECES_MAX;
use gleaner_wire::JobId;
use std::collections::BTreeMap;

/// So many jobs are remembered; all are counted again after that.
const JOBS_MAX: usize = 1_024;

/// What is known of jobs about whose tasks something was ordered by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Pieces {
    jobs: BTreeMap<JobId, Known>,
}

#[derive(Clone, Copy, Debug)]
enum Known {
    AtMost(usize),
    TooMany,
}

impl Pieces {
    /// Whether an order may name so many ranges of a job's tasks; `count` says how many pieces there are now, or as many as matter.
    pub(super) fn allow(&mut self, job: JobId, ranges: usize, count: impl FnOnce() -> usize) -> bool {
        let more = 2 * ranges;
        if more >= 2 * PIECES_MAX {
            return false;
        }
        let known = match self.jobs.get(&job) {
            Some(Known::TooMany) => return false,
            Some(Known::AtMost(known)) if known + more < 2 * PIECES_MAX => Known::AtMost(known + more),
            Some(Known::AtMost(_)) | None => match count() {
                count if count < PIECES_MAX => Known::AtMost(count + more),
                _ => Known::TooMany,
            },
        };
        if self.jobs.len() >= JOBS_MAX {
            self.jobs.clear();
        }
        self.jobs.insert(job, known);
        matches!(known, Known::AtMost(_))
    }

    /// Something was ordered about the whole job, or it has few tasks left.
    pub(super) fn forget(&mut self, job: JobId) {
        self.jobs.remove(&job);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn they_are_counted_again_after_orders_that_could_have_made_too_many() {
        let mut pieces = Pieces::default();
        let (counted, there) = (Cell::new(0), Cell::new(0));
        let mut order = |ranges: usize| {
            pieces.allow(JobId(1), ranges, || {
                counted.set(counted.get() + 1);
                there.get()
            })
        };
        for _ in 0..1_000 {
            assert!(order(1));
            there.set(there.get() + 2);
        }
        assert_eq!(counted.get(), 1);
        assert!(!order(PIECES_MAX), "too many at once");
        assert_eq!(counted.get(), 1);
        assert!(order(PIECES_MAX - 1) && order(1));
        assert_eq!(counted.get(), 3);
        there.set(PIECES_MAX);
        assert!(!order(PIECES_MAX - 1) && !order(1) && !order(1));
        assert_eq!(counted.get(), 4, "who is refused costs nothing");
        pieces.forget(JobId(1));
        assert!(pieces.allow(JobId(1), 1, || 5));
    }
}
