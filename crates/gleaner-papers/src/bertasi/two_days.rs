//! Two days of jobs one after the other: by the second, the first has told a policy what labels mean.

use gleaner_core::{Ad, TaskClass};
use gleaner_sim::{History, Setup};
use gleaner_units::{Span, TaskClassId, Time};

/// When the second day begins: long after all jobs of the first have ended.
const MORNING: Span = Span::from_nanos(100_000_000_000_000);

/// Figure 3's jobs of one day, each with a label.
pub(super) struct Day<'a> {
    pub(super) setup: &'a Setup,
    pub(super) labels: Vec<usize>,
}

impl Day<'_> {
    /// Of each job: one class for each label and kind.
    fn classes(&self) -> impl Iterator<Item = TaskClassId> + '_ {
        let kinds = self.setup.task_classes.len();
        let both = self.setup.tasks.classes.iter().zip(&self.labels);
        both.map(move |(class, label)| TaskClassId::new(class.index() + kinds * label))
    }
}

/// The jobs of both days, and how many are of the first.
pub(super) struct TwoDays {
    pub(super) setup: Setup,
    first: usize,
}

impl TwoDays {
    /// With so many labels; no job has a declared length.
    pub(super) fn of(yesterday: &Day<'_>, today: &Day<'_>, labels: usize) -> Self {
        let mut setup = yesterday.setup.clone();
        let labelled = |label: usize| {
            let ad = Ad::parse(&format!("[ Label = \"{label}\" ]")).expect("an ad that parses");
            move |class: &TaskClass| TaskClass { ad: Some(ad.clone()), ..class.clone() }
        };
        let kinds = &yesterday.setup.task_classes;
        setup.task_classes = (0..labels).flat_map(|label| kinds.iter().map(labelled(label))).collect();
        setup.tasks.classes = yesterday.classes().chain(today.classes()).collect();
        setup.tasks.arrivals.extend(today.setup.tasks.arrivals.iter().map(|at| later(*at)));
        setup.tasks.lengths.extend(&today.setup.tasks.lengths);
        setup.tasks.declared = vec![None; setup.tasks.lengths.len()];
        Self { setup, first: yesterday.labels.len() }
    }

    /// How long the second day took, and how many moves.
    pub(super) fn second(&self, history: &History) -> (f64, f64) {
        let (first, second) = history.tasks().split_at(self.first);
        let is_over = first.iter().all(|task| task.finished < later(Time::ZERO));
        assert!(is_over, "the first day is over when the second begins");
        let moves: u32 = second.iter().map(|task| task.moves).sum();
        (history.makespan().since(later(Time::ZERO)).seconds(), f64::from(moves))
    }
}

fn later(at: Time) -> Time {
    Time::from_nanos(at.nanos() + MORNING.nanos())
}
