//! What a recipe says of itself, for people.

use super::{Goal, Recipe};
use crate::parts::Choice;
use crate::parts::ahead::Ahead;
use crate::parts::aim::Aim;
use crate::parts::belief::Belief;
use crate::parts::budget::{Cheapest, Level, Savings, Spending, rule_name};
use crate::parts::choose::Choose;
use crate::parts::favours::{Favours, Overflow, Peering, Reach, Recalling};
use crate::parts::lengths::Lengths;
use crate::parts::order::TaskOrder;
use crate::parts::queue::{Backfill, Correction, Fill, Queueing};
use crate::parts::rank::{Candidates, Rank, Until};
use crate::parts::relocate::Mover;
use crate::parts::replicate::Replicate;
use crate::parts::score::Score;
use crate::parts::sites::{Behind, Copies, Data, GiveUp, Has, Nearness, Queues, SiteRule, Split, Turn};
use crate::parts::staying::Staying;
use crate::parts::when::{Holding, Replan, When};
use crate::sites::map::{AtSource, Bandwidth, Direction, Root};
use gleaner_core::{Charged, Checking, Scope, Trusting};
use std::fmt;

impl Recipe {
    /// What each part does, in plain words.
    pub fn parts(&self) -> Vec<PartView> {
        let (plans, pays) = (self.plans(), self.heeds_budget());
        let mut parts = vec![PartView { name: self.when.to_string(), ..PartView::of("when", self.when) }];
        if plans && self.when != When::AtEvents {
            parts.push(PartView::of("replan", self.replan));
        }
        parts.extend([
            PartView::of("order", self.order),
            PartView::of("score", self.goal),
            PartView { meaning: self.chooses(), ..PartView::of("choose", self.choose) },
            PartView::of("belief", self.belief),
        ]);
        if let Goal::Rank(rank) = self.goal {
            parts.push(PartView::of("candidates", rank.candidates));
        }
        if let Goal::Start(Queueing { backfill, fill, correction }) = self.goal {
            parts.extend([PartView::of("backfill", backfill), PartView::of("fill", fill)]);
            parts.push(PartView::of("correction", correction));
        }
        if let Goal::Sites(rule) = self.goal {
            parts.extend(rule.parts().map(|(part, about)| PartView {
                part,
                name: about.name.to_owned(),
                meaning: about.meaning.to_owned(),
            }));
            parts.extend(copies(rule));
        }
        let weighs = self.lengths != Lengths::Declared;
        if plans || pays || weighs || matches!(self.goal, Goal::Start(_)) {
            parts.push(PartView::of("lengths", self.lengths));
        }
        let rule = rule_name((self.spending, self.level));
        parts.push(PartView { name: rule, ..PartView::of("budget", self.spending) });
        if self.level == Level::Classes {
            parts.push(PartView::of("level", self.level));
        }
        parts.extend([self.relocation(), PartView::of("replicate", self.replicate)]);
        if self.plans() || self.peering.is_some() {
            parts.push(PartView::of("hold", self.hold));
        }
        if self.plans() {
            parts.push(PartView::of("availability", self.availability));
        }
        if matches!(self.goal, Goal::Now(_)) && self.peering.is_none() {
            parts.push(PartView::of("ahead", self.ahead));
        }
        if let Some(Peering { favours, queue, recall, reach }) = self.peering {
            parts.extend([
                PartView::of("favours", favours),
                PartView::of("queue", queue),
                PartView::of("recall", recall),
                PartView::of("reach", reach),
            ]);
        }
        parts
    }

    fn chooses(&self) -> String {
        let meaning = self.choose.about().meaning;
        match self.choose {
            Choose::Proportional { power } => format!("{meaning} The power is {power}."),
            Choose::Best | Choose::BestLatest | Choose::BestByLot | Choose::First | Choose::TwoChoices => {
                meaning.to_owned()
            }
        }
    }

    fn relocation(&self) -> PartView {
        let (name, meaning) = match &self.relocate {
            None => ("none".to_owned(), "A running task stays where it is.".to_owned()),
            Some(rule) => (rule.score.name().to_owned(), format!("Running tasks are moved by {rule}.")),
        };
        PartView { part: "relocate", name, meaning }
    }
}

