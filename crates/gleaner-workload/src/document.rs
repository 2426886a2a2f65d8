//! The TOML document as a tree whose every node knows the line or the override it came from.

use crate::InputError;
use crate::error::{Place, printable, quoted};
use crate::logs::Format;
use crate::packed::BOM;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

const DOCUMENT_BYTES_MAX: u64 = 1 << 20;
/// Deeper than any key that means something, and no danger to the stack.
const DEPTH_MAX: usize = 8;

/// A table's keys in the order of the file.
pub(crate) type Entries = Vec<(String, Node)>;

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) place: Place,
    pub(crate) value: Value,
}

#[derive(Debug)]
pub(crate) enum Value {
    Text(String),
    Integer(i128),
    Number(f64),
    Flag(bool),
    List(Vec<Node>),
    Table(Entries),
    /// What no key takes, by its name.
    Other(&'static str),
}

/// Reads the document at `path` and lays the overrides over it, later ones over earlier ones.
pub(crate) fn read(path: &Path, overrides: &[String]) -> Result<Node, InputError> {
    let file = Place::whole(&path.display().to_string());
    let mut root = parse(&read_text(path, &file)?, &file)?;
    for argument in overrides {
        lay_over(&mut root, &[], argument)?;
    }
    Ok(root)
}

/// The document that `text` holds, which is all of `file`.
pub(crate) fn parse(text: &str, file: &Place) -> Result<Node, InputError> {
    let lines = LineStarts::new(text);
    let parsed = DeTable::parse(text).map_err(|error| {
        let place = error.span().map_or_else(|| file.clone(), |span| file.at_line(lines.line(span.start)));
        let message = error.message().trim().replace('\n', ", ");
        place.error("", format!("no TOML: {}", printable(&message)), "a TOML document")
    })?;
    Ok(Node { value: table(parsed.get_ref(), &|at| file.at_line(lines.line(at)), 0), place: file.clone() })
}

/// The place of every key, by its path.
pub(crate) fn places(root: &Node) -> BTreeMap<String, Place> {
    let mut places = BTreeMap::from([(String::new(), root.place.clone())]);
    collect_places(root, "", &mut places);
    places
}

/// `key` below the table `path`.
pub(crate) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn read_text(path: &Path, file: &Place) -> Result<String, InputError> {
    let expected = "a scenario, which is a TOML document";
    if matches!(Format::of_name(path), Some(Format::Swf | Format::Gwf)) {
        return Err(file.error("", "a log of jobs, by its name", "a scenario; a log is given with --swf"));
    }
    let mut bytes = Vec::new();
    let read =
        File::open(path).and_then(|opened| opened.take(DOCUMENT_BYTES_MAX + 1).read_to_end(&mut bytes));
    read.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => file.error("", "no such file", expected),
        _ => file.error("", format!("that reading fails: {error}"), expected),
    })?;
    if bytes.len() as u64 > DOCUMENT_BYTES_MAX {
        return Err(file.error("", "more than 1 MiB", "a scenario of at most 1 MiB"));
    }
    if bytes.starts_with(BOM) {
        bytes.drain(..BOM.len());
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.split(|&byte| byte == b'\n').count() as u64;
        file.at_line(line).error("", "bytes that are not UTF-8", "UTF-8 text")
    })
}

/// Where each line starts, so that finding the line of each key of a long document takes no time.
struct LineStarts(Vec<usize>);

impl LineStarts {
    fn new(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at + 1).collect())
    }

    fn line(&self, at: usize) -> u64 {
        1 + self.0.partition_point(|&start| start <= at) as u64
    }
}

fn table(table: &DeTable<'_>, place: &impl Fn(usize) -> Place, depth: usize) -> Value {
    if depth > DEPTH_MAX {
        return Value::Other("a table too deep");
    }
    let entries = table.iter().map(|(key, value)| {
        let node = Node { place: place(key.span().start), value: node(value, place, depth) };
        (key.get_ref().clone().into_owned(), node)
    });
    Value::Table(entries.collect())
}

fn node_at(value: &Spanned<DeValue<'_>>, place: &impl Fn(usize) -> Place, depth: usize) -> Node {
    Node { place: place(value.span().start), value: node(value, place, depth) }
}

fn node(value: &Spanned<DeValue<'_>>, place: &impl Fn(usize) -> Place, depth: usize) -> Value {
    match value.get_ref() {
        DeValue::String(text) => Value::Text(text.clone().into_owned()),
        DeValue::Integer(integer) => match i128::from_str_radix(integer.as_str(), integer.radix()) {
            Ok(integer) => Value::Integer(integer),
            Err(_) => Value::Other("a number of too many digits"),
        },
        DeValue::Float(number) => match number.as_str().parse() {
            Ok(number) => Value::Number(number),
            Err(_) => Value::Other("a number that cannot be read"),
        },
        DeValue::Boolean(flag) => Value::Flag(*flag),
        DeValue::Datetime(_) => Value::Other("a date"),
        DeValue::Array(_) if depth >= DEPTH_MAX => Value::Other("a list too deep"),
        DeValue::Array(items) => {
            let items = items.iter();
            Value::List(items.map(|item| node_at(item, place, depth + 1)).collect())
        }
        DeValue::Table(entries) => table(entries, place, depth + 1),
    }
}

/// Lays one `key=value` over a table of the document. The value is TOML, or else the text as it stands.
pub(crate) fn lay_over(root: &mut Node, table: &[&str], argument: &str) -> Result<(), InputError> {
    let place = Place::whole(&format!("--set {}", printable(argument)));
    let expected = "key=value, as policy.preset=bertasi/greedy";
    let Some((key, text)) = argument.split_once('=') else {
        return Err(place.error("", "no =", expected));
    };
    let keys: Vec<&str> = table.iter().copied().chain(key.split('.').map(str::trim)).collect();
    if keys.len() > DEPTH_MAX || keys.contains(&"") {
        return Err(place.error("", format!("the key {}", quoted(key)), expected));
    }
    let value = match DeValue::parse(text.trim()) {
        Ok(value) => node(&value, &|_| place.clone(), keys.len()),
        Err(_) => Value::Text(text.to_owned()),
    };
    set(root, &keys, &place, value)
}

fn set(root: &mut Node, keys: &[&str], place: &Place, value: Value) -> Result<(), InputError> {
    let mut target = root;
    for (depth, &key) in keys.iter().enumerate() {
        // Where a policy says that it has no such table, one begins here.
        if matches!(&target.value, Value::Text(text) if text == "none") {
            target.value = Value::Table(Vec::new());
        }
        let Value::Table(entries) = &mut target.value else {
            let parent = keys[..depth].join(".");
            return Err(place.error(
                &parent,
                "a value that has no keys",
                format!("a table, to set {key} in it"),
            ));
        };
        let index = entries.iter().position(|(known, _)| known == key).unwrap_or_else(|| {
            entries.push((key.to_owned(), Node { place: place.clone(), value: Value::Table(Vec::new()) }));
            entries.len() - 1
        });
        target = &mut entries[index].1;
    }
    *target = Node { place: place.clone(), value };
    Ok(())
}

fn collect_places(node: &Node, path: &str, places: &mut BTreeMap<String, Place>) {
    let Value::Table(entries) = &node.value else { return };
    for (key, node) in entries {
        let path = join(path, key);
        collect_places(node, &path, places);
        places.insert(path, node.place.clone());
    }
}
