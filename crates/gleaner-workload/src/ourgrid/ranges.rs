//! `{1-3}` in a name: one name for each of the numbers.

use crate::limits::{RANGE_MAX, TRANSFER_BYTES_MAX};

/// Of a number's longest way to be written.
const DIGITS_MAX: usize = 10;

/// The names that `name` stands for; itself, if there is no range in it. The first range is the slowest.
pub(super) fn expand(name: &str) -> Result<Vec<String>, String> {
    let mut names = vec![String::new()];
    let mut rest = name;
    while let Some((before, numbers, after)) = next(rest) {
        for name in &mut names {
            name.push_str(before);
        }
        let count = numbers.len().saturating_mul(names.len());
        if count > RANGE_MAX {
            return Err(format!("a range of more than {RANGE_MAX} names"));
        }
        if count.saturating_mul(name.len()) > TRANSFER_BYTES_MAX {
            return Err(format!("a range of names of more than {TRANSFER_BYTES_MAX} bytes"));
        }
        names = names
            .iter()
            .flat_map(|name| numbers.iter().map(move |number| format!("{name}{number}")))
            .collect();
        rest = after;
    }
    for name in &mut names {
        name.push_str(rest);
    }
    Ok(names)
}

/// What stands before the first range, its numbers, and what stands behind it.
fn next(text: &str) -> Option<(&str, Vec<String>, &str)> {
    text.match_indices('{').find_map(|(open, _)| {
        let inside = &text[open + 1..];
        let close = inside.bytes().take(2 * DIGITS_MAX + 3).position(|byte| byte == b'}')?;
        let (range, after) = (&inside[..close], &inside[close + 1..]);
        let (first, last) = range.split_once('-').or_else(|| range.split_once(".."))?;
        let is_number = |text: &str| {
            (1..=DIGITS_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
        };
        if !is_number(first) || !is_number(last) {
            return None;
        }
        let (from, to): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        // One too many shows that there are too many.
        let numbers =
            (from..=to).take(RANGE_MAX + 1).map(|number| format!("{number:0width$}", width = first.len()));
        (from <= to).then(|| (&text[..open], numbers.collect(), after))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_names() {
        for (name, expected) in [
            ("a", "a"),
            ("a{1-3}.txt", "a1.txt a2.txt a3.txt"),
            ("{08..10}", "08 09 10"),
            ("a{1-2}b{1-2}", "a1b1 a1b2 a2b1 a2b2"),
            ("a{}{x-y}{2-1}{1-", "a{}{x-y}{2-1}{1-"),
        ] {
            assert_eq!(expand(name).expect("few").join(" "), expected);
        }
        assert!(expand(&format!("{}{{1-1000}}", "x".repeat(100_000))).is_err());
        assert!(expand("{0-4294967295}").is_err() && expand("{1-9999}{1-9999}").is_err());
    }
}
