// `npm run bench segments`: counts and pages of filters over a million contacts, compared with the simplest SQL for the same query.
import { sql, type RawBuilder, type SqlBool } from "kysely";
import type { Filter } from "@postloft/contract/filters.ts";
import {
  createDatabase,
  createPool,
  plannedEachTime,
  type Database,
} from "../server/src/platform/database/database.ts";
import { newId } from "../server/src/platform/ids.ts";
import { createLog } from "../server/src/platform/log.ts";
import { restrictionForAll, restrictionOf } from "../server/src/segments/filters/compile-filter.ts";
import type { SegmentSource } from "../server/src/segments/filters/load-segments.ts";
import { addProject } from "../server/src/testing/add-project.ts";
import { seedProject } from "../tools/seed/seed-project.ts";
import { measureMembership } from "./membership.ts";
import { startDatabase } from "./servers.ts";
import { oneDecimal, print, printTable, whole } from "./table.ts";

/** Contacts of each project and events per contact. The first project is small and shares its tables with a million others. */
const SIZES = [10_000, 100_000, 1_000_000];
const EVENTS_PER_CONTACT = 5;
const REPEATS = 5;
const MAX_TRIES = 5;
const SEED = 7;
const PAGE = 50;

const INNER = "00000000-0000-7000-8000-000000000001";

interface Question {
  name: string;
  filter: Filter;
  /** The condition on `contacts c` as a developer would write it for this data only. */
  plain: RawBuilder<SqlBool>;
}

const all = (...conditions: Filter["conditions"]): Filter => ({ operator: "AND", conditions });
const any = (...conditions: Filter["conditions"]): Filter => ({ operator: "OR", conditions });
const onPlan = (value: string) => ({ field: "data.plan", operator: "equals", value }) as const;
const isPro = onPlan("pro");
const isOver = (age: number) => ({ field: "data.age", operator: "greaterThan", value: age }) as const;
const seenLately = { field: "data.lastLogin", operator: "within", value: 30, unit: "days" } as const;
const boughtLately = {
  field: "event.purchase",
  operator: "triggeredWithin",
  value: 30,
  unit: "days",
} as const;
const notBoughtLately = { ...boughtLately, operator: "notTriggeredWithin" } as const;
const fromGermany = { field: "data.country", operator: "equals", value: "DE" } as const;
const inSegment = { field: `segment.${INNER}`, operator: "memberOfSegment" } as const;

const plan = (value: string) => sql<SqlBool>`c.data->>'plan' = ${value}`;
const age = (over: number) => sql<SqlBool>`(c.data->>'age')::numeric > ${over}`;
const lately = sql<SqlBool>`(c.data->>'lastLogin')::timestamptz >= now() - interval '30 days'`;
const germany = sql<SqlBool>`c.data->>'country' = 'DE'`;
/** Not correlated, as a developer who knows the project would write it. */
const bought = sql<SqlBool>`c.id in (select e.contact_id from events e
  where e.project_id = (select p.id from projects p where p.name = ${String(SIZES.at(-1))})
    and e.name = 'purchase' and e.created_at >= now() - interval '30 days')`;

const QUESTIONS: readonly Question[] = [
  { name: "plan = pro", filter: all(isPro), plain: plan("pro") },
  { name: "age > 30", filter: all(isOver(30)), plain: age(30) },
  { name: "age > 75", filter: all(isOver(75)), plain: age(75) },
  { name: "last login within 30 days", filter: all(seenLately), plain: lately },
  {
    name: "created within 90 days",
    filter: all({ field: "createdAt", operator: "within", value: 90, unit: "days" }),
    plain: sql<SqlBool>`c.created_at >= now() - interval '90 days'`,
  },
  {
    name: "email ends with @corp.example.org",
    filter: all({ field: "email", operator: "endsWith", value: "@corp.example.org" }),
    plain: sql<SqlBool>`c.email like '%@corp.example.org'`,
  },
  {
    name: "email contains kowalski9",
    filter: all({ field: "email", operator: "contains", value: "kowalski9" }),
    plain: sql<SqlBool>`c.email like '%kowalski9%'`,
  },
  {
    name: "pro, over 30, seen lately",
    filter: all(isPro, isOver(30), seenLately),
    plain: sql<SqlBool>`${plan("pro")} and ${age(30)} and ${lately}`,
  },
  {
    name: "(team or over 75) in Germany",
    filter: all(any(onPlan("team"), isOver(75)), fromGermany),
    plain: sql<SqlBool>`(${plan("team")} or ${age(75)}) and ${germany}`,
  },
  { name: "bought within 30 days", filter: all(boughtLately), plain: bought },
  { name: "not bought within 30 days", filter: all(notBoughtLately), plain: sql<SqlBool>`not (${bought})` },
  {
    name: "pro and bought",
    filter: all(isPro, boughtLately),
    plain: sql<SqlBool>`${plan("pro")} and ${bought}`,
  },
  {
    name: "team or bought",
    filter: any(onPlan("team"), boughtLately),
    plain: sql<SqlBool>`${plan("team")} or ${bought}`,
  },
  {
    name: "in the segment of pros, from Germany",
    filter: all(inSegment, fromGermany),
    plain: sql<SqlBool>`${plan("pro")} and ${germany}`,
  },
];

const SEGMENTS = new Map<string, SegmentSource>([
  [INNER, { id: INNER, type: "DYNAMIC", filters: all(isPro), trackMembership: false }],
]);

