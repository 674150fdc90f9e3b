// Gives every loop with a step size one row more than a step. A loop that ends after its first step fails here.
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { recordAudit, SERVICE, verifyAuditLog, verifyAuditLogs } from "./audit/audit-log.ts";
import { checkpointUpTo, takeCut } from "./contacts/consent-chain/checkpoint-consent.ts";
import { verifyConsentLogs } from "./contacts/consent-chain/verify-consent.ts";
import { openContactExport } from "./contacts/export-contact.ts";
import { writeContacts } from "./contacts/export-contacts.ts";
import { stepOfFieldDeletion } from "./contacts/fields/delete-field.ts";
import { moveDeferred } from "./emails/throttling/throttled-domains.ts";
import { listTended } from "./emails/throttling/throttled-queries.ts";
import { sweepEventLog } from "./stream/numbered-log.ts";
import { countNews } from "./events/counts.ts";
import { createDatabase, transaction, type Database, type Tx } from "./platform/database/database.ts";
import { createTestDatabase, type TestDatabase } from "./platform/database/test-database.ts";
import { takeTurns } from "./platform/background/project-turns.ts";
import type { RunningJob, StepOutcome } from "./platform/background/jobs.ts";
import { sweepKeys } from "./platform/http/idempotency.ts";
import { newId } from "./platform/ids.ts";
import { sweepRequests } from "./requests/request-log.ts";
import { computeDueSegment } from "./segments/compute-segment.ts";
import { writeSuppressions } from "./suppressions/suppressions.ts";
import { addProject } from "./testing/add-project.ts";
import { cancelAll, CANCEL_JOB, cancelStep } from "./workflows/executions/end-executions.ts";
import { receivedOfContact } from "./received/received-emails.ts";
import { contactFiles } from "./workflows/usage.ts";

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase(testDatabase.pool);
});
afterAll(async () => testDatabase?.drop());

