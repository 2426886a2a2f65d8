//! `gleaner policy`: the presets, and the one that a grid goes by.

use crate::api::Api;
use crate::cli::{PolicyArguments, PolicySetArguments, WordsArguments};
use crate::columns::{Side, with_sentence, with_sentences};
use crate::failure::Failure;
use crate::{Outcome, stdout};
use gleaner_policy::recipe::{PartView, choices};
use gleaner_policy::{Input, PolicyError, PolicySpec, Preset, Tree, as_set};
use gleaner_wire::api::{PolicyKeys, PolicyView};
use gleaner_workload::{PolicySource, read_policy};
use serde_json::{Value, json};

/// Of a line of a comment.
const WIDTH: usize = 100;

pub(crate) fn run(arguments: &PolicyArguments) -> Outcome {
    match arguments {
        PolicyArguments::List { json: true } => {
            let policies: Vec<Value> = Preset::all().iter().map(document).collect();
            stdout::print_json(&json!({ "version": 1, "policies": policies }))
        }
        PolicyArguments::List { json: false } => stdout::print(list()),
        PolicyArguments::Keys { json: true } => {
            stdout::print_json(&json!({ "version": 1, "keys": choices() }))
        }
        PolicyArguments::Keys { json: false } => stdout::print(keys()),
        PolicyArguments::Show { name, json } => show(name, *json),
        PolicyArguments::Current(arguments) => {
            tell(&Api::open(&arguments.grid)?.policy()?, arguments.grid.json)
        }
        PolicyArguments::Set(arguments) => set(arguments),
    }
}

fn show(name: &str, json: bool) -> Outcome {
    let spec = read(PolicySource::Preset(name), &[], |tree| {
        PolicySpec::check_anywhere(&tree)?;
        Ok(Preset::named(name).expect("a preset that was just read"))
    });
    let preset = spec?;
    if json {
        let mut document = document(&preset);
        document["version"] = json!(1);
        return stdout::print_json(&document);
    }
    let spec = PolicySpec::example(&preset);
    let Preset { name, summary, description, .. } = &preset;
    stdout::print(format!(
        "{}#\n{}",
        comment("", &format!("{name}: {summary}. {description}")),
        explained(&spec)
    ))
}

fn set(arguments: &PolicySetArguments) -> Outcome {
    let PolicySetArguments { preset, words: WordsArguments { from, overrides }, grid } = arguments;
    let checked = |tree: Tree| PolicySpec::check_anywhere(&tree).map(|()| tree);
    let written = source(preset.as_deref(), from.as_deref());
    // A mistake in it needs no coordinator to be found.
    let written = written.map(|source| read(source, overrides, checked)).transpose()?;
    let api = Api::open(grid)?;
    let before = api.policy()?;
    let tree = if let Some(tree) = written {
        tree
    } else {
        let toml = in_force(&before)?.toml();
        read(PolicySource::Text { what: "the policy in force", toml: &toml }, overrides, checked)?
    };
    let after = api.set_policy(&PolicyKeys(tree))?;
    if grid.json {
        let mut document = json!(after);
        document["before"] = json!(before.policy);
        return stdout::print_json(&document);
    }
    tell(&after, false)?;
    anstream::eprint!("{}", way_back(&before.policy.0, &after.policy.0));
    Ok(())
}

/// What was said in the policy before and is not in force any more, and how to have all of it again.
pub(crate) fn way_back(before: &Tree, after: &Tree) -> String {
    if before == after {
        return String::new();
    }
    let gone = before.iter().filter(|(key, _)| *key != "preset" && !after.contains_key(*key));
    let gone: Vec<String> = gone.flat_map(|(key, value)| as_set(key, value)).collect();
    let mut text =
        if gone.is_empty() { String::new() } else { format!("no longer in force: {}\n", gone.join(", ")) };
    if let Some(preset) = before.get("preset").and_then(Value::as_str) {
        let said = before.iter().filter(|(key, _)| *key != "preset");
        let said = said.flat_map(|(key, value)| as_set(key, value)).map(|set| format!(" --set {set}"));
        text += &format!("to go back: gleaner policy set {preset}{}\n", said.collect::<String>());
    }
    text
}

/// Where a policy is written, if it is.
pub(crate) fn source<'a>(
    preset: Option<&'a str>,
    from: Option<&'a std::path::Path>,
) -> Option<PolicySource<'a>> {
    from.map(PolicySource::File).or(preset.map(PolicySource::Preset))
}

fn read<T>(
    source: PolicySource<'_>,
    overrides: &[String],
    read: impl Fn(Tree) -> Result<T, PolicyError>,
) -> Result<T, Failure> {
    Ok(read_policy(source, overrides, read)?)
}

/// What a coordinator of this version goes by can be read here too, also what would be refused if it were set now.
fn in_force(view: &PolicyView) -> Result<PolicySpec, Failure> {
    PolicySpec::read(view.policy.0.clone()).map_err(|error| {
        Failure::NoGrid(format!("the coordinator goes by a policy that this program does not know: {error}"))
    })
}

fn tell(view: &PolicyView, json: bool) -> Outcome {
    if json { stdout::print_json(view) } else { stdout::print(explained(&in_force(view)?)) }
}

/// Whether a live grid can go by it.
fn runs_live(preset: &Preset) -> bool {
    PolicySpec::example(preset).check_live().is_ok()
}

