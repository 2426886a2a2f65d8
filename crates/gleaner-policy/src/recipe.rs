//! The choice of parts that makes a policy, and which choices go together.

mod words;

pub use words::{PartView, choices};

use crate::batch::Batching;
use crate::batcher::Batcher;
use crate::broker::{self, Broker, Brokering, NoCandidate};
use crate::error::PolicyError;
use crate::matchmaker::{Matching, Matchmaker};
use crate::parts::aim::Aim;
use crate::parts::belief::Belief;
use crate::parts::budget::{Level, Spending, rule_name};
use crate::parts::choose::Choose;
use crate::parts::favours::{Holding, Overflow, Peering, Reach};
use crate::parts::lengths::Lengths;
use crate::parts::order::Order;
use crate::parts::queue::{Backfill, Correction, Fill, Queueing};
use crate::parts::rank::Rank;
use crate::parts::relocate::Relocate;
use crate::parts::replicate::Replicate;
use crate::parts::score::Score;
use crate::parts::sites::SiteRule;
use crate::parts::when::{Replan, When};
use crate::parts::{About, Choice, Input};
use crate::peer::{Peer, Sharing, Turn};
use crate::{AnyPolicy, Backfiller, Dispatcher, ends, placement};
use gleaner_core::{Checking, Grid};
use gleaner_units::{MachineId, Ops, Span, TaskClassId, Time};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// What a machine is judged by: how things are now, when a task would be done there, or what a site says of itself.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Goal {
    /// By how things are: each task is placed by itself, on machines that may be shared.
    Now(Score),
    /// By when it would be done: tasks are planned, on machines that run one task a core.
    End(Aim),
    /// By what sites publish and where files are: each task is sent to a site with a queue of its own.
    Rank(Rank),
    /// By when it could begin: tasks wait in one line, and hold the cores of a machine from their start to their end.
    Start(Queueing),
    /// By where its sites lie for it: a job holds cores of one site or of several from its start to its end.
    Sites(SiteRule),
}

/// A policy, as a choice of parts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Recipe {
    /// When tasks are given their places.
    pub when: When,
    /// Which of the waiting tasks is next.
    pub order: Order,
    /// What a machine is judged by.
    pub score: Goal,
    /// How the scores are used.
    pub choose: Choose,
    /// What stands for a machine's state.
    pub belief: Belief,
    /// Whose word on a task's length is taken.
    pub lengths: Lengths,
    /// How the budget is spent, where the grid has one.
    pub spending: Spending,
    /// Whether tasks are planned for machines or for classes of machines.
    pub level: Level,
    /// So many tasks of each batch, those that were submitted first, come before all others, so that none starves.
    pub aging: u32,
    /// By when everything should be done.
    pub deadline: Option<Time>,
    /// Which plans the next batch makes anew.
    pub replan: Replan,
    /// Whether and how running tasks are moved.
    pub relocate: Option<Relocate>,
    /// How often a task runs at a time.
    pub replicate: Replicate,
    /// What makes the site a peer of others, if it is one.
    pub peering: Option<Peering>,
}

impl Recipe {
    /// Each task is placed by a score as soon as there is a machine for it, and not moved; as if there were no budget.
    pub const fn by(score: Score) -> Self {
        Self {
            when: When::AtEvents,
            order: Order::Submission,
            score: Goal::Now(score),
            choose: Choose::Best,
            belief: Belief::OwnDispatches { brokers: 1 },
            lengths: Lengths::Declared,
            spending: Spending::Free,
            level: Level::Machines,
            aging: 0,
            deadline: None,
            replan: Replan::Unbegun,
            relocate: None,
            replicate: Replicate::ONE,
            peering: None,
        }
    }

    /// All that wait are planned at each multiple of a period, each for the machine that would be done with it first.
    pub const fn in_batches(order: Order, period: Span) -> Self {
        Self { when: When::Every(period), order, score: Goal::End(Aim::Earliest), ..Self::by(Score::Greedy) }
    }

