//! Site description files: the workers of a peer, with attributes that are free.
//!
//! ```text
//! workerdefaults :
//!     servername : xmpp.example.org
//!     os : linux
//!
//! worker :
//!     username : w{01-20}
//!     mem : 1024
//! ```
//!
//! The newer form is a `ClassAd` whose attribute `workers` lists others that are the workers; what else it holds are the
//! defaults.

use super::ranges;
use super::text::{Spot, Text, Token};
use crate::InputError;
use crate::limits::{SITE_BYTES_MAX, WORKERS_MAX};
use crate::submit::Source;
use gleaner_classad::{ClassAd, Context, Value};
use std::collections::BTreeMap;

/// A site as its file has it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Site {
    /// In the order of the file.
    pub workers: Vec<Worker>,
}

/// A machine of a site.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Worker {
    /// Where it is described.
    pub line: u64,
    /// By names in lower case, the defaults among them.
    pub attributes: BTreeMap<String, String>,
}

impl Worker {
    /// What the site calls it: `username@servername`.
    pub fn name(&self) -> String {
        ADDRESS.map(|part| self.attributes[part].as_str()).join("@")
    }
}

/// Each worker has them, of its own or from the defaults: without them `OurGrid` has no address for it.
const ADDRESS: [&str; 2] = ["username", "servername"];

/// The part of its address that a worker lacks.
fn lacks(attributes: &Attributes) -> Option<&'static str> {
    ADDRESS.into_iter().find(|part| attributes.get(*part).is_none_or(String::is_empty))
}

/// Reads a site.
pub fn read(source: &Source) -> Result<Site, InputError> {
    let mut reader = Reader { text: Text::new(source.text(), source.place()), workers: Vec::new(), bytes: 0 };
    if source.text().trim_start().starts_with('[') {
        return of_ad(source);
    }
    reader.site()?;
    Ok(Site { workers: reader.workers })
}

struct Reader<'a> {
    text: Text<'a>,
    workers: Vec<Worker>,
    /// Of all attributes of all workers.
    bytes: usize,
}

type Attributes = BTreeMap<String, String>;

impl Reader<'_> {
    fn site(&mut self) -> Result<(), InputError> {
        let mut defaults = Attributes::new();
        let (mut spot, mut token) = self.text.token_below()?;
        if token.is("workerdefaults") {
            self.colon("workerdefaults")?;
            defaults = self.attributes()?;
            (spot, token) = self.text.token_below()?;
        }
        while token.is("worker") {
            self.colon("worker")?;
            let own = self.attributes()?;
            self.add(spot, &defaults, own)?;
            (spot, token) = self.text.token_below()?;
        }
        match token {
            Token::End => Ok(()),
            _ => Err(self.text.unexpected(spot, &token, "workerdefaults : at the top, or worker :")),
        }
    }

    fn colon(&mut self, behind: &str) -> Result<(), InputError> {
        let (spot, token) = self.text.token()?;
        match token {
            Token::Sign(":") => Ok(()),
            _ => Err(self.text.unexpected(spot, &token, &format!("a colon behind {behind}"))),
        }
    }

    /// `NAME : VALUE` lines up to the next block.
    fn attributes(&mut self) -> Result<Attributes, InputError> {
        let mut attributes = Attributes::new();
        loop {
            let before = self.text.spot();
            let (spot, token) = self.text.token_below()?;
            let name = match token {
                Token::Word(name) if !token.is("worker") && !token.is("workerdefaults") => name,
                Token::Word(_) | Token::Quoted(_) | Token::Sign(_) | Token::LineEnd | Token::End => {
                    self.text.go_to(before);
                    return Ok(attributes);
                }
            };
            self.colon(name)?;
            let value = self.text.line()?;
            if value.is_empty() {
                return Err(self.text.error(spot, format!("{name} without a value"), "NAME : VALUE"));
            }
            attributes.insert(name.to_ascii_lowercase(), value);
        }
    }

    /// One worker, or as many as its user name stands for.
    fn add(&mut self, spot: Spot, defaults: &Attributes, own: Attributes) -> Result<(), InputError> {
        let mut attributes = defaults.clone();
        attributes.extend(own);
        if let Some(part) = lacks(&attributes) {
            let expected = format!("{part} : NAME, in the worker or in workerdefaults");
            return Err(self.text.error(spot, format!("a worker without {part}"), &expected));
        }
        let names = ranges::expand(&attributes["username"]);
        let names = names.map_err(|found| self.text.error(spot, found, "a shorter range"))?;
        if self.workers.len() + names.len() > WORKERS_MAX {
            let found = format!("more than {WORKERS_MAX} workers");
            return Err(self.text.error(spot, found, "fewer workers"));
        }
        let each = attributes.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>();
        self.bytes += each * names.len();
        if self.bytes > SITE_BYTES_MAX {
            let found = format!("attributes of more than {SITE_BYTES_MAX} bytes over all workers");
            return Err(self.text.error(spot, found, &format!("at most {SITE_BYTES_MAX} bytes")));
        }
        self.workers.extend(names.into_iter().map(|name| {
            let mut attributes = attributes.clone();
            attributes.insert("username".to_owned(), name);
            Worker { line: spot.line, attributes }
        }));
        Ok(())
    }
}

/// A site that is a `ClassAd`.
fn of_ad(source: &Source) -> Result<Site, InputError> {
    let ad = ClassAd::parse(source.text()).map_err(|error| {
        let place = source.place().at_line(error.line as u64);
        place.error(
            &format!("column {}", error.column),
            error.problem.to_string(),
            "a ClassAd, as [a = 1; b = 2]",
        )
    })?;
    let wrong = |name: &str, found: &str| {
        source.place().error(name, found, "a list of ads, as workers = {w1}; w1 = [username = \"a\"];")
    };
    let context = Context::new().with_my(&ad);
    let Value::List(listed) = ad.evaluate("workers", &context) else {
        return Err(wrong("workers", "no list"));
    };
    if listed.len() > WORKERS_MAX {
        let found = format!("more than {WORKERS_MAX} workers");
        return Err(source.place().error("workers", found, "fewer workers"));
    }
    let names: Vec<String> = listed.items().iter().map(ToString::to_string).collect();
    let mut defaults = ad.clone();
    for name in names.iter().map(String::as_str).chain(["workers"]) {
        defaults.remove(name);
    }
    let (mut bytes, defaults_bytes) = (0, defaults.to_string().len());
    let mut workers = Vec::with_capacity(names.len());
    for name in &names {
        let text = ad.get(name).map_or_else(|| name.clone(), ToString::to_string);
        let own = ClassAd::parse(&text).map_err(|_| wrong(name, "no ad of that name"))?;
        bytes += defaults_bytes + text.len();
        if bytes > SITE_BYTES_MAX {
            let found = format!("attributes of more than {SITE_BYTES_MAX} bytes over all workers");
            return Err(source.place().error("workers", found, format!("at most {SITE_BYTES_MAX} bytes")));
        }
        let mut all = defaults.clone();
        all.update(&own);
        let context = Context::new().with_my(&all);
        let attributes = all.iter().map(|(name, _)| {
            let value = all.evaluate(&name.to_string(), &context);
            let text = value.as_bytes().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
            (name.to_string().to_ascii_lowercase(), text.unwrap_or_else(|| value.to_string()))
        });
        let attributes = attributes.collect();
        if let Some(part) = lacks(&attributes) {
            let found = format!("a worker without {part}");
            return Err(source.place().error(name, found, format!("{part}, in its ad or around all ads")));
        }
        workers.push(Worker { line: 1, attributes });
    }
    Ok(Site { workers })
}
