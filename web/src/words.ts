// Policies in the words of `gleaner policy set`: a key and a value on each line, as `--set` and files have them.

export type Tree = { [key: string]: Value };
export type Value = string | number | boolean | Value[] | Tree;

/** What cannot be read, and where. */
export class Unreadable extends Error {}

/** Lays what is written over a policy; what begins with `[policy]`, as `gleaner policy show` prints it, is a whole one. */
export function layOver(policy: Tree, text: string): Tree {
  let all = structuredClone(policy);
  let table: string[] = [];
  text.split("\n").forEach((line, index) => {
    const written = line.trim();
    if (written === "" || written.startsWith("#")) {
      return;
    }
    const fail = (found: string): never => {
      throw new Unreadable(`line ${index + 1}: found ${found}; expected key = value, as relocate.gain_min = 0.05`);
    };
    const heading = /^\[([\w.-]+)\]$/.exec(written);
    if (heading) {
      all = heading[1] === "policy" ? {} : all;
      table = heading[1]!.split(".").filter((key, depth) => depth > 0 || key !== "policy");
      return;
    }
    const [, key, value] = /^([\w.-]+)\s*=\s*(.+)$/.exec(written) ?? fail(written);
    const keys = [...table, ...key!.split(".")];
    let place = all;
    for (const each of keys.slice(0, -1)) {
      const inner = place[each] ?? {};
      if (typeof inner !== "object" || Array.isArray(inner)) {
        return fail(`${key}, where ${each} is a value that has no keys`);
      }
      place = place[each] = inner;
    }
    const reader = new Reader(value!);
    place[keys.at(-1)!] = reader.whole() ?? fail(`the value ${value}`);
  });
  return all;
}

/** Of TOML's values what policies are made of. */
class Reader {
  constructor(private rest: string) {}

  /** What is no value of another kind is text, as `--set` has it. */
  whole(): Value | undefined {
    const bare = this.rest.replace(/\s+#.*$/, "").trim();
    const value = this.value();
    const isOver = /^\s*(#.*)?$/.test(this.rest);
    return value !== undefined && isOver ? value : /^["'{[]/.test(bare) ? undefined : bare;
  }

  private take(pattern: RegExp): string | undefined {
    const found = pattern.exec(this.rest);
    this.rest = found ? this.rest.slice(found[0].length) : this.rest;
    return found ? (found[1] ?? found[0]) : undefined;
  }

  private value(): Value | undefined {
    const text = this.take(/^\s*"([^"\\]*)"/) ?? this.take(/^\s*'([^']*)'/);
    if (text !== undefined) {
      return text;
    }
    if (this.take(/^\s*\{\s*/) !== undefined) {
      return this.table();
    }
    if (this.take(/^\s*\[\s*/) !== undefined) {
      return this.list();
    }
    const word = this.take(/^\s*(true|false|[+-]?(?:\d[\d_]*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?=[\s,}\]#]|$)/);
    return word === undefined ? undefined : word === "true" || word === "false" ? word === "true" : Number(word.replaceAll("_", ""));
  }

  private table(): Tree | undefined {
    const all: Tree = {};
    while (this.take(/^\s*\}/) === undefined) {
      const key = this.take(/^\s*([\w-]+)\s*=\s*/);
      const value = key === undefined ? undefined : this.value();
      if (key === undefined || value === undefined || (this.take(/^\s*,\s*/) === undefined && !/^\s*\}/.test(this.rest))) {
        return undefined;
      }
      all[key] = value;
    }
    return all;
  }

  private list(): Value[] | undefined {
    const all: Value[] = [];
    while (this.take(/^\s*\]/) === undefined) {
      const value = this.value();
      if (value === undefined || (this.take(/^\s*,\s*/) === undefined && !/^\s*\]/.test(this.rest))) {
        return undefined;
      }
      all.push(value);
    }
    return all;
  }
}
