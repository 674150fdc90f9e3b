// Calls statements on metering and usage for the second time, and while they are held.
import { sql, type RawBuilder } from "kysely";
import { expect, test } from "vitest";
import { useSampleDatabase } from "../testing/sample-database.ts";
import type { Tx } from "../platform/database/database.ts";
import { id } from "../testing/sample-rows.ts";
import { listCappedProjects, readAccepted } from "./caps-queries.ts";
import { deleteDoneEvents, findCustomer, findDueEvents, insertEvent, updateSubscription } from "./queries.ts";
import {
  beginMetering,
  claimUsage,
  holdUsageRows,
  insertUsage,
  listMetered,
  markFailed,
  markReported,
  moveMetered,
  updateMeteringToBegin,
} from "./usage-queries.ts";

const { undone } = useSampleDatabase();

const { project: projectId } = id;
const metered = (day: string) => ({ projectId, customerId: "cus", meteredFrom: new Date(), day });
const usage = { projectId, day: "2026-01-01", category: "workflows" as const };
const set = (tx: Tx, changes: RawBuilder<unknown>) =>
  sql`update billing_customers set ${changes}`.execute(tx);
async function read(tx: Tx, statement: RawBuilder<unknown>): Promise<unknown> {
  return (await statement.execute(tx)).rows[0];
}
const from = sql`select metered_from::text as from from billing_customers`;

test("a day is metered once, in order, and not while metering is held", async () => {
  const result = await undone(async (tx) => {
    await set(tx, sql`metered_from = '2026-01-01'`);
    const moved = [];
    for (const day of ["05", "05", "04", "06"]) moved.push(await moveMetered(tx, metered(`2026-01-${day}`)));
    await holdUsageRows(tx);
    return [...moved, await moveMetered(tx, metered("2026-01-07"))];
  });
  expect(result).toEqual([true, false, false, true, false]);
});

test("the usage of a day keeps its first number", async () => {
  const result = await undone(async (tx) => {
    await insertUsage(tx, metered("2026-01-01"), [{ category: "workflows", value: 9 }]);
    return read(tx, sql`select value from billing_usage`);
  });
  expect(result).toEqual({ value: 1 });
});

test("metering begins once, and only for a subscription that is not over", async () => {
  const result = await undone(async (tx) => {
    const states = [];
    for (const changes of [
      sql`subscription_status = null`,
      sql`subscription_status = 'canceled'`,
      sql`subscription_status = 'active', metered_from = '2026-01-01 00:00:00+00'`,
      sql`metered_from = null`,
    ]) {
      await set(tx, changes);
      await beginMetering(tx, ["canceled"]);
      states.push(
        await read(
          tx,
          sql`select metered_from = '2026-01-01 00:00:00+00' as kept, now() - metered_from < interval '15 minutes' as fresh from billing_customers`,
        ),
      );
    }
    return states;
  });
  const none = { kept: null, fresh: null };
  expect(result).toEqual([none, none, { kept: true, fresh: false }, { kept: false, fresh: true }]);
});

test("lists the next day of each metered project, up to the last one", async () => {
  const result = await undone(async (tx) => {
    const days = [];
    const limits = { oldest: "2026-01-03", last: "2026-01-09", limit: 5 };
    for (const changes of [
      sql`metered_from = null`,
      sql`metered_from = '2026-01-05 23:59:59+00'`,
      sql`metered_to = '2026-01-08'`,
      sql`metered_to = '2026-01-09'`,
      sql`metered_from = '2025-12-01', metered_to = null`,
      sql`metered_from = 'infinity'`,
    ]) {
      await set(tx, changes);
      days.push((await listMetered(tx, limits)).map(({ day }) => day));
    }
    return days;
  });
  expect(result).toEqual([[], ["2026-01-05"], ["2026-01-09"], [], ["2026-01-03"], []]);
});

const reply = async (tx: Tx, isRunning: boolean) => {
  const known = await findCustomer(tx, projectId);
  if (known === undefined) throw new Error("The sample rows have a customer.");
  await updateSubscription(tx, known, null, isRunning);
  return read(tx, from);
};

test("a reply of Stripe ends metering without a subscription, but not if metering is held", async () => {
  const result = await undone(async (tx) => {
    await set(tx, sql`metered_from = 'infinity'`);
    const held = [await reply(tx, true), await reply(tx, false)];
    await updateMeteringToBegin(tx, projectId);
    const released = await read(tx, from);
    await set(tx, sql`metered_from = '2026-01-01', metered_to = '2026-01-02'`);
    await updateMeteringToBegin(tx, null);
    const running = (await reply(tx, true)) as { from: string };
    return [
      ...held,
      released,
      running.from.slice(0, 10),
      await reply(tx, false),
      await read(tx, sql`select metered_to from billing_customers`),
    ];
  });
  expect(result).toEqual([
    { from: "infinity" },
    { from: "infinity" },
    { from: null },
    "2026-01-01",
    { from: null },
    { meteredTo: null },
  ]);
});

