//! What is known of answers: who gave which to a task, and what machines are worth for it: see [`super::judging`].

use crate::checking::{Answer, Checking, Likeness, Owner};
use gleaner_units::{MachineId, RunId, TaskClassId, TaskId, Time, UserId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The most answers that a machine gave alone that are run again when it is found to lie: the last ones.
pub const ALONE_MAX: usize = 1_000;

/// After so many answers in a row that were agreed on, earlier wrong ones are not held against a machine.
pub const FORGIVEN_AFTER: u32 = 10;

/// So many wrong ones that are held against it close a machine.
pub(super) const OUTVOTED_CLOSES: u32 = 3;

/// What a machine's answers were worth so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Trust {
    /// Answers that were agreed on since the last that was not, in comparisons that the rule asks for.
    pub row: u32,
    /// Answers that were ever agreed on.
    pub agreed: u64,
    /// Answers that were outvoted.
    pub wrong: u64,
    /// When the last of them was.
    pub last_wrong: Option<Time>,
    /// Those since it last had [`FORGIVEN_AFTER`] in a row that were agreed on, in comparisons that the rule asks for.
    pub strikes: u32,
}

/// An answer, and whose.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Given {
    /// Which run brought it.
    pub run: RunId,
    /// Which machine gave it.
    pub on: MachineId,
    /// What it is.
    pub answer: Answer,
}

/// Two answers, the one that came first before the other.
pub(super) type Pair = (Answer, Answer);

/// What a user's program said of two answers, and where.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Vote {
    /// The two answers.
    pub pair: Pair,
    /// The machine that ran it.
    pub on: MachineId,
    /// What it said.
    pub likeness: Likeness,
}

/// The answers to a task of which several are wanted.
///
/// Where a user's program compares, each answer is compared with the first of each group of like ones, until it is in one or is the
/// first of another. **A vote decides as an answer does**: as many machines as the quorum have to say the same of two answers, and
/// none of them gave one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Comparison {
    pub(super) quorum: u32,
    /// Whether the rule asks for it, and not a user alone.
    pub(super) by_rule: bool,
    pub(super) most: u32,
    pub(super) given: Vec<Given>,
    pub(super) by_program: bool,
    pub(super) votes: Vec<Vote>,
    /// Which runs compare, and what.
    pub(super) comparing: BTreeMap<RunId, Pair>,
    /// The machines that did not begin what they were asked for. They said nothing, and are not asked again.
    pub(super) refused: BTreeSet<MachineId>,
}

impl Comparison {
    /// How many have to be the same.
    pub fn quorum(&self) -> u32 {
        self.quorum
    }

    /// How many there will be at most.
    pub fn most(&self) -> u32 {
        self.most
    }

    /// In the order in which they came, each of another machine.
    pub fn given(&self) -> &[Given] {
        &self.given
    }

    /// Whether it goes on as it was begun whatever rule comes: answers were given, or a user alone asks for it.
    pub fn outlasts_rules(&self) -> bool {
        !self.by_rule || !self.given.is_empty()
    }

    /// Whether a user's program compares.
    pub fn is_by_program(&self) -> bool {
        self.by_program
    }

    /// What it said so far.
    pub fn votes(&self) -> &[Vote] {
        &self.votes
    }

    /// The machines that did not begin what they were asked for.
    pub fn refused(&self) -> impl Iterator<Item = MachineId> {
        self.refused.iter().copied()
    }

    /// What a run compares.
    pub fn compared_by(&self, run: RunId) -> Option<Pair> {
        self.comparing.get(&run).copied()
    }

    /// What enough machines say of two answers.
    fn verdict(&self, pair: Pair) -> Option<Likeness> {
        let all = [Likeness::Alike, Likeness::Different, Likeness::Failed];
        all.into_iter().find(|&likeness| self.votes_for(pair, likeness) >= self.quorum)
    }

    fn votes_for(&self, pair: Pair, likeness: Likeness) -> u32 {
        self.votes.iter().filter(|vote| vote.pair == pair && vote.likeness == likeness).count() as u32
    }

