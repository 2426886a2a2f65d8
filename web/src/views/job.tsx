// A job: how it stands, why tasks failed, and its tasks.
import { ask, order, type Job, type Phase, type Schemas, type Task } from "../api.ts";
import { useLive } from "../live.ts";
import { Act, Badge, Facts, Loading, PhaseBar, PhaseKey, PHASES, Section, ToMachine, Trouble } from "../parts/basics.tsx";
import { Rows, type Column } from "../parts/rows.tsx";
import { toTask, useChoice } from "../route.ts";
import { download, file, isOfJob, now_s, saved } from "../saved.ts";
import { clock, grouped, plain, plural, span } from "../text.ts";
import type { Frame } from "../app.tsx";
import { nameOf } from "./overview.tsx";
import { RunChart } from "./stream.tsx";

type Order = "cancel" | "hold" | "release" | "rerun";

export function JobPage({ job: id, frame }: { job: number; frame: Frame }) {
  const path = `/api/v1/jobs/${id}`;
  const [phase, setPhase] = useChoice<Phase | "">("phase", "");
  const concerns = (event: { job?: number | null }) => event.job === id;
  const job = useLive<Job>(path, { concerns });
  const failures = useLive<Schemas["FailureList"]>((job.data?.tasks.failed ?? 0) > 0 ? `${path}/failures` : null, { concerns });
  // What was saved has all of them.
  const asked = saved === null && phase !== "" ? `&phase=${phase}` : "";
  const tasks = useLive<Schemas["TaskList"]>(`${path}/tasks?limit=10000${asked}`, {
    concerns,
    // Events bring no task into the list of a phase: that is asked for again.
    patch: asked !== "" ? undefined : (list, events) => {
      const changed = new Map(events.filter((event) => event.task !== null && event.phase).map((event) => [event.task, event]));
      return {
        ...list,
        tasks: list.tasks.map((task) => {
          const event = changed.get(task.task);
          return event?.phase ? { ...task, phase: event.phase, machine: event.machine ?? task.machine } : task;
        }),
      };
    },
  });
  const view = job.data;
  if (!view) {
    return <Loading live={job} />;
  }
  const act = (what: Order, choice: Schemas["Choice"]) => async () => {
    const { tasks } = await order<Schemas["Ordered"]>(`${path}/${what}`, choice);
    job.again();
    return `${what}: ${plural(tasks, "task")} of job ${id}`;
  };
  const all = { tasks: [], failed: false };
  const { held, failed, done, cancelled, running } = view.tasks;
  const open = view.tasks.waiting + running + view.tasks.suspended + held;
  return (
    <>
      <nav class="crumbs" aria-label="Where this is">
        {isOfJob ? "Grid" : <a href="#/">Grid</a>} › job {id}
      </nav>
      <div class="title">
        <h1>
          Job {id} <span class="name">{nameOf(view)}</span>
        </h1>
        {frame.mayAct && (
          <span class="acts">
            {open > held && (
              <Act
                label="Hold"
                confirm={running > 0 ? `${plural(running, "task")} of job ${id} stop: a task without a checkpoint begins anew later.` : undefined}
                act={act("hold", all)}
                tell={frame.tell}
              />
            )}
            {held > 0 && <Act label="Release" act={act("release", all)} tell={frame.tell} />}
            {failed > 0 && <Act label="Rerun failed" act={act("rerun", { tasks: [], failed: true })} tell={frame.tell} />}
            {open === 0 && done + failed + cancelled > 0 && (
              <Act label="Rerun all" confirm={`Run ${plural(done + failed + cancelled, "task")} of job ${id} again?`} act={act("rerun", all)} tell={frame.tell} />
            )}
            {open > 0 && (
              <Act label="Cancel" confirm={`Stop ${plural(open, "task")} of job ${id} for good?`} act={act("cancel", all)} tell={frame.tell} />
            )}
            <Act label="Save" act={() => save(id, view, frame)} tell={frame.tell} />
          </span>
        )}
        {saved === null && frame.me.role === "reader" && <Act label="Save" act={() => save(id, view, frame)} tell={frame.tell} />}
      </div>
      <Trouble error={job.error} />
      <Section title="How it stands">
        <PhaseBar tally={view.tasks} />
        <PhaseKey tally={view.tasks} />
        {view.waits_for && <p class="why">It waits for {plain(view.waits_for)}</p>}
        <Facts
          facts={[
            ["State", <Badge state={view.state} />],
            ["User", plain(view.user)],
            ["Submitted", clock(view.submitted_s, true)],
            ["Ended", view.ended_s == null ? "–" : `${clock(view.ended_s, true)}, after ${span(view.ended_s - view.submitted_s)}`],
            ["Results", view.ended_s == null ? "kept while it runs" : resultsOf(view)],
            ["Label", plain(view.label ?? "–")],
            ["Command", <code>{plain(view.command.join(" ")).slice(0, 500)}</code>],
          ]}
        />
      </Section>
      {failures.data && failures.data.failures.length > 0 && (
        <Section title="Why tasks failed">
          <Failures job={id} list={failures.data} />
        </Section>
      )}
      <Section
        title="Tasks"
        aside={
          <label class="pick">
            Phase{" "}
            <select value={phase} onChange={(event) => setPhase(event.currentTarget.value as Phase | "")}>
              <option value="">all</option>
              {PHASES.map((phase) => (
                <option key={phase}>{phase}</option>
              ))}
            </select>
          </label>
        }
      >
        <Loading live={tasks} />
        {tasks.data && (tasks.data.tasks.length > 0 || tasks.data.next == null) && (
          <TaskRows job={id} part={phase} tasks={tasks.data.tasks.filter((task) => phase === "" || task.phase === phase)} />
        )}
        {tasks.data?.next != null && (
          <p class="muted">
            {tasks.data.tasks.length > 0 ? `The first ${grouped(tasks.data.tasks.length)}` : `None among the first ${plural(tasks.data.next, "task")}`};{" "}
            <code>gleaner status {id} {phase === "" ? "--tasks" : `--phase ${phase}`}</code> has more.
          </p>
        )}
      </Section>
      <RunChart job={id} />
    </>
  );
}

