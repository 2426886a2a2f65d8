//! What somebody who mistyped a name probably meant.

use crate::error::quoted;

/// All of them where they are no more than that, as keys are; else, as with machines, the nearest.
const LISTED: usize = 40;
const NEAREST: usize = 5;
/// Comparing with more takes longer than it helps.
const COMPARED: usize = 10_000;
const COMPARED_CHARS: usize = 64;

/// "one of …": the known names nearest to `name`, nearest first.
pub(crate) fn one_of<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let name: String = name.chars().take(COMPARED_CHARS).collect();
    let mut nearest: Vec<(usize, &str)> =
        known.into_iter().take(COMPARED).map(|known| (distance(&name, known), known)).collect();
    nearest.sort_by_key(|&(distance, _)| distance);
    let shown = if nearest.len() > LISTED { NEAREST } else { nearest.len() };
    format!("one of {}", cut(nearest.iter().map(|(_, known)| *known), shown))
}

/// `name` as it is if it is a word, in quotes if not.
pub(crate) fn plain(name: &str) -> String {
    let word = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "-_./".contains(c));
    if word && name.len() <= COMPARED_CHARS { name.to_owned() } else { quoted(name) }
}

/// The first of `names` one after the other, for a sentence.
pub(crate) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    cut(names.into_iter(), LISTED)
}

/// The first few, and how many there are besides.
fn cut<'a>(mut names: impl Iterator<Item = &'a str>, few: usize) -> String {
    let shown = names.by_ref().take(few).map(plain).collect::<Vec<_>>().join(", ");
    match names.count() {
        0 => shown,
        others => format!("{shown} and {others} more"),
    }
}

fn distance(name: &str, known: &str) -> usize {
    if known.len() > COMPARED_CHARS * 4 { usize::MAX } else { strsim::damerau_levenshtein(name, known) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_comes_first() {
        let known = ["machines", "owner_load", "sharing"];
        assert_eq!(one_of("shraing", known), "one of sharing, machines, owner_load");
    }

    #[test]
    fn all_keys_are_shown_and_of_many_names_the_nearest() {
        assert_eq!(one_of("f", ["a", "b", "c", "d", "e", "f"]), "one of f, a, b, c, d, e");
        let names: Vec<String> = (0..100).map(|number| format!("lab-{number:02}")).collect();
        let names = || names.iter().map(String::as_str);
        assert_eq!(one_of("lab-07x", names()), "one of lab-07, lab-00, lab-01, lab-02, lab-03 and 95 more");
        assert!(list(names()).ends_with("lab-39 and 60 more"));
    }
}
