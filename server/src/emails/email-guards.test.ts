// Calls statements on emails, reports about them and their retention for the second time, and in states that must not change.
import { sql, type RawBuilder } from "kysely";
import { expect, test } from "vitest";
import type { Tx } from "../platform/database/database.ts";
import { useSampleDatabase } from "../testing/sample-database.ts";
import { newId } from "../platform/ids.ts";
import { id } from "../testing/sample-rows.ts";
import { listTaken, listWithDoubts, listWithoutFurtherTry } from "./doubt/doubt-queries.ts";
import { cancelQueued, updateSchedule } from "./reading/schedule-queries.ts";
import { redactContents, passContentsAgain } from "./retention/content-queries.ts";
import {
  listDueKeptLonger,
  listOpenCampaigns,
  lockEnded,
  upsertKeptLonger,
} from "./retention/retention-queries.ts";
import { deleteOldReturned, insertReturned } from "./returned/returned-message-queries.ts";
import {
  markLeft,
  updateConfirmed,
  updateFurtherTries,
  updateReturned,
  updateSoftBounced,
} from "./returned/returned-queries.ts";

const { undone } = useSampleDatabase();

const { project: projectId } = id;
const LATER = new Date(Date.UTC(2040, 0, 1));
async function read(tx: Tx, statement: RawBuilder<unknown>): Promise<unknown> {
  return (await statement.execute(tx)).rows[0];
}
const set = (tx: Tx, mailId: string, changes: RawBuilder<unknown>) =>
  sql`update emails set ${changes} where id = ${mailId}`.execute(tx);
const attempt = (tx: Tx, emailId: string, outcome: string, number = 0) =>
  sql`
    insert into email_attempts (project_id, email_id, attempt, outcome, answer)
    values (${projectId}, ${emailId}, ${number}, ${outcome}, '')`.execute(tx);
const step = (mailId: string, day = 1) => ({ projectId, id: mailId, at: new Date(Date.UTC(2026, 0, day)) });

test.each([
  ["waits", sql`scheduled_for = now()`, [true, "2040"]],
  ["is held", sql`scheduled_for = now(), due_at = 'infinity'`, [true, "infin"]],
  ["has no time of its own", sql`scheduled_for = null, due_at = '2026-01-01'`, [false, "2026"]],
  ["was tried", sql`scheduled_for = now(), attempts = 1, due_at = '2026-01-01'`, [false, "2026"]],
  ["is being sent", sql`scheduled_for = now(), status = 'CLAIMED', due_at = '2026-01-01'`, [false, "2026"]],
])("an email that %s gets another time or keeps its own", async (_, changes, [isChanged, year]) => {
  const result = await undone(async (tx) => {
    await set(tx, id.queued, changes);
    const isUpdated = await updateSchedule(tx, projectId, id.queued, LATER);
    const { due } = (await read(tx, sql`select due_at::text as due from emails where id = ${id.queued}`)) as {
      due: string;
    };
    return [isUpdated, due.startsWith(String(year))];
  });
  expect(result).toEqual([isChanged, true]);
});

test("only a waiting email outside campaigns is cancelled, and once", async () => {
  const result = await undone(async (tx) => {
    const results = [];
    for (const mailId of [id.queued, id.queued, id.campaignMail, id.plainMail, id.doubtful])
      results.push(await cancelQueued(tx, projectId, mailId, "r"));
    return results;
  });
  expect(result).toEqual([true, false, false, false, false]);
});

