// The life of a task: a bar, and its steps.
import type { Schemas } from "../api.ts";
import { Badge, ToMachine, useWidth } from "./basics.tsx";
import { now_s } from "../saved.ts";
import { clock, plain, plural, span } from "../text.ts";

type Step = Schemas["History"]["transitions"][number];

interface Part {
  phase: Step["phase"];
  /** In seconds. */
  long: number;
  steps: number;
}

/** Pixels that a part of the bar takes at least, with the gap beside it: as style.css has it. */
const PART_PX = 4;
/** So many steps are listed. */
const LISTED = 200;

/** As many parts as have room; the last step, by which it ended, is always one. Of several steps, the longest gives its phase. */
function parts(steps: Step[], last: number, room: number): Part[] {
  const all: Part[] = [];
  const least = (last - (steps[0]?.at_s ?? last)) / Math.max(1, room - 2);
  let longest = 0;
  steps.forEach((step, index) => {
    const long = (steps[index + 1]?.at_s ?? last) - step.at_s;
    const part = all.at(-1);
    if (steps.length <= room || !part || part.long >= least || index === steps.length - 1) {
      all.push({ phase: step.phase, long, steps: 1 });
      longest = long;
      return;
    }
    part.phase = long > longest ? step.phase : part.phase;
    longest = Math.max(long, longest);
    part.long += long;
    part.steps += 1;
  });
  return all;
}

export function Life({ history, isOver }: { history: Schemas["History"]; isOver: boolean }) {
  const [box, width] = useWidth<HTMLDivElement>();
  const steps = history.transitions;
  const first = steps[0]?.at_s ?? 0;
  const last = isOver ? (steps.at(-1)?.at_s ?? first) : Math.max(now_s(), steps.at(-1)?.at_s ?? 0);
  const long = Math.max(1e-3, last - first);
  const earlier = (history.left_out ?? 0) + Math.max(0, steps.length - LISTED);
  return (
    <>
      <div ref={box} class="life" role="img" aria-label={`From ${clock(first, true)} to ${isOver ? clock(last, true) : "now"}, ${span(long)}`}>
        {parts(steps, last, Math.floor(width / PART_PX)).map((part, index) => (
          <span
            key={index}
            class={`fill-${part.phase}`}
            style={{ flexGrow: Math.max(0.002, part.long / long) }}
            title={part.steps === 1 ? `${part.phase} ${span(part.long)}` : `${plural(part.steps, "step")}, longest ${part.phase}, ${span(part.long)} in all`}
          />
        ))}
      </div>
      <p class="ends muted">
        <span>{clock(first, true)}</span>
        <span>{isOver ? clock(last, true) : "now"}</span>
      </p>
      {earlier > 0 && <p class="muted">{plural(earlier, "earlier step")} not told here.</p>}
      <ol class="steps">
        {steps.slice(-LISTED).map((step, index) => (
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
                  on <ToMachine name={step.machine} />
                  {step.run != null && `, run ${step.run}`}
                </span>
              )}
              {typeof step.actor === "object" && "user" in step.actor && <span class="muted"> by {plain(step.actor.user)}</span>}
            </span>
          </li>
        ))}
      </ol>
    </>
  );
}
