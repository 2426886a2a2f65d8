//! What somebody who mistyped a name probably meant: the end of a sentence that says what was found.

/// No more of a name is compared.
const CHARS: usize = 128;
/// Of fewer characters nobody can tell which name they begin.
const BEGUN_CHARS_MIN: usize = 4;
/// Nor with more names.
const NAMES: usize = 10_000;

/// `; did you mean lab-7?`, or nothing where no known name is near.
pub fn meant<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let given: String = given.chars().take(CHARS).collect();
    let known = known.into_iter().take(NAMES).filter(|name| (1..=CHARS * 4).contains(&name.len()));
    let known: Vec<&str> = known.collect();
    let nearest = known.iter().map(|name| (strsim::damerau_levenshtein(&given, name), *name)).min();
    // Where more than a third is otherwise, it was something else that was meant.
    let near = nearest.filter(|(distance, name)| distance * 3 <= name.chars().count().max(3));
    let begun = || known.iter().filter(|name| is_begun(&given, name)).min_by_key(|name| name.len());
    match near.map(|(_, name)| name).or_else(|| begun().copied()) {
        Some(name) if name != given => format!("; did you mean {name}?"),
        _ => String::new(),
    }
}

/// Whether somebody wrote only how the name begins.
fn is_begun(given: &str, name: &str) -> bool {
    given.chars().count() >= BEGUN_CHARS_MIN && name.starts_with(given)
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
    format!("{}{}", numbers(message), end(message).unwrap_or_default())
}

/// Serde calls numbers as the code does.
fn numbers(message: &str) -> String {
    let whole = ["u32", "u64", "u16", "u8", "usize", "i32", "i64"].map(|name| format!("expected {name}"));
    let plain = whole.iter().fold(message.to_owned(), |text, name| match text.strip_suffix(name.as_str()) {
        Some(before) => {
            let is_below = name.starts_with("expected u") && before.contains("integer `-");
            format!("{before}expected a whole number{}", if is_below { ", 0 or more" } else { "" })
        }
        None => text,
    });
    match plain.strip_suffix("expected f64") {
        Some(before) => format!("{before}expected a number"),
        None => plain,
    }
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
        assert_eq!(meant("h", [""]), "", "what has no name");
        assert_eq!(meant("wait", ["moves", "wait_mean_s", "wait_max_s"]), "; did you mean wait_max_s?");
        assert_eq!(meant("wai", ["wait_mean_s"]), "", "too little of a name");
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
        assert_eq!(with_meant("a text, expected u32\n"), "a text, expected a whole number");
        assert_eq!(
            with_meant("integer `-5`, expected u32"),
            "integer `-5`, expected a whole number, 0 or more"
        );
        assert_eq!(with_meant("a text, expected f64"), "a text, expected a number");
    }
}
