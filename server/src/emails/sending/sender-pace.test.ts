// How fast and how many at once: the rate of a project, and what goes to one destination (D32, F12, F29), against a real PostgreSQL.
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

/** Holds every mail at the transport until the test lets it go on, and counts those under way by domain. */
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

test("one destination begins with two connections and has all of them after a handful of mails", async () => {
  const valve = createValve();
  await outbox.enqueue(times(60, "example.com"));
  await outbox.start(valve.transport, { connections: 10 });
  for (const underWay of [2, 4, 8, 10]) {
    await vi.waitFor(() => expect(valve.domains()).toHaveLength(underWay), OUTBOX_WAIT);
    // Nobody else comes while these are under way.
    await outbox.database.selectFrom("emails").select("id").execute();
    expect(valve.domains()).toHaveLength(underWay);
    valve.releaseAll();
  }
  valve.open();
  await vi.waitFor(async () => expect(await outbox.countByStatus()).toEqual({ SENT: 60 }), OUTBOX_WAIT);
});

test("a domain that throttles takes one connection and delays nobody: the mails behind it pass, none is lost", async () => {
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
  // Far more than a process keeps in hand, all due before the others.
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
  // Those in hand, some hundreds, would have to go first if nobody passed them.
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

test("urgent mail to a destination of which enough waits is claimed at once and goes next", async () => {
  const valve = createValve();
  await outbox.enqueue(times(80, "gmail.com"));
  const sender = await outbox.start(valve.transport, { connections: 5 });
  await vi.waitFor(() => expect(valve.domains()).toHaveLength(2), OUTBOX_WAIT);
  const [urgent = ""] = await outbox.enqueue([
    { kind: "TRANSACTIONAL", to: `ada-${newId()}@googlemail.com` },
  ]);
  sender.wake();
  await outbox.until(urgent, "CLAIMED");
  // Claimed and prepared after it, and handed over at once: when this one is seen the urgent one waits for its destination.
  await outbox.enqueue([{ to: `${newId()}@other.example` }]);
  sender.wake();
  await vi.waitFor(() => expect(valve.domains()).toContain("other.example"), OUTBOX_WAIT);
  valve.open();
  await outbox.until(urgent, "SENT");
  expect(valve.transport.handedOver.slice(0, 7).map(({ emailId }) => emailId)).toContain(urgent);
});

test("no more than the setting go to one destination, however well it goes; the others have the rest", async () => {
  const valve = createValve();
  await outbox.enqueue([...times(20, "example.com"), ...times(20, "other.example")]);
  await outbox.start(valve.transport, { connections: 5, destinationConnections: 1 });
  for (let round = 0; round < 4; round++) {
    await vi.waitFor(() => expect(valve.domains()).toEqual(["example.com", "other.example"]), OUTBOX_WAIT);
    valve.releaseAll();
  }
  valve.open();
});

/** How many may have gone since then, with the second's worth that is there at once; the last one may be on its way. */
function mostAt(perSecond: number, startedMs: number): number {
  return perSecond + Math.ceil(((performance.now() - startedMs) / 1000) * perSecond) + 1;
}

test("a project over its rate waits and goes on; the others are not delayed", async () => {
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

test("two processes together keep to the rate of a project", async () => {
  const transports = [createScriptedTransport(), createScriptedTransport()];
  const total = () => transports.reduce((sum, transport) => sum + sentCount(transport), 0);
  await Promise.all(transports.map((transport) => outbox.start(transport, { projectSendsPerSecond: 4 })));
  // Whoever came first learns of the other with its next beat, every 50 ms.
  await new Promise((resolve) => setTimeout(resolve, 300));
  const startedMs = performance.now();
  await outbox.enqueue(times(100, "example.com"));
  await vi.waitFor(() => {
    expect(performance.now() - startedMs).toBeGreaterThan(1_500);
    expect(total()).toBeGreaterThan(4);
  }, OUTBOX_WAIT);
  expect(total()).toBeLessThanOrEqual(mostAt(4, startedMs));
});

test("a claim takes no more than it asked for, on a table that nobody has looked at yet", async () => {
  await outbox.enqueue(times(40, "example.com"));
  const { database, projectId } = outbox;
  const senderId = await outbox.liveSender();
  const claim = { senderId, projectId, priority: 3, campaignId: null, limit: 7, withoutDomains: [] };
  const counts: number[] = [];
  for (let turn = 0; turn < 7; turn++) counts.push((await claimEmails(database, claim)).length);
  expect(counts).toEqual([7, 7, 7, 7, 7, 5, 0]);
});

test("a claim passes over the domains it is told, and only those", async () => {
  const { database, projectId } = outbox;
  await outbox.enqueue([
    ...times(3, "full.example"),
    ...times(2, "example"),
    ...times(2, "not-full.example"),
  ]);
  const claim = {
    senderId: await outbox.liveSender(),
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

test("what waits, is in doubt and went out is shown by kind and transport", async () => {
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

test("while outcomes cannot be booked no more mails leave than may be in doubt; then all go, once", async () => {
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
    // The next ones ask, with turns enough for the commit of their check.
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
