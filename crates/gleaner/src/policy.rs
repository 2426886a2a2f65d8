//! `gleaner policy`: the presets, and the one that a grid goes by.

use crate::cli::PolicyArguments;
use crate::failure::Failure;
use crate::grid::Grid;
use crate::{Outcome, stdout};
use gleaner_policy::{PRESETS, Preset, Recipe, Spending, UnknownName, When};
use gleaner_wire::api::PolicyView;
use serde_json::{Value, json};

pub(crate) fn run(arguments: &PolicyArguments) -> Outcome {
    match arguments {
        PolicyArguments::List { json: true } => {
            let policies: Vec<Value> = PRESETS.iter().map(|preset| document(preset.name, preset)).collect();
            stdout::print_json(&json!({ "version": 1, "policies": policies }))
        }
        PolicyArguments::List { json: false } => stdout::print(list()),
        PolicyArguments::Show { name, json: true } => {
            let mut document = document(name, &find(name)?);
            document["version"] = json!(1);
            stdout::print_json(&document)
        }
        PolicyArguments::Show { name, json: false } => stdout::print(describe(name, &find(name)?)),
        PolicyArguments::Current(arguments) => {
            tell(&Grid::open(&arguments.grid)?.policy()?, arguments.grid.json)
        }
        PolicyArguments::Set(arguments) => {
            find(&arguments.preset)?;
            let policy = Grid::open(&arguments.grid)?.set_policy(&arguments.spec())?;
            tell(&policy, arguments.grid.json)
        }
    }
}

fn tell(policy: &PolicyView, json: bool) -> Outcome {
    if json { stdout::print_json(policy) } else { stdout::print(format!("{}\n", policy.text)) }
}

fn find(name: &str) -> Result<Preset, Failure> {
    let unknown = |error: UnknownName| Failure::Usage(error.to_string());
    Recipe::preset(name).map_err(unknown)?;
    Ok(Preset::named(name).expect("a preset that has a recipe"))
}

fn document(name: &str, preset: &Preset) -> Value {
    let Preset { summary, description, .. } = preset;
    json!({ "name": name, "summary": summary, "description": description })
}

fn list() -> String {
    let width = PRESETS.iter().map(|preset| preset.name.len()).max().unwrap_or(0);
    PRESETS.iter().map(|Preset { name, summary, .. }| format!("{name:width$}  {summary}\n")).collect()
}

/// By the name that was asked for, which may say more than the preset's own.
fn describe(name: &str, preset: &Preset) -> String {
    let Preset { summary, description, recipe, .. } = preset;
    if let Recipe::Batch(batching) = recipe {
        let budget = match recipe.spending() {
            Spending::Free => "",
            _ => "budget = { recharge = 1000000, period_s = 120 }   # every machine then has a price\n\x20 ",
        };
        let set = if budget.is_empty() { "" } else { "\x20 gleaner budget set 1000000 --period 2min\n" };
        let aging = match batching.when {
            When::AtEvents => "",
            When::Every(_) => "aging    = 0   # so many of the oldest tasks come first\n",
        };
        let live = format!("{set}\x20 gleaner policy set {name}\n");
        return format!(
            "{name} — {summary}\n\n{description}\n\n\
             It needs declared lengths (`gleaner submit --length`), and machines that run one task a core.\n\
             On a live grid:\n\n\
             {live}\n\
             In the simulator:\n\n\
             \x20 [grid]\n\
             \x20 sharing  = \"exclusive\"\n\n\
             \x20 [policy]\n\
             \x20 preset   = \"{name}\"\n\
             \x20 {budget}{aging}"
        );
    }
    format!(
        "{name} — {summary}\n\n{description}\n\n\
         Running tasks stay where they are unless the scenario says otherwise:\n\n\
         \x20 [policy]\n\
         \x20 preset   = \"{name}\"\n\
         \x20 relocate = {{ score = \"greedy\", moves_max = 3, gain_min = 0.10 }}\n"
    )
}
