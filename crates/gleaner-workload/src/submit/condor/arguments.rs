//! How arguments and variables are written: the old way, by blanks and semicolons, and the new way, in double quotes.

/// The arguments that a text stands for, or what is wrong with it.
pub(super) fn arguments(text: &str) -> Result<Vec<String>, String> {
    match in_new_quotes(text)? {
        Some(inside) => words(&inside),
        None => old_arguments(text),
    }
}

/// The variables that a text stands for.
pub(super) fn environment(text: &str) -> Result<Vec<(String, String)>, String> {
    let entries = match in_new_quotes(text)? {
        Some(inside) => words(&inside)?,
        None => text
            .split(';')
            .filter(|entry| !entry.trim().is_empty())
            .map(|entry| entry.trim_start().to_owned())
            .collect(),
    };
    let pairs = entries.iter().map(|entry| match entry.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.to_owned())),
        _ => Err(format!("{entry:?} is not NAME=VALUE")),
    });
    pairs.collect()
}

/// What the double quotes around the text hold, where there are some; `""` within stands for one.
fn in_new_quotes(text: &str) -> Result<Option<String>, String> {
    let Some(inside) = text.trim().strip_prefix('"') else { return Ok(None) };
    let Some(inside) = inside.strip_suffix('"') else {
        return Err("the double quote at its beginning is not closed at its end".to_owned());
    };
    let doubled = inside.replace("\"\"", "\u{0}");
    if doubled.contains('"') {
        return Err("a double quote within double quotes is written twice".to_owned());
    }
    Ok(Some(doubled.replace('\u{0}', "\"")))
}

/// Words parted by blanks; single quotes hold blanks together, and `''` within them stands for one.
fn words(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match rest.next() {
                        Some('\'') if rest.peek() == Some(&'\'') => word.extend(rest.next()),
                        Some('\'') => break,
                        Some(c) => word.push(c),
                        None => return Err("a single quote is not closed".to_owned()),
                    }
                }
            }
            c if c.is_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

/// Words parted by blanks, without quoting; a double quote is written `\"`.
fn old_arguments(text: &str) -> Result<Vec<String>, String> {
    let escaped = text.replace("\\\"", "\u{0}");
    if escaped.contains('"') {
        return Err("a double quote in arguments of the old form is written \\\"".to_owned());
    }
    Ok(escaped.split_whitespace().map(|word| word.replace('\u{0}', "\"")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_in_both_forms() {
        for (text, expected) in [
            ("a b  c", Ok(vec!["a", "b", "c"])),
            (r#"a \"b 'c d'"#, Ok(vec!["a", "\"b", "'c", "d'"])),
            (r#""3 simple arguments""#, Ok(vec!["3", "simple", "arguments"])),
            (r#""one 'two with spaces' 3""#, Ok(vec!["one", "two with spaces", "3"])),
            (
                r#""one ""two"" 'spacey ''quoted'' argument'""#,
                Ok(vec!["one", "\"two\"", "spacey 'quoted' argument"]),
            ),
            (r#""a '' b""#, Ok(vec!["a", "", "b"])),
            ("", Ok(vec![])),
            (r#"a "b"#, Err("a double quote in arguments")),
            (r#""a b"#, Err("the double quote at its beginning")),
            (r#""a 'b""#, Err("a single quote is not closed")),
        ] {
            match (arguments(text), expected) {
                (Ok(words), Ok(expected)) => assert_eq!(words, expected, "{text}"),
                (Err(why), Err(expected)) => assert!(why.starts_with(expected), "{text}: {why}"),
                (found, _) => panic!("{text}: {found:?}"),
            }
        }
    }

    #[test]
    fn variables_in_both_forms() {
        let shown = |text| {
            environment(text).map(|pairs| {
                pairs.iter().map(|(name, value)| format!("<{name}|{value}>")).collect::<String>()
            })
        };
        for (text, expected) in [
            ("a=1;b=x y;c=", "<a|1><b|x y><c|>"),
            ("env01=\"a;env02=&;", "<env01|\"a><env02|&>"),
            (r#""a=1 b='x y' c=""q""""#, "<a|1><b|x y><c|\"q\">"),
            ("MYNAME = 3", "<MYNAME| 3>"),
        ] {
            assert_eq!(shown(text).as_deref(), Ok(expected), "{text}");
        }
        assert!(environment("a").is_err());
    }
}
