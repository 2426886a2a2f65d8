//! From a scenario's plain data to a setup and a policy.

mod choice;
mod log;

pub use log::{LogExperiment, Overrun, Reading, Size, Times};

use crate::Shake;
use crate::error::InputError;
use crate::groups::Groups;
use crate::machines::{MachineKind, MachineRow};
use crate::scenario::{AvailableMachines, Scenario};
use crate::settings::Sharing;
use gleaner_classad::ClassAd;
use gleaner_core::explain::words;
use gleaner_core::{
    Ad, Budget, Condition, Explanation, GridConfig, MachineClass, Migration, Room, Scope, Seen, TaskClass,
};
use gleaner_policy::{LABEL, Lengths, Recipe};
use gleaner_sim::{Answers, Ids, MachineTraces, Setup, SpeedScale, Tasks, Trace};
use gleaner_units::{MachineClassId, TaskClassId, UserId};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A scenario, ready to run.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Machines, tasks and loads.
    pub setup: Setup,
    /// How tasks are placed and moved.
    pub recipe: Recipe,
    /// The preset's name, as the scenario has it.
    pub policy: String,
    /// The seed of the first run.
    pub seed: u64,
    /// Machines, as the file calls them; with `#k` behind it where it is one's k-th time on the grid.
    pub machine_names: Vec<String>,
    /// Tasks, as the file calls them.
    pub task_names: Ids,
    /// By task: whose it is, by number; nobody's where nothing is said of any.
    pub users: Vec<u32>,
    /// Kinds of operations, as the scenario calls them.
    pub dimensions: Vec<String>,
    /// Where each group of machines has a scheduler of its own.
    pub groups: Option<Groups>,
}

impl Experiment {
    /// Refuses what this simulator has no model for, at the key that asks for it.
    pub fn of(scenario: Scenario) -> Result<Self, InputError> {
        let recipe = choice::recipe(&scenario)?;
        let budget = choice::budget(&scenario)?;
        let network = scenario.dimensions.iter().position(|name| name == "net").unwrap_or(0);
        let migration =
            Migration { seconds: scenario.migration.seconds, volume: scenario.migration.bytes, network };
        let config = GridConfig { weights: scenario.weights.clone(), migration };
        let answers = choice::answers(&scenario, &recipe)?;
        let learnt = recipe.lengths.is_learnt();
        let mut setup = Setup { budget, answers, ..setup(&scenario, config, (budget, learnt)) };
        if recipe.lengths == Lengths::True {
            setup.tasks.declared = setup.tasks.lengths.iter().copied().map(Some).collect();
        }
        check_runnable(&scenario, &setup)?;
        choice::check_affordable(&scenario, &setup)?;
        Ok(Self {
            setup,
            recipe,
            machine_names: machine_names(&scenario),
            policy: scenario.policy.name().to_owned(),
            seed: scenario.seed,
            task_names: scenario.tasks.ids().clone(),
            users: users(&scenario),
            groups: scenario.groups,
            dimensions: scenario.dimensions,
        })
    }
}

impl Experiment {
    /// Whether some task says which machines it likes best, and the policy does not read that.
    pub fn passes_over_ranks(&self) -> bool {
        !self.recipe.reads_ranks() && self.setup.task_classes.iter().any(TaskClass::is_ranked)
    }

    /// As a run with this seed has it: as many machines lie, and the seed picks which.
    pub fn of_seed(&self, seed: u64) -> Cow<'_, Self> {
        let Some(liars) = &self.setup.answers.liars else { return Cow::Borrowed(self) };
        let mut other = self.clone();
        other.setup.answers.liars = Some(liars.drawn_anew(seed));
        Cow::Owned(other)
    }

    /// The same with each arrival moved; what follows on each other may follow in another order.
    #[must_use]
    pub fn shaken(&self, shake: Shake) -> Self {
        let (tasks, order) = shake.tasks(&self.setup.tasks);
        let (mut task_names, mut users) = (Ids::default(), Vec::new());
        for place in order {
            task_names.push(self.task_names.id(place));
            users.extend(self.users.get(place));
        }
        let setup = Setup { tasks, ..self.setup.clone() };
        Self { setup, task_names, users, seed: shake.seed, ..self.clone() }
    }
}

/// What of the scenario's ads anybody looks at; a policy that learns looks at labels.
fn seen(scenario: &Scenario, learnt: bool) -> Seen {
    let mut seen = Seen::default();
    for ad in scenario.machines.kinds().iter().filter_map(|kind| kind.ad.as_ref()) {
        seen.add_machine(ad);
    }
    for ad in scenario.tasks.kinds().iter().filter_map(|kind| kind.ad.as_ref()) {
        seen.add_task(ad);
    }
    if learnt {
        seen.add_name(LABEL);
    }
    seen
}

