// `npm run bench import`: imports a 5 MB CSV file from upload to *completed*, and compares with COPY of the same rows and one upsert per
// row.
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Pool } from "pg";
import { createPool } from "../server/src/platform/database/database.ts";
import { newId } from "../server/src/platform/ids.ts";
import { createLog } from "../server/src/platform/log.ts";
import { BOOTSTRAP, SECRET_KEY, startProgram, type Program } from "../e2e/program.ts";
import { costOf } from "./process-cost.ts";
import { APP_SECRET, startDatabase, type BenchDatabase } from "./servers.ts";
import { oneDecimal, print, printTable, whole } from "./table.ts";
import { databaseUrlOf } from "../server/src/testing/database-url.ts";

const FILE_BYTES = 5 * 1024 * 1024;
const NAIVE_ROWS = 2_000;
const POLL_MS = 100;
const GIVE_UP_MS = 120_000;
const MEGABYTE = 1024 * 1024;
const HEADER = "email,name,age,plan,city\n";

interface Person {
  email: string;
  data: { name: string; age: number; plan: string; city: string };
}

interface Result {
  name: string;
  rows: number;
  tookMs: number;
  cpuMs: number | null;
  /** Memory of the process before the import, and its peak during the import. */
  memory: { beforeBytes: number; peakBytes: number } | null;
}

/** Returns as many contacts as fit into the largest file. */
function makePeople(): Person[] {
  const people: Person[] = [];
  for (let bytes = HEADER.length; ;) {
    const number = people.length;
    const email = `reader-${String(number).padStart(6, "0")}@example.org`;
    const data = { name: `Reader ${number}`, age: 18 + (number % 70), plan: "pro", city: "Berlin" };
    const person = { email, data };
    bytes += lineOf(person).length;
    if (bytes > FILE_BYTES) return people;
    people.push(person);
  }
}

function lineOf({ email, data }: Person): string {
  return `${email},${data.name},${data.age},${data.plan},${data.city}\n`;
}

export async function benchImport(): Promise<void> {
  const closing: Array<() => Promise<void>> = [];
  try {
    const bench = await startDatabase();
    closing.push(() => bench.stop());
    const pool = createPool({
      connection: bench.connection,
      maxConnections: 2,
      log: createLog({ level: "warn" }),
    });
    closing.push(() => pool.end());
    const people = makePeople();
    const program = await startOne(bench);
    closing.push(async () => void (await program.stop()));
    const csv = HEADER + people.map(lineOf).join("");
    const changed = csv.replaceAll(",pro,", ",new,");
    const results = [
      await byCopy(pool, people),
      await oneByOne(pool, people.slice(0, NAIVE_ROWS)),
      await ours(program, "ours, new contacts", csv),
      await ours(program, "ours, the same file again", csv),
      await ours(program, "ours, every contact changes", changed),
      await ours(program, "ours, changes back", csv),
      await ours(program, "ours, changes again", changed),
      await ours(program, "ours, changes back again", csv),
      await ours(program, "ours, dry run", csv, "?dryRun=true"),
    ];
    printResults(results, csv.length);
  } finally {
    for (const close of closing.toReversed()) await close();
  }
}

async function startOne(bench: BenchDatabase): Promise<Program> {
  return startProgram({
    ...BOOTSTRAP,
    DATABASE_URL: databaseUrlOf(bench.connection),
    APP_SECRET,
  });
}

function printResults(results: readonly Result[], fileBytes: number): void {
  const speed = ({ rows, tookMs }: Result) => (rows * 1000) / tookMs;
  const floor = results[0] === undefined ? Number.NaN : speed(results[0]);
  const megabytes = (bytes: number | undefined) => (bytes === undefined ? "–" : whole(bytes / MEGABYTE));
  printTable(
    ["way", "rows", "seconds", "rows/s", "% of COPY", "CPU s", "MB before", "peak MB"],
    results.map((result) => [
      result.name,
      whole(result.rows),
      (result.tookMs / 1000).toFixed(2),
      whole(speed(result)),
      whole((100 * speed(result)) / floor),
      result.cpuMs === null ? "–" : oneDecimal(result.cpuMs / 1000),
      megabytes(result.memory?.beforeBytes),
      megabytes(result.memory?.peakBytes),
    ]),
  );
  print(
    `\nA file of ${oneDecimal(fileBytes / MEGABYTE)} MB. Target: new contacts in at most 6 s, memory flat.`,
  );
}

