use gleaner_core::{Tags, TaskClass};
use gleaner_policy::{Recipe, Score};
use gleaner_units::{FileId, Ops, SiteId, Span, TaskClassId, Time};
use thiserror::Error;

/// Sites, what they compute and store on, how they are joined, who sends what there, and how that is known.
#[derive(Clone, PartialEq, Debug)]
pub struct BrokeringSetup {
    /// What runs jobs.
    pub elements: Vec<Element>,
    /// What stores files, in order of the sites.
    pub storage: Vec<Storage>,
    /// In order of their ids.
    pub files: Vec<File>,
    /// Copies that come from outside later, in order of time.
    pub copies: Vec<LaterCopy>,
    /// Between sites, and between sites and places where links meet.
    pub links: Vec<Link>,
    /// Levels and more of the index; the last above all others.
    pub index: Vec<IndexNode>,
    /// Kinds of jobs.
    pub classes: Vec<JobClass>,
    /// In order of time.
    pub jobs: Vec<Job>,
    /// How many brokers there are.
    pub brokers: usize,
    /// How an element's own scheduler runs what waits there.
    pub queue: Recipe,
    /// How the rest is taken.
    pub model: Model,
}

/// First come, first served: what waits is started in order, and an element has but one machine to start it on.
pub fn first_come() -> Recipe {
    Recipe::by(Score::MinNum)
}

/// A computing element: processors behind one queue.
#[derive(Clone, PartialEq, Debug)]
pub struct Element {
    /// Where it is.
    pub site: SiteId,
    /// How many jobs it runs at a time.
    pub cpus: u32,
    /// How fast each of them is.
    pub ops_per_s: f64,
    /// Groups that it takes jobs of, and whatever else jobs may require.
    pub provides: Tags,
    /// What it says of itself.
    pub ad: Option<gleaner_core::Ad>,
    /// The part of the index that it publishes to.
    pub index: usize,
}

/// A storage element.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Storage {
    /// How fast jobs at the site read from it.
    pub bytes_per_s: f64,
    /// What it holds at most, where there is a limit.
    pub quota: Option<u64>,
}

/// A logical file.
#[derive(Clone, PartialEq, Debug)]
pub struct File {
    /// Its size.
    pub bytes: u64,
    /// Where copies of it are from the beginning to the end.
    pub at: Vec<SiteId>,
}

/// A copy of a file that comes to a site from outside, and stays there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaterCopy {
    /// When.
    pub at: Time,
    /// Of which file.
    pub file: FileId,
    /// Where to.
    pub site: SiteId,
}

/// A link between two places, each way. The first places are the sites.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Link {
    /// Its ends.
    pub between: (usize, usize),
    /// What it carries each way.
    pub bytes_per_s: f64,
}

/// A part of the information index: it takes in what is below it once a period, and knows it until then.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IndexNode {
    /// The time to live of what it knows.
    pub ttl: Span,
    /// What takes it in; nothing for the one that brokers ask.
    pub above: Option<usize>,
}

/// Jobs that brokers cannot tell apart but for their lengths.
#[derive(Clone, PartialEq, Debug)]
pub struct JobClass {
    /// As brokers are told it.
    pub task: TaskClass,
    /// What it reads.
    pub inputs: Vec<FileId>,
}

/// A job, handed in to a broker.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Job {
    /// When.
    pub arrival: Time,
    /// How long.
    pub length: Ops,
    /// How long its user says.
    pub estimate: Ops,
    /// What it is like.
    pub class: TaskClassId,
    /// Which broker.
    pub broker: usize,
}

/// How things go that are not in the tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Model {
    /// Where brokers have the traversal time from.
    pub rank_source: RankSource,
    /// Whether transfers that meet on a link share it.
    pub links: crate::Division,
    /// Whether a processor is held while a job reads its files.
    pub reading_holds_cpu: bool,
    /// Whether the traversal time counts jobs whose files are on their way.
    pub transfers_seen: bool,
    /// Whether files that were brought stay within the quota.
    pub keeps_replicas: bool,
    /// How long a letter takes, each way.
    pub delay: Span,
}

