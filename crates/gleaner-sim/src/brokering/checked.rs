//! What brokers and elements look at before they act on a letter. **What another party says is checked here and nowhere
//! else**: a letter names a job that is between these two, and says of it what has happened and was not said before.

use super::market::{Market, Word};
use crate::mail::Letter;
use gleaner_units::PartyId;

impl Market<'_> {
    /// Why a letter is not acted on, if it is not.
    pub(super) fn checked(&self, letter: &Letter<Word>) -> Result<(), &'static str> {
        let (Word::Job(job) | Word::Arrived(job) | Word::Started(job) | Word::Ended(job)) = letter.body;
        let Some(record) = self.state().records().get(job as usize) else {
            return Err("a job that does not exist");
        };
        let broker = PartyId::new(self.setup().jobs[job as usize].broker);
        let element = record.element.map(|element| self.party_of(element as usize));
        let (from, to) =
            if let Word::Job(_) = letter.body { (Some(broker), element) } else { (element, Some(broker)) };
        if (Some(letter.from), Some(letter.to)) != (from, to) {
            return Err("a job that is not between the two");
        }
        let is_so = match letter.body {
            Word::Job(_) => record.queued.is_none() && self.state().files_left(job) == Some(0),
            Word::Arrived(_) => record.queued.is_some(),
            Word::Started(_) => record.started.is_some(),
            Word::Ended(_) => record.finished.is_some(),
        };
        // After its end nothing is said of a job.
        if is_so && self.state().files_left(job).is_some() { Ok(()) } else { Err("what is not so") }
    }
}
