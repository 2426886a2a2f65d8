//! Runs among peers that are saved and go on.

use super::letters::Word;
use super::setup::PeersSetup;
use super::world::{State, World};
use crate::clock::Clock;
use crate::mail::Mail;
use crate::parties::Parties;
use crate::saved::{RestoreError, seal_run, unseal_run};
use gleaner_core::{Grid, Policy, Scheduler};
use gleaner_units::PartyId;
use serde::{Deserialize, Serialize};

/// All that changes. Of the policies nothing is in it: their indices are rebuilt from the grids.
#[derive(Serialize, Deserialize)]
struct Kept {
    grids: Vec<Grid>,
    state: State,
    mail: Mail<Word>,
    clock: Clock,
}

/// Everything needed to go on later under the same rule, as a file's contents.
pub fn save<P: Policy>(run: &Parties<'_, P, World<'_>>, rule: &str) -> Vec<u8> {
    let world = run.outside();
    let all = (0..world.setup.peers.len()).map(PartyId::new);
    let kept = Kept {
        grids: all.map(|party| run.scheduler(party).grid().clone()).collect(),
        state: world.state().clone(),
        mail: run.mail().clone(),
        clock: run.clock().clone(),
    };
    seal_run(world.setup, rule, &kept)
}

/// Goes on where a run of the same setup and rule was saved.
pub fn restore<'a, P: Policy>(
    setup: &'a PeersSetup,
    (rule, policy): (&str, impl Fn(usize) -> P),
    kept: &[u8],
) -> Result<Parties<'a, P, World<'a>>, RestoreError> {
    let Kept { grids, state, mail, clock } = unseal_run(setup, rule, kept)?;
    let schedulers = grids.into_iter().enumerate();
    let schedulers = schedulers.map(|(peer, grid)| Scheduler::new(grid, policy(peer))).collect();
    Ok(Parties::at(schedulers, World::at(setup, state), mail, clock))
}