/// All choices for each part, by the key that says it.
pub fn choices() -> Vec<PartView> {
    fn all<C: Choice>(part: &'static str) -> impl Iterator<Item = PartView> {
        C::all().into_iter().map(move |choice| PartView::of(part, choice))
    }
    all::<TaskOrder>("order")
        .chain(all::<Goal>("score"))
        .chain(all::<Choose>("choose"))
        .chain(all::<Belief>("belief"))
        .chain(all::<Candidates>("candidates"))
        .chain(all::<Lengths>("lengths"))
        .chain(all::<Fill>("fill"))
        .chain(all::<Correction>("correction"))
        .chain(all::<Replan>("replan"))
        .chain(all::<Spending>("budget.rule"))
        .chain(all::<Savings>("budget.savings"))
        .chain(all::<Cheapest>("budget.cheapest"))
        .chain(all::<Charged>("budget.charged"))
        .chain(all::<Scope>("budget.per"))
        .chain(all::<Replicate>("replicate"))
        .chain(all::<Mover>("relocate.mover"))
        .chain(all::<Favours>("favours"))
        .chain(all::<Overflow>("queue"))
        .chain(all::<Recalling>("recall"))
        .chain(all::<Reach>("reach"))
        .chain(all::<Holding>("hold"))
        .chain(all::<Staying>("availability"))
        .chain(all::<Ahead>("ahead"))
        .chain(all::<Nearness>("sites.nearness"))
        .chain(all::<Behind>("sites.behind"))
        .chain(all::<Turn>("sites.turn"))
        .chain(all::<Split>("sites.split"))
        .chain(all::<Queues>("sites.queues"))
        .chain(all::<Copies>("sites.extra"))
        .chain(all::<GiveUp>("sites.give_up"))
        .chain(all::<Data>("sites.data"))
        .chain(all::<Root>("sites.root"))
        .chain(all::<AtSource>("sites.at_source"))
        .chain(all::<Direction>("sites.potential"))
        .chain(all::<Bandwidth>("sites.bandwidth"))
        .chain(all::<Has>("sites.has"))
        .collect()
}

/// How many copies of each job there are over sites, where there are several.
fn copies(rule: SiteRule) -> Option<PartView> {
    let SiteRule { copies, apart, .. } = rule;
    let places = if apart { ", and no two of them share a site" } else { "" };
    let meaning = format!("Each job has so many copies, of which the first to end counts{places}.");
    (copies > 1).then(|| PartView { part: "copies", name: copies.to_string(), meaning })
}

/// A part of a recipe, for people.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct PartView {
    /// The name of the part, as `order`.
    pub part: &'static str,
    /// What was chosen.
    pub name: String,
    /// What that means.
    pub meaning: String,
}

impl PartView {
    fn of(part: &'static str, choice: impl Choice) -> Self {
        Self { part, name: choice.name().into_owned(), meaning: choice.about().meaning.to_owned() }
    }
}

/// Two recipes read alike only if they are.
impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.goal {
            Goal::Now(score) => self.fmt_placing(score, f),
            Goal::Rank(rank) => self.fmt_brokering(rank, f),
            Goal::End(aim) => self.fmt_planning(aim, f),
            Goal::Start(queueing) => self.fmt_queueing(queueing, f),
            Goal::Sites(rule) => write!(f, "{rule}"),
        }
    }
}

impl Recipe {
    fn fmt_placing(&self, score: Score, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(score.name())?;
        if self.choose != Choose::Best {
            write!(f, ", {}", self.choose.name())?;
        }
        if let Some(Peering { favours, queue, recall, reach }) = self.peering {
            let (favours, queue, recall) = (favours.name(), queue.name(), recall.name());
            write!(f, "; among peers, favours {favours}, queue {queue}, recall {recall}")?;
            match reach {
                Reach::Site => {}
                Reach::Grid => f.write_str(", machines of the whole grid")?,
            }
            match self.hold {
                Holding::Never => {}
                Holding::WhenSlower => f.write_str(", held back from slow ones")?,
            }
            if self.order == TaskOrder::MaxMin {
                f.write_str(", each job's longest first")?;
            }
            return match self.replicate {
                Replicate::Runs(_) | Replicate::Quorum(_) => Ok(()),
                Replicate::Idle => f.write_str("; second runs on idle machines"),
            };
        }
        match self.replicate {
            Replicate::ONE | Replicate::Idle => {}
            Replicate::Runs(count) => write!(f, ", {count} runs of each task")?,
            Replicate::Quorum(Checking { quorum, most, trust }) => {
                write!(f, ", the same answer from {quorum} machines of at most {most}")?;
                if let Some(Trusting { after, check_every }) = trust {
                    write!(f, ", from one after {after} in a row but for one in {check_every}")?;
                }
            }
        }
        match &self.relocate {
            None => f.write_str(", no relocation")?,
            Some(relocate) => write!(f, ", relocation by {relocate}")?,
        }
        if self.lengths != Lengths::Declared {
            write!(f, "; social weighs what remains{}", by_lengths(self.lengths))?;
        }
        if self.heeds_budget() { write!(f, "; {}", Budgeting(self.spending)) } else { Ok(()) }
    }