test("an email waits for a person if its project wants that or an earlier attempt may have been accepted", async () => {
  const keys = [id.plainMail, id.bulkMail, id.tried].map((mailId) => ({ projectId, id: mailId }));
  const result = await undone(async (tx) => {
    await attempt(tx, id.plainMail, "uncertain");
    await attempt(tx, id.bulkMail, "sent");
    await attempt(tx, id.tried, "deferred");
    const lists = [
      await listWithoutFurtherTry(tx, keys),
      (await listWithDoubts(tx, keys)).map((key) => key.id),
      await listTaken(tx, keys),
    ].map((ids) => [...ids].toSorted());
    await sql`update project_queues set when_in_doubt = 'WAIT'`.execute(tx);
    return [...lists, (await listWithoutFurtherTry(tx, keys)).size];
  });
  const doubtful = [id.plainMail, id.bulkMail].toSorted();
  expect(result).toEqual([doubtful, doubtful, [id.bulkMail], 3]);
});

test("a report ends the retry of an email in doubt and no other, and its sender loses it", async () => {
  const result = await undone(async (tx) => {
    await attempt(tx, id.plainMail, "sent");
    await attempt(tx, id.tried, "deferred");
    await attempt(tx, id.ended, "uncertain");
    await updateFurtherTries(tx, projectId, [id.plainMail, id.tried, id.ended]);
    const { rows } = await sql`
      select id, status, sender_id from emails where id = any(${[id.plainMail, id.tried, id.ended]}::uuid[])`.execute(
      tx,
    );
    return new Map((rows as Array<{ id: string }>).map(({ id: mailId, ...row }) => [mailId, row]));
  });
  expect(result).toEqual(
    new Map([
      [id.plainMail, { status: "UNCONFIRMED", senderId: null }],
      [id.tried, { status: "CLAIMED", senderId: id.sender }],
      [id.ended, { status: "SENT", senderId: null }],
    ]),
  );
});

test("the first report of a kind keeps its time, and a report never moves the status back", async () => {
  const row = sql`select status, delivered_at::date::text as delivered, soft_bounced_at::date::text as soft from emails where id = ${id.ended}`;
  const result = await undone(async (tx) => {
    const counts = [];
    for (const day of [1, 2]) {
      counts.push((await updateReturned(tx, "DELIVERED", ["SENT"], [step(id.ended, day)])).length);
      counts.push((await updateSoftBounced(tx, [step(id.ended, day)])).length);
    }
    await updateReturned(tx, "OPENED", ["SENT", "DELIVERED"], [step(id.ended, 3)]);
    await set(tx, id.ended, sql`delivered_at = null`);
    counts.push((await updateReturned(tx, "DELIVERED", ["SENT"], [step(id.ended, 4)])).length);
    counts.push((await updateSoftBounced(tx, [step(id.queued)])).length);
    return [counts, await read(tx, row)];
  });
  expect(result).toEqual([
    [1, 1, 0, 0, 1, 0],
    { status: "OPENED", delivered: "2026-01-04", soft: "2026-01-01" },
  ]);
});

const prove = (tx: Tx, mailId: string, isSure: boolean, day = 1) =>
  markLeft(tx, [{ ...step(mailId, day), isSure }]);

test("a late proof sets the time of sending once, and clears the reason why the email was not sent", async () => {
  const row = sql`select sent_at::date::text as sent, reason from emails where id = ${id.doubtful}`;
  const result = await undone(async (tx) => {
    await set(tx, id.doubtful, sql`reason = 'no reply'`);
    const counts = [
      (await prove(tx, id.doubtful, false)).length,
      (await prove(tx, id.doubtful, true, 2)).length,
    ];
    const left = await read(tx, row);
    await set(tx, id.doubtful, sql`reason = 'no reply', sent_at = null`);
    for (const mailId of [id.doubtful, id.doubtful, id.queued, id.ended])
      counts.push((await updateConfirmed(tx, [step(mailId, 3)])).length);
    return [counts, left, await read(tx, row)];
  });
  expect(result).toEqual([
    [1, 0, 1, 0, 0, 0],
    { sent: "2026-01-01", reason: null },
    { sent: "2026-01-03", reason: null },
  ]);
});

