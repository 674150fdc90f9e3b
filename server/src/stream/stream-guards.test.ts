// Calls statements of endpoints and deliveries in states that must not change, or must change completely.
import { sql, type RawBuilder } from "kysely";
import { expect, test } from "vitest";
import type { Tx } from "../platform/database/database.ts";
import { useSampleDatabase } from "../testing/sample-database.ts";
import { newId } from "../platform/ids.ts";
import { id } from "../testing/sample-rows.ts";
import { updateFailedToResend, updateToResend } from "./delivery-log-queries.ts";
import { listBusyEndpoints, updateAttempt, updateToDisabled } from "./delivery-queries.ts";
import { findCallable, updateEndpoint, updateEndpointSecret } from "./endpoint-queries.ts";
import { listProjectsToNumber } from "./log-queries.ts";
import { findNumberBefore, updateToReplay } from "./replay-queries.ts";

const { undone } = useSampleDatabase();

const key = { projectId: id.project, id: id.endpoint };
const DAYS = 3;

async function read(tx: Tx, statement: RawBuilder<unknown>): Promise<unknown> {
  return (await statement.execute(tx)).rows[0];
}
const setDelivery = (tx: Tx, changes: RawBuilder<unknown>) =>
  sql`update event_deliveries set ${changes}`.execute(tx);
const setEndpoint = (tx: Tx, changes: RawBuilder<unknown>) =>
  sql`update webhook_endpoints set ${changes}`.execute(tx);
const deliveryOf = (tx: Tx) =>
  read(
    tx,
    sql`select state, tries, first_failed_at is null as never_failed, ended_at is null as open, claim_id, due_at <= now() as due
      from event_deliveries`,
  );
const AS_NEW = { state: "waiting", tries: 0, neverFailed: true, open: true, claimId: null, due: true };
const failed = sql`state = 'failed', tries = 20, first_failed_at = now() - interval '9 days', ended_at = now(), due_at = null, claim_id = null`;
const attempt = (tx: Tx, error: string | null = "broken") =>
  updateAttempt(
    tx,
    {
      projectId: id.project,
      endpointId: id.endpoint,
      ids: [id.delivery],
      claimId: id.claim,
      waitSeconds: 5,
      status: 500,
      body: null,
      error,
      durationMs: 1,
    },
    DAYS,
  );

test.each<[string, (tx: Tx) => Promise<unknown>]>([
  ["alone", (tx) => updateToResend(tx, key, id.delivery)],
  ["with all failed ones", (tx) => updateFailedToResend(tx, key, 5)],
])("a failed event that is sent again %s has all its tries, like a new one", async (_, resend) => {
  const result = await undone(async (tx) => {
    await setDelivery(tx, failed);
    await resend(tx);
    return deliveryOf(tx);
  });
  expect(result).toEqual(AS_NEW);
});

test("an event is sent again only after the lease of its call", async () => {
  const result = await undone(async (tx) => {
    await setDelivery(tx, sql`tries = 3, due_at = now() + interval '1 second'`);
    await updateToResend(tx, key, id.delivery);
    const during = await deliveryOf(tx);
    await setDelivery(tx, sql`due_at = now()`);
    await updateToResend(tx, key, id.delivery);
    return [during, await deliveryOf(tx)];
  });
  expect(result).toEqual([{ ...AS_NEW, tries: 3, claimId: id.claim, due: false }, AS_NEW]);
});

test("enabling an endpoint retries what waits, but leaves running calls of an enabled one alone", async () => {
  const result = await undone(async (tx) => {
    const enable = () => updateEndpoint(tx, id.project, id.endpoint, { enabled: true });
    await setDelivery(tx, sql`first_failed_at = now(), due_at = now() + interval '1 minute'`);
    await enable();
    const enabled = await deliveryOf(tx);
    await setEndpoint(tx, sql`enabled = false, disabled_reason = 'r', failing_since = now()`);
    const { disabledReason, failingSince } = await enable();
    return [enabled, await deliveryOf(tx), disabledReason, failingSince];
  });
  expect(result).toEqual([
    { ...AS_NEW, neverFailed: false, claimId: id.claim, due: false },
    AS_NEW,
    null,
    null,
  ]);
});

test("an endpoint is disabled once, and only after it failed for all the days", async () => {
  const result = await undone(async (tx) => {
    const disable = () => updateToDisabled(tx, key, { days: DAYS, reason: "r" });
    const ends = [await disable()];
    for (const hours of [DAYS * 24 - 1, DAYS * 24 + 1]) {
      await setEndpoint(tx, sql`failing_since = now() - make_interval(hours => ${hours}::integer)`);
      ends.push(await disable());
    }
    return [...ends, await disable()];
  });
  expect(result).toEqual([undefined, undefined, "https://x.example", undefined]);
});

