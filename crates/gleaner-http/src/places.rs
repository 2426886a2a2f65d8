//! Who takes part in something of which only so much goes on at a time.

use gleaner_server::limits::Share;
use gleaner_units::MachineId;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Who asks, as far as a token says.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Who {
    /// By name.
    User(String),
    /// One that is connected.
    Agent(MachineId),
    /// A machine that joins, by the hash of its token.
    Joining(String),
    /// Nobody that is known.
    Stranger,
}

/// The places for one kind of thing.
#[derive(Debug)]
pub(crate) struct Places {
    share: Share,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    by: BTreeMap<Who, usize>,
}

/// A place, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    of: Arc<Places>,
    who: Who,
}

impl Places {
    pub(crate) fn new(share: Share) -> Arc<Self> {
        Arc::new(Self { share, taken: Mutex::default() })
    }

    /// A place, if there is one and `who` has not as many as anyone may have.
    pub(crate) fn take(self: &Arc<Self>, who: &Who) -> Option<Place> {
        let mut taken = self.taken();
        let own = taken.by.get(who).copied().unwrap_or(0);
        if taken.all >= self.share.all || own >= self.share.each {
            return None;
        }
        taken.all += 1;
        taken.by.insert(who.clone(), own + 1);
        Some(Place { of: Arc::clone(self), who: who.clone() })
    }

    /// How many there are.
    pub(crate) fn share(&self) -> &Share {
        &self.share
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.of.taken();
        taken.all -= 1;
        if let Some(own) = taken.by.get_mut(&self.who) {
            *own -= 1;
            if *own == 0 {
                taken.by.remove(&self.who);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_has_more_than_their_part_and_all_together_no_more_than_there_are() {
        let places = Places::new(Share { all: 5, each: 2 });
        let take = |name: &str| places.take(&Who::User(name.to_owned()));
        let (first, _second) = (take("ada").unwrap(), take("ada").unwrap());
        assert!(take("ada").is_none());
        let _others = [take("bob").unwrap(), take("bob").unwrap(), take("eve").unwrap()];
        assert!(take("eve").is_none(), "there are no more");
        drop(first);
        assert!(take("bob").is_none() && take("eve").is_some());
        assert!(places.taken().by.len() == 3);
    }
}
