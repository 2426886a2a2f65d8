// One task: its life, where it ran, why there, and what it writes.
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, order, request, type Explanation, type Schemas, type Task } from "../api.ts";
import { useLive } from "../live.ts";
import { Act, Badge, Facts, Loading, Section } from "../parts/basics.tsx";
import { isOfJob, saved } from "../saved.ts";
import { toJob, toMachine } from "../route.ts";
import { bytes, clock, grouped, output, plain, plural, sentence, sized, span } from "../text.ts";
import type { Frame } from "../app.tsx";
import { outcomeOf } from "./job.tsx";
import { Explained } from "./overview.tsx";

const isOver = (phase: string) => ["done", "failed", "cancelled"].includes(phase);

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
  const { usage } = view;
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
            {!isOver(view.phase) && view.phase !== "held" && <Act label="Hold" act={act("hold")} tell={frame.tell} />}
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
            ["Machine", view.machine ? <a href={toMachine(view.machine)}>{plain(view.machine)}</a> : "–"],
            ["Runs", grouped(view.runs)],
            ["Last run", [outcomeOf(view), ...(view.notes ?? [])].filter(Boolean).map(plain).join("; ") || "–"],
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

/** Why it was placed where it ran last. The coordinator reads its whole journal for that, so one has to ask. */
function WhyThere({ path, history }: { path: string; history: Schemas["History"] | undefined }) {
  const [told, setTold] = useState<Explanation>();
  const [error, setError] = useState<string>();
  const placed = history?.transitions.findLast((step) => step.cause === "placed by the policy");
  const isElsewhere = history?.transitions.some((step) => step.machine && (step.run ?? 1) > (placed?.run ?? 1));
  if (!placed?.machine || saved) {
    return null;
  }
  const askFor = async () => {
    try {
      setTold(await ask<Explanation>(`${path}/explain?run=${placed.run ?? 1}`));
    } catch (failure) {
      setError(failure instanceof Error ? failure.message : String(failure));
    }
  };
  return told ? (
    <div>
      <p>
        When it was placed on <a href={toMachine(placed.machine)}>{plain(placed.machine)}</a>, {clock(placed.at_s, true)}:
      </p>
      <Explained explanation={told} />
    </div>
  ) : (
    <p>
      <button type="button" onClick={() => void askFor()}>
        {isElsewhere ? `Why was it placed on ${plain(placed.machine)} before?` : `Why on ${plain(placed.machine)}?`}
      </button>{" "}
      {error && <span class="trouble">{plain(error)}</span>}
    </p>
  );
}

function Life({ history, isOver }: { history: Schemas["History"]; isOver: boolean }) {
  const steps = history.transitions;
  const first = steps[0]?.at_s ?? 0;
  const last = isOver ? (steps.at(-1)?.at_s ?? first) : Math.max(Date.now() / 1_000, steps.at(-1)?.at_s ?? 0);
  const long = Math.max(1e-3, last - first);
  return (
    <>
      <div class="life" role="img" aria-label={`From ${clock(first, true)} to ${isOver ? clock(last, true) : "now"}, ${span(long)}`}>
        {steps.map((step, index) => {
          const end = steps[index + 1]?.at_s ?? last;
          return (
            <span
              key={index}
              class={`fill-${step.phase}`}
              style={{ flexGrow: Math.max(0.002, (end - step.at_s) / long) }}
              title={`${step.phase} ${span(end - step.at_s)}`}
            />
          );
        })}
      </div>
      <p class="ends muted">
        <span>{clock(first, true)}</span>
        <span>{isOver ? clock(last, true) : "now"}</span>
      </p>
      {(history.left_out ?? 0) > 0 && <p class="muted">{plural(history.left_out ?? 0, "earlier step")} not told here.</p>}
      <ol class="steps">
        {steps.slice(-200).map((step, index) => (
          <li key={index}>
            <time>
              {clock(step.at_s, true)} <small>+{span(step.at_s - first)}</small>
            </time>
            <Badge state={step.phase} />
            <span>
              {plain(step.cause)}
              {step.machine && (
                <span class="muted">
                  {" "}
                  on <a href={toMachine(step.machine)}>{plain(step.machine)}</a>
                  {step.run != null && `, run ${step.run}`}
                </span>
              )}
            </span>
          </li>
        ))}
      </ol>
    </>
  );
}

