// Batch upserts have the same effect as single upserts in order, in every mixture and with concurrent transactions.
import * as fc from "fast-check";
import { sql } from "kysely";
import { expect, test, vi } from "vitest";
import { transaction } from "../platform/database/database.ts";
import { idTimeMs, newId } from "../platform/ids.ts";
import { useTestServer } from "../testing/test-server.ts";
import { createTracker } from "../v1/track.ts";
import { viaApi } from "./consent.ts";
import { readDataPatch } from "./rules.ts";
import {
  flipAndRecord,
  upsertContacts,
  upsertContactsWithEvents,
  type ChangeRecorder,
} from "./upsert-contacts.ts";
import { rowOf } from "./upsert-parts.ts";
import { contactUpsert, isLeftOut, upsertContactRows } from "./upsert-queries.ts";
import type { ContactChange } from "./upsert-rounds.ts";

const server = useTestServer({ ROLES: "api" });
const RUNS = 60;
const WAIT = { timeout: 30_000, interval: 20 };
const WAITING_FOR_LOCK =
  "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";

/** Records nothing, but takes the ways of a statement that records. */
const RECORDER: ChangeRecorder = {
  recordPatches: (patched) => sql`select id from (${patched}) p`,
  recordFlips: async () => {},
};

const upsert = (changes: readonly ContactChange[], recorder?: ChangeRecorder) =>
  transaction(server.database, (tx) => upsertContacts(tx, changes, recorder));

const change = (projectId: string, email: string, parts: { subscribed?: boolean; data?: object } = {}) => ({
  projectId,
  email,
  subscribedIfNew: true,
  patch: readDataPatch(parts.data as Record<string, unknown> | undefined),
  via: viaApi(null),
  ...(parts.subscribed === undefined ? {} : { subscribed: parts.subscribed }),
});

interface Stored {
  email: string;
  subscribed: boolean;
  data: Record<string, unknown>;
}

const readContacts = (projectId: string) =>
  server.rows<Stored>(
    "select email, subscribed, data from contacts where project_id = $1 order by email",
    projectId,
  );
const readFlips = (projectId: string) =>
  server.rows<{ email: string; name: string }>(
    `select c.email, e.name from events e join contacts c on c.project_id = e.project_id and c.id = e.contact_id
     where e.project_id = $1 order by c.email, e.id`,
    projectId,
  );

const byEmail = (one: { email: string }, other: { email: string }) => (one.email < other.email ? -1 : 1);

/** Returns the expected state by applying the changes in order. */
function model(changes: readonly ContactChange[]) {
  const contacts = new Map<string, Stored>();
  const flips: Array<{ email: string; name: string }> = [];
  const isNew = changes.map(({ email, subscribed, subscribedIfNew, patch }) => {
    const before = contacts.get(email);
    const contact = before ?? { email, subscribed: subscribed ?? subscribedIfNew, data: {} };
    if (subscribed !== undefined && subscribed !== contact.subscribed) {
      contact.subscribed = subscribed;
      flips.push({ email, name: subscribed ? "contact.subscribed" : "contact.unsubscribed" });
    }
    for (const key of patch.remove) delete contact.data[key];
    contact.data = { ...contact.data, ...patch.set };
    contacts.set(email, contact);
    return before === undefined;
  });
  return {
    isNew,
    contacts: [...contacts.values()].toSorted(byEmail),
    flips: ["a", "b", "c"].flatMap((name) => flips.filter(({ email }) => email === `${name}@example.com`)),
  };
}

const changes = fc.array(
  fc.record({
    email: fc.constantFrom("a@example.com", "b@example.com", "c@example.com"),
    subscribed: fc.option(fc.boolean(), { nil: undefined }),
    data: fc.dictionary(
      fc.constantFrom("k", "l", "toString"),
      fc.oneof(fc.integer(), fc.constantFrom(null, "", "x", { value: 1, persistent: false })),
    ),
  }),
  { maxLength: 12 },
);

test("a batch has the same effect as its changes in order, however it is split", async () => {
  await fc.assert(
    fc.asyncProperty(changes, fc.nat(12), fc.boolean(), async (drawn, cut, isRecorded) => {
      const { id } = await server.createProject(server.project.owner);
      const all = drawn.map(({ email, subscribed, data }) =>
        change(id, email, { data, ...(subscribed === undefined ? {} : { subscribed }) }),
      );
      const recorder = isRecorded ? RECORDER : undefined;
      const outcomes = [
        ...(await upsert(all.slice(0, cut), recorder)),
        ...(await upsert(all.slice(cut), recorder)),
      ];
      const expected = model(all);
      expect(outcomes.map(({ isNew }) => isNew)).toEqual(expected.isNew);
      expect(await readContacts(id)).toEqual(expected.contacts);
      expect(await readFlips(id)).toEqual(expected.flips);
    }),
    { numRuns: RUNS },
  );
});

