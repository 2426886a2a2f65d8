//! From a scenario's plain data to a setup and a policy.

use crate::setup::{LoadChange, Setup, Tasks};
use gleaner_core::{GridConfig, MachineClass, Migration, TaskClass};
use gleaner_policy::{Recipe, Relocate, Score, When};
use gleaner_units::{MachineClassId, MachineId, TaskClassId};
use gleaner_workload::{Ids, InputError, RelocateScore, RelocateSettings, Scenario, Sharing, TaskTable};

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
}

impl Experiment {
    /// Refuses what this simulator has no model for, at the key that asks for it.
    pub fn of(scenario: Scenario) -> Result<Self, InputError> {
        let recipe = recipe(&scenario)?;
        if scenario.sharing == Sharing::Exclusive {
            let expected = "\"time\": this version simulates time-shared machines";
            return Err(InputError::at_key(&scenario, "grid.sharing", "\"exclusive\"", expected));
        }
        let network = scenario.dimensions.iter().position(|name| name == "net").unwrap_or(0);
        let migration =
            Migration { seconds: scenario.migration.seconds, volume: scenario.migration.bytes, network };
        let machines = &scenario.machines;
        let setup = Setup {
            config: GridConfig { weights: scenario.weights.clone(), migration },
            machine_classes: machines.kinds().iter().map(machine_class).collect(),
            machines: machines.rows().iter().map(|row| MachineClassId::new(row.kind as usize)).collect(),
            task_classes: scenario.tasks.kinds().iter().map(task_class).collect(),
            tasks: tasks(&scenario.tasks),
            loads: scenario
                .loads
                .iter()
                .map(|row| LoadChange {
                    time: row.time,
                    machine: MachineId::new(row.machine),
                    load: row.load,
                })
                .collect(),
        };
        Ok(Self {
            setup,
            recipe,
            policy: scenario.policy.preset,
            seed: scenario.seed,
            machine_names: scenario.machines.rows().iter().map(|row| row.id.clone()).collect(),
            task_names: scenario.tasks.ids().clone(),
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

fn machine_class(kind: &gleaner_workload::MachineKind) -> MachineClass {
    MachineClass { speeds: kind.speeds.clone(), cores: kind.cores, provides: kind.provides.clone(), ad: None }
}

fn task_class(kind: &gleaner_workload::TaskKind) -> TaskClass {
    TaskClass { composition: kind.composition.clone(), requires: kind.domain.clone(), ad: None }
}

fn tasks(table: &TaskTable) -> Tasks {
    Tasks {
        arrivals: table.arrivals().to_vec(),
        lengths: table.lengths().to_vec(),
        classes: table.kind_numbers().iter().map(|&kind| TaskClassId::new(kind as usize)).collect(),
    }
}