export async function benchSegments(): Promise<void> {
  const bench = await startDatabase();
  const log = createLog({ level: "silent" });
  const pool = createPool({ connection: bench.connection, maxConnections: 4, log });
  const database = createDatabase(pool);
  try {
    const projects: string[] = [];
    const alone = new Map<string, number>();
    for (const contacts of SIZES) {
      const projectId = newId();
      await addProject(database, { id: projectId, name: `${contacts}` });
      await seedProject(pool, { projectId, contacts, events: contacts * EVENTS_PER_CONTACT, seed: SEED });
      await sql`vacuum (analyze) contacts, events`.execute(database);
      if (projects.length === 0)
        for (const { name, filter } of QUESTIONS)
          alone.set(name, await timeOf(() => countOurs(database, projectId, filter)));
      projects.push(projectId);
    }
    await measureLargest(database, projects.at(-1) ?? "");
    await measureGrowth(database, projects, alone);
    await measureSearch(database, projects.at(-1) ?? "");
    await measureMembership(database, projects.at(-1) ?? "");
  } finally {
    await database.destroy();
    await bench.stop();
  }
}

async function countOurs(database: Database, projectId: string, filter: Filter): Promise<number> {
  const options = { projectId, segments: SEGMENTS };
  return count(database, projectId, await restrictionForAll(database, filter, options));
}

async function measureLargest(database: Database, projectId: string): Promise<void> {
  const rows: string[][] = [];
  for (const { name, filter, plain } of QUESTIONS) {
    const ours = await restrictionOf(database, filter, { projectId, segments: SEGMENTS });
    const found = await sameCount(database, projectId, name, filter, plain);
    const [oursMs = 0, plainMs = 0] = await timesOf(
      () => countOurs(database, projectId, filter),
      () => count(database, projectId, plain),
    );
    const firstMs = await timeOf(() => page(database, projectId, ours, null));
    const middle = await middleId(database, projectId, ours, found);
    const deepMs = await timeOf(() => page(database, projectId, ours, middle));
    rows.push([
      name,
      whole(found),
      whole(oursMs),
      whole(plainMs),
      (oursMs / plainMs).toFixed(2),
      oneDecimal(firstMs),
      oneDecimal(deepMs),
    ]);
  }
  printTable(
    [
      "filter over 1,000,000 contacts",
      "matches",
      "count ms",
      "plain SQL ms",
      "ratio",
      "first page ms",
      "middle page ms",
    ],
    rows,
  );
  print("\nTargets: counts at most 600 ms and 1.3 × plain SQL, pages at most 30 ms.\n");
}

/** Returns the number of matches, which must be equal for both. Counts again if a time-based condition changed in between. */
async function sameCount(
  database: Database,
  projectId: string,
  name: string,
  filter: Filter,
  plain: RawBuilder<SqlBool>,
): Promise<number> {
  for (let tries = 1; ; tries++) {
    const found = await countOurs(database, projectId, filter);
    const expected = await count(database, projectId, plain);
    if (found === expected) return found;
    if (tries === MAX_TRIES) throw new Error(`${name}: ${found} matched, plain SQL says ${expected}`);
  }
}

async function measureGrowth(
  database: Database,
  projects: readonly string[],
  alone: ReadonlyMap<string, number>,
): Promise<void> {
  const rows: string[][] = [];
  for (const { name, filter } of QUESTIONS) {
    const times: number[] = [];
    for (const projectId of projects) times.push(await timeOf(() => countOurs(database, projectId, filter)));
    rows.push([name, oneDecimal(alone.get(name) ?? Number.NaN), ...times.map(oneDecimal)]);
  }
  printTable(["count ms", "10,000 alone", "10,000 next to a million", "100,000", "1,000,000"], rows);
}

async function measureSearch(database: Database, projectId: string): Promise<void> {
  const rows: string[][] = [];
  for (const search of ["kowalski99", "ada.", "nobody-has-this"]) {
    const pattern = `%${search}%`;
    const ms = await timeOf(() => page(database, projectId, sql<SqlBool>`c.email like ${pattern}`, null));
    rows.push([search, oneDecimal(ms)]);
  }
  print("");
  printTable(["address search", "first page ms"], rows);
  print("\nTarget: at most 30 ms.");
}

async function count(database: Database, projectId: string, matches: RawBuilder<SqlBool>): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    ${plannedEachTime} select count(*) as count from contacts c where c.project_id = ${projectId} and ${matches}`.execute(
    database,
  );
  return rows[0]?.count ?? 0;
}

async function page(
  database: Database,
  projectId: string,
  matches: RawBuilder<SqlBool>,
  before: string | null,
): Promise<number> {
  const { rows } = await sql`
    select c.id, c.email, c.subscribed, c.data, c.created_at, c.updated_at from contacts c
    where c.project_id = ${projectId} and ${matches} and (${before}::uuid is null or c.id < ${before}::uuid)
    order by c.id desc limit ${PAGE}`.execute(database);
  return rows.length;
}

/** Returns the middle match in list order. */
async function middleId(
  database: Database,
  projectId: string,
  matches: RawBuilder<SqlBool>,
  found: number,
): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    select c.id from contacts c where c.project_id = ${projectId} and ${matches}
    order by c.id desc offset ${Math.floor(found / 2)} limit 1`.execute(database);
  return rows[0]?.id ?? "";
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  return (await timesOf(work))[0] ?? Number.NaN;
}

/** Returns the best of several runs in ms, after a warm-up. Compared functions alternate. */
async function timesOf(...works: ReadonlyArray<() => Promise<unknown>>): Promise<number[]> {
  const best = works.map(() => Number.POSITIVE_INFINITY);
  for (let repeat = 0; repeat <= REPEATS; repeat++)
    for (const [at, work] of works.entries()) {
      const startedMs = performance.now();
      await work();
      const tookMs = performance.now() - startedMs;
      if (repeat > 0) best[at] = Math.min(best[at] ?? tookMs, tookMs);
    }
  return best;
}
