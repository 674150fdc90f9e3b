// Tests project rates and destination limits (D32, F12, F29) against a real PostgreSQL.
import { sql } from "kysely";
import { expect, test, vi } from "vitest";
import { newId } from "../../platform/ids.ts";
import {
  createScriptedTransport,
  takeEverything,
  type ScriptedTransport,
} from "../../testing/scripted-transport.ts";
import { OUTBOX_WAIT, useOutbox } from "../../testing/outbox-fixture.ts";
import type { Outcome, OutgoingMessage } from "../../transports/transport.ts";
import { claimEmails } from "./sender-queries.ts";

const outbox = useOutbox();
const THROTTLED: Outcome = { kind: "deferred", answer: "RCPT: 450 4.7.1 slow down", throttled: true };

const times = (count: number, domain: string) =>
  Array.from({ length: count }, (_, at) => ({ to: `person${at}-${newId()}@${domain}` }));
const domainOf = ({ envelope }: OutgoingMessage) => envelope.to[0]?.split("@")[1] ?? "";

/** Returns a transport that holds every email until released and counts the held ones by domain. */
function createValve() {
  const transport = createScriptedTransport();
  const held: Array<{ domain: string; release: () => void }> = [];
  let isOpen = false;
  transport.play = async (message, mayLeave) => {
    const gone = Promise.withResolvers<void>();
    const entry = { domain: domainOf(message), release: gone.resolve };
    if (!isOpen) {
      held.push(entry);
      await gone.promise;
    }
    return takeEverything(message, mayLeave);
  };
  return {
    transport,
    domains: () => held.map(({ domain }) => domain).toSorted(),
    releaseAll: () => held.splice(0).forEach(({ release }) => release()),
    open() {
      isOpen = true;
      this.releaseAll();
    },
  };
}

const sentCount = (transport: ScriptedTransport) => transport.handedOver.length;

test("starts with two connections per destination and reaches all after a few emails", async () => {
  const valve = createValve();
  await outbox.enqueue(times(60, "example.com"));
  await outbox.start(valve.transport, { connections: 10 });
  for (const underWay of [2, 4, 8, 10]) {
    await vi.waitFor(() => expect(valve.domains()).toHaveLength(underWay), OUTBOX_WAIT);
    // No further email starts while these are held.
    await outbox.database.selectFrom("emails").select("id").execute();
    expect(valve.domains()).toHaveLength(underWay);
    valve.releaseAll();
  }
  valve.open();
  await vi.waitFor(async () => expect(await outbox.countByStatus()).toEqual({ SENT: 60 }), OUTBOX_WAIT);
});

test("gives a throttling domain one connection and delays no other email", async () => {
  const transport = createScriptedTransport();
  let underWay = 0;
  let most = 0;
  let slowIsBack = false;
  transport.play = async (message, mayLeave) => {
    if (domainOf(message) !== "slow.example" || slowIsBack) return takeEverything(message, mayLeave);
    underWay += 1;
    most = Math.max(most, underWay);
    await new Promise((resolve) => setTimeout(resolve, 10));
    underWay -= 1;
    return THROTTLED;
  };
  // Far more than a process holds in memory, all due before the others.
  await outbox.enqueue(times(600, "slow.example"));
  await outbox.enqueue(times(60, "fast.example"));
  const sender = await outbox.start(transport, { connections: 5 });
  await vi.waitFor(() => expect(sentCount(transport)).toBe(60), OUTBOX_WAIT);
  expect(most).toBeLessThanOrEqual(2);
  const waiting = await outbox.database
    .selectFrom("emails")
    .select(sql<number>`count(*) filter (where attempts > 0)::float8`.as("tried"))
    .where("status", "<>", "SENT")
    .executeTakeFirstOrThrow();
  // Without skipping, hundreds of held emails would have to be sent first.
  expect(waiting.tried).toBeLessThan(150);
  slowIsBack = true;
  await vi.waitFor(async () => {
    await sql`update emails set due_at = now() where status = 'QUEUED'`.execute(outbox.database);
    sender.wake();
    expect(await outbox.countByStatus()).toEqual({ SENT: 660 });
  }, OUTBOX_WAIT);
  const ids = transport.handedOver.map(({ emailId }) => emailId);
  expect(new Set(ids).size).toBe(660);
});

