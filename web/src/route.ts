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

export const toJob = (job: number) => `#/jobs/${job}`;
export const toTask = (job: number, task: number) => `#/jobs/${job}/tasks/${task}`;
export const toMachine = (name: string) => `#/machines/${encodeURIComponent(name)}`;
