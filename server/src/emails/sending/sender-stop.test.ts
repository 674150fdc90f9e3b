// Tests a sender that stops during submissions. Emails that it requeues were not sent and can no longer be sent.
import { sql } from "kysely";
import { expect, test, vi } from "vitest";
import { transaction } from "../../platform/database/database.ts";
import { createScriptedTransport, takeEverything } from "../../testing/scripted-transport.ts";
import { OUTBOX_WAIT, useOutbox } from "../../testing/outbox-fixture.ts";

const outbox = useOutbox();

test("does not send an email that asks for permission while the sender requeues its emails", async () => {
  const { database } = outbox;
  const ids = await outbox.enqueue([{}, {}]);
  const transport = createScriptedTransport();
  const asks = new Map(ids.map((id) => [id, Promise.withResolvers<void>()]));
  const ended = Promise.withResolvers<void>();
  let reached = 0;
  transport.play = async (message, mayLeave) => {
    reached++;
    await asks.get(message.emailId)?.promise;
    const outcome = await takeEverything(message, mayLeave);
    ended.resolve();
    return outcome;
  };
  const sender = await outbox.start(transport, { drainMs: 0 });
  await vi.waitFor(() => expect(reached).toBe(2), OUTBOX_WAIT);
  // Runs at the same time as the requeuing.
  const { rows } = await sql<{ id: string }>`select id from emails order by ctid`.execute(database);
  const [first = "", second = ""] = rows.map(({ id }) => id);
  const { stopped } = await transaction(database, async (tx) => {
    await sql`select 1 from emails where id = ${first} for update`.execute(tx);
    const stopping = sender.stop();
    await vi.waitFor(async () => {
      const waiting = await sql`select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(database);
      expect(waiting.rows).toHaveLength(1);
    }, OUTBOX_WAIT);
    asks.get(second)?.resolve();
    await ended.promise;
    return { stopped: stopping };
  });
  await stopped;
  asks.get(first)?.resolve();
  expect(transport.handedOver).toEqual([]);
  expect(await outbox.countByStatus()).toEqual({ QUEUED: 2 });
});
