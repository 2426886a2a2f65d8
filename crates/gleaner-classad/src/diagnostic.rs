//! What is wrong with a text, and where; and which names were meant.

use thiserror::Error;

use crate::functions;
use crate::name::Name;

/// A text is not an expression or an ad.
///
/// ```
/// use gleaner_classad::Expr;
///
/// let error = Expr::parse("1 +\n  * 2").unwrap_err();
/// assert_eq!((error.line, error.column, error.token.as_str()), (2, 3, "*"));
/// assert_eq!(error.to_string(), "line 2, column 3: found `*`, expected an operand");
/// ```
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("line {line}, column {column}: {problem}")]
#[non_exhaustive]
pub struct ParseError {
    /// Counted from 1.
    pub line: usize,
    /// Characters from the start of the line, counted from 1.
    pub column: usize,
    /// The text that was found there, or `end of input`.
    pub token: String,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong at the place a [`ParseError`] names.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The grammar wants something else here.
    #[error("found {found}, expected {expected}")]
    Unexpected {
        /// The token, quoted.
        found: String,
        /// What the grammar wants.
        expected: &'static str,
    },
    /// A byte that starts no token.
    #[error("found {found}, which no expression contains")]
    Unknown {
        /// The byte, quoted.
        found: String,
    },
    /// A quote without its partner.
    #[error("a {0} that does not end")]
    Unterminated(&'static str),
    /// The language has no NUL in strings and names.
    #[error("a string cannot contain NUL")]
    Nul,
    /// A number that breaks off or has digits it cannot have.
    #[error("malformed number `{0}`, expected {1}")]
    Number(String, &'static str),
    /// The text in `absTime("…")` or `relTime("…")`.
    #[error("`{0}` is no {1}")]
    Time(String, &'static str),
    /// Deeper than [`Limits::nesting`](crate::Limits::nesting).
    #[error("nested deeper than the limit of {0}")]
    TooDeep(usize),
    /// More than [`Limits::elements`](crate::Limits::elements).
    #[error("more elements than the limit of {0}")]
    TooLong(usize),
    /// The tags, or the JSON, around the expressions.
    #[error("found {found}, expected {expected}")]
    Markup {
        /// The piece of text, quoted.
        found: String,
        /// What the format wants.
        expected: &'static str,
    },
}

impl ParseError {
    pub(crate) fn at(text: &[u8], offset: usize, token: &[u8], problem: Problem) -> Self {
        let before = &text[..offset.min(text.len())];
        let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
        Self {
            line: before.split(|&byte| byte == b'\n').count(),
            column: String::from_utf8_lossy(&before[line_start..]).chars().count() + 1,
            token: if token.is_empty() { "end of input".to_owned() } else { excerpt(token) },
            problem,
        }
    }
}

/// A token as a message shows it: not endless, and on one line.
pub(crate) fn excerpt(token: &[u8]) -> String {
    const CHARS_MAX: usize = 40;
    let text = String::from_utf8_lossy(token);
    let mut shown: String = text.chars().take(CHARS_MAX).flat_map(char::escape_debug).collect();
    if text.chars().count() > CHARS_MAX {
        shown.push('…');
    }
    shown
}

/// The functions whose names come nearest to one that does not exist, nearest first, at most three; none if
/// nothing is near.
///
/// ```
/// assert_eq!(gleaner_classad::nearest_functions("strCta"), ["strcat", "strcmp"]);
/// assert!(gleaner_classad::nearest_functions("frobnicate").is_empty());
/// ```
pub fn nearest_functions(name: &str) -> Vec<&'static str> {
    const SHOWN_MAX: usize = 3;
    let wanted = name.to_ascii_lowercase();
    let near = (wanted.chars().count() / 3).clamp(1, 3);
    let mut found: Vec<(usize, &'static str)> = functions::names()
        .map(|known| (edits(&wanted, &known.to_ascii_lowercase()), known))
        .filter(|&(distance, _)| distance <= near)
        .collect();
    found.sort_unstable();
    let best = found.first().map_or(0, |&(distance, _)| distance);
    found
        .into_iter()
        .filter(|&(distance, _)| distance <= best + 1)
        .take(SHOWN_MAX)
        .map(|(_, known)| known)
        .collect()
}

/// What to tell about a call of a function that does not exist.
///
/// ```
/// use gleaner_classad::{Expr, explain_unknown_function};
///
/// let expr = Expr::parse("sizee({1, 2})")?;
/// assert_eq!(
///     explain_unknown_function(&expr.unknown_functions()[0]),
///     "unknown function `sizee`; did you mean `size`?",
/// );
/// # Ok::<(), gleaner_classad::ParseError>(())
/// ```
pub fn explain_unknown_function(name: &Name) -> String {
    let near = nearest_functions(&name.to_string());
    match near.as_slice() {
        [] => format!("unknown function `{name}`"),
        [one] => format!("unknown function `{name}`; did you mean `{one}`?"),
        [several @ .., last] => {
            format!("unknown function `{name}`; did you mean `{}` or `{last}`?", several.join("`, `"))
        }
    }
}

/// Insertions, deletions, replacements and swaps of neighbours that lead from one word to the other.
fn edits(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().take(64).collect(), to.chars().collect());
    let mut rows = vec![vec![0; to.len() + 1]; from.len() + 1];
    for i in 0..=from.len() {
        for j in 0..=to.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = rows[i - 1][j - 1] + usize::from(from[i - 1] != to[j - 1]);
                let mut least = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                    least = least.min(rows[i - 2][j - 2] + 1);
                }
                least
            };
        }
    }
    rows[from.len()][to.len()]
}
