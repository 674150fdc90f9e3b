// Retention of events by whole months. A month that no project needs is dropped, otherwise rows are deleted, and both leave the same state.
import * as fc from "fast-check";
import { beforeEach, expect, test } from "vitest";
import { transaction, type Database } from "../platform/database/database.ts";
import { listPartitions } from "../platform/database/partitions.ts";
import { newId } from "../platform/ids.ts";
import { addProject } from "../testing/add-project.ts";
import { asCluster } from "../testing/as-cluster.ts";
import { recountNames } from "../testing/recounted-numbers.ts";
import { makeSentMails } from "../testing/sent-mails.ts";
import { useTestServer } from "../testing/test-server.ts";
import { deleteContacts } from "../contacts/contacts.ts";
import { enqueueExpiredEvents } from "../segments/sync-members.ts";
import { countNews } from "./counts.ts";
import { listEventNames } from "./event-names.ts";
import { changeEventRetention, deleteExpired, dropOldMonths } from "./retention.ts";
import { findProjectsOfOldPartition } from "./retention-queries.ts";
import { memberships } from "../segments/usage.ts";

const server = useTestServer({ ROLES: "api" });

const MONTHS = 8;
const CONTACTS = 3;

interface Reported {
  contact: number;
  name: string;
  monthsAgo: number;
  hours: number;
}

/** Recreates empty partitions for the last months in place of the first partition of the database. */
async function remakePartitions(): Promise<void> {
  await server.rows("truncate contacts, events, count_positions, event_retentions cascade");
  await server.rows(`do $$
    declare
      first_partition text := (select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
        where i.inhparent = 'events'::regclass and c.relname like 'events_to_%');
      month timestamptz;
    begin
      if first_partition is not null then execute format('drop table %I', first_partition); end if;
      for ago in 0..${MONTHS - 1} loop
        month := (date_trunc('month', now() at time zone 'UTC') - make_interval(months => ago)) at time zone 'UTC';
        execute format('create table if not exists events_ago_%s partition of events for values from (%L) to (%L)', ago,
          sent_event_id('00000000-0000-0000-0000-000000000000', month),
          sent_event_id('00000000-0000-0000-0000-000000000000', (month at time zone 'UTC' + interval '1 month') at time zone 'UTC'));
      end loop;
    end $$`);
}
beforeEach(remakePartitions);

/** Creates a project with these events and returns its contacts. */
async function notify(events: readonly Reported[]) {
  const projectId = newId();
  await addProject(server.database, { id: projectId });
  const contactIds = Array.from({ length: CONTACTS }, () => newId());
  for (const id of contactIds)
    await server.rows(
      "insert into contacts (project_id, id, email, subscribed) values ($1, $2::uuid, $2::text || '@example.com', true)",
      projectId,
      id,
    );
  for (const { contact, name, monthsAgo, hours } of events)
    await server.rows(
      `insert into events (project_id, id, contact_id, name, created_at)
       select $1, sent_event_id($2, at), $3, $4, at
       from (select (date_trunc('month', now() at time zone 'UTC') - make_interval(months => $5) + make_interval(hours => $6)) at time zone 'UTC' as at) t`,
      projectId,
      newId(),
      contactIds[contact],
      name,
      monthsAgo,
      hours,
    );
  return { projectId, contactIds };
}

const keepFor = (projectId: string, days: number | null) =>
  transaction(server.database, (tx) => changeEventRetention(tx, projectId, days));

/** Drops old months, which one PostgreSQL and a cluster find with different statements. */
async function drop() {
  for (const { name, until } of await listPartitions(server.database, "events")) {
    if (until === null) continue;
    const found = (database: Database) => findProjectsOfOldPartition(database, { name, until });
    const projectIds = await found(server.database);
    expect((await asCluster(server.pool, found))?.toSorted()).toEqual(projectIds?.toSorted());
  }
  return dropOldMonths(server.database, enqueueExpiredEvents);
}

async function deleteAll(batchSize: number): Promise<void> {
  for (let more = true; more;)
    more = await deleteExpired(server.database, enqueueExpiredEvents, { batchSize });
}

/** Returns the remaining rows and counts of a project. */
async function leftOf({ projectId, contactIds }: { projectId: string; contactIds: string[] }) {
  const events = await server.rows<{ contact: number; name: string; createdAt: Date }>(
    "select array_position($2::uuid[], contact_id) as contact, name, created_at from events where project_id = $1 order by 1, 2, 3",
    projectId,
    contactIds,
  );
  const counts = await server.rows(
    "select quarter, name, count from event_counts where project_id = $1 and count <> 0 order by 1, 2",
    projectId,
  );
  const { names } = await listEventNames(server.database, projectId);
  expect(names).toEqual(await recountNames(server, projectId));
  return { events, counts };
}

const partitionNames = async () =>
  (
    await server.rows<{ name: string }>(
      "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'events'::regclass",
    )
  ).map(({ name }) => name);

const onceAMonth = Array.from({ length: MONTHS }, (_, monthsAgo) => ({
  contact: 0,
  name: "seen",
  monthsAgo,
  hours: 0,
}));

const happened = fc.record({
  contact: fc.nat(CONTACTS - 1),
  name: fc.constantFrom("seen", "paid"),
  monthsAgo: fc.nat(MONTHS - 1),
  hours: fc.integer({ min: 0, max: 27 * 24 }),
});