    fn fmt_brokering(&self, rank: Rank, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rank { alpha, beta, until, candidates } = rank;
        let until = match until {
            Until::Begin => "",
            Until::End => " with execution",
        };
        write!(f, "rank{until}, α = {alpha}, β = {beta}, {}", self.choose.name())?;
        if let Choose::Proportional { power } = self.choose {
            write!(f, " to its power {power}")?;
        }
        match candidates {
            Candidates::All => {}
            Candidates::MostFiles => f.write_str(", where most files are")?,
        }
        match self.belief {
            Belief::AsPublished => f.write_str("; sites as published"),
            Belief::OwnDispatches { brokers } => write!(f, "; sites with what was sent, times {brokers}"),
        }
    }

    fn fmt_queueing(&self, queueing: Queueing, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Queueing { backfill, fill, correction } = queueing;
        f.write_str(match backfill {
            Backfill::Fcfs => "First come, first served",
            Backfill::Easy => "EASY backfilling",
            Backfill::Conservative => "Conservative backfilling",
        })?;
        f.write_str(match fill {
            Fill::Arrival => "",
            Fill::Shortest => ", the shortest first",
            Fill::SmallestArea => ", the smallest area first",
        })?;
        f.write_str(by_lengths(self.lengths))?;
        f.write_str(match correction {
            Correction::Firm => "",
            Correction::Estimate => ", then as declared",
            Correction::Alike => ", then by what ran longer",
            Correction::Doubled => ", doubled where that is short",
            Correction::InTurn => ", a minute more and so on where that is short",
        })
    }

    fn fmt_planning(&self, aim: Aim, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { when, order, spending, level, aging, deadline, replan, .. } = self;
        let aim = match aim {
            Aim::Earliest => "",
            Aim::Cheapest => " for the lowest cost",
            Aim::CheapestThenEarliest => " for the lowest cost, then the earliest end,",
            Aim::Fastest => " for the shortest time",
            Aim::FirstFree => " for the earliest start",
            Aim::EarliestOfFastest { percent } => {
                &format!(" for the earliest end among the fastest {percent} %,")
            }
        };
        let level = match level {
            Level::Machines => "machines",
            Level::Classes => "classes of machines",
        };
        let title = order.title();
        let title = title.strip_prefix("in order").map_or(title.to_owned(), |rest| format!("In order{rest}"));
        write!(f, "{title}{aim} on {level}, ")?;
        match when {
            When::AtEvents => f.write_str("as tasks come")?,
            When::Every(period) => write!(f, "a batch every {} s", period.seconds())?,
        }
        f.write_str(by_lengths(self.lengths))?;
        write!(f, "; {}", Budgeting(*spending))?;
        if *aging > 0 {
            write!(f, "; the {aging} oldest first")?;
        }
        if let Some(deadline) = deadline {
            write!(f, "; by {} s", deadline.seconds())?;
        }
        match (when, replan) {
            (When::Every(_), Replan::Lost) => f.write_str("; plans stay"),
            (When::Every(_), Replan::Unbegun) | (When::AtEvents, _) => Ok(()),
        }?;
        match self.hold {
            Holding::Never => Ok(()),
            Holding::WhenSlower => f.write_str("; held back from slow machines"),
        }?;
        match self.availability {
            Staying::Ignored => Ok(()),
            Staying::Learnt => f.write_str("; by how long machines stay"),
        }
    }
}

/// Whose word on lengths is taken, where it is not the users'.
fn by_lengths(lengths: Lengths) -> &'static str {
    match lengths {
        Lengths::Declared => "",
        Lengths::LastTwo => ", by each user's last two",
        Lengths::Learnt => ", by what ran before",
        Lengths::True => ", by true lengths",
    }
}

/// The budget's rule as the paper calls it.
struct Budgeting(Spending);

impl fmt::Display for Budgeting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Spending::Free => "no budget",
            Spending::Cap => "budget B",
            Spending::PerTask(_) => "budget BT",
            Spending::PerTaskWithinPeriod(_) => "budget BT within the period",
            Spending::PerTaskAndTime(Savings::AsPrinted, _) => "budget BTT, condition (5) as printed",
            Spending::PerTaskAndTime(Savings::AsDerived, _) => "budget BTT, condition (5) as derived",
            Spending::WithinReach => "budget BTT within reach",
            Spending::MovingPrice => "budget by a moving price",
            Spending::Share => "budget in shares",
            Spending::LeastShare => "budget in least shares",
        })?;
        match self.0.cheapest() {
            Cheapest::First => Ok(()),
            Cheapest::IfReady => f.write_str(", the cheapest if ready"),
            Cheapest::AsOthers => f.write_str(", the cheapest as others"),
        }
    }
}
