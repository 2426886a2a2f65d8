//! Which jobs, how often, how old the index is, and what is otherwise than in the figures.

use super::{HEAVY_S, LIGHT_S};

/// Jobs and sites.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Work {
    /// Light jobs; files lie without regard to power.
    Balanced,
    /// Light jobs; the large file lies at the fastest sites.
    Unbalanced,
    /// Heavy jobs, power as printed.
    Heavy,
    /// Heavy jobs, power scaled so that sites saturate where the figure's do.
    HeavyScaled,
}

impl Work {
    /// α and β.
    pub fn weights(self) -> (f64, f64) {
        if self.is_light() { (0.75, 0.25) } else { (0.25, 0.25) }
    }

    /// Whether executions are short.
    pub fn is_light(self) -> bool {
        matches!(self, Work::Balanced | Work::Unbalanced)
    }

    /// The figure's mean interarrival times.
    pub fn loads_s(self) -> &'static [f64] {
        if self.is_light() { &LIGHT_S } else { &HEAVY_S }
    }

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Work::Balanced => "light, balanced",
            Work::Unbalanced => "light, unbalanced",
            Work::Heavy => "heavy, as printed",
            Work::HeavyScaled => "heavy, scaled",
        }
    }

    /// The time to live of the index in the figures.
    pub fn ttl(self) -> Ttl {
        if self.is_light() { Ttl::Seconds(60.0) } else { Ttl::Jobs(1.0) }
    }
}

/// The time to live of the index.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub enum Ttl {
    /// So long.
    Seconds(f64),
    /// So many mean interarrival times.
    Jobs(f64),
}

/// What is otherwise than in the figures.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Variant {
    /// Nothing.
    None,
    /// Of equals, any.
    TiesByLot,
    /// Each transfer has its links to itself.
    LinksUnshared,
    /// The traversal time counts jobs whose files are on their way.
    TransfersSeen,
    /// Both.
    SeenByLot,
    /// Elements are asked.
    Asked,
    /// Only elements that hold most files are candidates.
    MostFiles,
    /// The network is ten times as fast.
    FastNetwork,
    /// Files are read at 12.5 MB/s.
    FastStorage,
    /// Copies that were brought stay.
    KeepsReplicas,
    /// The traversal time counts the execution.
    WithExecution,
}

impl Variant {
    /// All that differ from the figures.
    pub const ALL: [Variant; 10] = [
        Variant::TiesByLot,
        Variant::LinksUnshared,
        Variant::TransfersSeen,
        Variant::SeenByLot,
        Variant::Asked,
        Variant::MostFiles,
        Variant::FastNetwork,
        Variant::FastStorage,
        Variant::KeepsReplicas,
        Variant::WithExecution,
    ];

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Variant::None => "as in the figures",
            Variant::TiesByLot => "ties by lot",
            Variant::LinksUnshared => "links not shared",
            Variant::TransfersSeen => "transfers seen",
            Variant::SeenByLot => "transfers seen, ties by lot",
            Variant::Asked => "elements asked",
            Variant::MostFiles => "candidates with most files",
            Variant::FastNetwork => "network ten times as fast",
            Variant::FastStorage => "reading at 12.5 MB/s",
            Variant::KeepsReplicas => "copies kept",
            Variant::WithExecution => "traversal with execution",
        }
    }
}

/// One setting in which rules are compared.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Case {
    /// Jobs and sites.
    pub work: Work,
    /// Mean seconds between two jobs.
    pub inter_s: f64,
    /// How old the index gets.
    pub ttl: Ttl,
    /// How many brokers share the jobs.
    pub brokers: u32,
    /// What is otherwise.
    pub variant: Variant,
}

impl Case {
    /// A point of a figure.
    pub fn of(work: Work, inter_s: f64) -> Self {
        Self { work, inter_s, ttl: work.ttl(), brokers: 1, variant: Variant::None }
    }

    /// The same with another index.
    #[must_use]
    pub fn with_ttl(self, ttl: Ttl) -> Self {
        Self { ttl, ..self }
    }

    /// The same, otherwise.
    #[must_use]
    pub fn but(self, variant: Variant) -> Self {
        Self { variant, ..self }
    }

    /// The time to live, in seconds.
    pub fn ttl_s(&self) -> f64 {
        match self.ttl {
            Ttl::Seconds(seconds) => seconds,
            Ttl::Jobs(jobs) => jobs * self.inter_s,
        }
    }
}
