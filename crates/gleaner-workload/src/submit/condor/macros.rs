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
            expanded.push_str(&value);
            rest = &rest[used..];
            expect_bounded(self.looks.get(), expanded.len())?;
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
        let Some(Macro { function, inside, used }) = Macro::at(text) else { return Ok(("$".to_owned(), 1)) };
        let value = match function {
            "" => self.plain(inside, depth)?,
            function => self.function(function, inside, depth)?,
        };
        Ok((value, used))
    }

    /// `text`, which is given to the macro `lower`, with the value up to now for what refers to that macro itself: later
    /// it would refer to what it is part of. All other macros stay.
    pub(super) fn with_own_value(&self, lower: &str, text: &str) -> Result<String, String> {
        let before = self.settings.get(lower).map_or("", |setting| setting.value.as_str());
        let mut replaced = String::with_capacity(text.len());
        // What is to be looked at yet, the next last: a default is, and then what follows the macro it is of.
        let mut pending = vec![text];
        let mut looks = 0;
        while let Some(mut rest) = pending.pop() {
            while let Some(at) = rest.find('$') {
                replaced.push_str(&rest[..at]);
                rest = &rest[at..];
                let found = Macro::at(rest);
                looks += found.as_ref().map_or(rest.len(), |found| found.used);
                expect_bounded(looks, replaced.len())?;
                let Some(found) = found.filter(|found| found.is_of(lower)) else {
                    // What it holds may refer to it.
                    let kept = if rest.starts_with("$$(") { 2 } else { 1 };
                    replaced.push_str(&rest[..kept]);
                    rest = &rest[kept..];
                    continue;
                };
                let behind = &rest[found.used..];
                rest = behind;
                match (found.function, split_default(found.inside).1) {
                    ("", Some(default)) if before.trim().is_empty() => {
                        pending.push(behind);
                        rest = default;
                    }
                    ("", _) => replaced.push_str(before),
                    (function, _) => replaced.push_str(&self.function(function, found.inside, 0)?),
                }
            }
            replaced.push_str(rest);
        }
        Ok(replaced)
    }

    fn plain(&self, inside: &str, depth: usize) -> Result<String, String> {
        let (name, default) = split_default(inside);
        let lower = name.trim().to_ascii_lowercase();
        // A default is for what is empty too, as it is written.
        let written = self.written(&lower).filter(|value| default.is_none() || !value.trim().is_empty());
        if let Some(value) = written {
            return self.expand_at(value, depth + 1);
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

    /// The value of the macro `lower` as it is written, if it has one.
    pub(super) fn written(&self, lower: &str) -> Option<&str> {
        let of_process = self.process.iter().find(|(name, _)| name == lower).map(|(_, value)| value);
        if COUNTING.contains(&lower) {
            self.counted.set(true);
        }
        let given =
            || self.given.iter().find(|(name, _)| name.eq_ignore_ascii_case(lower)).map(|(_, value)| value);
        let set = || self.settings.get(lower).map(|setting| &setting.value);
        of_process.or_else(given).or_else(set).map(String::as_str)
    }

    fn function(&self, function: &str, inside: &str, depth: usize) -> Result<String, String> {
        let upper = function.to_ascii_uppercase();
        match upper.as_str() {
            "ENV" => {
                let (name, default) = split_default(inside);
                match (self.environment.get(name.trim()), default) {
                    (Some(value), _) => Ok(value.clone()),
                    (None, Some(default)) => self.expand_at(default, depth + 1),
                    (None, None) => Err(format!("${function}({name}) is not set here")),
                }
            }
            "INT" => match inside.split_once(',') {
                None => Ok((self.number(inside, depth)? as i64).to_string()),
                Some((number, format)) => padded(self.number(number, depth)? as i64, format.trim())
                    .ok_or_else(|| {
                        format!("${function}({inside}): a format other than %0Nd is not supported")
                    }),
            },
            "BASENAME" => {
                let (path, suffix) = inside.rsplit_once(',').unwrap_or((inside, ""));
                let name = file_part(&self.named(path, depth)?, "nx");
                let suffix = self.expand_at(suffix.trim_start(), depth + 1)?;
                Ok(without_end(&name, &suffix).to_owned())
            }
            "DIRNAME" => Ok(file_part(&self.named(inside, depth)?, "p")),
            _ if upper.starts_with('F') && upper[1..].chars().all(|c| "PDNXQ".contains(c)) => {
                Ok(file_part(&self.named(inside, depth)?, &function[1..].to_ascii_lowercase()))
            }
            _ => Err(format!("${function}(…) is not supported")),
        }
    }

    /// The macro called `text`, or else what `text` itself says.
    fn named(&self, text: &str, depth: usize) -> Result<String, String> {
        let text = text.trim();
        self.expand_at(self.written(&text.to_ascii_lowercase()).unwrap_or(text), depth + 1)
    }

    fn number(&self, text: &str, depth: usize) -> Result<f64, String> {
        let text = self.named(text, depth)?;
        evaluated(&text).ok_or_else(|| format!("{text:?} is no number"))
    }
}

fn expect_bounded(looks: usize, bytes: usize) -> Result<(), String> {
    if looks > LOOKS_MAX {
        return Err("its macros take too long to expand".to_owned());
    }
    if bytes > BYTES_MAX {
        return Err("its macros expand to more than 1 MiB".to_owned());
    }
    Ok(())
}

/// The number that an expression without references comes to.
pub(super) fn evaluated(text: &str) -> Option<f64> {
    match Expr::parse(text).ok()?.evaluate(&Context::new()) {
        Value::Integer(integer) => Some(integer as f64),
        Value::Real(real) => Some(real),
        _ => None,
    }
}

/// `$(…)`, or `$FUNCTION(…)`.
struct Macro<'a> {
    /// Empty where there is none.
    function: &'a str,
    /// What stands in the parentheses.
    inside: &'a str,
    /// How long all of it is.
    used: usize,
}

