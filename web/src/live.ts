// What happens, as it happens: one stream of events for the page, and answers that are asked for again when an event
// concerns them.
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, problemOf, Refused, request, token, type LiveEvent } from "./api.ts";
import { saved } from "./saved.ts";

/** Events are handed on together, so many milliseconds apart. */
const TOGETHER_MS = 250;
/** An answer is asked for again at most as often as this after events, */
const AGAIN_MS = 1_500;
/** as this where events are worked into it, */
const PATCHED_MS = 10_000;
/** and as this without any. */
const ANYWAY_MS = 30_000;

type Listener = (events: LiveEvent[], missed: boolean) => void;

const listeners = new Set<Listener>();
const states = new Set<(isConnected: boolean) => void>();
let waiting: LiveEvent[] = [];
let missed = false;
let timer: number | undefined;
let stop: AbortController | null = null;

function handOn(): void {
  timer = undefined;
  const [events, some] = [waiting, missed];
  [waiting, missed] = [[], false];
  listeners.forEach((listener) => listener(events, some));
}

function soon(): void {
  timer ??= window.setTimeout(handOn, TOGETHER_MS);
}

function take(message: string): void {
  const lines = message.split("\n");
  const data = lines.filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trimStart());
  if (data.length === 0) {
    return;
  }
  if (lines.includes("event: missed")) {
    missed = true;
  } else {
    waiting.push(JSON.parse(data.join("\n")) as LiveEvent);
  }
  soon();
}

/** Follows the stream until `unfollow`; it is taken up again where it ends. */
export async function follow(): Promise<void> {
  if (saved || stop) {
    return;
  }
  const mine = new AbortController();
  stop = mine;
  while (!mine.signal.aborted && token.find()) {
    try {
      const response = await request("/api/v1/events", { signal: mine.signal });
      if (!response.ok || !response.body) {
        throw new Refused(response.status, "no events");
      }
      states.forEach((state) => state(true));
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (;;) {
        const { done, value } = await reader.read();
        if (done) {
          break;
        }
        const messages = (rest + value).split("\n\n");
        rest = messages.pop() ?? "";
        messages.forEach(take);
      }
    } catch {
      // It is tried again below.
    }
    if (!mine.signal.aborted) {
      states.forEach((state) => state(false));
      missed = true;
      soon();
      await new Promise((again) => setTimeout(again, 2_000));
    }
  }
}

export function unfollow(): void {
  stop?.abort();
  stop = null;
}

export function useConnected(): boolean {
  const [isConnected, set] = useState(true);
  useEffect(() => {
    states.add(set);
    return () => void states.delete(set);
  }, []);
  return isConnected;
}

export interface Live<T> {
  data: T | undefined;
  error: string | undefined;
  again: () => void;
}

interface Options<T> {
  /** Which events concern the answer; all if nothing is said. */
  concerns?: (event: LiveEvent) => boolean;
  /** Works events into the answer. */
  patch?: (data: T, events: LiveEvent[]) => T;
  every_ms?: number;
}

let signOut: (problem: string) => void = () => undefined;
export function onSignOut(act: (problem: string) => void): void {
  signOut = act;
}

/** An answer of the coordinator that is kept up to date. */
export function useLive<T>(path: string | null, options: Options<T> = {}): Live<T> {
  const [data, setData] = useState<T>();
  const [error, setError] = useState<string>();
  const current = useRef(options);
  current.current = options;
  const again = useRef<() => void>(() => undefined);
  useEffect(() => {
    setData(undefined);
    setError(undefined);
    if (path === null) {
      return;
    }
    let [isOver, isAsking, due] = [false, false, undefined as number | undefined];
    const load = async () => {
      window.clearTimeout(due);
      due = undefined;
      if (isAsking || isOver) {
        return;
      }
      isAsking = true;
      const began = performance.now();
      try {
        const answer = await ask<T>(path);
        if (!isOver) {
          setData(answer);
          setError(undefined);
        }
      } catch (failure) {
        if (failure instanceof Refused && failure.status === 401) {
          signOut(failure.message);
        }
        if (!isOver) {
          setError(problemOf(failure));
        }
      }
      isAsking = false;
      // What takes long to ask for is asked for less often.
      const took = performance.now() - began;
      later(Math.max(current.current.every_ms ?? ANYWAY_MS, 10 * took));
    };
    let at = Infinity;
    const later = (ms: number) => {
      const then = performance.now() + ms;
      if (isOver || saved || (due !== undefined && at <= then)) {
        return;
      }
      window.clearTimeout(due);
      at = then;
      due = window.setTimeout(() => (document.hidden ? later(ANYWAY_MS) : load()), ms);
    };
    const listener: Listener = (events, some) => {
      const { concerns, patch } = current.current;
      const mine = concerns ? events.filter(concerns) : events;
      if (mine.length > 0 && patch) {
        setData((before) => (before === undefined ? before : patch(before, mine)));
      }
      if (some || mine.length > 0) {
        later(patch && !some ? PATCHED_MS : AGAIN_MS);
      }
    };
    again.current = () => void load();
    listeners.add(listener);
    void load();
    return () => {
      isOver = true;
      window.clearTimeout(due);
      listeners.delete(listener);
    };
  }, [path]);
  return { data, error, again: () => again.current() };
}
