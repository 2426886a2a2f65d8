use crate::alarm::Alarm;
use crate::checking::{Answer, Checking, Likeness, Owner};
use crate::classes::{MachineClass, TaskClass};
use crate::grid::Budget;
use crate::lending::LendingEvent;
use gleaner_units::{
    FileId, MachineClassId, MachineId, Ops, RunId, SiteId, Span, TaskClassId, TaskId, Time, UserId,
};
use serde::{Deserialize, Serialize};

/// What happened outside. Events are facts: the grid never refuses one. One that says what the grid knows already
/// changes nothing.
///
/// Ids are dense: whoever reports a new class, machine or task gives it the next id of its kind.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Event {
    /// A class of machines was met for the first time; it gets the next [`MachineClassId`].
    MachineClassMet(Box<MachineClass>),
    /// A class of tasks was met for the first time; it gets the next [`TaskClassId`].
    TaskClassMet(Box<TaskClass>),
    /// The composition of some classes of tasks is another than was thought.
    TaskClassesMeasured {
        /// Which classes.
        classes: Vec<TaskClassId>,
        /// C: how the operations divide over the kinds.
        composition: Vec<f64>,
    },
    /// No task is of a class any more: its id stands for another class from now on.
    TaskClassReplaced {
        /// Which one.
        class: TaskClassId,
        /// By what.
        by: Box<TaskClass>,
    },
    /// A machine joined, open, idle and with no owner load.
    MachineJoined {
        /// The next machine id.
        machine: MachineId,
        /// Of which class it is.
        class: MachineClassId,
    },
    /// A machine is of another class than was thought. The tasks on it stay until they end or are moved.
    MachineMeasured {
        /// Which machine.
        machine: MachineId,
        /// Of which class it is from now on.
        class: MachineClassId,
    },
    /// A machine was paused or is being drained: nothing new starts there; what runs there goes on, or is moved away.
    MachineClosed {
        /// Which machine.
        machine: MachineId,
    },
    /// A closed machine takes tasks again.
    MachineOpened {
        /// Which machine.
        machine: MachineId,
    },
    /// A machine is out of reach: the tasks that ran there alone wait again, and nothing starts there until it returns.
    MachineLost {
        /// Which machine.
        machine: MachineId,
    },
    /// A machine that was lost is back: open, empty and with no owner load.
    MachineReturned {
        /// Which machine.
        machine: MachineId,
    },
    /// A user handed in tasks of one class.
    TasksSubmitted {
        /// The next task id; the others follow on it.
        first: TaskId,
        /// How many.
        count: u32,
        /// Of which class they are.
        class: TaskClassId,
        /// How long each of them is, if whoever handed them in said so.
        length: Option<Ops>,
    },
    /// Tasks were cancelled or are held: they wait no more, and their runs are to stop. Should one of these come to its end
    /// all the same, that counts.
    TasksWithdrawn {
        /// The lowest; the others follow on it.
        first: TaskId,
        /// How many.
        count: u32,
    },
    /// Tasks that were withdrawn wait again, each as soon as no run of it is left.
    TasksReturned {
        /// The lowest; the others follow on it.
        first: TaskId,
        /// How many.
        count: u32,
    },
    /// Tasks that had ended, or were withdrawn, are to run again from their beginning: each waits as soon as no run of it
    /// is left, and what its runs so far did counts no more.
    TasksRerun {
        /// Of each stretch of them the lowest, and how many they are.
        tasks: Vec<(TaskId, u32)>,
    },
    /// Tasks that neither wait nor run ask something else of machines from now on: they are to be tried elsewhere.
    TasksReclassed {
        /// The lowest; the others follow on it.
        first: TaskId,
        /// How many.
        count: u32,
        /// Of which class they are now; it was met before, and is the same user's.
        class: TaskClassId,
    },
    /// The owner of a machine now uses this share of it.
    OwnerLoadReported {
        /// Whose owner.
        machine: MachineId,
        /// λ, from 0 (idle) to 1 (none left).
        load: f64,
    },
    /// The runs of a user, or of everyone without a bound of their own, take so many cores at a time from now on. What runs goes
    /// on.
    CoresCapped {
        /// Whose.
        user: Option<UserId>,
        /// How many; none: as many as everyone without a bound of their own, who have no bound then.
        cores: Option<u32>,
    },
    /// A file was met for the first time; it gets the next [`FileId`].
    FileMet {
        /// The next file id.
        file: FileId,
        /// How large it is.
        bytes: u64,
    },
    /// A copy of a file is at a site.
    FileStored {
        /// Which file.
        file: FileId,
        /// Where.
        site: SiteId,
    },
    /// A copy of a file is gone.
    FileRemoved {
        /// Which file.
        file: FileId,
        /// Where it was.
        site: SiteId,
    },
    /// Tasks of a class read these files.
    InputsNamed {
        /// Which class.
        class: TaskClassId,
        /// What they read.
        files: Vec<FileId>,
    },
    /// Runs of tasks of a class are stopped after so long, wherever they are. It is said before the first of them is
    /// submitted.
    ClassLimited {
        /// Which class.
        class: TaskClassId,
        /// After how long.
        limit: Span,
    },
    /// A machine is at a site.
    MachineSited {
        /// Which machine.
        machine: MachineId,
        /// Where it is.
        site: SiteId,
    },
    /// Data takes its way from one site to another at this rate; from a site to itself, that is how fast it is read there.
    LinkMeasured {
        /// From where.
        from: SiteId,
        /// To where.
        to: SiteId,
        /// Bytes a second; 0 where there is no way any more.
        bytes_per_s: f64,
    },
    /// A machine that is a site with a queue of its own said how things are there. What is older than what is known changes
    /// nothing.
    StatePublished {
        /// Which machine.
        machine: MachineId,
        /// How things were.
        state: SiteState,
        /// When they were so.
        known_at: Time,
    },
    /// The scheduler of a machine that several schedulers send tasks to said how things are there. What is older than what
    /// is known changes nothing.
    ResidentsPublished {
        /// Which machine.
        machine: MachineId,
        /// How many tasks of each class are there that were not sent from here; only classes with any, in order.
        others: Vec<(TaskClassId, u32)>,
        /// λ: what its owner uses of it.
        load: f64,
        /// When it was so.
        known_at: Time,
    },
    /// A peer did, wants, lends or gave back something.
    Lending(LendingEvent),
    /// A site that was asked how things are there has said so.
    SurveyAnswered {
        /// Which survey.
        number: u32,
        /// Which site.
        machine: MachineId,
        /// How things were.
        state: SiteState,
        /// When they were so.
        known_at: Time,
    },
    /// A site holds its part of a run that it was asked for.
    RunGranted {
        /// Which run.
        run: RunId,
        /// Which site.
        on: MachineId,
        /// Since when: states of later moments contain it.
        since: Time,
    },
    /// A site does not hold its part of a run that it was asked for.
    RunRefused {
        /// Which run.
        run: RunId,
        /// Which site.
        on: MachineId,
    },
    /// All that a run needs is where it goes, and it waits there for its turn.
    RunArrived {
        /// Which run.
        run: RunId,
        /// Since when: states of later moments contain it.
        since: Time,
    },
    /// A run began where it was sent.
    RunStarted(RunId),
    /// A run is over. It counts even if its machine was thought lost, as long as the task was not given to another.
    RunEnded {
        /// The run.
        run: RunId,
        /// What it leaves.
        end: RunEnd,
    },
    /// From now on this may be spent, or else running costs nothing. Accounts go on as far as they are the same
    /// people's; with new ones, what is on a machine already is not charged for its present run.
    BudgetSet(Option<Budget>),
    /// From now on so many machines have to give the same answer to a task, or else one has. What is being compared goes on
    /// as it began.
    CheckingSet(Option<Checking>),
    /// Users want tasks of a class to have the same answer from so many machines, whoever is trusted. It is said before the
    /// first of them is submitted.
    ClassChecked {
        /// Which class.
        class: TaskClassId,
        /// How many; at least 2.
        quorum: u32,
        /// Whether a program of theirs says which answers are the same: it runs on machines that gave none of the two.
        by_program: bool,
    },
    /// A machine is one of this owner's from now on, whose machines have one vote where answers are compared; or nobody's but its
    /// own. Answers that were given before count as they did.
    MachineOwned {
        /// The machine.
        machine: MachineId,
        /// Whose.
        owner: Option<Owner>,
    },
    /// What is left to chance goes by this seed from now on.
    SeedDrawn(u64),
    /// Another policy is in force, or the same with other numbers.
    RuleChanged,
    /// The moment asked for by [`Decision::Wake`](crate::Decision::Wake) came, now or a while ago.
    WokeUp {
        /// Which alarm.
        alarm: Alarm,
    },
    /// Tasks that are over, and of which no run is known, are asked for no more: all that the grid keeps of them is that.
    TasksRetired {
        /// The first.
        first: TaskId,
        /// How many follow on it, itself included.
        count: u32,
    },
    /// Retired tasks that are alike are known again, and withdrawn.
    #[serde(rename = "TasksRecalled")]
    TasksRevived {
        /// The first.
        first: TaskId,
        /// How many follow on it, itself included.
        count: u32,
        /// Of which class they are.
        class: TaskClassId,
        /// How long each is, where that was declared.
        length: Option<Ops>,
        /// How many runs each was given.
        runs: u32,
        /// When they were handed in.
        submitted: Time,
    },
}

/// What a site says of itself: to whoever sends tasks there it is a machine, and this is all that is known of its inside.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct SiteState {
    /// Cores that nothing runs on.
    pub cores_free: u32,
    /// Bytes.
    pub memory_free: u64,
    /// Bytes.
    pub disk_free: u64,
    /// Tasks in its queue that have not begun.
    pub waiting: u32,
    /// The seconds after which a task that is handed in now would begin, as the site estimates: the traversal time.
    pub traversal_s: f64,
}

/// What a run leaves when it is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum RunEnd {
    /// The task is done.
    Finished,
    /// The task is done, if this is its answer: as many machines as are to agree gave the same.
    Answered(Answer),
    /// It compared two answers to the task, which is done if so many machines gave the same then.
    Compared(Likeness),
    /// The task is not done, and the next run goes on from where this one was.
    Kept,
    /// The task is not done, and nothing is left of what this run did: it failed, was refused or was lost.
    Lost,
    /// Likewise: its machine did not begin it. That is no answer, and where answers are compared the machine is not asked again.
    Refused,
}
