//! What a stroke or a fill is for, and how each purpose looks.
//! The looks of series repeat after 35 (7 colours, 5 dashes, 6 markers).

/// The purpose of a stroke, a fill or a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paint {
    /// Titles and axis labels.
    Ink,
    /// Tick labels, legends and notes.
    Muted,
    /// The axes.
    Axis,
    /// Grid lines at labelled ticks.
    Grid,
    /// Grid lines between labelled ticks.
    Faint,
    /// The outline that parts a marker from what is below it.
    Paper,
    /// A series' line, in its dash pattern.
    Curve(u8),
    /// A series' markers, bars and whiskers.
    Solid(u8),
    /// A cell of a heat map, the darker the higher, up to [`SHADES`] less one: the same by day and by night.
    Shade(u8),
    /// Text on a cell.
    OnShade,
}

/// How many shades cells have: light enough for dark text on each.
const SHADE_COLOURS: [&str; 8] =
    ["#f4f9fd", "#e4f1fa", "#d2e7f6", "#bfdcf1", "#a9d0ec", "#91c3e7", "#77b4e0", "#5ba4d8"];

/// How many shades there are.
pub(super) const SHADES: u8 = SHADE_COLOURS.len() as u8;

/// Okabe and Ito's colours, which colour-blind readers tell apart, less the yellow that is too pale for a line.
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#aa4499", "#333333", "#56b4e9", "#e69f00"];

const DASHES: [Option<&str>; 5] = [None, Some("7 3"), Some("2 2.5"), Some("8 3 2 3"), Some("13 4")];

impl Paint {
    /// The colour on white paper. A page overrides it through [`Paint::class`] in the dark.
    pub(super) fn colour(self) -> &'static str {
        match self {
            Self::Ink => "#1b1b1b",
            Self::Muted => "#4a4a4a",
            Self::Axis => "#767676",
            Self::Grid => "#dddddd",
            Self::Faint => "#efefef",
            Self::Paper => "#ffffff",
            Self::Curve(slot) | Self::Solid(slot) => COLOURS[usize::from(slot) % COLOURS.len()],
            Self::Shade(level) => SHADE_COLOURS[usize::from(level.min(SHADES - 1))],
            Self::OnShade => "#10202c",
        }
    }

    /// The class by which a page finds strokes (`s-`) and fills (`f-`) of this purpose.
    pub(super) fn class(self) -> String {
        match self {
            Self::Ink => "ink".to_owned(),
            Self::Muted => "muted".to_owned(),
            Self::Axis => "axis".to_owned(),
            Self::Grid => "grid".to_owned(),
            Self::Faint => "faint".to_owned(),
            Self::Paper => "paper".to_owned(),
            Self::Curve(slot) | Self::Solid(slot) => (usize::from(slot) % COLOURS.len()).to_string(),
            Self::Shade(_) => "shade".to_owned(),
            Self::OnShade => "on-shade".to_owned(),
        }
    }

    pub(super) fn dash(self) -> Option<&'static str> {
        match self {
            Self::Curve(slot) => DASHES[usize::from(slot) % DASHES.len()],
            Self::Ink
            | Self::Muted
            | Self::Axis
            | Self::Grid
            | Self::Faint
            | Self::Paper
            | Self::Solid(_)
            | Self::Shade(_)
            | Self::OnShade => None,
        }
    }
}
