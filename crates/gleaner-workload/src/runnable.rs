//! Whether a task could run anywhere if nobody else were there.

use crate::machines::MachineTable;
use crate::names::list;
use hashbrown::HashSet;
use std::collections::BTreeSet;

/// Remembers what it found: it depends only on the domain and on which dimensions a task needs at all.
pub(crate) struct Runnable<'a> {
    machines: &'a MachineTable,
    dimensions: &'a [String],
    known: HashSet<(Vec<bool>, BTreeSet<String>)>,
}

impl<'a> Runnable<'a> {
    pub(crate) fn new(machines: &'a MachineTable, dimensions: &'a [String]) -> Self {
        Self { machines, dimensions, known: HashSet::new() }
    }

    /// Why no machine could ever run such a task, if that is so.
    pub(crate) fn check(&mut self, composition: &[f64], domain: &BTreeSet<String>) -> Result<(), String> {
        let needs: Vec<bool> = composition.iter().map(|&share| share > 0.0).collect();
        let question = (needs, domain.clone());
        if self.known.contains(&question) {
            return Ok(());
        }
        self.search(&question.0, domain)?;
        self.known.insert(question);
        Ok(())
    }

    fn search(&self, needs: &[bool], domain: &BTreeSet<String>) -> Result<(), String> {
        let kinds = self.machines.kinds().iter();
        let providers: Vec<&[f64]> = kinds
            .filter(|kind| domain.is_subset(&kind.provides))
            .map(|kind| kind.speeds.as_slice())
            .collect();
        let lacks = |speeds: &[f64]| needs.iter().zip(speeds).any(|(&need, &speed)| need && speed == 0.0);
        if providers.iter().any(|speeds| !lacks(speeds)) {
            return Ok(());
        }
        let words = list(domain.iter().map(String::as_str));
        if providers.is_empty() {
            return Err(format!("no machine provides {words}"));
        }
        let needed: Vec<usize> = (0..needs.len()).filter(|&index| needs[index]).collect();
        let whose = if domain.is_empty() { String::new() } else { format!(" that provides {words}") };
        let nowhere = needed.iter().find(|&&index| providers.iter().all(|speeds| speeds[index] == 0.0));
        if let Some(&index) = nowhere {
            return Err(format!("{} has speed 0 on every machine{whose}", self.dimensions[index]));
        }
        let names = list(needed.iter().map(|&index| self.dimensions[index].as_str()));
        Err(format!("every machine{whose} has speed 0 in one of {names}"))
    }
}