/// Classes are kinds less what nobody looks at in their ads, and with their prices where those matter; with their users where
/// each has a budget, or lengths are learnt by user and label.
fn setup(scenario: &Scenario, config: GridConfig, (budget, learnt): (Option<Budget>, bool)) -> Setup {
    let (machines, tasks) = (&scenario.machines, &scenario.tasks);
    let seen = seen(scenario, learnt);
    let ad = |ad: &Option<ClassAd>| ad.as_ref().and_then(|ad| seen.part_of(ad)).map(Ad::from);
    let by_trace = scenario.availability.is_some();
    let price = |row: &MachineRow| row.price.filter(|_| budget.is_some()).unwrap_or(0.0);
    let offered = |row: &MachineRow| (row.kind, price(row).to_bits());
    let offers: BTreeSet<(u32, u64)> = machines.rows().iter().map(offered).collect();
    let offers: Vec<(u32, u64)> = offers.into_iter().collect();
    let machine_classes = Merged::of(&offers, |&(kind, price)| {
        let kind = &machines.kinds()[kind as usize];
        MachineClass {
            speeds: if by_trace { Vec::new() } else { kind.speeds.clone() },
            cores: kind.cores,
            room: room(scenario.sharing, kind),
            price: f64::from_bits(price),
            provides: kind.provides.clone(),
            ad: ad(&kind.ad),
        }
    });
    let class_of = |row: &MachineRow| {
        let offer = offers.binary_search(&offered(row)).expect("what was just collected");
        machine_classes.of_kind[offer]
    };
    let payer = |user: u32| match budget.map(|budget| budget.scope) {
        Some(Scope::PerUser) => UserId::new(user as usize),
        _ if learnt => UserId::new(user as usize),
        Some(Scope::Shared) | None => UserId::default(),
    };
    let task_classes = Merged::of(tasks.kinds(), |kind| TaskClass {
        composition: kind.composition.clone(),
        needs: kind.needs,
        priority: kind.priority,
        restarts: !kind.checkpoint,
        payer: payer(kind.user),
        requires: kind.domain.clone(),
        ad: ad(&kind.ad),
    });
    let kinds: Vec<usize> = machines.rows().iter().map(class_of).collect();
    let availability = scenario.availability.as_ref().map(|available| availability(available, &kinds));
    let (machine_classes, kinds) = match &availability {
        // A kind is told from others by all but its speed, which the trace has.
        Some(by_trace) => {
            (MachineTraces::classes(&by_trace.scale, &machine_classes.classes, by_trace.pricing), Vec::new())
        }
        None => (machine_classes.classes, kinds),
    };
    Setup {
        config,
        machines: kinds.into_iter().map(MachineClassId::new).collect(),
        availability,
        tasks: Tasks {
            arrivals: tasks.arrivals().to_vec(),
            lengths: tasks.lengths().to_vec(),
            declared: (0..tasks.len()).map(|task| tasks.declared(task)).collect(),
            classes: tasks
                .kind_numbers()
                .iter()
                .map(|&kind| TaskClassId::new(task_classes.of_kind[kind as usize]))
                .collect(),
        },
        machine_classes,
        task_classes: task_classes.classes,
        loads: scenario.loads.clone(),
        budget: None,
        answers: Answers::default(),
    }
}

fn users(scenario: &Scenario) -> Vec<u32> {
    let tasks = &scenario.tasks;
    if tasks.users().iter().all(str::is_empty) {
        return Vec::new();
    }
    tasks.kind_numbers().iter().map(|kind| tasks.kinds()[*kind as usize].user).collect()
}

/// `kinds` has one entry a machine of the grid.
fn availability(available: &AvailableMachines, kinds: &[usize]) -> MachineTraces {
    let AvailableMachines { trace, machines, look } = available;
    MachineTraces {
        kinds: machines.iter().map(|machine| kinds[*machine] as u32).collect(),
        scale: scale(trace),
        look_every: look.every,
        prediction: look.prediction,
        pricing: look.prices,
        trace: Arc::new(trace.clone()),
        saboteurs: BTreeSet::new(),
        aborts_max: look.aborts_max,
    }
}

/// So many different speeds of a trace stand for themselves.
const EXACT_SPEEDS_MAX: usize = 100;

/// Two digits of every speed that there is: a class is then no wider than a tenth of its speed. Speeds themselves where they are few.
fn scale(trace: &Trace) -> SpeedScale {
    let speeds = || {
        let pieces = (0..trace.intervals().len()).flat_map(|interval| trace.pieces(interval));
        pieces.map(|piece| piece.speed).filter(|speed| *speed > 0.0)
    };
    let (low, high) =
        speeds().fold((f64::INFINITY, 0.0_f64), |(low, high), speed| (low.min(speed), high.max(speed)));
    // Without a machine that moves at all, any scale will do.
    if high == 0.0 {
        return SpeedScale::two_digits(1.0, 1.0);
    }
    let scale = SpeedScale::two_digits(low.max(high / 1e6), high);
    let mut different = BTreeSet::new();
    let are_few = speeds().all(|speed| {
        // Those above 0 are in the order of their bits.
        different.insert(speed.to_bits());
        different.len() <= EXACT_SPEEDS_MAX
    });
    if are_few { scale.with(different.into_iter().map(f64::from_bits)) } else { scale }
}

