//! What came out, and what to do.

use super::candidate::Candidate;
use super::candidates::LeftOut;
use super::lost_wait::LostWait;
use super::subject::Subject;
use super::verdict::Verdict;
use crate::trials::{Interval, Numbers, Ranked, Ranking};
use gleaner_report::numbers::seconds;
use serde::Serialize;

/// A wait is longer than another if it is by this share.
const CLEARLY: f64 = 0.01;

/// All of it.
#[derive(Serialize)]
pub(super) struct Findings {
    version: u32,
    /// What is to be low.
    pub(super) measure: String,
    /// By up to how many seconds arrivals were moved, in each run by others; 0 where they were not.
    pub(super) shake_s: f64,
    /// How much of the first rule's waiting that took away; null where most is left, it was less than a second, or nobody
    /// knows.
    pub(super) lost_wait: Option<LostWait>,
    /// The rules, first the one in force (of a log, `queue/fcfs`), the others from the best on; what left work unfinished comes last.
    pub(super) rules: Vec<Rule>,
    /// The position of the best; null where every rule left work unfinished.
    pub(super) best: Option<usize>,
    /// How many others are as good as the best: cannot be told from it. Of the first, the runs say so that the gain is of.
    pub(super) alike: usize,
    /// Whether the best left work unfinished with seeds that did not choose it.
    #[serde(skip)]
    best_leaves_some: bool,
    /// How much less the best has than the first rule, as a share of that, with seeds that did not choose it; null where
    /// the first is the best, or either left work unfinished.
    pub(super) gain: Option<Interval>,
    /// The command that sets it; null where nothing is to be changed.
    pub(super) command: Option<String>,
    /// Presets that cannot be used here.
    pub(super) left_out: Vec<LeftOut>,
}

/// A rule that was tried.
#[derive(Clone, Serialize)]
pub(super) struct Rule {
    #[serde(flatten)]
    pub(super) candidate: Candidate,
    #[serde(flatten)]
    pub(super) ranked: Ranked,
    /// The longest wait in any of its runs; null where that is not known.
    pub(super) wait_max_s: Option<f64>,
}

/// How runs differ from the scenario, log or past as it is: see [`Findings`].
pub(super) struct Moved {
    pub(super) shake_s: f64,
    pub(super) lost_wait: Option<LostWait>,
}

/// What came out of the runs of all rules.
pub(super) struct Runs {
    pub(super) ranking: Ranking,
    /// Those of the first rule and of the best once more, with other seeds; none where the first is the best, or none is.
    pub(super) again: Option<Vec<Vec<Numbers>>>,
    /// By rule, the longest wait.
    pub(super) waits: Vec<Option<f64>>,
}

impl Findings {
    pub(super) fn of(
        subject: &Subject,
        (tried, left_out): (Vec<Candidate>, Vec<LeftOut>),
        measure: String,
        Moved { shake_s, lost_wait }: Moved,
        Runs { ranking, again, waits }: Runs,
    ) -> Self {
        let verdict = Verdict::of(&measure, &ranking, again.as_deref());
        let ranking = verdict.settle(ranking);
        let Verdict { gain, best_leaves_some, better, .. } = verdict;
        let command = better.and_then(|best| subject.command(&tried[best]));
        let mut order: Vec<usize> = (1..tried.len()).collect();
        let mean = |at: usize| ranking.ranked[at].measured.map_or(f64::INFINITY, |measured| measured.mean);
        order.sort_by(|one, other| mean(*one).total_cmp(&mean(*other)));
        let order: Vec<usize> = std::iter::once(0).chain(order).collect();
        let rule = |&at: &usize| Rule {
            candidate: tried[at].clone(),
            ranked: ranking.ranked[at].clone(),
            wait_max_s: waits[at],
        };
        Self {
            version: 1,
            measure,
            shake_s,
            lost_wait,
            best: ranking.best.and_then(|best| order.iter().position(|at| *at == best)),
            rules: order.iter().map(rule).collect(),
            alike: ranking.alike,
            best_leaves_some,
            gain,
            command,
            left_out,
        }
    }

