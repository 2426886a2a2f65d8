//! What somebody who mistyped a name probably meant: the end of a sentence that says what was found.

/// No more of a name is compared.
const CHARS: usize = 128;
/// Nor with more names.
const NAMES: usize = 10_000;

/// `; did you mean lab-7?`, or nothing where no known name is near.
pub fn meant<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let given: String = given.chars().take(CHARS).collect();
    let known = known.into_iter().take(NAMES).filter(|name| name.len() <= CHARS * 4);
    let nearest = known.map(|name| (strsim::damerau_levenshtein(&given, name), name)).min();
    // Where more than a third is otherwise, it was something else that was meant.
    let near =
        nearest.filter(|(distance, name)| *distance > 0 && distance * 3 <= name.chars().count().max(3));
    near.map_or(String::new(), |(_, name)| format!("; did you mean {name}?"))
}

/// A message of serde's, which lists what it expects, with what was probably meant: "unknown field `a`, expected one of
/// `b`, `c`".
pub fn with_meant(message: &str) -> String {
    let message = message.trim_end();
    let end = |message: &str| {
        let (_, rest) =
            message.split_once("unknown field").or_else(|| message.split_once("unknown variant"))?;
        let (found, expected) = rest.split_once("expected")?;
        let words = |text: &str| text.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
        let (given, known) = (words(found), words(expected));
        Some(meant(given.first()?, known.iter().map(String::as_str)))
    };
    format!("{message}{}", end(message).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_is_proposed_if_it_is_near() {
        let machines = ["lab-01", "lab-02", "attic"];
        for (given, expected) in [
            ("atic", "; did you mean attic?"),
            ("lab-1", "; did you mean lab-01?"),
            ("desk", ""),
            ("attic", ""),
            ("", ""),
        ] {
            assert_eq!(meant(given, machines), expected, "{given}");
        }
        assert_eq!(meant("vn", ["vm"]), "; did you mean vm?");
    }

    #[test]
    fn what_serde_says_is_gone_on_with() {
        let told = "unknown field `comand`, expected one of `name`, `command` at line 1 column 9";
        assert_eq!(with_meant(told), format!("{told}; did you mean command?"));
        assert_eq!(
            with_meant("unknown field `x`, there are no fields\n"),
            "unknown field `x`, there are no fields"
        );
        assert_eq!(with_meant("invalid type: map"), "invalid type: map");
    }
}
