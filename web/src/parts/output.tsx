// What a task's program writes, as it comes.
import { useEffect, useRef, useState } from "preact/hooks";
import { problemOf, Refused, request, type Schemas } from "../api.ts";
import { pause, seen } from "../seen.ts";
import { bytes, output, plain } from "../text.ts";
import { Section } from "./basics.tsx";

export const isOver = (phase: string) => ["done", "failed", "cancelled"].includes(phase);

type Stream = "stdout" | "stderr";

/** Bytes of a stream that are kept here: its end. */
const KEPT = 1 << 19;
/** Bytes that are read before one is asked whether to read on. */
const READ_AT_ONCE = 8 << 20;
/** Bytes of one answer at most: where it has fewer, there was no more. */
const PIECE = 1 << 18;
/** How long the coordinator waits for more. Both streams wait in turn. */
const WAIT_S = 1;
/** Where there is no answer, it is asked again after so long. */
const AGAIN_MS = 2_000;
/** What says no now, and may say yes later: too many requests, or a coordinator that starts. */
const NOT_NOW = [429, 503];

interface Piece {
  /** Which run wrote it; 0 where that is not known. */
  run: number;
  bytes: Uint8Array;
  /** Bytes of that stream that were not kept. */
  dropped: number;
  isOver: boolean;
}

let turn: Promise<unknown> = Promise.resolve();

/** One stream after the other, and so one request: a browser opens six connections for all its tabs. */
function inTurn<T>(act: () => Promise<T>): Promise<T> {
  const mine = turn.then(act);
  turn = mine.catch(() => undefined);
  return mine;
}

async function piece(path: string, signal: AbortSignal): Promise<Piece> {
  const response = await request(path, { signal });
  if (!response.ok) {
    const { error } = (await response.json()) as Schemas["Problem"];
    throw new Refused(response.status, error.message);
  }
  return {
    run: Number(response.headers.get("gleaner-run") ?? 0),
    bytes: new Uint8Array(await response.arrayBuffer()),
    dropped: Number(response.headers.get("gleaner-dropped") ?? 0),
    isOver: response.headers.get("gleaner-over") === "true",
  };
}

/** The end of what was written before, and of what came. */
function joined(tail: Uint8Array, more: Uint8Array): Uint8Array {
  const all = new Uint8Array(Math.min(KEPT, tail.length + more.length));
  const keep = all.length - Math.min(more.length, all.length);
  all.set(tail.slice(tail.length - keep));
  all.set(more.slice(more.length - (all.length - keep)), keep);
  return all;
}

/** What was read of a run. */
interface Read {
  run: number;
  offset: number;
  tail: Uint8Array;
}

const UNREAD: Read = { run: 0, offset: 0, tail: new Uint8Array(0) };

/**
 * Reads a stream of a run until it is over: of the one that was chosen, or of the one that the coordinator names. Where the task has a
 * further run, or is over, that may be another.
 */
function useOutput(path: string, stream: Stream, chosen: number | undefined, runs: number, isEnded: boolean) {
  const [run, setRun] = useState(0);
  const [text, setText] = useState("");
  const [note, setNote] = useState("");
  const [limit, setLimit] = useState(READ_AT_ONCE);
  const [isStopped, setStopped] = useState(false);
  const state = useRef(UNREAD);
  useEffect(() => {
    state.current = UNREAD;
    setRun(0);
    setText("");
    setNote("");
    setLimit(READ_AT_ONCE);
  }, [path, chosen]);
  useEffect(() => {
    if (runs === 0) {
      return;
    }
    let asked = chosen;
    const stop = new AbortController();
    setStopped(false);
    const next = async () => {
      const of_run = asked === undefined ? "" : `&run=${asked}`;
      const query = `stream=${stream}${of_run}&offset=${state.current.offset}&wait_s=${WAIT_S}`;
      const found = await piece(`${path}/output?${query}`, stop.signal);
      const nothing = { ...found, bytes: UNREAD.tail, isOver: false };
      if (found.run === 0 && asked === undefined) {
        // Of none was it heard how it ended, as where its machine was lost. The last one may have written something.
        asked = runs;
        return nothing;
      }
      if (found.run !== state.current.run) {
        setRun(found.run);
        const isAnother = state.current.offset > 0;
        state.current = { ...UNREAD, run: found.run };
        if (isAnother) {
          // What came counts from the end of the run before.
          setText("");
          return nothing;
        }
      }
      if (found.bytes.length > 0) {
        const tail = joined(state.current.tail, found.bytes);
        state.current = { ...state.current, offset: state.current.offset + found.bytes.length, tail };
        setText(output(new TextDecoder().decode(tail)));
      }
      const { offset, tail } = state.current;
      const before = offset > tail.length && `the last ${bytes(tail.length)} of ${bytes(offset)}`;
      const after = found.dropped > 0 && `${bytes(found.dropped)} more were not kept`;
      setNote([before, after].filter(Boolean).join("; "));
      return found;
    };
    /** Reads what is there already, and says whether the stream is over. What is written slowly does not keep the turn. */
    const catchUp = async () => {
      while (state.current.offset < limit && !document.hidden) {
        const found = await next();
        if (found.isOver || found.bytes.length < PIECE) {
          return found.isOver;
        }
      }
      return false;
    };
    const read = async () => {
      for (;;) {
        await seen(stop.signal);
        if (state.current.offset >= limit) {
          setStopped(true);
          return;
        }
        try {
          if (await inTurn(catchUp)) {
            return;
          }
        } catch (failure) {
          if (stop.signal.aborted) {
            return;
          }
          setNote(problemOf(failure));
          if (failure instanceof Refused && !NOT_NOW.includes(failure.status)) {
            return;
          }
          await pause(AGAIN_MS);
        }
      }
    };
    void read();
    return () => stop.abort();
  }, [path, chosen, runs, isEnded, limit]);
  return { run, text, note, readOn: isStopped ? () => setLimit(limit + READ_AT_ONCE) : undefined };
}

export function Output({ path, stream, runs, phase }: { path: string; stream: Stream; runs: number; phase: string }) {
  const [chosen, choose] = useState<number>();
  const place = useRef<HTMLPreElement>(null);
  const { run, text, note, readOn } = useOutput(path, stream, chosen, runs, isOver(phase));
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
            <select value={chosen ?? (run || runs)} onChange={(event) => choose(Number(event.currentTarget.value))}>
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
      {readOn && (
        <button type="button" onClick={readOn}>
          Read on
        </button>
      )}
    </Section>
  );
}
