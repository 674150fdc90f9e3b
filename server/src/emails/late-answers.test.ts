// A sender that wakes after it was declared dead, with the server's answer in hand: what was taken is known as sent, once.
import { sql } from "kysely";
import { beforeEach, expect, test, vi } from "vitest";
import {
  createScriptedTransport,
  TAKEN,
  takeEverything,
  type ScriptedTransport,
} from "../testing/scripted-transport.ts";
import { OUTBOX_WAIT, useOutbox } from "../testing/outbox-fixture.ts";
import { getEmail } from "./emails.ts";
import { findMiscounts } from "./sending-hours.ts";

const outbox = useOutbox();
let transport: ScriptedTransport;
/** The server answers when the test wants it to. */
let answer: PromiseWithResolvers<void>;
let handedOver: PromiseWithResolvers<void>;
beforeEach(() => {
  transport = createScriptedTransport();
  answer = Promise.withResolvers();
  handedOver = Promise.withResolvers();
  transport.play = async (_message, gate) => {
    if (!(await gate())) return { kind: "withdrawn" };
    handedOver.resolve();
    await answer.promise;
    return TAKEN;
  };
});

/** Its process stands still: its lease runs out, and it renews nothing. */
const FROZEN = { beatMs: 600_000 };
const expire = () =>
  sql`update senders set lease_until = now() - interval '1 second' where lease_until < now() + interval '16 seconds'`.execute(
    outbox.database,
  );

async function freeze(kind: "CAMPAIGN" | "TRANSACTIONAL"): Promise<string> {
  const [id = ""] = await outbox.enqueue([{ kind }]);
  await outbox.start(transport, FROZEN);
  await handedOver.promise;
  await expire();
  return id;
}

const timelineOf = async (id: string) =>
  (await getEmail(outbox.database, outbox.projectId, id)).timeline.map(
    ({ type, detail }) => `${type}${detail === null ? "" : ` ${detail.slice(0, 9)}`}`,
  );

test("unconfirmed meanwhile, the mail is sent, with the answer and one count", async () => {
  const id = await freeze("CAMPAIGN");
  await outbox.start(createScriptedTransport());
  await outbox.until(id, "UNCONFIRMED");
  answer.resolve();
  await outbox.until(id, "SENT");
  expect(await outbox.row(id)).toMatchObject({ attempts: 1, reason: null });
  expect(await timelineOf(id)).toEqual(["queued", "attempt uncertain", "attempt sent: 250", "email.sent"]);
  expect(await findMiscounts(outbox.database)).toEqual([]);
});

test("still in handover by its dead sender, the mail is sent", async () => {
  const id = await freeze("CAMPAIGN");
  expect(await outbox.row(id)).toMatchObject({ status: "SENDING" });
  answer.resolve();
  await outbox.until(id, "SENT");
  expect(await findMiscounts(outbox.database)).toEqual([]);
});

test("claimed by another sender that has not handed it over, it is sent and not handed over again", async () => {
  const id = await freeze("TRANSACTIONAL");
  const other = createScriptedTransport();
  const reached = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  other.play = async (message, gate) => {
    reached.resolve();
    await held.promise;
    return takeEverything(message, gate);
  };
  const second = await outbox.start(other);
  await reached.promise;
  expect(await outbox.row(id)).toMatchObject({ status: "CLAIMED", attempts: 1 });
  answer.resolve();
  await outbox.until(id, "SENT");
  held.resolve();
  await second.stop();
  expect(other.handedOver).toEqual([]);
  expect(await outbox.row(id)).toMatchObject({ status: "SENT", attempts: 1 });
  expect(await findMiscounts(outbox.database)).toEqual([]);
});

test("handed over again by another sender, both attempts are known as sent, and the mail counts once", async () => {
  const id = await freeze("TRANSACTIONAL");
  const other = createScriptedTransport();
  const again = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  other.play = async (_message, gate) => {
    if (!(await gate())) return { kind: "withdrawn" };
    again.resolve();
    await held.promise;
    return TAKEN;
  };
  await outbox.start(other);
  await again.promise;
  answer.resolve();
  await vi.waitFor(async () => expect(await timelineOf(id)).toContain("attempt sent: 250"), OUTBOX_WAIT);
  expect(await outbox.row(id)).toMatchObject({ status: "SENDING" });
  held.resolve();
  await outbox.until(id, "SENT");
  expect(await outbox.row(id)).toMatchObject({ attempts: 2 });
  expect(await timelineOf(id)).toEqual(["queued", "attempt sent: 250", "attempt sent: 250", "email.sent"]);
  expect(await findMiscounts(outbox.database)).toEqual([]);
});

test("delivered or resolved as failed meanwhile: what was answered is added, and it is sent", async () => {
  for (const [status, end] of [
    ["DELIVERED", "DELIVERED"],
    ["FAILED", "SENT"],
  ] as const) {
    answer = Promise.withResolvers();
    handedOver = Promise.withResolvers();
    const id = await freeze("CAMPAIGN");
    const other = await outbox.start(createScriptedTransport());
    await outbox.until(id, "UNCONFIRMED");
    const sentAt = status === "DELIVERED" ? sql`now() - interval '1 second'` : null;
    await sql`update emails set status = ${status}, sent_at = ${sentAt} where id = ${id}`.execute(
      outbox.database,
    );
    answer.resolve();
    await vi.waitFor(async () => expect(await timelineOf(id)).toContain("attempt sent: 250"), OUTBOX_WAIT);
    expect(await outbox.row(id)).toMatchObject({ status: end });
    await other.stop();
  }
});
