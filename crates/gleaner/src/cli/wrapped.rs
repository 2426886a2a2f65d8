//! Help fits the terminal: a paragraph is one line until it is wrapped, and an example fits 80 columns as it stands.

use super::Cli;
use clap::{Command, CommandFactory};

/// An example is never wrapped on a terminal of this width.
const COLUMNS_MIN: usize = 80;

/// All commands, with what leads to each: `gleaner policy set`.
fn commands() -> Vec<(String, Command)> {
    fn add(path: &str, command: &Command, found: &mut Vec<(String, Command)>) {
        for below in command.get_subcommands() {
            add(&format!("{path} {}", below.get_name()), below, found);
        }
        found.push((path.to_owned(), command.clone()));
    }
    let mut root = Cli::command();
    root.build();
    let mut found = Vec::new();
    add("gleaner", &root, &mut found);
    found
}

/// The texts around a command's options.
fn texts(command: &Command) -> Vec<String> {
    let texts = [
        command.get_about(),
        command.get_long_about(),
        command.get_before_help(),
        command.get_before_long_help(),
        command.get_after_help(),
        command.get_after_long_help(),
    ];
    texts.into_iter().flatten().map(ToString::to_string).collect()
}

fn is_prose(line: &str) -> bool {
    !line.is_empty() && !line.starts_with(' ') && !line.ends_with(':')
}

#[test]
fn a_paragraph_is_one_line_until_it_is_wrapped() {
    for (path, command) in commands() {
        for text in texts(&command) {
            let lines: Vec<&str> = text.lines().collect();
            for pair in lines.windows(2) {
                let &[line, next] = pair else { unreachable!("windows of two") };
                assert!(
                    !is_prose(line) || !is_prose(next),
                    "{path}: a line break within prose: {line}\n{next}"
                );
            }
        }
    }
}

#[test]
fn an_example_fits_a_terminal() {
    for (path, command) in commands() {
        for text in texts(&command) {
            for line in text.lines().filter(|line| line.starts_with(' ')) {
                let columns = line.chars().count();
                assert!(columns <= COLUMNS_MIN, "{path}: {columns} columns: {line}");
            }
        }
    }
}

#[test]
fn prose_fills_terminals_of_every_width() {
    for width in [60, 80, 100, 120] {
        for (path, command) in commands() {
            let prose: Vec<String> = texts(&command)
                .iter()
                .flat_map(|text| text.lines())
                .filter(|line| is_prose(line))
                .map(str::to_owned)
                .collect();
            let help = command.term_width(width).render_long_help().to_string();
            let shown: Vec<&str> = help.lines().map(str::trim_end).collect();
            for paragraph in prose {
                let at = shown.iter().position(|line| !line.is_empty() && paragraph.starts_with(line));
                // Of a short and a long text the longer one alone is shown.
                let Some(at) = at else { continue };
                let mut left = paragraph.as_str();
                for line in &shown[at..] {
                    assert!(line.chars().count() <= width, "{path} at {width}: {line}");
                    left = left
                        .strip_prefix(line)
                        .unwrap_or_else(|| panic!("{path} at {width}: {line}\nnot: {left}"))
                        .trim_start();
                    let Some(next) = left.split(' ').next().filter(|next| !next.is_empty()) else { break };
                    let filled = line.chars().count() + 1 + next.chars().count();
                    assert!(filled > width, "{path} at {width}: {line}\nends before {next}");
                }
                assert!(left.is_empty(), "{path} at {width}: not shown: {left}");
            }
        }
    }
}