    /// The first answer of each one's group, in the order in which answers came, and the two that are to be compared next. One that
    /// is not in a group yet is alone.
    fn groups(&self) -> (Vec<Answer>, Option<Pair>) {
        let (mut groups, mut first_ones, mut next) = (Vec::<Answer>::new(), Vec::<Answer>::new(), None);
        for (index, given) in self.given.iter().enumerate() {
            let answer = given.answer;
            if let Some(same) = self.given[..index].iter().position(|other| other.answer == answer) {
                groups.push(groups[same]);
                continue;
            }
            let differs = |first: Answer| self.verdict((first, answer)) == Some(Likeness::Different);
            let may_be = |first: &Answer| !first.is_exact() && !answer.is_exact() && !differs(*first);
            let first = first_ones.iter().copied().find(|first| self.by_program && may_be(first));
            match first.map(|first| (first, self.verdict((first, answer)))) {
                Some((first, Some(Likeness::Alike))) => groups.push(first),
                Some((first, _)) => {
                    next = next.or(Some((first, answer)));
                    groups.push(answer);
                }
                None => {
                    first_ones.push(answer);
                    groups.push(answer);
                }
            }
        }
        (groups, next)
    }

    /// The two answers that a program is to compare before anything else.
    pub fn to_compare(&self) -> Option<Pair> {
        if self.by_program { self.groups().1 } else { None }
    }

    /// How often the answer came that came most often, and what it is.
    fn best_group(&self) -> (u32, Option<Answer>) {
        let (groups, _) = self.groups();
        let size = |first: Answer| groups.iter().filter(|other| **other == first).count() as u32;
        // The first of the largest.
        let best = groups.iter().rev().max_by_key(|first| size(**first)).copied();
        (best.map_or(0, size), best)
    }

    pub(super) fn best(&self) -> u32 {
        self.best_group().0
    }

    pub(super) fn left(&self) -> u32 {
        self.most.saturating_sub(self.given.len() as u32)
    }

    /// How many more votes or answers it takes, beside those to come.
    pub(super) fn wanted(&self) -> u32 {
        let Some(pair) = self.to_compare() else {
            return self.quorum.saturating_sub(self.best()).min(self.left());
        };
        self.quorum - self.best_vote(pair)
    }

    fn best_vote(&self, pair: Pair) -> u32 {
        let all = [Likeness::Alike, Likeness::Different, Likeness::Failed];
        all.into_iter().map(|likeness| self.votes_for(pair, likeness)).max().unwrap_or(0)
    }

    /// The task's answer, where enough machines gave it: the first that came of those that are the same.
    pub fn agreed(&self) -> Option<Answer> {
        let (size, first) = self.best_group();
        first.filter(|_| size >= self.quorum)
    }

    /// Who gave [it](Self::agreed) first.
    pub fn result(&self) -> Option<Given> {
        let agreed = self.agreed()?;
        self.given.iter().find(|given| given.answer == agreed).copied()
    }

    /// Whether enough machines say that the user's program cannot compare two of the answers.
    pub fn has_failed(&self) -> bool {
        self.to_compare().is_some_and(|pair| self.verdict(pair) == Some(Likeness::Failed))
    }

    /// What the last that was said is for the task.
    pub(super) fn judgement(&self) -> Judgement {
        if self.agreed().is_some() {
            return Judgement::Agreed;
        }
        let can_still = match self.to_compare() {
            Some(pair) => {
                let votes = self.votes.iter().filter(|vote| vote.pair == pair).count() as u32;
                !self.has_failed() && self.best_vote(pair) + self.most.saturating_sub(votes) >= self.quorum
            }
            None => self.best() + self.left() >= self.quorum,
        };
        if can_still { Judgement::Kept } else { Judgement::Disputed }
    }

    /// The machines whose answers were agreed on.
    pub fn right(&self) -> impl Iterator<Item = MachineId> {
        let ((groups, _), agreed) = (self.groups(), self.agreed());
        let of_group = self.given.iter().zip(groups);
        of_group.filter(move |(_, first)| Some(*first) == agreed).map(|(given, _)| given.on)
    }

