//! What is shown to everyone of an owner's rules: that there are such, and not the names in them.
//!
//! Whom a machine takes (`users`, `labels`, `signed_by`) is a part of its requirements. Users and keys are named there by texts in
//! quotes, and administrators alone see these.

use gleaner_core::{Condition, Explanation, Remedy};
use gleaner_wire::api::MachineList;

/// How a machine says whom it takes; names of attributes are the same in any case.
const REQUIREMENTS: &str = "requirements";
/// What stands for a text.
const HIDDEN: char = '…';

/// Leaves out of what machines require whom they name.
pub fn hide_names(list: &mut MachineList) {
    let attributes = list.machines.iter_mut().flat_map(|machine| &mut machine.profile.attributes);
    for (_, expression) in attributes.filter(|(name, _)| name.eq_ignore_ascii_case(REQUIREMENTS)) {
        *expression = without_texts(expression);
    }
}

/// A condition as any user may see it.
pub(super) fn condition(of: &Condition) -> Condition {
    match of {
        Condition::MachineRequires(clause) => Condition::MachineRequires(without_texts(clause)),
        Condition::EvaluatesSoon(clause) => Condition::EvaluatesSoon(without_texts(clause)),
        other => other.clone(),
    }
}

/// What would have to give way, likewise.
pub(super) fn remedy(of: &Remedy) -> Remedy {
    let is_machines = |condition: &Condition| matches!(condition, Condition::MachineRequires(_));
    let instead = of.conditions.iter().zip(&of.instead).map(|(condition, instead)| {
        instead.as_ref().map(|text| if is_machines(condition) { without_texts(text) } else { text.clone() })
    });
    let instead = instead.collect();
    Remedy { conditions: of.conditions.iter().map(condition).collect(), instead, machines: of.machines }
}

/// All of an explanation, likewise.
pub(super) fn explanation(mut of: Explanation) -> Explanation {
    for ruled in &mut of.ruled_out {
        ruled.condition = condition(&ruled.condition);
    }
    of.remedies = of.remedies.iter().map(remedy).collect();
    of
}

/// An expression with nothing left of the texts in it. Names of attributes may stand in single quotes.
fn without_texts(expression: &str) -> String {
    let (mut shown, mut quote, mut is_escaped) = (String::new(), None, false);
    for letter in expression.chars() {
        match quote {
            None => {
                quote = Some(letter).filter(|letter| matches!(letter, '"' | '\''));
                shown.push(letter);
            }
            Some(open) if letter == open && !is_escaped => {
                if open == '"' {
                    shown.push(HIDDEN);
                }
                shown.push(letter);
                quote = None;
            }
            Some('\'') => shown.push(letter),
            Some(_) => {}
        }
        is_escaped = quote.is_some() && letter == '\\' && !is_escaped;
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_is_left() {
        for (expression, expected) in [
            (
                r#"member(TARGET.Owner, {"ann", "b\"ob"}) && MY.Load < 2"#,
                r#"member(TARGET.Owner, {"…", "…"}) && MY.Load < 2"#,
            ),
            (
                r#"TARGET.Label == "" || TARGET.'a"b' == "c\\""#,
                r#"TARGET.Label == "…" || TARGET.'a"b' == "…""#,
            ),
            (r#"TARGET.Owner == "ann"#, r#"TARGET.Owner == ""#),
            ("TARGET.Cores > 2", "TARGET.Cores > 2"),
        ] {
            assert_eq!(without_texts(expression), expected);
        }
    }

    #[test]
    fn what_the_job_itself_asks_is_shown() {
        let asked = |text: &str| Condition::TaskRequires(text.to_owned());
        let text = r#"TARGET.Arch == "x86_64""#;
        assert_eq!(condition(&asked(text)), asked(text));
        let owned = Condition::MachineRequires(text.to_owned());
        let of =
            Remedy { conditions: vec![asked(text), owned], instead: vec![Some(text.into()); 2], machines: 1 };
        let shown = remedy(&of);
        assert!(shown.conditions[0] == of.conditions[0] && shown.instead[0] == of.instead[0]);
        assert!(!format!("{:?}{:?}", shown.conditions[1], shown.instead[1]).contains("x86"));
    }
}
