//! From a scenario's plain data to a setup and a policy.

use crate::setup::{LoadChange, Setup, Tasks};
use gleaner_classad::ClassAd;
use gleaner_core::explain::words;
use gleaner_core::{Ad, Explanation, GridConfig, MachineClass, Migration, Needs, Room, Seen, TaskClass};
use gleaner_policy::{Recipe, Relocate, Score, When};
use gleaner_units::{MachineClassId, MachineId, TaskClassId};
use gleaner_workload::{Ids, InputError, LoadRow, RelocateScore, RelocateSettings, Scenario, Sharing};
use serde::Serialize;
use std::collections::BTreeMap;

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
    /// Machines, as the file calls them.
    pub machine_names: Vec<String>,
    /// Tasks, as the file calls them.
    pub task_names: Ids,
    /// Kinds of operations, as the scenario calls them.
    pub dimensions: Vec<String>,
}

impl Experiment {
    /// Refuses what this simulator has no model for, at the key that asks for it.
    pub fn of(scenario: Scenario) -> Result<Self, InputError> {
        let recipe = recipe(&scenario)?;
        let network = scenario.dimensions.iter().position(|name| name == "net").unwrap_or(0);
        let migration =
            Migration { seconds: scenario.migration.seconds, volume: scenario.migration.bytes, network };
        let config = GridConfig { weights: scenario.weights.clone(), migration };
        let setup = setup(&scenario, config);
        check_runnable(&scenario, &setup)?;
        Ok(Self {
            setup,
            recipe,
            policy: scenario.policy.preset,
            seed: scenario.seed,
            machine_names: scenario.machines.rows().iter().map(|row| row.id.clone()).collect(),
            task_names: scenario.tasks.ids().clone(),
            dimensions: scenario.dimensions,
        })
    }
}

fn recipe(scenario: &Scenario) -> Result<Recipe, InputError> {
    let settings = &scenario.policy;
    let preset = Recipe::preset(&settings.preset).map_err(|unknown| {
        let found = format!("\"{}\"", settings.preset);
        InputError::at_key(scenario, "policy.preset", found, format!("one of {}", unknown.known.join(", ")))
    })?;
    if let Some(budget) = &settings.budget {
        let expected = "no budget: this version has no policy that keeps one";
        return Err(InputError::at_key(scenario, "policy.budget", format!("\"{}\"", budget.rule), expected));
    }
    Ok(Recipe { relocate: settings.relocate.as_ref().map(relocate), ..preset })
}

fn relocate(settings: &RelocateSettings) -> Relocate {
    Relocate {
        score: match settings.score {
            RelocateScore::Greedy => Score::Greedy,
            RelocateScore::Social => Score::Social,
            RelocateScore::SocialAsPrinted => Score::SocialAsPrinted,
            RelocateScore::MinNum => Score::MinNum,
        },
        moves_max: settings.moves_max,
        gain_min: settings.gain_min,
        difference_min: settings.difference_min,
        when: settings.period.map_or(When::AtEvents, When::Every),
    }
}

/// Classes are kinds less what nobody looks at in their ads.
fn setup(scenario: &Scenario, config: GridConfig) -> Setup {
    let (machines, tasks) = (&scenario.machines, &scenario.tasks);
    let machine_ads = machines.kinds().iter().filter_map(|kind| kind.ad.as_ref());
    let task_ads = tasks.kinds().iter().filter_map(|kind| kind.ad.as_ref());
    let seen = Seen::in_ads(&machine_ads.chain(task_ads).collect::<Vec<_>>());
    let ad = |ad: &Option<ClassAd>| ad.as_ref().and_then(|ad| seen.part_of(ad)).map(Ad::from);
    let machine_classes = Merged::of(machines.kinds(), |kind| MachineClass {
        speeds: kind.speeds.clone(),
        cores: kind.cores,
        room: room(scenario.sharing, kind.cores),
        provides: kind.provides.clone(),
        ad: ad(&kind.ad),
    });
    let task_classes = Merged::of(tasks.kinds(), |kind| TaskClass {
        composition: kind.composition.clone(),
        needs: Needs::default(),
        priority: 0,
        restarts: false,
        requires: kind.domain.clone(),
        ad: ad(&kind.ad),
    });
    let kinds = machines.rows().iter().map(|row| row.kind as usize);
    Setup {
        config,
        machines: kinds.map(|kind| MachineClassId::new(machine_classes.of_kind[kind])).collect(),
        tasks: Tasks {
            arrivals: tasks.arrivals().to_vec(),
            lengths: tasks.lengths().to_vec(),
            classes: tasks
                .kind_numbers()
                .iter()
                .map(|&kind| TaskClassId::new(task_classes.of_kind[kind as usize]))
                .collect(),
        },
        machine_classes: machine_classes.classes,
        task_classes: task_classes.classes,
        loads: scenario.loads.iter().map(load_change).collect(),
    }
}

/// An exclusive core has one task at a time; tasks that find none wait.
fn room(sharing: Sharing, cores: u32) -> Room {
    match sharing {
        Sharing::Time => Room::default(),
        Sharing::Exclusive => Room { slots: Some(cores), ..Room::default() },
    }
}

fn load_change(row: &LoadRow) -> LoadChange {
    LoadChange { time: row.time, machine: MachineId::new(row.machine), load: row.load }
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

/// A task that no machine could ever take is bad input; the reader saw to all but the ads.
fn check_runnable(scenario: &Scenario, setup: &Setup) -> Result<(), InputError> {
    let grid = setup.idle_grid();
    let runs = |class| grid.classes().seconds_per_op_row(class).iter().any(|seconds| seconds.is_finite());
    let stuck = (0..setup.task_classes.len()).map(TaskClassId::new).find(|&class| !runs(class));
    let Some(class) = stuck else { return Ok(()) };
    let task = setup.tasks.classes.iter().position(|&other| other == class).expect("every class has a task");
    let kind = scenario.tasks.kind_numbers()[task] as usize;
    let why = words::sentence(&Explanation::of(&grid, class), &scenario.dimensions);
    let found = format!("{}, which no machine could ever run: {why}", scenario.tasks.id(task));
    Err(scenario.tasks.error_at_kind(kind, "ad", found, "a task that some machine could run"))
}
