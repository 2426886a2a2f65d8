// The first view: why things wait, what the grid does, and the jobs.
import type { Job, Schemas } from "../api.ts";
import { useLive } from "../live.ts";
import { Badge, inWords, Loading, PhaseBar, PhaseKey, Section, ToMachine, useNarrow } from "../parts/basics.tsx";
import { Lines } from "../parts/lines.tsx";
import { Rows, type Column } from "../parts/rows.tsx";
import { toJob, toTask, useChoice } from "../route.ts";
import { now_s } from "../saved.ts";
import { clock, grouped, plain, plural, sized, span } from "../text.ts";
import type { Frame } from "../app.tsx";

/** So many at a time: what is older is asked for. */
const JOBS_MAX = 1_000;
const STATES: Job["state"][] = ["waiting", "running", "suspended", "held", "done", "failed", "cancelled"];

export const nameOf = (job: Job) => plain(job.name || job.command.join(" "));

export function Overview({ frame }: { frame: Frame }) {
  const grid = useLive<Schemas["GridView"]>("/api/v1/grid");
  const [state, setState] = useChoice("state", "");
  const [before, setBefore] = useChoice<number | undefined>("before", undefined);
  const more = (state && `&state=${state}`) + (before === undefined ? "" : `&before=${before}`);
  const jobs = useLive<Schemas["JobList"]>(`/api/v1/jobs?limit=${JOBS_MAX}${more}`, {
    concerns: (event) => event.job !== null,
  });
  const listed = jobs.data?.jobs ?? [];
  const last = listed.length === JOBS_MAX ? listed.at(-1)?.job : undefined;
  return (
    <>
      <h1 class="hidden">The grid</h1>
      <Waits isOwn={frame.me.role === "user"} />
      <Section title="Now" class="now">
        <Loading live={grid} />
        {grid.data && (
          <>
            <PhaseBar tally={grid.data.tasks} />
            <PhaseKey tally={grid.data.tasks} />
            <p class="muted">
              Machines:{" "}
              {Object.entries(grid.data.machines)
                .map(([state, count]) => `${grouped(count)} ${state}`)
                .join(", ") || "none has joined; `gleaner token join` shows how one does"}
              . Policy: {plain(grid.data.policy)}.
            </p>
          </>
        )}
      </Section>
      <Section
        title="Jobs"
        aside={
          <span class="filters">
            <span class="muted" role="status">
              {jobs.data && `${plural(listed.length, "job")}, newest first`}
            </span>{" "}
            <label>
              <span class="hidden">State</span>
              <select value={state} onChange={(event) => (setState(event.currentTarget.value), setBefore(undefined))}>
                <option value="">all states</option>
                {STATES.map((name) => (
                  <option key={name} value={name}>
                    {name}
                  </option>
                ))}
              </select>
            </label>{" "}
            {before !== undefined && (
              <button type="button" onClick={() => setBefore(undefined)}>
                Newest
              </button>
            )}{" "}
            {last !== undefined && (
              <button type="button" onClick={() => setBefore(last)}>
                Older
              </button>
            )}
          </span>
        }
      >
        <Loading live={jobs} />
        {jobs.data && <JobRows jobs={listed} part={more} frame={frame} />}
      </Section>
      <Queue />
    </>
  );
}

function JobRows({ jobs, part, frame }: { jobs: Job[]; part: string; frame: Frame }) {
  const isNarrow = useNarrow();
  const columns: Column<Job>[] = [
    { name: "Job", width: "3.5rem", isNumber: true, cell: (job) => <a href={toJob(job.job)}>{job.job}</a> },
    { name: "Name", width: isNarrow ? "minmax(4rem, 2fr)" : "minmax(7rem, 2fr)", cell: (job) => <a href={toJob(job.job)} title={nameOf(job)}>{nameOf(job) || "–"}</a> },
    ...(frame.me.role === "user"
      ? []
      : [{ name: "User", width: "minmax(4rem, 1fr)", isMinor: true, cell: (job: Job) => plain(job.user) }]),
    { name: "Tasks", width: isNarrow ? "minmax(3rem, 1fr)" : "minmax(6rem, 2fr)", cell: (job) => <PhaseBar tally={job.tasks} /> },
    { name: "State", width: "6.5rem", cell: (job) => <Badge state={job.state} /> },
    { name: "Counts", width: "minmax(8rem, 2fr)", isMinor: true, cell: (job) => <span class="muted">{inWords(job.tasks)}</span> },
    { name: "Submitted", width: "8.5rem", isMinor: true, cell: (job) => clock(job.submitted_s) },
  ];
  return <Rows label="Jobs" part={part} columns={columns} rows={jobs} keyOf={(job) => job.job} empty="No jobs. Submit one with: gleaner submit -- PROGRAM" />;
}

/** Reasons that are seen at once. */
const REASONS = 3;