fn document(preset: &Preset) -> Value {
    let Preset { name, summary, description, recipe, .. } = preset;
    let reads: Vec<&str> = recipe.reads().into_iter().map(Input::name).collect();
    let policy = PolicySpec::example(preset);
    json!({
        "name": name,
        "summary": summary,
        "description": description,
        "parts": recipe.parts(),
        "reads": reads,
        "live": runs_live(preset),
        "policy": policy.tree(),
    })
}

fn list() -> String {
    let presets = Preset::all();
    let width = presets.iter().map(|preset| preset.name.len()).max().unwrap_or(0);
    let line = |preset: &Preset| {
        let where_ = if runs_live(preset) { "" } else { " (simulator only)" };
        with_sentence(&preset.name, width, &format!("{}{where_}", preset.summary))
    };
    presets.iter().map(line).collect()
}

/// What may be chosen, in a sentence each.
fn keys() -> String {
    let rows = choices().into_iter().map(|PartView { part, name, meaning }| {
        let sentence = meaning.split_inclusive(". ").next().unwrap_or_default().trim().to_owned();
        vec![part.to_owned(), name, sentence]
    });
    let headings = [("KEY", Side::Left), ("VALUE", Side::Left), ("", Side::Left)];
    format!(
        "{}\n\
         preset = \"NAME\" comes first: what it says in its name is not said otherwise.\n\
         relocate = {{ score, moves_max, gain_min, difference_min, period_s, mover }} moves running tasks by a score of\n\
         greedy, social, social-as-printed, social-whole or min-num. budget = {{ rule, savings, cheapest, recharge, period_s, charged,\n\
         per }} says what may be spent; an l before a rule, as lbtt, plans for classes of machines. period_s, aging and\n\
         deadline_s are numbers for batches. replicate = {{ quorum, most, trust_after, check_every }} has several machines give\n\
         the same answer.\n",
        with_sentences(&headings, &rows.collect::<Vec<_>>()),
    )
}

/// What each part does, as comments, and the policy as a scenario has it: all of it is such a file.
fn explained(spec: &PolicySpec) -> String {
    let recipe = spec.recipe();
    let parts = recipe.parts();
    let width = parts.iter().map(|part| part.part.len()).max().unwrap_or(0);
    let mut text = String::new();
    for PartView { part, name, meaning } in &parts {
        text += &comment(&format!("{part:width$}  "), &format!("{name}: {meaning}"));
    }
    let reads: Vec<&str> = recipe.reads().into_iter().map(Input::name).collect();
    text += &format!("#\n{}", comment("", &format!("It goes by {}.", reads.join(", "))));
    if recipe.plans() {
        let needs = "Machines run one task a core: in a scenario, [grid] sharing = \"exclusive\". Tasks need a declared \
                     length: on a live grid, `gleaner submit --length`.";
        text += &comment("", needs);
    }
    text + &spec.toml()
}

/// Lines of a comment, the later ones indented as far as the first one's heading.
fn comment(heading: &str, text: &str) -> String {
    let indent = " ".repeat(heading.chars().count());
    let mut lines = vec![heading.to_owned()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is one");
        if line.chars().count() + word.chars().count() > WIDTH && line.trim() != "" {
            lines.push(format!("{indent}{word} "));
        } else {
            *line += &format!("{word} ");
        }
    }
    lines.iter().map(|line| format!("# {}\n", line.trim_end())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(written: Value) -> Tree {
        serde_json::from_value(written).expect("a table")
    }

    #[test]
    fn what_only_the_simulator_has_is_marked() {
        let listed = list();
        let marked: Vec<&str> = listed.lines().filter(|line| line.ends_with("(simulator only)")).collect();
        let names: Vec<&str> = marked.iter().filter_map(|line| line.split_whitespace().next()).collect();
        assert_eq!(names, ["khoo/mrs", "khoo/rep", "khoo/backfill", "gleaner/sites"], "{listed}");
        let document = |name| document(&Preset::named(name).expect("a preset"))["live"].clone();
        assert_eq!((document("khoo/mrs"), document("queue/easy")), (json!(false), json!(true)));
    }

    #[test]
    fn a_budget_of_what_has_none_is_refused_as_that() {
        let overrides = ["budget.recharge=5".to_owned(), "budget.period_s=5".to_owned()];
        let checked = |tree: Tree| PolicySpec::check_anywhere(&tree);
        let error = read(PolicySource::Preset("khoo/mrs"), &overrides, checked).expect_err("it has none");
        let said = error.to_string();
        assert!(said.contains("expected no budget: this policy spends none"), "{said}");
    }

    #[test]
    fn what_a_new_policy_drops_is_named_and_can_be_had_again() {
        let greedy = tree(json!({
            "preset": "bertasi/greedy", "relocate": { "score": "greedy", "gain_min": 0.1 }, "ahead": "where-short"
        }));
        let easy = tree(json!({ "preset": "queue/easy" }));
        assert_eq!(
            way_back(&greedy, &easy),
            "no longer in force: ahead=where-short, relocate.gain_min=0.1, relocate.score=greedy\n\
             to go back: gleaner policy set bertasi/greedy --set ahead=where-short --set relocate.gain_min=0.1 \
             --set relocate.score=greedy\n"
        );
        assert_eq!(way_back(&easy, &greedy), "to go back: gleaner policy set queue/easy\n");
        assert_eq!(way_back(&easy, &easy), "");
        let back: Vec<&str> =
            "relocate.score=greedy relocate.gain_min=0.1 ahead=where-short".split(' ').collect();
        let back: Vec<String> = back.into_iter().map(str::to_owned).collect();
        let read = read(PolicySource::Preset("bertasi/greedy"), &back, Ok).expect("it can be read");
        assert_eq!(read, greedy);
    }
}
