//! Which parts go together.

use super::{Goal, Recipe};
use crate::error::PolicyError;
use crate::parts::Choice as _;
use crate::parts::Input;
use crate::parts::ahead::Ahead;
use crate::parts::aim::Aim;
use crate::parts::belief::Belief;
use crate::parts::budget::{Level, Spending, rule_name};
use crate::parts::choose::Choose;
use crate::parts::favours::{Overflow, Peering, Reach};
use crate::parts::lengths::Lengths;
use crate::parts::order::TaskOrder;
use crate::parts::queue::{Backfill, Correction, Fill, Queueing};
use crate::parts::replicate::Replicate;
use crate::parts::score::Score;
use crate::parts::sites::{SiteRule, Split};
use crate::parts::staying::Staying;
use crate::parts::when::{Holding, Replan, When};

impl Recipe {
    /// Refuses parts that do not go together, with the reason.
    pub fn check(&self) -> Result<(), PolicyError> {
        self.check_replicas()?;
        self.check_holding()?;
        self.check_staying()?;
        self.check_ahead()?;
        match self.goal {
            Goal::Now(score) => self
                .check_own_machines()
                .and_then(|()| self.check_drawing(score))
                .and_then(|()| self.check_weighing(score))
                .and_then(|()| self.check_placing()),
            Goal::End(aim) => {
                self.check_best().and_then(|()| self.check_learning()).and_then(|()| self.check_planning(aim))
            }
            Goal::Start(queueing) => self.check_best().and_then(|()| self.check_queueing(queueing)),
            Goal::Rank(_) => {
                self.check_lengths().and_then(|()| self.check_placing()).and_then(|()| self.check_brokering())
            }
            Goal::Sites(rule) => {
                self.check_best().and_then(|()| self.check_lengths()).and_then(|()| self.check_sites(&rule))
            }
        }
    }

    /// Refuses what cannot go by what groups of machines know of each other: how their machines are, and not what waits.
    pub fn check_in_groups(&self) -> Result<(), PolicyError> {
        let wrong = |key, found, expected| Err(PolicyError::new(key, found, expected));
        if !matches!(self.goal, Goal::Now(_)) || self.peering.is_some() {
            let expected = "one that places each task by itself, as bertasi/greedy: a group knows how its neighbours' machines \
                            are, and not what waits there";
            return wrong("preset", "a policy that plans, queues or asks sites, in groups", expected);
        }
        if self.replicate != Replicate::ONE {
            let expected = "replicate = 1: a task is in one group's hands at a time";
            return wrong("preset", "a policy that gives a task several runs at a time, in groups", expected);
        }
        if self.ahead != Ahead::Never {
            let expected =
                "ahead = \"never\": what is behind a run could not be in another group's hands meanwhile";
            return wrong("ahead", "a policy that sends tasks ahead, in groups", expected);
        }
        Ok(())
    }

