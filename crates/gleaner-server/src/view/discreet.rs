//! What is shown to everyone of an owner's rules: that there are such, and not the names in them.
//!
//! Whom a machine takes (`users`, `labels`, `signed_by`) is a part of its requirements. Users and keys are named there by texts in
//! quotes, and administrators alone see these. Nor does anyone else see what owners wrote in comments.

use gleaner_core::{Condition, Explanation, Remedy};
use gleaner_wire::api::MachineList;

/// How a machine says whom it takes; names of attributes are the same in any case.
const REQUIREMENTS: &str = "requirements";
/// What stands for a text.
const HIDDEN: char = '…';
/// What opens and closes texts, names of attributes and comments, as the language's lexer has it.
const ENCLOSED: [(&str, &str); 4] = [("\"", "\""), ("'", "'"), ("/*", "*/"), ("//", "\n")];

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

/// An expression with nothing left of the texts and comments in it. Names of attributes may stand in single quotes.
fn without_texts(expression: &str) -> String {
    let (mut shown, mut rest) = (String::new(), expression);
    while let Some(at) = rest.find(['"', '\'', '/']) {
        let (before, from) = rest.split_at(at);
        shown.push_str(before);
        let Some((open, close)) = ENCLOSED.into_iter().find(|(open, _)| from.starts_with(*open)) else {
            // A division.
            shown.push('/');
            rest = &from[1..];
            continue;
        };
        shown.push_str(open);
        let Some((inside, behind)) = split(&from[open.len()..], close) else { return shown };
        if open == "'" {
            shown.push_str(inside);
        } else {
            shown.push(HIDDEN);
        }
        shown.push_str(close);
        rest = behind;
    }
    shown + rest
}

/// What is in front of a closing mark, and what is behind it. In quotes a backslash takes the meaning from what follows it.
fn split<'t>(text: &'t str, close: &str) -> Option<(&'t str, &'t str)> {
    let length = match close {
        "\"" | "'" => {
            let mut is_escaped = false;
            text.find(|letter: char| {
                let is_end = close.starts_with(letter) && !is_escaped;
                is_escaped = letter == '\\' && !is_escaped;
                is_end
            })
        }
        _ => text.find(close),
    }?;
    Some((&text[..length], &text[length + close.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_classad::Expr;

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
            ("TARGET.'a", "TARGET.'"),
            (
                r#"(/* the owner's wish */ true) && member(TARGET.Owner, {"ann"})"#,
                r#"(/*…*/ true) && member(TARGET.Owner, {"…"})"#,
            ),
            (
                r#"4 / 2 > 1 /* a " */ && "b" != "/*" && "c" != "*/""#,
                r#"4 / 2 > 1 /*…*/ && "…" != "…" && "…" != "…""#,
            ),
            ("MY.A // not \"ann\"\n || \"bob\" == 'x//y'", "MY.A //…\n || \"…\" == 'x//y'"),
            (r#"true // for "ann""#, "true //"),
            (r"1/*\*/+2", "1/*…*/+2"),
        ] {
            let shown = without_texts(expression);
            assert_eq!(shown, expected);
            // The language has the same texts there.
            let again = |text: &str| Expr::parse(text).map(|parsed| without_texts(&parsed.to_string())).ok();
            assert_eq!(again(&shown), again(expression), "{expression}");
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
