//! Macros: `$(NAME)`, `$(NAME:default)` and the functions, as far as they have a value before a submission.

use super::setting::Setting;
use gleaner_classad::{Context, Expr, Value};
use std::cell::Cell;
use std::collections::BTreeMap;

/// The names whose values differ from one process of a row to the next.
pub(super) const COUNTING: [&str; 3] = ["process", "procid", "step"];

const DEPTH_MAX: usize = 32;
/// An expansion that is longer is a mistake, or an attack.
const BYTES_MAX: usize = 1 << 20;
/// Bytes that are looked at to expand one text: macros without a value can double without growing.
const LOOKS_MAX: usize = 1 << 26;

/// Where names are looked up: what holds for one process, then the command line, then the file.
#[derive(Debug)]
pub(super) struct Scope<'a> {
    pub(super) settings: &'a BTreeMap<String, Setting>,
    pub(super) given: &'a [(String, String)],
    pub(super) environment: &'a BTreeMap<String, String>,
    /// Process, Item and so on, by their names in lower case; empty where no process is meant.
    pub(super) process: Vec<(String, String)>,
    /// What stands for the job's number, where that may stand open.
    pub(super) cluster: Option<&'static str>,
    /// How much was looked at so far.
    pub(super) looks: Cell<usize>,
    /// Whether anything was looked up that differs from one process of a row to the next.
    pub(super) counted: Cell<bool>,
}

impl Scope<'_> {
    /// `text` with every macro replaced, or why that cannot be.
    pub(super) fn expand(&self, text: &str) -> Result<String, String> {
        self.looks.set(0);
        self.expand_at(text, 0)
    }

    fn expand_at(&self, text: &str, depth: usize) -> Result<String, String> {
        if depth > DEPTH_MAX {
            return Err("its macros refer to each other without end".to_owned());
        }
        let mut expanded = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            expanded.push_str(&rest[..at]);
            rest = &rest[at..];
            let (value, used) = self.macro_at(rest, depth)?;
            // Where no macro begins, its end was looked for.
            self.looks.set(self.looks.get() + if used > 1 { used } else { rest.len() });
            if self.looks.get() > LOOKS_MAX {
                return Err("its macros take too long to expand".to_owned());
            }
            expanded.push_str(&value);
            rest = &rest[used..];
            if expanded.len() > BYTES_MAX {
                return Err("its macros expand to more than 1 MiB".to_owned());
            }
        }
        expanded.push_str(rest);
        Ok(expanded)
    }

    /// The value of what begins with the `$` that `text` begins with, and how long that is.
    fn macro_at(&self, text: &str, depth: usize) -> Result<(String, usize), String> {
        if text.starts_with("$$(") {
            return Err(
                "$$(…) asks the machine that was found, which no task here knows beforehand".to_owned()
            );
        }
        let name_end =
            text[1..].find(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(text.len(), |at| at + 1);
        let inside = text[name_end..].strip_prefix('(').and_then(|rest| Some(&rest[..closing(rest)?]));
        let Some(inside) = inside else { return Ok(("$".to_owned(), 1)) };
        let used = name_end + inside.len() + 2;
        let value = match &text[1..name_end] {
            "" => self.plain(inside, depth)?,
            function => self.function(function, inside, depth)?,
        };
        Ok((value, used))
    }

    fn plain(&self, inside: &str, depth: usize) -> Result<String, String> {
        let (name, default) = split_default(inside);
        let lower = name.trim().to_ascii_lowercase();
        if let Some(value) = self.find(&lower, depth)? {
            return Ok(value);
        }
        match (default, lower.as_str()) {
            (Some(default), _) => self.expand_at(default, depth + 1),
            (None, "dollar") => Ok("$".to_owned()),
            (None, "cluster" | "clusterid") => self.cluster.map(str::to_owned).ok_or_else(|| {
                "$(Cluster) is not known before the submission; the task finds the job in $GLEANER_JOB"
                    .to_owned()
            }),
            (None, _) => Err(format!(
                "$({0}) has no value: define it, say --set {0}=VALUE, or give it a default as $({0}:)",
                name.trim()
            )),
        }
    }

    /// The expanded value of the macro `lower`, if it has one.
    fn find(&self, lower: &str, depth: usize) -> Result<Option<String>, String> {
        let of_process = self.process.iter().find(|(name, _)| name == lower).map(|(_, value)| value);
        if COUNTING.contains(&lower) {
            self.counted.set(true);
        }
        let given =
            || self.given.iter().find(|(name, _)| name.eq_ignore_ascii_case(lower)).map(|(_, value)| value);
        let set = || self.settings.get(lower).map(|setting| &setting.value);
        let value = of_process.or_else(given).or_else(set);
        value.map(|value| self.expand_at(value, depth + 1)).transpose()
    }

    fn function(&self, function: &str, inside: &str, depth: usize) -> Result<String, String> {
        let upper = function.to_ascii_uppercase();
        let mut arguments = inside.split(',').map(str::trim);
        let first = arguments.next().unwrap_or_default();
        match upper.as_str() {
            "ENV" => {
                let (name, default) = split_default(inside);
                match (self.environment.get(name.trim()), default) {
                    (Some(value), _) => Ok(value.clone()),
                    (None, Some(default)) => self.expand_at(default, depth + 1),
                    (None, None) => Err(format!("${function}({name}) is not set here")),
                }
            }
            "INT" => match (self.number(first, depth)?, arguments.next()) {
                (number, None) => Ok((number as i64).to_string()),
                (number, Some(format)) => padded(number as i64, format).ok_or_else(|| {
                    format!("${function}({inside}): a format other than %0Nd is not supported")
                }),
            },
            "BASENAME" => Ok(file_part(&self.named(first, depth)?, "nx")),
            "DIRNAME" => Ok(file_part(&self.named(first, depth)?, "p")),
            _ if upper.starts_with('F') && upper[1..].chars().all(|c| "PDNXQ".contains(c)) => {
                Ok(file_part(&self.named(first, depth)?, &function[1..].to_ascii_lowercase()))
            }
            _ => Err(format!("${function}(…) is not supported")),
        }
    }

    /// The macro called `text`, or else what `text` itself says.
    fn named(&self, text: &str, depth: usize) -> Result<String, String> {
        match self.find(&text.to_ascii_lowercase(), depth)? {
            Some(value) => Ok(value),
            None => self.expand_at(text, depth + 1),
        }
    }

    fn number(&self, text: &str, depth: usize) -> Result<f64, String> {
        let text = self.named(text, depth)?;
        evaluated(&text).ok_or_else(|| format!("{text:?} is no number"))
    }
}

