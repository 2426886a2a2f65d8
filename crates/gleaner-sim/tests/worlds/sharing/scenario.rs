//! Random histories of a grid.

use proptest::prelude::*;
use std::ops::Range;

#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    pub cores: Vec<u32>,
    pub steps: Vec<Step>,
}

/// Something happens some time after the step before.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub after_seconds: f64,
    pub change: Change,
}

/// Machines and resident tasks are picked by a number, modulo how many there are.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Arrive { on: usize, service_seconds: f64 },
    Load { on: usize, load: f64 },
    Cancel { pick: usize },
    Migrate { pick: usize, to: usize },
}

pub(crate) fn scenario(machines: Range<usize>, steps: Range<usize>) -> impl Strategy<Value = Scenario> {
    let cores = prop::collection::vec(1..5_u32, machines);
    (cores, prop::collection::vec(step(), steps)).prop_map(|(cores, steps)| Scenario { cores, steps })
}

fn step() -> impl Strategy<Value = Step> {
    (seconds(0.2), change()).prop_map(|(after_seconds, change)| Step { after_seconds, change })
}

fn change() -> impl Strategy<Value = Change> {
    let pick = || 0..1000_usize;
    let load = prop_oneof![Just(0.0), Just(0.5), Just(1.0), 0.0..1.0];
    prop_oneof![
        8 => (pick(), seconds(20.0)).prop_map(|(on, service_seconds)| Change::Arrive { on, service_seconds }),
        1 => (pick(), load).prop_map(|(on, load)| Change::Load { on, load }),
        1 => pick().prop_map(|pick| Change::Cancel { pick }),
        2 => (pick(), pick()).prop_map(|(pick, to)| Change::Migrate { pick, to }),
    ]
}

/// Few different numbers often, so that finishes meet; also less apart than a nanosecond.
fn seconds(max: f64) -> impl Strategy<Value = f64> {
    prop_oneof![
        2 => Just(0.0),
        2 => (1..4_u32).prop_map(move |tenths| f64::from(tenths) / 10.0),
        1 => (0..9_u32).prop_map(move |picos| 0.3 + f64::from(picos) * 1e-10),
        4 => 0.0..max,
    ]
}
