// A page that was saved: what the coordinator had answered lies in the file.
export interface Saved {
  /** When, in seconds since 1970. */
  at_s: number;
  user: string;
  /** Which view it opens. */
  route: string;
  answers: Record<string, unknown>;
}

export const saved: Saved | null = read();

/** When what is shown was so: a file may be opened days later. */
export const now_s = () => saved?.at_s ?? Date.now() / 1_000;

/** Whether a job is all that was saved. */
export const isOfJob = saved !== null && saved.route.startsWith("/jobs/");

function read(): Saved | null {
  const text = document.getElementById("saved")?.textContent;
  return text ? (JSON.parse(text) as Saved) : null;
}

/** The page itself with the answers in it, as one file. */
export async function file(what: Saved): Promise<Blob> {
  const page = await (await fetch("/", { cache: "no-store" })).text();
  const [style, script] = await Promise.all([hash(page, "style"), hash(page, "script")]);
  const policy =
    `default-src 'none'; script-src 'sha256-${script}'; style-src 'sha256-${style}'; base-uri 'none'; form-action 'none'`;
  // Whatever names and outputs hold, none of it can end the element.
  const data = JSON.stringify(what).replaceAll("<", "\\u003c");
  const head = `<head>\n  <meta http-equiv="Content-Security-Policy" content="${policy}">`;
  const whole = page
    .replace("<head>", () => head)
    .replace('<div id="app">', () => `<script type="application/json" id="saved">${data}</script>\n  <div id="app">`);
  return new Blob([whole], { type: "text/html" });
}

async function hash(page: string, tag: string): Promise<string> {
  const begin = page.indexOf(">", page.indexOf(`<${tag}`)) + 1;
  const text = page.slice(begin, page.indexOf(`</${tag}>`, begin));
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return btoa(String.fromCharCode(...new Uint8Array(digest)));
}

export function download(name: string, blob: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
