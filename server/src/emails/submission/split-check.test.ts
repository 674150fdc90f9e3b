// Tests the pre-send check with a transaction for each project, as on a cluster.
import { sql } from "kysely";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { treatAsCluster } from "../../platform/database/cluster.ts";
import { armFailpoints } from "../../platform/failpoints.ts";
import { createLog } from "../../platform/log.ts";
import { RECIPIENT_CHECKS } from "../../suppressions/recipients.ts";
import { acceptedOutcome } from "../../testing/accepted-outcome.ts";
import { OUTBOX_WAIT, useOutbox } from "../../testing/outbox-fixture.ts";
import { createDoubtBrake } from "../doubt/doubt-brake.ts";
import type { Lease } from "../lease/lease.ts";
import type { Ready } from "../rows/prepared.ts";
import { claimEmails } from "../sending/sender-queries.ts";
import { createPreSendCheck } from "./pre-send-check.ts";
import { createInDoubtLimit } from "./in-doubt-limit.ts";

const outbox = useOutbox();
beforeEach(() => treatAsCluster(outbox.database));
afterEach(() => armFailpoints([]));

/** Claims an email of each project for a sender with a lease, and creates the sender's check. */
async function claimed(projects: readonly string[]) {
  const { database } = outbox;
  const senderId = await outbox.addLiveSender();
  await outbox.enqueue(projects.map((project) => ({ project, kind: "TRANSACTIONAL" as const })));
  const mails: Ready[] = [];
  for (const projectId of projects) {
    const rows = await claimEmails(database, {
      senderId,
      projectId,
      priority: 1,
      campaignId: null,
      limit: 1,
      withoutDomains: [],
    });
    mails.push(...rows.map((row) => ({ row, listKind: null }) as Ready));
  }
  const log = createLog({ level: "silent" });
  const inDoubtLimit = createInDoubtLimit(projects.length);
  const submission = createPreSendCheck({
    database,
    lease: { senderId: () => senderId, isHeld: () => true } as Lease,
    inDoubtLimit,
    brake: createDoubtBrake({ pause: async () => undefined, log }),
    recipients: RECIPIENT_CHECKS,
    ending: new AbortController().signal,
    log,
    metrics: outbox.metrics,
  });
  return { senderId, submission, inDoubtLimit, mails, ids: mails.map(({ row }) => row.id) };
}

async function inDoubtOf(senderId: string): Promise<string[]> {
  const { inDoubt } = await outbox.database
    .selectFrom("senders")
    .select("inDoubt")
    .where("id", "=", senderId)
    .executeTakeFirstOrThrow();
  return inDoubt;
}

const recordOf = (mail: Ready) => acceptedOutcome(mail.row.projectId, mail.row.id);

test("lists emails as being submitted in a transaction that commits before their checks", async () => {
  const { database } = outbox;
  const { submission, mails, ids } = await claimed([outbox.projectId, await outbox.createProject()]);
  await sql`create table sender_writes (
    number integer generated always as identity, xid text, in_doubt uuid[])`.execute(database);
  await sql`
    create function note_write() returns trigger language plpgsql as
      $$ begin insert into sender_writes (xid, in_doubt) values (txid_current()::text, new.in_doubt); return new; end $$`.execute(
    database,
  );
  await sql`create trigger note_write after update on senders for each row execute function note_write()`.execute(
    database,
  );
  expect(await Promise.all(mails.map((mail) => submission.ask(mail)))).toEqual([true, true]);
  const { rows } = await sql<{ xid: string; inDoubt: string[] }>`
    select xid, in_doubt from sender_writes order by number`.execute(database);
  // For each project a transaction that lists its email and one that checks it.
  expect(new Set(rows.map(({ xid }) => xid)).size).toBe(4);
  const first = rows[0]?.inDoubt ?? [];
  expect(first).toHaveLength(1);
  expect(rows.map(({ inDoubt }) => inDoubt.toSorted())).toEqual([
    first,
    first,
    ids.toSorted(),
    ids.toSorted(),
  ]);
  await sql`drop function note_write cascade`.execute(database);
  await sql`drop table sender_writes`.execute(database);
});

test("no longer lists an email as being submitted if its check fails", async () => {
  const { senderId, submission, mails, ids } = await claimed([
    outbox.projectId,
    await outbox.createProject(),
  ]);
  armFailpoints([{ name: "sending.before_commit", action: "throw", turn: 1 }]);
  const results = await Promise.allSettled(mails.map((mail) => submission.ask(mail)));
  expect(results.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
  expect(await inDoubtOf(senderId)).toEqual(ids.slice(1));
});

test("frees the place of a sent email when its result is committed, not earlier", async () => {
  const { senderId, submission, inDoubtLimit, mails, ids } = await claimed([outbox.projectId]);
  const [mail] = mails as [Ready];
  await submission.ask(mail);
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const { promise: isLocked, resolve: locked } = Promise.withResolvers<void>();
  const holding = outbox.database.transaction().execute(async (tx) => {
    await sql`select 1 from emails where id = ${ids[0]} for update`.execute(tx);
    locked();
    await held;
  });
  await isLocked;
  const next = inDoubtLimit.take("next").then(() => "entered");
  const recorded = submission.record(recordOf(mail), senderId);
  await vi.waitFor(async () => {
    const { rows } = await sql`select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(outbox.database);
    expect(rows).toHaveLength(1);
  }, OUTBOX_WAIT);
  expect(await Promise.race([next, Promise.resolve("waits")])).toBe("waits");
  release();
  await holding;
  await recorded;
  expect(await next).toBe("entered");
});

test("records a result once if the node of another project in its batch is away", async () => {
  const projects = [outbox.projectId, await outbox.createProject()];
  const { senderId, submission, mails } = await claimed(projects);
  await Promise.all(mails.map((mail) => submission.ask(mail)));
  await sql`
    create function node_away() returns trigger language plpgsql as
      $$ begin raise exception 'connection to the remote node failed' using errcode = '08006'; end $$`.execute(
    outbox.database,
  );
  await sql`
    create trigger node_away before update on emails for each row
    when (new.status = 'SENT' and new.project_id = ${sql.lit(projects[1])}) execute function node_away()`.execute(
    outbox.database,
  );
  const results = await Promise.allSettled(mails.map((mail) => submission.record(recordOf(mail), senderId)));
  await sql`drop function node_away cascade`.execute(outbox.database);
  // A second statement would find that the email is no longer this sender's.
  expect(results).toMatchObject([
    { status: "fulfilled", value: true },
    { status: "rejected", reason: { code: "08006" } },
  ]);
});
