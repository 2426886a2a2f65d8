//! What the scheduler cannot tell apart is one class; whatever depends only on classes is computed once.

mod class;
mod rows;

pub use class::{Demand, MachineClass, QUALITY, Tags, TaskClass, WATTS, WATTS_USUAL, WOULD_PAY};

use crate::ad::{Ad, Meetings, Work};
use crate::room::Needs;
use gleaner_units::{MachineClassId, TaskClassId};
use rows::Rows;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// How far from 1 the shares of a composition may add up.
const COMPOSITION_TOLERANCE: f64 = 1e-9;

/// Why a class has no meaning in this grid.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum InvalidClass {
    /// A vector's length is not the number of kinds of operations.
    #[error("{found} components where the grid has {expected} kinds of operations")]
    Dimensions {
        /// Kinds of operations in this grid.
        expected: usize,
        /// Components given.
        found: usize,
    },
    /// A component is negative, infinite or not a number.
    #[error("component {index} is {value}; expected a finite number, 0 or more")]
    Component {
        /// Which one, from 0.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// The shares of a composition must make a whole.
    #[error("the shares add up to {0}; expected 1")]
    Sum(f64),
    /// A price is negative, infinite or not a number.
    #[error("price {0}; expected a finite number, 0 or more")]
    Price(f64),
    /// A machine has, and a task needs, at least one core.
    #[error("no cores; expected at least 1")]
    NoCores,
}

/// The classes met so far, and the time per operation for each pair of them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Classes {
    weights: Vec<f64>,
    machines: Vec<MachineClass>,
    /// By machine class.
    watts: Vec<f64>,
    tasks: Vec<TaskClass>,
    /// By task class: so that a grid of many fits into a processor's cache, as far as it is asked for often.
    demands: Vec<Demand>,
    /// One row a task class, one column a machine class.
    seconds_per_op: Rows,
    /// Likewise for a part of such a task, on a machine that may be too small for the whole of it; a task class that needs
    /// one core has no row.
    in_parts: Rows,
    /// By task class: its row there.
    row_in_parts: Vec<Option<u32>>,
    /// Likewise; no row for a task class that likes all machines alike.
    ranks: Vec<Option<Vec<f64>>>,
    /// Follows from the classes.
    #[serde(skip)]
    meetings: Meetings,
    /// Bytes of the ads of classes that are gone, of which that still knows the names.
    #[serde(skip)]
    gone_bytes: usize,
}

/// Bytes of ads of classes that are gone after which the names in them are forgotten, where they are more than what is left.
const GONE_BYTES_MAX: usize = 1 << 20;

fn check_vector(values: &[f64], expected: usize) -> Result<(), InvalidClass> {
    if values.len() != expected {
        return Err(InvalidClass::Dimensions { expected, found: values.len() });
    }
    match values.iter().position(|&value| !(value.is_finite() && value >= 0.0)) {
        Some(index) => Err(InvalidClass::Component { index, value: values[index] }),
        None => Ok(()),
    }
}

fn if_it_holds(machine: &MachineClass, needs: Needs, seconds: f64) -> f64 {
    if machine.room.holds(needs) { seconds } else { f64::INFINITY }
}

fn check_sum(composition: &[f64]) -> Result<(), InvalidClass> {
    let sum: f64 = composition.iter().sum();
    if (sum - 1.0).abs() <= COMPOSITION_TOLERANCE { Ok(()) } else { Err(InvalidClass::Sum(sum)) }
}

impl Classes {
    /// No classes yet; `weights` is W, how many real operations of each kind one logical operation stands for.
    pub(crate) fn new(weights: Vec<f64>) -> Self {
        Self {
            weights,
            machines: Vec::new(),
            watts: Vec::new(),
            tasks: Vec::new(),
            demands: Vec::new(),
            seconds_per_op: Rows::default(),
            in_parts: Rows::default(),
            row_in_parts: Vec::new(),
            ranks: Vec::new(),
            meetings: Meetings::default(),
            gone_bytes: 0,
        }
    }

    /// W.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// In the order in which they were met.
    pub fn machine_classes(&self) -> &[MachineClass] {
        &self.machines
    }

    /// In the order in which they were met.
    pub fn task_classes(&self) -> &[TaskClass] {
        &self.tasks
    }

    /// What such machines have in common.
    pub fn machine_class(&self, id: MachineClassId) -> &MachineClass {
        &self.machines[id.index()]
    }

