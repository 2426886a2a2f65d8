//! The numbers of a policy that judges sites.

use super::keys::Table;
use crate::error::PolicyError;
use crate::parts::belief::Belief;
use crate::parts::choose::{Choose, POWER_MAX};
use crate::recipe::{Goal, Recipe};

const WEIGHT: &str = "a weight, from 0 to 1";

/// Refuses numbers of what the recipe does not have.
pub(super) fn numbers(table: &Table<'_>, recipe: &mut Recipe) -> Result<(), PolicyError> {
    if let Goal::Rank(rank) = &mut recipe.goal {
        for (name, weight) in [("alpha", &mut rank.alpha), ("beta", &mut rank.beta)] {
            if let Some(key) = table.find(name) {
                *weight = key.number(WEIGHT, |weight| (0.0..=1.0).contains(&weight))?;
            }
        }
        if let Some(key) = table.find("candidates") {
            rank.candidates = key.choice()?;
        }
    } else if let Some(key) = ["alpha", "beta", "candidates"].iter().find_map(|name| table.find(name)) {
        return Err(key.wrong("no such key: only the score rank weighs sites against their files"));
    }
    if let Some(key) = table.find("power") {
        let Choose::Proportional { power } = &mut recipe.choose else {
            return Err(key.wrong("no such key, or choose = \"proportional\""));
        };
        let expected = format!("a whole number, from 1 to {POWER_MAX}");
        *power = key.whole(1, &expected)?;
        if *power > POWER_MAX {
            return Err(key.wrong(expected));
        }
    }
    if let Some(key) = table.find("brokers") {
        let (Belief::OwnDispatches { brokers }, Goal::Rank(_)) = (&mut recipe.belief, recipe.goal) else {
            return Err(
                key.wrong("no such key, or belief = \"own-dispatches\" and a score that judges sites")
            );
        };
        *brokers = key.whole(1, "a whole number, 1 or more, below 2^32")?;
    }
    Ok(())
}