/// Where brokers have the traversal time from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RankSource {
    /// From the index, as old as that is.
    Index,
    /// From each element, when a job comes.
    Element,
}

impl Default for Model {
    fn default() -> Self {
        Self {
            rank_source: RankSource::Index,
            links: crate::Division::Fair,
            reading_holds_cpu: true,
            transfers_seen: false,
            keeps_replicas: false,
            delay: Span::ZERO,
        }
    }
}

/// Why a setup makes no sense; numbers are positions in its lists.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum BrokeringError {
    /// Nothing there to run jobs or to place them.
    #[error("no {0}; expected at least one")]
    Nothing(&'static str),
    /// A copy at a site that is not there.
    #[error("file {file} has a copy at site {site}, which is not there; there are {sites}")]
    UnknownSite {
        /// Which file.
        file: usize,
        /// Where it is said to be.
        site: usize,
        /// How many there are.
        sites: usize,
    },
    /// No copy of a file that is read.
    #[error("no site holds file {file}, which jobs of class {class} read")]
    NobodyHolds {
        /// Which file.
        file: usize,
        /// Who reads it.
        class: usize,
    },
    /// What is above a part of the index has it above itself.
    #[error("part {0} of the index is above itself")]
    Cycle(usize),
    /// Brokers ask one part.
    #[error("{0} parts of the index have nothing above them; expected one, which brokers ask")]
    Tops(usize),
    /// A storage element holds more than it can from the beginning.
    #[error("site {site} stores {stored} bytes, and has room for {quota}: fewer copies, or a larger quota")]
    Full {
        /// Which site.
        site: usize,
        /// What it stores.
        stored: u64,
        /// What it could.
        quota: u64,
    },
    /// Elements cannot go by the rule.
    #[error("sites cannot keep their queues by {0}; expected a rule for queues, as queue/easy")]
    Queue(String),
    /// Jobs that need several processors at a time have a queue that knows of that.
    #[error(
        "jobs of class {class} take {cores} processors, and the sites' queues start one a job; expected queue/fcfs, queue/easy or queue/conservative"
    )]
    Wide {
        /// Which class.
        class: usize,
        /// How many they take.
        cores: u32,
    },
    /// Brokers cannot go by the rule.
    #[error("brokers cannot go by {0}; expected a rule that sends each job once, as gleaner/broker")]
    Rule(String),
    /// No element can ever run jobs of a class, or their data cannot come to one that can.
    #[error("no element can run jobs of class {class}: {why}")]
    Stuck {
        /// Which class.
        class: usize,
        /// What stands in the way.
        why: String,
    },
}

impl BrokeringSetup {
    /// Refuses what makes no sense.
    pub fn check(&self) -> Result<(), BrokeringError> {
        for (what, count) in [
            ("element", self.elements.len()),
            ("broker", self.brokers),
            ("part of the index", self.index.len()),
        ] {
            if count == 0 {
                return Err(BrokeringError::Nothing(what));
            }
        }
        self.check_files()?;
        self.check_queue()?;
        self.check_index()
    }

    fn check_queue(&self) -> Result<(), BrokeringError> {
        if self.queue.queues() {
            return Ok(());
        }
        if self.queue != first_come() {
            return Err(BrokeringError::Queue(self.queue.to_string()));
        }
        let wide = self.classes.iter().position(|class| class.task.needs.cores > 1);
        wide.map_or(Ok(()), |class| {
            Err(BrokeringError::Wide { class, cores: self.classes[class].task.needs.cores })
        })
    }

    /// How many processors a job takes at a time.
    pub(super) fn cores(&self, job: usize) -> u32 {
        self.classes[self.jobs[job].class.index()].task.needs.cores
    }

