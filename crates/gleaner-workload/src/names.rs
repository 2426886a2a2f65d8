//! What somebody who mistyped a name probably meant.

use crate::error::quoted;

const SHOWN: usize = 5;
const LISTED: usize = 20;
/// Comparing with more takes longer than it helps.
const COMPARED: usize = 10_000;
const COMPARED_CHARS: usize = 64;

/// "one of …": the known names nearest to `name`, nearest first.
pub(crate) fn one_of<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let name: String = name.chars().take(COMPARED_CHARS).collect();
    let mut nearest: Vec<(usize, &str)> =
        known.into_iter().take(COMPARED).map(|known| (distance(&name, known), known)).collect();
    nearest.sort_by_key(|&(distance, _)| distance);
    let shown: Vec<String> = nearest.iter().take(SHOWN).map(|(_, known)| plain(known)).collect();
    let more = if nearest.len() > SHOWN { ", …" } else { "" };
    format!("one of {}{more}", shown.join(", "))
}

/// `name` as it is if it is a word, in quotes if not.
pub(crate) fn plain(name: &str) -> String {
    let word = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "-_./".contains(c));
    if word && name.len() <= COMPARED_CHARS { name.to_owned() } else { quoted(name) }
}

/// The first of `names` one after the other, for a sentence.
pub(crate) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names = names.into_iter();
    let mut shown: Vec<String> = names.by_ref().take(LISTED).map(plain).collect();
    shown.extend(names.next().map(|_| "…".to_owned()));
    shown.join(", ")
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
    fn few_are_shown() {
        assert_eq!(one_of("f", ["a", "b", "c", "d", "e", "f"]), "one of f, a, b, c, d, …");
    }
}
