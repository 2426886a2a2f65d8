//! How the ledger gives tasks and machines their classes: see [`KnownClasses`](super::classes::KnownClasses).

use super::classes::{TaskKey, machine_ad, machine_class, task_class, task_key};
use super::label::{LabelKey, UNKNOWN};
use super::{Ledger, classes};
use gleaner_classad::{ClassAd, ParseError};
use gleaner_core::{Event, Seen, TaskClass};
use gleaner_units::{MachineClassId, MachineId, Span, TaskClassId, TaskId, Time, UserId};
use gleaner_wire::job::JobSpec;
use std::collections::BTreeMap;

/// A class as it would be, not yet known to anybody.
struct Wanted {
    key: TaskKey,
    class: TaskClass,
    /// What its composition is learnt of.
    label: Option<LabelKey>,
}

impl Ledger {
    /// What the requirements, ranks and labels of a user's tasks take.
    pub fn requirement_bytes_of(&self, user: &str) -> u64 {
        self.books.payers.get(user).map_or(0, |&payer| self.books.classes.bytes_of(payer))
    }

    /// How much more a job's requirements, rank and label would take of its user's quota: nothing where the user has others like it.
    pub(crate) fn more_requirement_bytes(&self, user: &str, spec: &JobSpec) -> u64 {
        let Some(&payer) = self.books.payers.get(user) else { return classes::class_bytes(spec) };
        let wanted = self.wanted_class((user, payer), spec, None).ok();
        let known = wanted.and_then(|wanted| self.books.classes.find_task(&wanted.key));
        if known.is_some_and(|id| self.books.classes.class(id).is_open()) {
            0
        } else {
            classes::class_bytes(spec)
        }
    }

    /// The class of a job's tasks, or of those that are not to be tried everywhere. Costs O(machines) where machines are told apart
    /// from now on that were alike.
    pub(super) fn task_class_of(
        &mut self,
        at: Time,
        user: &str,
        spec: &JobSpec,
        elsewhere: Option<&str>,
    ) -> TaskClassId {
        let payer = self.payer(at, user);
        let wanted = self
            .wanted_class((user, payer), spec, elsewhere)
            .expect("only jobs that can be read are recorded");
        if let Some(known) = self.books.classes.find_task(&wanted.key) {
            return known;
        }
        let Wanted { key, class, label } = wanted;
        let ad = class.ad.clone();
        let row = self.books.rows;
        let (id, is_again) = self.books.classes.add_task((key, payer), spec, label.clone(), row);
        let class = Box::new(class);
        let met = if is_again {
            Event::TaskClassReplaced { class: id, by: class }
        } else {
            Event::TaskClassMet(class)
        };
        self.tell(at, &met);
        let limit = Span::from_seconds(spec.needs.time_limit_s).filter(|limit| *limit > Span::ZERO);
        if let Some(limit) = limit {
            self.tell(at, &Event::ClassLimited { class: id, limit });
        }
        if spec.quorum > 1 {
            let by_program = !spec.compare.is_empty();
            self.tell(at, &Event::ClassChecked { class: id, quorum: spec.quorum, by_program });
        }
        if let Some(label) = &label {
            self.books.labels.follow(label, id);
        }
        if ad.is_some_and(|ad| self.books.classes.seen.add_task(ad.class_ad())) {
            self.classify_all(at);
        }
        id
    }

    fn wanted_class(
        &self,
        (user, payer): (&str, UserId),
        spec: &JobSpec,
        elsewhere: Option<&str>,
    ) -> Result<Wanted, ParseError> {
        let learnt = spec.label.as_deref().filter(|_| spec.composition.is_none());
        let composition = spec
            .composition
            .unwrap_or_else(|| learnt.map_or(UNKNOWN, |label| self.books.labels.composition(user, label)));
        let class = task_class((user, payer), spec, composition, elsewhere)?;
        let key = task_key(learnt, &class, spec);
        Ok(Wanted { key, class, label: learnt.map(|label| (user.to_owned(), label.to_owned())) })
    }

    /// A job that had a class left memory.
    pub(super) fn leave_class(&mut self, at: Time, id: TaskClassId) {
        self.let_go(at, id);
        let mut left = vec![id];
        while let Some(id) = left.pop() {
            if self.books.classes.leave(id, self.books.rows) {
                // All of their tasks were tasks of its jobs.
                left.append(&mut self.books.classes.class_mut(id).apart);
            }
        }
        self.forget_unused(at);
    }