    /// What such a machine takes at work: see [`MachineClass::watts`].
    #[inline]
    pub fn watts(&self, id: MachineClassId) -> f64 {
        self.watts[id.index()]
    }

    /// What such tasks have in common.
    pub fn task_class(&self, id: TaskClassId) -> &TaskClass {
        &self.tasks[id.index()]
    }

    /// What of [`task_class`](Self::task_class) is asked for at every step.
    #[inline]
    pub fn demand(&self, id: TaskClassId) -> Demand {
        self.demands[id.index()]
    }

    /// h: the seconds that one logical operation of such a task takes on such a machine when it has a core for
    /// itself, Σ W·C/S with 0/0 = 0; infinite where the task cannot run.
    #[inline]
    pub fn seconds_per_op(&self, task: TaskClassId, machine: MachineClassId) -> f64 {
        self.seconds_per_op.get(task.index(), machine.index())
    }

    /// [`seconds_per_op`](Self::seconds_per_op) for each machine class.
    #[inline]
    pub fn seconds_per_op_row(&self, task: TaskClassId) -> &[f64] {
        self.seconds_per_op.row(task.index())
    }

    /// [`seconds_per_op`](Self::seconds_per_op) of a part of such a task: that the machine is too small for all of it
    /// does not matter, as long as it has room for what falls to one core.
    #[inline]
    pub fn seconds_per_op_in_parts(&self, task: TaskClassId, machine: MachineClassId) -> f64 {
        match self.row_in_parts[task.index()] {
            Some(row) => self.in_parts.get(row as usize, machine.index()),
            None => self.seconds_per_op(task, machine),
        }
    }

    /// How much such a task likes each machine class, if it tells them apart. It goes where it likes best among the
    /// machines that can take it now.
    #[inline]
    pub fn ranks(&self, task: TaskClassId) -> Option<&[f64]> {
        self.ranks[task.index()].as_deref()
    }

    /// Whether the class means something here, for whoever is about to report it.
    pub fn check_machine_class(&self, class: &MachineClass) -> Result<(), InvalidClass> {
        check_vector(&class.speeds, self.weights.len())?;
        if !(class.price.is_finite() && class.price >= 0.0) {
            return Err(InvalidClass::Price(class.price));
        }
        if class.cores == 0 { Err(InvalidClass::NoCores) } else { Ok(()) }
    }

    /// Whether the class means something here, for whoever is about to report it.
    pub fn check_task_class(&self, class: &TaskClass) -> Result<(), InvalidClass> {
        if class.needs.cores == 0 {
            return Err(InvalidClass::NoCores);
        }
        self.check_composition(&class.composition)
    }

    /// Whether a composition means something here, for whoever is about to report that it was measured.
    pub fn check_composition(&self, composition: &[f64]) -> Result<(), InvalidClass> {
        check_vector(composition, self.weights.len())?;
        check_sum(composition)
    }

    /// Costs O(task classes).
    pub(crate) fn add_machine_class(&mut self, class: MachineClass) -> MachineClassId {
        let id = self.machines.len();
        self.watts.push(class.watts());
        self.machines.push(class);
        self.catch_up();
        let mut work = Work::of(self.tasks.len() + self.ranks.iter().flatten().count());
        let seconds: Vec<f64> =
            (0..self.tasks.len()).map(|task| self.seconds_of_pair(task, id, &mut work)).collect();
        let (machine, tasks) = (&self.machines[id], &self.tasks);
        self.seconds_per_op.push_column(|task| if_it_holds(machine, tasks[task].needs, seconds[task]));
        let with_parts = self.row_in_parts.iter().enumerate();
        let mut with_parts: Vec<(u32, usize)> =
            with_parts.filter_map(|(task, row)| Some(((*row)?, task))).collect();
        with_parts.sort_unstable();
        self.in_parts.push_column(|row| {
            let (_, task) = with_parts[row];
            if_it_holds(machine, tasks[task].needs.of_part(1), seconds[task])
        });
        for (task, row) in self.ranks.iter_mut().enumerate() {
            if let Some(row) = row {
                row.push(self.meetings.liking(task, id, &mut work));
            }
        }
        MachineClassId::new(id)
    }

