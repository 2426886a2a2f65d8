//! A simulated run as tables and reports read it: of one scheduler, or of one for each group of machines.

use gleaner_core::Policy;
use gleaner_policy::Recipe;
use gleaner_sim::brokering::Held;
use gleaner_sim::neighbours::Neighbourhood;
use gleaner_sim::{Answered, History, Parties, Simulation};
use gleaner_units::{MachineId, TaskClassId, Time};
use serde::Serialize;

/// A run as it stands.
pub(crate) trait Ran {
    /// What happened.
    fn history(&self) -> &History;
    /// The simulated moment.
    fn now(&self) -> Time;
    /// For how long a machine had something to run and could.
    fn busy_seconds(&self, machine: MachineId) -> f64;
    /// What groups said to each other, where there are groups.
    fn between(&self) -> Option<Between>;
    /// What machines answered and what of it was believed, where that matters.
    fn answered(&self) -> Option<Answered>;
    /// Tasks that wait where the rule itself passes machines over: by class, how many, and why.
    fn held(&self, rule: &Recipe) -> Vec<Held>;
}

/// What groups of machines said to each other and did for each other.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct Between {
    /// Letters that were sent.
    pub(crate) letters: u64,
    /// Of these, those that said how machines are.
    pub(crate) news: u64,
    /// That never came.
    pub(crate) lost: u64,
    /// Letters for each task.
    pub(crate) letters_per_task: f64,
    /// Runs of tasks that a neighbour had handed over, of all that began.
    pub(crate) handed_over_share: f64,
    /// How old what was known of the neighbour's machine was then, on average; none where nothing was handed over.
    pub(crate) age_mean_s: Option<f64>,
    /// When the last end was known where its task was handed in.
    pub(crate) known_s: f64,
}

impl<P: Policy> Ran for Simulation<'_, P> {
    fn history(&self) -> &History {
        self.history()
    }

    fn now(&self) -> Time {
        self.progress().now
    }

    fn busy_seconds(&self, machine: MachineId) -> f64 {
        self.busy_seconds(machine)
    }

    fn between(&self) -> Option<Between> {
        None
    }

    fn answered(&self) -> Option<Answered> {
        self.answered()
    }

    fn held(&self, rule: &Recipe) -> Vec<Held> {
        let grid = self.scheduler().grid();
        let all = grid.machines().len();
        let classes = (0..grid.classes().task_classes().len()).map(TaskClassId::new);
        let held = classes.filter(|class| grid.waiting_count(*class) > 0).filter_map(|class| {
            let passed_over = rule.passed_over(grid, class).into_iter();
            let why: Vec<String> = passed_over
                .map(|(reason, machines)| {
                    format!("{} of {all} machines {}", machines.len(), reason.in_words())
                })
                .collect();
            let jobs = grid.waiting_count(class) as usize;
            (!why.is_empty()).then(|| Held { class, jobs, why: why.join("; ") })
        });
        held.collect()
    }
}

impl<P: Policy> Ran for Parties<'_, P, Neighbourhood<'_>> {
    fn history(&self) -> &History {
        self.outside().history()
    }

    fn now(&self) -> Time {
        self.now()
    }

    fn busy_seconds(&self, machine: MachineId) -> f64 {
        self.outside().busy_seconds(machine, self.now())
    }

    fn answered(&self) -> Option<Answered> {
        None
    }

    fn held(&self, _: &Recipe) -> Vec<Held> {
        Vec::new()
    }

    fn between(&self) -> Option<Between> {
        let (outcome, mail) = (self.outside().outcome(), self.mail());
        let tasks = self.outside().history().tasks().len();
        Some(Between {
            letters: mail.sent(),
            news: outcome.news,
            lost: mail.lost(),
            letters_per_task: mail.sent() as f64 / tasks.max(1) as f64,
            handed_over_share: outcome.guests as f64 / outcome.runs.max(1) as f64,
            age_mean_s: outcome.mean_age_s(),
            known_s: outcome.known_at.seconds(),
        })
    }
}