test("keeps the first messages that return for each email, for some days", async () => {
  const result = await undone(async (tx) => {
    const add = (...emailIds: string[]) =>
      insertReturned(
        tx,
        projectId,
        emailIds.map((emailId) => ({ id: newId(), emailId, from: null, subject: null, text: null })),
        3,
      );
    const count = async (emailId: string) =>
      Number(
        (
          await sql<{
            count: number;
          }>`select count(*) as count from returned_messages where email_id = ${emailId}`.execute(tx)
        ).rows[0]?.count,
      );
    await add(id.ended, id.ended);
    await add(id.ended, id.queued, id.ended);
    const kept = [await count(id.ended), await count(id.queued)];
    await sql`update returned_messages set received_at = now() - interval '29 days'`.execute(tx);
    await deleteOldReturned(tx, 30);
    kept.push(await count(id.ended));
    await sql`update returned_messages set received_at = now() - interval '31 days' where email_id = ${id.ended}`.execute(
      tx,
    );
    await deleteOldReturned(tx, 30);
    return [...kept, await count(id.ended), await count(id.queued)];
  });
  expect(result).toEqual([3, 1, 3, 0, 1]);
});

test("an email is redacted only after it ended, and a campaign only after its recipients", async () => {
  const result = await undone(async (tx) => {
    const all = [id.queued, id.plainMail, id.doubtful, id.ended];
    const ended = [await lockEnded(tx, projectId, all)];
    await set(tx, id.ended, sql`forgotten_at = now()`);
    ended.push(await lockEnded(tx, projectId, all));
    const open = async () => (await listOpenCampaigns(tx, projectId, [id.campaign])).length;
    const campaigns = [await open()];
    await sql`delete from recipient_batches`.execute(tx);
    campaigns.push(await open());
    await set(tx, id.campaignMail, sql`status = 'SENT'`);
    return [ended, campaigns, await open()];
  });
  expect(result).toEqual([[[id.ended], []], [1, 1], 0]);
});

const keptMail = (lastId: string, dueAt: Date) => ({
  id: id.campaign,
  isCampaign: true,
  contentId: id.content,
  afterId: id.project,
  lastId,
  dueAt,
});

test("a campaign that is kept longer keeps its highest id, and is checked when it is due", async () => {
  const [low, high] = [newId(), newId()];
  const now = new Date();
  const due = (tx: Tx, ms: number) => listDueKeptLonger(tx, projectId, new Date(now.getTime() + ms), 5);
  const result = await undone(async (tx) => {
    await upsertKeptLonger(tx, projectId, [keptMail(high, now)]);
    await upsertKeptLonger(tx, projectId, [keptMail(low, now)]);
    return [(await due(tx, -1)).length, (await due(tx, 0)).map(({ lastId }) => lastId)];
  });
  expect(result).toEqual([0, [high]]);
});

test("a content is redacted once nothing uses it, and the pass starts again for one that was skipped", async () => {
  const state = sql`select c.forgotten_at is not null as redacted, isfinite(r.contents_until) as passed
    from email_contents c join email_retentions r on r.project_id = c.project_id where c.id = ${id.content}`;
  const until = new Date(Date.UTC(2026, 5, 1));
  const contents = { after: null, last: null, until };
  const result = await undone(async (tx) => {
    const states: unknown[] = [];
    const redact = async () => {
      await sql`update email_retentions set contents_until = ${until.toISOString()}::timestamptz`.execute(tx);
      await redactContents(tx, projectId, contents);
      await passContentsAgain(tx, projectId, [id.content]);
      states.push(await read(tx, state));
    };
    await sql`update email_contents set used_until = '2026-06-02'`.execute(tx);
    await redact();
    await sql`update email_contents set used_until = '2026-05-31'`.execute(tx);
    await upsertKeptLonger(tx, projectId, [keptMail(newId(), until)]);
    await redact();
    await sql`delete from emails_kept_longer`.execute(tx);
    await redact();
    return states;
  });
  expect(result).toEqual([
    { redacted: false, passed: true },
    { redacted: false, passed: false },
    { redacted: true, passed: true },
  ]);
});
