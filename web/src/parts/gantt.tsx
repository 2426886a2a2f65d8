// Machines down, time to the right, a bar for each run. Drawn on a canvas: tens of thousands of bars move smoothly, and
// whatever machines are called is text.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { plural } from "../text.ts";
import { useWidth } from "./basics.tsx";
import { ticksOfTime } from "./lines.tsx";

export interface Bar {
  /** What it is called: no other bar of the chart is called so, and it is again after a refresh. */
  key: string;
  row: number;
  /** How many rows it takes; one if nothing is said. */
  rows?: number;
  from: number;
  to: number;
  /** One of the colours of the page: `--name`. */
  colour: string;
  isMarked?: boolean;
  /** In words, on one line. */
  facts: string;
  link?: string;
}

interface Props {
  label: string;
  rows: string[];
  bars: Bar[];
  from: number;
  to: number;
  /** What a bar is, and a row: one of them. */
  counted?: [string, string];
  /** How a moment is written where the axis is so long. */
  show: (at: number, length: number) => string;
}

const AXIS = 22;
/** Pixels that all rows have together, where they can be told apart in so many. */
const HIGH = 440;

export function Gantt({ label, rows, bars, from, to, show, counted = ["run", "machine"] }: Props) {
  const [box, width] = useWidth<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [view, setView] = useState<[number, number] | null>(null);
  const [key, setKey] = useState<string>();
  const chosen = useMemo(() => {
    const found = key === undefined ? -1 : bars.findIndex((bar) => bar.key === key);
    return found < 0 ? undefined : found;
  }, [bars, key]);
  const setChosen = (index: number | undefined) => setKey(index === undefined ? undefined : bars[index]?.key);
  const drag = useRef<{ x: number; view: [number, number]; moved: boolean } | null>(null);
  const whole: [number, number] = [from, Math.max(to, from + 1e-6)];
  const [begin, end] = view ?? whole;
  const ofRow = useMemo(() => {
    const all: number[][] = rows.map(() => []);
    bars.forEach((bar, index) => {
      for (let row = bar.row; row < bar.row + (bar.rows ?? 1); row += 1) {
        all[row]?.push(index);
      }
    });
    all.forEach((row) => row.sort((one, other) => bars[one]!.from - bars[other]!.from));
    return all;
  }, [bars, rows.length]);
  // Runs that share a machine lie above each other.
  const lanes = useMemo(() => {
    const lane = new Uint16Array(bars.length);
    const of = new Uint16Array(rows.length).fill(1);
    ofRow.forEach((row, number) => {
      const free: number[] = [];
      for (const index of row) {
        const bar = bars[index]!;
        if (bar.rows !== undefined) {
          continue;
        }
        let place = free.findIndex((until) => until <= bar.from);
        place = place < 0 ? free.length : place;
        free[place] = bar.to;
        lane[index] = place;
      }
      of[number] = Math.max(1, free.length);
    });
    return { lane, of };
  }, [ofRow]);
  // A machine that runs many tasks at a time has a higher row, as far as there is room.
  const most = lanes.of.reduce((most, lanes) => Math.max(most, lanes), 1);
  const areProcessors = bars.some((bar) => bar.rows !== undefined);
  const [isFitted, setFitted] = useState(false);
  const least = areProcessors || isFitted ? 0.2 : 3;
  const [bar, row] = counted;
  const told = `${plural(bars.length, bar, bar.replace(/^\w+/, "$&s"))} on ${plural(rows.length, row)}`;
  const height = Math.max(least, Math.min(Math.max(22, 10 * most), HIGH / Math.max(1, rows.length)));
  const names = Math.min(150, width / 5);
  // Where rows are lower than letters, some are named.
  const everyRow = Math.ceil(13 / height);
  const w = Math.max(10, width - names - 4);
  const h = Math.max(1, rows.length) * height;
  const x = (at: number) => names + ((at - begin) / (end - begin)) * w;
  const place = (index: number) => {
    const bar = bars[index]!;
    if (bar.rows !== undefined) {
      const [left, right] = [x(bar.from), x(bar.to)];
      return { left, top: AXIS + bar.row * height, wide: Math.max(1, right - left), high: Math.max(0.75, bar.rows * height) };
    }
    const each = (height - (height > 6 ? 2 : 0)) / lanes.of[bar.row]!;
    const [left, right] = [x(bar.from), x(bar.to)];
    return { left, top: AXIS + bar.row * height + lanes.lane[index]! * each, wide: Math.max(1, right - left), high: Math.max(0.75, each - (each > 5 ? 1 : 0)) };
  };

  useEffect(() => {
    const target = canvas.current;
    const pen = target?.getContext("2d");
    if (!target || !pen || width === 0) {
      return;
    }
    const draw = () => {
      const scale = window.devicePixelRatio || 1;
      [target.width, target.height] = [Math.floor(width * scale), Math.floor((h + AXIS) * scale)];
      pen.scale(scale, scale);
      const style = getComputedStyle(target);
      const colours = new Map<string, string>();
      const colour = (name: string) => {
        if (!colours.has(name)) {
          // As the scheme has it: the probe's colour is resolved, a custom property is not.
          probe.style.color = `var(--${name})`;
          colours.set(name, getComputedStyle(probe).color);
        }
        return colours.get(name)!;
      };
      const probe = target.parentElement!.querySelector<HTMLElement>(".probe")!;
      pen.font = `11px ${style.fontFamily}`;
      pen.textBaseline = "middle";
      rows.forEach((_, row) => {
        if (height >= 6 && row % 2 === 1) {
          pen.fillStyle = colour("stripe");
          pen.fillRect(0, AXIS + row * height, width, height);
        }
      });
      pen.strokeStyle = colour("line");
      pen.fillStyle = colour("muted");
      pen.textAlign = "center";
      for (const at of ticksOfTime(begin, end, Math.max(2, Math.floor(w / 90)))) {
        pen.beginPath();
        pen.moveTo(x(at), AXIS - 4);
        pen.lineTo(x(at), AXIS + h);
        pen.stroke();
        const shown = show(at, end - begin);
        const half = pen.measureText(shown).width / 2;
        pen.fillText(shown, Math.min(width - half, Math.max(half, x(at))), 9);
      }
      pen.save();
      pen.beginPath();
      pen.rect(names, AXIS, w + 4, h);
      pen.clip();
      bars.forEach((bar, index) => {
        if (bar.to < begin || bar.from > end) {
          return;
        }
        const { left, top, wide, high } = place(index);
        pen.fillStyle = colour(bar.colour);
        pen.fillRect(left, top, wide, high);
        if (bar.isMarked) {
          pen.fillStyle = colour("failed");
          pen.fillRect(left, top, Math.max(1, Math.min(wide, 4)), high);
        }
      });
      if (areProcessors) {
        // Jobs that lie side by side are told apart by their edges.
        pen.strokeStyle = colour("card");
        bars.forEach((bar, index) => {
          const { left, top, wide, high } = place(index);
          if (wide > 3 && high > 3 && bar.to >= begin && bar.from <= end) {
            pen.strokeRect(left, top, wide, high);
          }
        });
      }
      if (chosen !== undefined && bars[chosen]) {
        const { left, top, wide, high } = place(chosen);
        pen.strokeStyle = colour("text");
        pen.lineWidth = 2;
        pen.strokeRect(left - 1, top - 1, wide + 2, high + 2);
      }
      pen.restore();
      if (names > 0) {
        pen.fillStyle = colour("text");
        pen.textAlign = "left";
        rows.forEach((name, row) => {
          const fits = Math.max(4, Math.floor(names / 6.5));
          // What tells machines apart is at the end of their names more often than in the middle.
          const end = Math.min(5, fits - 3);
          const shown = name.length > fits ? `${name.slice(0, fits - end - 1)}…${name.slice(-end)}` : name;
          if (row % everyRow === 0) {
            pen.fillText(shown, 2, AXIS + Math.max(6, (row + 0.5) * height), names - 6);
          }
        });
      }
    };
    const frame = requestAnimationFrame(draw);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", draw);
    return () => {
      cancelAnimationFrame(frame);
      scheme.removeEventListener("change", draw);
    };
  });

  const find = (clientX: number, clientY: number) => {
    const rect = canvas.current!.getBoundingClientRect();
    const [px, py] = [clientX - rect.left, clientY - rect.top];
    const row = Math.floor((py - AXIS) / height);
    return ofRow[row]?.find((index) => {
      const { left, top, wide, high } = place(index);
      return px >= left - 1 && px <= left + wide + 1 && py >= top - 1 && py <= top + high + 1;
    });
  };
  const zoom = (times: number, around = (begin + end) / 2) => {
    const [low, high] = [around - (around - begin) * times, around + (end - around) * times];
    setView(high - low >= whole[1] - whole[0] ? null : [Math.max(whole[0], low), Math.min(whole[1], high)]);
  };
  const pan = (share: number) => {
    const length = end - begin;
    const low = Math.min(Math.max(whole[0], begin + share * length), whole[1] - length);
    setView([low, low + length]);
  };
  const step = (index: number | undefined) => {
    setChosen(index);
    const bar = index === undefined ? undefined : bars[index];
    if (bar && (bar.to < begin || bar.from > end)) {
      const length = end - begin;
      const low = Math.min(Math.max(whole[0], bar.from - length / 2), whole[1] - length);
      setView([low, low + length]);
    }
  };
  const onKey = (event: KeyboardEvent) => {
    const bar = chosen === undefined ? undefined : bars[chosen];
    const inRow = bar ? ofRow[bar.row]! : [];
    const at = chosen === undefined ? -1 : inRow.indexOf(chosen);
    const near = (row: number) => {
      const all = ofRow[row] ?? [];
      return all.reduce<number | undefined>((best, index) => {
        const far = (other: number) => Math.abs(bars[other]!.from - (bar?.from ?? begin));
        return best === undefined || far(index) < far(best) ? index : best;
      }, undefined);
    };
    const beside = (by: 1 | -1) => {
      for (let row = (bar?.row ?? -by) + by; row >= 0 && row < rows.length; row += by) {
        const found = near(row);
        if (found !== undefined && found !== chosen) {
          return found;
        }
      }
      return chosen;
    };
    const acts: Record<string, () => void> = {
      "+": () => zoom(0.5),
      "=": () => zoom(0.5),
      "-": () => zoom(2),
      "0": () => setView(null),
      PageUp: () => pan(-0.5),
      PageDown: () => pan(0.5),
      ArrowRight: () => step(inRow[at + 1] ?? chosen ?? beside(1)),
      ArrowLeft: () => step(inRow[at - 1] ?? chosen),
      ArrowDown: () => step(beside(1)),
      ArrowUp: () => step(beside(-1)),
      Enter: () => bar?.link && (location.hash = bar.link.slice(1)),
      Escape: () => setChosen(undefined),
    };
    const act = acts[event.key];
    if (act) {
      event.preventDefault();
      act();
    }
  };
  const facts = chosen === undefined ? undefined : bars[chosen];
  return (
    <div ref={box} class="gantt">
      <div class="tools">
        <button type="button" aria-label="Zoom in" onClick={() => zoom(0.5)}>
          +
        </button>
        <button type="button" aria-label="Zoom out" onClick={() => zoom(2)}>
          −
        </button>
        <button type="button" onClick={() => setView(null)}>
          all
        </button>
        {!areProcessors && rows.length > 3 * HIGH / 10 && (
          <button type="button" aria-pressed={isFitted} onClick={() => setFitted(!isFitted)}>
            all rows
          </button>
        )}
        <span class="told" role="status">
          {facts ? (
            facts.link ? <a href={facts.link}>{facts.facts}</a> : facts.facts
          ) : (
            <span class="muted">
              {told}
            </span>
          )}
        </span>
      </div>
      <div class="scroll" tabIndex={-1}>
        <span class="probe" hidden />
        <canvas
          ref={canvas}
          style={{ width: `${width}px`, height: `${h + AXIS}px` }}
          tabIndex={0}
          role="application"
          aria-label={`${label}: ${told}. Arrow keys go from run to run, plus and minus zoom, Page Up and Page Down pan, Enter opens a task.`}
          onKeyDown={onKey}
          onWheel={(event) => {
            if (event.ctrlKey || event.shiftKey || event.altKey) {
              event.preventDefault();
              const rect = event.currentTarget.getBoundingClientRect();
              const at = begin + ((event.clientX - rect.left - names) / w) * (end - begin);
              zoom((event.deltaY || event.deltaX) < 0 ? 0.8 : 1.25, at);
            }
          }}
          onPointerDown={(event) => {
            drag.current = { x: event.clientX, view: [begin, end], moved: false };
            event.currentTarget.setPointerCapture(event.pointerId);
          }}
          onPointerMove={(event) => {
            const held = drag.current;
            if (!held) {
              setChosen(find(event.clientX, event.clientY));
              return;
            }
            const by = ((held.x - event.clientX) / w) * (held.view[1] - held.view[0]);
            held.moved ||= Math.abs(held.x - event.clientX) > 3;
            if (held.moved && view) {
              const length = held.view[1] - held.view[0];
              const low = Math.min(Math.max(whole[0], held.view[0] + by), whole[1] - length);
              setView([low, low + length]);
            }
          }}
          onPointerUp={(event) => {
            const held = drag.current;
            drag.current = null;
            const found = held && !held.moved ? find(event.clientX, event.clientY) : undefined;
            setChosen(found ?? chosen);
            const link = found === undefined ? undefined : bars[found]?.link;
            if (link && event.button === 0) {
              location.hash = link.slice(1);
            }
          }}
          onPointerCancel={() => (drag.current = null)}
        />
      </div>
    </div>
  );
}
