//! The choice of parts that makes a policy, and which choices go together.

mod checks;
mod words;

pub use words::{PartView, choices};

use crate::batch::Batching;
use crate::batcher::Batcher;
use crate::broker::{self, Broker, Brokering, NoCandidate};
use crate::matchmaker::{Matching, Matchmaker};
use crate::parts::ahead::Ahead;
use crate::parts::aim::Aim;
use crate::parts::belief::Belief;
use crate::parts::budget::{Level, Spending};
use crate::parts::choose::Choose;
use crate::parts::favours::Peering;
use crate::parts::lengths::Lengths;
use crate::parts::order::TaskOrder;
use crate::parts::queue::{Backfill, Correction, Fill, Queueing};
use crate::parts::rank::Rank;
use crate::parts::relocate::Relocate;
use crate::parts::replicate::Replicate;
use crate::parts::score::Score;
use crate::parts::sites::SiteRule;
use crate::parts::staying::Staying;
use crate::parts::when::{Holding, Replan, When};
use crate::parts::{About, Choice, Input};
use crate::peer::{Peer, Sharing, Turn};
use crate::remaining::Remaining;
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
    pub order: TaskOrder,
    /// What a machine is judged by.
    pub goal: Goal,
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
    /// So many tasks of each batch and priority, those that were submitted first, come before the others, so that none starves.
    pub aging: u32,
    /// By when everything should be done.
    pub deadline: Option<Time>,
    /// Which plans the next batch makes anew.
    pub replan: Replan,
    /// Whether and how running tasks are moved.
    pub relocate: Option<Relocate>,
    /// How often a task runs at a time.
    pub replicate: Replicate,
    /// Whether a task goes to a machine however slow that is.
    pub hold: Holding,
    /// Whether it counts how long machines stay.
    pub availability: Staying,
    /// Whether machines get tasks before they have room for them.
    pub ahead: Ahead,
    /// What makes the site a peer of others, if it is one.
    pub peering: Option<Peering>,
}

impl Recipe {
    /// Each task is placed by a score as soon as there is a machine for it, and not moved; as if there were no budget.
    pub const fn by(score: Score) -> Self {
        Self {
            when: When::AtEvents,
            order: TaskOrder::Submission,
            goal: Goal::Now(score),
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
            hold: Holding::Never,
            availability: Staying::Ignored,
            ahead: Ahead::Never,
            peering: None,
        }
    }

    /// All that wait are planned at each multiple of a period, each for the machine that would be done with it first.
    pub const fn in_batches(order: TaskOrder, period: Span) -> Self {
        Self { when: When::Every(period), order, goal: Goal::End(Aim::Earliest), ..Self::by(Score::Greedy) }
    }

    /// Each task is sent to a site as soon as there is one for it.
    pub const fn brokering(rank: Rank, choose: Choose, belief: Belief) -> Self {
        Self { goal: Goal::Rank(rank), choose, belief, ..Self::by(Score::Greedy) }
    }

    /// Each task is planned as it comes, and its plan stays.
    pub const fn as_they_come(aim: Aim) -> Self {
        Self { goal: Goal::End(aim), replan: Replan::Lost, ..Self::by(Score::Greedy) }
    }

    /// Tasks wait in one line.
    pub const fn in_line(backfill: Backfill) -> Self {
        let queueing = Queueing { backfill, fill: Fill::Arrival, correction: Correction::Firm };
        Self { goal: Goal::Start(queueing), ..Self::by(Score::Greedy) }
    }

