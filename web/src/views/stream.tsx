// The task stream: what ran where, and when.
import { useMemo } from "preact/hooks";
import { ask, MACHINE_DAYS, machineDays, type Run, type Schemas } from "../api.ts";
import { useLive } from "../live.ts";
import { Act, Loading, Section } from "../parts/basics.tsx";
import { Gantt, type Bar } from "../parts/gantt.tsx";
import { toTask, useChoice } from "../route.ts";
import { download, file, now_s, saved } from "../saved.ts";
import { clock, day, grouped, moment, plain, plural, span } from "../text.ts";
import type { Frame } from "../app.tsx";

/** So many runs of the grid the coordinator knows, the latest. */
const RUNS_MAX = 20_000;
const RUNS = `/api/v1/day/runs?limit=${RUNS_MAX}`;
const COLOURS = 8;

function barOf(run: Run, row: number, now_s: number, byJob: boolean): Bar {
  const to = run.to_s ?? now_s;
  return {
    key: `${run.job}/${run.task}, run ${run.run}`,
    row,
    from: run.from_s,
    to,
    colour: byJob ? `hue-${run.job % COLOURS}` : run.state,
    isMarked: byJob && (run.state === "failed" || run.state === "lost"),
    facts: `${run.job}/${run.task}, run ${run.run}, on ${plain(run.machine)}: ${run.state}, ${clock(run.from_s, true)}, ${span(to - run.from_s)}`,
    link: toTask(run.job, run.task),
  };
}

interface ChartProps {
  job?: number;
  machine?: string;
}

/** All runs, or those of a job or on a machine. */
export function RunChart({ job, machine }: ChartProps) {
  const [byJob, setByJob] = useChoice("by job", false);
  const runs = useLive<Schemas["RunList"]>(RUNS, {
    concerns: (event) => event.task != null && (job === undefined || event.job === job),
    every_ms: 15_000,
  });
  const isWanted = (run: Run) => (job === undefined || run.job === job) && (machine === undefined || run.machine === machine);
  const chart = useMemo(() => {
    const wanted = (runs.data?.runs ?? []).filter(isWanted);
    const names = [...new Set(wanted.map((run) => run.machine))].sort((one, other) => one.localeCompare(other, undefined, { numeric: true }));
    const row = new Map(names.map((name, index) => [name, index]));
    const now = now_s();
    const bars = wanted.map((run) => barOf(run, row.get(run.machine)!, now, byJob));
    const from = bars.reduce((least, bar) => Math.min(least, bar.from), now);
    const to = bars.reduce((most, bar) => Math.max(most, bar.to), from + 1e-3);
    return { names: names.map(plain), bars, from, to };
  }, [runs.data, byJob, job, machine]);
  const isEverything = job === undefined && machine === undefined;
  const left_out = runs.data?.left_out ?? 0;
  if (!isEverything && runs.error === undefined && chart.bars.length + left_out === 0) {
    return null;
  }
  return (
    <Section
      title={isEverything ? "What ran where" : "Runs of the last day"}
      aside={
        isEverything ? (
          <label class="pick">
            <input type="checkbox" checked={byJob} onChange={(event) => setByJob(event.currentTarget.checked)} /> colour by job
          </label>
        ) : undefined
      }
    >
      <Loading live={runs} />
      {runs.data && chart.bars.length + left_out === 0 && <p class="muted">Nothing ran since {clock(runs.data.began_s)}.</p>}
      {chart.bars.length > 0 && (
        <>
          <Gantt label="Task stream" rows={chart.names} bars={chart.bars} from={chart.from} to={chart.to} show={moment} />
          {!byJob && (
            <ul class="key">
              {["running", "done", "failed", "stopped", "lost"].map((state) => (
                <li key={state}>
                  <span class={`dot fill-${state}`} /> {state}
                </li>
              ))}
            </ul>
          )}
        </>
      )}
      {left_out > 0 && <p class="muted">{isEverything ? `${plural(left_out, "earlier run")} not shown.` : `Only the latest ${grouped(RUNS_MAX)} runs of the grid are known.`}</p>}
    </Section>
  );
}

export function Stream({ frame }: { frame: Frame }) {
  return (
    <>
      <div class="title">
        <h1>Task stream</h1>
        {!saved && (
          <span class="acts">
            <Act label="Save the day" act={() => save(frame)} tell={frame.tell} />
          </span>
        )}
      </div>
      <RunChart />
    </>
  );
}

/** The page with the last day in it, as a file. */
async function save(frame: Frame): Promise<string> {
  const answers: Record<string, unknown> = { "/api/v1/me": frame.me };
  const wanted = [
    RUNS,
    "/api/v1/day",
    "/api/v1/day/use",
    "/api/v1/budget",
    "/api/v1/quotas",
    "/api/v1/grid",
    "/api/v1/waits",
    "/api/v1/machines",
    "/api/v1/jobs?limit=1000",
  ];
  for (const each of wanted) {
    answers[each] = await ask(each);
  }
  answers[MACHINE_DAYS] = await machineDays();
  const at_s = Date.now() / 1_000;
  download(`gleaner-day-${day(at_s)}.html`, await file({ at_s, user: frame.me.user, route: "/stream", answers }));
  return "the day is saved as a file that opens without a server";
}
