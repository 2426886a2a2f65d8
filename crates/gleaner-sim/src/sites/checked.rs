//! What sites and meta-schedulers look at before they act on a letter. **What another party says is checked here and nowhere
//! else.**
//!
//! What a letter names has to be there. What it says has to be so, as far as room that is held twice, or for nobody, would
//! come of it. And it has to be what its sender wrote under that number: after another letter of the same number, the true
//! one would be taken for a repetition.

use super::letters::{Slip, Word};
use super::manager::Holder;
use super::orders::Phase;
use super::world::SitesWorld;
use gleaner_core::Needs;
use gleaner_units::{PartyId, TaskId, Time};

impl SitesWorld<'_> {
    /// Why a letter is not acted on, if it is not.
    pub(super) fn checked(&self, (from, to): (PartyId, PartyId), slip: &Slip) -> Result<(), &'static str> {
        let post = &self.state.post;
        match slip {
            // It is acknowledged whenever it comes.
            Slip::Heard(number) if post.is_closed(*number) => Ok(()),
            Slip::Heard(number) => {
                let is_so = post.was_heard(*number) && post.find((to, from), *number).is_some();
                if is_so { Ok(()) } else { Err("that a letter was heard which was not") }
            }
            // It is repeated until that is acknowledged.
            Slip::Word(number, _) if post.was_heard(*number) => Ok(()),
            Slip::Word(number, word) => {
                self.checked_word((from, to), word)?;
                let is_written = post.find((from, to), *number) == Some(word);
                if is_written { Ok(()) } else { Err("a letter that was not written") }
            }
        }
    }

    fn checked_word(&self, (from, to): (PartyId, PartyId), word: &Word) -> Result<(), &'static str> {
        let (party, site) = if word.is_of_site() { (to, from) } else { (from, to) };
        let site = self.find_site(site).filter(|_| party.index() < self.state.handed_in.len());
        let site = site.ok_or("a letter that is not between a meta-scheduler and a site")?;
        let (is_so, why) = match *word {
            Word::Reserve(run, needs) => {
                (self.is_asked((party, run), site, needs), "a reservation that was not asked for")
            }
            Word::Granted(run, _) => {
                let is_so = self.is_known((party, run.task))
                    && (!self.waits_for_answers((party, run)) || self.holds((party, run), site));
                (is_so, "that a site holds what it does not hold")
            }
            Word::Refused(run) => {
                let is_so = self.is_known((party, run.task))
                    && (!self.waits_for_answers((party, run)) || !self.holds((party, run), site));
                (is_so, "that a site does not hold what it holds")
            }
            // It counts where a run waits for it only.
            Word::Dispatch(_) => return Ok(()),
            Word::Release(run) => {
                (self.is_given_up((party, run), site), "that a run is not wanted which is wanted")
            }
            Word::Released(run) => {
                let is_so = self.is_given_up((party, run), site) && !self.holds((party, run), site);
                (is_so, "that a site holds no more what it was not to release")
            }
            Word::Ended(run) => {
                let order = self.state.orders.find((party, run)).filter(|order| order.phase == Phase::Done);
                let first = order.map(|order| order.parts[0].on.index());
                (first == Some(site), "an end that did not come")
            }
            Word::Survey(_, ref jobs) => {
                let notes = &self.state.notes[site];
                let is_so = jobs.iter().all(|job| notes.was_told(party, *job));
                (is_so, "requirements of a job that does not wait")
            }
            Word::Forget(job) => {
                let is_so = self.state.notes[site].was_told(party, job) && self.is_dispatched((party, job));
                (is_so, "that a job waits no more which waits")
            }
            Word::State(state, known_at) | Word::Answer(_, state, known_at) => {
                let is_so = self.state.managers[site].can_be(&state) && known_at <= self.state.acted[site];
                (is_so, "news that cannot be")
            }
        };
        if is_so { Ok(()) } else { Err(why) }
    }

    /// Whether a site is to hold so much for a run, or was before the run was given up.
    fn is_asked(&self, holder: Holder, site: usize, needs: Needs) -> bool {
        let manager = &self.state.managers[site];
        if manager.is_void(holder) {
            return true;
        }
        let Some(order) = self.state.orders.find(holder) else { return false };
        let is_open = order.phase == Phase::Asked || self.is_given_up(holder, site);
        let job = self.setup.jobs[order.job].needs();
        let mut parts = order.parts.iter().filter(|part| part.on.index() == site);
        is_open && !manager.holds(holder) && parts.any(|part| job.of_part(part.cores) == needs)
    }

    fn holds(&self, holder: Holder, site: usize) -> bool {
        self.state.managers[site].holds(holder)
    }

    fn waits_for_answers(&self, holder: Holder) -> bool {
        self.state.orders.find(holder).is_some_and(|order| order.phase == Phase::Asked)
    }

    /// Whether a run was given up, and a site has not said that it holds nothing for it any more.
    fn is_given_up(&self, holder: Holder, site: usize) -> bool {
        let phase = self.state.orders.find(holder).map(|order| &order.phase);
        matches!(phase, Some(Phase::GivenUp(silent, _)) if silent.contains(&site))
    }

    fn is_known(&self, (party, task): (PartyId, TaskId)) -> bool {
        task.index() < self.state.handed_in[party.index()].len()
    }

    fn is_dispatched(&self, (party, task): (PartyId, TaskId)) -> bool {
        let job = self.state.handed_in[party.index()].get(task.index());
        job.is_some_and(|job| self.state.outcome.jobs[*job].dispatched != Time::NEVER)
    }
}