    /// Costs O(machine classes).
    pub(crate) fn measure_task_class(&mut self, id: TaskClassId, composition: Vec<f64>) {
        self.catch_up();
        self.tasks[id.index()].composition = composition;
        let (whole, in_parts) = self.rows(id.index(), &mut Work::of(self.machines.len()));
        self.seconds_per_op.set_row(id.index(), &whole);
        if let Some(row) = self.row_in_parts[id.index()] {
            self.in_parts.set_row(row as usize, &in_parts);
        }
    }

    /// Costs O(machine classes).
    pub(crate) fn add_task_class(&mut self, class: TaskClass) -> TaskClassId {
        let id = self.tasks.len();
        let ranked = class.is_ranked();
        self.demands.push(class.demand());
        self.tasks.push(class);
        self.catch_up();
        let mut work = Work::of(self.machines.len() * if ranked { 2 } else { 1 });
        let (whole, in_parts) = self.rows(id, &mut work);
        self.seconds_per_op.push_row(&whole);
        let has_parts = self.tasks[id].needs.cores > 1;
        self.row_in_parts.push(has_parts.then(|| self.in_parts.push_row(&in_parts) as u32));
        let ranks = (0..self.machines.len()).map(|machine| self.meetings.liking(id, machine, &mut work));
        self.ranks.push(ranked.then(|| ranks.collect()));
        TaskClassId::new(id)
    }

    /// Nothing of what it was is kept. Costs O(machine classes), and O(size of all ads) once for as much that is gone.
    pub(crate) fn replace_task_class(&mut self, id: TaskClassId, by: TaskClass) {
        self.catch_up();
        let index = id.index();
        self.gone_bytes += self.tasks[index].ad.as_ref().map_or(0, Ad::size);
        let ranked = by.is_ranked();
        self.demands[index] = by.demand();
        self.tasks[index] = by;
        self.meetings.replace_task(index, self.tasks[index].ad.as_ref());
        self.forget_gone();
        let mut work = Work::of(self.machines.len() * if ranked { 2 } else { 1 });
        let (whole, in_parts) = self.rows(index, &mut work);
        self.seconds_per_op.set_row(index, &whole);
        // A row that it has stays, whether it needs one or not.
        match self.row_in_parts[index] {
            Some(row) => self.in_parts.set_row(row as usize, &in_parts),
            None if self.tasks[index].needs.cores > 1 => {
                self.row_in_parts[index] = Some(self.in_parts.push_row(&in_parts) as u32);
            }
            None => {}
        }
        let ranks = (0..self.machines.len()).map(|machine| self.meetings.liking(index, machine, &mut work));
        self.ranks[index] = ranked.then(|| ranks.collect());
    }

    /// Names of attributes and texts are kept once for all ads, and of those that are gone too.
    fn forget_gone(&mut self) {
        if self.gone_bytes <= GONE_BYTES_MAX {
            return;
        }
        let left: usize = self.tasks.iter().filter_map(|class| class.ad.as_ref()).map(Ad::size).sum();
        if self.gone_bytes > left {
            self.gone_bytes = 0;
            self.meetings = Meetings::default();
            self.catch_up();
        }
    }

    fn catch_up(&mut self) {
        let (tasks, machines) = self.meetings.known();
        let tasks = self.tasks[tasks..].iter().map(|class| class.ad.as_ref());
        let machines = self.machines[machines..].iter().map(|class| class.ad.as_ref());
        self.meetings.extend(tasks, machines);
    }

    /// For the whole of a task, and for its parts.
    fn rows(&self, task: usize, work: &mut Work) -> (Vec<f64>, Vec<f64>) {
        let seconds: Vec<f64> =
            (0..self.machines.len()).map(|machine| self.seconds_of_pair(task, machine, work)).collect();
        let row = |needs| -> Vec<f64> {
            let pairs = self.machines.iter().zip(&seconds);
            pairs.map(|(machine, seconds)| if_it_holds(machine, needs, *seconds)).collect()
        };
        let needs = self.tasks[task].needs;
        (row(needs), row(needs.of_part(1)))
    }

