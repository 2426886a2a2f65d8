// Answers of the coordinator that are asked for again when an event concerns them.
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, problemOf, Refused, type LiveEvent } from "./api.ts";
import { listen, type Listener } from "./events.ts";
import { saved } from "./saved.ts";

/** An answer is asked for again at most as often as this after events, */
const AGAIN_MS = 1_500;
/** as this where events are worked into it, */
const PATCHED_MS = 10_000;
/** and as this without any. */
const ANYWAY_MS = 30_000;

export interface Live<T> {
  data: T | undefined;
  error: string | undefined;
  again: () => void;
}

interface Options<T> {
  /** Asks for the answer, where it takes more than one request. */
  load?: () => Promise<T>;
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

/** Does something at the earliest of the times that were asked for, and not while nobody sees the page: then once it is seen. */
class Timer {
  private due: number | undefined;
  private at = Infinity;

  constructor(private readonly act: () => void) {
    document.addEventListener("visibilitychange", this.look);
  }

  private readonly look = () => {
    if (!document.hidden) {
      this.act();
    }
  };

  in(ms: number): void {
    const then = performance.now() + ms;
    if (this.at > then) {
      window.clearTimeout(this.due);
      this.at = then;
      this.due = window.setTimeout(() => {
        this.at = Infinity;
        this.look();
      }, ms);
    }
  }

  clear(): void {
    window.clearTimeout(this.due);
    this.at = Infinity;
  }

  end(): void {
    this.clear();
    document.removeEventListener("visibilitychange", this.look);
  }
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
    let [isOver, isAsking, isWanted] = [false, false, false];
    const load = async () => {
      timer.clear();
      if (isOver) {
        return;
      }
      if (isAsking) {
        // The answer that is on its way may be of before.
        isWanted = true;
        return;
      }
      [isAsking, isWanted] = [true, false];
      const began = performance.now();
      try {
        const answer = await (current.current.load?.() ?? ask<T>(path));
        if (!isOver) {
          setData(answer);
          setError(undefined);
        }
      } catch (failure) {
        // Of a request that was begun with another token it says nothing about this one.
        if (!isOver && failure instanceof Refused && failure.status === 401) {
          signOut(failure.message);
        }
        if (!isOver) {
          setError(problemOf(failure));
        }
      }
      isAsking = false;
      if (!isOver && !saved) {
        // What takes long to ask for is asked for less often.
        const took = performance.now() - began;
        timer.in(isWanted ? AGAIN_MS : Math.max(current.current.every_ms ?? ANYWAY_MS, 10 * took));
      }
    };
    const timer = new Timer(() => void load());
    const listener: Listener = (events, some) => {
      const { concerns, patch } = current.current;
      const mine = concerns ? events.filter(concerns) : events;
      if (mine.length > 0 && patch) {
        setData((before) => (before === undefined ? before : patch(before, mine)));
      }
      if (some || mine.length > 0) {
        timer.in(patch && !some ? PATCHED_MS : AGAIN_MS);
      }
    };
    again.current = () => void load();
    const unlisten = listen(listener);
    void load();
    return () => {
      isOver = true;
      timer.end();
      unlisten();
    };
  }, [path]);
  return { data, error, again: () => again.current() };
}
