// The last day under another policy: both schedules side by side.
import { useState } from "preact/hooks";
import { ask, order, problemOf, token, type Schemas } from "../api.ts";
import { useLive } from "../live.ts";
import { Loading, Section, Trouble } from "../parts/basics.tsx";
import { Gantt } from "../parts/gantt.tsx";
import { keepSoon, toTask, useChoice } from "../route.ts";
import { clock, grouped, moment, plain, plural, sentence, span } from "../text.ts";
import { layOver, type Tree } from "../words.ts";

type Schedule = Schemas["ScheduleView"];

/** What stands for no preset. */
const IN_FORCE = "in force";

/** The last answer, for whoever comes back to what they asked. */
let last: { question: string; answer: Schemas["WhatIfView"] } | undefined;

export function WhatIf() {
  const presets = useLive<Schemas["PresetList"]>("/api/v1/policy/presets", { concerns: () => false });
  const [chosen, setChosen] = useChoice("policy", "");
  const [words, setWords] = useChoice("keys", "", keepSoon);
  const question = JSON.stringify([token.find(), chosen, words]);
  const [answer, setAnswer] = useState(last?.question === question ? last.answer : undefined);
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const all = presets.data?.presets ?? [];
  const preset = chosen || (all[0]?.name ?? "");
  const run = async () => {
    setBusy(true);
    setError(undefined);
    setAnswer(undefined);
    try {
      const base = preset === IN_FORCE ? (await ask<Schemas["PolicyView"]>("/api/v1/policy")).policy as Tree : { preset };
      last = { question, answer: await order<Schemas["WhatIfView"]>("/api/v1/what-if", layOver(base, words)) };
      setAnswer(last.answer);
    } catch (failure) {
      setError(problemOf(failure));
    }
    setBusy(false);
  };
  return (
    <>
      <h1>What if</h1>
      <Section title="The last day under another policy">
        <Loading live={presets} />
        <form
          class="filters"
          onSubmit={(event) => {
            event.preventDefault();
            void run();
          }}
        >
          <label>
            Policy{" "}
            <select value={preset} onChange={(event) => setChosen(event.currentTarget.value)}>
              <option value={IN_FORCE}>the policy in force</option>
              {all.map((each) => (
                <option key={each.name} value={each.name}>
                  {each.name}
                </option>
              ))}
            </select>
          </label>
          <label class="wide">
            With these keys, one a line, as <code>gleaner policy set --set</code> takes them
            <textarea
              rows={4}
              spellcheck={false}
              placeholder={"relocate = { score = \"social\", gain_min = 0.05 }\nchoose = best-by-lot"}
              value={words}
              onInput={(event) => setWords(event.currentTarget.value)}
            />
          </label>
          <button class="strong" disabled={isBusy || preset === ""}>
            {isBusy ? "Running…" : "Run it again"}
          </button>
        </form>
        <p class="muted">
          {sentence(plain(all.find((each) => each.name === preset)?.summary ?? "as it is now"))}. <code>gleaner policy keys</code> lists the keys.
        </p>
        <Trouble error={error} />
      </Section>
      {answer && <Compared answer={answer} />}
    </>
  );
}

function Compared({ answer }: { answer: Schemas["WhatIfView"] }) {
  const rows: [string, (schedule: Schedule) => string][] = [
    ["Makespan", (schedule) => span(schedule.makespan_s)],
    ["Mean wait", (schedule) => span(schedule.wait_mean_s)],
    ["Longest wait", (schedule) => span(schedule.wait_max_s)],
    ["Moves", (schedule) => grouped(schedule.moves)],
    ["Machine time", (schedule) => span(schedule.machine_s)],
    ["Unfinished", (schedule) => grouped(schedule.unfinished)],
  ];
  const runs = answer.schedules.flatMap((schedule) => schedule.runs);
  const from = runs.reduce((least, run) => Math.min(least, run.from_s), Infinity);
  const to = runs.reduce((most, run) => Math.max(most, run.to_s), from + 1e-3);
  // Machines on which nothing ran under any of the policies are left out.
  const used = answer.machines.map((_, index) => index).filter((index) => runs.some((run) => run.machine === index));
  const row = new Map(used.map((index, place) => [index, place]));
  const names = used.map((index) => plain(answer.machines[index] ?? ""));
  return (
    <>
      <Section title="In numbers" aside={<span class="muted">since {clock(answer.since_s)}; {plural(answer.left_out, "task")} left out</span>}>
        <div class="scroll" tabIndex={0} role="region" aria-label="In numbers">
          <table>
            <thead>
              <tr>
                <td />
                {answer.schedules.map((schedule) => (
                  <th key={schedule.name} scope="col" class="number">
                    {plain(schedule.name).split(":")[0]}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(([name, show]) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  {answer.schedules.map((schedule) => (
                    <td key={schedule.name} class="number">
                      {show(schedule)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        <p class="muted">
          Compare “as asked” with “simulated”, which is the policy that was: how far that lies from “as it was” says how
          good the model is.
        </p>
      </Section>
      <div class="two schedules">
        {answer.schedules.slice(1).map((schedule) => (
          <Section key={schedule.name} title={plain(schedule.name)}>
            <Gantt
              label={plain(schedule.name)}
              rows={names}
              from={from}
              to={to}
              show={moment}
              bars={schedule.runs.map((run) => ({
                key: `${run.job}/${run.task} on ${run.machine} at ${run.from_s}`,
                row: row.get(run.machine) ?? 0,
                from: run.from_s,
                to: run.to_s,
                colour: `hue-${run.job % 8}`,
                facts: `${run.job}/${run.task} on ${plain(answer.machines[run.machine] ?? "")}: ${clock(run.from_s, true)}, ${span(run.to_s - run.from_s)}`,
                link: toTask(run.job, run.task),
              }))}
            />
          </Section>
        ))}
      </div>
    </>
  );
}
