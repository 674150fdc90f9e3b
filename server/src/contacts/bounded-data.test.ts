// Limits on contact data: keys per contact, fields per project, and bytes per page.
import { sql } from "kysely";
import { expect, test } from "vitest";
import * as contactFields from "@postloft/contract/contact-fields.ts";
import * as segments from "@postloft/contract/segments.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { subtransaction, transaction, type Tx } from "../platform/database/database.ts";
import { faultsOf, errorOf, useTestServer, type Reply, type TestProject } from "../testing/test-server.ts";
import { contactError } from "./constraint-errors.ts";
import { registerFields } from "./upsert-contacts.ts";

const server = useTestServer({ ROLES: "api" });

const keys = (prefix: string, count = LIMITS.dataKeys.value) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`${prefix}${at}`, at]));
const track = (project: TestProject, email: string, data: Record<string, unknown>) =>
  server.call(v1.track, { key: project.publicKey }, { body: { email, event: "seen", data } });

test("rejects new fields above the limit from the public key and still accepts known fields", async () => {
  const project = await server.createProject();
  expect((await track(project, "a@example.com", keys("a"))).status).toBe(200);
  expect((await track(project, "b@example.com", keys("b"))).status).toBe(200);
  const refused = await track(project, "c@example.com", keys("c", 1));
  expect(faultsOf(refused)).toEqual(["data too_big"]);
  expect(refused.text).toContain(`at most ${LIMITS.fields.value.toLocaleString("en")} fields`);
  const [one, other] = await Promise.all([
    track(project, "d@example.com", { a1: "known" }),
    track(project, "e@example.com", { unknown: "field" }),
  ]);
  expect([one.status, other.status]).toEqual([200, 422]);
  expect(
    (
      await server.call(contactFields.deleteContactField, project.byKey, {
        params: { field: "data.a1" },
        anyQuery: "?force=true",
      })
    ).status,
  ).toBeLessThan(300);
  expect((await track(project, "f@example.com", { unknown: "field" })).status).toBe(200);
});

/** Counts row changes of this transaction, including rolled back ones. */
async function fieldWork(tx: Tx) {
  const { rows } = await sql<{ inserted: number; read: number }>`
    select n_tup_ins as inserted, seq_tup_read + idx_tup_fetch as read
    from pg_stat_xact_user_tables where relname = 'contact_fields'`.execute(tx);
  return rows[0] ?? { inserted: 0, read: 0 };
}

test("counts fields once for a thousand new ones and leaves no dead rows when it rejects them", async () => {
  const { id: projectId } = await server.createProject();
  await transaction(server.database, async (tx) => {
    const register = (prefix: string, count: number) =>
      registerFields(tx, [{ projectId, patch: { set: keys(prefix, count), remove: [], transient: {} } }]);
    await register("a", 1_000);
    const before = await fieldWork(tx);
    await register("b", 900);
    const taken = await fieldWork(tx);
    expect(taken.inserted - before.inserted).toBe(900);
    // Allows one lookup per name plus a single count of the existing fields. Counting again for each name would be 900,000.
    expect(taken.read - before.read).toBeLessThan(10_000);
    await expect(subtransaction(tx, () => register("c", 1_000))).rejects.toThrow("contact_fields_number");
    expect((await fieldWork(tx)).inserted - taken.inserted).toBe(0);
  });
});

test("accepts contacts with the maximum number of keys and rejects one more, from every source", async () => {
  const project = await server.createProject();
  await server.rows("alter table contact_fields drop constraint contact_fields_number");
  for (const prefix of ["a", "b"])
    expect((await track(project, "a@example.com", keys(prefix))).status).toBe(200);
  const refused = await track(project, "a@example.com", { c: 1 });
  expect(faultsOf(refused)).toEqual(["data too_big"]);
  expect(refused.text).toContain(`at most ${LIMITS.contactKeys.value.toLocaleString("en")} keys`);
  const [row] = await server.rows<{ id: string }>(
    "select id from contacts where project_id = $1",
    project.id,
  );
  const edit = (data: object) => server.call("PATCH", `/contacts/${row?.id}`, project.byKey, { data });
  expect(faultsOf(await edit({ c: 1 }))).toEqual(["data too_big"]);
  expect((await edit({ a1: null, c: 1 })).status).toBe(200);
  expect((await track(project, "a@example.com", { c: null })).status).toBe(200);
  expect((await track(project, "a@example.com", { d: 1 })).status).toBe(200);
});

