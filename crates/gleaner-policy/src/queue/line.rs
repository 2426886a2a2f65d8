//! The tasks that wait, in one line: by priority, and of equals in order of submission.
//!
//! Tasks that fit into the same machines, are equally fast there and have the same priority are of one *kind*. Each kind has
//! a shelf in order of length, so that the first, or the shortest, that may start is found with a look at each kind, not at
//! each task.

use crate::backlog::{Place, Shelf, Size, Waiting};
use crate::parts::queue::Fill;
use gleaner_core::{Grid, Needs};
use gleaner_units::{Ops, TaskClassId, TaskId};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// What tasks of a kind have in common.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Like {
    needs: Needs,
    priority: i32,
    /// The bits of the time per operation, by machine class.
    seconds_per_op: Vec<u64>,
}

#[derive(Clone, Debug)]
pub(crate) struct Kind {
    pub(crate) needs: Needs,
    priority: i32,
    /// The first class of that kind that was met.
    pub(crate) class: TaskClassId,
    shelf: Shelf,
    /// How long its shortest is; of no meaning where nobody waits.
    shortest: Size,
}

/// A place in the line: the least is the first.
pub(crate) type Turn = (Reverse<i32>, TaskId);

/// Whoever waits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    kinds: Vec<Kind>,
    of_class: Vec<usize>,
    known: BTreeMap<Like, usize>,
    /// Those with anybody, by cores, the fewest first.
    waiting: Vec<(u32, usize)>,
    turns: BTreeSet<Turn>,
}

impl Line {
    /// A class of tasks was met. Costs O(machine classes + kinds).
    pub(crate) fn add_class(&mut self, grid: &Grid, id: TaskClassId) {
        let class = grid.classes().task_class(id);
        let row = grid.classes().seconds_per_op_row(id);
        let seconds_per_op = row.iter().map(|seconds| seconds.to_bits()).collect();
        let like = Like { needs: class.needs, priority: class.priority, seconds_per_op };
        let next = self.kinds.len();
        let kind = *self.known.entry(like).or_insert(next);
        self.of_class.push(kind);
        if kind == next {
            let (needs, priority) = (class.needs, class.priority);
            self.kinds.push(Kind {
                needs,
                priority,
                class: id,
                shelf: Shelf::default(),
                shortest: Size::LEAST,
            });
        }
    }

    /// A task of that length waits.
    pub(crate) fn add(&mut self, grid: &Grid, id: TaskId, length: Ops) {
        let number = self.number_of(grid, id);
        let kind = &mut self.kinds[number];
        self.turns.insert((Reverse(kind.priority), id));
        if kind.shelf.is_empty() {
            let entry = (kind.needs.cores, number);
            let at = self.waiting.partition_point(|other| *other < entry);
            self.waiting.insert(at, entry);
        }
        kind.shelf.insert(Waiting { length, id });
        kind.measure();
    }

    /// A task, of the length with which it came, waits no more. Whether it did.
    pub(crate) fn remove(&mut self, grid: &Grid, id: TaskId, length: Ops) -> bool {
        let number = self.number_of(grid, id);
        let kind = &mut self.kinds[number];
        if !kind.shelf.remove(Waiting { length, id }) {
            return false;
        }
        kind.measure();
        if kind.shelf.is_empty() {
            let at = self.waiting.binary_search(&(kind.needs.cores, number));
            self.waiting.remove(at.expect("a kind with somebody was listed"));
        }
        self.turns.remove(&(Reverse(kind.priority), id))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// Whose turn it is.
    pub(crate) fn first(&self) -> Option<TaskId> {
        self.turns.first().map(|turn| turn.1)
    }

    /// In order, from a turn on.
    pub(crate) fn from(&self, turn: Turn) -> impl Iterator<Item = Turn> + '_ {
        self.turns.range(turn..).copied()
    }

    pub(crate) fn turn_of(&self, grid: &Grid, id: TaskId) -> Turn {
        (Reverse(self.kind_of(grid, id).priority), id)
    }

    pub(crate) fn kind_of(&self, grid: &Grid, id: TaskId) -> &Kind {
        &self.kinds[self.number_of(grid, id)]
    }

    fn number_of(&self, grid: &Grid, id: TaskId) -> usize {
        self.of_class[grid.task(id).class().index()]
    }

    /// The task to fill a gap with: of those behind the head that are no longer than their kind may be, the first by that
    /// order. Costs O(kinds that wait and need no more cores than that), and O(√tasks) at most for each that may start.
    pub(crate) fn filler(
        &self,
        fill: Fill,
        head: TaskId,
        cores_max: u32,
        mut longest: impl FnMut(&Kind) -> Option<Size>,
    ) -> Option<TaskId> {
        let mut best: Option<(Rank, TaskId)> = None;
        for &(cores, kind) in &self.waiting {
            if cores > cores_max {
                break;
            }
            let kind = &self.kinds[kind];
            let Some(longest) = longest(kind) else { continue };
            if kind.shortest > longest {
                continue;
            }
            let Some((rank, task)) = kind.first(fill, head, longest) else { continue };
            if best.is_none_or(|best| (rank, task) < best) {
                best = Some((rank, task));
            }
        }
        best.map(|(_, task)| task)
    }

    /// What differs from another line of the same tasks.
    pub(crate) fn check(&self, fresh: &Self) -> Result<(), String> {
        if self.turns != fresh.turns {
            return Err("the line is not who waits".to_owned());
        }
        let shelves =
            |line: &Self| line.of_class.iter().map(|&kind| line.kinds[kind].shelf.clone()).collect();
        let (kept, derived): (Vec<Shelf>, Vec<Shelf>) = (shelves(self), shelves(fresh));
        let same = kept.iter().zip(&derived).all(|(kept, derived)| kept.tasks().eq(derived.tasks()));
        if same && kept.len() == derived.len() { Ok(()) } else { Err("a shelf is not who waits".to_owned()) }
    }
}

/// Who goes first when a gap is filled; the lowest.
type Rank = (Reverse<i32>, u64);

impl Kind {
    fn measure(&mut self) {
        self.shortest = self.shelf.at(Place::FIRST).map_or(Size::LEAST, |shortest| shortest.size());
    }

    fn first(&self, fill: Fill, head: TaskId, longest: Size) -> Option<(Rank, TaskId)> {
        let priority = Reverse(self.priority);
        match fill {
            Fill::Arrival => {
                let until = self.shelf.place_of(longest.next());
                // The head would start if it could, and is no filler.
                let first = self.shelf.lowest_between(Place::FIRST, until)?;
                (first.id != head).then_some(((priority, 0), first.id))
            }
            Fill::Shortest | Fill::SmallestArea => {
                let mut place = Place::FIRST;
                let mut first = self.shelf.at(place)?;
                if first.id == head {
                    place = self.shelf.next(place);
                    first = self.shelf.at(place)?;
                }
                if first.size() > longest {
                    return None;
                }
                let cores = if fill == Fill::Shortest { 1.0 } else { f64::from(self.needs.cores) };
                let size = Size::of(first.length.amount() * cores);
                Some(((priority, size.bits()), first.id))
            }
        }
    }
}
