// What texts become before they are shown.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import typescript from "typescript";

const read = (path) => readFileSync(new URL(path, import.meta.url), "utf8");
const { outputText } = typescript.transpileModule(read("../src/text.ts"), { compilerOptions: { module: "ES2022", target: "ES2022" } });
const { output, plain } = await import(`data:text/javascript,${encodeURIComponent(outputText)}`);

test("what is hidden is the same as for all of Gleaner", () => {
  const [, listed] = /fn is_hidden[^]*?matches!\(character,([^]*?)\)\n/.exec(read("../../crates/gleaner-wire/src/text.rs"));
  const ranges = [...listed.matchAll(/'\\u\{(\w+)\}'(?:\.\.='\\u\{(\w+)\}')?/g)].map(([, from, to]) => [from, to ?? from].map((code) => parseInt(code, 16)));
  assert.ok(ranges.length > 10);
  // The control characters, which have a name there.
  ranges.push([0, 0x1f], [0x7f, 0x9f]);
  for (let code = 0; code <= 0x10ffff; code += 1) {
    const character = String.fromCodePoint(code);
    const isHidden = ranges.some(([from, to]) => from <= code && code <= to);
    const expected = "\t\n\r".includes(character) ? " " : isHidden ? "\ufffd" : character;
    assert.equal(plain(character), expected, `U+${code.toString(16)}`);
  }
});

test("a sign that a program wants in colour is a sign", () => {
  assert.equal(output("\u26a0\ufe0f a warning\u202e"), "\u26a0 a warning\ufffd");
});
