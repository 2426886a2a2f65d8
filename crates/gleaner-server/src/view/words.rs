//! The steps of tasks' lives in words.

use crate::journal::Fact;
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
            by_agent(&find_end(fact).map_or_else(String::new, |end| ended(fact, end, verdict)))
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
        Step::Rerun => by_user("to run again from its beginning"),
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

fn wished(wish: Wish) -> &'static str {
    match wish {
        Wish::Cancel => "cancelled",
        Wish::Hold => "held",
    }
}

fn ended(fact: &Fact, end: &End, verdict: Verdict) -> String {
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
    if matches!(fact, Fact::RunEnded { answer: Some(judged), .. } if judged.likeness.is_some()) {
        told.push_str("; it compared two answers that other machines gave");
    }
    match verdict {
        Verdict::GivenUp => told.push_str("; too many runs in a row came to nothing"),
        Verdict::Compared => told.push_str("; its answer is kept until other machines gave theirs"),
        Verdict::Disputed => told.push_str("; as many machines were asked as may be, and too few agree"),
        Verdict::Done | Verdict::Failed | Verdict::Judges | Verdict::Again | Verdict::AgainAfter(_) => {}
    }
    told
}
