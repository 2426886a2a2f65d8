//! Tables for people: columns as wide as they must be, numbers to the right.

use anstyle::{AnsiColor, Style};
use gleaner_wire::text::tamed;
use rustix::termios::tcgetwinsize;
use std::io::{IsTerminal as _, stdout};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Where a column's texts begin or end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    Left,
    Right,
}

/// `rows` below a heading. The last column is not padded, so that no line ends with blanks.
pub(crate) fn aligned(headings: &[(&str, Side)], rows: &[Vec<String>]) -> String {
    marked(headings, rows, &[], |_| false)
}

/// Likewise, where the last column holds sentences: on a terminal they go on below themselves.
pub(crate) fn with_sentences(headings: &[(&str, Side)], rows: &[Vec<String>]) -> String {
    table(headings, rows, |_| false, terminal_width().map(Room::Wrapped))
}

/// Likewise, where some rows stand out: those of what failed. On a terminal no line is longer than it is wide. Before little is
/// left of the last column there, those that are `spare` go, one after the other.
pub(crate) fn marked(
    headings: &[(&str, Side)],
    rows: &[Vec<String>],
    spare: &[&str],
    stands_out: impl Fn(usize) -> bool,
) -> String {
    match terminal_width() {
        Some(width) => within(width, (headings, rows), spare, stands_out),
        None => table(headings, rows, stands_out, None),
    }
}

/// A table without the spare columns for which there is no room.
fn within(
    width: usize,
    (headings, rows): (&[(&str, Side)], &[Vec<String>]),
    spare: &[&str],
    stands_out: impl Fn(usize) -> bool,
) -> String {
    let widths = widths(headings, rows);
    let mut kept: Vec<usize> = (0..headings.len()).collect();
    for name in spare {
        let Some((&last, before)) = kept.split_last() else { break };
        let before: usize = before.iter().map(|&column| widths[column] + 2).sum();
        if before + widths[last].min(LAST_COLUMNS_MIN) <= width {
            break;
        }
        kept.retain(|&column| headings[column].0 != *name);
    }
    let headings: Vec<(&str, Side)> = kept.iter().map(|&column| headings[column]).collect();
    let rows = rows.iter().map(|row| kept.iter().map(|&column| row[column].clone()).collect::<Vec<_>>());
    let rows: Vec<Vec<String>> = rows.collect();
    table(&headings, &rows, stands_out, Some(Room::Cut(width)))
}

/// How many columns standard output has, if it is a terminal.
fn terminal_width() -> Option<usize> {
    if !stdout().is_terminal() {
        return None;
    }
    tcgetwinsize(stdout()).ok().map(|size| usize::from(size.ws_col)).filter(|&columns| columns > 0)
}

/// How wide the terminal is, and what becomes of a line that is longer.
#[derive(Clone, Copy)]
enum Room {
    Cut(usize),
    /// Its last column goes on below itself.
    Wrapped(usize),
}

/// A last column that is narrower is cut: a word a line is not read.
const SENTENCE_COLUMNS_MIN: usize = 20;
/// Of a last column that is cut so much is left, as long as other columns can be spared.
const LAST_COLUMNS_MIN: usize = 12;

