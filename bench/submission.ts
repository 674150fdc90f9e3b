// `npm run bench submission`: messages accepted over SMTP a second, next to a server with one transaction for each message.
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { BOOTSTRAP, SECRET_KEY, startProgram } from "../e2e/program.ts";
import { createPool } from "../server/src/platform/database/database.ts";
import { createLog } from "../server/src/platform/log.ts";
import { NAIVE, NO_DATABASE } from "./compare.ts";
import { settingsOf, startDatabase, startProcess, type BenchDatabase, type BenchServer } from "./servers.ts";
import type { SubmissionLoad, SubmissionResult } from "./submission-load.ts";
import { oneDecimal, print, printTable, whole } from "./table.ts";

const CONNECTIONS = 64;
const ROUNDS = 3;
const OURS = "ours, sent by another process";
/** A new process runs code that is not compiled yet. */
const WARM_UP_MS = 4_000;
const MEASURE_MS = 3_000;
const NUMBERS_PER_RUN = 1_000_000;
const LOAD = fileURLToPath(new URL("submission-load.ts", import.meta.url));
const RIVAL = fileURLToPath(new URL("naive-submission.ts", import.meta.url));
const PORT = /over SMTP on port (\d+)/;

async function startOurs(database: BenchDatabase): Promise<BenchServer> {
  const settings = { ...BOOTSTRAP, ...settingsOf(database), ROLES: "api", SUBMISSION_PORT: "0" };
  const program = await startProgram(settings);
  return {
    port: Number(PORT.exec(program.output())?.[1]),
    async stop() {
      await program.stop();
    },
  };
}

async function findProject({ connection }: BenchDatabase): Promise<string> {
  const pool = createPool({ connection, maxConnections: 1, log: createLog({ level: "warn" }) });
  const { rows } = await pool.query<{ id: string }>("select project_id as id from api_keys limit 1");
  await pool.end();
  return rows[0]?.id ?? "";
}

async function measure(load: SubmissionLoad): Promise<SubmissionResult> {
  const child = fork(LOAD, { serialization: "advanced" });
  try {
    return await new Promise<SubmissionResult>((resolve, reject) => {
      child.once("message", (reply) => resolve(reply as SubmissionResult));
      child.once("exit", (code) => reject(new Error(`the load ended with code ${code}`)));
      child.send(load);
    });
  } finally {
    child.kill();
  }
}

export async function benchSubmission(): Promise<void> {
  const closing: Array<() => Promise<void>> = [];
  try {
    const results = new Map<string, SubmissionResult[]>();
    for (const [name, start] of [
      [NO_DATABASE, () => startProcess(RIVAL, { connection: null })],
      [NAIVE, ({ connection }: BenchDatabase) => startProcess(RIVAL, { connection })],
      [OURS, startOurs],
    ] as const) {
      const database = await startDatabase();
      closing.push(() => database.stop());
      const user = await findProject(database);
      const server = await start(database);
      closing.push(() => server.stop());
      const times = { warmUpMs: WARM_UP_MS, measureMs: MEASURE_MS };
      const list: SubmissionResult[] = [];
      for (let round = 0; round < ROUNDS; round++)
        list.push(
          await measure({
            port: server.port,
            user,
            key: SECRET_KEY,
            connections: CONNECTIONS,
            ...times,
            firstNumber: round * NUMBERS_PER_RUN,
          }),
        );
      results.set(name, list);
      for (const close of closing.splice(0).toReversed()) await close();
    }
    const rows = [...results].map(([name, list]) => {
      const middle = list.toSorted((one, other) => one.perSecond - other.perSecond)[Math.floor(ROUNDS / 2)];
      const { perSecond = 0, p50Ms = 0, p99Ms = 0 } = middle ?? {};
      return [name, whole(perSecond), oneDecimal(p50Ms), oneDecimal(p99Ms)];
    });
    printTable(["server", "messages/s", "p50 ms", "p99 ms"], rows);
    print(`\n${CONNECTIONS} connections, 20 KB, four round trips for each message.`);
  } finally {
    for (const close of closing.toReversed()) await close();
  }
}
