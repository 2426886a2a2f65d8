//! The recipes that carry a paper's name. A name is made of parts, and so are what it stands for and what is said of it.

use crate::parts::Choice as _;
use crate::parts::aim::Aim;
use crate::parts::belief::Belief;
use crate::parts::budget::{Cheapest, Level, Rule, Savings, Spending, rule_name};
use crate::parts::choose::Choose;
use crate::parts::favours::{Overflow, Peering, Reach, Recalling};
use crate::parts::order::TaskOrder;
use crate::parts::queue::Backfill;
use crate::parts::rank::{Rank, Until};
use crate::parts::replicate::Replicate;
use crate::parts::score::Score;
use crate::parts::sites::SiteRule;
use crate::parts::when::{Holding, PERIOD};
use crate::recipe::{Goal, Recipe};

/// A recipe with a name, and what to know before choosing it.
#[derive(Clone, PartialEq, Debug)]
pub struct Preset {
    /// `paper/rule`.
    pub name: String,
    /// In one line.
    pub summary: String,
    /// Where it comes from and what it costs; the parts say the rest.
    pub description: String,
    /// The parts.
    pub recipe: Recipe,
    /// Which parts its name says: nobody says them otherwise.
    pub(crate) says: &'static [Part],
}

/// What a name may say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    When,
    Order,
    Score,
    Choose,
    Budget,
}

const PLANNED: &str = "Machines run one task a core, and lengths are those that were declared.";

fn bertasi(score: Score) -> Preset {
    Preset {
        name: format!("bertasi/{}", score.name()),
        summary: score.summary().to_owned(),
        description: format!(
            "From Bertasi, Pettarin, Scquizzato and Silvestri, who also move tasks later: set relocate for that. {}",
            score.cost()
        ),
        recipe: Recipe::by(score),
        says: &[Part::When, Part::Score],
    }
}

/// The rules of the second paper's versions, as its names abbreviate them.
const ELLEUCH: [Rule; 5] = [
    (Spending::Free, Level::Machines),
    (Spending::Cap, Level::Machines),
    (Spending::PerTask(Cheapest::First), Level::Machines),
    (Spending::PerTaskAndTime(Savings::AsPrinted, Cheapest::First), Level::Machines),
    (Spending::PerTaskAndTime(Savings::AsPrinted, Cheapest::First), Level::Classes),
];

fn elleuch((spending, level): Rule, order: TaskOrder) -> Preset {
    let prefix =
        if spending.heeds_budget() { format!("{}-", rule_name((spending, level))) } else { String::new() };
    let rule = match level {
        Level::Machines => spending.summary(),
        Level::Classes => "the same, planned for classes of machines",
    };
    let cost = match level {
        Level::Machines => {
            "A batch costs O(tasks·log tasks + machines·log machines), and then O(machine classes) for each task; with \
             condition (5) as derived, O(machines) for each."
        }
        Level::Classes => {
            "A batch costs O(tasks·log tasks + machines), and then O(machine classes) for each task."
        }
    };
    Preset {
        name: format!("elleuch/{prefix}{}", order.name()),
        summary: format!("{rule}; {}", order.summary()),
        description: format!("From Elleuch, Chourou and Jemni, figures 1 and 2. {PLANNED} {cost}"),
        recipe: Recipe {
            when: PERIOD,
            order,
            goal: Goal::End(Aim::Earliest),
            spending,
            level,
            ..Recipe::by(Score::Greedy)
        },
        // Without a rule in the name, any may be given.
        says: if spending.heeds_budget() { &[Part::Order, Part::Budget] } else { &[Part::Order] },
    }
}

fn elleuchs() -> impl Iterator<Item = Preset> {
    let orders = || TaskOrder::all().into_iter().filter(|order| *order != TaskOrder::Submission);
    ELLEUCH.into_iter().flat_map(move |rule| orders().map(move |order| elleuch(rule, order)))
}

fn nimrod(name: &str, summary: &str, (aim, spending): (Aim, Spending), description: &str) -> Preset {
    Preset {
        name: format!("nimrod/{name}"),
        summary: summary.to_owned(),
        description: format!("The Nimrod/G broker's {description} {PLANNED}"),
        recipe: Recipe { when: PERIOD, goal: Goal::End(aim), spending, ..Recipe::by(Score::Greedy) },
        says: &[Part::Order, Part::Score, Part::Budget],
    }
}

fn nimrods() -> [Preset; 4] {
    [
        nimrod(
            "cost",
            "in batches, each task on the cheapest machine that meets the deadline",
            (Aim::Cheapest, Spending::Cap),
            "cost optimisation. A batch costs O(machines) for each task.",
        ),
        nimrod(
            "time",
            "in batches, each task done first for at most its part of what is left",
            (Aim::Earliest, Spending::Share),
            "time optimisation. A batch costs O(machine classes) for each task.",
        ),
        nimrod(
            "cost-time",
            "as cost, but equally cheap machines are all used",
            (Aim::CheapestThenEarliest, Spending::Cap),
            "cost-time optimisation. A batch costs O(machine classes) for each task.",
        ),
        nimrod(
            "conservative-time",
            "as time, but each task not yet begun keeps a least share",
            (Aim::Earliest, Spending::LeastShare),
            "conservative time optimisation. A batch costs O(machine classes) for each task.",
        ),
    ]
}

