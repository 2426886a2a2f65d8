//! What somebody who mistyped a name probably meant.

use crate::error::quoted;
use gleaner_wire::meant::meant;

/// All of them where they are no more than that, as keys are; else, as with machines, the nearest.
const LISTED: usize = 40;
const NEAREST: usize = 5;
/// Comparing with more takes longer than it helps.
const COMPARED: usize = 10_000;
const COMPARED_CHARS: usize = 64;

/// "one of …": the known names in their order, or of many those nearest to `name`, and the one that was probably meant.
pub(crate) fn one_of<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().take(COMPARED).collect();
    let listed = if known.len() > LISTED {
        let name: String = name.chars().take(COMPARED_CHARS).collect();
        let mut nearest: Vec<(usize, &str)> =
            known.iter().map(|known| (distance(&name, known), *known)).collect();
        // Nothing is near to no name: all stay in their order.
        if !name.is_empty() {
            nearest.sort_by_key(|&(distance, _)| distance);
        }
        cut(nearest.iter().map(|(_, known)| *known), NEAREST)
    } else {
        list(known.iter().copied())
    };
    // What is shown in quotes is nothing that anybody mistypes.
    let meant = meant(name, known.into_iter().filter(|known| is_word(known)));
    format!("one of {listed}{meant}")
}

/// `name` as it is if it is a word, in quotes if not.
pub(crate) fn plain(name: &str) -> String {
    if is_word(name) { name.to_owned() } else { quoted(name) }
}

fn is_word(name: &str) -> bool {
    let word = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "-_./".contains(c));
    word && name.len() <= COMPARED_CHARS
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
    fn keys_keep_their_order_whatever_was_typed() {
        let known = ["machines", "owner_load", "sharing"];
        let listed = "one of machines, owner_load, sharing";
        assert_eq!(one_of("shraing", known), format!("{listed}; did you mean sharing?"));
        assert_eq!(one_of("colour", known), listed);
        assert_eq!(one_of("\u{1b}[m", ["\u{1b}[n"]), "one of \"\\u{1b}[n\"");
    }

    #[test]
    fn all_keys_are_shown_and_of_many_names_the_nearest() {
        assert_eq!(one_of("f", ["a", "b", "c", "d", "e", "f"]), "one of a, b, c, d, e, f");
        let names: Vec<String> = (0..100).map(|number| format!("lab-{number:02}")).collect();
        let names = || names.iter().map(String::as_str);
        assert_eq!(
            one_of("lab-07x", names()),
            "one of lab-07, lab-00, lab-01, lab-02, lab-03 and 95 more; did you mean lab-07?"
        );
        assert!(one_of("", names().chain(["n"])).starts_with("one of lab-00, lab-01, "));
        assert!(list(names()).ends_with("lab-39 and 60 more"));
    }
}
