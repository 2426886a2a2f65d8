//! What a class says of itself and asks of others, in the ClassAd language.
//!
//! An ad without `Requirements` takes everyone, as no ad at all does. Evaluation sees no clock and no randomness of the
//! machine: `time()` is 0 and `random()` starts from one seed.

use gleaner_classad::{
    Budget, ClassAd, Clock, CompiledAd, Context, Expr, Limits, Name, Names, ParseError, REQUIREMENTS,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// What a site publishes, as ranks and requirements call it.
pub(crate) const PUBLISHED: [&str; 5] =
    ["EstimatedTraversalTime", "FreeCpus", "FreeMemory", "FreeDisk", "WaitingJobs"];
/// What a task asks of what a site publishes: see [`Ad::with_published_apart`].
pub(crate) const PUBLISHED_REQUIREMENTS: &str = "PublishedRequirements";

/// Steps of one evaluation: ordinary requirements take ten to a hundred. What takes more is `error`, and holds of nothing.
pub(crate) const STEPS_PER_EVALUATION: u64 = 100_000;
/// Bytes of a string that an evaluation builds.
const STRING_BYTES_MAX: usize = 1 << 20;
/// Steps of all evaluations about one event: so many for each of them, and some more. Where some need more than their
/// share, the others still have theirs.
const STEPS_EACH: u64 = 200;
const STEPS_BESIDES: u64 = 500_000;

static NOTHING: LazyLock<ClassAd> = LazyLock::new(ClassAd::new);

/// An ad, equal to another if it reads the same.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Ad {
    text: String,
    parsed: ClassAd,
}

impl Ad {
    /// From its text in the new form, as `[ Memory = 16; Requirements = TARGET.Owner == "ada" ]`.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        ClassAd::parse(text).map(Self::from)
    }

    /// The same ad, but with those clauses of its `Requirements` that read what sites publish (`EstimatedTraversalTime`,
    /// `FreeCpus`, `FreeMemory`, `FreeDisk`, `WaitingJobs`), directly or by its own attributes, as `PublishedRequirements`. Classes go by what is left, so that no class is needed for each value.
    #[must_use]
    pub fn with_published_apart(self) -> Self {
        let Some(requirements) = self.parsed.get(REQUIREMENTS) else { return self };
        let (apart, lasting): (Vec<Expr>, Vec<Expr>) =
            requirements.clauses().into_iter().partition(|clause| self.reads_published(clause));
        let mut parsed = self.parsed;
        if let Some(apart) = Expr::all_of(apart) {
            parsed.remove(REQUIREMENTS);
            parsed.insert(PUBLISHED_REQUIREMENTS, apart);
            if let Some(lasting) = Expr::all_of(lasting) {
                parsed.insert(REQUIREMENTS, lasting);
            }
        }
        Self::from(parsed)
    }

    fn reads_published(&self, clause: &Expr) -> bool {
        let published: BTreeSet<Name> = PUBLISHED.into_iter().map(Name::new).collect();
        let mut open: Vec<Name> = clause.references().into_iter().collect();
        let mut met = BTreeSet::new();
        while let Some(name) = open.pop() {
            if published.contains(&name) {
                return true;
            }
            if met.insert(name.clone()) {
                open.extend(self.parsed.get(&name.to_string()).into_iter().flat_map(Expr::references));
            }
        }
        false
    }

    /// How many bytes its text has.
    pub(crate) fn size(&self) -> usize {
        self.text.len()
    }

    /// The ad itself.
    pub fn class_ad(&self) -> &ClassAd {
        &self.parsed
    }
}

impl From<ClassAd> for Ad {
    fn from(parsed: ClassAd) -> Self {
        Self { text: parsed.to_string(), parsed }
    }
}

impl TryFrom<String> for Ad {
    type Error = ParseError;

    fn try_from(text: String) -> Result<Self, ParseError> {
        Self::parse(&text)
    }
}

impl From<Ad> for String {
    fn from(ad: Ad) -> String {
        ad.text
    }
}

impl PartialEq for Ad {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

/// What the evaluations about one event, or for one answer, may cost together, however much each of them asks for.
#[derive(Debug)]
pub struct Work {
    left: u64,
    evaluations: u64,
}

impl Default for Work {
    fn default() -> Self {
        Self { left: STEPS_BESIDES, evaluations: 0 }
    }
}

impl Work {
    /// For so many evaluations.
    pub(crate) fn of(evaluations: usize) -> Self {
        let mut work = Self::default();
        work.add(evaluations);
        work
    }

    /// For so many evaluations more.
    pub(crate) fn add(&mut self, evaluations: usize) {
        self.left += evaluations as u64 * STEPS_EACH;
        self.evaluations += evaluations as u64;
    }

