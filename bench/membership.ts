// The second half of `npm run bench segments`: maintains a tracked segment with a million contacts, and changes a thousand contacts in
// bulk.
import { sql } from "kysely";
import { CONTACT_UNSUBSCRIBED } from "@postloft/contract/event-names.ts";
import type { Filter } from "@postloft/contract/filters.ts";
import { transaction, type Database } from "../server/src/platform/database/database.ts";
import { startJobs } from "../server/src/platform/background/jobs.ts";
import { createLog } from "../server/src/platform/log.ts";
import { createMetrics } from "../server/src/platform/metrics.ts";
import { recordEvents } from "../server/src/events/events.ts";
import { BULK_KIND, getBulk, startBulk } from "../server/src/contacts/bulk/bulk-changes.ts";
import { stepOfBulk } from "../server/src/contacts/bulk/change-contacts.ts";
import { memberships } from "../server/src/segments/usage.ts";
import { importConsequences } from "../server/src/segments/import-consequences.ts";
import { computeSegment } from "../server/src/segments/compute-segment.ts";
import { followChanges } from "../server/src/segments/sync-members.ts";
import { createSegment } from "../server/src/segments/define-segment.ts";
import { findMeantContacts } from "../server/src/segments/usage.ts";
import { print, printTable, whole } from "./table.ts";

const CHANGES = 10_000;
const BULK = 1_000;
/** Several, because a single one may coincide with a checkpoint. */
const BULK_TRIES = 5;
const POLL_MS = 5;
const PRO: Filter = {
  operator: "AND",
  conditions: [{ field: "data.plan", operator: "equals", value: "pro" }],
};
const CALLED: Filter = {
  operator: "AND",
  conditions: [{ field: "event.called", operator: "triggered" }],
};

export async function measureMembership(database: Database, projectId: string): Promise<void> {
  const pros = await addSegment(database, projectId, "Pros", PRO);
  const compute = () => transaction(database, (tx) => computeSegment(tx, projectId, pros));
  const all = [
    await measured(database, projectId, "compute: all members enter", compute),
    await measured(database, projectId, "compute again: no changes", compute),
  ];
  await changePlans(database, projectId);
  all.push(await measured(database, projectId, `compute after ${whole(CHANGES)} changes`, compute));
  await addSegment(database, projectId, "Called", CALLED);
  all.push(
    await measured(database, projectId, "one tracked event moves its contact", () =>
      callOne(database, projectId),
    ),
  );
  const bulkName = `bulk unsubscribe of ${whole(BULK)}, median of ${BULK_TRIES}`;
  const tries: Measured[] = [];
  while (tries.length < BULK_TRIES)
    tries.push(await measured(database, projectId, bulkName, () => unsubscribe(database, projectId)));
  all.push(
    ...tries.sort((one, other) => one.tookMs - other.tookMs).slice(BULK_TRIES / 2, BULK_TRIES / 2 + 1),
  );
  print("");
  printTable(
    ["tracked segments with a million contacts", "ms", "events"],
    all.map(({ name, tookMs, events }) => [name, whole(tookMs), whole(events)]),
  );
  print(
    "\nTargets: compute after 10,000 changes 5 s, a tracked event 2 s, bulk 300 ms; exactly one event per change.",
  );
}

async function addSegment(
  database: Database,
  projectId: string,
  name: string,
  filters: Filter,
): Promise<string> {
  const { id } = await transaction(database, (tx) =>
    createSegment(tx, projectId, { name, filters, trackMembership: true }),
  );
  return id;
}

interface Measured {
  name: string;
  tookMs: number;
  events: number;
}

/** Returns the duration in ms and the number of segment and subscription events created. */
async function measured(
  database: Database,
  projectId: string,
  name: string,
  work: () => Promise<unknown>,
): Promise<Measured> {
  const before = await countEvents(database, projectId);
  const startedMs = performance.now();
  await work();
  const tookMs = performance.now() - startedMs;
  return { name, tookMs, events: (await countEvents(database, projectId)) - before };
}

async function countEvents(database: Database, projectId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from events where project_id = ${projectId}
      and (name like 'segment.%' or name = ${CONTACT_UNSUBSCRIBED})`.execute(database);
  return rows[0]?.count ?? 0;
}

/** Half of them leave the segment, and half enter. */
async function changePlans(database: Database, projectId: string): Promise<void> {
  for (const [from, to] of [
    ["pro", "gone"],
    ["free", "pro"],
  ])
    await sql`
      update contacts set data = data || jsonb_build_object('plan', ${to}::text)
      where project_id = ${projectId} and id in (
        select id from contacts where project_id = ${projectId} and data ->> 'plan' = ${from} limit ${CHANGES / 2})`.execute(
      database,
    );
}

async function callOne(database: Database, projectId: string): Promise<void> {
  const [contactId = ""] = await someContacts(database, projectId, 1);
  await transaction(database, (tx) => recordEvents(tx, [{ projectId, contactId, name: "called" }]));
  await followChanges(database, projectId);
}

async function unsubscribe(database: Database, projectId: string): Promise<void> {
  const contactIds = await someContacts(database, projectId, BULK);
  const jobs = startJobs({
    database,
    kinds: {
      [BULK_KIND]: (tx, job) =>
        stepOfBulk(tx, job, { dependents: [memberships], segments: importConsequences }),
    },
    log: createLog({ level: "warn" }),
    metrics: createMetrics(),
  });
  const id = await transaction(database, (tx) =>
    startBulk(tx, projectId, { operation: "unsubscribe", actor: "key" }, { contactIds }, findMeantContacts),
  );
  jobs.wake();
  while ((await getBulk(database, projectId, id)).state !== "completed")
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  await jobs.stop();
}

async function someContacts(database: Database, projectId: string, count: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from contacts where project_id = ${projectId} and subscribed order by id limit ${count}`.execute(
    database,
  );
  return rows.map((row) => row.id);
}
