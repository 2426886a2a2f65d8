//! What is simulated: a scenario, and the rules that are compared on it.

use super::{BACKFILL, MRS, REP, SCENARIO, SITES};
use gleaner_policy::SiteRule;
use gleaner_policy::parts::sites::{Behind, Copies, Data, GiveUp, Has, Nearness, News, Queues, Split, Turn};
use gleaner_policy::sites::map::{AtSource, Bandwidth, Direction, Root};
use gleaner_sim::Division;
use gleaner_sim::sites::{Protocol, Staging};
use gleaner_units::Span;
use gleaner_workload::sites::{
    Arrivals, Estimates, JobModel, Jobs, JobsDrawn, Largest, Sites, SitesDrawn, SitesScenario,
};
use gleaner_workload::swf;
use std::sync::Arc;

/// What a case is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Group {
    /// The scenario as it was chosen.
    Base,
    /// The same, read otherwise.
    Reading,
    /// The same with other numbers.
    Sweep,
    /// What each part of MRS is worth.
    Parts,
}

/// A scenario, and rules by name.
#[derive(Clone, Debug)]
pub struct Case {
    /// What it is about.
    pub group: Group,
    /// What is other than in the base.
    pub name: String,
    /// For a point of the sweep: load, data, whether processors are alike, days.
    pub at: Option<Point>,
    /// What is drawn.
    pub scenario: SitesScenario,
    /// What is compared.
    pub rules: Vec<(&'static str, SiteRule)>,
}

impl Case {
    /// Whether its jobs are those of a log that somebody gave.
    pub(super) fn is_of_a_log(&self) -> bool {
        matches!(&self.scenario.jobs, Jobs::Drawn(jobs) if matches!(jobs.model, JobModel::Log(_)))
    }
}

/// A point of the sweep.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Point {
    /// The part of what the sites could compute that jobs ask for.
    pub load: f64,
    /// How long data takes to come, as a part of the run time.
    pub data: f64,
    /// Whether all processors do the same.
    pub alike: bool,
    /// How long jobs arrive.
    pub days: f64,
}

/// A log that somebody gave: its name and its jobs.
pub type Log = (String, Arc<Vec<swf::Job>>);

/// Loads of the sweep.
pub(super) const LOADS: [f64; 5] = [0.3, 0.5, 0.7, 1.0, 1.5];
/// How long data takes, of the sweep.
pub(super) const DATA: [f64; 4] = [0.0, 0.25, 1.0, 2.0];
/// Days of the sweep.
pub(super) const DAYS: [f64; 2] = [3.0, 1.0];

/// The scenario as it was chosen.
pub(super) fn base() -> SitesScenario {
    SitesScenario::parse("khoo/scenario.toml", SCENARIO)
        .expect("the scenario that comes with the program is whole")
}

/// What the jobs of the scenario, or of a change to it, are drawn from.
fn jobs(scenario: &mut SitesScenario) -> &mut JobsDrawn {
    match &mut scenario.jobs {
        Jobs::Drawn(jobs) => jobs,
        Jobs::Listed(_) => unreachable!("the jobs of the experiment are drawn"),
    }
}

/// What its sites are drawn from.
fn sites(scenario: &mut SitesScenario) -> &mut SitesDrawn {
    match &mut scenario.sites {
        Sites::Drawn(sites) => sites,
        Sites::Listed(_) => unreachable!("the sites of the experiment are drawn"),
    }
}

pub(super) fn rules() -> Vec<(&'static str, SiteRule)> {
    let ours = SiteRule { crossing: base().crossing, ..SiteRule::SITES };
    vec![(BACKFILL, SiteRule::BACKFILL), (REP, SiteRule::REP), (MRS, SiteRule::MRS), (SITES, ours)]
}

/// All cases, the base first.
pub(super) fn all(logs: &[Log]) -> Vec<Case> {
    let mut cases = vec![Case {
        group: Group::Base,
        name: "as chosen".to_owned(),
        at: None,
        scenario: base(),
        rules: rules(),
    }];
    cases.extend(readings(logs));
    cases.extend(sweep());
    cases.push(Case {
        group: Group::Parts,
        name: "parts of MRS".to_owned(),
        at: None,
        scenario: base(),
        rules: parts(),
    });
    cases
}

