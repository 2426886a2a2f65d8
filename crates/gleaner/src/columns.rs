//! Tables for people: columns as wide as they must be, numbers to the right.

use anstyle::Style;
use gleaner_wire::text::tamed;

/// Where a column's texts begin or end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    Left,
    Right,
}

/// `rows` below a heading. The last column is not padded, so that no line ends with blanks.
pub(crate) fn aligned(headings: &[(&str, Side)], rows: &[Vec<String>]) -> String {
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
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let bold = Style::new().bold();
    let mut text = format!("{bold}{}{bold:#}\n", line(&mut headings.iter().map(|(heading, _)| *heading)));
    for row in rows {
        text += &line(&mut row.iter().map(String::as_str));
        text.push('\n');
    }
    text
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
    fn texts_are_cut_and_tamed() {
        assert_eq!(shown("a\x1b[31mb", 20), "a [31mb");
        assert_eq!(shown("a\u{202e}b", 20), "a b");
        assert_eq!(shown("abcdef", 4), "abc…");
    }
}