/** What becomes of a job's results, in the words of `gleaner keep`. */
function resultsOf({ job, results_kept, results_until_s: until_s, results_removed: removed }: Job): string {
  if (results_kept) {
    return `kept until gleaner keep ${job} --undo`;
  }
  if (until_s != null) {
    return until_s < now_s() ? `kept until ${clock(until_s)}, and to be removed now` : `kept until ${clock(until_s)}`;
  }
  return removed ? `removed on ${clock(removed.at_s)}, kept for ${span(removed.kept_for_s)} after the job was over` : "kept";
}

/** Reasons that are seen at once. */
const REASONS = 3;

function Failures({ job, list }: { job: number; list: Schemas["FailureList"] }) {
  const { failures, other_reasons = 0, other_tasks = 0, left_out } = list;
  const rows = (groups: Schemas["FailureGroup"][]) => (
    <ol class="failures">
      {groups.map((group) => (
        <li key={group.reason}>
          <b>{plural(group.tasks, "task")}</b>: {plain(group.reason)}.{" "}
          <a href={toTask(job, group.example)}>task {group.example}</a>
          {group.machines.length > 0 && <span class="muted"> on {group.machines.map(plain).join(", ")}</span>}
        </li>
      ))}
    </ol>
  );
  return (
    <>
      {rows(failures.slice(0, REASONS))}
      {failures.length > REASONS && (
        <details>
          <summary>{plural(failures.length - REASONS, "more reason")}</summary>
          {rows(failures.slice(REASONS))}
        </details>
      )}
      {other_reasons > 0 && (
        <p class="muted">
          {plural(other_tasks, "task")} for {plural(other_reasons, "other reason")}.
        </p>
      )}
      {left_out > 0 && <p class="muted">{plural(left_out, "more failed task")} not looked at.</p>}
    </>
  );
}

