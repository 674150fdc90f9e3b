// `npm run bench months`: whether tracking and notices are slower with a partition for each month of events than with one table for all,
// and what months would cost the mails, which stand in one table (docs/decisions/0082).
import { createDatabase, createPool } from "../server/src/platform/database/database.ts";
import { createLog } from "../server/src/platform/log.ts";
import { inTurn } from "./in-turn.ts";
import { perSecond, runLoad } from "./load.ts";
import { compareMails } from "./mail-months.ts";
import { runNoticesRound } from "./notices.ts";
import { startDatabase, startOurs, type BenchDatabase } from "./servers.ts";
import { print, printTable } from "./table.ts";
import { TRACK_REQUESTS } from "./track.ts";

const TRACK_ROUNDS = 14;
const NOTICE_ROUNDS = 6;
const WARM_UP_MS = 1_000;
const MEASURE_MS = 1_200;
const NUMBERS_PER_RUN = 1_000_000;
const CONNECTIONS = [64, 256];
const NOTICES = 20_000;
const READERS = [1, 2];

/** The two that are compared, each with its database. */
interface Both {
  months: BenchDatabase;
  oneTable: BenchDatabase;
}

export async function benchMonths(): Promise<void> {
  const both: Both = { months: await startDatabase(), oneTable: await startDatabase() };
  try {
    await putIntoOneTable(both.oneTable);
    const rows = [...(await compareTracking(both)), ...(await compareNotices(both))];
    printTable(["what", "by month, a second", "one table, a second", "%"], rows);
    print("\nBar: by month within 3 % of one table.");
  } finally {
    await both.months.stop();
    await both.oneTable.stop();
  }
  printTable(["what", "mails by month, a second", "one table, a second", "%"], await compareMails());
}

/** As `events` was before there were months: the same keys and indexes. */
async function putIntoOneTable({ connection }: BenchDatabase): Promise<void> {
  const pool = createPool({ connection, maxConnections: 1, log: createLog({ level: "warn" }) });
  await pool.query(`begin;
    create table one_table (like events including defaults including storage including compression);
    drop table events cascade;
    alter table one_table rename to events;
    alter table events alter column project_id set (n_distinct = 10);
    alter table events add primary key (project_id, id);
    alter table events add foreign key (project_id, contact_id) references contacts (project_id, id) on delete cascade;
    create index on events (project_id, contact_id, name, created_at);
    create index on events (project_id, email_id) where email_id is not null;
    create index on events (project_id, name, created_at, contact_id);
    commit`);
  await pool.end();
}

async function compareTracking({ months, oneTable }: Both): Promise<string[][]> {
  const servers = await Promise.all([months, oneTable].map((each) => startOurs(each, { ROLES: "api" })));
  try {
    let runs = 0;
    const rows: string[][] = [];
    for (const connections of CONNECTIONS)
      for (const [name, request] of Object.entries(TRACK_REQUESTS)) {
        rows.push(
          await inTurn(
            `track, ${connections} connections, ${name}`,
            TRACK_ROUNDS,
            servers.map(({ port }) => async () => {
              const firstNumber = NUMBERS_PER_RUN * runs++;
              const times = { warmUpMs: WARM_UP_MS, measureMs: MEASURE_MS };
              return perSecond(await runLoad({ port, connections, request, firstNumber, ...times }));
            }),
          ),
        );
      }
    return rows;
  } finally {
    for (const server of servers) await server.stop();
  }
}

async function compareNotices({ months, oneTable }: Both): Promise<string[][]> {
  const log = createLog({ level: "silent" });
  const databases = [months, oneTable].map(({ connection }) =>
    createDatabase(createPool({ connection, maxConnections: 8, log })),
  );
  try {
    const rows: string[][] = [];
    for (const readers of READERS) {
      rows.push(
        await inTurn(
          `notices, readers: ${readers}`,
          NOTICE_ROUNDS,
          databases.map((database) => async () => {
            const { kept, readMs } = await runNoticesRound(database, NOTICES, readers);
            return (kept * 1_000) / readMs;
          }),
        ),
      );
    }
    return rows;
  } finally {
    for (const database of databases) await database.destroy();
  }
}
