//! How long machines of each class stayed so far, and how often one was lost: what is learnt of a class by its machines' coming
//! and going. A machine whose class changes stays with each of them for its time.

use gleaner_units::{MachineClassId, MachineId, Time};
use serde::{Deserialize, Serialize};

const NANOS_PER_SECOND: f64 = 1e9;

/// The stays with one class, or with all: those that are over, and those that last. In whole nanoseconds, so that sums do not
/// depend on their order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
struct Sum {
    /// How many ended because the machine was lost.
    losses: u64,
    /// How long those were that are over.
    over_ns: u128,
    lasting: u64,
    /// The moments at which those began that last, together.
    began_ns: u128,
}

impl Sum {
    fn begin(&mut self, at: Time) {
        self.lasting += 1;
        self.began_ns += u128::from(at.nanos());
    }

    fn end(&mut self, (from, until): (Time, Time), is_loss: bool) {
        self.lasting -= 1;
        self.began_ns -= u128::from(from.nanos());
        self.over_ns += u128::from(until.since(from).nanos());
        self.losses += u64::from(is_loss);
    }

    /// All together, up to now.
    fn seconds(&self, now: Time) -> f64 {
        let lasting = u128::from(self.lasting) * u128::from(now.nanos()) - self.began_ns;
        (self.over_ns + lasting) as f64 / NANOS_PER_SECOND
    }
}

/// All of them.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Staying {
    all: Sum,
    /// By class; those behind the end had no machine yet.
    classes: Vec<Sum>,
    /// By machine that is there: with which class it stays, and since when.
    machines: Vec<Option<(MachineClassId, Time)>>,
}

impl Staying {
    /// A machine is there from now on, with a class.
    pub(super) fn begin(&mut self, now: Time, machine: MachineId, class: MachineClassId) {
        let (machine, number) = (machine.index(), class.index());
        self.machines.resize(self.machines.len().max(machine + 1), None);
        self.classes.resize(self.classes.len().max(number + 1), Sum::default());
        self.machines[machine] = Some((class, now));
        self.classes[number].begin(now);
        self.all.begin(now);
    }

    /// It is there no more, or has another class. Whether it was there: what peers lend is not counted. Who is gone at the moment
    /// at which he came was not lost: an agent that is enrolled counts as away until it connects.
    pub(super) fn end(&mut self, now: Time, machine: MachineId, is_loss: bool) -> bool {
        let stay = self.machines.get_mut(machine.index()).and_then(Option::take);
        let Some((class, since)) = stay else { return false };
        let is_loss = is_loss && now > since;
        self.classes[class.index()].end((since, now), is_loss);
        self.all.end((since, now), is_loss);
        true
    }

    /// With which class a machine stays, if it is there.
    pub(super) fn class_of(&self, machine: MachineId) -> Option<MachineClassId> {
        self.machines.get(machine.index()).copied().flatten().map(|(class, _)| class)
    }

    /// How often a machine of a class is lost, by the second that it is there, as if one more had stayed as long as machines stay
    /// on average; 0 before any was lost.
    pub(super) fn losses_per_s(&self, now: Time, class: MachineClassId) -> f64 {
        if self.all.losses == 0 {
            return 0.0;
        }
        let usual_s = self.all.seconds(now) / self.all.losses as f64;
        let own = self.classes.get(class.index()).copied().unwrap_or_default();
        let seconds = own.seconds(now) + usual_s;
        if seconds > 0.0 { (own.losses + 1) as f64 / seconds } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_judged_by_its_stays_and_one_more() {
        let (machine, class) = (MachineId::new(0), MachineClassId::new);
        let at = |seconds: u64| Time::from_nanos(seconds * 1_000_000_000);
        let mut staying = Staying::default();
        staying.begin(at(0), machine, class(0));
        assert!(staying.end(at(10), machine, false), "it has another class");
        staying.begin(at(10), machine, class(1));
        assert_eq!(staying.losses_per_s(at(20), class(1)), 0.0, "none was lost yet");
        assert!(staying.end(at(30), machine, true));
        assert!(!staying.end(at(31), machine, true), "it is lost once");
        staying.begin(at(40), machine, class(1));
        // It was there for 40 s and lost once: 10 s with one class, 30 s with the other.
        let expected = [(0, 1.0 / (10.0 + 40.0)), (1, 2.0 / (30.0 + 40.0)), (2, 1.0 / 40.0)];
        for (number, rate) in expected {
            assert_eq!(staying.losses_per_s(at(50), class(number)), rate, "class {number}");
        }
        assert_eq!(staying.class_of(machine), Some(class(1)));
    }

    #[test]
    fn who_never_stayed_was_not_lost() {
        let (machine, class) = (MachineId::new(0), MachineClassId::new(0));
        let mut staying = Staying::default();
        staying.begin(Time::ZERO, machine, class);
        assert!(staying.end(Time::ZERO, machine, true));
        staying.begin(Time::ZERO, machine, class);
        assert_eq!(staying.losses_per_s(Time::ZERO.after_seconds(3_600.0), class), 0.0);
    }
}
