//! What workers are taken for: what they are, or, where nobody knows how powerful they are, what they showed so far.
//!
//! Who owns a worker sees what runs there and how long it takes, so that after a run it knows how many operations were done in
//! what time. Until then a worker is taken for one of mean power. **Powers are known in steps**, each a class of its own that all
//! peers know by the same id.

use super::setup::PeersSetup;
use gleaner_core::MachineClass;
use gleaner_units::{MachineClassId, Span};
use serde::{Deserialize, Serialize};

/// From a step to the next a core does so much more in a second: an eighth of a doubling.
const STEP: f64 = 1.090_507_732_665_257_7;
/// So many steps below and above the mean: from a sixteenth to sixteen times.
const STEPS: i32 = 32;

/// So many steps from a power. By products, since `powi` need not give the same bits twice.
fn stepped(power: f64, steps: i32) -> f64 {
    (0..steps.unsigned_abs()).fold(power, |power, _| if steps < 0 { power / STEP } else { power * STEP })
}

/// What a worker did.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Shown {
    ops: f64,
    seconds: f64,
}

impl Shown {
    pub(super) fn add(&mut self, ops: f64, took: Span) {
        self.ops += ops;
        self.seconds += took.seconds();
    }
}

/// The classes that peers know.
#[derive(Clone, Debug)]
pub(super) struct Believed {
    pub(super) classes: Vec<MachineClass>,
    /// By kind of worker: the class of the lowest step; nothing where they are what they say.
    lowest: Option<Vec<usize>>,
    mean: f64,
}

impl Believed {
    pub(super) fn of(setup: &PeersSetup) -> Self {
        if !setup.learns_power {
            return Self { classes: setup.machine_classes.clone(), lowest: None, mean: 0.0 };
        }
        let kinds = setup.peers.iter().flat_map(|site| &site.workers);
        let (mut all, mut workers) = (0.0, 0.0);
        for kind in kinds {
            all += setup.machine_classes[kind.index()].speeds[0];
            workers += 1.0;
        }
        let mean = all / workers;
        let mut classes: Vec<MachineClass> = Vec::new();
        let mut lowest = Vec::new();
        for kind in &setup.machine_classes {
            let unknown = MachineClass { speeds: vec![stepped(mean, -STEPS)], ..kind.clone() };
            // What differs in power alone has the same steps.
            let known = classes.iter().position(|class| *class == unknown);
            lowest.push(known.unwrap_or(classes.len()));
            if known.is_none() {
                let step = |step| MachineClass { speeds: vec![stepped(mean, step)], ..kind.clone() };
                classes.extend((-STEPS..=STEPS).map(step));
            }
        }
        Self { classes, lowest: Some(lowest), mean }
    }

    /// What a worker of that kind is taken for before it ran anything.
    pub(super) fn at_first(&self, kind: MachineClassId) -> MachineClassId {
        let Some(lowest) = &self.lowest else { return kind };
        MachineClassId::new(lowest[kind.index()] + STEPS as usize)
    }

    /// What it is taken for now.
    pub(super) fn nearest(&self, kind: MachineClassId, shown: Shown) -> MachineClassId {
        let Some(lowest) = &self.lowest else { return kind };
        if shown.seconds <= 0.0 {
            return self.at_first(kind);
        }
        let steps = (libm::log(shown.ops / shown.seconds / self.mean) / libm::log(STEP)).round();
        let step = steps.clamp(f64::from(-STEPS), f64::from(STEPS)) as i32 + STEPS;
        MachineClassId::new(lowest[kind.index()] + step as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::Site;

    fn kind(power: f64, cores: u32) -> MachineClass {
        MachineClass::plain(vec![power], cores)
    }

    #[test]
    fn a_worker_is_taken_for_what_it_showed() {
        let workers = [0, 1, 2].map(MachineClassId::new).to_vec();
        let machine_classes = vec![kind(1.0, 1), kind(3.0, 1), kind(2.0, 4)];
        let setup = PeersSetup { machine_classes, peers: vec![Site { workers }], ..PeersSetup::default() };
        let declared = Believed::of(&setup);
        assert_eq!(declared.at_first(MachineClassId::new(1)), MachineClassId::new(1));
        let believed = Believed::of(&PeersSetup { learns_power: true, ..setup });
        let steps = 2 * STEPS as usize + 1;
        assert_eq!(believed.classes.len(), 2 * steps, "for one core, and for four");
        let power = |kind: usize, (ops, seconds): (f64, f64)| {
            let mut shown = Shown::default();
            shown.add(ops, Span::from_seconds(seconds).expect("seconds"));
            believed.classes[believed.nearest(MachineClassId::new(kind), shown).index()].clone()
        };
        for kind in 0..3 {
            let first = &believed.classes[believed.at_first(MachineClassId::new(kind)).index()];
            assert!((first.speeds[0] - 2.0).abs() < 1e-9, "the mean: {first:?}");
        }
        assert_eq!(power(2, (30.0, 10.0)).cores, 4);
        for (ops, seconds) in [(1.0, 1.0), (30.0, 10.0), (5.0, 1.0)] {
            let found = power(0, (ops, seconds)).speeds[0] / (ops / seconds);
            assert!((STEP.powf(-0.51)..STEP.powf(0.51)).contains(&found), "{ops} in {seconds} s: {found}");
        }
        assert!(power(0, (1e9, 1.0)).speeds[0] > 30.0, "no more than sixteen times the mean");
        assert!(power(0, (0.0, 1.0)).speeds[0] < 0.13);
    }
}
