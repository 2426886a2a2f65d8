// One task: its life, where it ran, why there, and what it writes.
import { useState } from "preact/hooks";
import { ask, order, problemOf, type Explanation, type Schemas, type Task } from "../api.ts";
import { useLive } from "../live.ts";
import { Act, Badge, Facts, Loading, Section, ToMachine } from "../parts/basics.tsx";
import { Life } from "../parts/life.tsx";
import { isOver, Output } from "../parts/output.tsx";
import { isOfJob, saved } from "../saved.ts";
import { toJob } from "../route.ts";
import { bytes, clock, grouped, plain, plural, sentence, sized, span } from "../text.ts";
import type { Frame } from "../app.tsx";
import { hasEnded, outcomeOf } from "./job.tsx";
import { Explained } from "./overview.tsx";

type Step = Schemas["History"]["transitions"][number];

export function TaskPage({ job, task: number, frame }: { job: number; task: number; frame: Frame }) {
  const path = `/api/v1/jobs/${job}/tasks/${number}`;
  const concerns = (event: { job?: number | null; task?: number | null }) =>
    event.job === job && (event.task === number || event.task == null);
  const task = useLive<Task>(path, { concerns });
  const history = useLive<Schemas["History"]>(`${path}/history`, { concerns });
  const explanation = useLive<Explanation>(`${path}/explain`, { concerns, every_ms: 10_000 });
  const view = task.data;
  if (!view) {
    return <Loading live={task} />;
  }
  const act = (what: string) => async () => {
    const done = await order<Schemas["Ordered"]>(`/api/v1/jobs/${job}/${what}`, { tasks: [number], failed: false });
    task.again();
    return `${what}: ${plural(done.tasks, "task")}`;
  };
  const usage = hasEnded(view) ? view.usage : undefined;
  return (
    <>
      <nav class="crumbs" aria-label="Where this is">
        {isOfJob ? "Grid" : <a href="#/">Grid</a>} › <a href={toJob(job)}>job {job}</a> › task {number}
      </nav>
      <div class="title">
        <h1>
          Task {job}/{number} <Badge state={view.phase} />
        </h1>
        {frame.mayAct && (
          <span class="acts">
            {!isOver(view.phase) && view.phase !== "held" && (
              <Act
                label="Hold"
                confirm={view.phase === "running" ? `Task ${job}/${number} stops: without a checkpoint it begins anew later.` : undefined}
                act={act("hold")}
                tell={frame.tell}
              />
            )}
            {view.phase === "held" && <Act label="Release" act={act("release")} tell={frame.tell} />}
            {isOver(view.phase) && <Act label="Rerun" act={act("rerun")} tell={frame.tell} />}
            {!isOver(view.phase) && <Act label="Cancel" confirm={`Stop task ${job}/${number} for good?`} act={act("cancel")} tell={frame.tell} />}
          </span>
        )}
      </div>
      <Section title={isOver(view.phase) ? "Where it is" : "Why it is where it is"}>
        <Loading live={explanation} />
        {explanation.data && (
          <>
            <p class={isOver(view.phase) ? "" : "why"}>{sentence(sized(explanation.data.summary))}.</p>
            {view.phase === "waiting" && <Explained explanation={explanation.data} />}
          </>
        )}
        <WhyThere path={path} history={history.data} />
        <Facts
          facts={[
            ["Machine", view.machine ? <ToMachine name={view.machine} /> : "–"],
            ["Runs", [grouped(view.runs), ...(view.open_runs ?? []).map((run) => `${run.run} on ${run.machine} is ${stageOf(run)}`)].map(plain).join("; ")],
            ["Last run", (hasEnded(view) ? [outcomeOf(view), ...(view.notes ?? [])] : []).filter(Boolean).map(plain).join("; ") || "–"],
            ["Took", usage ? `${span(usage.elapsed_s)}, ${span(usage.cpu_s)} of a processor` : "–"],
            ["Memory", usage ? bytes(usage.memory_bytes) : "–"],
            ["Disk", usage ? `${bytes(usage.read_bytes)} read, ${bytes(usage.written_bytes)} written` : "–"],
            ["Checkpoint", view.checkpoint ? bytes(view.checkpoint.size) : "–"],
            ["Files", view.files ? `${bytes(view.files.size)}: gleaner fetch ${job}/${number} --to DIR` : "–"],
          ]}
        />
      </Section>
      <Section title="Its life">
        <Loading live={history} />
        {history.data && <Life history={history.data} isOver={isOver(view.phase)} />}
      </Section>
      {!saved && (
        <div class="two">
          <Output path={path} stream="stdout" runs={view.runs} phase={view.phase} />
          <Output path={path} stream="stderr" runs={view.runs} phase={view.phase} />
        </div>
      )}
    </>
  );
}

/** How far a run is, and what is in its way. */
const stageOf = ({ stage, why }: Schemas["OpenRunView"]) => stage.replace("_", " ") + (why ? `: ${why}` : "");

/** Why it was placed where it ran last. The coordinator reads its whole journal for that, so one has to ask. */
function WhyThere({ path, history }: { path: string; history: Schemas["History"] | undefined }) {
  const [told, setTold] = useState<{ of: Step; explanation?: Explanation; problem?: string }>();
  const placed = history?.transitions.findLast((step) => step.cause === "placed by the policy");
  const isElsewhere = history?.transitions.some((step) => step.machine && (step.run ?? 1) > (placed?.run ?? 1));
  if (!placed?.machine || saved) {
    return null;
  }
  const askFor = async () => {
    try {
      setTold({ of: placed, explanation: await ask<Explanation>(`${path}/explain?run=${placed.run ?? 1}`) });
    } catch (failure) {
      setTold({ of: placed, problem: problemOf(failure) });
    }
  };
  // It may have been placed again since then.
  const now = told?.of.run === placed.run && told?.of.at_s === placed.at_s ? told : undefined;
  return now?.explanation ? (
    <div>
      <p>
        When it was placed on <ToMachine name={placed.machine} />, {clock(placed.at_s, true)}:
      </p>
      <Explained explanation={now.explanation} />
    </div>
  ) : (
    <p>
      <button type="button" onClick={() => void askFor()}>
        {isElsewhere ? `Why was it placed on ${plain(placed.machine)} before?` : `Why on ${plain(placed.machine)}?`}
      </button>{" "}
      {now?.problem && <span class="trouble">{plain(now.problem)}</span>}
    </p>
  );
}
