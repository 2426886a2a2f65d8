//! Tables of the document and their keys, each read as what it should be.

use crate::InputError;
use crate::document::{Entries, Node, Value, join};
use crate::error::{Place, quoted};
use crate::names::one_of;
use gleaner_policy::Tree;
use serde_json::Value as Json;

/// A table of the document.
#[derive(Clone, Debug)]
pub(crate) struct Section<'a> {
    path: String,
    place: Place,
    /// None: the document does not have the table, which is as good as an empty one.
    entries: Option<&'a Entries>,
}

/// One key that is there.
#[derive(Clone, Debug)]
pub(crate) struct Key<'a> {
    path: String,
    node: &'a Node,
}

impl<'a> Section<'a> {
    /// The document itself.
    pub(crate) fn root(root: &'a Node, known: &[&str]) -> Result<Self, InputError> {
        Key { path: String::new(), node: root }.section(known)
    }

    /// The same, whatever its keys.
    pub(crate) fn whole(root: &'a Node) -> Result<Self, InputError> {
        Key { path: String::new(), node: root }.table()
    }

    /// The table `name` in this one, empty if it is absent. Other keys than the `known` are refused.
    pub(crate) fn section(&self, name: &str, known: &[&str]) -> Result<Self, InputError> {
        match self.find(name) {
            Some(key) => key.section(known),
            None => Ok(Self { path: join(&self.path, name), place: self.place.clone(), entries: None }),
        }
    }

    pub(crate) fn find(&self, name: &str) -> Option<Key<'a>> {
        let (_, node) = self.entries?.iter().find(|(known, _)| known == name)?;
        Some(Key { path: join(&self.path, name), node })
    }

    pub(crate) fn key(&self, name: &str, expected: &str) -> Result<Key<'a>, InputError> {
        let missing = || self.place.error(&join(&self.path, name), "nothing", expected);
        self.find(name).ok_or_else(missing)
    }

    /// Every key with its name, in the order of the file.
    pub(crate) fn keys(&self) -> impl Iterator<Item = (&'a str, Key<'a>)> {
        let entries = self.entries.into_iter().flatten();
        entries.map(|(name, node)| (name.as_str(), Key { path: join(&self.path, name), node }))
    }

    pub(crate) fn check_known(&self, known: &[&str]) -> Result<(), InputError> {
        match self.keys().find(|(name, _)| !known.contains(name)) {
            Some((name, key)) => Err(key.error_found("an unknown key", one_of(name, known.iter().copied()))),
            None => Ok(()),
        }
    }

    /// The place of what is at `path` below this table, or else of the nearest table that could hold it.
    pub(crate) fn nearest(&self, path: &str) -> Place {
        let mut place = self.place.clone();
        let mut entries = self.entries;
        for name in path.split('.') {
            let Some((_, node)) = entries.and_then(|entries| entries.iter().find(|(known, _)| known == name))
            else {
                break;
            };
            place = node.place.clone();
            entries = if let Value::Table(entries) = &node.value { Some(entries) } else { None };
        }
        place
    }

    /// An error about the table as a whole.
    pub(crate) fn error(&self, found: impl Into<String>, expected: &str) -> InputError {
        self.place.error(&self.path, found, expected)
    }
}

