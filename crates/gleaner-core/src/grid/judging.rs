//! Whose answers are believed, and how many machines have to give the same one.
//!
//! The end of a run may bring an [`Answer`]. A task of which several are wanted is over when so many machines gave the same
//! one; until then it is placed, and the answers so far are kept here, though no run of it may go on. What more runs it takes
//! is [known](Grid::answers_wanted), and the policy has them made.
//!
//! **An answer is trust for whoever gave what was agreed on, and the loss of all trust for whoever gave another.** A machine
//! that is trusted is asked alone, but for some tasks that chance picks. What it answered alone since it was last checked is
//! run again when it is found to lie.

use super::answers::{
    ALONE_MAX, Comparison, Doubts, FORGIVEN_AFTER, Given, Judgement, OUTVOTED_CLOSES, Trust, Vote,
};
use super::{Grid, Run, Stage, TaskState};
use crate::chance::{Chance, Purpose};
use crate::checking::{Checking, Owner, Said};
use crate::effects::Effects;
use crate::{Change, Command};
use gleaner_units::{MachineId, RunId, TaskClassId, TaskId, Time, UserId};
use std::collections::BTreeSet;

impl Grid {
    /// How many machines have to agree, where the policy says so.
    pub fn checking(&self) -> Option<Checking> {
        self.checks.rule
    }

    /// Whether answers to tasks of that class may have to be given by several machines.
    #[inline]
    pub fn is_checked(&self, class: TaskClassId) -> bool {
        self.checks.applies(class)
    }

    /// Whether a task's answer is one machine's from its beginning, to be compared with others': its class asks for that, or it was begun so
    /// under a rule that is in force no more.
    #[inline]
    pub fn is_compared(&self, task: TaskId) -> bool {
        self.is_checked(self.task(task).class) || self.comparison(task).is_some()
    }

    /// How many machines have to give the same answer to a task of that class that is given to whoever is not trusted.
    pub fn quorum(&self, class: TaskClassId) -> u32 {
        self.checks.comparison(class, false).map_or(1, |comparison| comparison.quorum)
    }

    /// What a machine's answers were worth so far.
    pub fn trust(&self, machine: MachineId) -> Trust {
        self.checks.of(machine)
    }

    /// Whether a machine is asked alone, but for a task now and then.
    pub fn is_trusted(&self, machine: MachineId) -> bool {
        self.checks.trusts(machine)
    }

    /// Whose a machine is, where somebody has several.
    pub fn owner_of(&self, machine: MachineId) -> Option<Owner> {
        self.checks.owner(machine)
    }

    /// The answers to a task so far, where several are wanted.
    #[inline]
    pub fn comparison(&self, task: TaskId) -> Option<&Comparison> {
        self.checks.open.get(&task)
    }

    /// Whether answers to any task are compared.
    #[inline]
    pub fn compares(&self) -> bool {
        !self.checks.open.is_empty()
    }

    /// All of them, in order of submission.
    pub fn comparisons(&self) -> impl Iterator<Item = (TaskId, &Comparison)> {
        self.checks.open.iter().map(|(&task, comparison)| (task, comparison))
    }

    /// How many of a machine's outvoted answers are held against it: of each user's own comparisons one.
    pub fn strikes(&self, machine: MachineId) -> u32 {
        self.checks.strikes(machine)
    }

    /// Whether a task was given up since too few machines agreed on its answer.
    pub fn is_disputed(&self, task: TaskId) -> bool {
        self.checks.disputed.contains(&task)
    }

    /// How many tasks were.
    pub fn disputed(&self) -> usize {
        self.checks.disputed.len()
    }

    /// How many more runs a task is to have, so that enough machines may agree: beside those that go on.
    pub fn answers_wanted(&self, task: TaskId) -> u32 {
        let Some(comparison) = self.comparison(task) else { return 0 };
        let pair = comparison.to_compare();
        let counts = |run: &&Run| {
            run.stage != Stage::Missing && (pair.is_none() || comparison.compared_by(run.id) == pair)
        };
        comparison.wanted().saturating_sub(self.runs_of(task).filter(counts).count() as u32)
    }

    /// The machines that were asked for this task: they run it, have answered it, have compared the same two answers, or did not begin
    /// it. In order.
    pub fn asked_for(&self, task: TaskId) -> Vec<MachineId> {
        let here = self.runs_of(task).filter(|run| run.goes_on()).map(|run| run.on);
        let refused = self.comparison(task).into_iter().flat_map(Comparison::refused);
        let mut asked: Vec<MachineId> = here.chain(self.voices_in(task)).chain(refused).collect();
        asked.sort_unstable();
        asked.dedup();
        asked
    }

