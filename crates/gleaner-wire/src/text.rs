//! What may stand in texts that other people read: names, labels, reasons.

use crate::limits::NAME_BYTES_MAX;

/// Whether a character does something other than to be seen: moves a cursor, turns the direction of writing round, or
/// takes no room. With such characters one text looks like another.
pub fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a machine, a user or a tag can be called so: letters, digits and `-_.@`, not a `-` first, which would be an option, and not
/// dots alone, which would be a folder.
pub fn is_name(name: &str) -> bool {
    let good = |character: char| character.is_ascii_alphanumeric() || "-_.@".contains(character);
    let is_folder = name.chars().all(|character| character == '.');
    !is_folder && name.len() <= NAME_BYTES_MAX && !name.starts_with('-') && name.chars().all(good)
}

/// Whether a label can be called so. Nobody sees an empty one, which would yet be another than none.
pub fn is_label(name: &str) -> bool {
    let is_seen = !is_blank(name) && !name.chars().any(is_hidden);
    is_seen && name.len() <= NAME_BYTES_MAX && !name.starts_with('-')
}

/// Whether nothing is in a text, or only blanks.
pub fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// A `ClassAd` expression as a part of a longer one. It may end in a comment, which takes all that is behind it on its line.
pub fn as_part(expression: &str) -> String {
    let end = if expression.contains("//") { "\n" } else { "" };
    format!("({expression}{end})")
}

/// A unit of bytes, and how many they are.
type Unit = (&'static str, u64);

/// Bytes as people write them: whole, in a unit of 1024 or of 1000, where that takes three digits; else to a tenth of one of 1024.
pub fn amount(bytes: u64) -> String {
    in_unit(bytes, unit_of(bytes))
}

/// Bytes that are compared with others, in the unit of those as [`amount`] writes them; as that does by itself where there are no others,
/// or these are far fewer.
pub fn amount_beside(bytes: u64, others: u64) -> String {
    let unit = unit_of(others).filter(|(_, unit)| bytes >= unit / 10);
    in_unit(bytes, unit.or_else(|| unit_of(bytes)))
}

/// None for bytes alone.
fn unit_of(bytes: u64) -> Option<Unit> {
    const UNITS: [Unit; 7] = [
        ("TiB", 1 << 40),
        ("TB", 1_000_000_000_000),
        ("GiB", 1 << 30),
        ("GB", 1_000_000_000),
        ("MiB", 1 << 20),
        ("MB", 1_000_000),
        ("KiB", 1 << 10),
    ];
    let is_whole = |unit: u64| bytes > 0 && bytes.is_multiple_of(unit) && bytes / unit < 1_000;
    let largest = || UNITS.into_iter().find(|(name, unit)| name.ends_with("iB") && bytes >= *unit);
    UNITS.into_iter().find(|(_, unit)| is_whole(*unit)).or_else(largest)
}

fn in_unit(bytes: u64, unit: Option<Unit>) -> String {
    match unit {
        None => format!("{bytes} bytes"),
        Some((name, unit)) if bytes.is_multiple_of(unit) => format!("{} {name}", bytes / unit),
        Some((name, unit)) => format!("{:.1} {name}", bytes as f64 / unit as f64),
    }
}

/// The text with a blank for each hidden character, cut where it has more bytes.
pub fn tamed(text: &str, bytes_max: usize) -> String {
    let mut tamed = String::new();
    for character in text.chars().map(|character| if is_hidden(character) { ' ' } else { character }) {
        if tamed.len() + character.len_utf8() > bytes_max {
            break;
        }
        tamed.push(character);
    }
    tamed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_whole_where_somebody_meant_them_so() {
        for (bytes, expected) in [
            (0, "0 bytes"),
            (1_000, "1000 bytes"),
            (1_536, "1.5 KiB"),
            (64 << 20, "64 MiB"),
            (64_000_000, "64 MB"),
            (1_500_000_000, "1.4 GiB"),
            (6_000_000_001, "5.6 GiB"),
            (400 << 30, "400 GiB"),
            (u64::MAX, "16777216.0 TiB"),
        ] {
            assert_eq!(amount(bytes), expected);
        }
    }

    #[test]
    fn amounts_that_are_compared_have_the_same_unit() {
        for (bytes, others, expected) in [
            (64_000_000, 64_000_000, "64 MB"),
            // A machine counts memory in pages.
            (999_997_440, 1_000_000_000, "1.0 GB"),
            (536_870_912, 1_000_000_000, "0.5 GB"),
            (2 << 30, 64 << 20, "2048 MiB"),
            (1_536, 1_000_000_000, "1.5 KiB"),
            (1_536, 0, "1.5 KiB"),
            (0, 64_000_000, "0 bytes"),
        ] {
            assert_eq!(amount_beside(bytes, others), expected);
        }
    }

    #[test]
    fn a_comment_ends_with_the_part_that_it_is_in() {
        assert_eq!(as_part("a || b"), "(a || b)");
        assert_eq!(as_part("a || b // mine"), "(a || b // mine\n)");
    }

    #[test]
    fn names_are_neither_options_nor_folders() {
        for name in ["lab-1", "ann@lab.example", ".hidden", "a..b"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", ".", "..", "-r", "a b", "a/b", &"a".repeat(NAME_BYTES_MAX + 1)] {
            assert!(!is_name(name), "{name}");
        }
    }

    #[test]
    fn labels_are_seen_and_no_options() {
        for label in ["render", "night run", "a/b"] {
            assert!(is_label(label), "{label}");
        }
        for label in ["", " ", "-x", "a\u{202e}b", &"a".repeat(NAME_BYTES_MAX + 1)] {
            assert!(!is_label(label), "{label}");
        }
    }

    #[test]
    fn what_deceives_the_eye_is_hidden() {
        for deceiving in
            ['\n', '\x1b', '\u{9b}', '\u{202e}', '\u{200b}', '\u{2066}', '\u{feff}', '\u{e0041}', '\u{ad}']
        {
            assert!(is_hidden(deceiving), "{deceiving:?}");
        }
        for plain in ['a', ' ', 'ü', '日', 'א', '—', '😀', '\u{a0}'] {
            assert!(!is_hidden(plain), "{plain:?}");
        }
        assert_eq!(tamed("a\u{202e}b\nü", 5), "a b ");
        assert_eq!(tamed("", 5), "");
    }
}
