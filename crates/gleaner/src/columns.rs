//! Tables for people: columns as wide as they must be, numbers to the right.

use anstyle::{AnsiColor, Style};
use gleaner_wire::text::tamed;
use rustix::termios::tcgetwinsize;
use std::io::{IsTerminal as _, stdout};

/// Where a column's texts begin or end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    Left,
    Right,
}

/// `rows` below a heading. The last column is not padded, so that no line ends with blanks.
pub(crate) fn aligned(headings: &[(&str, Side)], rows: &[Vec<String>]) -> String {
    marked(headings, rows, |_| false)
}

/// Likewise, where some rows stand out: those of what failed. On a terminal no line is longer than it is wide.
pub(crate) fn marked(
    headings: &[(&str, Side)],
    rows: &[Vec<String>],
    stands_out: impl Fn(usize) -> bool,
) -> String {
    table(headings, rows, stands_out, terminal_width())
}

/// How many columns standard output has, if it is a terminal.
fn terminal_width() -> Option<usize> {
    if !stdout().is_terminal() {
        return None;
    }
    tcgetwinsize(stdout()).ok().map(|size| usize::from(size.ws_col)).filter(|&columns| columns > 0)
}

fn table(
    headings: &[(&str, Side)],
    rows: &[Vec<String>],
    stands_out: impl Fn(usize) -> bool,
    width: Option<usize>,
) -> String {
    let widths: Vec<usize> = headings
        .iter()
        .enumerate()
        .map(|(column, (heading, _))| {
            let widest = rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
            widest.max(heading.chars().count())
        })
        .collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let padded = cells.zip(headings).zip(&widths).map(|((cell, (_, side)), &width)| match side {
            Side::Left => format!("{cell:<width$}"),
            Side::Right => format!("{cell:>width$}"),
        });
        let line = padded.collect::<Vec<_>>().join("  ").trim_end().to_owned();
        match width {
            Some(width) if line.chars().count() > width => {
                line.chars().take(width - 1).chain(['…']).collect()
            }
            _ => line,
        }
    };
    let bold = Style::new().bold();
    let mut text = format!("{bold}{}{bold:#}\n", line(&mut headings.iter().map(|(heading, _)| *heading)));
    let red = Style::new().fg_color(Some(AnsiColor::Red.into()));
    for (number, row) in rows.iter().enumerate() {
        let line = line(&mut row.iter().map(String::as_str));
        text += &if stands_out(number) { format!("{red}{line}{red:#}\n") } else { line + "\n" };
    }
    text
}

/// A count with what is counted, as `1 task` and `2 tasks`.
pub(crate) fn plural(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// `text` without what could move a terminal's cursor or deceive whoever reads it, and no longer than `width`.
pub(crate) fn shown(text: &str, width: usize) -> String {
    let plain = tamed(text, usize::MAX);
    if plain.chars().count() <= width {
        return plain;
    }
    plain.chars().take(width - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_they_must_be() {
        let rows = [vec!["7".into(), "ü".into()], vec!["1000".into(), "waiting".into()]];
        let text = aligned(&[("JOB", Side::Right), ("STATE", Side::Left)], &rows);
        let plain = anstream::adapter::strip_str(&text).to_string();
        assert_eq!(plain, " JOB  STATE\n   7  ü\n1000  waiting\n");
    }

    #[test]
    fn no_line_is_longer_than_the_terminal_and_what_failed_stands_out() {
        let rows = [vec!["7".into(), "a long name".into()], vec!["8".into(), "b".into()]];
        let text = table(&[("JOB", Side::Right), ("NAME", Side::Left)], &rows, |row| row == 1, Some(10));
        let plain = anstream::adapter::strip_str(&text).to_string();
        assert_eq!(plain, "JOB  NAME\n  7  a lo…\n  8  b\n");
        assert!(text.contains("\u{1b}[31m  8  b\u{1b}[0m"), "{text:?}");
    }

    #[test]
    fn texts_are_cut_and_tamed() {
        assert_eq!(shown("a\x1b[31mb", 20), "a [31mb");
        assert_eq!(shown("a\u{202e}b", 20), "a b");
        assert_eq!(shown("abcdef", 4), "abc…");
    }
}