fn machine_names(scenario: &Scenario) -> Vec<String> {
    let Some(AvailableMachines { trace, .. }) = &scenario.availability else {
        return scenario.machines.rows().iter().map(|row| row.id.clone()).collect();
    };
    let mut times = vec![0_u32; trace.machines().len()];
    let intervals = trace.intervals().iter().map(|interval| interval.machine as usize);
    let name = |machine: usize| {
        times[machine] += 1;
        format!("{}#{}", trace.machines().id(machine), times[machine])
    };
    intervals.map(name).collect()
}

/// An exclusive core has one task at a time; tasks that find none wait.
fn room(sharing: Sharing, kind: &MachineKind) -> Room {
    let slots = match sharing {
        Sharing::Time => None,
        Sharing::Exclusive => Some(kind.cores),
    };
    Room { slots, memory: kind.memory_bytes, disk: kind.disk_bytes }
}

/// Classes, and which of them each kind belongs to.
struct Merged<C> {
    classes: Vec<C>,
    of_kind: Vec<usize>,
}

impl<C: Serialize> Merged<C> {
    /// Kinds that give equal classes share one, in order of first appearance.
    fn of<K>(kinds: &[K], class_of: impl Fn(&K) -> C) -> Self {
        let mut merged = Self { classes: Vec::new(), of_kind: Vec::with_capacity(kinds.len()) };
        let mut met: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
        for kind in kinds {
            let class = class_of(kind);
            let bytes = postcard::to_stdvec(&class).expect("plain data can always be written to memory");
            let next = merged.classes.len();
            let number = *met.entry(bytes).or_insert(next);
            if number == next {
                merged.classes.push(class);
            }
            merged.of_kind.push(number);
        }
        merged
    }
}

/// A task that no machine could ever take is bad input, the reader saw to all but the ads; and so is one of which fewer machines
/// than have to agree could ever answer.
fn check_runnable(scenario: &Scenario, setup: &Setup) -> Result<(), InputError> {
    let grid = setup.idle_grid();
    let runs = |class| grid.classes().seconds_per_op_row(class).iter().any(|seconds| seconds.is_finite());
    let classes = || (0..setup.task_classes.len()).map(TaskClassId::new);
    let first_of =
        |class| setup.tasks.classes.iter().position(|&other| other == class).expect("every class has a task");
    let quorum = setup.answers.checking.map_or(0, |checking| checking.quorum as usize);
    let able = |class| {
        let seconds = grid.classes().seconds_per_op_row(class);
        setup.machines.iter().filter(|machine| seconds[machine.index()].is_finite()).count()
    };
    let Some(class) = classes().find(|&class| !runs(class)) else {
        let Some(class) = classes().find(|&class| able(class) < quorum) else { return Ok(()) };
        let (task, able) = (first_of(class), able(class));
        let (name, kind) = (scenario.tasks.id(task), scenario.tasks.kind_numbers()[task] as usize);
        let found = format!("{name}, which {able} of the machines could run, where {quorum} have to agree");
        let expected = format!("a task that {quorum} machines could run, or a lower policy.replicate.quorum");
        return Err(scenario.tasks.error_at_kind(kind, "", found, expected));
    };
    let task = first_of(class);
    let kind = scenario.tasks.kind_numbers()[task] as usize;
    let explanation = Explanation::of(&grid, class);
    let field = explanation.ruled_out.first().map_or("", |ruled_out| field_of(&ruled_out.condition));
    let why = words::sentence(&explanation, &scenario.dimensions);
    let found = format!("{}, which no machine could ever run: {why}", scenario.tasks.id(task));
    Err(scenario.tasks.error_at_kind(kind, field, found, "a task that some machine could run"))
}

/// The column that asks for it.
fn field_of(condition: &Condition) -> &'static str {
    match condition {
        Condition::HasCores(_) | Condition::CoresAreFree(_) => "cores",
        Condition::HasMemory(_) | Condition::MemoryIsFree(_) => "memory_bytes",
        Condition::HasDisk(_) | Condition::DiskIsFree(_) => "disk_bytes",
        Condition::Provides(_) => "domain",
        Condition::HasSpeed(_)
        | Condition::TaskRequires(_)
        | Condition::MachineRequires(_)
        | Condition::HasNotFailedIt
        | Condition::EvaluatesSoon(_)
        | Condition::OwnerLeavesSome
        | Condition::IsOpen => "ad",
    }
}