test("claims urgent email for a crowded destination immediately and sends it next", async () => {
  const valve = createValve();
  await outbox.enqueue(times(80, "gmail.com"));
  const sender = await outbox.start(valve.transport, { connections: 5 });
  await vi.waitFor(() => expect(valve.domains()).toHaveLength(2), OUTBOX_WAIT);
  const [urgent = ""] = await outbox.enqueue([
    { kind: "TRANSACTIONAL", to: `ada-${newId()}@googlemail.com` },
  ]);
  sender.wake();
  await outbox.until(urgent, "CLAIMED");
  // This email is claimed after the urgent one and sent immediately. Once it appears, the urgent one waits for its destination.
  await outbox.enqueue([{ to: `${newId()}@other.example` }]);
  sender.wake();
  await vi.waitFor(() => expect(valve.domains()).toContain("other.example"), OUTBOX_WAIT);
  valve.open();
  await outbox.until(urgent, "SENT");
  expect(valve.transport.handedOver.slice(0, 7).map(({ emailId }) => emailId)).toContain(urgent);
});

test("keeps to the configured connections per destination and gives others the rest", async () => {
  const valve = createValve();
  await outbox.enqueue([...times(20, "example.com"), ...times(20, "other.example")]);
  await outbox.start(valve.transport, { connections: 5, destinationConnections: 1 });
  for (let round = 0; round < 4; round++) {
    await vi.waitFor(() => expect(valve.domains()).toEqual(["example.com", "other.example"]), OUTBOX_WAIT);
    valve.releaseAll();
  }
  valve.open();
});

/** Returns the maximum that may have been sent, with the initial burst of one second and one email in flight. */
function mostAt(perSecond: number, startedMs: number): number {
  return perSecond + Math.ceil(((performance.now() - startedMs) / 1000) * perSecond) + 1;
}

test("slows a project down to its rate without delaying others", async () => {
  const transport = createScriptedTransport();
  const other = await outbox.createProject();
  await outbox.enqueue(times(100, "example.com"));
  const startedMs = performance.now();
  const sender = await outbox.start(transport, { projectSendsPerSecond: 5 });
  await vi.waitFor(() => expect(sentCount(transport)).toBeGreaterThanOrEqual(5), OUTBOX_WAIT);
  const [free = ""] = await outbox.enqueue([{ project: other }]);
  sender.wake();
  await outbox.until(free, "SENT");
  expect(sentCount(transport)).toBeLessThanOrEqual(1 + mostAt(5, startedMs));
  await vi.waitFor(() => expect(sentCount(transport)).toBeGreaterThanOrEqual(9), OUTBOX_WAIT);
  expect(sentCount(transport)).toBeLessThanOrEqual(1 + mostAt(5, startedMs));
});

const readLeases = () => outbox.database.selectFrom("senders").select(["id", "leaseUntil"]).execute();

/** Waits until two processes renewed their leases, which is when they count each other. */
async function untilBothRenewed(): Promise<void> {
  const before = new Map((await readLeases()).map(({ id, leaseUntil }) => [id, leaseUntil.getTime()]));
  await vi.waitFor(async () => {
    const renewed = (await readLeases()).filter(
      ({ id, leaseUntil }) => leaseUntil.getTime() !== before.get(id),
    );
    expect(renewed).toHaveLength(2);
  }, OUTBOX_WAIT);
}

test("keeps two processes together within the rate of a project", async () => {
  const transports = [createScriptedTransport(), createScriptedTransport()];
  const total = () => transports.reduce((sum, transport) => sum + sentCount(transport), 0);
  await Promise.all(transports.map((transport) => outbox.start(transport, { projectSendsPerSecond: 4 })));
  await untilBothRenewed();
  // Again, because the first process counted the others before the second one began to send.
  await untilBothRenewed();
  const startedMs = performance.now();
  await outbox.enqueue(times(100, "example.com"));
  await vi.waitFor(() => {
    expect(performance.now() - startedMs).toBeGreaterThan(1_500);
    expect(total()).toBeGreaterThan(4);
  }, OUTBOX_WAIT);
  expect(total()).toBeLessThanOrEqual(mostAt(4, startedMs));
});