    /// What to do, in a sentence.
    pub(super) fn advice(&self) -> String {
        let Some(best) = self.best else {
            return "Every rule left work unfinished: none is better than another.".to_owned();
        };
        let name = self.rules[best].candidate.name();
        // Of a log no rule is in force.
        let (keep, first, than) = match &self.rules[0].candidate.preset {
            None => ("Keep", "the rule as it is", "now".to_owned()),
            Some(preset) => ("Use", preset.as_str(), format!("with {preset}")),
        };
        let measure = &self.measure;
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        let gained = |gain: Interval| match (gain.low, gain.high) {
            (Some(low), Some(high)) => {
                format!("{} (from {} to {})", percent(gain.mean), percent(low), percent(high))
            }
            _ => format!("{} (in one run each: all seeds give the same)", percent(gain.mean)),
        };
        match self.gain {
            None if best == 0 => format!("{keep} {first}: no other has a lower {measure}."),
            None if self.best_leaves_some => format!(
                "{keep} {first}: {name} had the lowest {measure}, but run again it left work unfinished."
            ),
            None => format!("Use {name}: {first} leaves work unfinished."),
            Some(gain) if self.command.is_some() => {
                let waits = self.longer_wait(best).unwrap_or_default();
                format!("Use {name}: its {measure} is {} lower than {than}.{waits}", gained(gain))
            }
            Some(gain) => format!(
                "{keep} {first}: {name} had the lowest {measure}, but run again it is not clearly lower: {}.",
                gained(gain)
            ),
        }
    }

    /// That runs are not the scenario, log or past as it is, where they are not.
    pub(super) fn moved(&self) -> Option<String> {
        (self.shake_s > 0.0)
            .then(|| format!("arrivals moved by up to {} s in each run (--shake)", self.shake_s))
    }

    /// That hardly any waiting is left in these runs, where that is so.
    pub(super) fn lost_wait(&self) -> Option<String> {
        self.lost_wait.map(|lost| lost.said(self.shake_s))
    }

    /// What a mean does not say: that somebody waits for longer under the best rule than anybody under another, if so.
    fn longer_wait(&self, best: usize) -> Option<String> {
        let longest = self.rules[best].wait_max_s?;
        let ended = self.rules.iter().filter(|rule| rule.ranked.measured.is_some());
        let waits = ended.filter_map(|rule| Some((rule.wait_max_s?, rule.candidate.name())));
        let (least, other) = waits.min_by(|(one, _), (other, _)| one.total_cmp(other))?;
        let is_told = self.measure != "wait_max_s" && longest > (1.0 + CLEARLY) * least;
        is_told.then(|| {
            let [longest, least] = [longest, least].map(seconds);
            format!(" Its longest wait is {longest}; with {other} nobody waits longer than {least}.")
        })
    }

    /// A line each.
    pub(super) fn table(&self) -> String {
        let number = |number: Option<f64>| number.map_or(String::new(), |number| number.to_string());
        let interval = |interval: Option<Interval>| {
            let of = |part: fn(Interval) -> Option<f64>| number(interval.and_then(part));
            [of(|interval| Some(interval.mean)), of(|interval| interval.low), of(|interval| interval.high)]
                .join(",")
        };
        let measure = &self.measure;
        let header = format!(
            "rule,{measure}_mean,{measure}_low,{measure}_high,above_best_mean,above_best_low,above_best_high,unfinished,wait_max_s\n"
        );
        let line = |Rule { candidate, ranked, wait_max_s }: &Rule| {
            let name = candidate.name().replace('"', "\"\"");
            let (own, above) = (interval(ranked.measured), interval(ranked.above_best));
            format!("\"{name}\",{own},{above},{},{}\n", ranked.unfinished, number(*wait_max_s))
        };
        std::iter::once(header).chain(self.rules.iter().map(line)).collect()
    }
}
