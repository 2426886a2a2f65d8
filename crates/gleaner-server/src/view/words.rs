//! The steps of tasks' lives in words.

use crate::journal::{Fact, Judged};
use crate::ledger::{Loss, Step, Told, Verdict, Wish};
use gleaner_units::MachineId;
use gleaner_wire::api::Actor;
use gleaner_wire::session::{End, Outcome, Usage};

/// What a step was, and who is behind it. The fact is the one that it is told of.
pub(crate) fn words(told: &Told, fact: &Fact, name: impl Fn(MachineId) -> String) -> (String, Actor) {
    let machine = || told.run.map_or_else(String::new, |(_, on)| name(on));
    let agent = || told.run.map_or(Actor::Coordinator, |(_, on)| Actor::Agent(name(on)));
    let by_agent = |cause: &str| (cause.to_owned(), agent());
    let by_user = |cause: &str| (cause.to_owned(), who(fact));
    let coordinator = |cause: &str| (cause.to_owned(), Actor::Coordinator);
    match told.step {
        Step::Submitted => by_user("submitted"),
        Step::Placed => coordinator("placed by the policy"),
        Step::Moves { to } => coordinator(&format!("the policy moves it from {} to {}", machine(), name(to))),
        Step::Copied => coordinator(&format!("the policy runs it on {} too", machine())),
        Step::TakenBack => coordinator(&format!("asked back from {}, unless it has begun there", machine())),
        Step::Started => by_agent("its program started"),
        Step::Ended(verdict) => {
            let told = |end| ended(end, verdict, find_judged(fact));
            by_agent(&find_end(fact).map_or_else(String::new, told))
        }
        Step::Wasted => {
            let seconds = find_end(fact).map_or(0.0, |end| end.usage.elapsed_s);
            let cause = "stopped, since another run of it came to its end first";
            by_agent(&format!("{cause}; {seconds:.1} s of work were for nothing"))
        }
        Step::Refused => {
            let number = told.run.map_or(0, |(run, _)| run.number);
            by_agent(&format!("a late result of run {number} was refused"))
        }
        Step::Lost(Loss::Silence) => {
            coordinator(&format!("{} was not heard of until its lease ended", machine()))
        }
        Step::Lost(Loss::Restart) => by_agent("its machine's agent was started afresh"),
        Step::TargetLost => {
            coordinator("the machine that it was to go to was not heard of until its lease ended")
        }
        Step::OwnerCame => match fact {
            Fact::OwnerLoadReported { why, .. } if !why.is_empty() => by_agent(why),
            _ => by_agent("the owner's use of the machine changed"),
        },
        Step::ToBe(wish) => by_user(&format!("to be {}; its run is being stopped", wished(wish))),
        Step::Is(wish) => by_user(wished(wish)),
        Step::NotToBeHeld => by_user("not to be held after all"),
        Step::Released => by_user("released"),
        Step::Rested => coordinator("to be tried again"),
        Step::Awaited => by_agent(
            "the machine of its last run is back: what it brings is heard before another gets the task",
        ),
        Step::Rerun => match who(fact) {
            Actor::Coordinator => coordinator(
                "to run again from its beginning: its machine, which alone had answered it, was outvoted on another task",
            ),
            by => ("to run again from its beginning".to_owned(), by),
        },
    }
}

/// By whose order.
fn who(fact: &Fact) -> Actor {
    match fact {
        Fact::JobSubmitted { user, .. } => Actor::User(user.clone()),
        Fact::TasksCancelled(chosen)
        | Fact::TasksHeld(chosen)
        | Fact::TasksReleased(chosen)
        | Fact::TasksRerun(chosen) => chosen.by.clone(),
        _ => Actor::Coordinator,
    }
}

pub(super) fn find_end(fact: &Fact) -> Option<&End> {
    match fact {
        Fact::RunEnded { end, .. } | Fact::ResultRefused { end, .. } => Some(end),
        _ => None,
    }
}

fn find_judged(fact: &Fact) -> Option<&Judged> {
    match fact {
        Fact::RunEnded { answer, .. } => answer.as_deref(),
        _ => None,
    }
}

fn wished(wish: Wish) -> &'static str {
    match wish {
        Wish::Cancel => "cancelled",
        Wish::Hold => "held",
    }
}

fn ended(end: &End, verdict: Verdict, judged: Option<&Judged>) -> String {
    let never_began = end.outcome == Outcome::Stopped && end.usage == Usage::default();
    let mut told =
        if never_began { "it was given back before it began".to_owned() } else { end.outcome.to_string() };
    if end.checkpoint.is_some() {
        told.push_str("; its checkpoint is stored");
    }
    for note in &end.notes {
        told.push_str("; ");
        told.push_str(note);
    }
    if judged.is_some_and(|judged| judged.likeness.is_some()) {
        told.push_str("; it compared two answers that other machines gave");
    }
    match verdict {
        Verdict::GivenUp => told.push_str("; too many runs in a row came to nothing"),
        Verdict::Compared => told.push_str("; its answer is kept until other machines gave theirs"),
        // What the task came to is known: it is that its answers cannot be compared.
        Verdict::Disputed if judged.is_some_and(|judged| judged.result.is_some()) => told.push_str(
            "; it could not compare two answers that other machines gave, and as many machines as have to agree could not",
        ),
        Verdict::Disputed => told.push_str("; as many machines were asked as may be, and too few agree"),
        Verdict::Done | Verdict::Failed | Verdict::Judges | Verdict::Again | Verdict::AgainAfter(_) => {}
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Chosen;
    use crate::store::TaskRange;
    use gleaner_units::TaskId;
    use gleaner_wire::JobId;
    use gleaner_wire::api::TaskPhase;

    /// Nobody asked for it.
    #[test]
    fn why_the_coordinator_has_a_task_run_again_is_told() {
        let tasks = TaskRange::one(TaskId::new(0));
        let told = Told { tasks, step: Step::Rerun, phase: TaskPhase::Waiting, run: None };
        let cause = |by| {
            let fact = Fact::TasksRerun(Chosen { job: JobId(1), tasks: vec![tasks], by });
            words(&told, &fact, |_| String::new()).0
        };
        assert_eq!(cause(Actor::User("ada".to_owned())), "to run again from its beginning");
        assert!(cause(Actor::Coordinator).contains("was outvoted on another task"));
    }
}
