//! HTCondor's own functional test script for the language, read from beside the repository.
//!
//! The script is older than the HTCondor this crate follows. Where HTCondor 25.14.1 itself departs from it, the line
//! stands in [`DEPARTURES`] with what 25.14.1 says, and that is what is tested.

use std::collections::HashMap;
use std::path::Path;

use gleaner_classad::{Context, Expr, Value};

/// Lines of the script on which HTCondor 25.14.1 disagrees with it, and the value it gives to the left side.
const DEPARTURES: &[(&str, &str)] = &[
    // A relative time that is written out is a real in HTCondor 25, and `splitTime` takes it for an instant.
    ("same isreltime($x.rtime), true", "false"),
    ("same splitTime($t).days, 1", "undefined"),
    ("same splittime($t).seconds, 4.5", "4"),
    // What an ad lacks is undefined, in a subscript too.
    ("same $x[\"c\"], error", "undefined"),
    // Nothing sums up to 0.
    ("same sum($list0), undefined", "0"),
    ("same avg($list0), undefined", "0"),
];

/// The expressions of a command, split at commas outside brackets and quotes.
fn split_arguments(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let (mut depth, mut quoted, mut escaped) = (0_i32, false, false);
    for char in text.chars() {
        if quoted {
            quoted = escaped || char != '"';
            escaped = !escaped && char == '\\';
        } else {
            match char {
                '"' => quoted = true,
                '(' | '[' | '{' => depth += 1,
                // The script has a bracket or a semicolon too many at the end of some lines.
                ')' | ']' | '}' | ';' if depth == 0 => continue,
                ')' | ']' | '}' => depth -= 1,
                ',' if depth == 0 => {
                    parts.push(String::new());
                    continue;
                }
                _ => {}
            }
        }
        if let Some(part) = parts.last_mut() {
            part.push(char);
        }
    }
    parts
}

/// How many brackets are open at the end of a text.
fn open_brackets(text: &str) -> i32 {
    let (mut depth, mut quoted, mut escaped) = (0, false, false);
    for char in text.chars() {
        if quoted {
            quoted = escaped || char != '"';
            escaped = !escaped && char == '\\';
        } else {
            match char {
                '"' => quoted = true,
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth -= 1,
                _ => {}
            }
        }
    }
    depth
}

#[derive(Default)]
struct Tester {
    variables: HashMap<String, String>,
    files: HashMap<String, String>,
    failures: Vec<String>,
    checks: usize,
    departures: usize,
}

impl Tester {
    /// Puts what the variables hold in the place of their names.
    fn substitute(&self, text: &str) -> String {
        let mut written = String::new();
        let mut rest = text;
        while let Some(place) = rest.find('$') {
            written.push_str(&rest[..place]);
            let length = rest[place + 1..].chars().take_while(char::is_ascii_alphanumeric).count();
            let name = &rest[place + 1..=place + length];
            written.push_str(self.variables.get(name).map_or("$", String::as_str));
            rest = &rest[place + 1 + length..];
        }
        written + rest
    }

    fn evaluate(&self, text: &str) -> Value {
        let text = self.substitute(text.trim());
        Expr::parse(&text).map_or(Value::Error, |expr| expr.evaluate(&Context::new()))
    }

    /// Runs one command of the script.
    fn run(&mut self, command: &str) {
        let (verb, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
        match verb {
            "echo" => {}
            "eval" => {
                let (name, expr) = rest.split_once('=').expect("eval has a name and an expression");
                let value = self.evaluate(expr);
                self.variables.insert(name.trim().to_owned(), value.to_string());
            }
            "same" | "diff" => self.compare(command, rest, verb == "same"),
            // Ads are written in the new form only; `forms.rs` is what holds the reader of XML.
            "writexml" => {
                let (file, expr) =
                    rest.split_once(char::is_whitespace).expect("writexml has a file and an expression");
                let value = self.evaluate(expr);
                self.files.insert(file.to_owned(), value.to_string());
            }
            "readxml" => {
                let (name, file) =
                    rest.split_once(char::is_whitespace).expect("readxml has a name and a file");
                self.variables.insert(name.to_owned(), self.files[file.trim()].clone());
            }
            other => panic!("the script has a command unknown to this test: {other}"),
        }
    }

    fn compare(&mut self, command: &str, arguments: &str, wanted_same: bool) {
        self.checks += 1;
        let arguments = split_arguments(arguments);
        let (left, right) = (self.evaluate(&arguments[0]), self.evaluate(&arguments[1]));
        if let Some((_, theirs)) = DEPARTURES.iter().find(|(line, _)| *line == command) {
            self.departures += 1;
            if left.to_string() != *theirs {
                self.failures.push(format!("{command}: {left}, not {theirs}"));
            }
            return;
        }
        // Reals are the same here as `==` has it, so that a NaN differs from itself and zeros do not differ.
        let same = match (&left, &right) {
            (Value::Real(left), Value::Real(right)) => left == right,
            _ => left == right,
        };
        if same != wanted_same {
            self.failures.push(format!("{command}: {left} and {right}"));
        }
    }
}

#[test]
fn htcondors_own_script_passes() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/classad/functional_tests.txt");
    let Ok(script) = std::fs::read_to_string(&path) else {
        println!("skipped: {} is not there", path.display());
        return;
    };
    let mut tester = Tester::default();
    let mut command = String::new();
    for line in script.lines() {
        let is_comment = line.trim_start().starts_with("//") || line.trim_start().starts_with('#');
        if command.is_empty() && (line.trim().is_empty() || is_comment) {
            continue;
        }
        command.push_str(line.trim());
        command.push(' ');
        if command.starts_with("echo") || open_brackets(&command) <= 0 {
            tester.run(command.trim());
            command.clear();
        }
    }
    println!(
        "{} checks, {} of them as HTCondor 25.14.1 has it and not the script",
        tester.checks, tester.departures
    );
    assert!(tester.failures.is_empty(), "{}", tester.failures.join("\n"));
    assert!(tester.checks > 200, "the script has been read");
    assert_eq!(tester.departures, DEPARTURES.len(), "every departure is still in the script");
}