    /// Refuses what divides a task over machines, where those come and go by a trace: nothing runs in parts there.
    pub fn check_by_trace(&self) -> Result<(), PolicyError> {
        match self.site_rule() {
            Some(rule) if rule.split != Split::Whole => {
                let found = format!("\"{}\", and machines that come and go by a trace", rule.split.name());
                let expected = "\"whole\": no task runs in parts there";
                Err(PolicyError::new("sites.split", found, expected))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Plans and queues take the best.
    fn check_best(&self) -> Result<(), PolicyError> {
        if self.choose != Choose::Best {
            let expected = format!("best: {} plans for ends", self.goal.name());
            return Err(PolicyError::new("choose", self.choose.name(), expected));
        }
        self.check_own_machines()
    }

    /// Copies are for what places each task by itself and leaves it where it is.
    fn check_replicas(&self) -> Result<(), PolicyError> {
        let wrong = |expected| Err(PolicyError::new("replicate", self.replicate.name(), expected));
        if self.replicate == Replicate::ONE {
            return Ok(());
        }
        match (self.goal, self.replicate) {
            (Goal::Now(_), Replicate::Idle) if self.peering.is_none() => {
                wrong("a number: only among peers is it known that nobody waits for an idle machine")
            }
            (Goal::Now(_), Replicate::Runs(_) | Replicate::Quorum(_)) if self.peering.is_some() => {
                wrong("1 or \"idle\": a peer that lends a machine lends it for one run")
            }
            (Goal::Now(_), Replicate::Quorum(_)) if self.relocate.is_some() => wrong(
                "1, or relocate = \"none\": an answer is one machine's, or nobody could say whose is wrong",
            ),
            (Goal::Now(_), Replicate::Runs(_)) if self.relocate.is_some() => {
                wrong("1, or relocate = \"none\": a task with several runs stays where they are")
            }
            (Goal::Now(_), Replicate::Runs(_) | Replicate::Quorum(_)) if self.heeds_budget() => wrong(
                "1, or budget.rule = \"none\": nobody knows before the first end what the copies will have cost",
            ),
            (Goal::Now(_), _) => Ok(()),
            (Goal::End(_), _) => wrong("1: a batch plans one run of each task"),
            (Goal::Rank(_), _) => wrong("1: a broker sends a task to one site"),
            (Goal::Start(_), _) => wrong("1: what waits in a queue is one run"),
            (Goal::Sites(_), _) => wrong("1: sites.copies says how often a job runs at a time"),
        }
    }

    /// What is held back is looked at again: by peers, and by each batch.
    fn check_holding(&self) -> Result<(), PolicyError> {
        let wrong = |expected| Err(PolicyError::new("hold", self.hold.name(), expected));
        match (self.goal, self.peering, self.when) {
            _ if self.hold == Holding::Never => Ok(()),
            (Goal::End(_), _, When::Every(_)) if !self.spending.lets_wait() => wrong(
                "never, or budget.rule = \"none\", \"b\" or \"moving-price\": what other rules keep from faster machines would wait for ever",
            ),
            (Goal::Now(_), Some(Peering { queue: Overflow::Peer, .. }), _)
            | (Goal::End(_), _, When::Every(_)) => Ok(()),
            (Goal::Now(_), Some(_), _) => {
                wrong("never, or queue = \"peer\": what queues on machines is not held back")
            }
            (Goal::End(_), _, When::AtEvents) => wrong("never: what is planned as it comes is planned once"),
            (Goal::Now(_) | Goal::Rank(_) | Goal::Start(_) | Goal::Sites(_), _, _) => {
                wrong("never: only batches and peers hold tasks back from slow machines")
            }
        }
    }

    /// What is sent ahead takes the room of the run before it, and nothing else is known of it.
    fn check_ahead(&self) -> Result<(), PolicyError> {
        let wrong = |expected| Err(PolicyError::new("ahead", self.ahead.name(), expected));
        match self.goal {
            _ if self.ahead == Ahead::Never => Ok(()),
            Goal::Now(_) if self.peering.is_some() => wrong("never: a peer's machines may be asked back"),
            Goal::Now(_) if self.replicate != Replicate::ONE => {
                wrong("never, or replicate = 1: copies run at the same time")
            }
            Goal::Now(_) if self.heeds_budget() => {
                wrong("never, or budget.rule = \"none\": what a task costs is charged when it starts")
            }
            Goal::Now(_) => Ok(()),
            Goal::End(_) | Goal::Rank(_) | Goal::Start(_) | Goal::Sites(_) => {
                wrong("never: only what places each task by itself sends tasks ahead")
            }
        }
    }

    /// What counts is a task's end, and Sufferage compares ends that are straight lines in its length.
    fn check_staying(&self) -> Result<(), PolicyError> {
        let wrong = |expected| Err(PolicyError::new("availability", self.availability.name(), expected));
        match (self.availability, self.goal, self.order) {
            (Staying::Ignored, ..) => Ok(()),
            (_, Goal::End(aim @ (Aim::Fastest | Aim::FirstFree)), _) => {
                wrong(format!("ignored: {} does not go by when a task would be done", aim.name()))
            }
            (_, Goal::End(aim @ (Aim::Cheapest | Aim::CheapestThenEarliest)), _) => wrong(format!(
                "ignored: {} goes by prices, and its deadline is about expected ends",
                aim.name()
            )),
            (_, Goal::End(_), TaskOrder::Sufferage | TaskOrder::SufferagePasses) => wrong(
                "ignored: what a task would lose is no straight line in its length where machines leave"
                    .to_owned(),
            ),
            (_, Goal::End(_), TaskOrder::Submission | TaskOrder::MinMin | TaskOrder::MaxMin) => Ok(()),
            (_, Goal::Now(_) | Goal::Rank(_) | Goal::Start(_) | Goal::Sites(_), _) => {
                wrong("ignored: only batches and plans go by when a task would be done".to_owned())
            }
        }
    }

    /// Only what judges sites can overlook what it did itself.
    fn check_own_machines(&self) -> Result<(), PolicyError> {
        if self.belief != Belief::default() {
            let score = self.goal.name();
            let expected = format!("own-dispatches: {score} knows how things are on machines of its own");
            return Err(PolicyError::new("belief", self.belief.name(), expected));
        }
        Ok(())
    }

    /// A share needs a score that is a gain everywhere, or a cost; and a peer's machines are looked for with no task in hand.
    fn check_drawing(&self, score: Score) -> Result<(), PolicyError> {
        let wrong = |expected| Err(PolicyError::new("choose", self.choose.name(), expected));
        if self.peering.is_some() && self.choose.draws() {
            return wrong("best, best-latest or first: a peer does not draw");
        }
        if score == Score::SocialAsPrinted && matches!(self.choose, Choose::Proportional { .. }) {
            return wrong(
                "another choice: social-as-printed is above 0 on some machines and below on others",
            );
        }
        Ok(())
    }

    fn check_sites(&self, rule: &SiteRule) -> Result<(), PolicyError> {
        let Self { order, spending, level, relocate, .. } = *self;
        let over = |what: &str| format!("{what}: jobs hold their sites from their start to their end");
        if relocate.is_some() {
            return Err(PolicyError::new("relocate", "moves", over("\"none\"")));
        }
        if order != TaskOrder::Submission {
            return Err(PolicyError::new("order", order.name(), "submission: sites.turn says who is next"));
        }
        if (spending, level) != (Spending::Free, Level::Machines) {
            return Err(PolicyError::new("budget.rule", rule_name((spending, level)), over("none")));
        }
        rule.check()
    }

    fn check_queueing(&self, queueing: Queueing) -> Result<(), PolicyError> {
        let Self { order, spending, level, relocate, .. } = *self;
        let name = queueing.backfill.name();
        let lines = |what: &str| format!("{what}: with {name} tasks wait in one line");
        if relocate.is_some() {
            return Err(PolicyError::new("relocate", "moves", lines("\"none\"")));
        }
        if order != TaskOrder::Submission {
            return Err(PolicyError::new("order", order.name(), lines("submission")));
        }
        if self.choose != Choose::Best {
            return Err(PolicyError::new("choose", self.choose.name(), lines("best")));
        }
        if self.peering.is_some() {
            return Err(PolicyError::new("favours", "a peer", lines("no such key")));
        }
        if (spending, level) != (Spending::Free, Level::Machines) {
            return Err(PolicyError::new("budget.rule", rule_name((spending, level)), lines("none")));
        }
        if queueing.fill != Fill::Arrival && queueing.backfill != Backfill::Easy {
            let expected = format!("arrival: {name} does not choose among those that may start");
            return Err(PolicyError::new("fill", queueing.fill.name(), expected));
        }
        if queueing.backfill == Backfill::Fcfs && self.lengths != Lengths::Declared {
            let expected = "declared: fcfs reads no lengths";
            return Err(PolicyError::new("lengths", self.lengths.name(), expected));
        }
        let by_word = matches!(queueing.correction, Correction::Firm | Correction::Estimate);
        if !by_word && !self.lengths.is_learnt() {
            let expected = "firm or estimate: only what is learnt is corrected otherwise";
            return Err(PolicyError::new("correction", queueing.correction.name(), expected));
        }
        if queueing.correction == Correction::Alike && self.lengths != Lengths::Learnt {
            let expected =
                format!("firm, estimate, doubled or in-turn: {} keeps none alike", self.lengths.name());
            return Err(PolicyError::new("correction", queueing.correction.name(), expected));
        }
        Ok(())
    }

    fn check_brokering(&self) -> Result<(), PolicyError> {
        let what = "the site's own queue does that";
        if !self.choose.is_for_sites() {
            let expected =
                "best, best-by-lot, first, proportional or two-choices: sites have no order of joining";
            return Err(PolicyError::new("choose", self.choose.name(), expected));
        }
        if self.peering.is_some() {
            return Err(PolicyError::new("favours", "a peer", "no such key: sites are nobody's to lend"));
        }
        if self.relocate.is_some() {
            return Err(PolicyError::new("relocate", "moves", format!("\"none\": {what}")));
        }
        if self.heeds_budget() {
            let found = rule_name((self.spending, self.level));
            return Err(PolicyError::new(
                "budget.rule",
                found,
                "none: nobody knows here what a site charges",
            ));
        }
        Ok(())
    }

    /// What a plan is to cost is what it will be charged.
    fn check_learning(&self) -> Result<(), PolicyError> {
        if self.lengths.is_learnt() && self.heeds_budget() {
            let expected =
                "declared or true, or budget.rule = \"none\": tasks are charged by declared lengths";
            return Err(PolicyError::new("lengths", self.lengths.name(), expected));
        }
        Ok(())
    }

    /// What places each task by itself reads lengths only where SOCIAL weighs tasks by what remains of them.
    fn check_weighing(&self, score: Score) -> Result<(), PolicyError> {
        let wrong = |expected| Err(PolicyError::new("lengths", self.lengths.name(), expected));
        let moves_by = self.relocate.map(|rule| rule.score);
        if self.lengths == Lengths::Declared {
            Ok(())
        } else if score != Score::Social && moves_by != Some(Score::Social) {
            wrong("declared: only batches, plans, queues and social go by other lengths")
        } else if self.peering.is_some() {
            wrong("declared: a peer does not know how far the tasks of others are")
        } else if score == Score::Social && self.choose != Choose::Best {
            wrong("declared, or choose = \"best\": what remains of tasks is weighed where the best is sought")
        } else {
            self.check_learning()
        }
    }

    fn check_lengths(&self) -> Result<(), PolicyError> {
        if self.lengths == Lengths::Declared {
            return Ok(());
        }
        let expected = "declared: only batches, plans and queues go by other lengths";
        Err(PolicyError::new("lengths", self.lengths.name(), expected))
    }

    fn check_placing(&self) -> Result<(), PolicyError> {
        let Self { when, order, spending, level, aging, deadline, replan, relocate, .. } = *self;
        let score = &*self.goal.name();
        let places = |what: &str| format!("{what}: {score} places each task by itself, as it comes");
        if let When::Every(period) = when {
            let found = period.seconds().to_string();
            return Err(PolicyError::new("period_s", found, places("no such key")));
        }
        match (order, self.peering) {
            (TaskOrder::Submission, _) | (TaskOrder::MaxMin, Some(_)) => {}
            (_, Some(_)) => {
                let expected = "submission, or max-min: the longest of each job first";
                return Err(PolicyError::new("order", order.name(), expected));
            }
            (_, None) => return Err(PolicyError::new("order", order.name(), places("submission"))),
        }
        if let Some(Peering { reach: Reach::Grid, .. }) = self.peering
            && (self.goal, self.choose) != (Goal::Now(Score::Power), Choose::BestLatest)
        {
            let expected =
                "site, or score = \"power\" and choose = \"best-latest\": peers know each other's power";
            return Err(PolicyError::new("reach", "grid", expected));
        }
        if aging > 0 {
            return Err(PolicyError::new("aging", aging.to_string(), places("no such key")));
        }
        if replan != Replan::Unbegun {
            return Err(PolicyError::new("replan", replan.name(), places("no such key")));
        }
        if deadline.is_some() {
            return Err(not_read("deadline_s", "a deadline", score));
        }
        if level == Level::Classes || spending.is_for_batches() {
            let rules = Spending::all().into_iter().filter(|rule| !rule.is_for_batches());
            let known: Vec<_> = rules.map(|rule| rule.name()).collect();
            let expected = places(&format!("one of {}", known.join(", ")));
            return Err(PolicyError::new("budget.rule", rule_name((spending, level)), expected));
        }
        if self.peering.is_some() && relocate.is_some() {
            let expected =
                "\"none\": among peers a task stays where it is, or is taken back with its machine";
            return Err(PolicyError::new("relocate", "moves", expected));
        }
        if self.peering.is_some() && spending.heeds_budget() {
            let expected = "\"none\": peers pay in favours";
            return Err(PolicyError::new("budget.rule", spending.name(), expected));
        }
        if relocate.is_some() && spending.heeds_budget() {
            let expected = "\"none\", or budget.rule = \"none\": a move would change what a task costs";
            return Err(PolicyError::new("relocate", "moves within a budget", expected));
        }
        Ok(())
    }

    fn check_planning(&self, aim: Aim) -> Result<(), PolicyError> {
        let Self { when, order, spending, level, aging, deadline, replan, relocate, .. } = *self;
        if self.peering.is_some() {
            let expected = format!("no such key: {} plans ahead, and peers lend for now", aim.name());
            return Err(PolicyError::new("favours", "a peer", expected));
        }
        if relocate.is_some() {
            let expected = "\"none\": tasks are planned by when machines will be done, and what has started is not moved";
            return Err(PolicyError::new("relocate", "moves", expected));
        }
        if order != TaskOrder::Submission && aim != Aim::Earliest {
            let expected = format!(
                "submission: {} is about ends, and {} looks at something else",
                order.title(),
                aim.name()
            );
            return Err(PolicyError::new("order", order.name(), expected));
        }
        if aging > 0 && order == TaskOrder::Submission {
            let expected = "no such key: in order of submission the oldest tasks come first anyway";
            return Err(PolicyError::new("aging", aging.to_string(), expected));
        }
        if when == When::AtEvents && replan == Replan::Unbegun {
            let expected = "lost: what is planned as it comes stays planned";
            return Err(PolicyError::new("replan", replan.name(), expected));
        }
        if deadline.is_some() && !aim.about().reads.contains(&Input::Deadline) {
            return Err(not_read("deadline_s", "a deadline", &aim.name()));
        }
        if level == Level::Classes && !spending.heeds_budget() {
            let expected = "machines: classes stand for machines where a budget is divided";
            return Err(PolicyError::new("budget.rule", "no budget for classes", expected));
        }
        Ok(())
    }

    /// Whether it has tasks run again until as many machines agree as their users ask for; or the reason why not.
    pub fn check_comparing(&self) -> Result<(), &'static str> {
        match self.goal {
            Goal::Now(_) if self.peering.is_some() => Err("a peer that lends a machine lends it for one run"),
            Goal::Now(_) if self.heeds_budget() => {
                Err("nobody knows before the last answer what the copies will have cost")
            }
            Goal::Now(_) => Ok(()),
            Goal::End(_) => Err("a batch plans one run of each task"),
            Goal::Rank(_) => Err("a broker sends a task to one site"),
            Goal::Start(_) => Err("what waits in a queue is one run"),
            Goal::Sites(_) => Err("a site runs a job once"),
        }
    }
}

fn not_read(key: &str, found: &str, by: &str) -> PolicyError {
    PolicyError::new(key, found, format!("no such key: {by} reads none"))
}
