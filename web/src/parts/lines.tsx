// Curves over time, with the values under the pointer.
import { useState } from "preact/hooks";
import { clock, grouped, hour } from "../text.ts";
import { useWidth } from "./basics.tsx";

export interface Curve {
  name: string;
  class: string;
  values: (number | null)[];
  /** Whether what lies between two values is a line, and no gap. */
  isSparse?: boolean;
}

interface Props {
  label: string;
  at_s: number[];
  curves: Curve[];
  height?: number;
  show?: (value: number) => string;
  /** Whether values are seconds, whose round numbers are those of a clock. */
  isSpan?: boolean;
}

const LEFT = 48;
const BOTTOM = 22;
const TOP = 8;
/** Half of what a moment below takes. */
const HALF = 18;

/** Steps between round spans of time. */
const STEPS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 14_400, 21_600, 43_200, 86_400, 604_800];

/** Round numbers up to a bit above the greatest. */
function ticks(most: number, count: number, isSpan: boolean): number[] {
  const rough = most / count;
  const power = 10 ** Math.floor(Math.log10(rough || 1));
  const steps = isSpan ? STEPS : [1, 2, 5, 10].map((times) => times * power);
  const step = steps.find((step) => step >= rough) ?? 10 * power;
  const all = [];
  for (let tick = 0; tick <= most + step * 0.001; tick += step) {
    all.push(tick);
  }
  return all;
}

export function Lines({ label, at_s, curves, height = 180, show = grouped, isSpan = false }: Props) {
  const [box, width] = useWidth<HTMLDivElement>();
  const [under, setUnder] = useState<number>();
  const first = at_s[0] ?? 0;
  const last = at_s.at(-1) ?? 1;
  const most = Math.max(1e-9, ...curves.flatMap((curve) => curve.values.map((value) => value ?? 0)));
  const [w, h] = [Math.max(10, width - LEFT - 8), height - TOP - BOTTOM];
  const x = (at: number) => LEFT + ((at - first) / Math.max(1, last - first)) * w;
  const marks = ticks(most, 4, isSpan);
  const top = Math.max(most, marks.at(-1) ?? most);
  const y = (value: number) => TOP + h - (value / top) * h;
  const path = ({ values, isSparse = false }: Curve) => {
    let [written, isOpen] = ["", false];
    values.forEach((value, index) => {
      if (value === null) {
        isOpen = isOpen && isSparse;
        return;
      }
      written += `${isOpen ? "L" : "M"}${x(at_s[index] ?? first).toFixed(1)} ${y(value).toFixed(1)}`;
      isOpen = true;
    });
    return written;
  };
  const nearest = (clientX: number, rect: DOMRect) => {
    const at = first + ((clientX - rect.left - LEFT) / w) * (last - first);
    let best = 0;
    at_s.forEach((other, index) => {
      if (Math.abs(other - at) < Math.abs((at_s[best] ?? 0) - at)) {
        best = index;
      }
    });
    return best;
  };
  const known = (value: number | null | undefined) => (value == null ? "–" : show(value));
  const latest = curves.map((curve) => `${curve.name} ${known(curve.values.at(-1))}`).join(", ");
  const told = under === undefined ? undefined : Math.min(under, at_s.length - 1);
  const hours = ticksOfTime(first, last, Math.max(2, Math.floor(w / 90)));
  return (
    <div ref={box} class="chart">
      <ul class="key">
        {curves.map((curve) => (
          <li key={curve.name}>
            <span class={`dot ${curve.class}`} /> {curve.name}{" "}
            <b>{known(curve.values[told ?? curve.values.length - 1])}</b>
          </li>
        ))}
        <li class="muted">{clock(at_s[told ?? at_s.length - 1] ?? 0)}</li>
      </ul>
      <svg
        width={Math.max(width, 10)}
        height={height}
        role="img"
        aria-label={`${label}; ${clock(last)} ${latest}`}
        onPointerMove={(event) => setUnder(nearest(event.clientX, event.currentTarget.getBoundingClientRect()))}
        onPointerLeave={() => setUnder(undefined)}
      >
        {marks.map((mark) => (
          <g key={mark}>
            <line class="mark" x1={LEFT} x2={LEFT + w} y1={y(mark)} y2={y(mark)} />
            <text class="tick" x={LEFT - 6} y={y(mark) + 4} text-anchor="end">
              {show(mark)}
            </text>
          </g>
        ))}
        {hours.map((at) => (
          <text key={at} class="tick" x={Math.min(x(at), LEFT + w + 8 - HALF)} y={height - 6} text-anchor="middle">
            {hour(at)}
          </text>
        ))}
        {curves.map((curve) => (
          <path key={curve.name} class={`curve ${curve.class}`} d={path(curve)} />
        ))}
        {told !== undefined && (
          <line class="cross" x1={x(at_s[told] ?? 0)} x2={x(at_s[told] ?? 0)} y1={TOP} y2={TOP + h} />
        )}
      </svg>
    </div>
  );
}

/** Round moments between two. */
export function ticksOfTime(first: number, last: number, count: number): number[] {
  const step = STEPS.find((step) => (last - first) / step <= count) ?? 2_592_000;
  // A moment has a time of day; what is counted from the beginning of a run has none.
  const offset = first > 1e8 ? new Date(first * 1_000).getTimezoneOffset() * 60 : 0;
  const all = [];
  for (let at = Math.ceil((first - offset) / step) * step + offset; at <= last; at += step) {
    all.push(at);
  }
  return all;
}
