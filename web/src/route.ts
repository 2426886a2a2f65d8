// Which view the address names: everything behind its hash.
import { useEffect, useState } from "preact/hooks";
import { saved } from "./saved.ts";

const read = () => location.hash.slice(1) || saved?.route || "/";

export function useRoute(): string {
  const [route, set] = useState(read);
  useEffect(() => {
    const changed = () => set(read());
    window.addEventListener("hashchange", changed);
    return () => window.removeEventListener("hashchange", changed);
  }, []);
  return route;
}

/** What the browser's history has of the view that one looks at, or comes back to. */
const kept = () => (history.state ?? {}) as Record<string, unknown>;

const keep = (name: string, value: unknown) => history.replaceState({ ...kept(), [name]: value }, "");

const SOON_MS = 150;
const timers = new Map<string, number>();

/** Keeps what changes many times a second, once it stands still. What one has left meanwhile keeps nothing of it. */
export function keepSoon(name: string, value: unknown): void {
  const view = location.hash;
  const keepIt = () => {
    if (location.hash === view) {
      keep(name, value);
    }
  };
  clearTimeout(timers.get(name));
  timers.set(name, window.setTimeout(keepIt, SOON_MS));
}

/** The number that was kept; 0 where the view is new. */
export const keptNumber = (name: string): number => Number(kept()[name] ?? 0);

/** A choice that is there again when one comes back to the view. What is typed is kept by `keepSoon`. */
export function useChoice<T>(name: string, initial: T, store: (name: string, value: unknown) => void = keep): [T, (value: T) => void] {
  const [choice, set] = useState<T>(() => (kept()[name] as T | undefined) ?? initial);
  return [choice, (next) => (set(next), store(name, next))];
}

/** The number that a part of the address is; none if it is no job's or task's. */
export function numberIn(part: string | undefined): number | undefined {
  const number = /^\d{1,10}$/.test(part ?? "") ? Number(part) : undefined;
  return number !== undefined && number <= 0xffff_ffff ? number : undefined;
}

/** The name that a part of the address is. What somebody typed may be no encoded name: then it is the name itself. */
export function nameIn(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const toJob = (job: number) => `#/jobs/${job}`;
export const toTask = (job: number, task: number) => `#/jobs/${job}/tasks/${task}`;
export const toMachine = (name: string) => `#/machines/${encodeURIComponent(name)}`;
