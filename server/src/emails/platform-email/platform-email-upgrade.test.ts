// Tests the move of platform email from its own table to the outbox (migration 0070). Waiting emails are sent, emails in doubt are retried
// at most once and later, and ended ones lose their text.
import { sql } from "kysely";
import { expect, test } from "vitest";
import { createPool } from "../../platform/database/database.ts";
import { newId } from "../../platform/ids.ts";
import { createLog } from "../../platform/log.ts";
import { migrate } from "../../platform/database/migrations.ts";
import { createScriptedTransport, type Play } from "../../testing/scripted-transport.ts";
import { useOutbox } from "../../testing/outbox-fixture.ts";

const UPGRADE = 70;
/** Status and attempts, counted from the claim on in the old table. */
const OLD = [
  ["waiting", "QUEUED", 0],
  ["refused once", "QUEUED", 1],
  ["in hand", "CLAIMED", 1],
  ["in hand again", "CLAIMED", 2],
  ["in doubt", "SENDING", 1],
  ["in doubt again", "SENDING", 2],
  ["sent", "SENT", 1],
  ["failed", "FAILED", 1],
  ["unconfirmed", "UNCONFIRMED", 2],
] as const;

const outbox = useOutbox();
const inDoubt: Play = async (_message, mayLeave) =>
  (await mayLeave()) ? { kind: "uncertain", answer: "no reply" } : { kind: "withdrawn" };

async function makeOldTables(): Promise<void> {
  const pool = createPool({
    connection: outbox.connection,
    maxConnections: 2,
    log: createLog({ level: "silent" }),
  });
  try {
    await pool.query("drop schema public cascade; create schema public");
    await migrate(pool, undefined, UPGRADE - 1);
    for (const [subject, status, attempts] of OLD) {
      const isOver = ["SENT", "FAILED", "UNCONFIRMED"].includes(status);
      await pool.query(
        `insert into system_mails (id, to_address, subject, text, html, status, attempts, sender_id, transport, answer, ended_at)
         values ($1, 'ada@example.net', $2, $3, $3, $4, $5, $6, 'smtp', 'told', $7)`,
        [
          newId(),
          subject,
          status === "SENT" ? "kept" : isOver ? null : `secret: ${subject}`,
          status,
          attempts,
          ["CLAIMED", "SENDING"].includes(status) ? newId() : null,
          isOver ? new Date() : null,
        ],
      );
    }
    await migrate(pool);
  } finally {
    await pool.end();
  }
}

async function statuses() {
  const { rows } = await sql<{ subject: string; status: string; attempts: number; isErased: boolean }>`
    select subject, status, attempts, variables is null as is_erased from emails order by id`.execute(
    outbox.database,
  );
  return rows.map(({ subject, status, attempts, isErased }) =>
    [subject, status, attempts, ...(isErased ? ["erased"] : [])].join(", "),
  );
}

test("sends waiting and in-doubt emails as before the upgrade and no ended ones", async () => {
  await makeOldTables();
  expect(await statuses()).toEqual([
    "waiting, QUEUED, 0",
    "refused once, QUEUED, 1",
    "in hand, QUEUED, 0",
    "in hand again, QUEUED, 1",
    "in doubt, QUEUED, 1",
    "in doubt again, UNCONFIRMED, 2, erased",
    "sent, SENT, 1, erased",
    "failed, FAILED, 1, erased",
    "unconfirmed, UNCONFIRMED, 2, erased",
  ]);
  const transport = createScriptedTransport();
  transport.play = inDoubt;
  const sender = await outbox.start(transport);
  const idOf = async (subject: string) =>
    (await sql<{ id: string }>`select id from emails where subject = ${subject}`.execute(outbox.database))
      .rows[0]?.id ?? "";
  for (const subject of ["refused once", "in hand again"])
    await outbox.until(await idOf(subject), "UNCONFIRMED");
  await outbox.until(await idOf("waiting"), "QUEUED");
  await outbox.until(await idOf("in hand"), "QUEUED");
  expect(transport.handedOver.map(({ emailId }) => emailId)).not.toContain(await idOf("in doubt"));
  await sql`update emails set due_at = now() where status = 'QUEUED'`.execute(outbox.database);
  sender.wake();
  for (const subject of ["waiting", "in hand", "in doubt"])
    await outbox.until(await idOf(subject), "UNCONFIRMED");
  const left = transport.handedOver.map(({ raw }) => /secret: ([a-z ]+)/.exec(raw.toString())?.[1]);
  expect(left.toSorted()).toEqual(
    ["waiting", "waiting", "in hand", "in hand", "refused once", "in hand again", "in doubt"].toSorted(),
  );
  expect((await statuses()).filter((line) => !line.endsWith("erased"))).toEqual([]);
});
