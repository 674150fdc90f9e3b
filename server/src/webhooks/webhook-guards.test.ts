// Calls statements on webhook calls that run, have ended or are held.
import { sql, type RawBuilder } from "kysely";
import { expect, test } from "vitest";
import type { Tx } from "../platform/database/database.ts";
import { useSampleDatabase } from "../testing/sample-database.ts";
import { newId } from "../platform/ids.ts";
import { id } from "../testing/sample-rows.ts";
import {
  countHeldCalls,
  deleteWaitingCalls,
  deleteWaitingCallsOf,
  insertCalls,
  listWaitingProjects,
  updateCallsToDropped,
  updateCallsToHeld,
  updateCallsToReleased,
} from "./queries.ts";

const { undone } = useSampleDatabase();

const { project: projectId } = id;
const set = (tx: Tx, changes: RawBuilder<unknown>) => sql`update webhook_calls set ${changes}`.execute(tx);
const callOf = async (tx: Tx) =>
  (
    await sql`
      select url, state, tries, claim_id is null as free, due_at = now() as is_due, ended_at is null as open, response_status, error
      from webhook_calls`.execute(tx)
  ).rows;
const AS_NEW = {
  url: "https://y.example",
  state: "waiting",
  tries: 0,
  free: true,
  isDue: true,
  open: true,
  responseStatus: null,
  error: null,
};

const again = (tx: Tx, ownerId: string) =>
  insertCalls(tx, [
    {
      projectId,
      id: id.call,
      ownerKind: "workflow",
      ownerId,
      ownerRef: "r",
      url: "https://y.example",
      method: "POST",
      headers: "{}",
      body: null,
    },
  ]);

const urlOf = async (tx: Tx) => (await callOf(tx)).map((call) => (call as { url: string }).url);

test("a call that ended is made again like a new one, and no call of another owner or one that waits", async () => {
  const result = await undone(async (tx) => {
    await again(tx, id.workflow);
    const urls = await urlOf(tx);
    await set(
      tx,
      sql`state = 'failed', tries = 9, due_at = null, ended_at = now(), claim_id = ${newId()}, response_status = 500, error = 'e'`,
    );
    await again(tx, newId());
    urls.push(...(await urlOf(tx)));
    await again(tx, id.workflow);
    return [urls, await callOf(tx)];
  });
  expect(result).toEqual([["https://x.example", "https://x.example"], [AS_NEW]]);
});

test("a changed webhook ends the waiting calls to its former URL, and keeps those to the new one", async () => {
  const owner = { projectId, ownerKind: "workflow", ownerId: id.workflow };
  const result = await undone(async (tx) => {
    const end = async (exceptUrl: string | null, ownerId = id.workflow) => {
      await deleteWaitingCallsOf(tx, { ...owner, ownerId, exceptUrl });
      return (await callOf(tx)).length;
    };
    const left = [await end("https://x.example"), await end(null, newId())];
    await set(tx, sql`state = 'done', due_at = null, ended_at = now()`);
    left.push(await end(null), (await deleteWaitingCalls(tx, [{ projectId, id: id.call }])).length);
    await set(tx, sql`state = 'waiting', due_at = now(), ended_at = null`);
    return [...left, await end(null)];
  });
  expect(result).toEqual([1, 1, 1, 0, 0]);
});

const list = async (tx: Tx) => (await listWaitingProjects(tx)).map(({ dueInMs }) => dueInMs);

test("calls of a disabled project and held calls wait for nothing", async () => {
  const result = await undone(async (tx) => {
    await set(tx, sql`due_at = now() + interval '2 seconds'`);
    const waits = [await list(tx)];
    await set(tx, sql`due_at = 'infinity'`);
    waits.push(await list(tx));
    await set(tx, sql`due_at = now()`);
    await sql`update projects set disabled = true`.execute(tx);
    return [...waits, await list(tx)];
  });
  expect(result).toEqual([[2_000], [], []]);
});

test("only held calls are released or dropped, each project for itself", async () => {
  const result = await undone(async (tx) => {
    const counts = [];
    await updateCallsToDropped(tx, null, "e");
    await updateCallsToHeld(tx);
    for (const release of [
      () => updateCallsToReleased(tx, newId()),
      () => updateCallsToDropped(tx, newId(), "e"),
      () => updateCallsToReleased(tx, projectId),
      () => updateCallsToHeld(tx),
      () => updateCallsToDropped(tx, projectId, "e"),
      () => updateCallsToHeld(tx),
    ]) {
      await release();
      counts.push(await countHeldCalls(tx));
    }
    return [counts, await callOf(tx)];
  });
  expect(result).toEqual([
    [1, 1, 0, 1, 0, 0],
    [expect.objectContaining({ state: "failed", open: false, error: "e" })],
  ]);
});
