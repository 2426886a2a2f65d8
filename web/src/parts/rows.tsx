// A long list of which only what is seen is there.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { keepSoon, keptNumber } from "../route.ts";
import { useNarrow } from "./basics.tsx";

export interface Column<T> {
  name: string;
  /** Left out in a narrow window. */
  isMinor?: boolean;
  width: string;
  isNumber?: boolean;
  cell: (row: T) => ComponentChildren;
}

interface Props<T> {
  label: string;
  /** Which part of a list it is: each has a place of its own. */
  part?: string;
  columns: Column<T>[];
  rows: T[];
  keyOf: (row: T) => string | number;
  empty?: string;
  /** How many rows are seen at once. */
  shown?: number;
  height?: number;
}

const AROUND = 8;

export function Rows<T>({ label, part = "", columns, rows, keyOf, empty, shown = 14, height = 36 }: Props<T>) {
  const box = useRef<HTMLDivElement>(null);
  const place = `rows of ${label} ${part}`;
  const [top, setTop] = useState(() => keptNumber(place));
  const isNarrow = useNarrow();
  const seen = isNarrow ? columns.filter((column) => !column.isMinor) : columns;
  const from = Math.max(0, Math.floor(top / height) - AROUND);
  const until = Math.min(rows.length, from + shown + 2 * AROUND);
  // One comes back to where one was.
  useEffect(() => {
    if (box.current && top > 0) {
      box.current.scrollTop = top;
    }
  }, [rows.length > 0]);
  // Fewer rows than before may end above where one looks.
  useEffect(() => {
    if (box.current && box.current.scrollTop > rows.length * height) {
      box.current.scrollTop = 0;
    }
  }, [rows.length]);
  if (rows.length === 0) {
    return <p class="muted">{empty ?? "Nothing."}</p>;
  }
  const gutter = rows.length > shown ? { scrollbarGutter: "stable" } : {};
  const template = { gridTemplateColumns: seen.map((column) => column.width).join(" ") };
  return (
    <div class="rows" role="table" aria-label={label} aria-rowcount={rows.length + 1}>
      <div role="rowgroup" class="rows-head" style={gutter}>
        <div role="row" class="row" style={template}>
          {seen.map((column) => (
            <span key={column.name} role="columnheader" class={column.isNumber ? "number" : ""}>
              {column.name}
            </span>
          ))}
        </div>
      </div>
      <div
        ref={box}
        role="rowgroup"
        class="rows-body"
        tabIndex={0}
        aria-label={`${label}: rows`}
        style={{ ...gutter, maxHeight: `${shown * height}px` }}
        onScroll={(event) => (setTop(event.currentTarget.scrollTop), keepSoon(place, event.currentTarget.scrollTop))}
      >
        <div role="presentation" style={{ height: `${from * height}px` }} />
        {rows.slice(from, until).map((row, index) => (
          <div
            key={keyOf(row)}
            role="row"
            class="row"
            aria-rowindex={from + index + 2}
            style={{ ...template, height: `${height}px` }}
          >
            {seen.map((column) => (
              <span key={column.name} role="cell" class={column.isNumber ? "number" : ""}>
                {column.cell(row)}
              </span>
            ))}
          </div>
        ))}
        <div role="presentation" style={{ height: `${(rows.length - until) * height}px` }} />
      </div>
    </div>
  );
}