    /// The machines that were outvoted, whether they answered or compared. A program that failed on a machine is not held against it.
    pub fn wrong(&self) -> impl Iterator<Item = MachineId> {
        let ((groups, _), agreed) = (self.groups(), self.agreed());
        let answered = self.given.iter().zip(groups);
        let answered = answered.filter(move |(_, first)| Some(*first) != agreed).map(|(given, _)| given.on);
        let is_outvoted = |vote: &&Vote| {
            let verdict = self.verdict(vote.pair);
            let says = [verdict, Some(vote.likeness)];
            says.iter().all(|says| says.is_some_and(|says| says != Likeness::Failed)) && says[0] != says[1]
        };
        answered.chain(self.votes.iter().filter(is_outvoted).map(|vote| vote.on))
    }
}

/// What an answer is for its task.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    /// It is the task's: nobody else is asked, or enough gave it.
    Agreed,
    /// It is kept until others gave theirs.
    Kept,
    /// Nothing comes of it: the machine gave one before, or the task is not to go on.
    Void,
    /// As many machines were asked as may be, and too few of them agree.
    Disputed,
}

/// What users asked for.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Asked {
    pub(super) quorum: u32,
    pub(super) by_program: bool,
}

/// See the module.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Checks {
    pub(super) rule: Option<Checking>,
    /// What users asked for beyond the rule.
    pub(super) classes: BTreeMap<TaskClassId, Asked>,
    /// Whose machines are, where somebody has several.
    owners: BTreeMap<MachineId, Owner>,
    owned: BTreeMap<Owner, BTreeSet<MachineId>>,
    pub(super) open: BTreeMap<TaskId, Comparison>,
    pub(super) trust: BTreeMap<MachineId, Trust>,
    /// What each machine answered alone since it was last checked.
    pub(super) alone: BTreeMap<MachineId, VecDeque<TaskId>>,
    pub(super) disputed: BTreeSet<TaskId>,
    /// What users' own comparisons say of machines.
    pub(super) doubts: BTreeMap<MachineId, Doubts>,
}

/// Who had a machine outvoted in comparisons that the rule did not ask for. **Each user counts once**: the programs are theirs,
/// and may answer whatever they like, or never the same.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Doubts {
    users: BTreeSet<UserId>,
    /// Answers that were agreed on in such comparisons since.
    row: u32,
}

impl Doubts {
    /// The machine was outvoted. Whether it is the first time in this user's tasks.
    pub(super) fn outvoted(&mut self, user: UserId) -> bool {
        self.row = 0;
        self.users.insert(user)
    }

    /// An answer of the machine was agreed on. Whether what was before is forgiven.
    pub(super) fn agreed(&mut self) -> bool {
        self.row += 1;
        self.row >= FORGIVEN_AFTER
    }
}

impl Checks {
    /// How often a machine was outvoted, as far as it is held against it.
    pub(super) fn strikes(&self, machine: MachineId) -> u32 {
        let doubts = self.doubts.get(&machine).map_or(0, |doubts| doubts.users.len());
        self.of(machine).strikes + doubts as u32
    }

    pub(super) fn set_rule(&mut self, rule: Option<Checking>) {
        self.rule = rule;
        if rule.is_none_or(|rule| rule.trust.is_none()) {
            self.alone.clear();
        }
    }

    pub(super) fn ask_for(&mut self, class: TaskClassId, asked: Asked) {
        self.classes.insert(class, asked);
    }

    pub(super) fn ask_for_none(&mut self, class: TaskClassId) {
        self.classes.remove(&class);
    }

    pub(super) fn set_owner(&mut self, machine: MachineId, owner: Option<Owner>) {
        if let Some(before) = self.owners.remove(&machine)
            && let Some(machines) = self.owned.get_mut(&before)
        {
            machines.remove(&machine);
            if machines.is_empty() {
                self.owned.remove(&before);
            }
        }
        if let Some(owner) = owner {
            self.owners.insert(machine, owner);
            self.owned.entry(owner).or_default().insert(machine);
        }
    }

