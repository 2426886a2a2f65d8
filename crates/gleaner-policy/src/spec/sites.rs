//! The table `sites`: how jobs are given to sites.

use super::keys::{Key, Table};
use crate::error::PolicyError;
use crate::parts::Choice;
use crate::parts::sites::SiteRule;
use crate::sites::map::Weights;

/// Its keys.
pub(crate) const SITES_KEYS: [&str; 23] = [
    "nearness",
    "behind",
    "turn",
    "split",
    "queues",
    "copies",
    "extra",
    "give_up",
    "apart",
    "news",
    "patience_s",
    "again_s",
    "staging",
    "data",
    "crossing",
    "root",
    "at_source",
    "potential",
    "bandwidth",
    "has",
    "weights",
    "quality",
    "cost",
];
const WEIGHT_KEYS: [&str; 4] = ["compute", "memory", "disk", "potential"];

/// Lays what is said there over a rule.
pub(super) fn read(key: &Key<'_>, rule: &mut SiteRule) -> Result<(), PolicyError> {
    let expected = "a table, as { behind = \"easy\" }";
    let Some(table) = key.table("sites", &SITES_KEYS, expected)? else { return Err(key.wrong(expected)) };
    chosen(&table, "nearness", &mut rule.nearness)?;
    chosen(&table, "behind", &mut rule.behind)?;
    chosen(&table, "turn", &mut rule.turn)?;
    chosen(&table, "split", &mut rule.split)?;
    chosen(&table, "queues", &mut rule.queues)?;
    chosen(&table, "extra", &mut rule.extra)?;
    chosen(&table, "give_up", &mut rule.give_up)?;
    chosen(&table, "data", &mut rule.data)?;
    chosen(&table, "root", &mut rule.reading.root)?;
    chosen(&table, "at_source", &mut rule.reading.at_source)?;
    chosen(&table, "potential", &mut rule.reading.direction)?;
    chosen(&table, "bandwidth", &mut rule.reading.bandwidth)?;
    chosen(&table, "has", &mut rule.has)?;
    chosen(&table, "news", &mut rule.news)?;
    if let Some(key) = table.find("copies") {
        rule.copies = key.whole(1, "a whole number, 1 or more, below 2^32")?;
    }
    let flags = [
        ("apart", &mut rule.apart),
        ("staging", &mut rule.staging),
        ("quality", &mut rule.axes.quality),
        ("cost", &mut rule.axes.cost),
    ];
    for (name, flag) in flags {
        if let Some(key) = table.find(name) {
            *flag = key.flag()?;
        }
    }
    if let Some(key) = table.find("patience_s") {
        rule.patience_s = key.period()?.seconds();
    }
    if let Some(key) = table.find("again_s") {
        // A job may wait for days, and all sites are asked each time.
        rule.again_s = key.number("seconds, 0.1 or more", |seconds| seconds >= 0.1)?;
    }
    if let Some(key) = table.find("crossing") {
        rule.crossing = key.number("a number, 0 or more", |number| number >= 0.0)?;
    }
    if let Some(key) = table.find("weights") {
        let expected = "a table, as { memory = 2 }";
        let Some(table) = key.table("sites.weights", &WEIGHT_KEYS, expected)? else {
            return Err(key.wrong(expected));
        };
        let Weights { compute, memory, disk, potential } = &mut rule.weights;
        for (name, weight) in WEIGHT_KEYS.into_iter().zip([compute, memory, disk, potential]) {
            if let Some(key) = table.find(name) {
                *weight = key.number("a number above 0", |number| number > 0.0)?;
            }
        }
    }
    Ok(())
}

fn chosen<C: Choice>(table: &Table<'_>, name: &str, part: &mut C) -> Result<(), PolicyError> {
    if let Some(key) = table.find(name) {
        *part = key.choice()?;
    }
    Ok(())
}
