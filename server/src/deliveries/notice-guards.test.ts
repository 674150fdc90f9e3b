// Calls statements on notices after their time, and on those that are done.
import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Tx } from "../platform/database/database.ts";
import { useSampleDatabase } from "../testing/sample-database.ts";
import { newId } from "../platform/ids.ts";
import { id } from "../testing/sample-rows.ts";
import {
  claimNotices,
  deleteDoneNotices,
  deleteIgnoredNotices,
  hasDueNotices,
  insertNotices,
  sumUnreadBytes,
  updateNotices,
} from "./queries.ts";

const { undone } = useSampleDatabase();

const notice = (providerId: string, toldAt: Date | null = null) => ({
  id: newId(),
  source: "smtp" as const,
  providerId,
  raw: Buffer.from("12345"),
  sender: "a",
  recipient: "b",
  toldAt,
});
const MAX = { maxAgeSeconds: 60, maxAheadSeconds: 30 };
const countOf = async (tx: Tx) => (await sql`select 1 from notices`.execute(tx)).rows.length;

test("stores a notice once, and none that is too old or from the future", async () => {
  const result = await undone(async (tx) => {
    const { now } = await insertNotices(tx, [], MAX);
    const at = (seconds: number) => new Date(now.getTime() + seconds * 1_000);
    const stored = [];
    for (const one of [
      notice("now"),
      notice("now"),
      notice("old", at(-59)),
      notice("older", at(-61)),
      notice("ahead", at(29)),
      notice("future", at(31)),
    ])
      stored.push((await insertNotices(tx, [one], MAX)).ids.size);
    return stored;
  });
  expect(result).toEqual([1, 0, 1, 0, 1, 0]);
});

test("claims due notices of a source up to the bytes, at least one", async () => {
  const result = await undone(async (tx) => {
    await insertNotices(tx, [notice("1"), notice("2"), notice("3")], MAX);
    const claim = async (mostBytes: number) =>
      (await claimNotices(tx, "smtp", { limit: 5, mostBytes }, null)).length;
    const counts = [await claim(1), await claim(5), await claim(6), await sumUnreadBytes(tx)];
    await sql`update notices set due_at = now() + interval '1 second'`.execute(tx);
    return [...counts, await claim(100), await hasDueNotices(tx)];
  });
  expect(result).toEqual([1, 1, 2, 15, 0, false]);
});

test("a notice that is done loses its content unless a person needs it, and another is tried later", async () => {
  const result = await undone(async (tx) => {
    const one = notice("1");
    await insertNotices(tx, [one], MAX);
    const states = [];
    for (const end of [
      { result: null, isKept: true, waitSeconds: 5 },
      { result: "taken", isKept: true, waitSeconds: 0 },
      { result: "taken", isKept: false, waitSeconds: 0 },
    ]) {
      await updateNotices(tx, [{ id: one.id, ...end }]);
      const { rows } = await sql`
        select done_at is not null as done, raw is not null as raw, sender, recipient, due_at > now() as later
        from notices where id = ${one.id}`.execute(tx);
      states.push(rows[0]);
    }
    return states;
  });
  const kept = { raw: true, sender: "a", recipient: "b" };
  expect(result).toEqual([
    { ...kept, done: false, later: true },
    { ...kept, done: true, later: false },
    { done: true, raw: false, sender: null, recipient: null, later: false },
  ]);
});

test("deletes done notices before an id, ignored ones separately, and none that waits", async () => {
  const result = await undone(async (tx) => {
    const above = newId();
    const end = (outcome: string, done = true) =>
      sql`update notices set result = ${outcome}, done_at = ${done ? sql`now()` : null}`.execute(tx);
    const counts = [];
    await end("ignored: x", false);
    await deleteDoneNotices(tx, above);
    await deleteIgnoredNotices(tx, above);
    counts.push(await countOf(tx));
    await end("taken");
    await deleteIgnoredNotices(tx, above);
    await deleteDoneNotices(tx, id.notice);
    counts.push(await countOf(tx));
    await end("ignored: x");
    await deleteIgnoredNotices(tx, id.notice);
    counts.push(await countOf(tx));
    await deleteIgnoredNotices(tx, above);
    return [...counts, await countOf(tx)];
  });
  expect(result).toEqual([1, 1, 1, 0]);
});