/// The number that an expression without references comes to.
pub(super) fn evaluated(text: &str) -> Option<f64> {
    match Expr::parse(text).ok()?.evaluate(&Context::new()) {
        Value::Integer(integer) => Some(integer as f64),
        Value::Real(real) => Some(real),
        _ => None,
    }
}

/// Where the parenthesis that was opened before `text` is closed.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(at),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn split_default(inside: &str) -> (&str, Option<&str>) {
    inside.split_once(':').map_or((inside, None), |(name, default)| (name, Some(default)))
}

/// `%d` and `%0Nd`.
fn padded(number: i64, format: &str) -> Option<String> {
    let width = format.strip_prefix('%')?.strip_suffix('d')?;
    match width.strip_prefix('0') {
        Some(width) => {
            let width: usize = width.parse().ok().filter(|&width| width <= 64)?;
            Some(format!("{number:0width$}"))
        }
        None if width.is_empty() => Some(number.to_string()),
        None => None,
    }
}

/// The parts of a path that the letters ask for: p its folder, d the last name of its folder, n its name, x its
/// extension; q puts it all into quotes. No letter asks for all of it.
fn file_part(path: &str, letters: &str) -> String {
    let (folder, name) = path.rfind('/').map_or(("", path), |at| path.split_at(at + 1));
    let (stem, extension) = name.rfind('.').filter(|&at| at > 0).map_or((name, ""), |at| name.split_at(at));
    let has = |letter| letters.contains(letter);
    let mut part = String::new();
    if has('p') {
        part += folder;
    } else if has('d') {
        let last = folder.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        part += last;
        part += if last.is_empty() { "" } else { "/" };
    }
    if has('n') {
        part += stem;
    }
    if has('x') {
        part += extension;
    }
    if !letters.contains(['p', 'd', 'n', 'x']) {
        path.clone_into(&mut part);
    }
    if has('q') { format!("\"{part}\"") } else { part }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_have_the_values_that_htcondor_gives() {
        let setting =
            |value: &str| Setting { name: String::new(), value: value.into(), line: 1, is_ignored: false };
        let settings = [
            ("x", "/a/b/c.d"),
            ("n", "3"),
            ("a", "$(b)"),
            ("b", "B"),
            ("loop", "$(loop2)"),
            ("loop2", "$(loop)"),
        ];
        let settings = settings.map(|(name, value)| (name.to_owned(), setting(value))).into();
        let environment = [("HOME".to_owned(), "/root".to_owned())].into();
        let process = vec![("process".to_owned(), "7".to_owned())];
        let scope = Scope {
            settings: &settings,
            given: &[],
            environment: &environment,
            process,
            cluster: None,
            looks: Cell::new(0),
            counted: Cell::new(false),
        };
        for (text, expected) in [
            ("$(a)$(A) $(b:x) $(none:y) $(none:$(b))", Ok("BB B y B")),
            (
                "$F(x) $Fn(x) $Fnx(x) $Fp(x) $Fd(x) $Fq(x) $Fx(x)",
                Ok("/a/b/c.d c c.d /a/b/ b/ \"/a/b/c.d\" .d"),
            ),
            ("$BASENAME(/a/b.c) $ENV(HOME) $ENV(NOPE:dd)", Ok("b.c /root dd")),
            ("$INT(3.7) $INT(n) $INT(1+2) $INT(Process,%03d)", Ok("3 3 3 007")),
            ("$(DOLLAR)x $x 5$", Ok("$x $x 5$")),
            ("$(process) $(Process)", Ok("7 7")),
            ("$$(name)", Err("$$(…) asks")),
            ("$(none)", Err("$(none) has no value")),
            ("$(loop)", Err("its macros refer to each other")),
            ("$RANDOM_CHOICE(1,2)", Err("$RANDOM_CHOICE(…) is not supported")),
            ("$(Cluster)", Err("$(Cluster) is not known")),
            ("$ENV(NOPE)", Err("$ENV(NOPE) is not set here")),
        ] {
            match (scope.expand(text), expected) {
                (Ok(value), Ok(expected)) => assert_eq!(value, expected, "{text}"),
                (Err(why), Err(expected)) => assert!(why.starts_with(expected), "{text}: {why}"),
                (found, _) => panic!("{text}: {found:?}"),
            }
        }
    }
}
