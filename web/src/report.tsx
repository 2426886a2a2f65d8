// The same chart in reports: each place for one has its data beside it.
import { render } from "preact";
import { Gantt } from "./parts/gantt.tsx";
import { plain, span } from "./text.ts";

interface Data {
  label: string;
  counted: [string, string];
  rows: string[];
  /** Row, beginning, end, colour, and what it is called. */
  bars: [number, number, number, string, string, number?][];
  from: number;
  to: number;
}

for (const place of document.querySelectorAll<HTMLElement>(".gantt-place")) {
  const data = JSON.parse(place.querySelector("script")?.textContent ?? "null") as Data;
  const rows = data.rows.map(plain);
  const bars = data.bars.map(([row, from, to, colour, name, high], index) => ({
    key: String(index),
    row,
    ...(high === undefined ? {} : { rows: high }),
    from,
    to,
    colour,
    facts: `${plain(name)} on ${rows[row] ?? ""}${high === undefined || high === 1 ? "" : ` to ${rows[row + high - 1] ?? ""}`}: from ${span(from)} to ${span(to)}, ${span(to - from)}`,
  }));
  place.textContent = "";
  render(<Gantt label={data.label} counted={data.counted} rows={rows} bars={bars} from={data.from} to={data.to} show={span} />, place);
}
