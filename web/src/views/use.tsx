// Who used what, what is left of budgets, and what jobs asked for beside what they used.
import type { Schemas } from "../api.ts";
import { useLive } from "../live.ts";
import { Loading, Section } from "../parts/basics.tsx";
import { Rows, type Column } from "../parts/rows.tsx";
import { toJob } from "../route.ts";
import { bytes, clock, grouped, plain, span } from "../text.ts";

/** Jobs of which it is said at once what could be better. */
const HINTS = 8;

type JobUse = Schemas["JobUse"];

export function Use() {
  const use = useLive<Schemas["UseList"]>("/api/v1/day/use", { concerns: () => false, every_ms: 10_000 });
  const budget = useLive<Schemas["BudgetView"]>("/api/v1/budget", { concerns: () => false, every_ms: 10_000 });
  const quotas = useLive<Schemas["QuotaList"]>("/api/v1/quotas", { concerns: () => false });
  const most = Math.max(1e-9, ...(use.data?.users.map((user) => user.machine_s) ?? []));
  const left = new Map(budget.data?.accounts.map((account) => [account.user ?? "", account]));
  const open = new Map(quotas.data?.users.map((quota) => [quota.user, quota.tasks]));
  const shared = left.get("");
  return (
    <>
      <h1>Use</h1>
      <Section title="By user" aside={use.data && <span class="muted">since {clock(use.data.began_s)}</span>}>
        <Loading live={use} />
        {use.data && (
          <div class="scroll" tabIndex={0} role="region" aria-label="Use by user">
            <table>
              <thead>
                <tr>
                  <th scope="col">User</th>
                  <th scope="col">Time on machines</th>
                  <th scope="col" class="number minor">Processor</th>
                  <th scope="col" class="number">Runs</th>
                  <th scope="col" class="number">Failed</th>
                  <th scope="col" class="number">Open tasks</th>
                  {left.size > 0 && <th scope="col" class="number">Budget left</th>}
                </tr>
              </thead>
              <tbody>
                {use.data.users.map((user) => (
                  <tr key={user.user}>
                    <th scope="row">{plain(user.user)}</th>
                    <td>
                      <span class="meter">
                        <span style={{ width: `${(100 * user.machine_s) / most}%` }} />
                      </span>{" "}
                      {span(user.machine_s)}
                    </td>
                    <td class="number minor">{span(user.cpu_s)}</td>
                    <td class="number">{grouped(user.runs)}</td>
                    <td class="number">{grouped(user.failed)}</td>
                    <td class="number">{grouped(open.get(user.user) ?? 0)}</td>
                    {left.size > 0 && <td class="number">{grouped((left.get(user.user) ?? shared)?.left ?? 0)}</td>}
                  </tr>
                ))}
              </tbody>
            </table>
            {use.data.users.length === 0 && <p class="muted">No run ended yet.</p>}
          </div>
        )}
        {budget.data && !budget.data.heeded && <p class="muted">Running costs nothing: the policy in force goes by no budget.</p>}
        {shared && (
          <p class="muted">
            Everybody’s budget: {grouped(shared.left)} credits left of this period, {grouped(shared.spent)} spent, {grouped(shared.held)} held.
          </p>
        )}
        {budget.data?.next_recharge_s != null && <p class="muted">The next period begins at {clock(budget.data.next_recharge_s, true)}.</p>}
      </Section>
      <Section title="Asked for and used">
        <ul class="hints">
          {use.data?.jobs
            .filter((job) => job.hints.length > 0)
            .slice(0, HINTS)
            .map((job) => (
              <li key={job.job}>
                <a href={toJob(job.job)}>Job {job.job}</a> {plain(job.name)}: {plain(job.hints.join("; "))}.
              </li>
            ))}
        </ul>
        {use.data && <JobRows jobs={use.data.jobs} />}
      </Section>
    </>
  );
}

function JobRows({ jobs }: { jobs: JobUse[] }) {
  const columns: Column<JobUse>[] = [
    { name: "Job", width: "2.6rem", isNumber: true, cell: (job) => <a href={toJob(job.job)}>{job.job}</a> },
    { name: "Name", width: "minmax(5rem, 1fr)", isMinor: true, cell: (job) => plain(job.name) },
    { name: "Cores", width: "minmax(4rem, 1fr)", cell: (job) => <Share used={job.cores_used} asked={job.cores_asked} show={(value) => value.toFixed(value < 10 ? 1 : 0)} /> },
    { name: "Memory", width: "minmax(8.2rem, 1.2fr)", cell: (job) => <Share used={job.memory_used} asked={job.memory_asked} show={bytes} /> },
    { name: "Time", width: "minmax(3.5rem, 1.2fr)", cell: (job) => <Share used={job.time_max_s} asked={job.time_asked_s} show={span} /> },
    { name: "How long runs took", width: "9rem", isMinor: true, cell: (job) => <Times job={job} /> },
  ];
  return <Rows label="Asked for and used" columns={columns} rows={jobs} keyOf={(job) => job.job} height={44} shown={12} empty="No run ended yet." />;
}

/** What was used of what was asked for; the bar is full where it was all. */
function Share({ used, asked, show }: { used: number; asked: number; show: (value: number) => string }) {
  return (
    <span class="share" title={asked > 0 ? `${show(used)} of ${show(asked)}` : `${show(used)}, nothing was asked for`}>
      {asked > 0 && <span class="meter">
        <span class={used > asked ? "over" : ""} style={{ width: `${asked > 0 ? Math.min(100, (100 * used) / asked) : 0}%` }} />
      </span>}
      <small>{asked > 0 ? `${show(used)} of ${show(asked)}` : show(used)}</small>
    </span>
  );
}

function Times({ job }: { job: JobUse }) {
  const most = Math.max(1, ...job.times);
  const label = `${grouped(job.runs)} runs, ${span(job.time_mean_s)} on average, ${span(job.time_max_s)} at most`;
  return (
    <svg class="times" viewBox={`0 0 ${job.times.length * 4} 24`} preserveAspectRatio="none" role="img" aria-label={label}>
      <title>{label}</title>
      {job.times.map((count, index) => (
        <rect key={index} class="fill-running" x={index * 4} width={3} y={24 - (24 * count) / most} height={(24 * count) / most} />
      ))}
    </svg>
  );
}