    /// Where all jobs that have a class are over, its tasks need not be kept from machines any more. The classes that were made for this
    /// stay known, since tasks that are over have them.
    pub(super) fn let_go(&mut self, at: Time, id: TaskClassId) {
        let mut over = vec![id];
        while let Some(id) = over.pop() {
            if self.books.classes.class(id).is_open() {
                continue;
            }
            for apart in self.books.classes.class(id).apart.clone() {
                let Some(nameless) = self.books.elsewhere.remove_class(apart) else { continue };
                self.books.classes.close(apart);
                for machine in nameless {
                    self.with_ad_changed(machine, |ledger| ledger.books.elsewhere.unname(machine));
                    self.classify(at, machine);
                }
                over.push(apart);
            }
        }
    }

    /// A policy that learns has tasks of all classes that ever were.
    fn forget_unused(&mut self, at: Time) {
        if self.keeps_classes || self.recipe().lengths.is_learnt() {
            return;
        }
        while let Some(id) = self.books.classes.surplus() {
            let class = self.books.classes.forget(id);
            if let Some(label) = &class.label {
                self.books.labels.unfollow(label, id);
            }
            let ad = self.grid().classes().task_class(id).ad.clone();
            if let Some(ad) = ad {
                self.books.classes.seen.remove_task(ad.class_ad());
            }
            let by = Box::new(TaskClass::plain(UNKNOWN.to_vec()));
            self.tell(at, &Event::TaskClassReplaced { class: id, by });
        }
    }

    /// What does not fit together of classes, their users and what of machines matters. Costs O(tasks of jobs in memory + size of all
    /// ads).
    pub(super) fn check_classes(&self) -> Result<(), String> {
        let mut users: BTreeMap<TaskClassId, (u32, u32)> = BTreeMap::new();
        for (_, job) in self.books.jobs.newest_first() {
            let (users, open) = users.entry(job.class).or_default();
            (*users, *open) = (*users + 1, *open + u32::from(job.tally.open() > 0));
        }
        for class in self.books.elsewhere.classes() {
            users.entry(class).or_default().1 += 1;
        }
        self.books.classes.check(users)?;
        for (id, job) in self.books.jobs.newest_first() {
            let apart = &self.books.classes.class(job.class).apart;
            let is_others = |task: &TaskId| {
                let class = self.grid().task(*task).class();
                class != job.class && !apart.contains(&class) && !self.record(*task).phase.is_over()
            };
            if let Some(task) = job.tasks().find(is_others) {
                return Err(format!("{task} of job {id} has a class that is none of its job's"));
            }
        }
        let mut seen = Seen::default();
        let agents = (0..self.books.agents.len()).map(MachineId::new);
        for id in agents {
            seen.add_machine(&self.ad(id));
        }
        for ad in self.grid().classes().task_classes().iter().filter_map(|class| class.ad.as_ref()) {
            seen.add_task(ad.class_ad());
        }
        if seen == self.books.classes.seen {
            Ok(())
        } else {
            Err("what matters of machines is not what is asked".to_owned())
        }
    }

    /// Classes are never forgotten from now on: for whoever reads a journal, and asks at its end what tasks were that are over.
    pub fn keep_classes(&mut self) {
        self.keeps_classes = true;
    }

    /// A machine came that is the next. Whether others are told apart from now on that were alike.
    pub(super) fn note_ad(&mut self, id: MachineId) -> bool {
        let ad = self.ad(id);
        self.books.classes.seen.add_machine(&ad)
    }

    /// Something about a machine changes what it says of itself. Whether machines are told apart from now on that were alike.
    pub(super) fn with_ad_changed(&mut self, id: MachineId, change: impl FnOnce(&mut Self)) -> bool {
        let before = self.ad(id);
        change(self);
        self.books.classes.seen.remove_machine(&before);
        self.note_ad(id)
    }

    /// New requirements look at what nobody looked at before. Costs O(agents).
    pub(super) fn classify_all(&mut self, at: Time) {
        for index in 0..self.books.agents.len() {
            self.classify(at, MachineId::new(index));
        }
    }

    pub(super) fn classify(&mut self, at: Time, id: MachineId) {
        let class = self.class_of(at, id);
        if self.grid().machine(id).class() != class {
            self.tell(at, &Event::MachineMeasured { machine: id, class });
        }
    }

    pub(super) fn class_of(&mut self, at: Time, id: MachineId) -> MachineClassId {
        let agent = self.agent(id);
        let part = self.books.classes.seen.part_of(&self.ad(id));
        let class = machine_class(&agent.profile, agent.shown.share(), agent.price, part);
        let met = self.books.classes.machine(&class);
        if met.is_new {
            self.tell(at, &Event::MachineClassMet(Box::new(class)));
        }
        met.id
    }

    fn ad(&self, id: MachineId) -> ClassAd {
        let agent = self.agent(id);
        let mut ad = machine_ad(&agent.name, &agent.profile);
        self.books.elsewhere.describe(id, &agent.name, &mut ad);
        ad
    }
}