    /// One evaluation fewer.
    fn spare(&mut self) {
        self.evaluations = self.evaluations.saturating_sub(1);
    }

    /// Evaluates once, within an equal share of what is left.
    pub(crate) fn evaluate<T>(&mut self, evaluation: impl FnOnce(Context) -> T) -> T {
        self.try_evaluate(evaluation).0
    }

    /// Likewise; also whether it took more than it may, so that its value is an error.
    pub(crate) fn try_evaluate<T>(&mut self, evaluation: impl FnOnce(Context) -> T) -> (T, bool) {
        let share = self.left / self.evaluations.max(1);
        let share = share.clamp(STEPS_EACH, STEPS_PER_EVALUATION);
        let budget = Budget::new(share);
        let limits = Limits { string_bytes: STRING_BYTES_MAX, ..Limits::DEFAULT };
        let context = Context::new().with_clock(Clock::Fixed(0)).with_seed(0).with_limits(limits);
        let value = evaluation(context.with_budget(&budget));
        self.left = self.left.saturating_sub(share - budget.left());
        self.spare();
        (value, budget.take_exceeded())
    }
}

pub(crate) fn or_nothing(ad: Option<&Ad>) -> &ClassAd {
    ad.map_or(&NOTHING, Ad::class_ad)
}

/// The ads of all classes, made ready to meet each other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meetings {
    names: Names,
    tasks: Vec<Side>,
    machines: Vec<Side>,
}

#[derive(Clone, Debug)]
struct Side {
    ad: CompiledAd,
    asks: bool,
}

impl Side {
    fn new(ad: Option<&Ad>, names: &mut Names) -> Self {
        let asks = ad.is_some_and(|ad| ad.class_ad().get(REQUIREMENTS).is_some());
        Self { ad: CompiledAd::new(or_nothing(ad), names), asks }
    }

    fn takes(&self, other: &Self, context: &Context) -> bool {
        !self.asks || self.ad.accepts(&other.ad, context)
    }
}

impl Meetings {
    /// How many classes of tasks and of machines it has.
    pub(crate) fn known(&self) -> (usize, usize) {
        (self.tasks.len(), self.machines.len())
    }

