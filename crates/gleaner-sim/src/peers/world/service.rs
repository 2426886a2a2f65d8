//! Letters to the discovery service, and what becomes of those that make no sense.

use super::{Leaves, PeersWorld};
use crate::peers::desk::Unheard;
use crate::peers::discovery::Power;
use crate::peers::letters::Word;
use gleaner_core::Seek;
use gleaner_units::{MachineClassId, PartyId, Time};

impl PeersWorld<'_> {
    pub(super) fn unheard(&mut self, now: Time, (by, from): (PartyId, PartyId), why: Unheard) {
        match why {
            Unheard::Late => self.state.outcome.late += 1,
            Unheard::Senseless(why) => {
                self.state.outcome.refused += 1;
                self.state.refused.note(now, (by, from), why);
            }
        }
    }

    /// What all cores of a worker of that kind do in a second.
    pub(super) fn power_of(&self, class: MachineClassId) -> Result<Power, Unheard> {
        let class = self.believed.classes.get(class.index());
        let class = class.ok_or(Unheard::Senseless("workers of a kind that does not exist"))?;
        Ok(Power::new(class.speeds[0] * f64::from(class.cores)))
    }

    /// A letter to the discovery service.
    pub(super) fn hear(
        &mut self,
        now: Time,
        from: PartyId,
        word: Word,
        out: Leaves<'_>,
    ) -> Result<(), Unheard> {
        let service = self.service();
        let post: &mut dyn FnMut(PartyId, Word) = &mut |to, word| out.send(service, to, word);
        match word {
            Word::Wants { class, workers, seek, received } => {
                if class.index() >= self.setup.task_classes.len() {
                    return Err(Unheard::Senseless("wants for tasks that do not exist"));
                }
                let above = match seek {
                    Seek::First => None,
                    Seek::MostPowerful => Some(Power::NONE),
                    Seek::Above(class) => Some(self.power_of(class)?),
                };
                self.state.discovery.wants((from, class), (workers, received), (seek, above), post);
            }
            Word::Offers { best } => {
                let best = best.map(|class| self.power_of(class)).transpose()?;
                self.state.discovery.offers(from, best, post);
            }
            Word::Served(served) => self.state.discovery.served(from, &served, post),
            Word::Here => {
                self.state.heard[from.index()] = Some(now);
                self.state.discovery.here(from, post);
                post(from, Word::Here);
            }
            Word::Wanted(_)
            | Word::NothingLent { .. }
            | Word::Gone(_)
            | Word::Lent { .. }
            | Word::Recalled(_)
            | Word::GivenBack(_)
            | Word::Holds(_)
            | Word::Run { .. }
            | Word::Stop { .. }
            | Word::Ended { .. } => return Err(Unheard::Senseless("not for the discovery service")),
        }
        Ok(())
    }
}
