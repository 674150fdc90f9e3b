// Hash chain of the consent log: it stays valid through concurrent signups, changes and deletions. A manual edit of the database breaks it
// and is reported with its first bad row.
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { transaction } from "../../platform/database/database.ts";
import { examine } from "../../instance/doctor.ts";
import { useTestServer, type TestProject } from "../../testing/test-server.ts";
import { deleteContacts } from "../contacts.ts";
import type { ChangeSource } from "../rules.ts";
import { flipAndRecord, upsertContacts } from "../upsert-contacts.ts";
import { checkpointUpTo, takeCut } from "./checkpoint-consent.ts";
import { isConsentCheckpointedLate, verifyConsentLogs } from "./verify-consent.ts";
import { memberships } from "../../segments/usage.ts";

const server = useTestServer({ ROLES: "api" });
const VIA: ChangeSource = { source: "import", actor: randomUUID(), ip: null };

/** Checkpoints all rows. No other transaction stays open for long. */
async function checkpoint(): Promise<void> {
  const cut = await takeCut(server.database);
  if (cut === null) return;
  await expect.poll(() => checkpointUpTo(server.database, cut), { timeout: 30_000, interval: 10 }).toBe(true);
}

const subscribe = (project: TestProject, emails: readonly string[]) =>
  transaction(server.database, (tx) =>
    upsertContacts(
      tx,
      emails.map((email) => ({
        projectId: project.id,
        email,
        subscribedIfNew: true,
        patch: { set: {}, remove: [], transient: {} },
        via: VIA,
      })),
    ),
  );
const flip = (project: TestProject, ids: readonly string[], subscribed: boolean) =>
  transaction(server.database, (tx) =>
    flipAndRecord(
      tx,
      ids.map((id) => ({ projectId: project.id, id, subscribed, via: VIA })),
    ),
  );
const faultsOf = async (project: TestProject) =>
  (await verifyConsentLogs(server.database)).filter(({ projectId }) => projectId === project.id);
const emailsOf = (count: number) =>
  Array.from({ length: count }, (_, at) => `p${at}-${randomUUID().slice(0, 8)}@example.com`);

/** Creates a project with several checkpoints in its log. */
async function withLog(count = 6): Promise<{ project: TestProject; ids: string[] }> {
  const project = await server.createProject();
  const ids: string[] = [];
  for (let at = 0; at < count; at += 2) {
    const made = await subscribe(project, emailsOf(2));
    ids.push(...made.map(({ contactId }) => contactId));
    await checkpoint();
  }
  await flip(project, ids.slice(0, 2), false);
  await checkpoint();
  return { project, ids };
}

const logOf = (project: TestProject) =>
  server.rows<{ position: number; contactId: string }>(
    "select position, contact_id from consent_changes where project_id = $1 order by position",
    project.id,
  );
const change = (statement: string, project: TestProject, position: number) =>
  server.rows(`${statement} where project_id = $1 and position = $2`, project.id, position);

test("checkpoints each row once while many writers run and contacts are deleted", async () => {
  const [one, other] = [await server.createProject(), await server.createProject()];
  const writers = [one, other, one, other].map(async (project) => {
    for (let round = 0; round < 5; round++) {
      const made = await subscribe(project, emailsOf(10));
      const ids = made.map(({ contactId }) => contactId);
      await Promise.all([flip(project, ids.slice(0, 4), false), flip(project, ids.slice(2, 7), false)]);
      await transaction(server.database, (tx) => deleteContacts(tx, project.id, ids.slice(6), [memberships]));
    }
  });
  let isWriting = true;
  const sealers = [1, 2].map(async () => {
    while (isWriting) {
      const cut = await takeCut(server.database);
      if (cut !== null) await checkpointUpTo(server.database, cut);
    }
  });
  await Promise.all(writers).finally(() => (isWriting = false));
  await Promise.all(sealers);
  await checkpoint();
  for (const project of [one, other]) {
    expect(await faultsOf(project)).toEqual([]);
    const checkpointed = await server.rows<{ position: number }>(
      "select unnest(positions) as position from consent_seals where project_id = $1",
      project.id,
    );
    expect(new Set(checkpointed.map(({ position }) => position)).size).toBe(checkpointed.length);
    const left = await logOf(project);
    const known = new Set(checkpointed.map(({ position }) => position));
    expect(left.filter(({ position }) => !known.has(position))).toEqual([]);
    expect(left.length).toBeGreaterThan(50);
  }
});

test("waits for rows of an open transaction without making writers wait", async () => {
  const project = await server.createProject();
  await transaction(server.database, async (tx) => {
    const [slow = ""] = (
      await upsertContacts(
        tx,
        emailsOf(1).map((email) => ({
          projectId: project.id,
          email,
          subscribedIfNew: true,
          patch: { set: {}, remove: [], transient: {} },
          via: VIA,
        })),
      )
    ).map(({ contactId }) => contactId);
    expect(slow).not.toBe("");
    await subscribe(project, emailsOf(2));
    const cut = await takeCut(server.database);
    if (cut === null) throw new Error("There is nothing to seal.");
    expect(await checkpointUpTo(server.database, cut)).toBe(false);
  });
  await checkpoint();
  expect(await faultsOf(project)).toEqual([]);
  const [checkpointed] = await server.rows<{ rows: number }>(
    "select sum(cardinality(positions)) as rows from consent_seals where project_id = $1",
    project.id,
  );
  expect(Number(checkpointed?.rows)).toBe(3);
});

