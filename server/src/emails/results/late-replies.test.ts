// Tests a sender that resumes with a server's reply after it was declared dead. The email must be recorded as sent, once.
import { sql } from "kysely";
import { beforeEach, expect, test, vi } from "vitest";
import {
  createScriptedTransport,
  refuseWith,
  TAKEN,
  type ScriptedTransport,
} from "../../testing/scripted-transport.ts";
import { expireLease, OUTBOX_WAIT, markInDoubt, useOutbox } from "../../testing/outbox-fixture.ts";
import { transaction } from "../../platform/database/database.ts";
import { newId } from "../../platform/ids.ts";
import type { Outcome } from "../../transports/transport.ts";
import { createLog } from "../../platform/log.ts";
import { RECIPIENT_CHECKS } from "../../suppressions/recipients.ts";
import { createDoubtBrake } from "../doubt/doubt-brake.ts";
import { readEmail } from "../../testing/read-email.ts";
import { createPreSendCheck } from "../submission/pre-send-check.ts";
import { settleSender, type Lease } from "../lease/lease.ts";
import { createResultRecorder } from "./outcomes.ts";
import { createInDoubtLimit } from "../submission/in-doubt-limit.ts";
import type { Ready } from "../rows/prepared.ts";
import { claimEmails } from "../sending/sender-queries.ts";
import { findMiscounts } from "./sending-hours.ts";

const outbox = useOutbox();
let transport: ScriptedTransport;
/** Resolved when the server should reply. */
let reply: PromiseWithResolvers<void>;
let handedOver: PromiseWithResolvers<void>;
beforeEach(() => {
  transport = createScriptedTransport();
  reply = Promise.withResolvers();
  handedOver = Promise.withResolvers();
  transport.play = async (_message, mayLeave) => {
    if (!(await mayLeave())) return { kind: "withdrawn" };
    handedOver.resolve();
    await reply.promise;
    return TAKEN;
  };
});

/** Simulates a frozen process. Its heartbeat stops, so its lease runs out. */
const FROZEN = { beatMs: 600_000 };
const expire = () =>
  sql`update senders set lease_until = now() - interval '1 second' where lease_until < now() + interval '16 seconds'`.execute(
    outbox.database,
  );

async function freeze(): Promise<string> {
  const [id = ""] = await outbox.enqueue([{}]);
  await outbox.start(transport, FROZEN);
  await handedOver.promise;
  await expire();
  return id;
}

const timelineOf = async (id: string) =>
  (await readEmail(outbox.database, outbox.projectId, id)).timeline.map(
    ({ type, detail }) => `${type}${detail === null ? "" : ` ${detail.slice(0, 9)}`}`,
  );

test("sets an unconfirmed email to sent, stores the reply and counts it once", async () => {
  const id = await freeze();
  await outbox.start(createScriptedTransport());
  await outbox.until(id, "UNCONFIRMED");
  reply.resolve();
  await outbox.until(id, "SENT");
  expect(await outbox.row(id)).toMatchObject({ attempts: 1, reason: null });
  expect(await timelineOf(id)).toEqual(["queued", "attempt uncertain", "attempt sent: 250", "email.sent"]);
  expect(await findMiscounts(outbox.database)).toEqual([]);
});

test("sets an email to sent that its dead sender still has in submission", async () => {
  const id = await freeze();
  expect(await outbox.row(id)).toMatchObject({ status: "SENDING" });
  reply.resolve();
  await outbox.until(id, "SENT");
  expect(await findMiscounts(outbox.database)).toEqual([]);
});

/** Submits a transactional email from a process that then freezes. `wake` records the server's reply. */
async function freezeAll(): Promise<{ id: string; dead: string; wake: () => Promise<void> }> {
  const [id = ""] = await outbox.enqueue([{ kind: "TRANSACTIONAL" }]);
  const dead = newId();
  await sql`insert into senders (id, lease_until) values (${dead}, now() - interval '1 second')`.execute(
    outbox.database,
  );
  const [row] = await claimEmails(outbox.database, {
    senderId: dead,
    projectId: outbox.projectId,
    priority: 1,
    campaignId: null,
    limit: 1,
    withoutDomains: [],
  });
  await markInDoubt(outbox.database, dead, id);
  await expireLease(outbox.database, dead);
  const log = createLog({ level: "silent" });
  const lease = { senderId: () => dead, isHeld: () => true } as Lease;
  const ending = new AbortController().signal;
  const inDoubtLimit = createInDoubtLimit(1);
  const brake = createDoubtBrake({ pause: async () => undefined, log });
  const records = createResultRecorder({
    database: outbox.database,
    transportName: "smtp",
    lease,
    submission: createPreSendCheck({
      recipients: RECIPIENT_CHECKS,
      ending,
      database: outbox.database,
      lease,
      inDoubtLimit,
      brake,
      log,
      metrics: outbox.metrics,
    }),
    applyFeedback: async () => undefined,
    ending,
    log,
    metrics: outbox.metrics,
  });
  return { id, dead, wake: () => records.record({ row, ownSubject: null } as Ready, TAKEN) };
}

/** Creates a transport for the second sender that stops before or after its pre-send check. */
function stopping(where: "before" | "after", outcome: Outcome = TAKEN) {
  const other = createScriptedTransport();
  const reached = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const stop = async () => {
    reached.resolve();
    await held.promise;
  };
  other.play = async (_message, mayLeave) => {
    if (where === "before") await stop();
    if (!(await mayLeave())) return { kind: "withdrawn" };
    if (where === "after") await stop();
    return outcome;
  };
  return { other, reached: reached.promise, release: () => held.resolve() };
}

