//! When the machines of a class are ready, and which of them would be next.
//!
//! Mostly the greater part has nothing to do. **Such a machine is ready now, and of these the lowest is always next**, so
//! that they are a list from whose front they are taken.

use gleaner_units::MachineId;
use std::collections::BTreeSet;

/// Seconds from now, 0 or more: the bits of such numbers are in the order of the numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Moment(u64);

impl Moment {
    pub(super) const NOW: Self = Self(0);

    pub(super) fn at(seconds: f64) -> Self {
        // Adding 0 makes 0 of −0.
        Self((seconds + 0.0).to_bits())
    }

    pub(super) fn seconds(self) -> f64 {
        f64::from_bits(self.0)
    }

    pub(super) fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// A machine, after the moment at which the first of its cores is ready.
pub(super) type Ready = (Moment, MachineId);

/// A machine of the class could begin a task then: one of its cores is ready.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Offer {
    /// Seconds from now.
    pub(super) ready_s: f64,
    /// Whether another machine of the class could at the same moment.
    pub(super) several: bool,
}

/// The machines of a class by when they are ready.
pub(super) struct Readiness {
    /// Now, for they have nothing to do; in order.
    pub(super) idle: std::vec::IntoIter<MachineId>,
    /// Those that have.
    pub(super) later: BTreeSet<Ready>,
}

impl Readiness {
    #[inline]
    pub(super) fn first_idle(&self) -> Option<Ready> {
        self.idle.as_slice().first().map(|&machine| (Moment::NOW, machine))
    }

    /// The first machine, at the first moment from one on at which any is ready.
    #[inline]
    fn first_from(&self, from: Moment) -> Option<Ready> {
        let idle = if from == Moment::NOW { self.first_idle() } else { None };
        let later = self.later.range((from, MachineId::new(0))..).next().copied();
        idle.into_iter().chain(later).min()
    }

    /// Each moment from `from` on at which a machine is ready, with the lowest that is.
    pub(super) fn moments(&self, from: Moment) -> impl Iterator<Item = Ready> + '_ {
        let next = move |&(moment, _): &Ready| self.first_from(moment.next());
        std::iter::successors(self.first_from(from), next)
    }

    /// All machines, each at its moment.
    pub(super) fn all(&self) -> impl Iterator<Item = Ready> + '_ {
        let idle = self.idle.as_slice().iter().map(|&machine| (Moment::NOW, machine));
        idle.chain(self.later.iter().copied())
    }

    /// Whether more than one is ready at that moment.
    fn has_several(&self, moment: Moment) -> bool {
        let idle = if moment == Moment::NOW { self.idle.len() } else { 0 };
        let later = self.later.range((moment, MachineId::new(0))..).take_while(|ready| ready.0 == moment);
        idle + later.take(2).count() > 1
    }

    /// The moments from `from` on, up to so many machines.
    pub(super) fn offer_first(&self, from: Moment, count: usize, offers: &mut Vec<Offer>) {
        let mut found = 0;
        for (moment, _) in self.moments(from) {
            let several = count > 1 && self.has_several(moment);
            offers.push(Offer { ready_s: moment.seconds(), several });
            found += 1 + usize::from(several);
            if found >= count {
                return;
            }
        }
    }

    /// Takes out a machine that is [the first](Self::first_from) at its moment; whether it was idle.
    pub(super) fn remove(&mut self, ready: Ready) -> bool {
        if self.first_idle() == Some(ready) {
            self.idle.next();
            return true;
        }
        self.later.remove(&ready);
        false
    }
}
