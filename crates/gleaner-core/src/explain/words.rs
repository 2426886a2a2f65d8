//! Why a task can or cannot run, in words.

use crate::ad::STEPS_PER_EVALUATION;
use crate::size::size;
use crate::{Condition, Explanation, Remedy};

/// What machines that fail a condition are like. `dimensions` names the kinds of operations.
pub fn failing(condition: &Condition, dimensions: &[String]) -> String {
    match condition {
        Condition::Provides(word) => format!("do not provide {word}"),
        Condition::HasSpeed(kind) => format!("have no {} speed", dimensions[*kind]),
        Condition::TaskRequires(clause) => format!("fail the task's clause {}", short(clause)),
        Condition::MachineRequires(clause) => match owners_rule(clause) {
            Some(rule) => rule.takes.to_owned(),
            None => format!("have an owner whose clause {} the task fails", short(clause)),
        },
        Condition::HasNotFailedIt => {
            "failed it before, or could not start its program; others can take it".to_owned()
        }
        Condition::EvaluatesSoon(clause) => {
            let clause = short(clause);
            format!(
                "would take more than {STEPS_PER_EVALUATION} steps to evaluate the clause {clause}, or more than their share"
            )
        }
        Condition::HasCores(1) => "have no core for tasks".to_owned(),
        Condition::HasCores(cores) => format!("have fewer than {cores} cores for tasks"),
        Condition::HasMemory(bytes) => format!("have less than {} of memory for tasks", size(*bytes)),
        Condition::HasDisk(bytes) => format!("have less than {} of disk for tasks", size(*bytes)),
        Condition::OwnerLeavesSome => "are in full use by their owners".to_owned(),
        Condition::IsOpen => "take no tasks now".to_owned(),
        Condition::CoresAreFree(1) => "have no core free".to_owned(),
        Condition::CoresAreFree(cores) => format!("have fewer than {cores} cores free"),
        Condition::MemoryIsFree(bytes) => format!("have less than {} of memory free", size(*bytes)),
        Condition::DiskIsFree(bytes) => format!("have less than {} of disk free", size(*bytes)),
    }
}

/// What would have to give way, and for how many machines.
pub fn change(remedy: &Remedy, dimensions: &[String]) -> String {
    let parts = remedy.conditions.iter().zip(&remedy.instead).map(|(condition, instead)| {
        let written = match condition {
            Condition::Provides(word) => return format!("without asking for {word}"),
            Condition::HasSpeed(kind) => return format!("without {} operations", dimensions[*kind]),
            Condition::HasCores(cores) => return format!("with fewer than {cores} cores"),
            Condition::HasMemory(bytes) => return format!("with less than {} of memory", size(*bytes)),
            Condition::HasDisk(bytes) => return format!("with less than {} of disk", size(*bytes)),
            Condition::HasNotFailedIt => return "once no other machine could".to_owned(),
            Condition::OwnerLeavesSome => return "once its owner leaves some of it".to_owned(),
            Condition::IsOpen => return "once it takes tasks again".to_owned(),
            Condition::CoresAreFree(1) => return "once one of its cores is free".to_owned(),
            Condition::CoresAreFree(cores) => return format!("once {cores} of its cores are free"),
            Condition::MemoryIsFree(bytes) => return format!("once {} of its memory are free", size(*bytes)),
            Condition::DiskIsFree(bytes) => return format!("once {} of its disk are free", size(*bytes)),
            Condition::MachineRequires(clause) => match owners_rule(clause) {
                Some(rule) => return rule.instead.to_owned(),
                None => short(clause),
            },
            Condition::TaskRequires(clause) | Condition::EvaluatesSoon(clause) => short(clause),
        };
        match instead {
            Some(instead) => format!("with {instead} instead of {written}"),
            None => format!("without {written}"),
        }
    });
    let parts: Vec<String> = parts.collect();
    format!("{}, {}", parts.join(" and "), machines(remedy.machines))
}

/// The whole explanation in a sentence, for an error.
pub fn sentence(explanation: &Explanation, dimensions: &[String]) -> String {
    let all = explanation.machines;
    let ruled_out = explanation.ruled_out.iter();
    let ruled_out = ruled_out
        .filter(|ruled| ruled.told() > 0)
        .map(|ruled| format!("{} of {all} machines {}", ruled.told(), failing(&ruled.condition, dimensions)));
    let mut parts: Vec<String> = ruled_out.collect();
    let nearest = explanation.remedies.first();
    parts.extend(nearest.map(|remedy| format!("it could run {}", change(remedy, dimensions))));
    parts.join("; ")
}

/// One of the rules by which owners say whom their machines take, as agents write it.
struct OwnersRule {
    begins: &'static str,
    takes: &'static str,
    instead: &'static str,
}

const OWNERS_RULES: [OwnersRule; 3] = [
    OwnersRule {
        begins: "member(TARGET.SignedBy,",
        takes: "run only what certain users have signed",
        instead: "signed by a user whom its owner names (`gleaner submit --sign`)",
    },
    OwnersRule {
        begins: "member(TARGET.Owner,",
        takes: "run tasks of certain users only",
        instead: "once its owner lets this user in",
    },
    OwnersRule {
        begins: "member(TARGET.Label,",
        takes: "run tasks with certain labels only",
        instead: "with a label that its owner names",
    },
];

fn owners_rule(clause: &str) -> Option<&'static OwnersRule> {
    OWNERS_RULES.iter().find(|rule| clause.starts_with(rule.begins))
}

/// The beginning of a clause that is longer than anyone reads.
fn short(clause: &str) -> String {
    const SHOWN_MAX: usize = 200;
    match clause.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}…", &clause[..end]),
        None => clause.to_owned(),
    }
}

fn machines(count: usize) -> String {
    if count == 1 { "on 1 machine".to_owned() } else { format!("on {count} machines") }
}
