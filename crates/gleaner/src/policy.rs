//! `gleaner policy list` and `gleaner policy show`.

use crate::Outcome;
use crate::cli::PolicyArguments;
use crate::failure::Failure;
use gleaner_policy::{PRESETS, Preset, Recipe};
use serde_json::{Value, json};

pub(crate) fn run(arguments: &PolicyArguments) -> Outcome {
    match arguments {
        PolicyArguments::List { json: true } => {
            println!(
                "{}",
                json!({ "version": 1, "policies": PRESETS.iter().map(document).collect::<Vec<_>>() })
            );
        }
        PolicyArguments::List { json: false } => {
            let width = PRESETS.iter().map(|preset| preset.name.len()).max().unwrap_or(0);
            for Preset { name, summary, .. } in &PRESETS {
                println!("{name:width$}  {summary}");
            }
        }
        PolicyArguments::Show { name, json } => show(find(name)?, *json),
    }
    Ok(())
}

fn find(name: &str) -> Result<&'static Preset, Failure> {
    let unknown = Recipe::preset(name).err();
    if let Some(unknown) = unknown {
        return Err(Failure::Usage(unknown.to_string()));
    }
    Ok(PRESETS.iter().find(|preset| preset.name == name).expect("a preset that has a recipe"))
}

fn document(preset: &Preset) -> Value {
    let Preset { name, summary, description, .. } = preset;
    json!({ "name": name, "summary": summary, "description": description })
}

fn show(preset: &Preset, json: bool) {
    if json {
        let mut document = document(preset);
        document["version"] = json!(1);
        println!("{document}");
        return;
    }
    println!("{} — {}\n\n{}", preset.name, preset.summary, preset.description);
    println!("\nRunning tasks stay where they are unless the scenario says otherwise:");
    println!("  [policy]\n  preset   = \"{}\"", preset.name);
    println!("  relocate = {{ score = \"greedy\", moves_max = 3, gain_min = 0.10 }}");
}
