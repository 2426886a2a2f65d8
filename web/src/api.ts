// Asks the coordinator, in the words of its OpenAPI document; in a saved page, what was saved.
import type { components } from "./schema.d.ts";
import { saved } from "./saved.ts";
import { Unreadable } from "./words.ts";

type Schemas = components["schemas"];
export type Job = Schemas["JobView"];
export type Task = Schemas["TaskView"];
export type Machine = Schemas["MachineView"];
export type Phase = Schemas["TaskPhase"];
export type Tally = Schemas["Tally"];
export type Run = Schemas["RunView"];
export type LiveEvent = Schemas["LiveEvent"];
export type Explanation = Schemas["ExplanationView"];
export type { Schemas };

/** What the coordinator said no to. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

const KEY = "token";

// Typed once, and kept in this tab's session only.
export const token = {
  find: () => sessionStorage.getItem(KEY),
  set: (value: string) => sessionStorage.setItem(KEY, value),
  forget: () => sessionStorage.removeItem(KEY),
};

/** Of the whole line that an administrator hands out, `gleaner login ADDRESS TOKEN.FINGERPRINT`, the token. */
export function tokenIn(typed: string): string {
  const words = typed.trim().split(/\s+/);
  return words.find((word) => word.startsWith("glu_")) ?? words.join(" ");
}

/** Whether it may be one, as far as its length and its characters say: others cannot be sent. */
export const isToken = (text: string) => /^[\w.-]{1,200}$/.test(text);

export function request(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set("Authorization", `Bearer ${token.find() ?? ""}`);
  return fetch(path, { ...init, headers, cache: "no-store" });
}

/** Why there is no answer, for a person: what the coordinator said, or that it said nothing, or what cannot be asked. */
export const problemOf = (failure: unknown) =>
  failure instanceof Refused || failure instanceof Unreadable ? failure.message : "The coordinator cannot be reached.";

/** What the coordinator answers. */
export async function ask<T>(path: string, init: RequestInit = {}): Promise<T> {
  if (saved) {
    const kept = saved.answers[path];
    if (kept === undefined) {
      throw new Refused(404, "This was not saved.");
    }
    return kept as T;
  }
  const response = await request(path, init);
  const body: unknown = await response.json();
  if (!response.ok) {
    throw new Refused(response.status, (body as Schemas["Problem"]).error.message);
  }
  return body as T;
}

/** Has something done. */
export function order<T>(path: string, body?: unknown, method = "POST"): Promise<T> {
  const init: RequestInit = { method };
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { "Content-Type": "application/json" };
  }
  return ask<T>(path, init);
}

export const MACHINE_DAYS = "/api/v1/day/machines?limit=1000";

/** The last day of all machines, which is answered in parts. */
export async function machineDays(): Promise<Schemas["MachineDayList"]> {
  const list = await ask<Schemas["MachineDayList"]>(MACHINE_DAYS);
  while (list.next != null) {
    const more = await ask<Schemas["MachineDayList"]>(`${MACHINE_DAYS}&from=${list.next}`);
    list.machines.push(...more.machines);
    list.next = more.next;
  }
  return list;
}
