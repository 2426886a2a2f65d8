//! What was, run again in the simulator.

use super::caps::CapChange;
use super::end::{Past, Placed};
use super::figures::{Figures, mean, span, waits_of};
use gleaner_policy::PolicySpec;
use gleaner_sim::{Answers, LoadChange, Setup, Simulation, Tasks, TimelineRow};
use gleaner_units::{MachineId, Time};

impl Past {
    /// How it would have gone, by the simulator, with tasks that came at other moments than these did.
    pub fn under(&self, policy: &PolicySpec, tasks: &Tasks, seed: u64) -> Figures {
        self.run(policy, tasks, seed).0
    }

    /// How it would have gone, and where each task would have been.
    pub fn schedule_under(&self, policy: &PolicySpec) -> (Figures, Vec<Option<Placed>>) {
        self.run(policy, &self.setup.tasks, self.seed)
    }

    fn run(&self, policy: &PolicySpec, tasks: &Tasks, seed: u64) -> (Figures, Vec<Option<Placed>>) {
        let answers = Answers { checking: policy.checking(), ..Answers::default() };
        let setup = Setup { budget: policy.budget(), answers, tasks: tasks.clone(), ..self.setup.clone() };
        let mut run = Simulation::new(&setup, policy.recipe().build()).with_seed(seed).with_timeline();
        run.run_hearing(self.caps.iter().copied().map(CapChange::event));
        let history = run.history();
        let arrivals = &setup.tasks.arrivals;
        let tasks = || history.tasks().iter().zip(arrivals);
        let started = tasks().filter(|(task, _)| task.started != Time::NEVER);
        let waits = started.map(|(task, came)| task.started.since(*came).seconds());
        let ended = tasks().filter(|(task, _)| task.finished != Time::NEVER);
        let placed = history.tasks().iter().map(|task| {
            let has_ended = task.finished != Time::NEVER;
            task.machine.filter(|_| has_ended).map(|on| Placed { on, from: task.started, to: task.finished })
        });
        let placed = placed.collect();
        let outcome = Figures {
            makespan_s: span(arrivals.first().copied(), (history.finished() > 0).then(|| history.makespan())),
            flow_mean_s: mean(ended.map(|(task, came)| task.finished.since(*came).seconds())),
            moves: history.moves(),
            machine_s: running_seconds(history.timeline(), &setup.loads, setup.machines.len()),
            unfinished: history.unfinished() as u64,
            ..waits_of(waits)
        };
        (outcome, placed)
    }
}

/// How long runs ran in a simulation, all together. **As agents count: not while the owner uses all of their machine.** What
/// still stands there at the end stands still.
fn running_seconds(timeline: &[TimelineRow], loads: &[LoadChange], machines: usize) -> f64 {
    #[derive(Clone, Copy, Default)]
    struct Machine {
        runs: u32,
        is_used_up: bool,
        since: Time,
    }
    let mut all = vec![Machine::default(); machines];
    let mut nanos = 0_u128;
    let mut change = |machine: MachineId, at: Time, change: &dyn Fn(&mut Machine)| {
        let machine = &mut all[machine.index()];
        let runs = if machine.is_used_up { 0 } else { machine.runs };
        nanos += u128::from(runs) * u128::from(at.since(machine.since).nanos());
        machine.since = at;
        change(machine);
    };
    let mut loads = loads.iter().peekable();
    for row in timeline {
        while let Some(load) = loads.next_if(|load| load.time <= row.time) {
            change(load.machine, load.time, &|machine| machine.is_used_up = load.load >= 1.0);
        }
        change(row.machine, row.time, &|machine| machine.runs = row.tasks);
    }
    nanos as f64 / 1e9
}