test("sets an email to sent that another sender has claimed and does not submit it again", async () => {
  const { id, wake } = await freezeAll();
  const { other, reached, release } = stopping("before");
  const second = await outbox.start(other);
  await reached;
  expect(await outbox.row(id)).toMatchObject({ status: "CLAIMED", attempts: 1 });
  await wake();
  expect(await outbox.row(id)).toMatchObject({ status: "SENT", attempts: 1 });
  release();
  await second.stop();
  expect(other.handedOver).toEqual([]);
  expect(await outbox.row(id)).toMatchObject({ status: "SENT", attempts: 1 });
  expect(await findMiscounts(outbox.database)).toEqual([]);
});

test.each([
  ["defers", "QUEUED", { kind: "deferred", answer: "451 4.2.0 later" }],
  ["rejects", "UNCONFIRMED", { kind: "rejected", answer: "554 5.7.1 no" }],
] as const)(
  "sets an email to sent that the next attempt %s and does not retry it",
  async (_what, status, outcome) => {
    const { id, wake } = await freezeAll();
    const other = createScriptedTransport();
    other.play = refuseWith(outcome);
    await outbox.start(other);
    await vi.waitFor(
      async () => expect(await outbox.row(id)).toMatchObject({ status, attempts: 2 }),
      OUTBOX_WAIT,
    );
    await wake();
    expect(await outbox.row(id)).toMatchObject({ status: "SENT", attempts: 2, reason: null });
    expect(await findMiscounts(outbox.database)).toEqual([]);
  },
);

test("records both attempts as sent and counts the email once when another sender resubmits it", async () => {
  const { id, wake } = await freezeAll();
  const { other, reached, release } = stopping("after");
  await outbox.start(other);
  await reached;
  await wake();
  expect(await outbox.row(id)).toMatchObject({ status: "SENDING" });
  release();
  await outbox.until(id, "SENT");
  expect(await outbox.row(id)).toMatchObject({ attempts: 2 });
  expect(await timelineOf(id)).toEqual(["queued", "attempt sent: 250", "attempt sent: 250", "email.sent"]);
  expect(await findMiscounts(outbox.database)).toEqual([]);
});

test.each([
  ["gets a deferral", { kind: "deferred", answer: "451 4.2.0 later" }],
  ["gets a rejection", { kind: "rejected", answer: "550 5.1.1 no such user", meaning: "hard-bounce" }],
  ["gets no reply", { kind: "uncertain", answer: "no reply after the dot" }],
] as const)(
  "sets an email to sent when the sender that resubmits it %s and does not retry it",
  async (_what, outcome) => {
    const { id, wake } = await freezeAll();
    const { other, reached, release } = stopping("after", outcome);
    await outbox.start(other);
    await reached;
    await wake();
    release();
    await outbox.until(id, "SENT");
    expect(await outbox.row(id)).toMatchObject({ attempts: 2, reason: null });
    const attempts = (await timelineOf(id)).filter((item) => item.startsWith("attempt"));
    expect(attempts).toEqual(["attempt sent: 250", expect.stringContaining(outcome.kind)]);
    expect(await findMiscounts(outbox.database)).toEqual([]);
  },
);

test("sets an email to sent and counts it once when the second sender dies too", async () => {
  const { id, dead, wake } = await freezeAll();
  await transaction(outbox.database, (tx) => settleSender(tx, dead, [id]));
  await sql`delete from senders where id = ${dead}`.execute(outbox.database);
  const { other, reached, release } = stopping("after");
  const second = await outbox.start(other, FROZEN);
  await reached;
  await wake();
  await expire();
  await outbox.start(createScriptedTransport());
  await outbox.until(id, "SENT");
  expect(await outbox.row(id)).toMatchObject({ attempts: 2, reason: null });
  expect(await findMiscounts(outbox.database)).toEqual([]);
  release();
  await second.stop();
  expect(await findMiscounts(outbox.database)).toEqual([]);
});

test("sets an email in doubt twice to sent after a late reply to the first attempt", async () => {
  const { id, wake } = await freezeAll();
  const { other, reached, release } = stopping("after", { kind: "uncertain", answer: "no reply" });
  await outbox.start(other);
  await reached;
  release();
  await outbox.until(id, "UNCONFIRMED");
  await wake();
  expect(await outbox.row(id)).toMatchObject({ status: "SENT", attempts: 2, reason: null });
  expect(await findMiscounts(outbox.database)).toEqual([]);
});

test("adds the late reply to a delivered email and sets one resolved as failed to sent", async () => {
  for (const [status, end] of [
    ["DELIVERED", "DELIVERED"],
    ["FAILED", "SENT"],
  ] as const) {
    reply = Promise.withResolvers();
    handedOver = Promise.withResolvers();
    const id = await freeze();
    const other = await outbox.start(createScriptedTransport());
    await outbox.until(id, "UNCONFIRMED");
    const sentAt = status === "DELIVERED" ? sql`now() - interval '1 second'` : null;
    await sql`update emails set status = ${status}, sent_at = ${sentAt} where id = ${id}`.execute(
      outbox.database,
    );
    reply.resolve();
    await vi.waitFor(async () => expect(await timelineOf(id)).toContain("attempt sent: 250"), OUTBOX_WAIT);
    expect(await outbox.row(id)).toMatchObject({ status: end });
    await other.stop();
  }
});
