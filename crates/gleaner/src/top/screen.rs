//! What is on the screen, and what keys do.

use super::sorting::{JobsBy, MachinesBy, TasksBy};
use gleaner_wire::JobId;
use gleaner_wire::api::{ExplanationView, GridView, JobView, MachineView, TaskView};
use gleaner_wire::day::{FailureGroup, WaitList};
use gleaner_wire::session::Stream;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What is looked at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Look {
    Grid,
    Job(JobId),
    Task(JobId, u32, Stream),
}

/// What the coordinator said.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) grid: GridView,
    pub(super) jobs: Vec<JobView>,
    pub(super) machines: Vec<MachineView>,
    pub(super) waits: WaitList,
    pub(super) look: Look,
    pub(super) shown: Shown,
}

/// What it said of what is looked at.
#[derive(Clone, Debug)]
pub(super) enum Shown {
    Grid,
    Job { job: Box<JobView>, tasks: Vec<TaskView>, failures: Vec<FailureGroup> },
    Task { task: Box<TaskView>, explanation: Box<ExplanationView>, output: Output },
}

/// The end of what a run wrote.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Output {
    pub(super) run: Option<u32>,
    pub(super) offset: u64,
    pub(super) bytes: Vec<u8>,
}

/// Which list the keys are for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Focus {
    Jobs,
    Machines,
}

