// Machines by state, with what their owners and the grid used of them over the day.
import { MACHINE_DAYS, machineDays, order, type Machine, type Schemas } from "../api.ts";
import { useLive } from "../live.ts";
import { Act, Badge, Facts, Loading, Section } from "../parts/basics.tsx";
import { Lines } from "../parts/lines.tsx";
import { Rows, type Column } from "../parts/rows.tsx";
import { keepSoon, toMachine, useChoice } from "../route.ts";
import { now_s } from "../saved.ts";
import { bytes, clock, grouped, plain, plural, span } from "../text.ts";
import type { Frame } from "../app.tsx";
import { RunChart } from "./stream.tsx";

type Day = Schemas["MachineDay"];

const isAboutMachine = (event: { machine?: string | null }) => event.machine != null;

function useDays() {
  return useLive<Schemas["MachineDayList"]>(MACHINE_DAYS, { load: machineDays, concerns: () => false, every_ms: 60_000 });
}

export function Machines({ frame }: { frame: Frame }) {
  const machines = useLive<Schemas["MachineList"]>("/api/v1/machines", { concerns: isAboutMachine, every_ms: 10_000 });
  const days = useDays();
  const [state, setState] = useChoice("state", "");
  const [part, setPart] = useChoice("name", "", keepSoon);
  const all = machines.data?.machines ?? [];
  const counts = new Map<string, number>();
  all.forEach((machine) => counts.set(machine.state, (counts.get(machine.state) ?? 0) + 1));
  const byName = new Map(days.data?.machines.map((day) => [day.machine, day]));
  const shown = all.filter((machine) => (!state || machine.state === state) && machine.machine.includes(part));
  const columns: Column<Machine>[] = [
    { name: "Machine", width: "minmax(6rem, 1fr)", cell: (machine) => <a href={toMachine(machine.machine)}>{plain(machine.machine)}</a> },
    { name: "State", width: "6rem", cell: (machine) => <Badge state={machine.state} /> },
    { name: "Tasks", width: "4rem", isNumber: true, cell: (machine) => `${machine.tasks} / ${machine.profile.slots}` },
    { name: "Owner", width: "4rem", isNumber: true, isMinor: true, cell: (machine) => `${Math.round(100 * machine.owner_load)} %` },
    { name: "Last day", width: "minmax(5rem, 2fr)", cell: (machine) => <Strip day={byName.get(machine.machine)} /> },
    { name: "Why", width: "minmax(6rem, 1.5fr)", isMinor: true, cell: (machine) => <span class="muted" title={plain(machine.why ?? "")}>{plain(machine.why ?? "")}</span> },
  ];
  return (
    <>
      <h1>Machines</h1>
      <Section
        title={shown.length === all.length ? plural(all.length, "machine") : `${grouped(shown.length)} of ${plural(all.length, "machine")}`}
        aside={
          <span class="filters">
            <label>
              <span class="hidden">State</span>
              <select value={state} onChange={(event) => setState(event.currentTarget.value)}>
                <option value="">all states</option>
                {[...counts].map(([name, count]) => (
                  <option key={name} value={name}>
                    {name} ({count})
                  </option>
                ))}
              </select>
            </label>{" "}
            <label>
              <span class="hidden">Name</span>
              <input type="search" placeholder="name" value={part} onInput={(event) => setPart(event.currentTarget.value)} />
            </label>
          </span>
        }
      >
        <Loading live={machines} />
        <ul class="key">
          <li>
            <span class="dot fill-owner" /> above the line: what its owner used
          </li>
          <li>
            <span class="dot fill-running" /> below: what the grid used
          </li>
        </ul>
        {machines.data && <Rows label="Machines" columns={columns} rows={shown} keyOf={(machine) => machine.machine} empty="None. `gleaner token join` shows how one joins." />}
        {frame.isAdmin && <p class="muted">Pause and drain are on each machine’s page.</p>}
      </Section>
    </>
  );
}