test("dropped and deleted months leave equal events and counts, also after deleting a contact", async () => {
  await fc.assert(
    fc
      .asyncProperty(
        fc.array(happened, { maxLength: 14 }),
        fc.integer({ min: 30, max: 170 }),
        fc.integer({ min: 1, max: 4 }),
        async (events, days, batch) => {
          const holding = await notify(onceAMonth);
          const deleted = await notify(events);
          await countNews(server.database, { lagSeconds: 0 });
          await keepFor(deleted.projectId, days);
          expect(await drop()).toEqual({ dropped: [], isBusy: false });
          await deleteAll(batch);
          await server.rows("delete from events where project_id = $1", holding.projectId);

          const dropped = await notify(events);
          await countNews(server.database, { lagSeconds: 0 });
          await keepFor(dropped.projectId, days);
          const before = await partitionNames();
          const { dropped: names } = await drop();
          expect(await partitionNames()).toEqual(before.filter((name) => !names.includes(name)));
          expect(names.length).toBeGreaterThan(0);
          expect(await leftOf(dropped)).toEqual(await leftOf(deleted));

          for (const { projectId, contactIds } of [deleted, dropped])
            await transaction(server.database, (tx) =>
              deleteContacts(tx, projectId, contactIds.slice(0, 1), [memberships]),
            );
          expect(await leftOf(dropped)).toEqual(await leftOf(deleted));
        },
      )
      .beforeEach(remakePartitions),
    { numRuns: 8 },
  );
});

test("a month stays while a project has longer or unlimited retention or uncounted events", async () => {
  const reported = await notify(onceAMonth);
  const other = await notify(onceAMonth);
  await keepFor(reported.projectId, 30);
  // No event has been counted yet.
  await keepFor(other.projectId, 30);
  expect((await drop()).dropped).toEqual([]);
  await deleteAll(10);
  expect((await leftOf(reported)).events).toHaveLength(MONTHS);

  // In a project without new events, the position is directly after its last event.
  const quiet = await notify(onceAMonth.slice(-1));
  await keepFor(quiet.projectId, 30);
  await countNews(server.database, { lagSeconds: 0 });
  await server.rows(
    `update count_positions c set position = sent_event_id('ffffffff-ffff-7fff-bfff-ffffffffffff', e.created_at)
     from events e where e.project_id = c.project_id and c.project_id = $1`,
    quiet.projectId,
  );
  await keepFor(other.projectId, null);
  expect((await drop()).dropped).toEqual([]);
  await keepFor(other.projectId, 170);
  const { dropped } = await drop();
  expect(dropped).toContain(`events_ago_${MONTHS - 1}`);
  expect(dropped).not.toContain("events_ago_4");
  const left = (await leftOf(other)).events.length;
  expect(left).toBeGreaterThanOrEqual(5);
  await deleteAll(1);
  expect((await leftOf(other)).events).toHaveLength(left);
  expect([1, 2, 3]).toContain((await leftOf(reported)).events.length);
  expect((await leftOf(reported)).counts).toHaveLength(MONTHS);
});

test("a tracked segment becomes due when old events of its contacts are deleted", async () => {
  const reported = await notify(onceAMonth);
  const id = newId();
  await server.rows(
    `insert into segments (project_id, id, name, slug, type, track_membership, filters, causes)
     values ($1, $2, 'Seen', 'seen', 'DYNAMIC', true, '{}', '{seen}')`,
    reported.projectId,
    id,
  );
  const isDue = () => server.rows("select 1 from segments where id = $1 and compute_due_at <= now()", id);
  await countNews(server.database, { lagSeconds: 0 });
  await deleteAll(10);
  expect(await isDue()).toEqual([]);
  await keepFor(reported.projectId, 30);
  await deleteAll(10);
  expect(await isDue()).toHaveLength(1);
});

test("a long read of events blocks no one, and the month is dropped in a later run", async () => {
  const reported = await notify(onceAMonth);
  await countNews(server.database, { lagSeconds: 0 });
  await keepFor(reported.projectId, 30);
  await transaction(server.database, async (reading) => {
    await reading.selectFrom("events").select("id").limit(1).execute();
    expect(await drop()).toEqual({ dropped: [], isBusy: true });
  });
  expect((await leftOf(reported)).events).toHaveLength(MONTHS);
  expect((await drop()).dropped.length).toBeGreaterThan(4);
});

test("counts of a name include kept events only, and emails until their contact is deleted", async () => {
  const reported = await notify(onceAMonth);
  const [mail] = await makeSentMails(server.database, reported.projectId, 2);
  await server.rows(
    "update emails set sent_at = now() - interval '200 days' where project_id = $1",
    reported.projectId,
  );
  await countNews(server.database, { lagSeconds: 0 });
  await keepFor(reported.projectId, 30);
  await deleteAll(2);
  const counts = async () =>
    (await listEventNames(server.database, reported.projectId)).names
      .filter(({ name }) => ["email.sent", "seen"].includes(name))
      .map(({ name, count }) => `${name} ${count}`);
  const kept = (await leftOf(reported)).events.filter(({ name }) => name === "seen").length;
  expect(kept).toBeLessThan(MONTHS);
  expect(await counts()).toEqual(["email.sent 2", `seen ${kept}`]);
  await transaction(server.database, (tx) =>
    deleteContacts(tx, reported.projectId, [mail?.contactId ?? ""], [memberships]),
  );
  expect(await counts()).toEqual(["email.sent 1", `seen ${kept}`]);
  await leftOf(reported);
});
