// `npm run bench live`: what it costs to follow the activity of projects (`GET /activity/stream`): CPU and memory of the process, CPU of
// its database, by how many connections ask and over how many projects, while something happens in each project all the time.
import { readFileSync } from "node:fs";
import { Agent, get, type ClientRequest } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import type { Database } from "../server/src/platform/database/database.ts";
import { listDescendants } from "../e2e/process-tree.ts";
import { startProgram, type Program } from "../e2e/program.ts";
import { addContacts, addProject, openOutbox, type ProjectAccess } from "./outbox.ts";
import { costOf } from "./process-cost.ts";
import { settingsOf, startDatabase } from "./servers.ts";
import { oneDecimal, printTable, progress, whole } from "./table.ts";

const PROJECTS = 20;
/** Connections that ask, and over how many projects. */
const ROUNDS: ReadonlyArray<readonly [connections: number, projects: number]> = [
  [0, 1],
  [1, 1],
  [200, 1],
  [200, 20],
  [1_000, 20],
];
const SETTLE_MS = 3_000;
const WATCHED_MS = 15_000;
/** In each project. */
const EVENTS_A_SECOND = 10;
const MEGABYTE = 1024 * 1024;

interface Followers {
  accepted: number;
  refused: number;
  /** Activities that reached somebody. */
  told: number;
  stop(): void;
}

export async function benchLive(): Promise<void> {
  const bench = await startDatabase();
  try {
    const outbox = await openOutbox(bench);
    const projects: ProjectAccess[] = [];
    for (let at = 0; at < PROJECTS; at++) projects.push(await addProject(outbox, `Followed ${at}`));
    for (const { id } of projects) await addContacts(outbox, id, EVENTS_A_SECOND);
    const rows: string[][] = [];
    for (const round of ROUNDS) rows.push(await watch(bench, outbox.database, projects, round));
    await outbox.close();
    printTable(
      ["ask", "projects", "follow", "refused", "told a second", "CPU %", "CPU of PostgreSQL %", "memory MB"],
      rows,
    );
  } finally {
    await bench.stop();
  }
}

/** One round, with a process of its own. */
async function watch(
  bench: Parameters<typeof settingsOf>[0],
  database: Database,
  projects: readonly ProjectAccess[],
  [connections, over]: readonly [number, number],
): Promise<string[]> {
  progress(`${connections} connections over ${over} projects`);
  const program = await startProgram({ ...settingsOf(bench), ROLES: "api", API_RATE_LIMIT_PER_MINUTE: "0" });
  const news = startNews(
    database,
    projects.slice(0, over).map(({ id }) => id),
  );
  try {
    const followers = await follow(program, projects.slice(0, over), connections);
    await delay(SETTLE_MS);
    const [before, toldBefore] = [costs(program), followers.told];
    await delay(WATCHED_MS);
    const after = costs(program);
    followers.stop();
    const percent = (ms: number) => oneDecimal((ms * 100) / WATCHED_MS);
    return [
      whole(connections),
      whole(over),
      whole(followers.accepted),
      whole(followers.refused),
      whole(((followers.told - toldBefore) * 1_000) / WATCHED_MS),
      percent(after.ownMs - before.ownMs),
      percent(after.databaseMs - before.databaseMs),
      whole(after.bytes / MEGABYTE),
    ];
  } finally {
    await news.stop();
    await program.stop();
  }
}

function costs({ pid }: Program) {
  const own = costOf(pid);
  return { ownMs: own.cpuMs, bytes: own.residentBytes, databaseMs: databaseCpuMs() };
}

/** One that has ended meanwhile is none. */
function isPostgres(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim() === "postgres";
  } catch {
    return false;
  }
}

/** Of all processes of the PostgreSQL that was started here. */
function databaseCpuMs(): number {
  return listDescendants(process.pid)
    .filter(isPostgres)
    .reduce((sum, pid) => sum + costOf(pid).cpuMs, 0);
}

/** Something happens in each of the projects, written by us, so that the process has nothing to do but to tell of it. */
function startNews(database: Database, projectIds: readonly string[]): { stop(): Promise<void> } {
  const state = { isOver: false };
  const running = (async () => {
    while (!state.isOver) {
      await sql`
        insert into events (project_id, id, contact_id, name, data)
        select project_id, new_id(), id, 'page_viewed', '{"path": "/"}' from contacts
        where project_id = any(${projectIds}::uuid[])`.execute(database);
      await delay(1_000);
    }
  })();
  return {
    async stop() {
      state.isOver = true;
      await running;
    },
  };
}

async function follow(
  program: Program,
  projects: readonly ProjectAccess[],
  connections: number,
): Promise<Followers> {
  const agent = new Agent({ keepAlive: false, maxSockets: connections + 1 });
  const open: ClientRequest[] = [];
  const followers: Followers = {
    accepted: 0,
    refused: 0,
    told: 0,
    stop: () => open.forEach((request) => request.destroy()),
  };
  const one = (secretKey: string) =>
    new Promise<void>((resolve) => {
      const headers = { authorization: `Bearer ${secretKey}` };
      const request = get(`${program.url}/activity/stream`, { headers, agent }, (response) => {
        if (response.statusCode === 200) followers.accepted++;
        else followers.refused++;
        response.setEncoding("utf8").on("data", (text: string) => {
          followers.told += text.split("event: activity").length - 1;
        });
        response.on("error", () => undefined);
        resolve();
      });
      request.on("error", () => resolve());
      open.push(request);
    });
  await Promise.all(
    Array.from({ length: connections }, (_, at) => one(projects[at % projects.length]?.secretKey ?? "")),
  );
  return followers;
}