impl<'a> Macro<'a> {
    /// The one that begins with the `$` that `text` begins with, if one does.
    fn at(text: &'a str) -> Option<Self> {
        let name_end =
            text[1..].find(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(text.len(), |at| at + 1);
        let rest = text[name_end..].strip_prefix('(')?;
        let inside = &rest[..closing(rest)?];
        Some(Self { function: &text[1..name_end], inside, used: name_end + inside.len() + 2 })
    }

    /// Whether it takes the value of the macro `lower`.
    fn is_of(&self, lower: &str) -> bool {
        let name = match self.function.to_ascii_uppercase().as_str() {
            "" => split_default(self.inside).0,
            "ENV" => return false,
            "INT" | "BASENAME" => self.inside.split(',').next().unwrap_or_default(),
            _ => self.inside,
        };
        name.trim().eq_ignore_ascii_case(lower)
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
/// extension; q puts it all into quotes. No letter asks for all of it, and behind a folder, x asks for the name too.
/// Quotes around the path are no part of it.
fn file_part(path: &str, letters: &str) -> String {
    let quote = path.chars().next().filter(|c| matches!(c, '"' | '\''));
    let path = quote.map_or(path, |quote| {
        let inside = &path[1..];
        inside.strip_suffix(quote).unwrap_or(inside)
    });
    let (folder, name) = path.rfind('/').map_or(("", path), |at| path.split_at(at + 1));
    let (stem, extension) = name.rfind('.').filter(|&at| at > 0).map_or((name, ""), |at| name.split_at(at));
    let has = |letter| letters.contains(letter);
    let mut part = String::new();
    if has('d') {
        let above = folder.strip_suffix('/').unwrap_or_default();
        part += &folder[above.rfind('/').map_or(0, |at| at + 1)..];
    } else if has('p') {
        part += folder;
    }
    if has('n') || has('x') && letters.contains(['p', 'd']) {
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

/// `name` without `end`, in any case, if it ends so.
fn without_end<'a>(name: &'a str, end: &str) -> &'a str {
    let stem = name.len().saturating_sub(end.len());
    let parts = name.split_at_checked(stem).filter(|(_, found)| found.eq_ignore_ascii_case(end));
    parts.map_or(name, |(stem, _)| stem)
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
            ("q", "\"/x/a b.c\""),
            ("e", ""),
            ("f", "$(nope:)"),
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
            ("$Fpd(x) $Fpdnx(x) $Fpx(x) $Fd(/c.d) $Fdn(//c) $Fdn(c)", Ok("b/ b/c.d /a/b/c.d / /c c")),
            ("$F(q) $Fq(q) $Fnx(q) $F('q r') $Fq(e) $F(s,t)", Ok("/x/a b.c \"/x/a b.c\" a b.c q r \"\" s,t")),
            ("$BASENAME(x,.d) $BASENAME(x, .D) $BASENAME(x,d) $BASENAME(x,.e)", Ok("c c c. c.d")),
            ("<$(e)$(e:$(a))$(E:)> $(f:no)", Ok("<B> ")),
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
