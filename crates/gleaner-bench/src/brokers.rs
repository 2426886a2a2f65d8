//! Brokers that send jobs to elements by an index that is out of date: whole runs, and what a decision costs when elements
//! multiply and as much changes between two of them as before.

use crate::processor_seconds;
use gleaner_core::{Event, Grid, GridConfig, MachineClass, Migration, Scheduler, SiteState, Tags, TaskClass};
use gleaner_policy::{AnyPolicy, Belief, Choose, Rank, Recipe};
use gleaner_sim::brokering::{
    Brokerage, BrokeringSetup, Element, IndexNode, Job, JobClass, Link, Model, Storage, first_come,
};
use gleaner_units::{MachineClassId, MachineId, Ops, SiteId, Span, TaskClassId, TaskId, Time};

/// The rules whose speed is looked at, with their names.
///
/// `first` is not among them: where every element takes whatever comes, it sends all to the lowest.
pub const RULES: [(&str, Choose, Belief); 5] = [
    ("best, own dispatches", Choose::Best, Belief::OwnDispatches { brokers: 100 }),
    ("best", Choose::Best, Belief::AsPublished),
    ("best by lot", Choose::BestByLot, Belief::AsPublished),
    ("proportional", Choose::Proportional { power: 1 }, Belief::AsPublished),
    ("two choices", Choose::TwoChoices, Belief::AsPublished),
];

/// From a hundred elements to ten thousand.
pub const ELEMENTS: [usize; 3] = [100, 1_000, 10_000];

const SITES: usize = 10;
const CPUS: u32 = 10;
/// Of the elements, in turn.
const SPEEDS: [f64; 4] = [100.0, 200.0, 300.0, 250.0];
const LENGTH: f64 = 100_000.0;
const LOAD: f64 = 0.7;
/// Five minutes, as information systems of grids have it.
const TTL_S: u64 = 300;

/// The recipe of one of the [`RULES`].
pub fn recipe(choose: Choose, belief: Belief) -> Recipe {
    Recipe::brokering(Rank { alpha: 0.75, beta: 0.25, ..Rank::default() }, choose, belief)
}

fn job_class() -> TaskClass {
    TaskClass::plain(vec![1.0])
}

/// So many elements, brokers and jobs, at seven tenths of what the elements can do.
pub fn setup(elements: usize, brokers: usize, jobs: usize) -> BrokeringSetup {
    let element = |number: usize| Element {
        site: SiteId::new(number % SITES),
        cpus: CPUS,
        ops_per_s: SPEEDS[number % SPEEDS.len()],
        provides: Tags::new(),
        ad: None,
        index: 0,
    };
    let elements: Vec<Element> = (0..elements).map(element).collect();
    let ops_per_s: f64 = elements.iter().map(|element| element.ops_per_s * f64::from(CPUS)).sum();
    let between_s = LENGTH / (LOAD * ops_per_s);
    let length = |number: usize| Ops::new(LENGTH * (0.5 + (number * 7 % 11) as f64 / 10.0));
    let job = |number: usize| Job {
        arrival: Time::from_seconds(between_s * number as f64).expect("a moment"),
        length: length(number).expect("a length"),
        estimate: length(number).expect("a length"),
        class: TaskClassId::FIRST,
        broker: number * 13 % brokers,
    };
    BrokeringSetup {
        elements,
        storage: vec![Storage { bytes_per_s: f64::INFINITY, quota: None }; SITES],
        files: Vec::new(),
        copies: Vec::new(),
        links: (0..SITES).map(|site| Link { between: (site, SITES), bytes_per_s: 1e7 }).collect(),
        index: vec![IndexNode { ttl: Span::from_nanos(TTL_S * 1_000_000_000), above: None }],
        classes: vec![JobClass { task: job_class(), inputs: Vec::new() }],
        jobs: (0..jobs).map(job).collect(),
        brokers,
        queue: first_come(),
        model: Model::default(),
    }
}

/// The seconds that a whole run takes.
///
/// # Panics
/// Where a job did not end: the setup is of this module.
pub fn seconds(setup: &BrokeringSetup, recipe: Recipe) -> f64 {
    processor_seconds(|| {
        let mut run = Brokerage::new(setup, recipe, 1).expect("a setup that makes sense");
        run.run();
        assert_eq!(run.finished(), setup.jobs.len(), "every job ends");
    })
}

/// A broker that knows of so many elements.
#[derive(Debug)]
pub struct Informed {
    scheduler: Scheduler<AnyPolicy>,
    elements: usize,
    submitted: usize,
}

/// Elements of which something is heard between two jobs.
const NEWS: usize = 10;

impl Informed {
    /// All of them published how they are.
    pub fn new(elements: usize, recipe: Recipe) -> Self {
        let grid = Grid::new(GridConfig { weights: vec![1.0], migration: Migration::default() });
        let mut scheduler = Scheduler::new(grid, recipe.build());
        scheduler.apply(Time::ZERO, &Event::SeedDrawn(1));
        for speed in SPEEDS {
            let class = MachineClass::plain(vec![speed], CPUS);
            scheduler.apply(Time::ZERO, &Event::MachineClassMet(Box::new(class)));
        }
        scheduler.apply(Time::ZERO, &Event::TaskClassMet(Box::new(job_class())));
        let mut informed = Self { scheduler, elements, submitted: 0 };
        for number in 0..elements {
            let (machine, class) = (MachineId::new(number), MachineClassId::new(number % SPEEDS.len()));
            informed.scheduler.apply(Time::ZERO, &Event::MachineJoined { machine, class });
            informed.hear(number);
        }
        // What is kept of elements is made with the first job.
        informed.place();
        informed
    }

    /// Seconds for each job, with news of ten elements before each.
    pub fn seconds_per_decision(&mut self, jobs: usize) -> f64 {
        processor_seconds(|| (0..jobs).for_each(|_| self.place())) / jobs as f64
    }

    fn hear(&mut self, number: usize) {
        let now = Time::from_nanos(1 + self.submitted as u64);
        let state = SiteState {
            cores_free: 0,
            memory_free: 0,
            disk_free: 0,
            waiting: 1,
            traversal_s: 1.0 + ((number * 31 + self.submitted * 17) % 997) as f64,
        };
        let machine = MachineId::new(number);
        self.scheduler.apply(now, &Event::StatePublished { machine, state, known_at: now });
    }

    fn place(&mut self) {
        for news in 0..NEWS {
            self.hear((self.submitted * NEWS + news) * 101 % self.elements);
        }
        let now = Time::from_nanos(1 + self.submitted as u64);
        let (first, class) = (TaskId::new(self.submitted), TaskClassId::FIRST);
        self.submitted += 1;
        let length = Ops::new(LENGTH);
        let mut decisions = Vec::new();
        self.scheduler.apply(now, &Event::TasksSubmitted { first, count: 1, class, length });
        self.scheduler.decide(now, &mut decisions);
        self.scheduler.take_orders().for_each(drop);
        assert_eq!(decisions.len(), 1, "it has its element");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_sends_every_job_somewhere() {
        let setup = setup(40, 3, 500);
        for (_, choose, belief) in RULES {
            assert!(seconds(&setup, recipe(choose, belief)) >= 0.0);
            assert!(Informed::new(20, recipe(choose, belief)).seconds_per_decision(30) >= 0.0);
        }
    }
}
