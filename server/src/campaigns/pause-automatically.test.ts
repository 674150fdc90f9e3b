// Tests that an automatic pause always changes status, queue, reason, log, metric and one email per member together, or not at all.
import { expect, test, vi } from "vitest";
import * as campaignActions from "@postloft/contract/campaign-actions.ts";
import * as campaigns from "@postloft/contract/campaigns.ts";
import * as contacts from "@postloft/contract/contacts.ts";
import { transaction } from "../platform/database/database.ts";
import { newId } from "../platform/ids.ts";
import { createLog } from "../platform/log.ts";
import { createMetrics } from "../platform/metrics.ts";
import type { PauseCause } from "../projects/members/notification-facts.ts";
import { readPlatformEmails } from "../testing/platform-emails.ts";
import { useTestServer } from "../testing/test-server.ts";
import { createHoldRedacted } from "./held-campaigns.ts";
import { pauseAutomatically } from "./pause-automatically.ts";
import { pauseUnresolved } from "./pause-unresolved.ts";

const server = useTestServer({ ROLES: "api" });

const CAUSES: Array<[code: string, cause: PauseCause]> = [
  ["held.refused", { problem: "refused", last: 200, answer: "550 no" }],
  ["held.doubtInARow", { problem: "in-doubt", inARow: 5, last: 100, answer: "" }],
  ["held.doubtOfLast", { problem: "in-doubt", inARow: null, last: 100, answer: "" }],
  ["held.overCap", { problem: "over-cap", recipients: 7, room: 2 }],
  ["held.audience", { problem: "audience", said: "Gone." }],
  ["held.forgotten", { problem: "forgotten", mails: 3 }],
];

/** A project with a campaign that is sending, according to its row and queue. */
async function sending() {
  const { id: projectId, byKey, owner } = await server.createProject();
  expect(
    (await server.call(contacts.upsertContact, byKey, { body: { email: "ada@example.com" } })).status,
  ).toBe(201);
  const created = await server.call(campaigns.createCampaign, byKey, {
    body: {
      name: "News",
      subject: "News",
      body: "<p>Hello</p>",
      from: "news@sandbox.localhost",
      audienceType: "ALL",
    },
  });
  const campaignId = created.body.data.id;
  expect(
    (await server.call(campaignActions.sendCampaign, byKey, { params: { id: campaignId } })).status,
  ).toBe(200);
  const log = createLog({ level: "silent" });
  const warn = vi.spyOn(log, "warn");
  const metrics = createMetrics();
  return {
    key: { projectId, campaignId },
    parts: { baseUrl: () => "https://post.example", log, metrics },
    async effects() {
      const [row] = await server.rows<{ status: string; queue: string; code: string | null }>(
        `select c.status, q.state as queue, c.held_reason_parts -> 0 ->> 'code' as code
         from campaigns c join campaign_queues q on q.project_id = c.project_id and q.campaign_id = c.id where c.id = $1`,
        campaignId,
      );
      const counted = (await metrics.campaignsPaused.get()).values[0]?.value ?? 0;
      const emails = await readPlatformEmails(server.pool, { to: owner.email });
      return { ...row, counted, logged: warn.mock.calls.length, emails: emails.length };
    },
  };
}

const PAUSED = { status: "PAUSED", queue: "PAUSED", counted: 1, logged: 1, emails: 1 };
const UNTOUCHED = { status: "SENDING", queue: "OPEN", code: null, counted: 0, logged: 0, emails: 0 };

test.each(CAUSES)(
  "a pause for %s moves, logs, counts and notifies once, after the commit",
  async (code, cause) => {
    const { key, parts, effects } = await sending();
    const pause = () =>
      transaction(server.database, (tx) => pauseAutomatically(tx, parts, { ...key, cause }));
    expect(await pause()).toBe(true);
    expect(await effects()).toEqual({ ...PAUSED, code });
    expect(await pause()).toBe(false);
    expect(await effects()).toEqual({ ...PAUSED, code });
  },
);

test("a pause that is rolled back, or meant for an earlier start, has no effects", async () => {
  const { key, parts, effects } = await sending();
  const cause: PauseCause = { problem: "audience", said: "Gone." };
  const undone = transaction(server.database, async (tx) => {
    expect(await pauseAutomatically(tx, parts, { ...key, cause })).toBe(true);
    throw new Error("undone");
  });
  await expect(undone).rejects.toThrow("undone");
  const earlier = { ...key, cause, sendingSince: new Date(0) };
  expect(await transaction(server.database, (tx) => pauseAutomatically(tx, parts, earlier))).toBe(false);
  expect(await effects()).toEqual(UNTOUCHED);
});

test("pauses a campaign without recipients or with a forgotten start in the same way", async () => {
  const unresolved = await sending();
  const { projectId, campaignId } = unresolved.key;
  const job = { projectId, id: newId(), kind: "campaigns.snapshot", input: { campaignId }, reason: "Gone." };
  await transaction(server.database, (tx) => pauseUnresolved(tx, unresolved.parts, job));
  expect(await unresolved.effects()).toEqual({ ...PAUSED, code: "held.audience" });
  const redacted = await sending();
  await transaction(server.database, (tx) =>
    createHoldRedacted(redacted.parts)(tx, [{ ...redacted.key, mails: 3 }]),
  );
  expect(await redacted.effects()).toEqual({ ...PAUSED, code: "held.forgotten" });
});