interface Page {
  data: Array<{ id: string }>;
  cursor: string | null;
  hasMore: boolean;
  total: number;
}

async function readAll(project: TestProject, path: string): Promise<{ ids: string[]; sizes: number[] }> {
  const ids: string[] = [];
  const sizes: number[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const next: string = cursor === "" ? path : `${path}&cursor=${cursor}`;
    const { body, text }: Reply<Page> = await server.call<Page>("GET", next, project.byKey);
    ids.push(...body.data.map(({ id }) => id));
    sizes.push(text.length);
    cursor = body.cursor;
    expect(body.hasMore).toBe(cursor !== null);
  }
  return { ids, sizes };
}

test("pages of large contacts end early and together return each contact once", async () => {
  const project = await server.createProject();
  await server.rows(
    `insert into contacts (project_id, id, email, subscribed, data)
     select $1, new_id(), n || '@example.com', true, jsonb_build_object('text', repeat('x', 700000)) from generate_series(1, 7) n`,
    project.id,
  );
  for (const path of [
    "/contacts?limit=100",
    "/contacts?limit=2",
    "/contacts?limit=100&sort=email",
    "/contacts?limit=100&search=example",
    "/contacts?limit=100&search=1%40",
  ]) {
    const { ids, sizes } = await readAll(project, path);
    expect([path, new Set(ids).size, ids.length]).toEqual([
      path,
      path.includes("1%40") ? 1 : 7,
      path.includes("1%40") ? 1 : 7,
    ]);
    expect(Math.max(...sizes)).toBeLessThan(LIMITS.pageBytes.value + 800_000);
  }
});

test("rejects a numbered page above the size limit and suggests fewer rows", async () => {
  const project = await server.createProject();
  await server.rows(
    `insert into contacts (project_id, id, email, subscribed, data)
     select $1, new_id(), n || '@example.com', true, jsonb_build_object('text', repeat('x', 700000)) from generate_series(1, 7) n`,
    project.id,
  );
  const filters = { operator: "AND", conditions: [{ field: "subscribed", operator: "equals", value: true }] };
  const { body } = await server.call(segments.createSegment, project.byKey, {
    body: {
      name: "All",
      filters,
    },
  });
  const list = (pageSize: number) =>
    server.call(segments.listSegmentContacts, project.byKey, {
      params: { id: body.id },
      query: { pageSize },
    });
  expect((await list(2)).status).toBe(200);
  const refused = await list(7);
  expect(errorOf(refused)).toBe("422 VALIDATION_ERROR");
  expect(faultsOf(refused)).toEqual(["pageSize too_big"]);
});

test("pages of large events are shorter", async () => {
  const project = await server.createProject();
  await track(project, "a@example.com", {});
  const [row] = await server.rows<{ id: string }>(
    "select id from contacts where project_id = $1",
    project.id,
  );
  await server.rows(
    `insert into events (project_id, id, contact_id, name, data)
     select $1, new_id(), $2, 'large', jsonb_build_object('text', repeat('x', 700000)) from generate_series(1, 7)`,
    project.id,
    row?.id,
  );
  const { ids } = await readAll(project, "/events?limit=100");
  expect([new Set(ids).size, ids.length]).toEqual([8, 8]);
});

function told(code: string, message: string): string | null {
  const appError = contactError(Object.assign(new Error(message), { code }));
  return appError?.fields?.[0]?.message ?? appError?.code ?? null;
}

test("maps constraint errors when the name is only in the message, with a shard suffix", () => {
  const checked = (name: string) =>
    told("23514", `new row for relation "contacts_102008" violates check constraint "${name}"`);
  expect(
    told("23505", 'duplicate key value violates unique constraint "contacts_project_id_email_key_102046"'),
  ).toBe("CONFLICT");
  expect(checked("contacts_data_size_102008")).toContain(
    `at most ${LIMITS.dataBytes.value.toLocaleString("en")} bytes`,
  );
  expect(checked("contact_fields_number")).toContain(
    `at most ${LIMITS.fields.value.toLocaleString("en")} fields`,
  );
  expect(told("23514", "too many keys")).toContain(
    `at most ${LIMITS.contactKeys.value.toLocaleString("en")} keys`,
  );
  expect(told("23505", 'duplicate key value violates unique constraint "domains_pkey"')).toBeNull();
  expect(told("40001", "could not serialize access: contacts_data_size")).toBeNull();
});