impl<'a> Key<'a> {
    /// The table that is here, if it is one.
    pub(crate) fn find_table(&self) -> Option<Section<'a>> {
        let Value::Table(entries) = &self.node.value else { return None };
        Some(Section { path: self.path.clone(), place: self.node.place.clone(), entries: Some(entries) })
    }

    pub(crate) fn table(&self) -> Result<Section<'a>, InputError> {
        self.find_table().ok_or_else(|| self.wrong("a table"))
    }

    /// The table that is here, as whoever reads it by another way wants it.
    pub(crate) fn tree(&self) -> Result<Tree, InputError> {
        let Json::Object(tree) = tree(self.node) else { return Err(self.wrong("a table")) };
        Ok(tree)
    }

    /// The text that is here, if it is one.
    pub(crate) fn find_text(&self) -> Option<&'a str> {
        if let Value::Text(text) = &self.node.value { Some(text) } else { None }
    }

    pub(crate) fn text(&self, expected: &str) -> Result<&'a str, InputError> {
        self.find_text().ok_or_else(|| self.wrong(expected))
    }

    pub(crate) fn flag(&self) -> Result<bool, InputError> {
        if let Value::Flag(flag) = self.node.value { Ok(flag) } else { Err(self.wrong("true or false")) }
    }

    /// The entries of the list that is here, each under this key's name.
    pub(crate) fn list(&self, expected: &str) -> Result<Vec<Key<'a>>, InputError> {
        let Value::List(items) = &self.node.value else { return Err(self.wrong(expected)) };
        let entries = items.iter().enumerate();
        Ok(entries.map(|(at, node)| Key { path: format!("{}[{at}]", self.path), node }).collect())
    }

    pub(crate) fn texts(&self, expected: &str) -> Result<Vec<String>, InputError> {
        let items = self.list(expected)?;
        items.iter().map(|item| item.text(expected).map(str::to_owned)).collect()
    }

    /// A text as it is; a number or truth value as TOML writes it.
    pub(crate) fn plain_text(&self) -> Result<String, InputError> {
        match &self.node.value {
            Value::Text(text) => Ok(text.clone()),
            Value::Integer(integer) => Ok(integer.to_string()),
            Value::Number(number) => Ok(number.to_string()),
            Value::Flag(flag) => Ok(flag.to_string()),
            Value::List(_) | Value::Table(_) | Value::Other(_) => {
                Err(self.wrong("a text, a number, true or false"))
            }
        }
    }

    pub(crate) fn place(&self) -> &Place {
        &self.node.place
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    pub(crate) fn choice<T: Copy>(&self, choices: &[(&str, T)]) -> Result<T, InputError> {
        let names = || choices.iter().map(|(name, _)| *name);
        let text = self.find_text().unwrap_or_default();
        match choices.iter().find(|(name, _)| *name == text) {
            Some((_, choice)) => Ok(*choice),
            None => Err(self.wrong(&one_of(text, names()))),
        }
    }

    pub(crate) fn number(&self, expected: &str, valid: impl Fn(f64) -> bool) -> Result<f64, InputError> {
        let number = match self.node.value {
            Value::Number(number) => number,
            Value::Integer(integer) => integer as f64,
            Value::Text(_) | Value::Flag(_) | Value::List(_) | Value::Table(_) | Value::Other(_) => {
                return Err(self.wrong(expected));
            }
        };
        // Adding zero makes −0 into 0.
        if valid(number) { Ok(number + 0.0) } else { Err(self.wrong(expected)) }
    }

    pub(crate) fn integer<T: TryFrom<i128>>(&self, least: i128, expected: &str) -> Result<T, InputError> {
        let wrong = || self.wrong(expected);
        let Value::Integer(integer) = self.node.value else { return Err(wrong()) };
        if integer < least {
            return Err(wrong());
        }
        T::try_from(integer).map_err(|_| wrong())
    }

    /// What is here is not what is expected.
    pub(crate) fn wrong(&self, expected: &str) -> InputError {
        let found = match &self.node.value {
            Value::Text(text) => quoted(text),
            Value::Integer(integer) => integer.to_string(),
            Value::Number(number) => format!("{number:?}"),
            Value::Flag(_) => "a truth value".to_owned(),
            Value::List(_) => "a list".to_owned(),
            Value::Table(_) => "a table".to_owned(),
            Value::Other(what) => (*what).to_owned(),
        };
        self.error_found(found, expected)
    }

    pub(crate) fn error_found(&self, found: impl Into<String>, expected: impl Into<String>) -> InputError {
        self.node.place.error(&self.path, found, expected)
    }

    pub(crate) fn section(&self, known: &[&str]) -> Result<Section<'a>, InputError> {
        let section = self.table()?;
        section.check_known(known)?;
        Ok(section)
    }
}

/// What JSON has no number for is given as a text, which is nowhere a number either.
fn tree(node: &Node) -> Json {
    match &node.value {
        Value::Text(text) => Json::from(text.as_str()),
        Value::Integer(integer) => {
            let small = i64::try_from(*integer).map(Json::from);
            small
                .or_else(|_| u64::try_from(*integer).map(Json::from))
                .unwrap_or_else(|_| Json::from(*integer as f64))
        }
        Value::Number(number) if number.is_finite() => Json::from(*number),
        Value::Number(number) => Json::from(format!("{number:?}")),
        Value::Flag(flag) => Json::from(*flag),
        Value::List(nodes) => nodes.iter().map(tree).collect(),
        Value::Table(entries) => entries.iter().map(|(name, node)| (name.clone(), tree(node))).collect(),
        Value::Other(what) => Json::from(*what),
    }
}