    /// The machines that must not get this task: those that [were asked for it](Self::asked_for). If answers are compared, all other
    /// machines of their owners count too. In order; costs O(their number).
    pub fn apart_from(&self, task: TaskId) -> Vec<MachineId> {
        let asked = self.asked_for(task);
        if self.comparison(task).is_none() {
            return asked;
        }
        let mut apart: Vec<MachineId> = asked.into_iter().flat_map(|on| self.checks.as_one(on)).collect();
        apart.sort_unstable();
        apart.dedup();
        apart
    }

    /// Who answered a task, or compared the two answers to it that are to be compared.
    fn voices_in(&self, task: TaskId) -> impl Iterator<Item = MachineId> {
        self.comparison(task).into_iter().flat_map(|comparison| {
            let pair = comparison.to_compare();
            let votes = comparison.votes.iter().filter(move |vote| Some(vote.pair) == pair);
            comparison.given.iter().map(|given| given.on).chain(votes.map(|vote| vote.on))
        })
    }

    /// Whether a machine, or another of its owner, was [asked](Self::asked_for) for a task whose answers are compared.
    pub(super) fn was_asked_for(&self, task: TaskId, on: MachineId) -> bool {
        self.comparison(task).is_some()
            && self.asked_for(task).into_iter().any(|other| self.checks.are_one(other, on))
    }

    /// Whether a task listens to what a run of it says. Where that was out of reach, the task was given to no other machine since.
    pub fn hears(&self, run: &Run) -> bool {
        match self.task(run.id.task).state {
            TaskState::Placed => true,
            TaskState::Waiting => run.stage == Stage::Missing,
            TaskState::Finished(_) | TaskState::Withdrawn | TaskState::Retired => false,
        }
    }

    /// What the word of a run would be for its task now, [heard](Self::hears) or not, and all that was said of it then; nothing
    /// where nobody else is asked, or where it comes to nothing.
    pub fn judge(&self, run: &Run, said: Said, is_heard: bool) -> (Judgement, Option<Comparison>) {
        let task = self.task(run.id.task);
        let new = || self.checks.comparison(task.class, self.checks.trusts(run.on));
        let Some(mut comparison) = self.comparison(run.id.task).cloned().or_else(new) else {
            let is_answer = matches!(said, Said::Answer(_));
            return (if is_answer { Judgement::Agreed } else { Judgement::Void }, None);
        };
        let has_spoken = self.voices_in(run.id.task).any(|other| self.checks.are_one(other, run.on));
        let compared = comparison.compared_by(run.id);
        match said {
            _ if !is_heard || has_spoken => return (Judgement::Void, None),
            Said::Answer(answer) if compared.is_none() => {
                comparison.given.push(Given { run: run.id, on: run.on, answer });
            }
            Said::Likeness(likeness) if compared.is_some() && compared == comparison.to_compare() => {
                comparison.votes.extend(compared.map(|pair| Vote { pair, on: run.on, likeness }));
            }
            Said::Answer(_) | Said::Likeness(_) => return (Judgement::Void, None),
        }
        (comparison.judgement(), Some(comparison))
    }

    /// A task that waited is on its way to a machine: is it to be asked alone?
    pub(super) fn begin_comparison(&mut self, run: RunId, on: MachineId) {
        let class = self.task(run.task).class;
        if !self.is_checked(class) || self.comparison(run.task).is_some() {
            return;
        }
        let trust = self.checks.rule.and_then(|rule| rule.trust).filter(|_| self.is_trusted(on));
        let is_waived = trust.is_some_and(|trust| {
            Chance::of(self.seed, Purpose::Check, run).unit() >= trust.chance(self.trust(on).row)
        });
        if let Some(comparison) = self.checks.comparison(class, is_waived) {
            self.checks.open.insert(run.task, comparison);
        }
    }

    /// Another rule is in force, or none. **What was answered is compared as it was begun**, or one of two answers would be believed unseen;
    /// what nobody answered yet goes by the new rule. Costs O(comparisons).
    pub(super) fn checking_set(&mut self, rule: Option<Checking>, effects: &mut Effects) {
        self.checks.set_rule(rule);
        let open = self.comparisons().filter(|(_, comparison)| !comparison.outlasts_rules());
        let open: Vec<TaskId> = open.map(|(task, _)| task).collect();
        for task in open {
            self.compare_by_rule(task);
            effects.changes.push(Change::AnswerKept(task));
        }
    }

    /// What was said of a task is of no use any more.
    pub(super) fn drop_answers(&mut self, task: TaskId) {
        self.checks.drop_answers(task);
        if self.comparison(task).is_some_and(|comparison| !comparison.outlasts_rules()) {
            self.compare_by_rule(task);
        }
    }

    /// A task that was to be compared, and has no answer yet, is asked of as many as the rule in force and its user say.
    fn compare_by_rule(&mut self, task: TaskId) {
        let before = self.checks.open.remove(&task);
        if let Some(mut comparison) = self.checks.comparison(self.task(task).class, false) {
            // Who did not begin it would not do so now either.
            comparison.refused = before.map_or_else(BTreeSet::new, |before| before.refused);
            self.checks.open.insert(task, comparison);
        }
    }