test("claims no more than the limit on a table without statistics", async () => {
  await outbox.enqueue(times(40, "example.com"));
  const { database, projectId } = outbox;
  const senderId = await outbox.addLiveSender();
  const claim = { senderId, projectId, priority: 3, campaignId: null, limit: 7, withoutDomains: [] };
  const counts: number[] = [];
  for (let turn = 0; turn < 7; turn++) counts.push((await claimEmails(database, claim)).length);
  expect(counts).toEqual([7, 7, 7, 7, 7, 5, 0]);
});

test("leaves out exactly the excluded domains from a claim", async () => {
  const { database, projectId } = outbox;
  await outbox.enqueue([
    ...times(3, "full.example"),
    ...times(2, "example"),
    ...times(2, "not-full.example"),
  ]);
  const claim = {
    senderId: await outbox.addLiveSender(),
    projectId,
    priority: 3,
    campaignId: null,
    limit: 40,
    withoutDomains: ["full.example", "x.y"],
  };
  const claimed = await claimEmails(database, claim);
  expect(claimed.map(({ toAddress: address }) => address.split("@")[1]).toSorted()).toEqual([
    "example",
    "example",
    "not-full.example",
    "not-full.example",
  ]);
});

test("exports attempts by outcome, kind and transport", async () => {
  const transport = createScriptedTransport();
  transport.play = async (message, mayLeave) =>
    domainOf(message) === "silent.example" && (await mayLeave())
      ? { kind: "uncertain", answer: "no reply" }
      : takeEverything(message, mayLeave);
  const [sent = ""] = await outbox.enqueue([{ kind: "WORKFLOW" }]);
  const [doubt = ""] = await outbox.enqueue([{ to: "ada@silent.example" }]);
  await outbox.start(transport);
  await outbox.until(sent, "SENT");
  await outbox.until(doubt, "UNCONFIRMED");
  const text = await outbox.metrics.registry.metrics();
  expect(text).toContain(
    'postloft_email_attempts_total{outcome="sent",kind="WORKFLOW",transport="scripted"} 1',
  );
  expect(text).toContain(
    'postloft_email_attempts_total{outcome="uncertain",kind="CAMPAIGN",transport="scripted"} 1',
  );
});

test("stops at the in-doubt limit while results cannot be recorded and then sends the rest", async () => {
  const transport = createScriptedTransport();
  const asked: string[] = [];
  transport.play = (message, mayLeave) => {
    asked.push(message.emailId);
    return takeEverything(message, mayLeave);
  };
  await outbox.enqueue(Array.from({ length: 12 }, () => ({})));
  const blocking = await outbox.database.startTransaction().execute();
  await sql`
    insert into sending_hours (project_id, hour)
    select ${outbox.projectId}::uuid, date_bin('1 hour', now(), timestamptz 'epoch') + n * interval '1 hour'
    from generate_series(0, 1) n`.execute(blocking);
  try {
    await outbox.start(transport, { connections: 3 });
    await vi.waitFor(() => expect(sentCount(transport)).toBeGreaterThanOrEqual(1), OUTBOX_WAIT);
    // Give the next emails enough time for their pre-send check to commit.
    await vi.waitFor(() => expect(asked.length).toBe(3 + sentCount(transport)), OUTBOX_WAIT);
    for (let turn = 0; turn < 20; turn++)
      expect((await outbox.countByStatus())["SENDING"]).toBe(sentCount(transport));
    expect(sentCount(transport)).toBeLessThanOrEqual(3);
  } finally {
    await blocking.commit().execute();
  }
  await vi.waitFor(async () => expect(await outbox.countByStatus()).toEqual({ SENT: 12 }), OUTBOX_WAIT);
  expect(new Set(transport.handedOver.map(({ emailId }) => emailId)).size).toBe(12);
  expect(sentCount(transport)).toBe(12);
});