/// What a key asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Act {
    Quit,
    Look(Look),
    Order { job: JobId, order: &'static str, task: Option<u32> },
    Machine { machine: String, order: &'static str },
}

/// What the marks in the lists are on.
struct Chosen {
    job: Option<JobId>,
    machine: Option<String>,
    task: Option<u32>,
}

pub(super) struct Screen {
    pub(super) seen: Seen,
    pub(super) look: Look,
    pub(super) focus: Focus,
    /// The place in each list: jobs, machines, tasks.
    pub(super) job: usize,
    pub(super) machine: usize,
    pub(super) task: usize,
    pub(super) jobs_by: JobsBy,
    pub(super) machines_by: MachinesBy,
    pub(super) tasks_by: TasksBy,
    /// Lines that the output is scrolled back by.
    pub(super) back: usize,
    /// What is to be confirmed.
    pub(super) asked: Option<Act>,
    pub(super) news: String,
    pub(super) trouble: Option<String>,
}

impl Screen {
    pub(super) fn new(seen: Seen) -> Self {
        let look = seen.look.clone();
        Self {
            seen,
            look,
            focus: Focus::Jobs,
            job: 0,
            machine: 0,
            task: 0,
            jobs_by: JobsBy::default(),
            machines_by: MachinesBy::default(),
            tasks_by: TasksBy::default(),
            back: 0,
            asked: None,
            news: String::new(),
            trouble: None,
        }
    }

    /// News of what is not looked at any more are of no interest.
    pub(super) fn hear(&mut self, told: Result<Seen, String>) {
        match told {
            Ok(seen) if seen.look == self.look => {
                let chosen = self.chosen();
                (self.seen, self.trouble) = (seen, None);
                self.choose(&chosen);
            }
            Ok(_) => {}
            Err(why) => self.trouble = Some(why),
        }
    }

    pub(super) fn jobs(&self) -> Vec<&JobView> {
        self.jobs_by.sorted(&self.seen.jobs)
    }

    pub(super) fn machines(&self) -> Vec<&MachineView> {
        self.machines_by.sorted(&self.seen.machines)
    }

    pub(super) fn tasks(&self) -> Vec<&TaskView> {
        match &self.seen.shown {
            Shown::Job { tasks, .. } => self.tasks_by.sorted(tasks),
            Shown::Grid | Shown::Task { .. } => Vec::new(),
        }
    }

    fn chosen(&self) -> Chosen {
        Chosen {
            job: self.jobs().get(self.job).map(|job| job.job),
            machine: self.machines().get(self.machine).map(|machine| machine.machine.clone()),
            task: self.tasks().get(self.task).map(|task| task.task),
        }
    }

    /// What was chosen stays chosen, whatever comes before it.
    fn choose(&mut self, chosen: &Chosen) {
        let place = |found: Option<usize>, before: usize, count: usize| {
            found.unwrap_or(before).min(count.saturating_sub(1))
        };
        let jobs = self.jobs();
        let job = jobs.iter().position(|job| Some(job.job) == chosen.job);
        let job = place(job, self.job, jobs.len());
        let machines = self.machines();
        let machine = machines.iter().position(|machine| Some(&machine.machine) == chosen.machine.as_ref());
        let machine = place(machine, self.machine, machines.len());
        let tasks = self.tasks();
        let task = tasks.iter().position(|task| Some(task.task) == chosen.task);
        let task = place(task, self.task, tasks.len());
        (self.job, self.machine, self.task) = (job, machine, task);
    }

    /// The list that keys are for, in its next order.
    fn sort(&mut self) {
        let chosen = self.chosen();
        match (&self.look, self.focus) {
            (Look::Grid, Focus::Jobs) => self.jobs_by = self.jobs_by.next(),
            (Look::Grid, Focus::Machines) => self.machines_by = self.machines_by.next(),
            (Look::Job(_), _) => self.tasks_by = self.tasks_by.next(),
            (Look::Task(..), _) => {}
        }
        self.choose(&chosen);
    }

    /// Whether keys are for a machine.
    pub(super) fn is_at_machines(&self) -> bool {
        self.look == Look::Grid && self.focus == Focus::Machines
    }

    fn machine_order(&self, order: &'static str) -> Option<Act> {
        let machine = self.machines().get(self.machine)?.machine.clone();
        Some(Act::Machine { machine, order })
    }

    /// The job that keys are for.
    fn job(&self) -> Option<JobId> {
        match self.look {
            Look::Grid if self.focus == Focus::Jobs => self.jobs().get(self.job).map(|job| job.job),
            Look::Grid => None,
            Look::Job(job) | Look::Task(job, ..) => Some(job),
        }
    }

    /// The task, where one is looked at.
    fn task(&self) -> Option<u32> {
        match self.look {
            Look::Task(_, task, _) => Some(task),
            Look::Grid | Look::Job(_) => None,
        }
    }

    pub(super) fn key(&mut self, key: KeyEvent) -> Option<Act> {
        let is_control_c = key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c');
        if is_control_c {
            return Some(Act::Quit);
        }
        self.news.clear();
        if let Some(asked) = self.asked.take() {
            return (key.code == KeyCode::Char('y')).then_some(asked);
        }
        match key.code {
            KeyCode::Char('q') => Some(Act::Quit),
            KeyCode::Up | KeyCode::Char('k') => self.step(-1),
            KeyCode::Down | KeyCode::Char('j') => self.step(1),
            KeyCode::PageUp => self.step(-10),
            KeyCode::PageDown => self.step(10),
            KeyCode::Tab => {
                self.focus = if self.focus == Focus::Jobs { Focus::Machines } else { Focus::Jobs };
                None
            }
            KeyCode::Enter | KeyCode::Right => self.look_into(),
            KeyCode::Esc | KeyCode::Left | KeyCode::Backspace => self.go_back(),
            KeyCode::Char('e') => self.stream(Stream::Stderr),
            KeyCode::Char('o') => self.stream(Stream::Stdout),
            KeyCode::Char('s') => {
                self.sort();
                None
            }
            KeyCode::Char('p') if self.is_at_machines() => self.machine_order("pause"),
            KeyCode::Char('r') if self.is_at_machines() => self.machine_order("resume"),
            KeyCode::Char('d') if self.is_at_machines() => {
                self.asked = self.machine_order("drain");
                None
            }
            KeyCode::Char('h') => self.order("hold"),
            KeyCode::Char('r') => self.order("release"),
            KeyCode::Char('f') => self.order("rerun"),
            KeyCode::Char('c') => {
                self.asked = self.order("cancel");
                None
            }
            _ => None,
        }
    }

    fn order(&self, order: &'static str) -> Option<Act> {
        Some(Act::Order { job: self.job()?, order, task: self.task() })
    }

    fn step(&mut self, by: isize) -> Option<Act> {
        let moved = |place: usize, count: usize| place.saturating_add_signed(by).min(count.saturating_sub(1));
        match (&self.look, self.focus) {
            (Look::Grid, Focus::Jobs) => self.job = moved(self.job, self.seen.jobs.len()),
            (Look::Grid, Focus::Machines) => self.machine = moved(self.machine, self.seen.machines.len()),
            (Look::Job(_), _) => self.task = moved(self.task, self.tasks().len()),
            (Look::Task(..), _) => self.back = self.back.saturating_add_signed(-by),
        }
        None
    }

    fn look_into(&mut self) -> Option<Act> {
        let look = match self.look {
            Look::Grid => Look::Job(self.job()?),
            Look::Job(job) => Look::Task(job, self.tasks().get(self.task)?.task, Stream::Stdout),
            Look::Task(..) => return None,
        };
        self.back = 0;
        if matches!(look, Look::Job(_)) {
            self.task = 0;
        }
        Some(self.turn(look))
    }

    fn go_back(&mut self) -> Option<Act> {
        match self.look {
            Look::Grid => None,
            Look::Job(_) => Some(self.turn(Look::Grid)),
            Look::Task(job, ..) => Some(self.turn(Look::Job(job))),
        }
    }

    fn stream(&mut self, stream: Stream) -> Option<Act> {
        let Look::Task(job, task, _) = self.look else { return None };
        self.back = 0;
        Some(self.turn(Look::Task(job, task, stream)))
    }

    fn turn(&mut self, look: Look) -> Act {
        self.look = look.clone();
        Act::Look(look)
    }
}
