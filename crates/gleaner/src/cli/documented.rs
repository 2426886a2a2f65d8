//! Every command in the documentation is one that there is.

use super::Cli;
use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::fs;
use std::path::{Path, PathBuf};

/// All pages for people who use Gleaner.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let docs =
        fs::read_dir(root.join("docs")).expect("the folder").map(|entry| entry.expect("a file").path());
    let pages = docs.filter(|path| path.extension().is_some_and(|end| end == "md"));
    let others = ["README.md", "packaging/README.md", "SECURITY.md", "ARCHITECTURE.md"];
    pages.chain(others.map(|name| root.join(name))).collect()
}

/// What stands in backquotes within sentences; a sentence may go on in the next line.
fn inline(text: &str) -> Vec<String> {
    let fences = text.split("\n```").step_by(2);
    let paragraphs = fences.flat_map(|prose| prose.split("\n\n"));
    let codes = paragraphs.flat_map(|paragraph| paragraph.split('`').skip(1).step_by(2));
    codes.map(|code| code.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// The lines within fences that are for a shell or unnamed, continued ones as one.
fn shell_lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut fence: Option<bool> = None;
    let mut continued = false;
    for line in text.lines() {
        if let Some(info) = line.strip_prefix("```") {
            let language = info.split(' ').next().unwrap_or_default();
            fence = match fence {
                None => Some(["", "sh", "console"].contains(&language)),
                Some(_) => None,
            };
        } else if fence == Some(true) {
            let (part, goes_on) = line.strip_suffix('\\').map_or((line, false), |part| (part, true));
            match lines.last_mut().filter(|_| continued) {
                Some(last) => last.push_str(part),
                None => lines.push(part.to_owned()),
            }
            continued = goes_on;
        }
    }
    lines
}

/// The words of the first command of ours on a line, as a shell would part them; without what goes into a pipe or a file.
fn command(line: &str) -> Option<Vec<String>> {
    // `sudo -u gleaner gleaner …`, `A=1 gleaner …`
    let is_before = |word: &&str| ["sudo", "-u", "exec"].contains(word) || word.contains('=');
    let mut before: Vec<&str> = line.split_whitespace().take_while(is_before).collect();
    if before.contains(&"-u") {
        before.push(line.split_whitespace().nth(before.len())?);
    }
    if line.split_whitespace().nth(before.len())? != "gleaner" {
        return None;
    }
    let mut words = vec![String::new()];
    let mut quote = None;
    let at =
        before.iter().fold(0, |at, word| line[at..].find(word).map_or(at, |found| at + found + word.len()));
    let mut is_quoted = false;
    for c in line[at..].trim_start().chars() {
        match (c, quote) {
            ('\'' | '"', None) => (quote, is_quoted) = (Some(c), true),
            (c, Some(open)) if c == open => quote = None,
            ('#' | '>' | '<', None) if words.last()?.is_empty() => break,
            ('|' | ';' | '&', None) => break,
            (' ', None) => {
                if !words.last()?.is_empty() || is_quoted {
                    words.push(String::new());
                }
                is_quoted = false;
            }
            (c, _) => words.last_mut()?.push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    // What somebody has to put in, as a page writes it.
    Some(
        words
            .into_iter()
            .map(|word| if ["N", "ID"].contains(&word.as_str()) { "1".to_owned() } else { word })
            .collect(),
    )
}

#[test]
fn every_command_in_the_docs_is_one() {
    let mut found = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).expect("a page");
        for line in shell_lines(&text) {
            let Some(words) = command(&line) else { continue };
            found += 1;
            if let Err(error) = Cli::try_parse_from(&words) {
                assert!(!error.use_stderr(), "{}: {line}\n{words:?}\n{error}", page.display());
            }
        }
    }
    assert!(found > 60, "{found} commands in all pages");
}

/// Whether a value is left out, or stands in capitals for what people put in.
fn is_blank(value: &str) -> bool {
    value.chars().all(|letter| letter.is_ascii_uppercase() || "/:".contains(letter))
}

/// A sentence may leave out what a command needs, and nothing else.
#[test]
fn every_command_in_a_sentence_is_one() {
    let mut found = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).expect("a page");
        for line in inline(&text) {
            let Some(words) = command(&line) else { continue };
            found += 1;
            let Err(error) = Cli::try_parse_from(words.iter().filter(|word| *word != "…")) else {
                continue;
            };
            let is_short = match error.kind() {
                ErrorKind::MissingRequiredArgument
                | ErrorKind::MissingSubcommand
                | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => true,
                ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
                    matches!(error.get(ContextKind::InvalidValue), Some(ContextValue::String(value)) if is_blank(value))
                }
                _ => false,
            };
            assert!(is_short || !error.use_stderr(), "{}: {line}\n{words:?}\n{error}", page.display());
        }
    }
    assert!(found > 100, "{found} commands in all sentences");
}

#[test]
fn a_line_is_parted_as_a_shell_does() {
    for (line, expected) in [
        ("gleaner submit -- echo 'a b' # c", "gleaner|submit|--|echo|a b"),
        ("sudo -u gleaner gleaner token list | head", "gleaner|token|list"),
        ("A=1 gleaner status > file", "gleaner|status"),
        ("gleaner logs 7/3 ; gleaner status", "gleaner|logs|7/3"),
    ] {
        assert_eq!(command(line).map(|words| words.join("|")).as_deref(), Some(expected), "{line}");
    }
    assert_eq!(command("cargo install gleaner"), None);
}
