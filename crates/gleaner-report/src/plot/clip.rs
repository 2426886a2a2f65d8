//! Cuts lines at the edges of the plotting area, so that a given range hides what lies outside it.

use super::svg::Point;

/// A rectangle in pixels, y downwards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

impl Frame {
    pub(super) fn contains(&self, (x, y): Point) -> bool {
        (self.left..=self.right).contains(&x) && (self.top..=self.bottom).contains(&y)
    }

    pub(super) fn clamp_y(&self, y: f64) -> f64 {
        y.clamp(self.top, self.bottom)
    }

    /// The parts of a line that lie within, in order.
    pub(super) fn parts(&self, line: &[Point]) -> Vec<Vec<Point>> {
        let mut parts: Vec<Vec<Point>> = Vec::new();
        for pair in line.windows(2) {
            let Some((from, to)) = self.within(pair[0], pair[1]) else { continue };
            match parts.last_mut() {
                Some(part) if part.last() == Some(&from) => part.push(to),
                _ => parts.push(vec![from, to]),
            }
        }
        parts
    }

    /// The part of a segment that lies within (Liang and Barsky).
    fn within(&self, from: Point, to: Point) -> Option<(Point, Point)> {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let edges = [
            (-dx, from.0 - self.left),
            (dx, self.right - from.0),
            (-dy, from.1 - self.top),
            (dy, self.bottom - from.1),
        ];
        let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
        for (towards, room) in edges {
            if towards == 0.0 && room < 0.0 {
                return None;
            }
            if towards < 0.0 {
                enter = enter.max(room / towards);
            } else if towards > 0.0 {
                leave = leave.min(room / towards);
            }
        }
        let at = |t: f64| (from.0 + t * dx, from.1 + t * dy);
        // An end that is not cut stays exactly itself, so that parts join.
        let start = if enter == 0.0 { from } else { at(enter) };
        let end = if leave == 1.0 { to } else { at(leave) };
        (enter <= leave).then_some((start, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Frame = Frame { left: 0.0, right: 10.0, top: 0.0, bottom: 10.0 };

    #[test]
    fn a_line_that_leaves_and_returns_has_two_parts() {
        let line = [(1.0, 5.0), (5.0, 5.0), (5.0, 15.0), (8.0, 15.0), (8.0, 5.0)];
        assert_eq!(
            FRAME.parts(&line),
            [vec![(1.0, 5.0), (5.0, 5.0), (5.0, 10.0)], vec![(8.0, 10.0), (8.0, 5.0)]]
        );
    }

    #[test]
    fn a_line_outside_has_none_and_one_across_has_one() {
        assert!(FRAME.parts(&[(-5.0, -1.0), (20.0, -1.0)]).is_empty());
        assert_eq!(FRAME.parts(&[(-10.0, 5.0), (20.0, 5.0)]), [[(0.0, 5.0), (10.0, 5.0)]]);
    }
}