fn table(
    headings: &[(&str, Side)],
    rows: &[Vec<String>],
    stands_out: impl Fn(usize) -> bool,
    room: Option<Room>,
) -> String {
    let widths = widths(headings, rows);
    let before = widths.iter().rev().skip(1).map(|width| width + 2).sum();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let padded = cells.zip(headings).zip(&widths).map(|((cell, (_, side)), &width)| {
            let blanks = " ".repeat(width - cell.width());
            match side {
                Side::Left => format!("{cell}{blanks}"),
                Side::Right => format!("{blanks}{cell}"),
            }
        });
        let line = padded.collect::<Vec<_>>().join("  ").trim_end().to_owned();
        let columns = line.width();
        match room {
            Some(Room::Wrapped(width)) if columns > width && width >= before + SENTENCE_COLUMNS_MIN => {
                hanging(&line, before, width)
            }
            Some(Room::Cut(width) | Room::Wrapped(width)) => cut(&line, width),
            None => line,
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

/// How wide each column must be.
fn widths(headings: &[(&str, Side)], rows: &[Vec<String>]) -> Vec<usize> {
    let each = headings.iter().enumerate().map(|(column, (heading, _))| {
        let widest = rows.iter().map(|row| row[column].width()).max().unwrap_or(0);
        widest.max(heading.width())
    });
    each.collect()
}

/// `sentence` behind `word`, which is padded to `width`; on a terminal it goes on below itself.
pub(crate) fn with_sentence(word: &str, width: usize, sentence: &str) -> String {
    let line = format!("{word:<width$}  {sentence}\n");
    match terminal_width() {
        Some(columns) if columns >= width + SENTENCE_COLUMNS_MIN => hanging(&line, width + 2, columns),
        _ => line,
    }
}

/// The line in as many as it takes, each after the first beginning at `from`.
fn hanging(line: &str, from: usize, width: usize) -> String {
    let (before, rest) = line.split_at(end_of(line, from));
    let mut text = before.to_owned();
    let mut columns = from;
    for word in rest.split(' ') {
        let length = word.width();
        if columns > from && columns + 1 + length > width {
            text += &format!("\n{:from$}", "");
            columns = from;
        } else if columns > from {
            text.push(' ');
            columns += 1;
        }
        text += word;
        columns += length;
    }
    text
}

/// Bytes to a tenth of the largest unit, a power of 1024. Where each byte counts, [`gleaner_core::size`] says them.
pub(crate) fn rough_size(bytes: u64) -> String {
    let units = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let unit = units.into_iter().find(|(_, shift)| bytes >> shift > 0);
    let of = |shift| bytes as f64 / (1_u64 << shift) as f64;
    unit.map_or_else(|| format!("{bytes} B"), |(unit, shift)| format!("{:.1} {unit}", of(shift)))
}

/// A count with what is counted, as `1 task` and `2 tasks`. Its digits are not grouped; a report's are
/// ([`gleaner_report::numbers::counted`]).
pub(crate) fn plural(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// `text` without what could move a terminal's cursor or deceive whoever reads it, and no longer than `width`.
pub(crate) fn shown(text: &str, width: usize) -> String {
    let plain = tamed(text, usize::MAX);
    cut(&plain, width)
}

/// The text if it takes no more columns than that; else its beginning and an ellipsis.
fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    format!("{}…", &text[..end_of(text, width - 1)])
}

/// Where the part of a text ends that takes no more columns than that.
fn end_of(text: &str, columns: usize) -> usize {
    let mut taken = 0;
    let over = text.char_indices().find(|(_, letter)| {
        taken += letter.width().unwrap_or(0);
        taken > columns
    });
    over.map_or(text.len(), |(at, _)| at)
}

/// A score in a column. What rounds to nothing has no sign.
pub(crate) fn score_cell(score: f64) -> String {
    let shown = format!("{score:.6}");
    let is_nothing = shown.bytes().all(|byte| matches!(byte, b'-' | b'0' | b'.'));
    format!("{:>14}", if is_nothing { shown.trim_start_matches('-') } else { &shown })
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
    fn sizes_are_told_to_a_tenth() {
        for (bytes, expected) in
            [(0, "0 B"), (1023, "1023 B"), (1 << 10, "1.0 KiB"), (5 << 29, "2.5 GiB"), (16 << 40, "16.0 TiB")]
        {
            assert_eq!(rough_size(bytes), expected);
        }
    }

    #[test]
    fn wide_letters_take_two_columns() {
        let rows = [vec!["計算".into(), "ok".into()], vec!["abcde".into(), "ok".into()]];
        let text = aligned(&[("NAME", Side::Left), ("STATE", Side::Left)], &rows);
        let plain = anstream::adapter::strip_str(&text).to_string();
        assert_eq!(plain, "NAME   STATE\n計算   ok\nabcde  ok\n");
    }

    #[test]
    fn no_line_is_longer_than_the_terminal_and_what_failed_stands_out() {
        let rows = [vec!["7".into(), "a long name".into()], vec!["8".into(), "b".into()]];
        let text =
            table(&[("JOB", Side::Right), ("NAME", Side::Left)], &rows, |row| row == 1, Some(Room::Cut(10)));
        let plain = anstream::adapter::strip_str(&text).to_string();
        assert_eq!(plain, "JOB  NAME\n  7  a lo…\n  8  b\n");
        assert!(text.contains("\u{1b}[31m  8  b\u{1b}[0m"), "{text:?}");
    }

    #[test]
    fn what_can_be_spared_goes_before_the_name_does() {
        let headings = [
            ("JOB", Side::Right),
            ("STATE", Side::Left),
            ("DONE", Side::Right),
            ("USER", Side::Left),
            ("NAME", Side::Left),
        ];
        let row = ["7", "running", "40", "ada", "./align reads/a.fq"].map(str::to_owned).to_vec();
        let plain = |width| {
            let spare = ["USER", "DONE"];
            let text = within(width, (&headings[..], std::slice::from_ref(&row)), &spare, |_| false);
            anstream::adapter::strip_str(&text).to_string()
        };
        for (width, expected) in [
            (80, "JOB  STATE    DONE  USER  NAME\n  7  running    40  ada   ./align reads/a.fq\n"),
            (38, "JOB  STATE    DONE  USER  NAME\n  7  running    40  ada   ./align rea…\n"),
            (37, "JOB  STATE    DONE  NAME\n  7  running    40  ./align reads/a.…\n"),
            (30, "JOB  STATE    NAME\n  7  running  ./align reads/a…\n"),
            (20, "JOB  STATE    NAME\n  7  running  ./ali…\n"),
        ] {
            assert_eq!(plain(width), expected, "{width}");
        }
    }

    #[test]
    fn sentences_go_on_below_themselves() {
        let rows = [vec!["7".into(), "it waits until its machine is free again".into()]];
        let headings = [("JOB", Side::Right), ("WHY", Side::Left)];
        let plain = |width| {
            let text = table(&headings, &rows, |_| false, Some(Room::Wrapped(width)));
            anstream::adapter::strip_str(&text).to_string()
        };
        assert_eq!(plain(28), "JOB  WHY\n  7  it waits until its\n     machine is free again\n");
        assert_eq!(plain(20), "JOB  WHY\n  7  it waits until…\n", "too narrow");
    }

    #[test]
    fn texts_are_cut_and_tamed() {
        assert_eq!(shown("a\x1b[31mb", 20), "a [31mb");
        assert_eq!(shown("a\u{202e}b", 20), "a b");
        assert_eq!(shown("abcdef", 4), "abc…");
        assert_eq!(shown("計算機です", 6), "計算…", "each takes two columns");
        assert_eq!(shown("計算機", 6), "計算機");
    }

    #[test]
    fn a_score_of_nothing_has_no_sign() {
        for (score, shown) in
            [(-0.0, "0.000000"), (-4e-7, "0.000000"), (-6e-7, "-0.000001"), (1.5, "1.500000")]
        {
            assert_eq!(score_cell(score).trim_start(), shown, "{score}");
        }
    }
}