/** Lower bound: PostgreSQL reads the final rows from a file in one transaction. */
async function byCopy(pool: Pool, people: readonly Person[]): Promise<Result> {
  const projectId = await addProject(pool);
  const folder = await mkdtemp(join(tmpdir(), "postloft-copy-"));
  try {
    // The database may run under another account.
    await chmod(folder, 0o755);
    const path = join(folder, "contacts.tsv");
    const lines = people.map(
      ({ email, data }) => `${projectId}\t${newId()}\t${email}\ttrue\t${JSON.stringify(data)}\n`,
    );
    await writeFile(path, lines.join(""), { mode: 0o644 });
    const startedMs = performance.now();
    await pool.query(`copy contacts (project_id, id, email, subscribed, data) from '${path}'`);
    const tookMs = performance.now() - startedMs;
    return {
      name: "COPY, without the consent log",
      rows: people.length,
      tookMs,
      cpuMs: null,
      memory: null,
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The usual way: one committed upsert per row. */
async function oneByOne(pool: Pool, people: readonly Person[]): Promise<Result> {
  const projectId = await addProject(pool);
  const startedMs = performance.now();
  for (const { email, data } of people)
    await pool.query({
      name: "upsert",
      text: `insert into contacts as c (project_id, id, email, subscribed, data) values ($1, $2, $3, true, $4)
        on conflict (project_id, email) do update set data = c.data || excluded.data, updated_at = now()`,
      values: [projectId, newId(), email, JSON.stringify(data)],
    });
  const tookMs = performance.now() - startedMs;
  return {
    name: "one upsert per row",
    rows: people.length,
    tookMs,
    cpuMs: null,
    memory: null,
  };
}

async function addProject(pool: Pool): Promise<string> {
  const id = newId();
  await pool.query(
    "with p as (insert into projects (id, name) values ($1, 'Bench') returning id) insert into project_queues (project_id) select id from p",
    [id],
  );
  return id;
}

async function ours(program: Program, name: string, csv: string, query = ""): Promise<Result> {
  const before = costOf(program.pid);
  const startedMs = performance.now();
  const form = new FormData();
  form.set("file", new File([csv], "contacts.csv", { type: "text/csv" }));
  const uploaded = await request<{ jobId: string }>(program, "POST", `/contacts/import${query}`, form);
  let peakBytes = before.residentBytes;
  for (;;) {
    const job = await request<ImportResponse>(program, "GET", `/contacts/import/${uploaded.jobId}`);
    peakBytes = Math.max(peakBytes, costOf(program.pid).residentBytes);
    if (job.state === "completed") {
      if (job.result.failureCount > 0)
        throw new Error(`rows failed: ${JSON.stringify(job.result.errors[0])}`);
      const tookMs = performance.now() - startedMs;
      const cpuMs = costOf(program.pid).cpuMs - before.cpuMs;
      const memory = { beforeBytes: before.residentBytes, peakBytes };
      return { name, rows: job.result.totalRows, tookMs, cpuMs, memory };
    }
    if (job.state === "failed" || performance.now() - startedMs > GIVE_UP_MS)
      throw new Error(`the import is ${job.state}: ${JSON.stringify(job)}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

interface ImportResponse {
  state: string;
  result: { totalRows: number; failureCount: number; errors: unknown[] };
}

async function request<Body>(program: Program, method: string, path: string, body?: FormData): Promise<Body> {
  const response = await fetch(new URL(path, program.url), {
    method,
    headers: { authorization: `Bearer ${SECRET_KEY}` },
    ...(body === undefined ? {} : { body }),
  });
  if (!response.ok)
    throw new Error(`${method} ${path} returned ${response.status}: ${await response.text()}`);
  return (await response.json()) as Body;
}
