// Calls statements on campaigns in states that must not change, and after their time.
import { sql, type RawBuilder } from "kysely";
import { expect, test } from "vitest";
import { holdFor } from "@postloft/contract/held-reasons.ts";
import type { Tx } from "../platform/database/database.ts";
import { useSampleDatabase } from "../testing/sample-database.ts";
import { newId } from "../platform/ids.ts";
import { id } from "../testing/sample-rows.ts";
import { findLargestSend, findRecentDuplicate } from "./check-queries.ts";
import {
  countHeldCampaigns,
  isHeldIn,
  ROLLED_BACK,
  updateSchedulesToHeld,
  updateSchedulesToReleased,
  updateUnstartedToHeld,
} from "./held-queries.ts";
import { deleteCampaignRow, findCampaign, type CampaignRow } from "./queries.ts";
import { listStartedBefore } from "./results-queries.ts";
import {
  listDueCampaigns,
  listToAudit,
  listUnfinished,
  readNextDueMs,
  updateHeld,
} from "./settle-queries.ts";
import { campaignIs, isDue, sendsSince, updateStatus } from "./status-queries.ts";
import { findCampaignFrom, findCampaignOf } from "./usage-queries.ts";

const { undone } = useSampleDatabase();

const ref = { projectId: id.project, id: id.campaign };
const key = { projectId: id.project, campaignId: id.campaign };
const all = { projectId: null, campaignId: null };
const OTHER = holdFor("held.unscheduled");
const set = (tx: Tx, changes: RawBuilder<unknown>) => sql`update campaigns set ${changes}`.execute(tx);
/** Gives the campaign a status, and schedules it for some seconds from now. */
const put = (tx: Tx, status: string, seconds = -1) =>
  set(
    tx,
    sql`status = ${status}, scheduled_for = now() + make_interval(secs => ${seconds}), held_reason_parts = null`,
  );
async function read(tx: Tx, statement: RawBuilder<unknown>): Promise<unknown> {
  return (await statement.execute(tx)).rows[0];
}
const codeOf = (tx: Tx) => read(tx, sql`select held_reason_parts -> 0 ->> 'code' as code from campaigns`);

const due = async (tx: Tx) => [
  (await listDueCampaigns(tx, 5)).length,
  (await sql`select 1 from campaigns where ${isDue(key)}`.execute(tx)).rows.length,
  await readNextDueMs(tx),
];

test("a scheduled campaign is due at its time unless it is held, and is held once", async () => {
  const result = await undone(async (tx) => {
    await sql`delete from paused_destinations`.execute(tx);
    await put(tx, "SCHEDULED", 1);
    const early = await due(tx);
    await put(tx, "SCHEDULED");
    const late = await due(tx);
    const held = [await updateHeld(tx, ref, OTHER), await updateHeld(tx, ref, ROLLED_BACK)];
    return [early, late, held, await codeOf(tx), await due(tx)];
  });
  expect(result).toEqual([[0, 0, 1_000], [1, 1, -1_000], [true, false], { code: OTHER.code }, [0, 0, null]]);
});

test("a rollback holds schedules that are not held for another reason, and a release frees only its own", async () => {
  const result = await undone(async (tx) => {
    await put(tx, "SCHEDULED");
    await updateHeld(tx, ref, OTHER);
    await updateSchedulesToHeld(tx);
    await updateSchedulesToReleased(tx, all);
    const other = await codeOf(tx);
    await put(tx, "SCHEDULED");
    await updateSchedulesToHeld(tx);
    const counts = [await countHeldCampaigns(tx)];
    await updateSchedulesToReleased(tx, { projectId: newId(), campaignId: null });
    await updateSchedulesToReleased(tx, { projectId: id.project, campaignId: newId() });
    counts.push(await countHeldCampaigns(tx));
    await updateSchedulesToReleased(tx, key);
    counts.push(await countHeldCampaigns(tx));
    return [other, ...counts.map((count) => count.scheduled), await codeOf(tx)];
  });
  expect(result).toEqual([{ code: OTHER.code }, 1, 1, 0, { code: null }]);
});

test.each(["DRAFT", "SCHEDULED", "SENDING", "PAUSED", "SENT", "CANCELLED"])(
  "holds only campaigns that have not started: %s",
  async (status) => {
    const isUnstarted = status === "DRAFT" || status === "SCHEDULED";
    const result = await undone(async (tx) => {
      await put(tx, status);
      await updateUnstartedToHeld(tx, key, OTHER);
      const { code } = (await codeOf(tx)) as { code: string | null };
      const { rows } = await sql`select 1 from campaigns where ${isHeldIn(all)}`.execute(tx);
      return [code, rows.length];
    });
    expect(result).toEqual([isUnstarted ? OTHER.code : null, 0]);
  },
);