    /// Each task is sent to a site as soon as there is one for it.
    pub const fn brokering(rank: Rank, choose: Choose, belief: Belief) -> Self {
        Self { score: Goal::Rank(rank), choose, belief, ..Self::by(Score::Greedy) }
    }

    /// Each task is planned as it comes, and its plan stays.
    pub const fn as_they_come(aim: Aim) -> Self {
        Self { score: Goal::End(aim), replan: Replan::Lost, ..Self::by(Score::Greedy) }
    }

    /// Tasks wait in one line.
    pub const fn in_line(backfill: Backfill) -> Self {
        let queueing = Queueing { backfill, fill: Fill::Arrival, correction: Correction::Estimate };
        Self { score: Goal::Start(queueing), ..Self::by(Score::Greedy) }
    }

    /// Jobs are given to sites.
    pub const fn over_sites(rule: SiteRule) -> Self {
        Self { score: Goal::Sites(rule), ..Self::by(Score::Greedy) }
    }

    /// Makes the policy.
    ///
    /// # Panics
    /// Where the parts do not go together: see [`check`](Self::check).
    pub fn build(self) -> AnyPolicy {
        if let Err(refusal) = self.check() {
            panic!("no policy can be made of this recipe: {refusal}");
        }
        let Self {
            when,
            order,
            choose,
            belief,
            spending,
            level,
            aging,
            deadline,
            replan,
            relocate,
            replicate,
            peering,
            ..
        } = self;
        match self.score {
            Goal::Rank(rank) => AnyPolicy::Broker(Broker::new(Brokering { rank, choose, belief })),
            Goal::Now(score) => match peering {
                Some(peering) => {
                    let turn = if order == Order::MaxMin { Turn::Longest } else { Turn::Submission };
                    AnyPolicy::Peer(Peer::new(Sharing { score, choose, turn, replicate, peering }))
                }
                None => AnyPolicy::Matchmaker(Matchmaker::new(Matching {
                    place: score,
                    choose,
                    relocate,
                    replicate,
                    spending,
                })),
            },
            Goal::End(aim) => {
                let batching = Batching { when, order, aim, spending, level, aging, deadline, replan };
                AnyPolicy::Batcher(Batcher::new(batching))
            }
            Goal::Start(queueing) => AnyPolicy::Backfiller(Backfiller::new(queueing, self.lengths)),
            Goal::Sites(rule) => AnyPolicy::Dispatcher(Dispatcher::new(rule)),
        }
    }