/** What holds all tasks up, or a user's own. */
function Waits({ isOwn }: { isOwn: boolean }) {
  const waits = useLive<Schemas["WaitList"]>("/api/v1/waits", { every_ms: 10_000 });
  const groups = waits.data?.groups ?? [];
  const left_out = waits.data?.left_out ?? 0;
  return (
    <Section title="Why it waits" class="waits">
      <Loading live={waits} />
      {waits.data && groups.length + left_out === 0 && <p class="good">{isOwn ? "None of yours waits." : "Nothing waits."}</p>}
      <ol>
        {groups.slice(0, REASONS).map((group) => (
          <Wait key={`${group.jobs[0]}/${group.task}`} group={group} />
        ))}
      </ol>
      {groups.length > REASONS && (
        <details>
          <summary>{plural(groups.length - REASONS, "more reason")}</summary>
          <ol>
            {groups.slice(REASONS).map((group) => (
              <Wait key={`${group.jobs[0]}/${group.task}`} group={group} />
            ))}
          </ol>
        </details>
      )}
      {left_out > 0 && <p class="muted">{plural(left_out, "more job")} with waiting tasks not looked at.</p>}
    </Section>
  );
}

function Wait({ group }: { group: Schemas["WaitGroup"] }) {
  const [first] = group.jobs;
  const isNarrow = useNarrow();
  return (
    <li>
      <p>
        <b>{plural(group.tasks, "task")}</b> of{" "}
        {group.jobs.slice(0, isNarrow ? 3 : 6).map((job, index) => (
          <>
            {index > 0 && ", "}
            <a href={toJob(job)}>job {job}</a>
          </>
        ))}
        {group.job_count > (isNarrow ? 3 : 6) && ` and ${grouped(group.job_count - (isNarrow ? 3 : 6))} more jobs`},{" "}
        since {clock(group.since_s)} ({span(now_s() - group.since_s)}).{" "}
        {first !== undefined && <a href={toTask(first, group.task)}>Task {first}/{group.task}</a>}: {sized(group.explanation.summary)}.
      </p>
      <Explained explanation={group.explanation} />
    </li>
  );
}

/** What ruled machines out, and what would help. */
export function Explained({ explanation }: { explanation: Schemas["ExplanationView"] }) {
  const { ruled_out, remedies, ratings } = explanation;
  return (
    <div class="explained">
      {ruled_out.length > 0 && (
        <div>
          <h3>What rules machines out</h3>
          <ul>
            {ruled_out.map((ruled) => (
              <li key={ruled.rule}>
                <b>{grouped(ruled.count)}</b> {sized(ruled.rule)}{" "}
                <span class="muted">
                  (
                  {ruled.machines.map((name, index) => (
                    <>
                      {index > 0 && ", "}
                      <ToMachine name={name} />
                    </>
                  ))}
                  {ruled.count > ruled.machines.length && ", …"})
                </span>
              </li>
            ))}
          </ul>
        </div>
      )}
      {remedies.length > 0 && (
        <div class="help">
          <h3>What would help</h3>
          <ul>
            {remedies.map((remedy) => (
              <li key={remedy}>{sized(remedy)}</li>
            ))}
          </ul>
        </div>
      )}
      {ratings.length > 0 && (
        <div>
          <h3>Best machines</h3>
          <ul>
            {ratings.slice(0, 3).map((rating) => (
              <li key={rating.machine}>
                <ToMachine name={rating.machine} />{" "}
                <span class="muted">score {rating.score.toPrecision(4)}</span>
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

type Sample = Schemas["QueueSample"];

/** Where samples are missing there is a gap. */
function withGaps(samples: Sample[], step_s: number): (Partial<Sample> & { at_s: number })[] {
  return samples.flatMap((sample, index) => {
    const before = samples[index - 1];
    const isGap = before !== undefined && sample.at_s - before.at_s > 3 * step_s;
    return isGap ? [{ at_s: before.at_s + step_s }, sample] : [sample];
  });
}

export function Queue() {
  const day = useLive<Schemas["DayView"]>("/api/v1/day", { concerns: () => false, every_ms: 60_000 });
  const queue = withGaps(day.data?.queue ?? [], day.data?.step_s ?? 60);
  const at_s = queue.map((sample) => sample.at_s);
  return (
    <Section
      title="Queue and waits"
      aside={day.data && <span class="muted">since {clock(day.data.began_s)}</span>}
    >
      <Loading live={day} />
      {queue.length > 0 && (
        <div class="two">
          <Lines
            label="Tasks that wait and run"
            at_s={at_s}
            curves={[
              { name: "waiting", class: "fill-waiting", values: queue.map((sample) => sample.waiting ?? null) },
              { name: "running", class: "fill-running", values: queue.map((sample) => sample.running ?? null) },
              { name: "suspended", class: "fill-suspended", values: queue.map((sample) => sample.suspended ?? null) },
            ]}
          />
          <Lines
            label="How long tasks waited that started"
            at_s={at_s}
            show={span}
            isSpan
            curves={[
              { name: "mean wait", class: "fill-running", isSparse: true, values: queue.map((sample) => (sample.started ? (sample.wait_mean_s ?? null) : null)) },
              { name: "longest", class: "fill-failed", isSparse: true, values: queue.map((sample) => (sample.started ? (sample.wait_max_s ?? null) : null)) },
            ]}
          />
        </div>
      )}
    </Section>
  );
}
