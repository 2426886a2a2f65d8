//! The column `ad` of machines and tasks: what a row says of itself and asks of others, as a ClassAd.

use crate::InputError;
use crate::table::{Column, Row};
use gleaner_classad::{ClassAd, explain_unknown_function};
use hashbrown::HashMap;

/// The ads met so far, numbered in order of first appearance: many rows write the same.
#[derive(Debug, Default)]
pub(crate) struct Ads {
    by_text: HashMap<String, u32>,
    ads: Vec<Option<ClassAd>>,
}

impl Ads {
    /// The number of the ad in a column; an empty field, or no column, is no ad.
    pub(crate) fn number(&mut self, row: &Row<'_>, column: Option<Column>) -> Result<u32, InputError> {
        let text = column.map_or("", |column| row.text(column));
        if let Some(&number) = self.by_text.get(text) {
            return Ok(number);
        }
        let ad = match column.filter(|_| !text.is_empty()) {
            Some(column) => Some(parse(row, column, text)?),
            None => None,
        };
        let next = self.ads.len() as u32;
        self.by_text.insert(text.to_owned(), next);
        self.ads.push(ad);
        Ok(next)
    }

    /// The ad of that number.
    pub(crate) fn ad(&self, number: u32) -> Option<&ClassAd> {
        self.ads[number as usize].as_ref()
    }
}

const EXPECTED: &str = "a ClassAd, as [Memory = 16; Requirements = TARGET.Owner == \"ada\"]";

fn parse(row: &Row<'_>, column: Column, text: &str) -> Result<ClassAd, InputError> {
    let ad = ClassAd::parse(text).map_err(|error| row.error(column, format!("at {error}"), EXPECTED))?;
    // It would evaluate to an error, and so rule out every machine.
    let unknown = ad.iter().flat_map(|(_, expr)| expr.unknown_functions()).next();
    match unknown {
        Some(name) => Err(row.error(column, explain_unknown_function(&name), "functions of the language")),
        None => Ok(ad),
    }
}