/** Bytes of a stream that are kept here: its end. */
const KEPT = 1 << 19;
/** Bytes that are read before one is asked whether to read on. */
const READ_AT_ONCE = 8 << 20;

function Output({ path, stream, runs, phase }: { path: string; stream: "stdout" | "stderr"; runs: number; phase: string }) {
  const [run, setRun] = useState<number>();
  const [text, setText] = useState("");
  const [note, setNote] = useState("");
  const [limit, setLimit] = useState(READ_AT_ONCE);
  const [isStopped, setStopped] = useState(false);
  const place = useRef<HTMLPreElement>(null);
  const state = useRef({ offset: 0, tail: new Uint8Array(0) });
  const shown = run ?? runs;
  const isMoving = !isOver(phase);
  useEffect(() => {
    state.current = { offset: 0, tail: new Uint8Array(0) };
    setText("");
    setNote("");
    setLimit(READ_AT_ONCE);
  }, [path, shown]);
  useEffect(() => {
    if (shown === 0) {
      return;
    }
    const stop = new AbortController();
    setStopped(false);
    const read = async () => {
      while (!stop.signal.aborted) {
        const { offset } = state.current;
        if (offset >= limit) {
          setStopped(true);
          return;
        }
        const query = `stream=${stream}&run=${shown}&offset=${offset}&wait_s=${isMoving ? 20 : 0}`;
        const response = await request(`${path}/output?${query}`, { signal: stop.signal });
        if (!response.ok) {
          const problem = (await response.json()) as Schemas["Problem"];
          setNote(problem.error.message);
          return;
        }
        const piece = new Uint8Array(await response.arrayBuffer());
        if (piece.length > 0) {
          const joined = new Uint8Array(Math.min(KEPT, state.current.tail.length + piece.length));
          const keep = joined.length - Math.min(piece.length, joined.length);
          joined.set(state.current.tail.slice(state.current.tail.length - keep));
          joined.set(piece.slice(piece.length - (joined.length - keep)), keep);
          state.current = { offset: offset + piece.length, tail: joined };
          setText(output(new TextDecoder().decode(joined)));
        }
        const dropped = Number(response.headers.get("gleaner-dropped") ?? 0);
        const before = state.current.offset - state.current.tail.length;
        setNote(
          [before > 0 && `the last ${bytes(state.current.tail.length)} of ${bytes(state.current.offset)}`, dropped > 0 && `${bytes(dropped)} more were not kept`]
            .filter(Boolean)
            .join("; "),
        );
        if (response.headers.get("gleaner-over") === "true") {
          return;
        }
      }
    };
    read().catch((error: unknown) => {
      if (!stop.signal.aborted) {
        setNote(error instanceof Error ? error.message : String(error));
      }
    });
    return () => stop.abort();
  }, [path, shown, limit, isMoving]);
  useEffect(() => {
    // Who looks at the end goes on looking at the end.
    const pre = place.current;
    if (pre && pre.scrollHeight - pre.scrollTop - pre.clientHeight < 200) {
      pre.scrollTop = pre.scrollHeight;
    }
  }, [text]);
  return (
    <Section
      title={stream === "stdout" ? "Output" : "Errors"}
      aside={
        runs > 1 ? (
          <label class="pick">
            Run{" "}
            <select value={shown} onChange={(event) => setRun(Number(event.currentTarget.value))}>
              {Array.from({ length: Math.min(runs, 50) }, (_, index) => runs - index).map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          </label>
        ) : undefined
      }
    >
      <pre ref={place} class="output" tabIndex={0} role="region" aria-label={stream} data-stream={stream}>
        {text || <span class="muted">nothing</span>}
      </pre>
      {note && <p class="muted">{plain(note)}</p>}
      {isStopped && (
        <button type="button" onClick={() => setLimit(limit + READ_AT_ONCE)}>
          Read on
        </button>
      )}
    </Section>
  );
}
