//! Whether a task could run anywhere if nobody else were there.

use crate::kinds::{Kinds, Met};
use crate::machines::MachineTable;
use crate::names::list;
use std::collections::BTreeSet;

/// Remembers what it found: it depends only on the domain and on which dimensions a task needs at all.
pub(crate) struct Runnable<'a> {
    machines: &'a MachineTable,
    dimensions: &'a [String],
    met: Kinds,
    /// 1 for each dimension that is needed, 0 for the others.
    needs: Vec<f64>,
}

impl<'a> Runnable<'a> {
    pub(crate) fn new(machines: &'a MachineTable, dimensions: &'a [String]) -> Self {
        Self { machines, dimensions, met: Kinds::default(), needs: Vec::new() }
    }

    /// Why no machine could ever run such a task, if that is so. The `domain` goes by a number of its own.
    pub(crate) fn check(
        &mut self,
        composition: &[f64],
        domain: &BTreeSet<String>,
        number: u32,
    ) -> Result<(), String> {
        self.needs.clear();
        self.needs.extend(composition.iter().map(|&share| f64::from(share > 0.0)));
        match self.met.meet(&self.needs, &[u64::from(number)]) {
            Met::Before(_) => Ok(()),
            Met::First(_) => self.search(composition, domain),
        }
    }

    /// The fewest seconds that an operation takes on any machine; infinite if none can run it.
    pub(crate) fn best_seconds_per_op(
        &self,
        weights: &[f64],
        composition: &[f64],
        domain: &BTreeSet<String>,
    ) -> f64 {
        let kinds = self.machines.kinds().iter().filter(|kind| domain.is_subset(&kind.provides));
        let seconds = kinds.map(|kind| {
            let terms = weights.iter().zip(composition).zip(&kind.speeds);
            let needed = terms.filter(|((_, share), _)| **share > 0.0);
            needed.map(|((weight, share), speed)| weight * share / speed).sum::<f64>()
        });
        seconds.fold(f64::INFINITY, f64::min)
    }

    fn search(&self, composition: &[f64], domain: &BTreeSet<String>) -> Result<(), String> {
        let kinds = self.machines.kinds().iter();
        let providers: Vec<&[f64]> = kinds
            .filter(|kind| domain.is_subset(&kind.provides))
            .map(|kind| kind.speeds.as_slice())
            .collect();
        let lacks = |speeds: &[f64]| {
            composition.iter().zip(speeds).any(|(&share, &speed)| share > 0.0 && speed == 0.0)
        };
        if providers.iter().any(|speeds| !lacks(speeds)) {
            return Ok(());
        }
        let words = list(domain.iter().map(String::as_str));
        if providers.is_empty() {
            return Err(format!("no machine provides {words}"));
        }
        let needed: Vec<usize> = (0..composition.len()).filter(|&index| composition[index] > 0.0).collect();
        let whose = if domain.is_empty() { String::new() } else { format!(" that provides {words}") };
        let nowhere = needed.iter().find(|&&index| providers.iter().all(|speeds| speeds[index] == 0.0));
        if let Some(&index) = nowhere {
            return Err(format!("{} has speed 0 on every machine{whose}", self.dimensions[index]));
        }
        let names = list(needed.iter().map(|&index| self.dimensions[index].as_str()));
        Err(format!("every machine{whose} has speed 0 in one of {names}"))
    }
}
