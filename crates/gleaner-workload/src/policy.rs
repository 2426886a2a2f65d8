//! A policy by itself: the `[policy]` section of a file, or what stands for one, with keys laid over it.

use crate::document::{self, Node, Value};
use crate::error::Place;
use crate::scenario::SECTIONS;
use crate::section::Section;
use crate::{InputError, settings};
use gleaner_policy::{PolicyError, Tree};
use std::path::Path;

/// Where a policy is written.
#[derive(Clone, Copy, Debug)]
pub enum PolicySource<'a> {
    /// In the `[policy]` section of this file, which may be a whole scenario.
    File(&'a Path),
    /// In a text like such a file, which an error calls `what`.
    Text {
        /// As it is called.
        what: &'a str,
        /// The text.
        toml: &'a str,
    },
    /// A preset's name, and no more.
    Preset(&'a str),
}

/// What `read` makes of the policy that is written there. Each of the `overrides` is `key=value`, as
/// `relocate.gain_min=0.05`, and is laid over it first.
pub fn read_policy<T>(
    source: PolicySource<'_>,
    overrides: &[String],
    read: impl Fn(Tree) -> Result<T, PolicyError>,
) -> Result<T, InputError> {
    let mut document = match source {
        PolicySource::File(path) => document::read(path, &[])?,
        PolicySource::Text { what, toml } => document::parse(toml, &Place::whole(what))?,
        PolicySource::Preset(name) => preset(name),
    };
    for argument in overrides {
        document::lay_over(&mut document, &["policy"], argument)?;
    }
    settings::policy(&Section::root(&document, &SECTIONS)?, read)
}

fn preset(name: &str) -> Node {
    let node = |value| Node { place: Place::whole("policy"), value };
    let policy = vec![("preset".to_owned(), node(Value::Text(name.to_owned())))];
    node(Value::Table(vec![("policy".to_owned(), node(Value::Table(policy)))]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_policy::{PolicySpec, Preset};

    fn read(source: PolicySource<'_>, overrides: &[&str]) -> Result<PolicySpec, String> {
        let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
        read_policy(source, &overrides, PolicySpec::read).map_err(|error| error.to_string())
    }

    #[test]
    fn what_a_policy_is_printed_as_is_read_again_unchanged() {
        let moving = ["relocate={ score = \"min-num\", gain_min = 0.05, period_s = 7.5 }", "choose=best"];
        let others = [read(PolicySource::Preset("bertasi/social"), &moving).expect("a policy")];
        for spec in Preset::all().iter().map(PolicySpec::example).chain(others) {
            let toml = spec.toml();
            let again = read(PolicySource::Text { what: "printed", toml: &toml }, &[]).expect(&toml);
            assert_eq!(again, spec, "{toml}");
            assert_eq!(again.toml(), toml);
        }
    }

    #[test]
    fn a_table_that_a_policy_went_without_is_set_key_by_key() {
        let greedy = |overrides: &[&str]| read(PolicySource::Preset("bertasi/greedy"), overrides);
        let whole = greedy(&["budget={ recharge = 1000, period_s = 60, rule = \"b\" }"]);
        let each = ["budget=none", "budget.recharge=1000", "budget.period_s=60", "budget.rule=b"];
        assert_eq!(greedy(&each), whole);
        assert!(whole.is_ok(), "{whole:?}");
    }

    #[test]
    fn a_mistake_is_told_where_it_was_made() {
        let error = read(PolicySource::Preset("bertasi/gredy"), &[]).expect_err("no such policy");
        assert!(
            error.starts_with("policy: policy.preset: found \"bertasi/gredy\"; expected one of"),
            "{error}"
        );
        assert!(error.ends_with("did you mean bertasi/greedy? (`gleaner policy list` shows all)"), "{error}");
        let error =
            read(PolicySource::Preset("bertasi/greedy"), &["relocate.gain=1"]).expect_err("no such key");
        assert!(
            error.starts_with("--set relocate.gain=1: policy.relocate.gain: found an unknown key"),
            "{error}"
        );
        let toml = "[grid]\nmachines = \"m\"\n[policy]\npreset = \"bertasi/greedy\"\naging = 2\n";
        let error = read(PolicySource::Text { what: "lab.toml", toml }, &[]).expect_err("no batches");
        assert!(error.starts_with("lab.toml:5: policy.aging: found 2; expected no such key"), "{error}");
    }
}