    /// Whether two machines have one vote.
    pub(super) fn are_one(&self, one: MachineId, other: MachineId) -> bool {
        one == other || self.owner(one).is_some_and(|owner| self.owner(other) == Some(owner))
    }

    pub(super) fn owner(&self, machine: MachineId) -> Option<Owner> {
        self.owners.get(&machine).copied()
    }

    /// All that have one vote with a machine, itself included.
    pub(super) fn as_one(&self, machine: MachineId) -> impl Iterator<Item = MachineId> {
        let all = self.owners.get(&machine).and_then(|owner| self.owned.get(owner));
        let own = all.is_none().then_some(machine);
        all.into_iter().flatten().copied().chain(own)
    }

    /// A run of a task of which answers are kept compares what is to be compared, or gives another.
    pub(super) fn begin_comparing(&mut self, run: RunId) {
        if let Some(comparison) = self.open.get_mut(&run.task)
            && let Some(pair) = comparison.to_compare()
        {
            comparison.comparing.insert(run, pair);
        }
    }

    /// Another run does what one was to do.
    pub(super) fn compare_elsewhere(&mut self, run: RunId, other: RunId) {
        if let Some(comparison) = self.open.get_mut(&run.task)
            && let Some(pair) = comparison.compared_by(run)
        {
            comparison.comparing.insert(other, pair);
        }
    }

    /// A machine did not begin what it was asked for.
    pub(super) fn refuse(&mut self, task: TaskId, on: MachineId) {
        if let Some(comparison) = self.open.get_mut(&task) {
            comparison.refused.insert(on);
        }
    }

    pub(super) fn forget_run(&mut self, run: RunId) {
        if let Some(comparison) = self.open.get_mut(&run.task) {
            comparison.comparing.remove(&run);
        }
    }

    /// What is kept of a task's answers is of no use any more.
    pub(super) fn drop_answers(&mut self, task: TaskId) {
        if let Some(comparison) = self.open.get_mut(&task) {
            comparison.given.clear();
            comparison.votes.clear();
            comparison.comparing.clear();
        }
    }

    /// They begin anew.
    pub(super) fn forget(&mut self, first: TaskId, count: u32) {
        let end = TaskId::new(first.index() + count as usize);
        while let Some((&task, _)) = self.open.range(first..end).next() {
            self.open.remove(&task);
        }
        while let Some(&task) = self.disputed.range(first..end).next() {
            self.disputed.remove(&task);
        }
    }

    pub(super) fn applies(&self, class: TaskClassId) -> bool {
        self.rule.is_some() || self.classes.contains_key(&class)
    }

    pub(super) fn trusts(&self, machine: MachineId) -> bool {
        let trust = self.rule.and_then(|rule| rule.trust);
        trust.is_some_and(|trust| self.of(machine).row >= trust.after)
    }

    pub(super) fn of(&self, machine: MachineId) -> Trust {
        self.trust.get(&machine).copied().unwrap_or_default()
    }

    /// The answers that a task of that class takes; what the rule says is waived for whom it trusts.
    pub(super) fn comparison(&self, class: TaskClassId, is_waived: bool) -> Option<Comparison> {
        let asked = self.classes.get(&class);
        let by_user = asked.map_or(1, |asked| asked.quorum);
        let by_rule = self.rule.map_or(1, |rule| if is_waived { 1 } else { rule.quorum });
        let quorum = by_user.max(by_rule);
        // So many that two liars who agree do not decide.
        let own = if by_user > 1 { 2 * by_user + 1 } else { 0 };
        (quorum > 1).then(|| Comparison {
            quorum,
            by_rule: by_rule > 1,
            most: self.rule.map_or(0, |rule| rule.most).max(own),
            given: Vec::new(),
            by_program: asked.is_some_and(|asked| asked.by_program),
            votes: Vec::new(),
            comparing: BTreeMap::new(),
            refused: BTreeSet::new(),
        })
    }
}