test("a report stays open until Stripe certainly has it or certainly not", async () => {
  const row = sql`select open_since is not null as open, reported_at is not null as reported, error, tries from billing_usage`;
  const result = await undone(async (tx) => {
    const claim = async () => {
      await sql`update billing_usage set due_at = now()`.execute(tx);
      return (await claimUsage(tx, projectId, { seconds: 60, limit: 5 })).map(({ isFirst }) => isFirst);
    };
    const first = await claim();
    await markFailed(tx, usage, { error: "e", isClosed: false, waitSeconds: 1 });
    const open = await read(tx, row);
    const second = await claim();
    await markFailed(tx, usage, { error: "e", isClosed: true, waitSeconds: 1 });
    const closed = await read(tx, row);
    const third = await claim();
    await markReported(tx, usage);
    return [first, open, second, closed, third, await read(tx, row), await claim()];
  });
  expect(result).toEqual([
    [true],
    { open: true, reported: false, error: "e", tries: 1 },
    [false],
    { open: false, reported: false, error: "e", tries: 2 },
    [true],
    { open: false, reported: true, error: null, tries: 3 },
    [],
  ]);
});

test("counts accepted email of each kind against its cap, without test emails", async () => {
  const span = { from: new Date(Date.now() - 3_600_000), to: new Date(Date.now() + 3_600_000) };
  const [counted, stored, others] = await undone(async (tx) => {
    await sql`update emails set priority = 1 where status = 'CLAIMED'`.execute(tx);
    await sql`update emails set priority = 2 where status = 'QUEUED' and campaign_id is null`.execute(tx);
    const all = Object.fromEntries(await readAccepted(tx, projectId, span));
    await sql`update emails set is_test = true where campaign_id is null`.execute(tx);
    const { rows } = await sql<{ status: string; count: number }>`
      select status, count(*)::integer as count from emails where campaign_id is null group by 1`.execute(tx);
    const counts = new Map(rows.map(({ status, count }) => [status, count]));
    const kinds = [all["TRANSACTIONAL"], all["WORKFLOW"]].toSorted();
    const expected = [counts.get("CLAIMED"), counts.get("QUEUED")].toSorted();
    return [kinds, expected, Object.fromEntries(await readAccepted(tx, projectId, span))];
  });
  expect(counted).toEqual(stored);
  // One email of a campaign and two recipients of a batch.
  expect(others).toEqual({ CAMPAIGN: 3 });
});

const list = async (tx: Tx, after: string | null) =>
  (
    await listCappedProjects(tx, {
      after,
      untold: { kind: "k", since: new Date(Date.now() - 60_000) },
      limit: 5,
    })
  ).length;

test("lists projects with a cap that were not notified since, page by page", async () => {
  const result = await undone(async (tx) => {
    const counts = [await list(tx, null)];
    await sql`update billing_limits set workflows = 1`.execute(tx);
    counts.push(await list(tx, null), await list(tx, projectId));
    for (const [kind, minutes] of [
      ["other", 0],
      ["k", 2],
    ] as const) {
      await sql`insert into told_members (project_id, kind, told_at) values (${projectId}, ${kind}, now() - make_interval(mins => ${minutes}::integer))`.execute(
        tx,
      );
      counts.push(await list(tx, null));
    }
    await sql`update told_members set told_at = now()`.execute(tx);
    return [...counts, await list(tx, null)];
  });
  expect(result).toEqual([0, 1, 0, 1, 1, 0]);
});

test("events of Stripe are processed for the longest waiting customer, and kept for days", async () => {
  const result = await undone(async (tx) => {
    for (const [name, customerId, minutes] of [
      ["a", "one", 1],
      ["b", "two", 3],
      ["c", "two", -1],
      ["d", null, 9],
    ] as const) {
      await insertEvent(tx, { id: name, type: "t", customerId, toldAt: new Date() });
      await sql`update stripe_events set due_at = now() - make_interval(mins => ${minutes}::integer) where id = ${name}`.execute(
        tx,
      );
    }
    const due = await findDueEvents(tx, 5);
    const count = async () => read(tx, sql`select count(*)::integer as count from stripe_events`);
    await sql`update stripe_events set done_at = now() - interval '30 days' where id <> 'a'`.execute(tx);
    await deleteDoneEvents(tx, 31);
    const kept = await count();
    await sql`update stripe_events set done_at = now() - interval '32 days' where id <> 'a'`.execute(tx);
    await deleteDoneEvents(tx, 31);
    return [due, kept, await count()];
  });
  expect(result).toEqual([{ customerId: "two", ids: ["b", "c"] }, { count: 4 }, { count: 1 }]);
});
