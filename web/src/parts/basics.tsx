// Small parts that every view uses.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { problemOf, Refused, type Phase, type Tally } from "../api.ts";
import { toMachine } from "../route.ts";
import { isOfJob } from "../saved.ts";
import { grouped, plain, plural } from "../text.ts";

export const PHASES: Phase[] = ["done", "running", "suspended", "waiting", "held", "failed", "cancelled"];

export const total = (tally: Tally) => PHASES.reduce((sum, phase) => sum + tally[phase], 0);

export function inWords(tally: Tally): string {
  const parts = PHASES.filter((phase) => tally[phase] > 0).map((phase) => `${grouped(tally[phase])} ${phase}`);
  return parts.length > 0 ? parts.join(", ") : "no tasks";
}

/** A job's tasks as one bar, a stretch for each phase. */
export function PhaseBar({ tally }: { tally: Tally }) {
  const all = Math.max(1, total(tally));
  return (
    <span class="phases" role="img" aria-label={inWords(tally)} title={inWords(tally)}>
      {PHASES.filter((phase) => tally[phase] > 0).map((phase) => (
        <span key={phase} class={`fill-${phase}`} style={{ flexGrow: tally[phase] / all }} />
      ))}
    </span>
  );
}

export function PhaseKey({ tally }: { tally: Tally }) {
  return (
    <ul class="key">
      {PHASES.filter((phase) => tally[phase] > 0).map((phase) => (
        <li key={phase}>
          <span class={`dot fill-${phase}`} /> <b>{grouped(tally[phase])}</b> {phase}
        </li>
      ))}
    </ul>
  );
}

/** The way to a machine's page, where there is one. */
export function ToMachine({ name }: { name: string }) {
  return isOfJob ? <>{plain(name)}</> : <a href={toMachine(name)}>{plain(name)}</a>;
}

export function Badge({ state }: { state: string }) {
  return (
    <span class="badge">
      <span class={`dot fill-${state}`} /> {state}
    </span>
  );
}

interface SectionProps {
  title: string;
  aside?: ComponentChildren;
  class?: string;
  children: ComponentChildren;
}

export function Section({ title, aside, class: more, children }: SectionProps) {
  return (
    <section class={`card ${more ?? ""}`}>
      <header>
        <h2>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
}

export function Trouble({ error }: { error: string | undefined }) {
  return error === undefined ? null : (
    <p class="trouble" role="alert">
      {plain(error)}
    </p>
  );
}

/** What has no data yet. */
export function Loading({ live }: { live: { data: unknown; error: string | undefined } }) {
  if (live.error !== undefined) {
    return <Trouble error={live.error} />;
  }
  return live.data === undefined ? <p class="muted">…</p> : null;
}

export function Facts({ facts }: { facts: [string, ComponentChildren][] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface ActProps {
  label: string;
  /** Asked before it is done. */
  confirm?: string;
  act: () => Promise<string>;
  tell: (news: string) => void;
}

/** A button that has something done, after a question where it cannot be undone. Who presses Enter twice has nothing done. */
export function Act({ label, confirm, act, tell }: ActProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [isBusy, setBusy] = useState(false);
  // Not disabled meanwhile: a button that is loses the focus of whoever pressed it by a key.
  const run = async () => {
    dialog.current?.close();
    if (isBusy) {
      return;
    }
    setBusy(true);
    try {
      tell(await act());
    } catch (error) {
      tell(error instanceof Refused ? error.message : `${problemOf(error)} Whether it was done is not known: look again.`);
    }
    setBusy(false);
    // What was pressed may be gone, as the button that holds a job is once the job is held.
    requestAnimationFrame(() => {
      if (document.activeElement === document.body) {
        document.getElementById("main")?.focus({ preventScroll: true });
      }
    });
  };
  return (
    <>
      <button type="button" aria-disabled={isBusy} onClick={() => (confirm ? dialog.current?.showModal() : void run())}>
        {label}
      </button>
      {confirm && (
        <dialog ref={dialog} aria-label={label}>
          <p>{confirm}</p>
          <form method="dialog">
            <button type="button" class="strong" onClick={() => void run()}>
              {label}
            </button>{" "}
            <button type="submit" autofocus>
              Back
            </button>
          </form>
        </dialog>
      )}
    </>
  );
}

/** Its width in pixels, as the window changes. */
export function useWidth<E extends HTMLElement>(): [{ current: E | null }, number] {
  const element = useRef<E>(null);
  const [width, set] = useState(0);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => entry && set(Math.floor(entry.contentRect.width)));
    if (element.current) {
      observer.observe(element.current);
    }
    return () => observer.disconnect();
  }, []);
  return [element, width];
}

export function useNarrow(): boolean {
  const query = "(max-width: 640px)";
  const [isNarrow, set] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const changed = () => set(list.matches);
    list.addEventListener("change", changed);
    return () => list.removeEventListener("change", changed);
  }, []);
  return isNarrow;
}

export { plural };
