//! Labels: names for compositions, in a file of their own or in the scenario.

use crate::InputError;
use crate::names::one_of;
use crate::section::Key;
use crate::settings::finite_from_zero;
use crate::table::{Limit, Table};
use hashbrown::HashMap;
use std::path::Path;

const LIMIT: Limit = Limit { rows: 1_000_000, of: "labels" };
/// How far from 1 the shares of a composition may add up.
const TOLERANCE: f64 = 1e-9;
/// What a share of a composition is.
pub(crate) const SHARE: &str = "a share as a finite number, 0 or more";

/// The composition of each label.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    /// In the order of the file, for whoever mistypes one.
    names: Vec<String>,
    compositions: HashMap<String, Vec<f64>>,
}

impl Labels {
    /// Reads what `key` holds: the name of a file, or a table of tables.
    pub(crate) fn read(key: &Key<'_>, base: &Path, dimensions: &[String]) -> Result<Self, InputError> {
        match key.find_text() {
            Some(name) => Self::from_file(&base.join(name), key, dimensions),
            None => Self::from_key(key, dimensions),
        }
    }

    pub(crate) fn find(&self, label: &str) -> Option<&[f64]> {
        self.compositions.get(label).map(Vec::as_slice)
    }

    /// "one of …" for a label that is not there.
    pub(crate) fn nearest(&self, label: &str) -> String {
        one_of(label, self.names.iter().map(String::as_str))
    }

    fn from_file(path: &Path, key: &Key<'_>, dimensions: &[String]) -> Result<Self, InputError> {
        let mut table = Table::open(path, key, LIMIT)?;
        let known: Vec<&str> = ["label"].into_iter().chain(dimensions.iter().map(String::as_str)).collect();
        table.check_known(&known)?;
        let (label_column, share_columns) = (table.column("label")?, table.columns(dimensions)?);
        let mut labels = Self::default();
        while let Some(row) = table.next()? {
            let mut composition = Vec::new();
            row.vector(&share_columns, (SHARE, finite_from_zero), &mut composition)?;
            check_sum(&composition)
                .map_err(|(found, expected)| row.error_in("composition", found, expected))?;
            if !labels.insert(row.id(label_column)?, composition) {
                return Err(row.wrong(label_column, "a label that no row above has"));
            }
        }
        table.check_not_empty()?;
        Ok(labels)
    }

    fn from_key(key: &Key<'_>, dimensions: &[String]) -> Result<Self, InputError> {
        let expected = "the name of a file, or a table for each label";
        let known: Vec<&str> = dimensions.iter().map(String::as_str).collect();
        let mut labels = Self::default();
        for (name, label) in key.find_table().ok_or_else(|| key.wrong(expected))?.keys() {
            let shares = label.table()?;
            shares.check_known(&known)?;
            let share = |dimension: &String| {
                shares.find(dimension).map_or(Ok(0.0), |share| share.number(SHARE, finite_from_zero))
            };
            let composition = dimensions.iter().map(share).collect::<Result<Vec<f64>, InputError>>()?;
            check_sum(&composition).map_err(|(found, expected)| shares.error(found, expected))?;
            labels.insert(name, composition);
        }
        Ok(labels)
    }

    fn insert(&mut self, label: &str, composition: Vec<f64>) -> bool {
        self.names.push(label.to_owned());
        self.compositions.insert(label.to_owned(), composition).is_none()
    }
}

/// Whether the shares make a whole; if not, what was found and what is expected.
#[inline]
pub(crate) fn check_sum(composition: &[f64]) -> Result<(), (String, &'static str)> {
    let sum: f64 = composition.iter().sum();
    if (sum - 1.0).abs() <= TOLERANCE {
        return Ok(());
    }
    Err((format!("shares that add up to {sum}"), "shares that add up to 1, within 1e-9"))
}