    /// Takes in the ads of the classes of tasks and of machines that came since. Costs O(size of their ads).
    pub(crate) fn extend<'a>(
        &mut self,
        tasks: impl Iterator<Item = Option<&'a Ad>>,
        machines: impl Iterator<Item = Option<&'a Ad>>,
    ) {
        let names = &mut self.names;
        self.tasks.extend(tasks.map(|ad| Side::new(ad, names)));
        self.machines.extend(machines.map(|ad| Side::new(ad, names)));
    }

    /// A class of tasks is another from now on.
    pub(crate) fn replace_task(&mut self, task: usize, ad: Option<&Ad>) {
        self.tasks[task] = Side::new(ad, &mut self.names);
    }

    /// Whether each takes the other.
    pub(crate) fn agree(&self, task: usize, machine: usize, work: &mut Work) -> bool {
        let (task, machine) = (&self.tasks[task], &self.machines[machine]);
        if !task.asks && !machine.asks {
            work.spare();
            return true;
        }
        work.evaluate(|context| task.takes(machine, &context) && machine.takes(task, &context))
    }

    /// How much a task likes a machine; 0 if it says nothing of it.
    pub(crate) fn liking(&self, task: usize, machine: usize, work: &mut Work) -> f64 {
        work.evaluate(|context| self.tasks[task].ad.rank(&self.machines[machine].ad, &context))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ad(text: &str) -> Option<Ad> {
        (!text.is_empty()).then(|| Ad::parse(text).expect("an ad"))
    }

    /// A task's ad and a machine's, the only ones of their kind.
    fn meeting(task: &str, machine: &str) -> Meetings {
        let (task, machine) = (ad(task), ad(machine));
        let mut meetings = Meetings::default();
        meetings.extend([task.as_ref()].into_iter(), [machine.as_ref()].into_iter());
        meetings
    }

    #[test]
    fn both_sides_must_agree_and_silence_is_consent() {
        let cases = [
            ("", "", true),
            ("", "[ Memory = 4 ]", true),
            ("[ Requirements = TARGET.Memory >= 8 ]", "", false),
            ("[ Requirements = TARGET.Memory >= 8 ]", "[ Memory = 4 ]", false),
            ("[ Requirements = TARGET.Memory >= 8 ]", "[ Memory = 8 ]", true),
            ("[ Owner = \"eve\" ]", "[ Requirements = TARGET.Owner == \"ada\" ]", false),
            ("", "[ Requirements = TARGET.Owner =!= \"eve\" ]", true),
        ];
        for (task, machine, expected) in cases {
            assert_eq!(
                meeting(task, machine).agree(0, 0, &mut Work::of(1)),
                expected,
                "{task} with {machine}"
            );
        }
    }

    #[test]
    fn a_rank_is_a_number_and_otherwise_nothing() {
        for (task, expected) in
            [("", 0.0), ("[ Rank = TARGET.Memory * 2 ]", 8.0), ("[ Rank = TARGET.Disk ]", 0.0)]
        {
            assert_eq!(meeting(task, "[ Memory = 4 ]").liking(0, 0, &mut Work::of(1)), expected, "{task}");
        }
    }

    /// Tries each way to divide the letters among the repetitions.
    const ENDLESS: &str = "[ Requirements = regexp(\"^(a+)+$\", strcat(TARGET.Name, \"b\")) || true ]";

    #[test]
    fn one_ad_cannot_use_up_what_the_others_need() {
        let machine = format!("[ Name = \"{}\"; Memory = 8 ]", "a".repeat(64));
        let costly = "[ Requirements = size(split(TARGET.Name)) + sum({1, 2, 3}) > 0 && regexp(\"a\", TARGET.Name) && \
                      anyCompare(\"==\", split(strcat(TARGET.Name, \",\", TARGET.Name)), TARGET.Name) ]";
        assert!(meeting(costly, &machine).agree(0, 0, &mut Work::of(1)), "what is usual is affordable");
        let (endless, modest) =
            (meeting(ENDLESS, &machine), meeting("[ Requirements = TARGET.Memory >= 8 ]", &machine));
        let mut work = Work::of(1_000);
        for _ in 0..999 {
            endless.agree(0, 0, &mut work);
        }
        assert!(modest.agree(0, 0, &mut work));
        assert_eq!(work.left, work.left.min(STEPS_BESIDES + 1_000 * STEPS_EACH));
    }

    #[test]
    fn what_takes_too_much_work_is_an_error() {
        let doubling =
            (0..90).fold(String::from("[ "), |text, at| format!("{text}a{at} = a{0} + a{0}; ", at + 1));
        let endless = meeting(&format!("{doubling} a90 = 1; Requirements = a0 > 0 ]"), "");
        let takes = |context: Context| endless.tasks[0].takes(&endless.machines[0], &context);
        assert_eq!(Work::of(1).try_evaluate(takes), (false, true));
    }

    #[test]
    fn what_reads_published_values_is_told_from_what_lasts() {
        let apart = |text: &str| Ad::parse(text).expect("an ad").with_published_apart().text;
        let same = "[ Requirements = TARGET.Memory >= 8; Rank = TARGET.FreeCpus ]";
        assert_eq!(apart(same), Ad::parse(same).expect("an ad").text);
        let ad = apart(
            "[ Requirements = TARGET.Memory >= 8 && (target.freecpus > 2 && Room); Room = WaitingJobs < 3 ]",
        );
        let ad = Ad::parse(&ad).expect("an ad");
        let text = |name: &str| ad.class_ad().get(name).expect("it is there").to_string();
        assert_eq!(text("Requirements"), "TARGET.Memory >= 8");
        assert_eq!(text("PublishedRequirements"), "target.freecpus > 2 && Room");
        assert!(!apart("[ Requirements = TARGET.FreeCpus > 0 ]").contains(" Requirements"));
    }

    /// Parentheses around each clause made it deeper than is read.
    #[test]
    fn clauses_as_deep_as_may_be_are_told_apart_too() {
        let nested = |levels: usize, name: &str| {
            format!("{}TARGET.{name}{} > 0", "(1 + ".repeat(levels), ")".repeat(levels))
        };
        let ad = |levels: usize| {
            let [free, waiting, memory, disk] =
                ["FreeCpus", "WaitingJobs", "Memory", "Disk"].map(|name| nested(levels, name));
            Ad::parse(&format!("[ Requirements = {free} && {memory} && {waiting} && {disk} ]"))
        };
        let deepest = (900..=1_000).rev().find_map(|levels| ad(levels).ok()).expect("some are read");
        let apart = deepest.with_published_apart();
        let clauses = |name: &str| apart.class_ad().get(name).map(|clauses| clauses.clauses().len());
        assert_eq!((clauses("Requirements"), clauses(PUBLISHED_REQUIREMENTS)), (Some(2), Some(2)));
        assert_eq!(Ad::parse(&apart.text).expect("it is read again"), apart);
    }

    #[test]
    fn an_ad_is_saved_as_its_text() {
        let one = Ad::parse("[ a = 1;  b = a+1 ]").expect("an ad");
        let text = serde_json::to_string(&one).expect("JSON");
        let back: Ad = serde_json::from_str(&text).expect("an ad");
        assert_eq!(back, one);
        assert!(serde_json::from_str::<Ad>("\"[ a = \"").is_err());
    }
}
