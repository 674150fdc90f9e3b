// Tests the outbox metrics.
import { sql } from "kysely";
import { expect, test } from "vitest";
import { newId } from "../../platform/ids.ts";
import { useOutbox } from "../../testing/outbox-fixture.ts";
import { measure } from "./queue-measure.ts";

const outbox = useOutbox();

/** Rounds ages down to ten seconds, because a busy machine needs some time between enqueuing and measuring. */
const read = (name: string, value: number) => (name.startsWith("oldest") ? value - (value % 10) : value);

async function gauges(): Promise<Record<string, number>> {
  const { database, metrics } = outbox;
  await measure({ database, metrics });
  const text = await metrics.registry.metrics();
  const values = [...text.matchAll(/^postloft_((?:emails|oldest)_\S+) (\S+)$/gm)];
  return Object.fromEntries(values.map(([, name = "", value]) => [name, read(name, Number(value))]));
}

test("counts due emails by kind with the oldest age and leaves out closed queues", async () => {
  const disabled = await outbox.createProject();
  await outbox.enqueue([
    { kind: "TRANSACTIONAL" },
    { kind: "CAMPAIGN" },
    { kind: "CAMPAIGN" },
    { kind: "CAMPAIGN" },
    { kind: "WORKFLOW", project: disabled },
  ]);
  const [sending, paused] = [newId(), newId()];
  await outbox.enqueue([{ campaignId: sending }, { campaignId: paused }, { campaignId: paused }]);
  await sql`update campaign_queues set state = 'PAUSED' where campaign_id = ${paused}`.execute(
    outbox.database,
  );
  await sql`update project_queues set is_open = false where project_id = ${disabled}`.execute(
    outbox.database,
  );
  await sql`update emails set due_at = now() - interval '90 seconds' where priority = 3`.execute(
    outbox.database,
  );
  await sql`update emails set due_at = now() + interval '1 minute' where id = (select max(id::text)::uuid from emails where priority = 3 and campaign_id is null)`.execute(
    outbox.database,
  );
  expect(await gauges()).toEqual({
    'emails_due{kind="TRANSACTIONAL"}': 1,
    'emails_due{kind="WORKFLOW"}': 0,
    'emails_due{kind="CAMPAIGN"}': 3,
    'oldest_due_email_seconds{kind="TRANSACTIONAL"}': 0,
    'oldest_due_email_seconds{kind="WORKFLOW"}': 0,
    'oldest_due_email_seconds{kind="CAMPAIGN"}': 90,
    emails_unconfirmed: 0,
  });
});

test("counts emails in doubt until they are resolved", async () => {
  await outbox.enqueue([{}, {}]);
  await sql`update emails set status = 'UNCONFIRMED'`.execute(outbox.database);
  expect(await gauges()).toMatchObject({ emails_unconfirmed: 2, 'emails_due{kind="CAMPAIGN"}': 0 });
  await sql`update emails set status = 'SENT'`.execute(outbox.database);
  expect(await gauges()).toMatchObject({ emails_unconfirmed: 0 });
});
