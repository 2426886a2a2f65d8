//! `gleaner up --demo`: what a grid does, shown on two agents of this machine with a few tasks.
//!
//! **Nothing waits for a clock**: each step says what it waits for and goes on when that is so. All of it has to be over
//! after [`PATIENCE`]; what is missing then is said, and is the exit code.

use crate::api::Api;
use crate::cli::GridArguments;
use crate::columns::plural;
use crate::failure::Failure;
use crate::{Outcome, stdout};
use gleaner_agent::owner::Word;
use gleaner_agent::owner_socket::tell;
use gleaner_wire::JobId;
use gleaner_wire::api::{JobView, MachineState, MachineView, TaskPhase, TaskView};
use gleaner_wire::job::{Checkpointing, Confinement, JobSpec, TaskList};
use gleaner_wire::session::Stream;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

const TASKS: u32 = 4;
/// Each counts so far, twice a second.
const COUNT: u32 = 20;
const PROGRAM: &str = "\
n=$(cat \"$GLEANER_CHECKPOINT/n\" 2>/dev/null || echo 0)
while [ $n -lt {count} ]; do
  n=$((n + 1)); echo \"$n in run $GLEANER_ATTEMPT\"; echo $n > \"$GLEANER_CHECKPOINT/n\"; sleep 0.5
done";
/// For all of it.
const PATIENCE: Duration = Duration::from_secs(55);
const LOOK: Duration = Duration::from_millis(250);

/// On which grid it is shown.
pub(crate) struct Demonstration {
    /// The coordinator's folder.
    pub(crate) home: PathBuf,
    /// The agents: what each is called, and its folder.
    pub(crate) agents: Vec<(&'static str, PathBuf)>,
    /// Whether the agents' owner lets this user's tasks out of the sandbox.
    pub(crate) may_leave_sandbox: bool,
}

impl Demonstration {
    /// Shows it. What did not come about in time is a difference.
    pub(crate) fn show(&self) -> Outcome {
        let until = Instant::now() + PATIENCE;
        let arguments = GridArguments {
            home: Some(self.home.clone()),
            server: None,
            fingerprint: None,
            token: None,
            json: false,
        };
        let grid = Api::open(&arguments)?;
        say("1. Two agents of this machine join; each measures for some seconds how fast it is …")?;
        let Some(confinement) = self.confinement(&self.machines(&grid, until)?)? else { return Ok(()) };
        let job = grid.submit(&counting(confinement), None)?.job;
        let mut story = Story { grid: &grid, job, until, told: vec![None; TASKS as usize] };
        say(&format!(
            "2. Job {job}: {TASKS} tasks count to {COUNT} and note each step in their checkpoints. Until all run …"
        ))?;
        story.wait("all its tasks run", |tasks| {
            tasks.iter().all(|task| task.phase != TaskPhase::Waiting && task.machine.is_some())
        })?;
        let (name, folder) = self.fullest(&story)?;
        let tasks = owner(&folder, Word::Here)?;
        let tasks = plural(tasks as u64, "task");
        say(&format!(
            "3. The owner of {name} is back: {tasks} there stand still. Until they run elsewhere …"
        ))?;
        story.wait("none of them is left there", |tasks| {
            tasks.iter().all(|task| task.machine.as_deref() != Some(name) || task.phase.is_over())
        })?;
        owner(&folder, Word::Away)?;
        say(&format!("4. The owner of {name} has left again. Until all have counted to the end …"))?;
        let tasks =
            story.wait("all tasks are over", |tasks| tasks.iter().all(|task| task.phase.is_over()))?;
        report(&grid, &grid.job(job)?, &tasks)
    }

    /// The machines, once all of them take tasks.
    fn machines(&self, grid: &Api, until: Instant) -> Result<Vec<MachineView>, Failure> {
        let ours = |view: &MachineView| self.agents.iter().any(|(name, _)| *name == view.machine);
        let mut told = None;
        loop {
            let machines: Vec<_> = grid.machines()?.machines.into_iter().filter(ours).collect();
            let closed = machines.iter().find(|view| view.state != MachineState::Open);
            if machines.len() == self.agents.len() && closed.is_none() {
                return Ok(machines);
            }
            let why = closed.and_then(|view| Some(format!("{}: {}", view.machine, view.why.as_ref()?)));
            if why.is_some() && why != told {
                say(&format!("   still waiting, since {}", why.as_deref().unwrap_or_default()))?;
                told.clone_from(&why);
            }
            if Instant::now() > until {
                return Err(late("both agents take tasks", why.as_deref()));
            }
            thread::sleep(LOOK);
        }
    }