test("deleting a contact removes all its data and keeps the chain valid", async () => {
  const { project, ids } = await withLog();
  const [gone = ""] = ids;
  await transaction(server.database, (tx) => deleteContacts(tx, project.id, [gone], [memberships]));
  expect(await faultsOf(project)).toEqual([]);
  await checkpoint();
  expect(await faultsOf(project)).toEqual([]);
  const kept = await server.rows<{ text: string }>(
    `select t::text as text from consent_seals t where project_id = $1
     union all select t::text from consent_erasures t where project_id = $1`,
    project.id,
  );
  expect(kept.map(({ text }) => text).join()).not.toContain(gone);
});

test("reports rows that were edited, removed or inserted by hand, in the doctor as well", async () => {
  const { project, ids } = await withLog();
  const log = await logOf(project);
  const [first, , third, fourth] = log;
  if (first === undefined || third === undefined || fourth === undefined) throw new Error("No log.");
  const asItWas = await server.rows<{ source: string }>(
    "select source from consent_changes where project_id = $1 and position = $2",
    project.id,
    fourth.position,
  );
  await change("update consent_changes set source = 'page'", project, fourth.position);
  expect(await faultsOf(project)).toEqual([
    { projectId: project.id, what: "changed", position: fourth.position, contactId: fourth.contactId },
  ]);
  await change(`update consent_changes set source = '${asItWas[0]?.source}'`, project, fourth.position);
  expect(await faultsOf(project)).toEqual([]);

  await change("delete from consent_changes", project, third.position);
  await change("delete from consent_changes", project, fourth.position);
  expect(await faultsOf(project)).toEqual([
    { projectId: project.id, what: "missing", position: third.position, contactId: null },
  ]);
  const findings = await examine({
    database: server.database,
  } as unknown as Parameters<typeof examine>[0]);
  expect(findings.filter(({ check }) => check === "consent log")).toContainEqual({
    check: "consent log",
    state: "problem",
    message: `Row ${third.position} of the consent log of project ${project.id} is missing although its contact was not deleted.`,
    advice: expect.stringContaining("Compare it with a backup"),
  });
  expect(ids.length).toBe(6);
});

test("reports rows without a checkpoint as late after fifteen minutes", async () => {
  const { project, ids } = await withLog();
  await flip(project, ids.slice(0, 1), true);
  expect(await isConsentCheckpointedLate(server.database)).toBe(false);
  await server.rows(
    "update consent_changes set created_at = created_at - interval '16 minutes' where project_id = $1",
    project.id,
  );
  expect(await isConsentCheckpointedLate(server.database)).toBe(true);
  await server.rows("delete from consent_changes where project_id = $1", project.id);
});

test("reports rows inserted later, with a free position or with an earlier time", async () => {
  const { project, ids } = await withLog();
  const { project: other, ids: others } = await withLog();
  await server.rows(
    `insert into consent_changes (project_id, contact_id, id, subscribed, source, position)
     overriding system value values ($1, $2, gen_random_uuid(), true, 'page', 0)`,
    project.id,
    ids[0],
  );
  expect(await faultsOf(project)).toMatchObject([{ what: "inserted", position: 0, contactId: ids[0] }]);
  await server.rows(
    `insert into consent_changes (project_id, contact_id, id, subscribed, source, created_at)
     values ($1, $2, gen_random_uuid(), true, 'page', now() - interval '2 days')`,
    other.id,
    others[0],
  );
  await checkpoint();
  expect(await faultsOf(other)).toMatchObject([{ what: "inserted", contactId: others[0] }]);
});

test("reports a checkpoint that was changed or removed, and a truncated chain", async () => {
  for (const [statement, position] of [
    ["update consent_seals set positions = positions[2:] where project_id = $1 and number = 3", 3],
    ["delete from consent_seals where project_id = $1 and number = 3", 3],
    ["update consent_seals set hash = sha256(hash) where project_id = $1 and number = 3", 3],
    ["delete from consent_seals where project_id = $1 and number >= 3", 3],
    ["delete from consent_seals where project_id = $1 and number = 4", 4],
    // The chain was forged from its start, and only its end does not fit.
    ["update consent_heads set hash = sha256(hash) where project_id = $1", 4],
    ["update consent_heads set number = 3 where project_id = $1", 3],
  ] as const) {
    const { project } = await withLog();
    await server.rows(statement, project.id);
    expect([statement, await faultsOf(project)]).toMatchObject([statement, [{ what: "seal", position }]]);
  }
});
