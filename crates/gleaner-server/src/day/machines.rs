//! Each machine's day: what its owner used, and what the grid did.

use crate::ledger::Ledger;
use crate::limits::MACHINE_SAMPLES_KEPT;
use gleaner_units::{MachineId, Span, Time};
use gleaner_wire::VERSION;
use gleaner_wire::day::{MachineDay, MachineDayList};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// From one sample of a machine to the next; the machine is looked at several times within.
const STEP: Span = Span::from_nanos(600_000_000_000);

#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Machines {
    machines: Vec<Machine>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Machine {
    /// None of one that was forgotten: its name may be another's.
    name: String,
    from: Time,
    samples: VecDeque<Sample>,
    now: Looks,
}

/// What it came to, in percent; none while the machine was not connected.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Sample {
    shares: Option<(u8, u8)>,
    moved_away: u16,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Looks {
    count: u32,
    owner: f64,
    grid: f64,
    moved_away: u16,
}

impl Machines {
    pub(super) fn count(&self) -> usize {
        self.machines.len()
    }

    pub(super) fn moved_away(&mut self, from: MachineId) {
        if let Some(machine) = self.machines.get_mut(from.index()) {
            machine.now.moved_away = machine.now.moved_away.saturating_add(1);
        }
    }

    /// `owner` says how much of a machine its owner uses; none for one that is not connected. Costs O(machines).
    pub(super) fn sample(&mut self, ledger: &Ledger, now: Time, owner: impl Fn(MachineId) -> Option<f64>) {
        for (index, agent) in ledger.agents().iter().enumerate() {
            if self.machines.len() == index {
                self.machines.push(Machine {
                    name: String::new(),
                    from: now,
                    samples: VecDeque::new(),
                    now: Looks::default(),
                });
            }
            let (id, machine) = (MachineId::new(index), &mut self.machines[index]);
            if agent.forgotten {
                (machine.name, machine.samples) = (String::new(), VecDeque::new());
                continue;
            }
            if machine.name != agent.name {
                machine.name.clone_from(&agent.name);
            }
            machine.close_until(now);
            if let Some(used) = owner(id) {
                let slots = f64::from(agent.profile.slots.max(1));
                let tasks = f64::from(ledger.grid().machine(id).count());
                machine.now.count += 1;
                machine.now.owner += used.clamp(0.0, 1.0);
                // What stands still uses nothing.
                machine.now.grid += if agent.is_suspended() { 0.0 } else { (tasks / slots).min(1.0) };
            }
        }
    }

    pub(super) fn view(&self, from: usize, limit: usize) -> MachineDayList {
        let known = self.machines.iter().enumerate().skip(from);
        let mut known = known.filter(|(_, machine)| !machine.name.is_empty());
        let machines: Vec<MachineDay> =
            known.by_ref().take(limit).map(|(_, machine)| machine.view()).collect();
        let next = known.next().map(|(position, _)| position as u32);
        MachineDayList { version: VERSION, step_s: STEP.seconds(), machines, next }
    }
}

impl Machine {
    /// Finishes the samples that are over.
    fn close_until(&mut self, now: Time) {
        let behind = now.since(self.from).nanos() / STEP.nanos();
        // After a day without a look there is nothing to keep.
        if behind > 2 * MACHINE_SAMPLES_KEPT as u64 {
            (self.from, self.samples, self.now) = (now, VecDeque::new(), Looks::default());
            return;
        }
        while (self.samples.len() as u64) < now.since(self.from).nanos() / STEP.nanos() {
            let sample = std::mem::take(&mut self.now).close();
            self.samples.push_back(sample);
            if self.samples.len() > MACHINE_SAMPLES_KEPT {
                self.samples.pop_front();
                self.from += STEP;
            }
        }
    }

    fn view(&self) -> MachineDay {
        let all: Vec<Sample> = self.samples.iter().copied().chain([self.now.close()]).collect();
        MachineDay {
            machine: self.name.clone(),
            from_s: self.from.seconds(),
            owner: all.iter().map(|sample| sample.shares.map(|(owner, _)| owner)).collect(),
            grid: all.iter().map(|sample| sample.shares.map(|(_, grid)| grid)).collect(),
            moved_away: all.iter().map(|sample| sample.moved_away).collect(),
        }
    }
}

impl Looks {
    fn close(self) -> Sample {
        let percent = |sum: f64| (100.0 * sum / f64::from(self.count)).round() as u8;
        let shares = (self.count > 0).then(|| (percent(self.owner), percent(self.grid)));
        Sample { shares, moved_away: self.moved_away }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::{Entry, Fact};
    use gleaner_wire::api::Actor;
    use gleaner_wire::session::Profile;

    #[test]
    fn a_machine_that_was_forgotten_has_no_day() {
        let (mut ledger, mut machines) = (Ledger::new(), Machines::default());
        let by = || Actor::Coordinator;
        let (token, expires) = (|| "t".to_owned(), Time::NEVER);
        let enrolled = |number: usize, name: &str| Fact::AgentEnrolled {
            agent: MachineId::new(number),
            key: format!("key {number}"),
            name: name.to_owned(),
            token: token(),
            profile: Profile::new([1.0; 3], 1),
        };
        for fact in [
            Fact::JoinTokenIssued { token: token(), expires, uses: 3, owner: None, by: by() },
            enrolled(0, "m1"),
            Fact::AgentForgotten { agent: MachineId::new(0), by: by() },
            enrolled(1, "m2"),
            enrolled(2, "m1"),
        ] {
            ledger.apply(&Entry { at: Time::ZERO, fact });
            machines
                .sample(&ledger, Time::ZERO, |machine| Some(if machine.index() == 0 { 1.0 } else { 0.5 }));
        }
        let told = |from: usize, limit: usize| {
            let MachineDayList { machines, next, .. } = machines.view(from, limit);
            (machines.into_iter().map(|day| (day.machine, day.owner)).collect::<Vec<_>>(), next)
        };
        let [m2, m1] = ["m2", "m1"].map(|name| (name.to_owned(), vec![Some(50)]));
        assert_eq!(told(0, 9), (vec![m2.clone(), m1.clone()], None));
        assert_eq!(told(0, 1), (vec![m2], Some(2)));
        assert_eq!(told(2, 1), (vec![m1], None));
    }

    #[test]
    fn so_many_samples_of_a_machine_are_kept() {
        let began = Time::ZERO;
        let (samples, now) = (VecDeque::new(), Looks::default());
        let mut machine = Machine { name: "m".to_owned(), from: began, samples, now };
        let most = MACHINE_SAMPLES_KEPT as u64;
        let at = |steps: u64| Time::from_nanos(steps * STEP.nanos());
        for steps in 0..=most {
            machine.close_until(at(steps));
        }
        assert_eq!((machine.samples.len() as u64, machine.from), (most, began));
        machine.close_until(at(most + 1));
        assert_eq!((machine.samples.len() as u64, machine.from), (most, at(1)));
        // After a long time without a look the past is not made up.
        machine.close_until(at(4 * most));
        assert_eq!((machine.samples.len(), machine.from), (0, at(4 * most)));
    }
}