    /// How its tasks can run here; none if they cannot, which is said.
    fn confinement(&self, machines: &[MachineView]) -> Result<Option<Confinement>, Failure> {
        let why = machines.iter().find_map(|view| view.profile.sandbox.as_ref().err());
        match why {
            None => Ok(Some(Confinement::Sandbox)),
            Some(_) if self.may_leave_sandbox => Ok(Some(Confinement::None)),
            Some(why) => Err(Failure::Difference(format!(
                "there is nothing to show: this machine cannot build the sandbox ({why}). Start it as \
                 `gleaner up --demo --as $USER`, and the tasks of the demonstration run outside of it"
            ))),
        }
    }

    /// The agent that most tasks are on.
    fn fullest(&self, story: &Story<'_>) -> Result<(&'static str, PathBuf), Failure> {
        let tasks = story.tasks()?;
        let on = |name: &str| tasks.iter().filter(|task| task.machine.as_deref() == Some(name)).count();
        let fullest = self.agents.iter().max_by_key(|(name, _)| on(name));
        Ok(fullest.expect("there are two").clone())
    }
}

fn say(text: &str) -> Outcome {
    stdout::print(format!("{text}\n"))
}

fn late(what: &str, why: Option<&str>) -> Failure {
    let why = why.map_or(String::new(), |why| format!(" ({why})"));
    Failure::Difference(format!(
        "{} s were not enough until {what}{why}; what runs goes on as long as the grid is up: `gleaner status`",
        PATIENCE.as_secs()
    ))
}

fn owner(folder: &std::path::Path, word: Word) -> Result<usize, Failure> {
    let answer = tell(folder, Some(word)).map_err(|error| Failure::Agent(error.to_string()))?;
    Ok(answer.tasks)
}

fn counting(confinement: Confinement) -> JobSpec {
    let program = PROGRAM.replace("{count}", &COUNT.to_string());
    JobSpec {
        name: "demonstration".to_owned(),
        tasks: TaskList::Array { first: 1, last: TASKS, step: 1 },
        checkpoint: Checkpointing { folder: true, grace_s: 2.0, ..Checkpointing::default() },
        confinement,
        ..JobSpec::new(["sh", "-c", &program])
    }
}

/// Tells what becomes of each task.
struct Story<'a> {
    grid: &'a Api,
    job: JobId,
    until: Instant,
    told: Vec<Option<String>>,
}

impl Story<'_> {
    fn tasks(&self) -> Result<Vec<TaskView>, Failure> {
        Ok(self.grid.tasks(self.job, 0, TASKS, None)?.tasks)
    }

    /// Waits until the tasks are as they should be, and tells what becomes of each meanwhile.
    fn wait(&mut self, what: &str, is_so: impl Fn(&[TaskView]) -> bool) -> Result<Vec<TaskView>, Failure> {
        loop {
            let tasks = self.tasks()?;
            tasks.iter().try_for_each(|task| self.tell(task))?;
            if is_so(&tasks) {
                return Ok(tasks);
            }
            if Instant::now() > self.until {
                return Err(late(what, None));
            }
            thread::sleep(LOOK);
        }
    }

    fn tell(&mut self, task: &TaskView) -> Outcome {
        let machine = task.machine.as_deref().unwrap_or("no machine yet");
        let now = format!("{} on {machine}, run {}", task.phase.name(), task.runs);
        let told = &mut self.told[task.task as usize - 1];
        if told.as_ref() != Some(&now) {
            say(&format!("   task {}/{}: {now}", self.job, task.task))?;
            *told = Some(now);
        }
        Ok(())
    }
}

/// Every number once, whatever machine it was counted on.
fn report(grid: &Api, view: &JobView, tasks: &[TaskView]) -> Outcome {
    let mut moved = 0;
    for task in tasks {
        let runs = grid.history(view.job, task.task)?.transitions;
        moved += u32::from(runs.iter().any(|transition| transition.cause.contains("moves it")));
        let last = grid.output((view.job, task.task), Stream::Stdout, None, 0, 0)?.bytes;
        let last = String::from_utf8_lossy(&last);
        let ended = match last.lines().last() {
            Some(last) => format!("ended with \"{last}\""),
            None => "had counted to the end before its last move".to_owned(),
        };
        say(&format!("   task {}/{} {ended}", view.job, task.task))?;
    }
    say(&format!(
        "Done: {} of {TASKS} tasks ended well, {moved} of them moved and went on from their checkpoints.\n\
         `gleaner history {}/1` tells a task's life. These two agents run tasks however busy this machine is;\n\
         `gleaner owner set programs watch` lets the first one make way for your own programs.",
        view.tasks.done, view.job
    ))?;
    if view.tasks.done == TASKS {
        return Ok(());
    }
    Err(Failure::Difference(format!("{} of {TASKS} tasks of the demonstration ended well", view.tasks.done)))
}