test("a campaign that sends again counts from then on, and its reason is cleared", async () => {
  const move = (tx: Tx, to: "SENDING" | "PAUSED", from: "SENDING" | "PAUSED") =>
    updateStatus(
      tx,
      campaignIs(key),
      { from: [from], to, event: null },
      to === "PAUSED" ? { heldReason: OTHER } : {},
    );
  const since = sql`select sending_since = now() as is_new from campaigns`;
  const result = await undone(async (tx) => {
    await set(tx, sql`sending_since = now() - interval '1 hour'`);
    const wrong = await move(tx, "SENDING", "PAUSED");
    await move(tx, "PAUSED", "SENDING");
    const paused = [await codeOf(tx), await read(tx, since)];
    const before = (await sql<{ at: Date }>`select sending_since as at from campaigns`.execute(tx)).rows[0]
      ?.at;
    await move(tx, "SENDING", "PAUSED");
    const matches = [];
    for (const at of [before ?? null, null])
      matches.push((await sql`select 1 from campaigns where ${sendsSince(key, at)}`.execute(tx)).rows.length);
    return [wrong, paused, await codeOf(tx), await read(tx, since), matches];
  });
  expect(result).toEqual([
    [],
    [{ code: OTHER.code }, { isNew: false }],
    { code: null },
    { isNew: true },
    [0, 1],
  ]);
});

const lists = async (tx: Tx) => [(await listUnfinished(tx)).length, (await listToAudit(tx)).length];

test("a campaign is unfinished until it is finished, and audited for a day more", async () => {
  const result = await undone(async (tx) => {
    const states = [];
    for (const changes of [
      sql`status = 'SENDING', snapshot_at = null, finished_at = null`,
      sql`status = 'CANCELLED'`,
      sql`status = 'SENDING', snapshot_at = now()`,
      sql`status = 'SENT', finished_at = now() - interval '23 hours'`,
      sql`finished_at = now() - interval '25 hours'`,
    ]) {
      await set(tx, changes);
      states.push(await lists(tx));
    }
    return states;
  });
  expect(result).toEqual([
    [0, 0],
    [1, 0],
    [1, 1],
    [0, 1],
    [0, 0],
  ]);
});

test("warns of a campaign with the same subject and audience within a day, and of no other", async () => {
  const result = await undone(async (tx) => {
    const own = (await findCampaign(tx, id.project, id.campaign)) as CampaignRow;
    const draft = { ...own, id: newId() };
    const ask = (row: CampaignRow) => findRecentDuplicate(tx, id.project, row);
    const found = [];
    for (const hours of [23, 25]) {
      await set(tx, sql`started_at = now() - make_interval(hours => ${hours}::integer)`);
      found.push(await ask(draft));
    }
    await set(tx, sql`started_at = now()`);
    found.push(await ask(own), await ask({ ...draft, subject: "other" }));
    found.push(await ask({ ...draft, audienceType: "SEGMENT", segmentId: id.segment }));
    return found;
  });
  expect(result).toEqual(["c", null, null, null, null]);
});

test("compares with the largest other campaign whose recipients are fixed", async () => {
  const result = await undone(async (tx) => {
    await set(tx, sql`total_recipients = 7, snapshot_at = null`);
    const sizes = [await findLargestSend(tx, id.project, newId())];
    await set(tx, sql`snapshot_at = now()`);
    sizes.push(
      await findLargestSend(tx, id.project, newId()),
      await findLargestSend(tx, id.project, id.campaign),
    );
    return sizes;
  });
  expect(result).toEqual([0, 7, 0]);
});

test("compares with sent campaigns of its kind that started before it", async () => {
  const result = await undone(async (tx) => {
    const at = new Date();
    const list = async () =>
      (await listStartedBefore(tx, id.project, { kind: "MARKETING", startedAt: at, limit: 5 })).length;
    const counts = [];
    for (const changes of [
      sql`status = 'SENT', kind = 'MARKETING', started_at = ${at.toISOString()}::timestamptz - interval '1 second'`,
      sql`started_at = ${at.toISOString()}::timestamptz`,
      sql`started_at = ${at.toISOString()}::timestamptz - interval '1 second', status = 'CANCELLED'`,
      sql`status = 'SENT', kind = 'TRANSACTIONAL'`,
    ]) {
      await set(tx, changes);
      counts.push(await list());
    }
    return counts;
  });
  expect(result).toEqual([1, 0, 0, 0]);
});

test("a cancelled campaign is deleted only after its emails ended, and a running one never", async () => {
  const states = ["DRAFT", "CANCELLED", "SENT"] as const;
  const result = await undone(async (tx) => {
    const results = [];
    for (const changes of [
      sql`status = 'SENDING', finished_at = null`,
      sql`status = 'CANCELLED', finished_at = null`,
      sql`finished_at = now()`,
    ]) {
      await set(tx, changes);
      results.push(await deleteCampaignRow(tx, id.project, id.campaign, states));
    }
    return results;
  });
  expect(result).toEqual([false, false, true]);
});

test.each([
  ["DRAFT", false, true],
  ["SCHEDULED", true, true],
  ["SENDING", true, true],
  ["PAUSED", true, true],
  ["SENT", false, false],
  ["CANCELLED", false, false],
])(
  "a campaign that is %s uses its segment: %s, and its domain: %s",
  async (status, usesSegment, usesDomain) => {
    const result = await undone(async (tx) => {
      await put(tx, status);
      await set(tx, sql`segment_id = ${id.segment}, audience_type = 'SEGMENT'`);
      return [
        (await findCampaignOf(tx, id.project, id.segment)) !== undefined,
        (await findCampaignFrom(tx, id.project, "shop.example")) !== undefined,
        await findCampaignFrom(tx, id.project, "other.example"),
      ];
    });
    expect(result).toEqual([usesSegment, usesDomain, undefined]);
  },
);
