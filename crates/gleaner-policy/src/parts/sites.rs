//! How jobs are given to sites over which they may be split: the part of policies for grids of clusters.

use super::{About, Choice, Input};
use crate::error::PolicyError;
use crate::sites::map::{AtSource, Axes, Bandwidth, Direction, Reading, Root, Weights};
use std::fmt;

/// Gives an enum of choices its [`Choice`], from a table.
macro_rules! choices {
    ($part:ident: $($variant:ident $name:literal $meaning:literal)*) => {
        impl Choice for $part {
            fn all() -> Vec<Self> {
                vec![$($part::$variant),*]
            }

            fn about(&self) -> About {
                match self {
                    $($part::$variant => About { name: $name, meaning: $meaning, reads: &[] }),*
                }
            }
        }
    };
}

/// Which sites a job is offered to first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Nearness {
    /// By the distance on the job's virtual map.
    #[default]
    Map,
    /// By how many of the job's cores a site could take.
    MostFree,
    /// As they joined.
    Listed,
    /// By the rate at which the job's data comes.
    Data,
    /// As many and as few, and those, with which it is estimated to end first.
    EarliestEnd,
}

impl Choice for Nearness {
    fn all() -> Vec<Self> {
        vec![Nearness::Map, Nearness::MostFree, Nearness::Listed, Nearness::Data, Nearness::EarliestEnd]
    }

    fn about(&self) -> About {
        const FREE: &[Input] = &[Input::Room];
        const ALL: &[Input] = &[Input::Room, Input::Speeds, Input::Lengths, Input::Files];
        match self {
            Nearness::Map => About {
                name: "map",
                meaning: "A job fills the sites in order of their distance from the origin of its virtual map, equations \
                          (1) and (2) of Khoo et al. What the job asks for (C) and its run time are the same at all sites: \
                          those at the mean speed of the sites that can run it.",
                reads: ALL,
            },
            Nearness::MostFree => About {
                name: "most-free",
                meaning: "A job fills the sites in order of how many of its cores each could take, the most first.",
                reads: FREE,
            },
            Nearness::Listed => About {
                name: "listed",
                meaning: "A job fills the sites in the order in which they joined.",
                reads: FREE,
            },
            Nearness::Data => About {
                name: "data",
                meaning: "A job fills the sites in order of how soon its data would be there.",
                reads: &[Input::Room, Input::Files],
            },
            Nearness::EarliestEnd => About {
                name: "earliest-end",
                meaning: "A job goes to the sites with which it is estimated to end first, with what it takes to bring its \
                          data there and what it loses by being split.",
                reads: ALL,
            },
        }
    }
}

/// What jobs behind one that does not fit may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Behind {
    /// Start, if they fit.
    #[default]
    Starts,
    /// Wait.
    Waits,
    /// Start, if that does not delay the first that does not fit.
    Easy,
    /// Start, until the first that does not fit has waited for long; from then on as with EASY.
    Patient,
}

choices! { Behind:
    Starts "starts" "Each job that fits starts, the longest waiting first, whoever waits before it."
    Waits "waits" "While a job does not fit, nobody behind it starts."
    Easy "easy" "The first that does not fit has the earliest moment kept for it at which it will; a later job may start if \
                 it will have ended by then, or leaves what the first needs."
    Patient "patient" "Each job that fits starts, until the first that does not has waited for long beside what it takes \
                       itself; from then on the earliest moment is kept for it, as with easy."
}

/// In which order jobs that wait are looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Turn {
    /// As they were submitted.
    #[default]
    Longest,
    /// By the most of waiting relative to cores times length.
    Ratio,
}

choices! { Turn:
    Longest "longest-waiting" "The job that has waited longest is next."
    Ratio "ratio" "The job that has waited longest relative to its cores times its length is next: small jobs first, and \
                   large ones the sooner the longer they wait."
}

/// Over how many sites a job may be divided.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Split {
    /// As many as it takes, each filled before the next.
    #[default]
    Nearest,
    /// One, if it fits into one; else as many as it takes.
    WholeIfItFits,
    /// One.
    Whole,
}

choices! { Split:
    Nearest "nearest" "A job fills each site before the next, and is split over as many as that takes."
    WholeIfItFits "whole-if-it-fits" "A job goes to the first site that can take all of it; if there is none, it is split."
    Whole "whole" "A job is never split."
}