    /// What an element is told of how long a job has its processors.
    pub(super) fn estimated_s(&self, job: usize, element: usize) -> f64 {
        let Job { length, estimate, .. } = self.jobs[job];
        let more = (estimate.amount() - length.amount()) / self.elements[element].ops_per_s;
        self.service_s(job, element) + more
    }

    /// Whether what an element estimates when it hears of a job stays true until that begins.
    pub(super) fn keeps_to_bookings(&self) -> bool {
        !self.queue.queues() && self.jobs.iter().all(|job| job.estimate == job.length)
    }

    fn check_files(&self) -> Result<(), BrokeringError> {
        let sites = self.storage.len();
        let at_first =
            self.files.iter().enumerate().flat_map(|(file, of)| of.at.iter().map(move |at| (file, at)));
        let later = self.copies.iter().map(|copy| (copy.file.index(), &copy.site));
        for (file, at) in at_first.chain(later) {
            if at.index() >= sites {
                return Err(BrokeringError::UnknownSite { file, site: at.index(), sites });
            }
        }
        for (class, of) in self.classes.iter().enumerate() {
            let comes = |file: FileId| self.copies.iter().any(|copy| copy.file == file);
            let is_lost = |file: &&FileId| self.files[file.index()].at.is_empty() && !comes(**file);
            let lost = of.inputs.iter().find(is_lost);
            if let Some(file) = lost {
                return Err(BrokeringError::NobodyHolds { file: file.index(), class });
            }
        }
        for (site, storage) in self.storage.iter().enumerate() {
            let stored = self.stored_at(SiteId::new(site)).saturating_add(self.comes_to(SiteId::new(site)));
            if let Some(quota) = storage.quota.filter(|quota| stored > *quota) {
                return Err(BrokeringError::Full { site, stored, quota });
            }
        }
        Ok(())
    }

    /// The bytes that stay at a site.
    pub(super) fn stored_at(&self, site: SiteId) -> u64 {
        sum(self.files.iter().filter(|file| file.at.contains(&site)).map(|file| file.bytes))
    }

    /// The bytes that come to a site later and stay there.
    fn comes_to(&self, site: SiteId) -> u64 {
        let mut files: Vec<FileId> =
            self.copies.iter().filter(|copy| copy.site == site).map(|copy| copy.file).collect();
        files.sort_unstable();
        files.dedup();
        let is_new = |file: &FileId| !self.files[file.index()].at.contains(&site);
        sum(files.into_iter().filter(is_new).map(|file| self.files[file.index()].bytes))
    }

    fn check_index(&self) -> Result<(), BrokeringError> {
        for start in 0..self.index.len() {
            let (mut at, mut steps) = (start, 0);
            while let Some(above) = self.index[at].above {
                (at, steps) = (above, steps + 1);
                if steps > self.index.len() {
                    return Err(BrokeringError::Cycle(start));
                }
            }
        }
        match self.index.iter().filter(|node| node.above.is_none()).count() {
            1 => Ok(()),
            tops => Err(BrokeringError::Tops(tops)),
        }
    }

    /// The seconds for which a job has a processor of an element.
    pub(super) fn service_s(&self, job: usize, element: usize) -> f64 {
        let (job, on) = (&self.jobs[job], &self.elements[element]);
        let computing = job.length.amount() / on.ops_per_s;
        if self.model.reading_holds_cpu { computing + self.reading_s(job.class, on.site) } else { computing }
    }

    /// The seconds that a job reads before it computes.
    pub(super) fn reading_s(&self, class: TaskClassId, at: SiteId) -> f64 {
        let inputs = self.classes[class.index()].inputs.iter();
        let bytes = sum(inputs.map(|file| self.files[file.index()].bytes));
        bytes as f64 / self.storage[at.index()].bytes_per_s
    }
}

/// More bytes than can be counted are more than any site has.
fn sum(bytes: impl Iterator<Item = u64>) -> u64 {
    bytes.fold(0, u64::saturating_add)
}