    /// The sum in equation (1) of the first paper; infinite where task and machine do not want each other.
    fn seconds_of_pair(&self, task: usize, machine: usize, work: &mut Work) -> f64 {
        let (class, on) = (&self.tasks[task], &self.machines[machine]);
        let wanted = class.requires.is_subset(&on.provides) && self.meetings.agree(task, machine, work);
        if !wanted {
            return f64::INFINITY;
        }
        let terms = self.weights.iter().zip(&class.composition).zip(&on.speeds);
        let terms = terms.filter(|((_, share), _)| **share > 0.0);
        terms.map(|((weight, share), speed)| weight * share / speed).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::Room;
    use gleaner_units::UserId;

    fn machine(ad: &str) -> MachineClass {
        let ad = Some(Ad::parse(ad).expect("an ad"));
        let (room, provides) = (Room::default(), Tags::new());
        MachineClass { speeds: vec![2.0], cores: 1, room, price: 0.0, provides, ad }
    }

    fn task(ad: &str) -> TaskClass {
        TaskClass {
            composition: vec![1.0],
            needs: Needs::default(),
            priority: 0,
            restarts: false,
            payer: UserId::new(0),
            requires: Tags::new(),
            ad: Some(Ad::parse(ad).expect("an ad")),
        }
    }

    #[test]
    fn a_class_that_is_replaced_is_as_one_that_was_never_there() {
        let ads = |number: usize| match number % 3 {
            0 => format!("[ Requirements = TARGET.Memory >= {number} ]"),
            1 => format!("[ Rank = TARGET.Memory * {number} ]"),
            _ => String::from("[ Label = \"plain\" ]"),
        };
        let class = |number: usize| TaskClass {
            needs: Needs { cores: 1 + (number % 2) as u32, ..Needs::default() },
            ..task(&ads(number))
        };
        let (mut replaced, mut fresh) = (Classes::new(vec![1.0]), Classes::new(vec![1.0]));
        for number in 0..6 {
            replaced.add_task_class(class(number));
        }
        replaced.add_machine_class(machine("[ Memory = 4 ]"));
        for number in 0..6 {
            replaced.replace_task_class(TaskClassId::new(number), class(6 + 5 * number));
            fresh.add_task_class(class(6 + 5 * number));
        }
        fresh.add_machine_class(machine("[ Memory = 4 ]"));
        for classes in [&mut replaced, &mut fresh] {
            classes.add_machine_class(machine("[ Memory = 16 ]"));
        }
        assert_eq!(replaced.task_classes(), fresh.task_classes());
        for task in (0..6).map(TaskClassId::new) {
            assert_eq!(replaced.seconds_per_op_row(task), fresh.seconds_per_op_row(task), "{task}");
            assert_eq!(
                (replaced.ranks(task), replaced.demand(task)),
                (fresh.ranks(task), fresh.demand(task))
            );
            for on in (0..2).map(MachineClassId::new) {
                let in_parts = |classes: &Classes| classes.seconds_per_op_in_parts(task, on);
                assert_eq!(in_parts(&replaced), in_parts(&fresh), "{task} on {on}");
            }
        }
    }

    #[test]
    fn names_of_classes_that_are_gone_are_forgotten() {
        let mut classes = Classes::new(vec![1.0]);
        let large = |number: usize| {
            let names: Vec<String> = (0..4_000).map(|name| format!("TARGET.N{number}x{name}")).collect();
            task(&format!("[ Requirements = {} ]", names.join(" || ")))
        };
        let id = classes.add_task_class(large(0));
        let size = classes.task_class(id).ad.as_ref().map_or(0, Ad::size);
        for number in 1..200 {
            classes.replace_task_class(id, large(number));
            assert!(classes.gone_bytes <= GONE_BYTES_MAX + size);
        }
    }

    #[test]
    fn classes_read_back_meet_as_they_did() {
        let mut classes = Classes::new(vec![1.0]);
        let large = classes.add_machine_class(machine("[ Memory = 16 ]"));
        let wanting =
            classes.add_task_class(task("[ Requirements = TARGET.Memory >= 8; Rank = TARGET.Memory ]"));
        let text = serde_json::to_string(&classes).expect("JSON");
        let back: Classes = serde_json::from_str(&text).expect("classes");
        for mut classes in [classes, back] {
            let small = classes.add_machine_class(machine("[ Memory = 4 ]"));
            let modest = classes.add_task_class(task("[ Requirements = TARGET.Memory >= 2 ]"));
            assert_eq!(classes.ranks(wanting), Some(&[16.0, 4.0][..]));
            assert_eq!(classes.seconds_per_op_row(wanting), [0.5, f64::INFINITY]);
            assert_eq!(classes.seconds_per_op_row(modest), [0.5, 0.5]);
            classes.measure_task_class(wanting, vec![1.0]);
            assert_eq!(classes.seconds_per_op(wanting, small), f64::INFINITY);
            assert_eq!(classes.seconds_per_op(wanting, large), 0.5);
        }
    }
}