/// Where jobs wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Queues {
    /// In one line for all sites.
    #[default]
    Central,
    /// At a site, drawn as the job comes from those that could ever take all of it.
    Drawn,
    /// At the site of its data, if that could ever take all of it; else as drawn.
    AtData,
}

choices! { Queues:
    Central "central" "Jobs wait in one line for all sites."
    Drawn "drawn" "Each job waits at one site, drawn from those that could ever take all of it, and starts there."
    AtData "at-data" "Each job waits at the site of its data, if that could ever take all of it; else at one that is drawn."
}

/// When copies of a job beyond the first are started.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Copies {
    /// Each waits in line like a job.
    #[default]
    Strict,
    /// After all first copies were looked at.
    WhenIdle,
}

choices! { Copies:
    Strict "strict" "Each copy of a job waits in line as the job itself does."
    WhenIdle "when-idle" "Copies of a job beyond its first start where no other job's first would."
}

/// When copies that have not ended are given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum GiveUp {
    /// As soon as one has ended.
    #[default]
    AtEnd,
    /// As soon as one has started.
    AtStart,
}

choices! { GiveUp:
    AtEnd "end" "The other copies are stopped when the first has ended."
    AtStart "start" "The other copies wait no more when one has started."
}

/// How a meta-scheduler knows what sites have free.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum News {
    /// By what they last said, and what was sent there since.
    #[default]
    Published,
    /// It asks all of them before each look at the line.
    Broadcast,
}

choices! { News:
    Published "published" "What a site last said is believed, less what was sent there since."
    Broadcast "broadcast" "Before each look at the line all sites are asked what they have; who is silent for patience_s gets \
                           no job. While jobs wait, they are asked again every again_s."
}

/// What counts as what a site has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Has {
    /// What is free now.
    #[default]
    Free,
    /// All of it.
    Total,
}

choices! { Has:
    Free "free" "Equation (1) goes by what is free at the site now."
    Total "total" "Equation (1) goes by all that the site has, free or not."
}

/// What comes of a job's data when it is split.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Data {
    /// Each part needs its share.
    #[default]
    Share,
    /// Each part needs all of it.
    Whole,
}

choices! { Data:
    Share "share" "Each part of a job that is split needs its share of the data."
    Whole "whole" "Each part of a job that is split needs all of the data."
}

choices! { Root:
    Whole "whole" "The root of equation (1) is over all four terms, potential included."
    AsPrinted "as-printed" "The root of equation (1) is over C, M and F, and the term of potential is added to it, as printed."
}

choices! { AtSource:
    Nothing "nothing" "Equation (2) is 0 where the data lies."
    Infinite "infinite" "Equation (2) is infinite where the data lies, as a division by the bandwidth 0 would be."
}

choices! { Direction:
    Obtaining "obtaining" "A site's potential is the sum of the bandwidths at which it obtains data."
    Sending "sending" "A site's potential is the sum of the bandwidths at which it sends data."
}

choices! { Bandwidth:
    Idle "idle" "Equation (2) divides by the bandwidth of the link while nothing else uses it."
    Left "left" "Equation (2) divides by what is left of the bandwidth: it is parted evenly among the transfers of jobs that \
                 have not started at the site, or at the one where the data lies, whichever are more, and one more."
}

/// The part of a policy for sites.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SiteRule {
    /// Which sites a job is offered to first.
    pub nearness: Nearness,
    /// What jobs behind one that does not fit may do.
    pub behind: Behind,
    /// In which order jobs are looked at.
    pub turn: Turn,
    /// Over how many sites a job may be divided.
    pub split: Split,
    /// Where jobs wait.
    pub queues: Queues,
    /// How many copies of each job there are; at least 1.
    pub copies: u32,
    /// When those beyond the first are started.
    pub extra: Copies,
    /// When the others are given up.
    pub give_up: GiveUp,
    /// Whether copies of a job share no site.
    pub apart: bool,
    /// How it is known what sites have free.
    pub news: News,
    /// After how many seconds a site that was asked something and is silent is not waited for.
    pub patience_s: f64,
    /// After how many seconds sites are asked what they have once more while jobs wait.
    pub again_s: f64,
    /// Whether the time to bring data counts in how long a job is estimated to hold its room.
    pub staging: bool,
    /// What comes of the data of a job that is split, for estimates.
    pub data: Data,
    /// How much longer a job takes for the part of its processes' pairs that are at different sites, for estimates: 0.5 for
    /// half as long again if all are.
    pub crossing: f64,
    /// How equations (1) and (2) are read.
    pub reading: Reading,
    /// K.
    pub weights: Weights,
    /// Which further axes the map has.
    pub axes: Axes,
    /// What counts as what a site has.
    pub has: Has,
}