/// What this project recommends where machines cost something.
fn budget() -> Preset {
    let base = elleuch((Spending::MovingPrice, Level::Machines), TaskOrder::MinMin);
    Preset {
        name: "gleaner/budget".to_owned(),
        description: format!(
            "Min-Min within a budget, up to a price that each batch sets anew so that what is expected to begin costs the whole \
             recharge; and no task goes to a machine so slow that the faster ones would have done everything first. {PLANNED} A \
             batch costs O(tasks·log tasks + machines·log machines + task classes × machine classes), and then O(machine \
             classes) for each task."
        ),
        recipe: Recipe { hold: Holding::WhenSlower, ..base.recipe },
        ..base
    }
}

/// The baseline that plans for an aim, if there is one.
fn immediate(aim: Aim) -> Option<Preset> {
    let (name, summary, cost) = match aim {
        Aim::Earliest => (
            "mct".to_owned(),
            "each task as it comes to the machine that is done with it first",
            "O(machines·log machines), and then O(machine classes) each",
        ),
        Aim::Fastest => (
            "met".to_owned(),
            "each task as it comes to the machine that is fastest for it",
            "O(machines·log machines), and then O(machines of the fastest class) each",
        ),
        Aim::FirstFree => (
            "olb".to_owned(),
            "each task as it comes to the machine that is free first",
            "O(machines·log machines), and then O(machine classes) each",
        ),
        Aim::EarliestOfFastest { .. } => (
            aim.name().into_owned(),
            "the same as mct, among the P % of the machines that are fastest for it",
            "O(machines·log machines), and each as much again",
        ),
        Aim::Cheapest | Aim::CheapestThenEarliest => return None,
    };
    Some(Preset {
        name: format!("immediate/{name}"),
        summary: summary.to_owned(),
        description: format!(
            "A baseline of Maheswaran et al. that looks at no other task. {PLANNED} Tasks that come together cost {cost}."
        ),
        recipe: Recipe::as_they_come(aim),
        says: &[Part::When, Part::Score],
    })
}

/// α and β of the paper's light jobs.
const LIGHT: Rank = Rank { alpha: 0.75, beta: 0.25, ..Rank::by_traversal(Until::Begin) };

fn cavalieri(name: &str, summary: &str, (rank, choose): (Rank, Choose), description: &str) -> Preset {
    Preset {
        name: format!("cavalieri/{name}"),
        summary: summary.to_owned(),
        description: format!(
            "From Cavalieri, Monforte and Scibilia: machines are sites with queues of their own, whose state is as old as \
             what they published. {description} A decision costs O(log sites) for each site that was heard of since the last."
        ),
        recipe: Recipe::brokering(rank, choose, Belief::AsPublished),
        says: &[Part::When, Part::Choose],
    }
}

fn cavalieris() -> [Preset; 3] {
    [
        cavalieri(
            "current",
            "each task to the site that says it has the shortest queue",
            (Rank::default(), Choose::Best),
            "The resource broker as it was: files do not count.",
        ),
        cavalieri(
            "deterministic",
            "each task to the site with the best rank, files included",
            (LIGHT, Choose::Best),
            "Equations (1) to (3), with α = 0.75 and β = 0.25 unless said otherwise.",
        ),
        cavalieri(
            "stochastic",
            "each task to a site drawn by its rank, files included",
            (LIGHT, Choose::Proportional { power: 1 }),
            "Equations (1) to (3), and a chance in proportion to 1/|rank|.",
        ),
    ]
}

/// A broker's default.
fn broker() -> Preset {
    Preset {
        name: "gleaner/broker".to_owned(),
        summary: "each task to the site with the best rank, with what the broker sent there itself".to_owned(),
        description: "The rank of Cavalieri, Monforte and Scibilia; what was sent since a site published is added to what it \
                      said, times the number of brokers. A decision costs O(log sites) for each site that was heard of since \
                      the last."
            .to_owned(),
        recipe: Recipe::brokering(LIGHT, Choose::Best, Belief::OwnDispatches { brokers: 1 }),
        says: &[Part::When],
    }
}

fn queue(backfill: Backfill) -> Preset {
    let (summary, cost) = match backfill {
        Backfill::Fcfs => ("rigid jobs in one line, in turn", "O(log n)"),
        Backfill::Easy => (
            "rigid jobs in one line; whoever does not delay the first may start before it",
            "O(log n) and a look at each kind of tasks that waits, by cores; with several machines, one at each of them",
        ),
        Backfill::Conservative => (
            "rigid jobs in one line; whoever delays nobody before him may start",
            "O(log n); where a task ends early, a search for each that waits",
        ),
    };
    Preset {
        name: format!("queue/{}", backfill.name()),
        summary: summary.to_owned(),
        description: format!(
            "As clusters' queue managers do it. All that runs on a machine takes no more cores than it has slots, as many \
             as its cores unless somebody set another number (`gleaner work --slots`). A start costs {cost}."
        ),
        recipe: Recipe::in_line(backfill),
        says: &[Part::When, Part::Order, Part::Score],
    }
}