const countOf = async (table: string, where = sql`true`): Promise<number> => {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from ${sql.table(table)} where ${where}`.execute(database);
  return rows[0]?.count ?? 0;
};

async function createProject(): Promise<string> {
  const projectId = newId();
  await addProject(database, { id: projectId });
  return projectId;
}

async function addContacts(projectId: string, count: number): Promise<void> {
  await sql`
    insert into contacts (project_id, id, email, subscribed, data)
    select ${projectId}, new_id(), 'p' || n || '@shop.example', true, '{"plan": 1}' from generate_series(1, ${count}::integer) n`.execute(
    database,
  );
}

async function addContact(projectId: string): Promise<string> {
  await addContacts(projectId, 1);
  const { rows } = await sql<{ id: string }>`select id from contacts where project_id = ${projectId}`.execute(
    database,
  );
  return rows[0]?.id ?? "";
}

async function linesOf(chunks: AsyncIterable<string>): Promise<string[]> {
  const text = (await Array.fromAsync(chunks)).join("");
  return text.trimEnd().split("\n");
}

/** Runs the steps of a job until it is done, and returns their number. */
async function runSteps(
  step: (tx: Tx, job: RunningJob) => Promise<StepOutcome>,
  projectId: string,
  input: object,
): Promise<number> {
  let checkpoint: unknown = null;
  for (let steps = 1; ; steps++) {
    const job = { projectId, id: newId(), input, checkpoint, createdAt: new Date(), failures: 0 };
    const outcome = await transaction(database, (tx) => step(tx, job as unknown as RunningJob));
    if (outcome.done) return steps;
    ({ checkpoint } = outcome);
  }
}

/** Writes checkpoints for all consent changes of the database. */
async function checkpointAll(): Promise<void> {
  const cut = await takeCut(database);
  await expect.poll(async () => cut === null || checkpointUpTo(database, cut)).toBe(true);
}

async function addConsentChanges(projectId: string, contactId: string, count: number): Promise<void> {
  await sql`
    insert into consent_changes (project_id, contact_id, id, subscribed, source)
    select ${projectId}, ${contactId}, new_id(), true, 'import' from generate_series(1, ${count}::integer)`.execute(
    database,
  );
}

test("deletes more old API requests than one step holds", async () => {
  const projectId = await createProject();
  await sql`
    insert into api_requests (project_id, id, request_id, at, method, path, route, status, duration_ms, key, body_bytes)
    select ${projectId}, new_id(), 'r', now() - make_interval(days => ${LIMITS.requestLogDays.value + 1}), 'GET', '/', '/', 200, 1, 'secret', 0
    from generate_series(1, 5001)`.execute(database);
  await sweepRequests(database);
  expect(await countOf("api_requests")).toBe(0);
});

test("deletes more old idempotency keys than one step holds, and counts them", async () => {
  const projectId = await createProject();
  await sql`
    insert into idempotency_keys (project_id, key, fingerprint, status, answer, created_at)
    select ${projectId}, n::text, '', 200, '{}', now() - make_interval(hours => ${LIMITS.idempotencyHours.value + 1})
    from generate_series(1, 5001) n`.execute(database);
  expect(await sweepKeys(database)).toBe(5_001);
  expect(await countOf("idempotency_keys")).toBe(0);
});

test("deletes more numbered events than one step holds", async () => {
  const projectId = await createProject();
  await sql`
    with counter as (insert into event_streams (project_id, last_number) values (${projectId}, 5001))
    insert into event_log (project_id, number, id, type, created_at, recorded_at)
    select ${projectId}, n, new_id(), 'e', now(), now() - make_interval(days => ${LIMITS.eventLogDays.value + 1})
    from generate_series(1, 5001) n`.execute(database);
  await sweepEventLog(database);
  expect(await countOf("event_log")).toBe(0);
});

test("checkpoints more consent changes than one step holds", async () => {
  const projectId = await createProject();
  await addConsentChanges(projectId, await addContact(projectId), 2_001);
  await checkpointAll();
  const { rows } = await sql`
    select number, cardinality(positions) as size from consent_seals where project_id = ${projectId} order by number`.execute(
    database,
  );
  expect(rows).toEqual([
    { number: 1, size: 2_000 },
    { number: 2, size: 1 },
  ]);
  expect(await verifyConsentLogs(database)).toEqual([]);
});

test("verifies more checkpoints of a consent log than one read holds", async () => {
  const projectId = await createProject();
  const contactId = await addContact(projectId);
  for (let number = 1; number <= 21; number++) {
    await addConsentChanges(projectId, contactId, 1);
    await checkpointAll();
  }
  await sql`
    update consent_changes set actor = 'forged' where project_id = ${projectId}
      and position = (select max(position) from consent_changes where project_id = ${projectId})`.execute(
    database,
  );
  expect(await verifyConsentLogs(database)).toEqual([
    { projectId, what: "changed", position: expect.any(Number), contactId },
  ]);
  await sql`delete from projects where id = ${projectId}`.execute(database);
});

test("verifies the consent logs and audit logs of more projects than one page holds", async () => {
  await sql`
    with added as (
      insert into projects (id, name) select new_id(), 'many' from generate_series(1, 501) returning id
    ), heads as (insert into audit_heads (project_id, number, hash) select id, 1, '' from added)
    insert into consent_heads (project_id, number, hash) select id, 1, '' from added`.execute(database);
  const [consent, audit] = [await verifyConsentLogs(database), await verifyAuditLogs(database)];
  await sql`delete from projects where name = 'many'`.execute(database);
  await sql`delete from audit_heads`.execute(database);
  expect([consent.length, audit.length]).toEqual([501, 501]);
});

test("verifies more entries of an audit log than one read holds", async () => {
  const projectId = await createProject();
  const entry = { projectId, actor: SERVICE, action: "project.updated" as const };
  await transaction(database, (tx) =>
    recordAudit(
      tx,
      Array.from({ length: 501 }, () => entry),
    ),
  );
  expect(await verifyAuditLog(database, projectId)).toBeNull();
  await sql`update audit_log set target_name = 'forged' where number = 501`.execute(database);
  expect(await verifyAuditLog(database, projectId)).toEqual({ projectId, number: 501, what: "changed" });
});

test("gives a turn to more projects than one page holds", async () => {
  const all = Array.from({ length: 501 }, (_, at) => String(at).padStart(3, "0"));
  const seen: string[] = [];
  const hasMore = await takeTurns({
    listProjects: async (after, limit) => all.filter((one) => after === null || one > after).slice(0, limit),
    runBatch: async (projectId) => {
      seen.push(projectId);
      return projectId === "500";
    },
  });
  expect(seen).toEqual([...all, ...Array.from({ length: 19 }, () => "500")]);
  expect(hasMore).toBe(true);
});

test("counts more events than one step holds", async () => {
  const projectId = await createProject();
  const contactId = await addContact(projectId);
  await sql`
    insert into events (project_id, id, contact_id, name)
    select ${projectId}, new_id(), ${contactId}, 'e' from generate_series(1, 5)`.execute(database);
  const countStep = () => countNews(database, { lagSeconds: -2, stepSize: 2 });
  // The loop rests for seconds after a step that reports no more events.
  await expect.poll(countStep).toBe(true);
  await expect
    .poll(async () => {
      while (await countStep());
      const { rows } = await sql<{ count: number }>`
        select coalesce(sum(count), 0)::float8 as count from event_counts where project_id = ${projectId}`.execute(
        database,
      );
      return rows[0]?.count;
    })
    .toBe(5);
});

test("cancels more executions than one step holds", async () => {
  const projectId = await createProject();
  const workflowId = newId();
  await addContacts(projectId, 5_001);
  await sql`insert into workflows (project_id, id, name) values (${projectId}, ${workflowId}, 'w')`.execute(
    database,
  );
  await sql`
    insert into workflow_executions (project_id, id, workflow_id, contact_id, entry, version, status)
    select ${projectId}, new_id(), ${workflowId}, id, 1, 1, 'WAITING' from contacts where project_id = ${projectId}`.execute(
    database,
  );
  expect(await transaction(database, (tx) => cancelAll(tx, projectId, workflowId))).toBe(5_001);
  expect(await countOf("jobs", sql`kind = ${CANCEL_JOB}`)).toBe(1);
  await runSteps(cancelStep, projectId, { workflowId });
  expect(await countOf("workflow_executions", sql`project_id = ${projectId} and status <> 'CANCELLED'`)).toBe(
    0,
  );
});

test("deletes a field of more contacts than one step holds", async () => {
  const projectId = await createProject();
  await addContacts(projectId, 2_001);
  expect(await runSteps(stepOfFieldDeletion, projectId, { key: "plan" })).toBe(2);
  expect(await countOf("contacts", sql`project_id = ${projectId} and data <> '{}'`)).toBe(0);
});

test("deletes more members of an untracked segment than one step holds", async () => {
  const projectId = await createProject();
  const segmentId = newId();
  await addContacts(projectId, 10_001);
  await sql`
    insert into segments (project_id, id, name, type, filters, slug, compute_due_at)
    values (${projectId}, ${segmentId}, 's', 'DYNAMIC', '{}', 's', now())`.execute(database);
  await sql`
    insert into segment_members (project_id, segment_id, contact_id)
    select ${projectId}, ${segmentId}, id from contacts where project_id = ${projectId}`.execute(database);
  expect(await computeDueSegment(database, projectId, segmentId)).toBe(true);
  expect(await computeDueSegment(database, projectId, segmentId)).toBe(false);
  expect(await countOf("segment_members", sql`project_id = ${projectId}`)).toBe(0);
  expect(await countOf("segments", sql`compute_due_at is not null`)).toBe(0);
});

test("defers and requeues more emails than one step holds", async () => {
  const projectId = await createProject();
  const contentId = newId();
  await sql`
    insert into email_contents (project_id, id, from_address, subject, html, list_kind)
    values (${projectId}, ${contentId}, 'me@shop.example', 's', '', 'MARKETING')`.execute(database);
  await sql`
    insert into emails (project_id, id, content_id, priority, to_address)
    select ${projectId}, new_id(), ${contentId}, 3, 'p' || n || '@slow.example' from generate_series(1, 5001) n`.execute(
    database,
  );
  await sql`
    insert into paused_destinations (project_id, destination, domains, answer, try_at)
    values (${projectId}, 'slow.example', '{slow.example}', '421', now() + interval '1 hour')`.execute(
    database,
  );
  const move = async () => {
    for (const paused of await listTended(database)) await moveDeferred(database, paused);
    return countOf("emails", sql`project_id = ${projectId} and due_at > now()`);
  };
  expect(await move()).toBe(5_001);
  await sql`update paused_destinations set released_at = now()`.execute(database);
  expect(await move()).toBe(0);
  expect(await countOf("paused_destinations")).toBe(0);
});

test("exports more contacts and suppressions than one step holds", async () => {
  const projectId = await createProject();
  await addContacts(projectId, 1_001);
  await sql`
    insert into suppressions (project_id, id, email, reason)
    select project_id, new_id(), email, 'MANUAL' from contacts where project_id = ${projectId}`.execute(
    database,
  );
  expect(await linesOf(writeContacts(database, projectId, []))).toHaveLength(1_002);
  expect(await linesOf(writeSuppressions(database, projectId, {}))).toHaveLength(1_002);
});

test("exports all events, executions, and sent and received emails of one contact", async () => {
  const projectId = await createProject();
  const [contactId, contentId, workflowId] = [await addContact(projectId), newId(), newId()];
  await sql`
    insert into events (project_id, id, contact_id, name)
    select ${projectId}, new_id(), ${contactId}, 'e' from generate_series(1, 501)`.execute(database);
  await sql`
    insert into email_contents (project_id, id, from_address, subject, html)
    values (${projectId}, ${contentId}, 'me@shop.example', 's', '')`.execute(database);
  await sql`
    insert into emails (project_id, id, contact_id, content_id, priority, to_address)
    select ${projectId}, new_id(), ${contactId}, ${contentId}, 1, 'p1@shop.example' from generate_series(1, 51)`.execute(
    database,
  );
  await sql`insert into workflows (project_id, id, name) values (${projectId}, ${workflowId}, 'w')`.execute(
    database,
  );
  await sql`
    insert into workflow_executions (project_id, id, workflow_id, contact_id, entry, version, status)
    select ${projectId}, new_id(), ${workflowId}, ${contactId}, n, 1, 'COMPLETED' from generate_series(1, 101) n`.execute(
    database,
  );
  await sql`
    insert into received_emails (project_id, id, contact_id, thread_id, recipient, from_address, reference_ids, raw)
    select ${projectId}, new_id(), ${contactId}, new_id(), 'us@in.example', 'a@shop.example', '{}', 'Hi' from generate_series(1, 101)`.execute(
    database,
  );
  const file = await openContactExport(database, projectId, contactId, {
    segmentsOfContact: async () => [],
    executionsOfContact: contactFiles.executionsOfContact,
    receivedOfContact,
    campaignNames: async () => new Map(),
  });
  const { events, emails, executions, receivedEmails } = JSON.parse(
    (await Array.fromAsync(file)).join(""),
  ) as Record<string, unknown[]>;
  expect([events?.length, emails?.length, executions?.length]).toEqual([501, 51, 101]);
  expect(new Set(receivedEmails?.map((email) => (email as { id: string }).id)).size).toBe(101);
});
