//! The samples as CSV, a line a run, for whoever wants to analyse them again.

use super::figure_2;
use super::permutations::{Samples, VARIED, Variations};
use super::scheme::name;
use crate::{Run, Trials};
use gleaner_policy::{Choice as _, Recipe, Score};
use std::fmt::{self, Write};

/// Runs under recipes; `case` names a case, if there are several.
fn recipes(trials: &Trials<Recipe>, case: impl Fn(usize) -> usize, into: &mut String) {
    for at in 0..trials.cases() {
        for seed in 0..trials.seeds() {
            for recipe in trials.rules() {
                let run = trials.run(*recipe, at, seed);
                let (bound, case) = (trials.bound_s(at, seed), case(at));
                put(into, format_args!("{},{case},{},{}\n", parts(*recipe), seed + 1, numbers(run, bound)));
            }
        }
    }
}

fn parts(recipe: Recipe) -> String {
    let Some(rule) = recipe.relocate else { return format!("{},none,,,,", recipe.goal.name()) };
    let (gain, difference) = if rule.score.counts_tasks() {
        (String::new(), rule.difference_min.to_string())
    } else {
        (rule.gain_min.to_string(), String::new())
    };
    let period = rule.when.period().map_or(String::new(), |period| period.seconds().to_string());
    let [place, relocate] = [recipe.goal.name(), rule.score.name().into()];
    format!("{place},{relocate},{},{gain},{difference},{period}", rule.moves_max)
}

fn numbers(run: Run, bound_s: f64) -> String {
    format!("{:.9},{bound_s:.9},{}", run.makespan_s, run.moves)
}

fn put(text: &mut String, line: fmt::Arguments<'_>) {
    text.write_fmt(line).expect("a string takes what it is given");
}

const PARTS: &str = "allocator,relocator,moves_max,gain_min,difference_min,period_s";
const NUMBERS: &str = "seed,makespan_s,lower_bound_s,moves";

/// Figure 1's runs.
pub(super) fn figure_1(samples: &Trials<Recipe>) -> String {
    let mut lines = format!("{PARTS},job_set,{NUMBERS}\n");
    recipes(samples, |_| 0, &mut lines);
    lines
}

/// Figure 2's runs and what was counted in them.
pub(super) fn figure_2(samples: &figure_2::Samples) -> String {
    let mut lines = format!(
        "scheme,{NUMBERS},left_s3,growth_s0,growth_s1,growth_s2,growth_together,c4_on_s3,s1_s2_apart\n"
    );
    for (seed, sample) in samples.seeds.iter().enumerate() {
        for (score, measures) in Score::ALL.iter().zip(&sample.measures) {
            let [s0, s1, s2] = measures.growth;
            let counted = format!(
                "{:.6},{s0},{s1},{s2},{},{:.6},{:.6}",
                measures.left_s3, measures.growth_together, measures.data_on_s3, measures.twins_apart
            );
            let numbers = numbers(measures.run, sample.bound_s);
            put(&mut lines, format_args!("{},{},{numbers},{counted}\n", name(*score), seed + 1));
        }
    }
    lines
}

/// Figure 3's or figure 4's runs.
pub(super) fn permutations(samples: &Samples) -> String {
    let mut lines = format!("allocator,relocator,permutation,{NUMBERS}\n");
    for case in 0..samples.cases() {
        for seed in 0..samples.seeds() {
            for scheme in samples.rules() {
                let relocator = scheme.relocator.map_or("none", Score::name);
                let numbers = numbers(samples.run(*scheme, case, seed), samples.bound_s(case, seed));
                let scheme = format!("{},{relocator}", scheme.allocator.name());
                put(&mut lines, format_args!("{scheme},{},{},{numbers}\n", case + 1, seed + 1));
            }
        }
    }
    lines
}

/// What else was tried: with figure 3's owners, that is none, and with figure 4's.
pub(super) fn variations(variations: &Variations) -> [String; 2] {
    [&variations.away, &variations.with_owners].map(|trials| {
        let mut lines = format!("{PARTS},permutation,{NUMBERS}\n");
        recipes(trials, |case| VARIED[case] + 1, &mut lines);
        lines
    })
}