fn dasilvas() -> [Preset; 2] {
    let preset = |name: &str, summary: &str, score: Score, choose: Choose, what: &str| Preset {
        name: format!("dasilva/{name}"),
        summary: summary.to_owned(),
        description: format!(
            "From Da Silva and Nesmachnow: {what}. A site's own machines come first, then what peers lend by the Network of \
             Favours; tasks that none is free for queue on the site's own. A decision costs O(machine classes + log machines)."
        ),
        recipe: Recipe { choose, peering: Some(Peering::default()), ..Recipe::by(score) },
        says: &[Part::When],
    };
    [
        preset(
            "traditional",
            "among peers, each task to the first machine that is free",
            Score::Power,
            Choose::First,
            "OurGrid's own rule, section 5.1",
        ),
        preset(
            "greedy",
            "among peers, each task to the most powerful machine that is free",
            Score::Power,
            Choose::BestLatest,
            "Algorithm 1, section 5.2",
        ),
    ]
}

/// They beat `dasilva/greedy`: see `docs/dasilva.md`.
fn bags() -> [Preset; 2] {
    // What is taken back begins anew: it costs more than whoever takes it back gains.
    let peering =
        Peering { queue: Overflow::Peer, recall: Recalling::Never, reach: Reach::Grid, ..Peering::default() };
    let recipe = Recipe {
        choose: Choose::BestLatest,
        replicate: Replicate::Idle,
        peering: Some(peering),
        ..Recipe::by(Score::Power)
    };
    let how = "As dasilva/greedy, but each task goes to the most powerful idle machine of the whole grid; and while no task waits \
               and nobody wants the machine, a running one gets a second run on an idle machine of the peer's own, if that is \
               likely to save half the time that it takes.";
    let cost = "A second run costs O(machines), all else O(machine classes + log machines).";
    [
        Preset {
            name: "gleaner/bags".to_owned(),
            summary: "among peers, each task to the most powerful machine of the grid, and once more to an idle one that is \
                      faster"
                .to_owned(),
            description: format!("{how} How long tasks are is learnt from those that ended: no length is read. {cost}"),
            recipe,
            says: &[Part::When, Part::Order],
        },
        Preset {
            name: "gleaner/bags-longest".to_owned(),
            summary: "the same, the longest task of each job first, by declared lengths".to_owned(),
            description: format!(
                "{how} Of tasks that were handed in at one moment the longest comes first, by declared lengths; so each has its \
                 earliest end among what is idle. {cost}"
            ),
            recipe: Recipe { order: TaskOrder::MaxMin, ..recipe },
            says: &[Part::When, Part::Order],
        },
    ]
}

fn sites() -> [Preset; 4] {
    let khoo = "From Khoo, Veeravalli, Hung and See.";
    let rows = [
        (
            "khoo/mrs",
            "jobs over the sites that are nearest on each job's virtual map",
            SiteRule::MRS,
            khoo,
            "O(log sites) for each site that changed, for a kind of job that was met before; else O(sites·log sites)",
        ),
        (
            "khoo/rep",
            "two copies of each job, of which the first to end counts",
            SiteRule::REP,
            khoo,
            "O(sites·log sites), and for the moment that is kept O(runs·sites)",
        ),
        (
            "khoo/backfill",
            "EASY backfilling in one line for all sites",
            SiteRule::BACKFILL,
            khoo,
            "O(sites·log sites), and for the moment that is kept O(runs·sites)",
        ),
        (
            "gleaner/sites",
            "each job over the sites with which it is estimated to end first",
            SiteRule::SITES,
            "Ours.",
            "O(sites²)",
        ),
    ];
    rows.map(|(name, summary, rule, from, cost)| Preset {
        name: name.to_owned(),
        summary: summary.to_owned(),
        description: format!(
            "{from} Machines are sites, over which jobs may be split. A look at a job costs {cost}."
        ),
        recipe: Recipe::over_sites(rule),
        says: &[Part::When, Part::Order, Part::Score],
    })
}

impl Preset {
    /// All of them, in the order in which help lists them. One stands for all that differ in a per cent.
    pub fn all() -> Vec<Self> {
        let immediates = Aim::all().into_iter().filter_map(immediate);
        let queues = Backfill::all().into_iter().map(queue);
        Score::ALL
            .map(bertasi)
            .into_iter()
            .chain(elleuchs())
            .chain([budget()])
            .chain(dasilvas())
            .chain(bags())
            .chain(nimrods())
            .chain(immediates)
            .chain(queues)
            .chain(cavalieris())
            .chain([broker()])
            .chain(sites())
            .collect()
    }

    /// The preset of that name, with the per cent that the name says.
    pub fn named(name: &str) -> Option<Self> {
        if let Some(aim @ Aim::EarliestOfFastest { .. }) =
            name.strip_prefix("immediate/").and_then(Aim::named)
        {
            return immediate(aim);
        }
        Self::all().into_iter().find(|preset| preset.name == name)
    }
}