    /// Refuses parts that do not go together, with the reason.
    pub fn check(&self) -> Result<(), PolicyError> {
        self.check_replicas()?;
        match self.score {
            Goal::Now(score) => self
                .check_own_machines()
                .and_then(|()| self.check_drawing(score))
                .and_then(|()| self.check_lengths())
                .and_then(|()| self.check_placing()),
            Goal::End(aim) => {
                self.check_best().and_then(|()| self.check_lengths()).and_then(|()| self.check_planning(aim))
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

    /// Plans and queues take the best.
    fn check_best(&self) -> Result<(), PolicyError> {
        if self.choose != Choose::Best {
            let expected = format!("best: {} plans for ends", self.score.name());
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
        match (self.score, self.replicate) {
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

    /// Only what judges sites can overlook what it did itself.
    fn check_own_machines(&self) -> Result<(), PolicyError> {
        if self.belief != Belief::default() {
            let score = self.score.name();
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
        if order != Order::Submission {
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
        if order != Order::Submission {
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
        if queueing.correction != Correction::Estimate && !self.lengths.is_learnt() {
            let expected = "estimate: only what is learnt is corrected otherwise";
            return Err(PolicyError::new("correction", queueing.correction.name(), expected));
        }
        if queueing.correction == Correction::Alike && self.lengths != Lengths::Learnt {
            let expected = format!("estimate, doubled or in-turn: {} keeps none alike", self.lengths.name());
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

    fn check_lengths(&self) -> Result<(), PolicyError> {
        if self.lengths == Lengths::Declared {
            return Ok(());
        }
        let expected = "declared: only queues go by other lengths";
        Err(PolicyError::new("lengths", self.lengths.name(), expected))
    }

    fn check_placing(&self) -> Result<(), PolicyError> {
        let Self { when, order, spending, level, aging, deadline, replan, relocate, .. } = *self;
        let score = &*self.score.name();
        let places = |what: &str| format!("{what}: {score} places each task by itself, as it comes");
        if let When::Every(period) = when {
            let found = period.seconds().to_string();
            return Err(PolicyError::new("period_s", found, places("no such key")));
        }
        match (order, self.peering) {
            (Order::Submission, _) | (Order::MaxMin, Some(_)) => {}
            (_, Some(_)) => {
                let expected = "submission, or max-min: the longest of each job first";
                return Err(PolicyError::new("order", order.name(), expected));
            }
            (_, None) => return Err(PolicyError::new("order", order.name(), places("submission"))),
        }
        if let Some(Peering { reach: Reach::Grid, .. }) = self.peering
            && (self.score, self.choose) != (Goal::Now(Score::Power), Choose::BestLatest)
        {
            let expected =
                "site, or score = \"power\" and choose = \"best-latest\": peers know each other's power";
            return Err(PolicyError::new("reach", "grid", expected));
        }
        if let Some(Peering { hold: Holding::WhenSlower, queue: Overflow::Machines, .. }) = self.peering {
            let expected = "never, or queue = \"peer\": what queues on machines is not held back";
            return Err(PolicyError::new("hold", "when-slower", expected));
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
        if order != Order::Submission && aim != Aim::Earliest {
            let expected = format!(
                "submission: {} is about ends, and {} looks at something else",
                order.title(),
                aim.name()
            );
            return Err(PolicyError::new("order", order.name(), expected));
        }
        if aging > 0 && order == Order::Submission {
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

    /// What it goes by.
    pub fn reads(&self) -> BTreeSet<Input> {
        let relocate = self.relocate.iter().flat_map(|rule| rule.score.about().reads);
        let parts = [self.order.about(), self.score.about(), self.spending.about(), self.lengths.about()];
        let peering = self.peering.iter();
        let peering = peering.flat_map(|own| {
            [own.favours.about(), own.reach.about(), own.hold.about()].map(|about| about.reads).concat()
        });
        parts.iter().flat_map(|part| part.reads).chain(relocate).copied().chain(peering).collect()
    }

    /// Whether what may be spent makes a difference to it.
    pub fn heeds_budget(&self) -> bool {
        self.spending.heeds_budget()
    }

    /// Whether it plans tasks for machines that run one task a core, by declared lengths: a task without one is not planned
    /// then.
    pub fn plans(&self) -> bool {
        match self.score {
            Goal::Now(_) | Goal::Rank(_) | Goal::Start(_) | Goal::Sites(_) => false,
            Goal::End(_) => true,
        }
    }

    /// Whether it has tasks wait in one line for cores that they hold alone.
    pub fn queues(&self) -> bool {
        matches!(self.score, Goal::Start(_))
    }

    /// Whether it sends each task to one machine as it comes, and leaves it there.
    pub fn sends_once(&self) -> bool {
        let is_sent = matches!(self.score, Goal::Now(_) | Goal::Rank(_));
        let stays = self.relocate.is_none() && self.replicate == Replicate::ONE && self.peering.is_none();
        is_sent && stays && !self.heeds_budget()
    }

    /// How many machines have to agree on a task's answer, where several have.
    pub fn checking(&self) -> Option<Checking> {
        match self.replicate {
            Replicate::Quorum(checking) => Some(checking),
            Replicate::Runs(_) | Replicate::Idle => None,
        }
    }

    /// Whether it has tasks run again until as many machines agree as their users ask for; or the reason why not.
    pub fn check_comparing(&self) -> Result<(), &'static str> {
        match self.score {
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

    /// How it gives jobs to sites, if that is what it does.
    pub fn site_rule(&self) -> Option<SiteRule> {
        if let Goal::Sites(rule) = self.score { Some(rule) } else { None }
    }

    /// What a task with a place for it waits for, in half a sentence.
    pub fn waits_for(&self) -> &'static str {
        match (self.score, self.when) {
            (Goal::End(_), When::Every(_)) => "the next batch",
            (Goal::End(_), When::AtEvents) | (Goal::Now(_), _) => "a machine",
            (Goal::Rank(_), _) => "a site",
            (Goal::Start(_) | Goal::Sites(_), _) => "its turn",
        }
    }

    /// The machines that could take a task of that class, the best first, as far as each can be judged by itself: by score,
    /// or by how many seconds it would take, less than nothing. None where that takes a length that was not declared. Costs
    /// O(machines): for explanations.
    pub fn ratings(
        &self,
        grid: &Grid,
        now: Time,
        class: TaskClassId,
        length: Option<Ops>,
    ) -> Vec<(MachineId, f64)> {
        match (self.score, length) {
            (Goal::Now(score), _) => placement::ratings(score, grid, class),
            (Goal::Rank(rank), _) => {
                let rule = Brokering { rank, choose: self.choose, belief: self.belief };
                broker::ratings(&rule, grid, class, length.map_or(0.0, Ops::amount))
            }
            (Goal::End(_) | Goal::Start(_) | Goal::Sites(_), None) => Vec::new(),
            (Goal::End(_) | Goal::Start(_) | Goal::Sites(_), Some(length)) => {
                let ends = ends::expected(grid, now, class, length);
                ends.into_iter().map(|(on, end)| (on, -end)).collect()
            }
        }
    }

    /// The machines that could run a task of that class, but that the rule itself passes over, by the reason. Costs
    /// O(machines): for explanations.
    pub fn passed_over(&self, grid: &Grid, class: TaskClassId) -> BTreeMap<NoCandidate, Vec<MachineId>> {
        match self.score {
            Goal::Rank(rank) => {
                let rule = Brokering { rank, choose: self.choose, belief: self.belief };
                broker::passed_over(&rule, grid, class)
            }
            Goal::Now(_) | Goal::End(_) | Goal::Start(_) | Goal::Sites(_) => BTreeMap::new(),
        }
    }
}

fn not_read(key: &str, found: &str, by: &str) -> PolicyError {
    PolicyError::new(key, found, format!("no such key: {by} reads none"))
}

/// The score of all rules for sites; which it is, the part says.
const SITES: &str = "sites";

const START: About = About {
    name: "first-start",
    meaning: "The machine on which it can begin first; of those on which it can begin now the fastest, and of these the one \
              with the fewest cores left.",
    reads: &[Input::Speeds],
};

impl Choice for Goal {
    fn all() -> Vec<Self> {
        let now = Score::all().into_iter().map(Goal::Now);
        let end = Aim::all().into_iter().map(Goal::End);
        now.chain(end)
            .chain([Goal::Start(Queueing::default()), Goal::Sites(SiteRule::MRS)])
            .chain(Rank::all().into_iter().map(Goal::Rank))
            .collect()
    }

    fn about(&self) -> About {
        match self {
            Goal::Now(score) => score.about(),
            Goal::End(aim) => aim.about(),
            Goal::Rank(rank) => rank.about(),
            Goal::Start(_) => START,
            Goal::Sites(rule) => About { name: SITES, ..rule.nearness.about() },
        }
    }

    fn name(&self) -> Cow<'static, str> {
        match self {
            Goal::Now(score) => score.name(),
            Goal::End(aim) => aim.name(),
            Goal::Rank(rank) => rank.name(),
            Goal::Start(_) => START.name.into(),
            Goal::Sites(_) => SITES.into(),
        }
    }

    fn named(name: &str) -> Option<Self> {
        let line = || match name {
            _ if name == START.name => Some(Goal::Start(Queueing::default())),
            SITES => Some(Goal::Sites(SiteRule::MRS)),
            _ => None,
        };
        let end = || Aim::named(name).map(Goal::End);
        <Score as Choice>::named(name)
            .map(Goal::Now)
            .or_else(end)
            .or_else(line)
            .or_else(|| Rank::named(name).map(Goal::Rank))
    }
}
