// What happens, as it happens: one stream of events for the page.
import { useEffect, useState } from "preact/hooks";
import { Refused, request, token, type LiveEvent } from "./api.ts";
import { saved } from "./saved.ts";
import { pause, seen } from "./seen.ts";

/** Events are handed on together, so many milliseconds apart. */
const TOGETHER_MS = 250;
/** A stream that ended is taken up again after so long. */
const TAKE_UP_MS = 2_000;
/** A stream that is silent for so long has ended: the coordinator sends a sign of life every 15 s. */
const SILENT_MS = 45_000;

export type Listener = (events: LiveEvent[], missed: boolean) => void;

const listeners = new Set<Listener>();
const states = new Set<(isConnected: boolean) => void>();
let waiting: LiveEvent[] = [];
let missed = false;
let timer: number | undefined;
let stop: AbortController | null = null;

/** Has events told to `listener`; what is returned ends that. */
export function listen(listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

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
  if (lines.includes("event: missed") || lines.includes("event: stopped")) {
    missed = true;
  } else {
    waiting.push(JSON.parse(data.join("\n")) as LiveEvent);
  }
  soon();
}

/** Follows the stream until `unfollow`. It is taken up again where it ends, and left while nobody sees the page. */
export async function follow(): Promise<void> {
  if (saved || stop) {
    return;
  }
  const mine = new AbortController();
  stop = mine;
  let isAgain = false;
  const connected = () => {
    states.forEach((state) => state(true));
    if (isAgain) {
      // Nobody told of what happened meanwhile.
      missed = true;
      soon();
    }
  };
  while (!mine.signal.aborted && token.find()) {
    await seen(mine.signal);
    try {
      await read(mine.signal, connected);
    } catch {
      // It is tried again below.
    }
    isAgain = true;
    if (!mine.signal.aborted && !document.hidden) {
      states.forEach((state) => state(false));
      await pause(TAKE_UP_MS);
    }
  }
}

/** Reads the stream until it ends, is silent, or nobody sees the page: a browser opens six connections for all its tabs. */
async function read(signal: AbortSignal, connected: () => void): Promise<void> {
  const end = new AbortController();
  let silence: number | undefined;
  const heard = () => {
    window.clearTimeout(silence);
    silence = window.setTimeout(() => end.abort(), SILENT_MS);
  };
  const look = () => document.hidden && end.abort();
  document.addEventListener("visibilitychange", look);
  try {
    heard();
    const response = await request("/api/v1/events", { signal: AbortSignal.any([signal, end.signal]) });
    if (!response.ok || !response.body) {
      throw new Refused(response.status, "no events");
    }
    connected();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        return;
      }
      heard();
      const messages = (rest + value).split("\n\n");
      rest = messages.pop() ?? "";
      messages.forEach(take);
    }
  } finally {
    window.clearTimeout(silence);
    document.removeEventListener("visibilitychange", look);
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