    /// Whether answers are kept that others are to be compared with.
    pub(super) fn has_answers(&self, task: TaskId) -> bool {
        self.comparison(task).is_some_and(|comparison| !comparison.given.is_empty())
    }

    /// What was said is kept that was judged so. A task that waits, since who said it was thought lost, waits no more: it is others'
    /// answers that it needs now.
    pub(super) fn keep_answer(&mut self, task: TaskId, comparison: Comparison) {
        self.checks.open.insert(task, comparison);
        self.dequeue(task);
        self.tasks.get_mut(task).state = TaskState::Placed;
    }

    /// A task is over with the answer of a machine that was asked alone.
    pub(super) fn answered_alone(&mut self, task: TaskId, on: MachineId) {
        if self.checks.rule.is_some_and(|rule| rule.trust.is_some()) {
            let alone = self.checks.alone.entry(on).or_default();
            alone.push_back(task);
            let surplus = alone.len().saturating_sub(ALONE_MAX);
            alone.drain(..surplus);
        }
    }

    /// The task has its accepted answer. Machines that gave it were right. Machines that gave another answer, or judged two answers
    /// differently from the rest, were wrong.
    pub(super) fn agree(&mut self, now: Time, task: TaskId, comparison: &Comparison, effects: &mut Effects) {
        if comparison.by_rule {
            self.agree_by_rule(now, comparison, effects);
        } else {
            self.agree_for(now, self.payer(task), comparison, effects);
        }
    }

    /// In a user's own comparison nobody earns or loses trust, and it takes several users to have a machine closed.
    fn agree_for(&mut self, now: Time, user: UserId, comparison: &Comparison, effects: &mut Effects) {
        for on in comparison.right() {
            self.checks.trust.entry(on).or_default().agreed += 1;
            if self.checks.doubts.get_mut(&on).is_some_and(Doubts::agreed) {
                self.checks.doubts.remove(&on);
            }
        }
        for on in comparison.wrong() {
            let trust = self.checks.trust.entry(on).or_default();
            (trust.wrong, trust.last_wrong) = (trust.wrong + 1, Some(now));
            let is_first = self.checks.doubts.entry(on).or_default().outvoted(user);
            if is_first && self.checks.strikes(on) >= OUTVOTED_CLOSES {
                effects.orders.push(Command::Close { machine: on });
            }
        }
    }

    fn agree_by_rule(&mut self, now: Time, comparison: &Comparison, effects: &mut Effects) {
        for on in comparison.right() {
            let trust = self.checks.trust.entry(on).or_default();
            trust.row += 1;
            trust.agreed += 1;
            if trust.row >= FORGIVEN_AFTER {
                trust.strikes = 0;
            }
            self.checks.alone.remove(&on);
        }
        for on in comparison.wrong() {
            let trust = self.checks.trust.entry(on).or_default();
            (trust.row, trust.last_wrong) = (0, Some(now));
            trust.wrong += 1;
            trust.strikes += 1;
            if self.checks.strikes(on) >= OUTVOTED_CLOSES {
                effects.orders.push(Command::Close { machine: on });
            }
            let alone = self.checks.alone.remove(&on).into_iter().flatten();
            let is_its = |task: &TaskId| self.task(*task).state == TaskState::Finished(on);
            effects.orders.extend(alone.filter(is_its).map(|task| Command::Recheck { task }));
        }
    }

    /// Too few machines agree on a task, and no more are asked.
    pub(super) fn dispute(&mut self, task: TaskId) {
        self.checks.open.remove(&task);
        self.checks.disputed.insert(task);
    }

    /// A task is done, whatever its answers were: one ended whose end counts as it is.
    pub(super) fn close_comparison(&mut self, task: TaskId) {
        self.checks.open.remove(&task);
    }

    /// Whether what is kept of answers agrees with the tasks.
    pub(super) fn comparisons_are_whole(&self) -> bool {
        let is_whole = |(task, comparison): (TaskId, &Comparison)| {
            let state = self.task(task).state;
            let machines: BTreeSet<MachineId> = comparison.given.iter().map(|given| given.on).collect();
            let may_have = match state {
                TaskState::Placed => true,
                TaskState::Waiting | TaskState::Withdrawn => comparison.given.is_empty(),
                TaskState::Finished(_) | TaskState::Retired => false,
            };
            may_have
                && comparison.quorum > 1
                && machines.len() == comparison.given.len()
                && comparison.judgement() == Judgement::Kept
                && comparison.comparing.keys().all(|run| self.find_run(*run).is_some())
        };
        let is_over = |task: &TaskId| matches!(self.task(*task).state, TaskState::Finished(_));
        self.comparisons().all(is_whole) && self.checks.disputed.iter().all(is_over)
    }
}
