//! Random histories, run by the engine and the reference in step: before each event they agree on when the next task
//! finishes, and when the engine completes a task the reference has nothing left of it.

use super::reference::{NextFinish, Reference};
use super::scenario::{Change, Scenario, scenario};
use gleaner_sim::sharing::Sharing;
use gleaner_units::{MachineId, RunId, TaskId, Time};
use proptest::prelude::*;

struct Run {
    sharing: Sharing,
    reference: Reference,
    machines: usize,
    now: Time,
    resident: Vec<RunId>,
    arrived: usize,
    completed: Vec<(Time, RunId)>,
}

impl Run {
    fn new(cores: &[u32]) -> Self {
        let mut sharing = Sharing::new();
        for &cores in cores {
            sharing.add_machine(cores);
        }
        let reference = Reference::new(cores);
        let machines = cores.len();
        Self {
            sharing,
            reference,
            machines,
            now: Time::ZERO,
            resident: vec![],
            arrived: 0,
            completed: vec![],
        }
    }

    fn advance(&mut self, to: Time) {
        assert!(to >= self.now, "{to} is before {}", self.now);
        self.reference.advance(to.since(self.now).seconds());
        self.now = to;
    }

    /// Seconds of service by which the two may differ: the reference completes each task at the nanosecond that the
    /// engine prints, so up to half a nanosecond from its true moment.
    fn tolerance(&self) -> f64 {
        0.5e-9 * (2.0 + self.completed.len() as f64) + 1e-12 * self.now.seconds()
    }

    fn assert_within(&self, tolerance: f64, ours: f64, expected: f64, what: &str) {
        let close = (ours - expected).abs() <= tolerance;
        assert!(close, "{what} at {}: {ours}, not {expected} to within {tolerance}", self.now);
    }

    fn agree(&self) {
        self.sharing.check();
        if self.reference.is_about_to_finish() {
            return;
        }
        let ours = self.sharing.next_completion().map(|(at, _)| at.seconds());
        match (ours, self.reference.next_finish()) {
            (Some(ours), Some(NextFinish { after_seconds, share })) => {
                // The smaller the share, the longer a task takes for the service that the two differ by.
                let expected = self.now.seconds() + after_seconds;
                let tolerance = 0.5e-9 + 1e-12 * expected + self.tolerance() / share;
                self.assert_within(tolerance, ours, expected, "the next finish");
            }
            (ours, expected) => assert_eq!(ours.is_some(), expected.is_some(), "at {}", self.now),
        }
    }

    fn complete_until(&mut self, until: Time) {
        while let Some((at, task)) = self.sharing.next_completion().filter(|&(at, _)| at <= until) {
            self.advance(at);
            self.sharing.complete(at, task);
            let left = self.reference.take_off(task.task.index());
            self.assert_within(self.tolerance(), left, 0.0, "what is left of a completed task");
            self.resident.retain(|&other| other != task);
            self.completed.push((at, task));
            self.agree();
        }
    }

    fn insert(&mut self, machine: usize, task: RunId, service_seconds: f64) {
        let machine = machine % self.machines;
        self.sharing.insert(self.now, MachineId::new(machine), task, service_seconds);
        self.reference.put_on(machine, task.task.index(), service_seconds);
        self.resident.push(task);
    }

    fn remove(&mut self, pick: usize) -> Option<(RunId, f64)> {
        let place = pick.checked_rem(self.resident.len())?;
        let task = self.resident.swap_remove(place);
        let expected_here = self.sharing.service_left(self.now, task);
        let left = self.sharing.remove(self.now, task);
        assert_eq!(left, expected_here);
        assert_eq!(self.sharing.machine_of(task), None);
        let expected = self.reference.take_off(task.task.index());
        self.assert_within(self.tolerance(), left, expected, "service left");
        Some((task, left))
    }

    fn apply(&mut self, change: &Change) {
        match *change {
            Change::Arrive { on, service_seconds } => {
                self.insert(on, RunId::new(TaskId::new(self.arrived), 1), service_seconds);
                self.arrived += 1;
            }
            Change::Load { on, load } => {
                let machine = on % self.machines;
                self.sharing.set_load(self.now, MachineId::new(machine), load);
                self.reference.set_load(machine, load);
            }
            Change::Cancel { pick } => {
                self.remove(pick);
            }
            Change::Migrate { pick, to } => {
                if let Some((task, left)) = self.remove(pick) {
                    self.insert(to, task, left);
                }
            }
        }
        self.agree();
    }

    fn run(&mut self, scenario: &Scenario) {
        for step in &scenario.steps {
            let until = self.now.after_seconds(step.after_seconds);
            self.complete_until(until);
            self.advance(until);
            self.apply(&step.change);
        }
        // What is left at the end stands on machines that are all their owner's.
        for machine in 0..self.machines {
            self.apply(&Change::Load { on: machine, load: 0.0 });
        }
        self.complete_until(Time::NEVER);
        assert!(self.resident.is_empty(), "{:?} never finish", self.resident);
        for machine in 0..self.machines {
            let busy = self.sharing.busy_seconds(MachineId::new(machine), self.now);
            self.assert_within(self.tolerance(), busy, self.reference.busy(machine), "busy seconds");
        }
    }
}

/// Runs on what was saved and loaded after each step, which must not show.
fn run_with_reloads(scenario: &Scenario) -> Vec<(Time, RunId)> {
    let mut run = Run::new(&scenario.cores);
    for step in &scenario.steps {
        let until = run.now.after_seconds(step.after_seconds);
        run.complete_until(until);
        run.advance(until);
        run.apply(&step.change);
        let saved = postcard::to_stdvec(&run.sharing).expect("the state can be saved");
        run.sharing = postcard::from_bytes(&saved).expect("what was saved can be loaded");
    }
    run.completed
}

proptest! {
    #[test]
    fn few_tasks_agree_with_the_reference(scenario in scenario(1..6, 1..60)) {
        Run::new(&scenario.cores).run(&scenario);
    }

    #[test]
    fn a_saved_state_continues_identically(scenario in scenario(1..4, 1..40)) {
        let mut unbroken = Run::new(&scenario.cores);
        unbroken.run(&scenario);
        let reloaded = run_with_reloads(&scenario);
        prop_assert!(unbroken.completed.starts_with(&reloaded));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Long enough for machines whose tasks are split over several runs, with removals from all of them.
    #[test]
    fn many_tasks_on_a_machine_agree_with_the_reference(scenario in scenario(1..2, 400..700)) {
        Run::new(&scenario.cores).run(&scenario);
    }
}
