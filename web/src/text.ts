// How numbers, times and foreign texts are written.

/** Characters that would not be seen, or that would reorder or restyle what stands beside them: those of `gleaner_wire::text::is_hidden`. */
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;
/** By these a program says that a sign is to be in colour. */
const STYLES = /[\ufe0e\ufe0f]/g;
/** What terminals take for colours and movements. */
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;

/** A name or a reason as it is shown: on one line, each hidden character as a sign. */
export function plain(text: string): string {
  return text.replace(/[\t\n\r]+/g, " ").replace(HIDDEN, "\ufffd");
}

const LINE_MAX = 2_000;
const LINES_MAX = 5_000;

/** What a program wrote: the end of it, without colours, and each line only so long. */
export function output(text: string): string {
  const lines = text.replace(ESCAPES, "").replace(/\r\n/g, "\n").split("\n");
  const shown = lines.slice(-LINES_MAX).map((line) => {
    // A progress bar overwrites itself.
    const last = line.slice(line.lastIndexOf("\r") + 1);
    const cut = last.length > LINE_MAX ? `${last.slice(0, LINE_MAX)} … and ${grouped(last.length - LINE_MAX)} more` : last;
    return cut.replace(STYLES, "").replace(HIDDEN, "\ufffd");
  });
  const before = lines.length - shown.length;
  return (before > 0 ? `… ${grouped(before)} lines before\n` : "") + shown.join("\n");
}

export function grouped(number: number): string {
  return Math.round(number).toString().replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

export function span(seconds: number): string {
  if (!Number.isFinite(seconds)) {
    return "–";
  }
  const s = Math.max(0, seconds);
  if (s === 0) {
    return "0 s";
  }
  if (s < 0.9995) {
    return s < 0.0005 ? "< 1 ms" : `${Math.round(1_000 * s)} ms`;
  }
  if (s < 10) {
    return `${Number(s.toFixed(1))} s`;
  }
  if (s < 120) {
    return `${Math.round(s)} s`;
  }
  if (s < 7_200) {
    return `${Math.round(s / 60)} min`;
  }
  return s < 172_800 ? `${Number((s / 3_600).toFixed(1))} h` : `${Number((s / 86_400).toFixed(1))} d`;
}

export function bytes(count: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let [value, unit] = [count, 0];
  while (value >= 1_024 && unit < units.length - 1) {
    value /= 1_024;
    unit += 1;
  }
  return `${value < 10 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

const two = (number: number) => number.toString().padStart(2, "0");

/** The hour and minute, for an axis. */
export function hour(at_s: number): string {
  const at = new Date(at_s * 1_000);
  return `${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** Counts of bytes in a sentence, as people read them. */
export function sized(text: string): string {
  return plain(text).replace(/\b(\d{4,}) bytes\b/g, (_, count: string) => bytes(Number(count)));
}

/** The date, where the reader is. */
export function day(at_s: number): string {
  const at = new Date(at_s * 1_000);
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

/** The time of day; with the date where it is not today. */
export function clock(at_s: number, seconds = false): string {
  const at = new Date(at_s * 1_000);
  const time = `${two(at.getHours())}:${two(at.getMinutes())}${seconds ? `:${two(at.getSeconds())}` : ""}`;
  const isToday = at.toDateString() === new Date().toDateString();
  return isToday ? time : `${day(at_s)} ${time}`;
}

/** A moment on an axis that is so many seconds long. */
export function moment(at_s: number, length_s: number): string {
  if (length_s >= 10) {
    return clock(at_s, length_s < 600);
  }
  const at_ms = Math.round(at_s * 1_000);
  const [at, parts] = [new Date(at_ms), (at_ms % 1_000).toString().padStart(3, "0")];
  return `${hour(at_ms / 1_000)}:${two(at.getSeconds())}.${parts}`;
}

/** Begins as a sentence does. */
export function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function plural(count: number, one: string, more = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : more}`;
}
