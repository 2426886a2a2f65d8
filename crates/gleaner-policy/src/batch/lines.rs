//! When tasks would be done, by their length: a straight line for each bid. The two lowest say what a task would lose.

use super::bid::Bid;
use super::target::highest_tie;

/// How much worse than the second best an offer must be, relative to it, to be no one's second best by rounding either.
const CLEARLY: f64 = 1.0 + 1e-9;

/// What a bid is to tasks of all lengths.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Line {
    pub(super) pool: usize,
    ready_s: f64,
    seconds_per_op: f64,
    several: bool,
}

/// The bid that would be done first with a task, and the next; one that several machines make is both.
pub(super) type BestTwo = [Option<Line>; 2];

impl Line {
    /// How often machines are lost does not count: Sufferage is refused where that is asked for.
    pub(super) fn of(bid: &Bid) -> Self {
        let Bid { pool, terms, seconds, several, .. } = *bid;
        Self { pool, ready_s: terms.ready_s, seconds_per_op: seconds, several }
    }

    fn end(&self, length: f64) -> f64 {
        self.ready_s + length * self.seconds_per_op
    }
}

/// The lines that are lowest for a task of that length.
pub(super) fn best_two(lines: impl Iterator<Item = Line>, length: f64) -> BestTwo {
    let (mut ends, mut best) = ([f64::INFINITY; 2], [None; 2]);
    for line in lines {
        let end = line.end(length);
        if end < ends[0] {
            (ends, best) = if line.several {
                ([end; 2], [Some(line); 2])
            } else {
                ([end, ends[0]], [Some(line), best[0]])
            };
        } else if end < ends[1] {
            (ends[1], best[1]) = (end, Some(line));
        }
    }
    best
}

/// Whether a line may be among the best two of any task from one whose best two are known to the longest: besides those two,
/// such as are faster, and not clearly worse for the longest.
pub(super) fn may_be_best(best: BestTwo, longest: f64) -> impl Fn(&Line) -> bool {
    let limits = match best {
        [Some(one), Some(other)] => {
            (one.seconds_per_op.max(other.seconds_per_op), CLEARLY * one.end(longest).max(other.end(longest)))
        }
        _ => (f64::INFINITY, f64::INFINITY),
    };
    move |line| {
        (line.seconds_per_op < limits.0 && line.end(longest) <= limits.1) || best.contains(&Some(*line))
    }
}

/// The next length from which on the best two may be others, or change places.
///
/// As tasks become longer, only a line that is faster than another becomes better than that. Where by rounding it should
/// have done so already, it is expected to with the very next length.
pub(super) fn crossing(lines: &[Line], best: BestTwo, length: f64) -> Option<f64> {
    let [Some(one), Some(other)] = best else { return None };
    let crossing = |slower: Line, faster: Line| {
        let length = (faster.ready_s - slower.ready_s) / (slower.seconds_per_op - faster.seconds_per_op);
        (faster.seconds_per_op < slower.seconds_per_op).then_some(length)
    };
    let others = lines.iter().filter(|line| **line != one);
    let lengths = others.filter_map(|line| crossing(other, *line)).chain(crossing(one, other));
    lengths.map(|crossing| crossing.max(length.next_up())).min_by(f64::total_cmp)
}

/// How much later the second best would be done than the best; nothing where there is no second, or both tie.
pub(super) fn loss(best: BestTwo, length: f64) -> f64 {
    let [Some(one), Some(other)] = best else { return 0.0 };
    let (end, later) = (one.end(length), other.end(length));
    if later.max(end) <= highest_tie(end.min(later)) {
        return 0.0;
    }
    // By parts, so that between equally fast machines every task loses the same to the bit.
    let later_s = other.ready_s - one.ready_s;
    later_s + length * (other.seconds_per_op - one.seconds_per_op)
}

/// How much of what a task would lose may be rounding: more than that, and less than anyone would mind.
pub(super) fn rounding(best: BestTwo, length: f64) -> f64 {
    best[0].map_or(0.0, |line| 2.0 * (highest_tie(line.end(length)) - line.end(length)))
}
