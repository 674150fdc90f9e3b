// Calls statements on domains for the second time, and on keys that are not there.
import { sql, type RawBuilder } from "kysely";
import { expect, test } from "vitest";
import { useSampleDatabase } from "../testing/sample-database.ts";
import type { Tx } from "../platform/database/database.ts";
import { id } from "../testing/sample-rows.ts";
import { listDueDomains, promoteNextKey, updateCheck, updateLocalCheck } from "./check-queries.ts";
import { findReceivingRows, updateReceives } from "./queries.ts";

const { undone } = useSampleDatabase();

const key = { projectId: id.project, id: id.domain };
const set = (tx: Tx, changes: RawBuilder<unknown>) => sql`update domains set ${changes}`.execute(tx);
async function read(tx: Tx, statement: RawBuilder<unknown>): Promise<unknown> {
  return (await statement.execute(tx)).rows[0];
}
const aged = sql`status_changed_at = now() - interval '1 day', updated_at = now() - interval '1 day'`;
const times = sql`select status_changed_at = now() as status, updated_at = now() as updated, last_checked_at = now() as checked from domains`;

const check = (tx: Tx, hasChanged: boolean) =>
  updateCheck(tx, key, {
    status: "VERIFIED",
    hasChanged,
    failedChecks: 0,
    failedAt: null,
    dnsFound: {},
    dnsLookups: {},
    ed25519Published: false,
    checkProblem: null,
    nextCheckMs: 60_000,
  });

test("a check moves the time of the status only if it changed", async () => {
  const result = await undone(async (tx) => {
    await set(tx, aged);
    await check(tx, false);
    const same = [await read(tx, times), (await listDueDomains(tx, 5)).length];
    await check(tx, true);
    const changed = await read(tx, times);
    await set(tx, sql`next_check_at = now()`);
    return [same, changed, (await listDueDomains(tx, 5)).length];
  });
  expect(result).toEqual([
    [{ status: false, updated: false, checked: true }, 0],
    { status: true, updated: true, checked: true },
    1,
  ]);
});

test("a check without DNS counts as a change only the first time", async () => {
  const result = await undone(async (tx) => {
    await set(tx, aged);
    await updateLocalCheck(tx, key);
    const first = await read(tx, times);
    await set(tx, sql`${aged}, last_checked_at = now() - interval '1 day'`);
    await updateLocalCheck(tx, key);
    return [first, await read(tx, times)];
  });
  expect(result).toEqual([
    { status: false, updated: true, checked: true },
    { status: false, updated: false, checked: true },
  ]);
});

test("the next key signs once it exists, and the former one is kept only on request", async () => {
  const keys = sql`select dkim_selector as signs, second_dkim_selector as former, second_dkim_private_key is null as deleted,
    extract(epoch from second_dkim_until - now())::integer as seconds from domains`;
  const next = sql`second_dkim_selector = 'n', second_dkim_public_key = 'k', second_dkim_private_key = ${Buffer.from("p")}, second_dkim_until = null`;
  const result = await undone(async (tx) => {
    const states = [];
    await promoteNextKey(tx, key, 60_000);
    states.push(await read(tx, keys));
    await set(tx, next);
    await promoteNextKey(tx, key, 60_000);
    states.push(await read(tx, keys));
    await promoteNextKey(tx, key, 60_000);
    states.push(await read(tx, keys));
    await set(tx, sql`${next}, dkim_selector = 's'`);
    await promoteNextKey(tx, key, null);
    return [...states, await read(tx, keys)];
  });
  const kept = { signs: "n", former: "s", deleted: true, seconds: 60 };
  expect(result).toEqual([
    { signs: "s", former: null, deleted: true, seconds: null },
    kept,
    kept,
    { signs: "n", former: null, deleted: true, seconds: null },
  ]);
});

const rows = async (tx: Tx) =>
  (await findReceivingRows(tx, ["shop.example", "other.example"])).map(({ isRecent }) => isRecent);

test("a domain receives email while that is on, and its status is recent for four days", async () => {
  const result = await undone(async (tx) => {
    await updateReceives(tx, key, false);
    const found = [await rows(tx)];
    await updateReceives(tx, key, true);
    for (const hours of [95, 97]) {
      await set(tx, sql`status_changed_at = now() - make_interval(hours => ${hours}::integer)`);
      found.push(await rows(tx));
    }
    await set(tx, aged);
    await updateReceives(tx, key, true);
    const same = (await read(tx, times)) as { updated: boolean };
    return [...found, same.updated];
  });
  expect(result).toEqual([[], [true], [false], false]);
});