test("a failure keeps the times of the first one, and a success forgets that of the endpoint", async () => {
  const times = sql`select e.failing_since < now() as failing_before, d.first_failed_at < now() as failed_before
    from webhook_endpoints e, event_deliveries d`;
  const result = await undone(async (tx) => {
    await attempt(tx);
    const first = await read(tx, times);
    await setDelivery(tx, sql`first_failed_at = now() - interval '1 hour', claim_id = ${id.claim}`);
    await setEndpoint(tx, sql`failing_since = now() - interval '1 hour'`);
    await attempt(tx);
    const second = await read(tx, times);
    await setDelivery(tx, sql`claim_id = ${id.claim}`);
    await attempt(tx, null);
    return [first, second, await read(tx, times)];
  });
  expect(result).toEqual([
    { failingBefore: false, failedBefore: false },
    { failingBefore: true, failedBefore: true },
    { failingBefore: null, failedBefore: true },
  ]);
});

const ago = (hours: number | null) => sql`now() - make_interval(hours => ${hours}::integer)`;

test("an event fails for good only if the endpoint accepted another one since its first failure", async () => {
  const result = await undone(async (tx) => {
    const states = [];
    for (const [delivery, endpoint] of [
      [71, null],
      [73, 74],
      [73, 72],
      [73, null],
    ] as const) {
      await setDelivery(
        tx,
        sql`state = 'waiting', due_at = now(), claim_id = ${id.claim}, first_failed_at = ${ago(delivery)}`,
      );
      await setEndpoint(tx, sql`failing_since = ${ago(endpoint)}`);
      states.push(...(await attempt(tx)));
    }
    return states;
  });
  expect(result).toEqual(["waiting", "waiting", "failed", "failed"]);
});

test("a replay moves an endpoint back and never forward, and keeps ended deliveries", async () => {
  const state = sql`select position::integer, previous::integer, (select count(*)::integer from event_deliveries) as kept from webhook_endpoints`;
  const result = await undone(async (tx) => {
    await updateToReplay(tx, key, 2);
    const ahead = await read(tx, state);
    await setDelivery(tx, failed);
    await updateToReplay(tx, key, 0);
    const ended = await read(tx, state);
    await setDelivery(tx, sql`state = 'waiting', due_at = now()`);
    await updateToReplay(tx, key, 1);
    const before = await read(tx, state);
    await updateToReplay(tx, key, 0);
    return [ahead, ended, before, await read(tx, state)];
  });
  expect(result).toEqual([
    { position: 1, previous: 0, kept: 1 },
    { position: 0, previous: 0, kept: 1 },
    { position: 0, previous: 0, kept: 1 },
    { position: 0, previous: 0, kept: 0 },
  ]);
});

test("a replay since a time begins a minute earlier, because events commit late", async () => {
  const result = await undone(async (tx) => {
    const found = [];
    for (const seconds of [59, 61]) {
      await sql`update event_log set recorded_at = now() - make_interval(secs => ${seconds})`.execute(tx);
      const { rows } = await sql<{ at: Date }>`select now() as at`.execute(tx);
      found.push(await findNumberBefore(tx, id.project, rows[0]?.at.toISOString() ?? ""));
    }
    return found;
  });
  expect(result).toEqual([0, undefined]);
});

test.each([
  ["project is disabled", sql`update projects set disabled = true`],
  ["endpoint is disabled", sql`update webhook_endpoints set enabled = false`],
])("an endpoint has no work if its %s", async (_, change) => {
  const result = await undone(async (tx) => {
    const before = await listBusyEndpoints(tx);
    await change.execute(tx);
    return [before.length, await listBusyEndpoints(tx)];
  });
  expect(result).toEqual([1, []]);
});

test("a disabled project numbers no events", async () => {
  const result = await undone(async (tx) => {
    const before = await listProjectsToNumber(tx, "test");
    await sql`update projects set disabled = true`.execute(tx);
    return [before, await listProjectsToNumber(tx, "test")];
  });
  expect(result).toEqual([[id.project], []]);
});

test("a secret of any age signs for the given hours after its rotation, and no longer", async () => {
  const result = await undone(async (tx) => {
    const age = (hours: number) =>
      setEndpoint(tx, sql`secret_made_at = now() - make_interval(hours => ${hours}::integer)`);
    await age(1_000);
    await updateEndpointSecret(tx, id.project, id.endpoint, Buffer.from(newId()));
    const signs = [];
    for (const hours of [0, 23, 25]) {
      if (hours > 0) await age(hours);
      signs.push((await findCallable(tx, id.project, id.endpoint, 24))?.formerSealed !== null);
    }
    return signs;
  });
  expect(result).toEqual([true, true, false]);
});