test("a recorded statement without hashes of addresses creates contacts only while there is no opt-out", async () => {
  const { id } = await server.createProject();
  const row = rowOf(change(id, "ada@example.com"), { hashes: false });
  const run = () => upsertContactRows(server.database, contactUpsert([row], [], RECORDER.recordPatches));
  await server.rows("insert into opt_outs (project_id, address_hash) values ($1, $2)", id, newId());
  expect(await run()).toEqual([]);
  expect(await readContacts(id)).toEqual([]);
  await server.rows("delete from opt_outs where project_id = $1", id);
  expect(await run()).toHaveLength(1);
});

test("a list of many statements' length is one whole: ids, data and flips, each contact once", async () => {
  const { id } = await server.createProject();
  const emails = Array.from({ length: 2_300 }, (_, at) => `many${at}@example.com`);
  const make = (at: number) => change(id, emails[at] ?? "", { data: { text: `"${at}\\\n{,'\u0001` } });
  const first = await upsert(emails.map((_, at) => make(at)));
  expect(new Set(first.map(({ contactId }) => contactId)).size).toBe(emails.length);
  const flips = emails.map((email, at) => change(id, email, at % 3 === 0 ? { subscribed: false } : {}));
  const second = await upsert([...flips, make(7), ...flips]);
  expect(second.map(({ contactId }) => contactId)).toEqual(
    [...first, first[7], ...first].map((outcome) => outcome?.contactId),
  );
  expect([...first, ...second].filter(({ isNew }) => isNew)).toHaveLength(emails.length);
  expect(second.some(({ isChanged }) => isChanged)).toBe(false);
  expect(await readFlips(id)).toHaveLength(Math.ceil(emails.length / 3));
  const stored = new Map((await readContacts(id)).map(({ email, data }) => [email, data]));
  expect(emails.filter((email, at) => stored.get(email)?.["text"] !== `"${at}\\\n{,'\u0001`)).toEqual([]);
});

test("two hundred changes of one contact with alternating subscription keep their order", async () => {
  const { id } = await server.createProject();
  const ordered = Array.from({ length: 200 }, (_, at) =>
    change(id, "ada@example.com", { subscribed: at % 2 === 0, data: { last: at, [`k${at % 7}`]: at } }),
  );
  const outcomes = await upsert(ordered);
  expect(new Set(outcomes.map(({ contactId }) => contactId)).size).toBe(1);
  expect(await readContacts(id)).toEqual(model(ordered).contacts);
  const flips = (await readFlips(id)).map(({ name }) => name);
  expect(flips).toEqual(
    Array.from({ length: 199 }, (_, at) => (at % 2 === 0 ? "contact.unsubscribed" : "contact.subscribed")),
  );
});

test("events of one contact keep their order in the ingest, mixed with other contacts", async () => {
  const { id } = await server.createProject();
  const tracker = createTracker(server.database);
  const responses = await Promise.all(
    Array.from({ length: 300 }, (_, at) =>
      tracker.submit({
        projectId: id,
        email: at % 3 === 0 ? "ada@example.com" : `other${at}@example.com`,
        event: `step ${at}`,
        subscribed: at % 3 === 0 ? at % 2 === 0 : undefined,
        data: { at },
        keyed: null,
        bodyBytes: 0,
        via: viaApi(null),
      }),
    ),
  );
  await tracker.drained();
  const steps = await server.rows<{ name: string }>(
    "select name from events where project_id = $1 and contact_id = $2 and name like 'step %' order by id",
    id,
    responses[0]?.contact,
  );
  expect(steps.map(({ name }) => name)).toEqual(Array.from({ length: 100 }, (_, at) => `step ${at * 3}`));
  const [ada] = await readContacts(id);
  expect(ada).toEqual({ email: "ada@example.com", subscribed: false, data: { at: 297 } });
  const flips = (await readFlips(id)).filter(({ name }) => name.startsWith("contact."));
  expect(flips.map(({ name }) => name)).toEqual(
    Array.from({ length: 99 }, (_, at) => (at % 2 === 0 ? "contact.unsubscribed" : "contact.subscribed")),
  );
});

test("events that reach the database late get new ids in order, which are returned", async () => {
  const { id: projectId } = await server.createProject();
  const happenings = ["a", "b", "a", "a"].map((name, n) => ({
    change: change(projectId, `${name}@example.com`, { data: { n } }),
    event: "seen",
    data: { n },
  }));
  const [{ ms: startedMs = 0 } = {}] = await server.rows<{ ms: number }>(
    "select floor(extract(epoch from now()) * 1000)::float8 as ms",
  );
  // Simulates a process that paused, or waited for a connection, between making the ids and the statement.
  const clock = vi.spyOn(Date, "now").mockReturnValue(Date.now() - 20_000);
  const tracking = upsertContactsWithEvents(server.database, happenings);
  clock.mockRestore();
  const responses = await tracking;
  const stored = await server.rows<{ id: string; contactId: string; data: object }>(
    "select id, contact_id, data from events where project_id = $1 order by id",
    projectId,
  );
  expect(stored.map(({ id, contactId }) => ({ id, contactId }))).toEqual(
    responses.map(({ id, contactId }) => ({ id, contactId })),
  );
  expect(stored.map(({ data }) => data)).toEqual(happenings.map(({ data }) => data));
  expect(idTimeMs(stored[0]?.id ?? "")).toBeGreaterThanOrEqual(startedMs - 1_000);
  expect(await readContacts(projectId)).toMatchObject([
    { email: "a@example.com", data: { n: 3 } },
    { email: "b@example.com", data: { n: 1 } },
  ]);
});

