//! Runs that are saved and go on later.

use crate::checkpoint::{RestoreError, fingerprint_of, seal_run, unseal_run};
use crate::clock::Clock;
use crate::mail::Mail;
use crate::parties::{Outside, Parties};
use gleaner_core::{Grid, Policy, Scheduler};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// What surrounds the parties, if it can be saved.
pub trait Lasting<'a>: Outside<Letter: Serialize + DeserializeOwned> {
    /// What a run is made of.
    type Setup: Debug;
    /// All that changes in the course of it.
    type State: Serialize + DeserializeOwned;

    /// What the run was made of.
    fn setup(&self) -> &Self::Setup;

    /// How it is now.
    fn state(&self) -> Self::State;

    /// As it was when this was its state.
    fn at(setup: &'a Self::Setup, state: Self::State) -> Self;

    /// Tells the setup from others.
    fn fingerprint(setup: &Self::Setup) -> u64 {
        fingerprint_of(setup)
    }
}

/// All that changes. Of the policies nothing is in it: their indices are rebuilt from the grids.
#[derive(Serialize, Deserialize)]
struct Saved<S, L> {
    grids: Vec<Grid>,
    state: S,
    mail: Mail<L>,
    clock: Clock,
}

/// Everything needed to go on later under the same rule, as a file's contents.
pub fn save<'a, P: Policy, O: Lasting<'a, Letter: Clone>>(run: &Parties<'_, P, O>, rule: &str) -> Vec<u8> {
    let saved = Saved {
        grids: run.schedulers().iter().map(|scheduler| scheduler.grid().clone()).collect(),
        state: run.outside().state(),
        mail: run.mail().clone(),
        clock: run.clock().clone(),
    };
    seal_run(O::fingerprint(run.outside().setup()), rule, &saved)
}

/// Goes on where a run of the same setup and rule was saved: it draws what that would have drawn.
pub fn restore<'a, P: Policy, O: Lasting<'a>>(
    setup: &'a O::Setup,
    (rule, policy): (&str, impl Fn(usize) -> P),
    saved: &[u8],
) -> Result<Parties<'a, P, O>, RestoreError> {
    let Saved { grids, state, mail, clock } = unseal_run(O::fingerprint(setup), rule, saved)?;
    let schedulers = grids.into_iter().enumerate();
    let schedulers = schedulers.map(|(party, grid)| Scheduler::new(grid, policy(party))).collect();
    Ok(Parties::at(schedulers, O::at(setup, state), mail, clock))
}
