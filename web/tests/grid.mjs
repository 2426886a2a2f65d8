// A grid of real processes: `gleaner up`, with its agent, in a folder of its own.
import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const PROGRAM = process.env.GLEANER ?? fileURLToPath(new URL("../../target/debug/gleaner", import.meta.url));
// Whatever else this machine does, its owner minds nothing.
const RULES = `sessions = "ignore"
programs = "ignore"
not_on_battery = false
suspend_on_return = false
run_below_load = 1.0
busy_cores = 64.0
idle_seconds = 1
`;

/** A port that was free a moment ago. */
function freePort() {
  return new Promise((found) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => found(port));
    });
  });
}

/** A coordinator and its agent, and the command line as its first user. */
export async function grid() {
  const folder = mkdtempSync(join(tmpdir(), "gleaner-grid-"));
  mkdirSync(join(folder, "agent"), { mode: 0o700 });
  writeFileSync(join(folder, "agent", "rules.toml"), RULES);
  writeFileSync(join(folder, "config.toml"), 'user = "ada"\nheartbeat_s = 1\n');
  const env = { ...process.env, GLEANER_HOME: folder };
  const port = await freePort();
  let child;
  const start = async () => {
    const words = ["up", "--home", folder, "--json", "--slots", "2", "--listen", `127.0.0.1:${port}`];
    child = spawn(PROGRAM, words, { env, stdio: ["ignore", "pipe", "inherit"] });
    await new Promise((found, failed) => {
      createInterface({ input: child.stdout }).once("line", found);
      child.once("error", failed);
      child.once("exit", (code) => failed(new Error(`gleaner up ended with ${code}`)));
    });
  };
  /** As by Ctrl-C: all of it ends in order. */
  const end = async () => {
    const ended = new Promise((done) => child.once("exit", done));
    child.kill("SIGTERM");
    await ended;
  };
  const cli = async (...words) => (await promisify(execFile)(PROGRAM, words, { env, maxBuffer: 64 << 20 })).stdout;
  await start();
  return {
    address: `https://127.0.0.1:${port}`,
    tokens: { ada: readFileSync(join(folder, "token"), "utf8").trim() },
    cli,
    json: async (...words) => JSON.parse(await cli(words[0], "--json", ...words.slice(1))),
    start,
    end,
    stop: async () => {
      await end();
      rmSync(folder, { recursive: true });
    },
  };
}