impl SiteRule {
    /// Refuses what makes no sense together.
    pub(crate) fn check(&self) -> Result<(), PolicyError> {
        let Self { behind, queues, split, copies, nearness, .. } = *self;
        if queues != Queues::Central && split != Split::Whole {
            let expected = "whole: a job that waits at a site starts there";
            return Err(PolicyError::new("sites.split", split.name(), expected));
        }
        if queues != Queues::Central && behind == Behind::Patient {
            let expected = "starts, waits or easy: who waits at a site has its own line";
            return Err(PolicyError::new("sites.behind", behind.name(), expected));
        }
        if copies == 0 || (copies > 1 && nearness == Nearness::EarliestEnd) {
            let expected = "1: where jobs are estimated to end first, one run is enough";
            return Err(PolicyError::new("sites.copies", copies.to_string(), expected));
        }
        Ok(())
    }

    /// Its choices, by the key that says each.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (&'static str, About)> {
        [
            ("nearness", self.nearness.about()),
            ("behind", self.behind.about()),
            ("turn", self.turn.about()),
            ("split", self.split.about()),
            ("queues", self.queues.about()),
            ("extra", self.extra.about()),
            ("give_up", self.give_up.about()),
            ("data", self.data.about()),
            ("root", self.reading.root.about()),
            ("at_source", self.reading.at_source.about()),
            ("potential", self.reading.direction.about()),
            ("bandwidth", self.reading.bandwidth.about()),
            ("has", self.has.about()),
            ("news", self.news.about()),
        ]
        .into_iter()
    }

    /// MRS as the paper has it.
    pub const MRS: Self = Self {
        nearness: Nearness::Map,
        behind: Behind::Starts,
        turn: Turn::Longest,
        split: Split::Nearest,
        queues: Queues::Central,
        copies: 1,
        extra: Copies::Strict,
        give_up: GiveUp::AtEnd,
        apart: true,
        news: News::Published,
        patience_s: 1.0,
        again_s: 60.0,
        staging: false,
        data: Data::Share,
        crossing: 0.0,
        reading: Reading {
            root: Root::Whole,
            at_source: AtSource::Nothing,
            direction: Direction::Obtaining,
            bandwidth: Bandwidth::Idle,
        },
        weights: Weights::EVEN,
        axes: Axes::NONE,
        has: Has::Free,
    };

    /// EASY backfilling in one line for all sites, which knows nothing of data.
    pub const BACKFILL: Self = Self { nearness: Nearness::MostFree, behind: Behind::Easy, ..Self::MRS };

    /// The same with two copies of each job.
    pub const REP: Self = Self { copies: 2, ..Self::BACKFILL };

    /// Each job where it is estimated to end first; small jobs first, and large ones the sooner the longer they wait.
    pub const SITES: Self = Self {
        nearness: Nearness::EarliestEnd,
        turn: Turn::Ratio,
        staging: true,
        crossing: 0.3,
        ..Self::MRS
    };
}

/// Two rules read alike only if they are.
impl fmt::Display for SiteRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.parts().map(|(_, about)| about.name).collect();
        write!(f, "Over sites: {}", names.join(", "))?;
        let Self { copies, apart, patience_s, again_s, staging, crossing, weights, axes, .. } = self;
        let Weights { compute, memory, disk, potential } = weights;
        write!(f, "; {copies} copies")?;
        write!(f, "{}", if *apart { " apart" } else { "" })?;
        write!(f, "{}", if *staging { ", staging counted" } else { "" })?;
        write!(f, "{}", if axes.quality { ", quality counted" } else { "" })?;
        write!(f, "{}", if axes.cost { ", cost counted" } else { "" })?;
        if *patience_s != Self::MRS.patience_s {
            write!(f, ", patience {patience_s} s")?;
        }
        if *again_s != Self::MRS.again_s {
            write!(f, ", again after {again_s} s")?;
        }
        write!(f, ", crossing {crossing}, K {compute} {memory} {disk} {potential}")
    }
}