/** Whether what is told of its last run is not of the one before that which runs. */
export const hasEnded = (task: Task) => !["running", "suspended"].includes(task.phase);

/** How what went over a limit begins where it was not too much, but is not to be stored: as `Outcome::refused` has it. */
const REFUSED = "refused: ";

export function outcomeOf(task: Task): string {
  const outcome = task.outcome;
  if (!outcome) {
    return "";
  }
  if (typeof outcome === "string") {
    return outcome;
  }
  const [[kind, detail] = ["", {}]] = Object.entries(outcome as Record<string, Record<string, unknown>>);
  const said = String(Object.values(detail ?? {})[0] ?? "");
  if (kind === "over_limit" && said.startsWith(REFUSED)) {
    return `leaving what is refused: ${said.slice(REFUSED.length)}`;
  }
  const words: Record<string, string> = {
    exited: "exit code",
    signalled: "signal",
    over_limit: "more than it may use:",
    abandoned: "given up:",
    not_started: "not started:",
  };
  return `${words[kind] ?? kind} ${said}`.trim();
}

function TaskRows({ job, part, tasks }: { job: number; part: string; tasks: Task[] }) {
  const columns: Column<Task>[] = [
    { name: "Task", width: "3.5rem", isNumber: true, cell: (task) => <a href={toTask(job, task.task)}>{task.task}</a> },
    { name: "Phase", width: "6.3rem", cell: (task) => <Badge state={task.phase} /> },
    { name: "Machine", width: "minmax(4rem, 1fr)", cell: (task) => (task.machine ? <ToMachine name={task.machine} /> : "–") },
    { name: "Runs", width: "3.5rem", isNumber: true, isMinor: true, cell: (task) => task.runs },
    { name: "Took", width: "4rem", isNumber: true, cell: (task) => (hasEnded(task) && task.usage ? span(task.usage.elapsed_s) : "–") },
    { name: "Last run", width: "minmax(8rem, 2fr)", isMinor: true, cell: (task) => <span class="muted">{hasEnded(task) && plain(outcomeOf(task))}</span> },
  ];
  return <Rows label={`Tasks of job ${job}`} key={part} part={part} columns={columns} rows={tasks} keyOf={(task) => task.task} empty="No tasks in this phase." />;
}

/** The page with this job in it, as a file. */
async function save(id: number, view: Job, frame: Frame): Promise<string> {
  const path = `/api/v1/jobs/${id}`;
  const answers: Record<string, unknown> = { "/api/v1/me": frame.me };
  const wanted = [path, `${path}/tasks?limit=10000`, "/api/v1/day/runs?limit=20000", "/api/v1/day/use"];
  if (view.tasks.failed > 0) {
    wanted.push(`${path}/failures`);
  }
  for (const each of wanted) {
    answers[each] = await ask(each);
  }
  const runs = answers["/api/v1/day/runs?limit=20000"] as Schemas["RunList"];
  answers["/api/v1/day/runs?limit=20000"] = { ...runs, runs: runs.runs.filter((run) => run.job === id) };
  const uses = answers["/api/v1/day/use"] as Schemas["UseList"];
  answers["/api/v1/day/use"] = { ...uses, users: [], jobs: uses.jobs.filter((use) => use.job === id) };
  // Those that are looked at when something went wrong: some failed ones, wherever they are.
  const { tasks } = await ask<Schemas["TaskList"]>(`${path}/tasks?limit=20&phase=failed`);
  for (const task of tasks) {
    const one = `${path}/tasks/${task.task}`;
    for (const each of [one, `${one}/history`, `${one}/explain`]) {
      answers[each] = await ask(each);
    }
  }
  download(`gleaner-job-${id}.html`, await file({ at_s: Date.now() / 1_000, user: frame.me.user, route: `/jobs/${id}`, answers }));
  return `job ${id} is saved as a file that opens without a server`;
}
