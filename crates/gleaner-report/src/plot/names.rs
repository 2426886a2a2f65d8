//! Points that have names: one marker for all that fall on one place, which says them all when it is pointed at, and a label
//! beside it. **No label covers a marker or another label**: one for which there is no room is left out.

use super::marks::{Panel, marker};
use super::measure::{TEXT, fit, width};
use super::paint::Paint;
use super::series::Plot;
use super::shown::Shown;
use super::svg::{Lettering, Pen, Point};

/// Points that are no further apart, in pixels, are one place.
const CLOSE: f64 = 2.0;
/// More names than this are counted instead.
const NAMES_MAX: usize = 3;
const LABEL_MAX: f64 = 160.0;
/// Labels of one line stand so far apart, so that they do not read as one.
const LABEL_GAP: f64 = 4.0;
/// Half the room that a marker takes.
const MARKER_ROOM: f64 = 5.0;
/// How far from a marker its label may stand; the nearest that is free is taken.
const DISTANCES: [f64; 5] = [7.0, 14.0, 24.0, 38.0, 56.0];
/// From here on a line leads to it.
const FAR: f64 = 14.0;
/// To the right first, as one reads.
const DIRECTIONS: [(f64, f64); 8] =
    [(1.0, 0.0), (-1.0, 0.0), (0.0, -1.0), (0.0, 1.0), (1.0, -1.0), (-1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];

/// The points of one series that fall on one place.
struct Spot<'a> {
    at: Point,
    slot: u8,
    series: &'a str,
    noun: &'a str,
    names: Vec<&'a str>,
}

/// From left to right and from top to bottom.
#[derive(Clone, Copy)]
struct Room {
    x: (f64, f64),
    y: (f64, f64),
}

impl Room {
    fn around((x, y): Point, by: f64) -> Self {
        Self { x: (x - by, x + by), y: (y - by, y + by) }
    }

    fn meets(&self, other: &Self) -> bool {
        let apart = |one: (f64, f64), two: (f64, f64)| one.1 <= two.0 || two.1 <= one.0;
        !apart(self.x, other.x) && !apart(self.y, other.y)
    }
}

/// Draws the series whose points have names; where it is narrow, the last series has its labels first.
pub(super) fn draw(pen: &mut Pen, panel: &Panel<'_>, plot: &Plot, shown: &[Shown]) {
    let spots = spots(panel, plot, shown);
    let mut taken: Vec<Room> = spots.iter().map(|spot| Room::around(spot.at, MARKER_ROOM)).collect();
    let mut labels = Vec::new();
    for spot in spots.iter().rev() {
        let text = fit(&spot.label(), TEXT, LABEL_MAX);
        if let Some((room, far, side)) = free(panel, &taken, spot.at, width(&text, TEXT)) {
            taken.push(Room { x: (room.x.0 - LABEL_GAP, room.x.1 + LABEL_GAP), ..room });
            if far >= FAR {
                let (x, y) = (spot.at.0.clamp(room.x.0, room.x.1), f64::midpoint(room.y.0, room.y.1));
                pen.path(&[spot.at, (x, y)], Paint::Axis, 0.8);
            }
            labels.push((text, spot.slot, room, side));
        }
    }
    for spot in &spots {
        let here = spots.iter().filter(|other| is_close(other.at, spot.at));
        let title: Vec<String> =
            here.map(|spot| format!("{}: {}", spot.series, spot.names.join(", "))).collect();
        pen.titled(&title.join("\n"), |pen| marker(pen, spot.slot, spot.at));
    }
    for (text, slot, Room { x, y }, side) in labels {
        let look = Lettering::new(TEXT, Paint::Solid(slot));
        let (look, x) = if side > 0.0 {
            (look, x.0)
        } else if side < 0.0 {
            (look.ending(), x.1)
        } else {
            (look.centred(), f64::midpoint(x.0, x.1))
        };
        pen.text(&text, look, (x, f64::midpoint(y.0, y.1)));
    }
}

impl Spot<'_> {
    fn label(&self) -> String {
        let count = self.names.len();
        if count > NAMES_MAX { format!("{count} {}", self.noun) } else { self.names.join(", ") }
    }
}

fn is_close(one: Point, other: Point) -> bool {
    (one.0 - other.0).abs() <= CLOSE && (one.1 - other.1).abs() <= CLOSE
}

fn spots<'a>(panel: &Panel<'_>, plot: &'a Plot, shown: &[Shown]) -> Vec<Spot<'a>> {
    let mut spots: Vec<Spot<'a>> = Vec::new();
    for (series, Shown { slot, .. }) in plot.series.iter().zip(shown) {
        let first = spots.len();
        for (&(x, y), name) in series.points.iter().zip(&series.names) {
            let at = (panel.across(x), panel.down(y));
            if !panel.frame.contains(at) {
                continue;
            }
            match spots[first..].iter_mut().find(|spot| is_close(spot.at, at)) {
                Some(spot) => spot.names.push(name),
                None => spots.push(Spot {
                    at,
                    slot: *slot,
                    series: &series.name,
                    noun: &series.noun,
                    names: vec![name],
                }),
            }
        }
    }
    spots
}

/// Where a text of that width may stand beside a marker, how far from it, and on which side.
fn free(panel: &Panel<'_>, taken: &[Room], (x, y): Point, wide: f64) -> Option<(Room, f64, f64)> {
    let places = DISTANCES.iter().flat_map(|far| DIRECTIONS.iter().map(move |direction| (*far, *direction)));
    let half = TEXT / 2.0 + 1.0;
    let mut places = places.map(|(far, (right, down))| {
        let near = if right == 0.0 { -wide / 2.0 } else { far };
        let left = if right < 0.0 { x - far - wide } else { x + near };
        let middle = y + down * (far + half);
        (Room { x: (left, left + wide), y: (middle - half, middle + half) }, far, right)
    });
    let frame = panel.frame;
    places.find(|(room, ..)| {
        let is_inside = frame.contains((room.x.0, room.y.0)) && frame.contains((room.x.1, room.y.1));
        is_inside && !taken.iter().any(|other| room.meets(other))
    })
}