/** Owner's use above the line, the grid's below, in a line of a table. */
function Strip({ day }: { day: Day | undefined }) {
  if (!day) {
    return null;
  }
  // The present is at the right, whenever a machine joined.
  const wide = Math.max(144, day.owner.length);
  const first = wide - day.owner.length;
  const bars = (shares: (number | null)[], isAbove: boolean) =>
    shares
      .map((share, index) => {
        const high = ((share ?? 0) / 100) * 14;
        return high > 0 ? `M${first + index} ${isAbove ? 14 - high : 14}h1v${high.toFixed(1)}h-1z` : "";
      })
      .join("");
  const mean = (shares: (number | null)[]) => {
    const known = shares.filter((share) => share !== null);
    return known.length > 0 ? Math.round(known.reduce((sum, share) => sum + share, 0) / known.length) : 0;
  };
  return (
    <svg class="strip" viewBox={`0 0 ${wide} 28`} preserveAspectRatio="none" role="img" aria-label={`owner ${mean(day.owner)} %, grid ${mean(day.grid)} % on average`}>
      <path class="fill-owner" d={bars(day.owner, true)} />
      <path class="fill-running" d={bars(day.grid, false)} />
      <path class="mark" d={`M0 14h${wide}`} />
    </svg>
  );
}

export function MachinePage({ name, frame }: { name: string; frame: Frame }) {
  const machines = useLive<Schemas["MachineList"]>("/api/v1/machines", { concerns: (event) => event.machine === name, every_ms: 10_000 });
  const days = useDays();
  const machine = machines.data?.machines.find((machine) => machine.machine === name);
  if (!machines.data || !machine) {
    return machines.data ? <p class="trouble">There is no machine “{plain(name)}”.</p> : <Loading live={machines} />;
  }
  const day = days.data?.machines.find((day) => day.machine === name);
  const path = `/api/v1/machines/${encodeURIComponent(name)}`;
  const act = (what: string, news: string) => async () => {
    await order(`${path}/${what}`);
    machines.again();
    return `${name}: ${news}`;
  };
  const { profile, sample } = machine;
  return (
    <>
      <nav class="crumbs" aria-label="Where this is">
        <a href="#/machines">Machines</a> › {plain(name)}
      </nav>
      <div class="title">
        <h1>
          {plain(name)} <Badge state={machine.state} />
        </h1>
        {frame.isAdmin && machine.state !== "revoked" && (
          <span class="acts">
            <Act
              label="Pause"
              confirm={
                machine.tasks > 0
                  ? `${plural(machine.tasks, "task")} of ${plain(name)} stand still, or go elsewhere: a task without a checkpoint begins anew there.`
                  : undefined
              }
              act={act("pause", "what runs there stands still or goes elsewhere")}
              tell={frame.tell}
            />
            <Act label="Drain" act={act("drain", "no new tasks start there")} tell={frame.tell} />
            <Act label="Resume" act={act("resume", "it takes tasks")} tell={frame.tell} />
          </span>
        )}
      </div>
      <Section title="How it stands">
        {machine.why && <p class="why">{plain(machine.why)}</p>}
        {machine.refused && <p class="why">{plain(machine.refused)}</p>}
        <Facts
          facts={[
            ["Tasks", `${machine.tasks} of ${profile.slots}`],
            ["Owner uses", `${Math.round(100 * machine.owner_load)} %`],
            ["Heard of", machine.heard_s == null ? "–" : `${span(now_s() - machine.heard_s)} ago`],
            ["Cores", profile.cores],
            ["Memory", bytes(profile.memory)],
            ["Disk for tasks", profile.disk == null ? "–" : bytes(profile.disk)],
            ["Free now", sample ? `${sample.free_memory == null ? "–" : bytes(sample.free_memory)} memory, ${sample.free_disk == null ? "–" : bytes(sample.free_disk)} disk` : "–"],
            ["Sandbox", plain(String(Object.values(profile.sandbox)[0] ?? "")) || "–"],
            ["Tags", plain((profile.tags ?? []).join(", ")) || "–"],
          ]}
        />
      </Section>
      <Section title="Owner’s use and the grid’s" aside={day && <span class="muted">since {clock(day.from_s)}</span>}>
        <Loading live={days} />
        {day && (
          <Lines
            label={`What of ${plain(name)} was used`}
            at_s={day.owner.map((_, index) => day.from_s + index * days.data!.step_s)}
            show={(value) => `${Math.round(value)} %`}
            curves={[
              { name: "owner", class: "fill-owner", values: day.owner },
              { name: "grid", class: "fill-running", values: day.grid },
            ]}
          />
        )}
        {day && <p class="muted">{plural(day.moved_away.reduce((sum, moves) => sum + moves, 0), "task")} moved away in this time.</p>}
      </Section>
      <RunChart machine={name} />
    </>
  );
}
