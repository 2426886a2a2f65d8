//! `gleaner up --demo`: what a grid does, shown on two agents of this machine with a few tasks.

use crate::cli::GridArguments;
use crate::failure::Failure;
use crate::grid::{Grid, Stream};
use crate::{Outcome, stdout};
use gleaner_agent::owner::Word;
use gleaner_agent::owner_socket::tell;
use gleaner_wire::JobId;
use gleaner_wire::api::{JobView, MachineState, TaskView};
use gleaner_wire::job::{Checkpointing, Confinement, JobSpec, TaskList};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

const TASKS: u32 = 4;
/// Each counts so far, twice a second.
const COUNT: u32 = 24;
const PROGRAM: &str = "\
n=$(cat \"$GLEANER_CHECKPOINT/n\" 2>/dev/null || echo 0)
while [ $n -lt {count} ]; do
  n=$((n + 1)); echo \"$n in run $GLEANER_ATTEMPT\"; echo $n > \"$GLEANER_CHECKPOINT/n\"; sleep 0.5
done";
/// When the owner of the first machine comes back, and goes again.
const RETURN_AFTER: Duration = Duration::from_secs(4);
const LEAVE_AFTER: Duration = Duration::from_secs(14);
const PATIENCE: Duration = Duration::from_mins(2);
const LOOK: Duration = Duration::from_millis(250);

/// On which grid it is shown.
pub(crate) struct Demonstration {
    /// The coordinator's folder.
    pub(crate) home: PathBuf,
    /// The agents'.
    pub(crate) agents: Vec<PathBuf>,
    /// Whether the agents' owner lets this user's tasks out of the sandbox.
    pub(crate) may_leave_sandbox: bool,
}

impl Demonstration {
    /// Shows it, and says so if it cannot.
    pub(crate) fn show(&self) {
        if let Err(failure) = play(self) {
            tracing::error!("the demonstration ended early: {failure}");
        }
    }
}

fn play(Demonstration { home, agents, may_leave_sandbox }: &Demonstration) -> Outcome {
    let arguments =
        GridArguments { home: Some(home.clone()), server: None, fingerprint: None, token: None, json: false };
    let grid = Grid::open(&arguments)?;
    say("Demonstration: two agents of this machine join, each measures how fast it is …")?;
    let confinement = match wait_for_machines(&grid, agents.len())? {
        Ok(()) => Confinement::Sandbox,
        Err(_) if *may_leave_sandbox => Confinement::None,
        Err(why) => {
            return say(&format!(
                "There is nothing to show: this machine cannot build the sandbox ({why}).\n\
                 Start it as `gleaner up --demo --as $USER`, and the tasks of the demonstration run outside of it.",
            ));
        }
    };
    let job = grid.submit(&counting(confinement), None)?.job;
    say(&format!("Job {job}: {TASKS} tasks that count to {COUNT} and note each step in their checkpoint."))?;
    let mut story = Story { grid: &grid, job, told: vec![None; TASKS as usize] };
    story.follow(RETURN_AFTER)?;
    let tasks = owner(agents, Word::Here)?;
    say(&format!("The owner of the first machine is back: {tasks} tasks there stand still, and move on …"))?;
    story.follow(LEAVE_AFTER)?;
    owner(agents, Word::Away)?;
    say("The owner has left again.")?;
    let view = story.follow(PATIENCE)?;
    report(&grid, &view)
}

fn say(text: &str) -> Outcome {
    stdout::print(format!("{text}\n"))
}

fn owner(agents: &[PathBuf], word: Word) -> Result<usize, Failure> {
    let answer = tell(&agents[0], Some(word)).map_err(|error| Failure::Agent(error.to_string()))?;
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

/// Why one of them cannot build the sandbox, if so.
fn wait_for_machines(grid: &Grid, count: usize) -> Result<Result<(), String>, Failure> {
    let until = Instant::now() + PATIENCE;
    loop {
        let machines = grid.machines()?.machines;
        let open: Vec<_> = machines.iter().filter(|machine| machine.state == MachineState::Open).collect();
        if open.len() >= count || Instant::now() > until {
            let levels = open.iter().map(|machine| machine.profile.sandbox.clone().map(drop));
            return Ok(levels.collect());
        }
        thread::sleep(LOOK);
    }
}

/// Tells what becomes of each task.
struct Story<'a> {
    grid: &'a Grid,
    job: JobId,
    told: Vec<Option<String>>,
}

impl Story<'_> {
    fn follow(&mut self, span: Duration) -> Result<JobView, Failure> {
        let until = Instant::now() + span;
        loop {
            for task in self.grid.tasks(self.job, 0, TASKS, None)?.tasks {
                self.tell(&task)?;
            }
            let view = self.grid.job(self.job)?;
            if view.tasks.open() == 0 || Instant::now() >= until {
                return Ok(view);
            }
            thread::sleep(LOOK);
        }
    }

    fn tell(&mut self, task: &TaskView) -> Outcome {
        let machine = task.machine.as_deref().unwrap_or("no machine yet");
        let now = format!("{} on {machine}, run {}", task.phase.name(), task.runs);
        let told = &mut self.told[task.task as usize - 1];
        if told.as_ref() != Some(&now) {
            say(&format!("  task {}/{}: {now}", self.job, task.task))?;
            *told = Some(now);
        }
        Ok(())
    }
}

/// Every number once, whatever machine it was counted on.
fn report(grid: &Grid, view: &JobView) -> Outcome {
    let mut moved = 0;
    for task in grid.tasks(view.job, 0, TASKS, None)?.tasks {
        let runs = grid.history(view.job, task.task)?.transitions;
        moved += u32::from(runs.iter().any(|transition| transition.cause.contains("moves it")));
        let last = grid.output((view.job, task.task), Stream::Stdout, 0, 0)?.bytes;
        let last = String::from_utf8_lossy(&last);
        say(&format!(
            "  task {}/{} ended with \"{}\"",
            view.job,
            task.task,
            last.lines().last().unwrap_or("")
        ))?;
    }
    say(&format!(
        "Done: {} of {TASKS} tasks ended well, {moved} of them moved and went on from their checkpoint.\n\
         The grid stays up. `gleaner history {}/1` tells a task's life.",
        view.tasks.done, view.job
    ))
}
