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
