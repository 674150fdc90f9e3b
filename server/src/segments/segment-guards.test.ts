// Calls statements on segments, their members and the suppression list in states that must not change.
import { sql, type RawBuilder } from "kysely";
import { expect, test } from "vitest";
import { keepOptOuts } from "../contacts/opt-out-queries.ts";
import type { Tx } from "../platform/database/database.ts";
import { newId } from "../platform/ids.ts";
import { useSampleDatabase } from "../testing/sample-database.ts";
import { upsertSuppressions } from "../suppressions/queries.ts";
import { ADA, id } from "../testing/sample-rows.ts";
import {
  countImportedMembers,
  countStoredMembers,
  deleteImportedMembers,
  deleteMembersByEmail,
  deleteMembershipsOf,
  insertMembers,
} from "./member-queries.ts";
import {
  countTrackedSegments,
  deleteSegmentRow,
  listSlugsLike,
  updateComputeDue,
  updateTimeBasedDue,
} from "./queries.ts";

const { undone } = useSampleDatabase();

const { project } = id;
async function read(tx: Tx, statement: RawBuilder<unknown>): Promise<unknown> {
  return (await statement.execute(tx)).rows[0];
}
const setSegment = (tx: Tx, segmentId: string, changes: RawBuilder<unknown>) =>
  sql`update segments set ${changes} where id = ${segmentId}`.execute(tx);
const countOf = (tx: Tx, segmentId = id.segment) =>
  read(tx, sql`select member_count as count from segments where id = ${segmentId}`);

test("a static segment counts each member once, when it joins and when it leaves", async () => {
  const result = await undone(async (tx) => {
    await setSegment(tx, id.segment, sql`member_count = 1`);
    const both = [ADA, "bob@shop.example", "unknown@shop.example"];
    const added = await insertMembers(tx, project, id.segment, both);
    const after = [await countOf(tx)];
    const removed = await deleteMembersByEmail(tx, project, id.segment, [
      "bob@shop.example",
      "eve@shop.example",
    ]);
    after.push(await countOf(tx));
    await deleteMembershipsOf(tx, project, [id.ada, id.eve]);
    return [added, removed, ...after, await countOf(tx)];
  });
  expect(result).toEqual([[id.bob], [id.bob], { count: 2 }, { count: 1 }, { count: 0 }]);
});

test("undoing an import removes only members who joined with it", async () => {
  const result = await undone(async (tx) => {
    await setSegment(tx, id.segment, sql`member_count = 1`);
    await sql`
      insert into import_changes (project_id, job_id, number, kind, contact_ids, segment_id)
      values (${project}, ${id.claimedJob}, 2, 'MEMBER', ${[id.ada, id.bob]}::uuid[], ${id.segment})`.execute(
      tx,
    );
    await insertMembers(tx, project, id.segment, ["bob@shop.example"]);
    await sql`update segment_members set created_at = now() - interval '1 day' where contact_id = ${id.ada}`.execute(
      tx,
    );
    const count = await countImportedMembers(tx, project, id.claimedJob);
    const gone = await deleteImportedMembers(tx, project, id.segment, { jobId: id.claimedJob, number: 2 });
    return [count, gone, await countOf(tx)];
  });
  expect(result).toEqual([1, [id.bob], { count: 1 }]);
});

test("stored members are counted only while they are current", async () => {
  const result = await undone(async (tx) => {
    const counts = [await countStoredMembers(tx, project, id.segment)];
    for (const changes of [
      sql`compute_due_at = null`,
      sql`compute_due_at = now() + interval '1 second'`,
      sql`compute_due_at = now()`,
      sql`compute_due_at = null, track_membership = false`,
    ]) {
      await setSegment(tx, id.tracked, changes);
      counts.push(await countStoredMembers(tx, project, id.tracked));
    }
    return counts;
  });
  expect(result).toEqual([1, 0, 0, null, null]);
});

test("only dynamic segments are computed, and those with times again if nothing is due", async () => {
  const due = sql`select (select compute_due_at from segments where id = ${id.segment}) is null as never,
    (select extract(epoch from compute_due_at - now())::integer from segments where id = ${id.tracked}) as seconds`;
  const result = await undone(async (tx) => {
    const states = [];
    await sql`update segments set compute_due_at = null`.execute(tx);
    await updateTimeBasedDue(tx, 60_000);
    states.push(await read(tx, due));
    await sql`update segments set time_based = true`.execute(tx);
    await updateTimeBasedDue(tx, 60_000);
    states.push(await read(tx, due));
    await updateComputeDue(tx, project, [id.segment, id.tracked]);
    states.push(await read(tx, due), await countTrackedSegments(tx, project));
    await setSegment(tx, id.tracked, sql`track_membership = false`);
    return [...states, await countTrackedSegments(tx, project)];
  });
  expect(result).toEqual([
    { never: true, seconds: null },
    { never: true, seconds: 60 },
    { never: true, seconds: 0 },
    1,
    0,
  ]);
});

test("the slug of a deleted segment is not used again", async () => {
  const result = await undone(async (tx) => {
    const before = await listSlugsLike(tx, project, "s");
    await deleteSegmentRow(tx, project, id.segment);
    return [before, await listSlugsLike(tx, project, "s"), await listSlugsLike(tx, newId(), "s")];
  });
  expect(result).toEqual([["s"], ["s"], []]);
});

test("a stronger reason replaces a weaker one on the suppression list, and only new addresses are returned", async () => {
  const result = await undone(async (tx) => {
    const seen = [];
    for (const reason of ["IMPORT", "MANUAL", "HARD_BOUNCE", "COMPLAINT", "HARD_BOUNCE"] as const) {
      const entry = {
        projectId: project,
        id: newId(),
        email: "listed@other.example",
        reason,
        emailId: null,
        actor: null,
      };
      const added = await upsertSuppressions(tx, [
        entry,
        { ...entry, id: newId(), email: `${reason}@new.example` },
      ]);
      const row = (await read(
        tx,
        sql`select reason from suppressions where email = 'listed@other.example'`,
      )) as object;
      seen.push([added.length, ...Object.values(row)]);
    }
    return seen;
  });
  expect(result).toEqual([
    [1, "MANUAL"],
    [1, "MANUAL"],
    [1, "HARD_BOUNCE"],
    [1, "COMPLAINT"],
    [0, "COMPLAINT"],
  ]);
});

test.each([
  ["subscribed", sql`subscribed = true`, sql`select`, 0],
  ["unsubscribed before there was a log", sql`subscribed = false`, sql`delete from consent_changes`, 1],
  ["unsubscribed by a person", sql`subscribed = false`, sql`update consent_changes set source = 'page'`, 1],
  ["unsubscribed by default", sql`subscribed = false`, sql`update consent_changes set by_default = true`, 0],
  ["created by a message", sql`subscribed = false`, sql`update consent_changes set source = 'inbound'`, 0],
])("an opt-out outlives a contact only if it decided: %s", async (_, contact, log, count) => {
  const result = await undone(async (tx) => {
    await sql`update contacts set ${contact}`.execute(tx);
    await log.execute(tx);
    const person = { projectId: project, id: id.ada, addressHash: newId() };
    await keepOptOuts(tx, [person]);
    await keepOptOuts(tx, [person]);
    return (await sql`select 1 from opt_outs`.execute(tx)).rows.length;
  });
  expect(result).toBe(count);
});
