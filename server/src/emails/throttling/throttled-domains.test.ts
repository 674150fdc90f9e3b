// Tests of a throttled domain by canaries: their results, the wait before the next test, and the release.
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createDatabase, type Database } from "../../platform/database/database.ts";
import { createTestDatabase, type TestDatabase } from "../../platform/database/test-database.ts";
import { newId } from "../../platform/ids.ts";
import { addSampleRows, id } from "../../testing/sample-rows.ts";
import { listPaused } from "./throttled-queries.ts";
import { tryPaused } from "./throttled-domains.ts";

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase(testDatabase.pool);
  await addSampleRows(database);
});
afterAll(async () => testDatabase?.drop());
beforeEach(async () => {
  await sql`delete from paused_destinations`.execute(database);
});

/** Starts a test with canaries: how many were sent, were rejected again, and have no result yet. */
async function startTest({ sent = 0, rejected = 0, pending = 0, failedTries = 0, startedMinutesAgo = 1 }) {
  const canaries = [
    ...Array.from({ length: sent }, () => ({ status: "SENT", meaning: null })),
    ...Array.from({ length: rejected }, () => ({ status: "FAILED", meaning: "policy" })),
    ...Array.from({ length: pending }, () => ({ status: "QUEUED", meaning: null })),
  ].map((canary) => ({ ...canary, mailId: newId() }));
  for (const { mailId, status, meaning } of canaries) {
    await sql`
      insert into emails (project_id, id, content_id, priority, status, to_address)
      values (${id.project}, ${mailId}, ${id.content}, 3, ${status}, 'x@slow.example')`.execute(database);
    if (meaning !== null)
      await sql`
        insert into email_attempts (project_id, email_id, attempt, outcome, answer, meaning)
        values (${id.project}, ${mailId}, 1, 'FAILED', '550 again', ${meaning})`.execute(database);
  }
  await sql`
    insert into paused_destinations (project_id, destination, domains, answer, try_at, trial_ids, tried_at, failed_tries)
    values (${id.project}, 'slow.example', '{slow.example}', '421 first', now(), ${canaries.map(({ mailId }) => mailId)}::uuid[],
      now() - make_interval(mins => ${startedMinutesAgo}::integer), ${failedTries})`.execute(database);
}

const bulk = { projectId: id.project, campaignId: null };
async function runTest() {
  const [row] = await listPaused(database, bulk);
  if (row === undefined) throw new Error("The domain is not throttled.");
  return tryPaused(database, row);
}
const clock = async () =>
  (
    await sql<{ ms: number }>`select extract(epoch from clock_timestamp())::float8 * 1000 as ms`.execute(
      database,
    )
  ).rows[0]?.ms ?? 0;

test.each([
  { what: "all canaries were accepted", canaries: { sent: 3 }, end: "taken" },
  { what: "one canary in five was rejected", canaries: { sent: 4, rejected: 1 }, end: "taken" },
  { what: "one canary in four was rejected", canaries: { sent: 3, rejected: 1 }, end: "refused" },
  {
    what: "a canary has no result yet",
    canaries: { sent: 3, pending: 1, startedMinutesAgo: 9 },
    end: "waits",
  },
  {
    what: "a canary has no result for ten minutes",
    canaries: { sent: 3, pending: 1, startedMinutesAgo: 11 },
    end: "taken",
  },
  {
    what: "no canary has a result for ten minutes",
    canaries: { pending: 1, startedMinutesAgo: 11 },
    end: "refused",
  },
])("$end if $what", async ({ canaries, end }) => {
  await startTest(canaries);
  expect(await runTest()).toBe(end);
  expect(await listPaused(database, bulk)).toHaveLength(end === "taken" ? 0 : 1);
});

test.each([
  { failedTries: 0, hours: 2 },
  { failedTries: 2, hours: 8 },
  { failedTries: 9, hours: 24 },
])("tests again after $hours h if $failedTries tests failed before", async ({ failedTries, hours }) => {
  await startTest({ rejected: 1, failedTries });
  const beforeMs = await clock();
  expect(await runTest()).toBe("refused");
  const [row] = await listPaused(database, bulk);
  expect([row?.failedTries, row?.trialIds]).toEqual([failedTries + 1, []]);
  const replies = await sql`select answer as reply from paused_destinations`.execute(database);
  expect(replies.rows).toEqual([{ reply: "550 again" }]);
  expect(row?.tryAt.getTime()).toBeGreaterThanOrEqual(Math.floor(beforeMs) + hours * 3_600_000);
  expect(row?.tryAt.getTime()).toBeLessThanOrEqual((await clock()) + hours * 3_600_000);
});

test("does not test a domain while no email is deferred for it", async () => {
  await startTest({});
  expect(await runTest()).toBe("waits");
  const [row] = await listPaused(database, bulk);
  expect(row?.trialIds).toEqual([]);
});