/// A change to the scenario and to the rules, by their names.
type Change = fn(&mut SitesScenario, &str, &mut SiteRule);

/// Four meta-schedulers whose letters take half a minute and are lost at times.
fn apart(scenario: &mut SitesScenario, rule: &mut SiteRule) {
    let seconds = |seconds: u64| Span::from_nanos(seconds * 1_000_000_000);
    scenario.schedulers = 4;
    let (delay, patience) = (seconds(30), seconds(90));
    scenario.protocol = Protocol { delay, loss: 0.02, patience, publishes: rule.news == News::Published };
    rule.patience_s = 200.0;
}

const READ: [(&str, Change); 28] = [
    ("P added to the root, as printed", |_, name, rule| {
        of(&[MRS], name, || rule.reading.root = Root::AsPrinted);
    }),
    ("local data infinitely far, as 1/0", |_, name, rule| {
        of(&[MRS], name, || rule.reading.at_source = AtSource::Infinite);
    }),
    ("potential by what a site sends", |_, name, rule| {
        of(&[MRS], name, || rule.reading.direction = Direction::Sending);
    }),
    ("the bandwidth that transfers leave", |_, name, rule| {
        of(&[MRS], name, || rule.reading.bandwidth = Bandwidth::Left);
    }),
    ("capabilities in total, not free", |_, name, rule| of(&[MRS], name, || rule.has = Has::Total)),
    ("MRS: nobody passes a job that waits", |_, name, rule| of(&[MRS], name, || rule.behind = Behind::Waits)),
    ("MRS with EASY's reservation", |_, name, rule| of(&[MRS], name, || rule.behind = Behind::Easy)),
    ("MRS splits only what fits no site", |_, name, rule| {
        of(&[MRS], name, || rule.split = Split::WholeIfItFits);
    }),
    ("BACKFILL, REP: first come, first served", |_, name, rule| {
        of(&[BACKFILL, REP], name, || rule.behind = Behind::Waits);
    }),
    ("BACKFILL, REP: no reservation either", |_, name, rule| {
        of(&[BACKFILL, REP], name, || rule.behind = Behind::Starts);
    }),
    ("BACKFILL, REP: sites as listed", |_, name, rule| {
        of(&[BACKFILL, REP], name, || rule.nearness = Nearness::Listed);
    }),
    ("BACKFILL, REP split only what fits no site", |_, name, rule| {
        of(&[BACKFILL, REP], name, || rule.split = Split::WholeIfItFits);
    }),
    ("BACKFILL, REP count the time of data", |_, name, rule| {
        of(&[BACKFILL, REP], name, || rule.staging = true);
    }),
    ("BACKFILL, REP: a queue at each site, drawn", |scenario, name, rule| {
        jobs(scenario).largest = Largest::Site;
        of(&[BACKFILL, REP], name, || (rule.queues, rule.split) = (Queues::Drawn, Split::Whole));
    }),
    ("BACKFILL, REP: a queue at the data's site", |scenario, name, rule| {
        jobs(scenario).largest = Largest::Site;
        of(&[BACKFILL, REP], name, || (rule.queues, rule.split) = (Queues::AtData, Split::Whole));
    }),
    ("the same drawn, copies give up at a start", |scenario, name, rule| {
        jobs(scenario).largest = Largest::Site;
        of(&[BACKFILL, REP], name, || {
            (rule.queues, rule.split, rule.give_up) = (Queues::Drawn, Split::Whole, GiveUp::AtStart);
        });
    }),
    ("REP with three copies", |_, name, rule| of(&[REP], name, || rule.copies = 3)),
    ("REP: further copies when idle", |_, name, rule| of(&[REP], name, || rule.extra = Copies::WhenIdle)),
    ("REP: copies may share sites", |_, name, rule| of(&[REP], name, || rule.apart = false)),
    ("all data to each part", |scenario, _, rule| {
        scenario.staging = Staging::Whole;
        rule.data = Data::Whole;
    }),
    ("links of fixed rates", |scenario, _, _| scenario.division = Division::Unshared),
    ("splitting costs nothing", |scenario, _, rule| (scenario.crossing, rule.crossing) = (0.0, 0.0)),
    ("estimates three times too long", |scenario, _, _| {
        jobs(scenario).estimates = Estimates::Times(3.0);
    }),
    ("arrivals even", |scenario, _, _| jobs(scenario).arrivals = Arrivals::Even),
    ("four meta-schedulers half a minute away", |scenario, _, rule| apart(scenario, rule)),
    ("the same, which broadcast before each look at the queue", |scenario, _, rule| {
        rule.news = News::Broadcast;
        apart(scenario, rule);
    }),
    ("arrivals in one day", |scenario, _, _| jobs(scenario).days = Some(1.0)),
    ("one day, all data to each part, first come, first served", |scenario, name, rule| {
        (jobs(scenario).days, jobs(scenario).data_share) = (Some(1.0), 1.0);
        scenario.staging = Staging::Whole;
        rule.data = Data::Whole;
        of(&[BACKFILL, REP], name, || (rule.behind, rule.nearness) = (Behind::Waits, Nearness::Listed));
    }),
];