test("concurrent upserts of the same new addresses create each contact once, without deadlock", async () => {
  const { id } = await server.createProject();
  const emails = Array.from({ length: 20 }, (_, at) => `p${at}@example.com`);
  const batches = await Promise.all(
    Array.from({ length: 8 }, (_, batch) =>
      upsert(
        (batch % 2 === 0 ? emails : emails.toReversed()).map((email) =>
          change(id, email, { data: { [`b${batch}`]: batch } }),
        ),
      ),
    ),
  );
  expect(batches.flat().filter(({ isNew }) => isNew)).toHaveLength(20);
  const everything = { b0: 0, b1: 1, b2: 2, b3: 3, b4: 4, b5: 5, b6: 6, b7: 7 };
  expect(await readContacts(id)).toEqual(
    emails.toSorted().map((email) => ({ email, subscribed: true, data: everything })),
  );
});

test("a patch merges into a contact that another transaction inserts concurrently", async () => {
  const { id } = await server.createProject();
  const email = "ada@example.com";
  const second = await transaction(server.database, async (tx) => {
    await upsertContacts(tx, [change(id, email, { data: { kept: 1, gone: 1, laid: 1 } })]);
    const patch = upsert([change(id, email, { data: { gone: null, laid: 2, added: 2 } })]);
    await vi.waitFor(async () => expect(await server.rows(WAITING_FOR_LOCK)).toHaveLength(1), WAIT);
    // Wrapped in an object, so that the promise is not awaited before the first transaction commits.
    return { patch };
  });
  expect(await second.patch).toMatchObject([{ isNew: false, isChanged: true }]);
  expect(await readContacts(id)).toEqual([{ email, subscribed: true, data: { kept: 1, laid: 2, added: 2 } }]);
});

test("a change without effect leaves the contact and its update time unchanged", async () => {
  const { id } = await server.createProject();
  const email = "ada@example.com";
  await upsert([change(id, email, { data: { plan: "pro", deep: { a: [1] } } })]);
  const readTime = () => server.rows("select updated_at, xmin from contacts where project_id = $1", id);
  const before = await readTime();
  for (const data of [undefined, {}, { plan: "pro" }, { deep: { a: [1] } }, { missing: null }, { plan: "" }])
    expect(await upsert([change(id, email, { subscribed: true, ...(data && { data }) })])).toMatchObject([
      { isNew: false, isChanged: false },
    ]);
  expect(await readTime()).toEqual(before);
  await upsert([change(id, email, { data: { plan: null } })]);
  expect(await readTime()).not.toEqual(before);
});

test("concurrent flips in opposite directions record one event per flip", async () => {
  const { id } = await server.createProject();
  const [outcome] = await upsert([change(id, "ada@example.com", { subscribed: true })]);
  await Promise.all(
    Array.from({ length: 40 }, (_, at) =>
      transaction(server.database, (tx) =>
        flipAndRecord(tx, [
          { projectId: id, id: outcome?.contactId ?? "", subscribed: at % 2 === 0, via: viaApi(null) },
        ]),
      ),
    ),
  );
  const names = (await readFlips(id)).map(({ name }) => name);
  const unsubscribed = names.filter((name) => name === "contact.unsubscribed").length;
  const subscribed = names.length - unsubscribed;
  const [contact] = await readContacts(id);
  expect(unsubscribed - subscribed).toBe(contact?.subscribed === true ? 0 : 1);
});

test("repeated upserts of single contacts reuse the query plan", async () => {
  const { id } = await server.createProject();
  const planned = await transaction(server.database, async (tx) => {
    const plansMade = async () => {
      const { rows } = await sql<{ own: number }>`
        select sum(custom_plans)::integer as own from pg_prepared_statements where statement like '/* planned often%'`.execute(
        tx,
      );
      return rows[0]?.own ?? 0;
    };
    await sql`
      insert into contacts (project_id, id, email, subscribed)
      select ${id}, new_id(), 'reader' || n || '@example.com', true from generate_series(1, 20000) n`.execute(
      tx,
    );
    await sql`analyze contacts`.execute(tx);
    await upsertContacts(tx, [change(id, "ada@example.com")]);
    const before = await plansMade();
    for (let at = 0; at < 20; at++) await upsertContacts(tx, [change(id, `ada${at}@example.com`)]);
    return (await plansMade()) - before;
  });
  expect(planned).toBeLessThanOrEqual(5);
});

test.for([
  [
    "the column that PostgreSQL names",
    { column: "contact_id", message: "NULL-Wert in Spalte »contact_id«" },
    true,
  ],
  ["the message of a worker", { message: 'null value in column "contact_id" of relation "events_1"' }, true],
  ["another column", { column: "name", message: 'null value in column "name"' }, false],
] as const)("recognizes a left-out contact by %s", ([, error, expected]) => {
  expect(isLeftOut(Object.assign(new Error(error.message), { code: "23502" }, error))).toBe(expected);
});