    /// Jobs are given to sites.
    pub const fn over_sites(rule: SiteRule) -> Self {
        Self { goal: Goal::Sites(rule), ..Self::by(Score::Greedy) }
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
            hold,
            availability,
            peering,
            ..
        } = self;
        match self.goal {
            Goal::Rank(rank) => AnyPolicy::Broker(Broker::new(Brokering { rank, choose, belief })),
            Goal::Now(score) => match peering {
                Some(peering) => {
                    let turn = if order == TaskOrder::MaxMin { Turn::Longest } else { Turn::Submission };
                    AnyPolicy::Peer(Peer::new(Sharing { score, choose, turn, replicate, hold, peering }))
                }
                None => AnyPolicy::Matchmaker(Matchmaker::new(Matching {
                    place: score,
                    choose,
                    relocate,
                    replicate,
                    spending,
                    lengths: self.lengths,
                    ahead: self.ahead,
                })),
            },
            Goal::End(aim) => {
                let batching = Batching {
                    when,
                    order,
                    aim,
                    spending,
                    level,
                    aging,
                    deadline,
                    replan,
                    hold,
                    availability,
                };
                AnyPolicy::Batcher(Batcher::new(batching, self.lengths))
            }
            Goal::Start(queueing) => AnyPolicy::Backfiller(Box::new(Backfiller::new(queueing, self.lengths))),
            Goal::Sites(rule) => AnyPolicy::Dispatcher(Dispatcher::new(rule)),
        }
    }

    /// What it goes by.
    pub fn reads(&self) -> BTreeSet<Input> {
        let relocate = self.relocate.iter().flat_map(|rule| rule.score.about().reads);
        let parts = [
            self.order.about(),
            self.goal.about(),
            self.spending.about(),
            self.lengths.about(),
            self.hold.about(),
            self.availability.about(),
            self.ahead.about(),
        ];
        let peering = self.peering.iter();
        let peering = peering
            .flat_map(|own| [own.favours.about(), own.reach.about()].map(|about| about.reads).concat());
        parts.iter().flat_map(|part| part.reads).chain(relocate).copied().chain(peering).collect()
    }

    /// Whether what may be spent makes a difference to it.
    pub fn heeds_budget(&self) -> bool {
        self.spending.heeds_budget()
    }

    /// Whether it makes a difference to it which machines a task likes best, by the task's own rank. Priorities all heed.
    pub fn reads_ranks(&self) -> bool {
        match self.goal {
            Goal::Now(_) => self.peering.is_none(),
            Goal::Rank(_) => true,
            Goal::End(_) | Goal::Start(_) | Goal::Sites(_) => false,
        }
    }

    /// Whether it plans tasks for machines that run one task a core, by their lengths: a task of whose length nothing is known
    /// is not planned then.
    pub fn plans(&self) -> bool {
        match self.goal {
            Goal::Now(_) | Goal::Rank(_) | Goal::Start(_) | Goal::Sites(_) => false,
            Goal::End(_) => true,
        }
    }

    /// Whether it has tasks wait in one line for cores that they hold alone.
    pub fn queues(&self) -> bool {
        matches!(self.goal, Goal::Start(_))
    }

    /// Whether it is for peers: it lends machines to others, and borrows theirs.
    pub fn lends(&self) -> bool {
        self.peering.is_some()
    }

    /// Whether it sends each task to one machine as it comes, and leaves it there.
    pub fn sends_once(&self) -> bool {
        let is_sent = matches!(self.goal, Goal::Now(_) | Goal::Rank(_));
        let stays = self.relocate.is_none() && self.replicate == Replicate::ONE && self.peering.is_none();
        is_sent && stays && !self.heeds_budget() && self.ahead == Ahead::Never
    }

    /// How many machines have to agree on a task's answer, where several have.
    pub fn checking(&self) -> Option<Checking> {
        match self.replicate {
            Replicate::Quorum(checking) => Some(checking),
            Replicate::Runs(_) | Replicate::Idle => None,
        }
    }

    /// How it gives jobs to sites, if that is what it does.
    pub fn site_rule(&self) -> Option<SiteRule> {
        if let Goal::Sites(rule) = self.goal { Some(rule) } else { None }
    }

    /// What a task with a place for it waits for, in half a sentence.
    pub fn waits_for(&self) -> &'static str {
        match (self.goal, self.when) {
            (Goal::End(_), When::Every(_)) => "the next batch",
            (Goal::End(_), When::AtEvents) | (Goal::Now(_), _) => "a machine",
            (Goal::Rank(_), _) => "a site",
            (Goal::Start(_) | Goal::Sites(_), _) => "its turn",
        }
    }

    /// The machines that could take a task of that class, the best first, as far as each can be judged by itself: by score,
    /// or by how many seconds it would take, less than nothing. None where that takes a length and there is none. Costs
    /// O(machines): for explanations.
    pub fn ratings(
        &self,
        grid: &Grid,
        now: Time,
        (class, length): (TaskClassId, Option<Ops>),
        lengths: ends::Lengths<'_>,
    ) -> Vec<(MachineId, f64)> {
        match (self.goal, length) {
            (Goal::Now(Score::Social), Some(length)) if self.lengths != Lengths::Declared => {
                Remaining::new(grid, now, lengths).ratings(class, length.amount())
            }
            (Goal::Now(score), _) => placement::ratings(score, grid, class),
            (Goal::Rank(rank), _) => {
                let rule = Brokering { rank, choose: self.choose, belief: self.belief };
                broker::ratings(&rule, grid, class, length.map_or(0.0, Ops::amount))
            }
            (Goal::End(_) | Goal::Start(_) | Goal::Sites(_), None) => Vec::new(),
            (Goal::End(_) | Goal::Start(_) | Goal::Sites(_), Some(length)) => {
                let ends = ends::expected(grid, now, (class, length), lengths);
                ends.into_iter().map(|(on, end)| (on, -end)).collect()
            }
        }
    }

    /// What those ratings are, in a sentence.
    pub fn ratings_are(&self) -> String {
        match self.goal {
            Goal::End(_) | Goal::Start(_) | Goal::Sites(_) => {
                "the seconds until it would be done there as things stand, with a minus: -50 is in 50 s"
                    .to_owned()
            }
            Goal::Now(score) => {
                format!("as `{}` has it; they only compare machines for this task", score.name())
            }
            Goal::Rank(rank) => format!("as `{}` has it; they only compare sites for this task", rank.name()),
        }
    }

    /// The machines that could run a task of that class, but that the rule itself passes over, by the reason. Costs
    /// O(machines): for explanations.
    pub fn passed_over(&self, grid: &Grid, class: TaskClassId) -> BTreeMap<NoCandidate, Vec<MachineId>> {
        match self.goal {
            Goal::Rank(rank) => {
                let rule = Brokering { rank, choose: self.choose, belief: self.belief };
                broker::passed_over(&rule, grid, class)
            }
            Goal::Now(_) | Goal::End(_) | Goal::Start(_) | Goal::Sites(_) => BTreeMap::new(),
        }
    }
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