fn of(names: &[&str], name: &str, change: impl FnOnce()) {
    if names.contains(&name) {
        change();
    }
}

fn readings(logs: &[Log]) -> Vec<Case> {
    let read = READ.into_iter().map(|(name, change)| {
        let (mut scenario, mut rules) = (base(), rules());
        for (rule_name, rule) in &mut rules {
            change(&mut scenario, rule_name, rule);
        }
        Case { group: Group::Reading, name: name.to_owned(), at: None, scenario, rules }
    });
    let logged = logs.iter().map(|(name, jobs)| {
        let mut scenario = base();
        self::jobs(&mut scenario).model = JobModel::Log(Arc::clone(jobs));
        let name = format!("jobs of the log {name}");
        Case { group: Group::Reading, name, at: None, scenario, rules: rules() }
    });
    read.chain(logged).collect()
}

fn sweep() -> Vec<Case> {
    let mut cases = Vec::new();
    for (load, data) in LOADS.into_iter().flat_map(|load| DATA.map(|data| (load, data))) {
        for (alike, days) in [false, true].into_iter().flat_map(|alike| DAYS.map(|days| (alike, days))) {
            let mut scenario = base();
            sites(&mut scenario).load = load;
            (jobs(&mut scenario).data_share, jobs(&mut scenario).days) = (data, Some(days));
            if alike {
                sites(&mut scenario).gflops = vec![1.0];
            }
            let kind = if alike { "alike" } else { "different" };
            let name = format!("load {load}, data {data}, processors {kind}, {days} days");
            let at = Some(Point { load, data, alike, days });
            cases.push(Case { group: Group::Sweep, name, at, scenario, rules: rules() });
        }
    }
    cases
}

/// MRS with one part exchanged at a time, and what it is to be compared with.
fn parts() -> Vec<(&'static str, SiteRule)> {
    let mrs = SiteRule::MRS;
    let ours = rules()[3].1;
    vec![
        (MRS, mrs),
        ("MRS, sites by what is free", SiteRule { nearness: Nearness::MostFree, ..mrs }),
        ("MRS, sites by data alone", SiteRule { nearness: Nearness::Data, ..mrs }),
        ("MRS, sites as listed", SiteRule { nearness: Nearness::Listed, ..mrs }),
        ("MRS, small jobs first", SiteRule { turn: Turn::Ratio, ..mrs }),
        ("MRS, split only if need be", SiteRule { split: Split::WholeIfItFits, ..mrs }),
        ("MRS, nobody passes", SiteRule { behind: Behind::Waits, ..mrs }),
        ("MRS, EASY's reservation", SiteRule { behind: Behind::Easy, ..mrs }),
        ("EASY", SiteRule::BACKFILL),
        (
            "EASY that knows where data is",
            SiteRule { nearness: Nearness::Data, staging: true, ..SiteRule::BACKFILL },
        ),
        ("earliest end, the longest waiting first", SiteRule { turn: Turn::Longest, ..ours }),
        ("earliest end, EASY's reservation", SiteRule { turn: Turn::Longest, behind: Behind::Easy, ..ours }),
        ("gleaner/sites, a reservation after a day", SiteRule { behind: Behind::Patient, ..ours }),
        (SITES, ours),
    ]
}
