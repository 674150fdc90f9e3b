// Tests the upgrade to one row per claimed email (migration 0028) for batched, queued, claimed and in-doubt recipients.
import { Client } from "pg";
import { sql } from "kysely";
import { expect, test, vi } from "vitest";
import { newId } from "../../platform/ids.ts";
import { createLog } from "../../platform/log.ts";
import { createPool } from "../../platform/database/database.ts";
import { migrate, readMigrations } from "../../platform/database/migrations.ts";
import { useOutbox } from "../../testing/outbox-fixture.ts";
import { createScriptedTransport } from "../../testing/scripted-transport.ts";

const UPGRADE = 28;
const WAITING = 20_000;
const QUEUED = 1_000;
/** Recipients in doubt without a row, in the batch that the sender had claimed. Other recipients of this batch have been sent. */
const DOUBTS_IN_BATCH = 20;
const SENT_OF_BATCH = 10;
/** Recipients in doubt with a row that says so. */
const DOUBTS_IN_ROWS = 30;
const LONG = 120_000;

const outbox = useOutbox();

/** Fills the old tables with the state that a sender leaves when it dies during a campaign. */
async function fillOldTables(client: Client): Promise<void> {
  await client.query("drop schema public cascade; create schema public");
  await client.query(
    "create table schema_migrations (version integer primary key, name text not null, applied_at timestamptz not null default now())",
  );
  for (const { version, name, sql: statements } of await readMigrations()) {
    if (version >= UPGRADE) continue;
    await client.query(statements);
    await client.query("insert into schema_migrations (version, name) values ($1, $2)", [version, name]);
  }
  const [project, content, campaign, dead] = [newId(), newId(), newId(), newId()];
  await client.query("insert into projects (id, name) values ($1, 'Old')", [project]);
  await client.query(
    `insert into contacts (project_id, id, email, subscribed)
     select $1, new_id(), n || '@d' || n % 100 || '.example.com', true from generate_series(1, $2::integer) n`,
    [project, WAITING + QUEUED + DOUBTS_IN_ROWS],
  );
  await client.query(
    `insert into email_contents (project_id, id, from_address, subject, html, headers, attachments)
     values ($1, $2, 'me@sender.example', 'Hello', '<p>Hi</p>', '[]', '[]')`,
    [project, content],
  );
  await client.query(
    `insert into campaigns (project_id, id, name, subject, body, from_address, audience_type, status)
     values ($1, $2, 'Old', 's', 'b', 'me@sender.example', 'ALL', 'SENDING')`,
    [project, campaign],
  );
  await client.query(
    `insert into recipient_batches (project_id, id, campaign_id, content_id, email_ids, contact_ids, addresses, domains)
     select $1, (array_agg(mail order by mail))[1], $2, $3, array_agg(mail order by mail), array_agg(id order by mail),
       array_agg(email order by mail), array_agg(distinct split_part(email, '@', 2))
     from (select id, email, new_id() as mail, row_number() over (order by id) - 1 as place from contacts) c
     where place < $4 group by place / 40`,
    [project, campaign, content, WAITING],
  );
  await client.query("insert into senders (id, lease_until) values ($1, now() - interval '1 minute')", [
    dead,
  ]);
  await client.query(
    `update recipient_batches set sender_id = $1, claims = 1 where id = (select min(id::text)::uuid from recipient_batches)`,
    [dead],
  );
  await client.query(
    `update senders set in_doubt = (select email_ids[1:$2] from recipient_batches where sender_id = $1) where id = $1`,
    [dead, DOUBTS_IN_BATCH],
  );
  await client.query(
    `insert into emails (project_id, id, contact_id, content_id, campaign_id, priority, to_address, status, attempts, sent_at)
     select $1, r.id, r.contact_id, $2, $3, 3, r.address, 'SENT', 1, now()
     from recipient_batches b, unnest(b.email_ids, b.contact_ids, b.addresses) with ordinality as r (id, contact_id, address, at)
     where b.sender_id = $4 and r.at between $5 and $6`,
    [project, content, campaign, dead, DOUBTS_IN_BATCH + 1, DOUBTS_IN_BATCH + SENT_OF_BATCH],
  );
  await client.query(
    `insert into emails (project_id, id, contact_id, content_id, priority, to_address, status, sender_id)
     select $1, new_id(), id, $2, case when place < $3 then 1 else 3 end, email,
       case when place < $3 then 'QUEUED' else 'SENDING' end, case when place >= $3 then $4::uuid end
     from (select id, email, row_number() over (order by id) - 1 - $5 as place from contacts) c where place >= 0`,
    [project, content, QUEUED, dead, WAITING],
  );
}

test(
  "mails each waiting recipient once after the upgrade and reports the ones in doubt",
  { timeout: 2 * LONG },
  async () => {
    const client = new Client(outbox.connection);
    await client.connect();
    const pool = createPool({
      connection: outbox.connection,
      maxConnections: 2,
      log: createLog({ level: "silent" }),
    });
    try {
      await fillOldTables(client);
      await migrate(pool);
      const transport = createScriptedTransport();
      await outbox.start(transport, { connections: 40 });
      const left = WAITING - DOUBTS_IN_BATCH - SENT_OF_BATCH + QUEUED;
      const isOver = async () =>
        expect(
          (
            await sql`select 1 from emails where status in ('QUEUED', 'CLAIMED')
          union all select 1 from recipient_batches limit 1`.execute(outbox.database)
          ).rows,
        ).toEqual([]);
      await vi.waitFor(isOver, { timeout: LONG, interval: 100 });
      expect(await outbox.countByStatus()).toEqual({
        SENT: left + SENT_OF_BATCH,
        UNCONFIRMED: DOUBTS_IN_BATCH + DOUBTS_IN_ROWS,
      });
      const ids = transport.handedOver.map(({ emailId }) => emailId);
      expect([ids.length, new Set(ids).size]).toEqual([left, left]);
    } finally {
      await client.end();
      await pool.end();
    }
  },
);
