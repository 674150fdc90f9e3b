// `npm run bench idle [projects]`: measures the cost of an idle process, and how soon it sends what another process accepted.
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { createApiClient, type ApiClient } from "../e2e/api-client.ts";
import { startProgram } from "../e2e/program.ts";
import { HTML, SUBJECT } from "./content.ts";
import { percentile } from "./latency.ts";
import { waitUntilSent, withMailEnvironment, type MailEnvironment } from "./mail-fixture.ts";
import { SENDER_DOMAIN } from "./outbox.ts";
import { costOf } from "./process-cost.ts";
import { readNumbers } from "./read-numbers.ts";
import { settingsOf } from "./servers.ts";
import { oneDecimal, print, printTable, progress, whole } from "./table.ts";

const PROJECTS = 10_000;
const MAILS = 200;
/** Excludes the startup. */
const SETTLE_MS = 30_000;
const WATCHED_MS = 60_000;
/** Longer than one email takes, so that every email finds an idle process. */
const BETWEEN_MAILS_MS = 150;
const MOST_SHOWN = 12;
const SHOWN_LENGTH = 70;

export async function benchIdle(): Promise<void> {
  const [projects = PROJECTS] = readNumbers([PROJECTS]);
  await withMailEnvironment(async (fixture) => {
    await sql`
      with idle as (
        insert into projects (id, name) select uuidv7(), 'Idle ' || n from generate_series(1, ${projects}) n returning id)
      insert into project_queues (project_id) select id from idle`.execute(fixture.outbox.database);
    await sql`vacuum (analyze) projects, project_queues`.execute(fixture.outbox.database);
    const settings = { ...settingsOf(fixture.bench), MAIL_TRANSPORT: fixture.sink.transport() };
    const worker = await startProgram({ ...settings, ROLES: "worker" });
    try {
      await watchIdle(fixture, worker.pid, projects);
      const api = await startProgram({ ...settings, ROLES: "api", API_RATE_LIMIT_PER_MINUTE: "0" });
      try {
        await measureWay(fixture, createApiClient(api.url));
      } finally {
        await api.stop();
      }
    } finally {
      await worker.stop();
    }
  });
}

/** Measures the CPU of the idle process and collects its statements from the database log. */
async function watchIdle(fixture: MailEnvironment, pid: number, projects: number): Promise<void> {
  progress("waiting for the process to become idle");
  await delay(SETTLE_MS);
  const { database } = fixture.outbox;
  await logStatements(fixture, "all");
  const log = await newestLog(fixture);
  const from = (await stat(log)).size;
  const before = costOf(pid).cpuMs;
  const startedMs = performance.now();
  await delay(WATCHED_MS);
  const seconds = (performance.now() - startedMs) / 1_000;
  const cpuMs = costOf(pid).cpuMs - before;
  const statements = statementsIn((await readFile(log)).subarray(from).toString());
  await logStatements(fixture, "none");
  await sql`select 1`.execute(database);
  printTable(
    ["projects", "watched s", "CPU %", "statements/s"],
    [
      [
        whole(projects),
        whole(seconds),
        oneDecimal(cpuMs / 10 / seconds),
        oneDecimal(statements.length / seconds),
      ],
    ],
  );
  print("\nTargets: at most 1 % of CPU, at most 5 statements a second. Most frequent:\n");
  const counts = [...Map.groupBy(statements, (text) => text)].map(
    ([text, all]) => [text, all.length] as const,
  );
  printTable(
    ["statement", "times"],
    counts
      .toSorted(([, one], [, other]) => other - one)
      .slice(0, MOST_SHOWN)
      .map(([text, count]) => [text, whole(count)]),
  );
}

/** Applies to the whole server immediately. */
async function logStatements(fixture: MailEnvironment, what: "all" | "none"): Promise<void> {
  const { database } = fixture.outbox;
  await sql`alter system set log_statement = ${sql.lit(what)}`.execute(database);
  await sql`select pg_reload_conf()`.execute(database);
}

async function newestLog({ outbox }: MailEnvironment): Promise<string> {
  const { rows } = await sql<{ folder: string }>`
    select current_setting('data_directory') || '/' || current_setting('log_directory') as folder`.execute(
    outbox.database,
  );
  const folder = rows[0]?.folder ?? "";
  const files = (await readdir(folder)).toSorted();
  const dated = await Promise.all(
    files.map(async (name) => ({ name, atMs: (await stat(join(folder, name))).mtimeMs })),
  );
  return join(folder, dated.toSorted((one, other) => other.atMs - one.atMs)[0]?.name ?? "");
}

/** Returns the beginnings of the logged statements, except those about logging. */
function statementsIn(log: string): string[] {
  const found = [...log.matchAll(/LOG: {2}(?:statement|execute [^:]*): ((?:.*\n)(?:\t.*\n)*)/g)];
  return found
    .map(([, text = ""]) => text.replaceAll(/\s+/g, " ").replaceAll("|", "").trim().slice(0, SHOWN_LENGTH))
    .filter((text) => !/alter system|pg_reload_conf|current_setting\('data_directory'\)/.test(text));
}

/** Sends emails one after the other, each accepted by one process and sent by the other. */
async function measureWay({ outbox }: MailEnvironment, api: ApiClient): Promise<void> {
  progress("sending emails one after the other");
  for (let mail = 0; mail < MAILS; mail++) {
    await api.post("/v1/send", {
      to: "person-000000000@example.com",
      from: `shop@${SENDER_DOMAIN}`,
      subject: SUBJECT,
      body: HTML,
    });
    await delay(BETWEEN_MAILS_MS);
  }
  await waitUntilSent(outbox);
  const { rows } = await sql<{ ms: number }>`
    select (extract(epoch from sent_at - created_at) * 1000)::float8 as ms
    from emails where project_id = ${outbox.projectId}`.execute(outbox.database);
  const waits = rows.map(({ ms }) => ms);
  print("");
  printTable(
    ["emails", "accepted by one, sent by another: p50 ms", "p99 ms", "longest ms"],
    [[whole(waits.length), ...[0.5, 0.99, 1].map((share) => whole(percentile(waits, share)))]],
  );
  print("\nTarget: p50 at most 20 ms.\n");
}
