//! What is known of answers: who gave which to a task, and what machines are worth for it: see [`super::checks`].

use crate::checking::{Answer, Checking};
use gleaner_units::{MachineId, RunId, TaskClassId, TaskId, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The most answers that a machine gave alone that are run again when it is found to lie: the last ones.
pub const ALONE_MAX: usize = 1_000;

/// After so many answers in a row that were agreed on, earlier wrong ones are not held against a machine.
pub const FORGIVEN_AFTER: u32 = 10;

/// What a machine's answers were worth so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Trust {
    /// Answers that were agreed on since the last that was not.
    pub row: u32,
    /// Answers that were ever agreed on.
    pub agreed: u64,
    /// Answers that were outvoted.
    pub wrong: u64,
    /// When the last of them was.
    pub last_wrong: Option<Time>,
    /// Those since it last had [`FORGIVEN_AFTER`] in a row that were agreed on.
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

/// The answers to a task of which several are wanted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Comparison {
    pub(super) quorum: u32,
    pub(super) most: u32,
    pub(super) given: Vec<Given>,
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

    /// Whether a machine gave one.
    pub fn has(&self, on: MachineId) -> bool {
        self.given.iter().any(|given| given.on == on)
    }

    pub(super) fn count(&self, answer: Answer) -> u32 {
        self.given.iter().filter(|given| given.answer == answer).count() as u32
    }

    /// How often the answer came that came most often.
    pub(super) fn best(&self) -> u32 {
        self.given.iter().map(|given| self.count(given.answer)).max().unwrap_or(0)
    }

    pub(super) fn left(&self) -> u32 {
        self.most.saturating_sub(self.given.len() as u32)
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

/// See the module.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Checks {
    pub(super) rule: Option<Checking>,
    /// What users asked for beyond the rule.
    pub(super) classes: BTreeMap<TaskClassId, u32>,
    pub(super) open: BTreeMap<TaskId, Comparison>,
    pub(super) trust: BTreeMap<MachineId, Trust>,
    /// What each machine answered alone since it was last checked.
    pub(super) alone: BTreeMap<MachineId, VecDeque<TaskId>>,
    pub(super) disputed: BTreeSet<TaskId>,
}

impl Checks {
    pub(super) fn set_rule(&mut self, rule: Option<Checking>) {
        self.rule = rule;
        if rule.is_none_or(|rule| rule.trust.is_none()) {
            self.alone.clear();
        }
    }

    pub(super) fn ask_for(&mut self, class: TaskClassId, quorum: u32) {
        self.classes.insert(class, quorum);
    }

    /// What is kept of these tasks' answers is of no use any more.
    pub(super) fn drop_answers(&mut self, first: TaskId, count: u32) {
        let end = TaskId::new(first.index() + count as usize);
        for comparison in self.open.range_mut(first..end).map(|(_, comparison)| comparison) {
            comparison.given.clear();
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

    pub(super) fn asked_by_user(&self, class: TaskClassId) -> u32 {
        self.classes.get(&class).copied().unwrap_or(1)
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
        let asked = self.asked_by_user(class);
        let by_rule = self.rule.map_or(1, |rule| if is_waived { 1 } else { rule.quorum });
        let quorum = asked.max(by_rule);
        // So many that two liars who agree do not decide.
        let own = if asked > 1 { 2 * asked + 1 } else { 0 };
        let most = self.rule.map_or(0, |rule| rule.most).max(own);
        (quorum > 1).then(|| Comparison { quorum, most, given: Vec::new() })
    }
}
