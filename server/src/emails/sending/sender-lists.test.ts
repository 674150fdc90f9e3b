// Tests that unsubscribing wins (promise P8). No bulk mail is sent if its SENDING commits after the contact unsubscribed.
import { sql } from "kysely";
import { expect, test, vi } from "vitest";
import PostalMime from "postal-mime";
import { transaction } from "../../platform/database/database.ts";
import { newId } from "../../platform/ids.ts";
import { createScriptedTransport, takeEverything, type Play } from "../../testing/scripted-transport.ts";
import { OUTBOX_WAIT, useOutbox } from "../../testing/outbox-fixture.ts";
import { makeContent } from "../outbox/emails.ts";
import { dropContacts } from "../../testing/drop-contacts.ts";
import { readEmail } from "../../testing/read-email.ts";
import { createFailoverTransport } from "../../transports/failover.ts";
import { createLog } from "../../platform/log.ts";

const outbox = useOutbox();
const REASON = "The contact is not subscribed.";
const LIST_KINDS = ["MARKETING", "HEADLESS"] as const;

async function unsubscribe(emailId: string): Promise<void> {
  await sql`update contacts set subscribed = false where id = (select contact_id from emails where id = ${emailId})`.execute(
    outbox.database,
  );
}

/** Returns a point at which a scripted transport waits until released. */
function createStop() {
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  return {
    reached: reached.promise,
    release: () => released.resolve(),
    async here() {
      reached.resolve();
      await released.promise;
    },
  };
}

test.each(LIST_KINDS)(
  "sends %s mail to a subscribed contact with the signed RFC 8058 headers",
  async (listKind) => {
    const transport = createScriptedTransport();
    const [id = ""] = await outbox.enqueue([{ listKind }]);
    await outbox.start(transport);
    await outbox.until(id, "SENT");
    const { contactId } = await outbox.row(id);
    const { headers } = await PostalMime.parse(transport.handedOver[0]?.raw ?? "");
    const valueOf = (key: string) => headers.filter((header) => header.key === key).map(({ value }) => value);
    expect(valueOf("list-unsubscribe")).toEqual([`<https://u.example/${outbox.projectId}/${contactId}>`]);
    expect(valueOf("list-unsubscribe-post")).toEqual(["List-Unsubscribe=One-Click"]);
    expect(valueOf("list-id")).toEqual([`<${outbox.projectId}.sender.example>`]);
    expect(valueOf("auto-submitted")).toEqual([]);
  },
);

test.each([
  ["MARKETING", "SKIPPED", 0],
  ["HEADLESS", "SKIPPED", 0],
  [undefined, "SENT", 1],
] as const)(
  "%s mail to a contact who unsubscribed long ago ends as %s",
  async (listKind, status, submissions) => {
    const transport = createScriptedTransport();
    const [id = ""] = await outbox.enqueue([
      { subscribed: false, ...(listKind === undefined ? {} : { listKind }) },
    ]);
    await outbox.start(transport);
    await outbox.until(id, status);
    expect(transport.handedOver).toHaveLength(submissions);
    expect(await readEmail(outbox.database, outbox.projectId, id)).toMatchObject({
      reason: status === "SKIPPED" ? REASON : null,
      attempts: submissions,
    });
  },
);

test.each([
  ["MARKETING", "SKIPPED", 0],
  [undefined, "SENT", 1],
] as const)(
  "%s mail to a contact who unsubscribes at the last byte before the dot ends as %s",
  async (listKind, status, submissions) => {
    const stop = createStop();
    const transport = createScriptedTransport();
    transport.play = async (message, mayLeave) => {
      await stop.here();
      return takeEverything(message, mayLeave);
    };
    const [id = ""] = await outbox.enqueue([listKind === undefined ? {} : { listKind }]);
    await outbox.start(transport);
    await stop.reached;
    await unsubscribe(id);
    stop.release();
    await outbox.until(id, status);
    expect(transport.handedOver).toHaveLength(submissions);
    const row = await outbox.row(id);
    expect(row).toMatchObject({ attempts: submissions, reason: status === "SKIPPED" ? REASON : null });
  },
);

test("holds an email back while an uncommitted unsubscription blocks the pre-send check", async () => {
  const transport = createScriptedTransport();
  const [id = ""] = await outbox.enqueue([{ listKind: "MARKETING" }]);
  const asked = Promise.withResolvers<void>();
  transport.play = async (message, mayLeave) => {
    asked.resolve();
    return takeEverything(message, mayLeave);
  };
  await transaction(outbox.database, async (tx) => {
    await sql`update contacts set subscribed = false`.execute(tx);
    await outbox.start(transport);
    await asked.promise;
    // The email may be claimed repeatedly, but it must not be sent.
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(transport.handedOver).toHaveLength(0);
    expect(["QUEUED", "CLAIMED"]).toContain((await outbox.row(id)).status);
  });
  await outbox.until(id, "SKIPPED");
  expect(transport.handedOver).toHaveLength(0);
});

test("sends an email without waiting if its contact unsubscribes after the pre-send check", async () => {
  const stop = createStop();
  const transport = createScriptedTransport();
  transport.play = async (_message, mayLeave) => {
    const mayGo = await mayLeave();
    await stop.here();
    return mayGo ? { kind: "sent", answer: "250 ok" } : { kind: "withdrawn" };
  };
  const [id = ""] = await outbox.enqueue([{ listKind: "MARKETING" }]);
  await outbox.start(transport);
  await stop.reached;
  await unsubscribe(id);
  stop.release();
  await outbox.until(id, "SENT");
  expect(await outbox.row(id)).toMatchObject({ status: "SENT", reason: null });
});

test("does not pass an email to the second transport after its contact unsubscribed", async () => {
  const stop = createStop();
  const [first, second] = [createScriptedTransport(), createScriptedTransport()];
  const failAfterCheck: Play = async (_message, mayLeave) => {
    const mayGo = await mayLeave();
    await stop.here();
    return mayGo ? { kind: "deferred", answer: "454 throttled", outage: true } : { kind: "withdrawn" };
  };
  first.play = failAfterCheck;
  const [id = ""] = await outbox.enqueue([{ listKind: "HEADLESS" }]);
  const choices = [first, second].map((transport, at) => ({ transport, label: `number ${at + 1}` }));
  await outbox.start(createFailoverTransport(choices, { log: createLog({ level: "silent" }) }));
  await stop.reached;
  await unsubscribe(id);
  stop.release();
  await outbox.until(id, "SKIPPED");
  expect(second.handedOver).toHaveLength(0);
});

test("sends nothing to a contact that is deleted while its email is prepared", async () => {
  const stop = createStop();
  const transport = createScriptedTransport();
  transport.play = async (message, mayLeave) => {
    await stop.here();
    return takeEverything(message, mayLeave);
  };
  const [id = ""] = await outbox.enqueue([{ listKind: "MARKETING" }]);
  await outbox.start(transport);
  await stop.reached;
  const contacts = await outbox.database.selectFrom("contacts").select("id").execute();
  await dropContacts(
    outbox.database,
    contacts.map((contact) => contact.id),
  );
  stop.release();
  await outbox.until(id, "SKIPPED");
  expect(transport.handedOver).toHaveLength(0);
});

test("sends nothing to contacts who unsubscribe during a mailing and one email to others", async () => {
  const transport = createScriptedTransport();
  const askedAt = new Map<string, number>();
  transport.play = async (message, mayLeave) => {
    await new Promise((resolve) => setTimeout(resolve, 2));
    const startedMs = performance.now();
    const mayGo = await mayLeave();
    if (mayGo) askedAt.set(message.emailId, startedMs);
    return mayGo ? { kind: "sent", answer: "250 ok" } : { kind: "withdrawn" };
  };
  const other = await outbox.createProject();
  const ids = await outbox.enqueue(
    Array.from({ length: 200 }, (_, at) => ({
      listKind: LIST_KINDS[at % 2] ?? "MARKETING",
      ...(at % 3 === 0 ? { project: other } : {}),
    })),
  );
  await outbox.start(transport, { connections: 10 });
  const leftAt = new Map<string, number>();
  for (const id of ids.filter((_, at) => at % 2 === 1)) {
    await unsubscribe(id);
    leftAt.set(id, performance.now());
  }
  await vi.waitFor(async () => {
    const { SENT = 0, SKIPPED = 0 } = await outbox.countByStatus();
    expect(SENT + SKIPPED).toBe(200);
  }, OUTBOX_WAIT);
  // Commits in one order may be observed in the other order, so the check must only have begun before.
  for (const [id, at] of askedAt) expect(at).toBeLessThanOrEqual(leftAt.get(id) ?? Infinity);
  const sent = transport.handedOver.map(({ emailId }) => emailId);
  expect(new Set(sent).size).toBe(sent.length);
  expect(ids.filter((_, at) => at % 2 === 0).every((id) => sent.includes(id))).toBe(true);
});

test("rejects a second email of one campaign to the same contact", async () => {
  const campaignId = newId();
  const [id = ""] = await outbox.enqueue([{ campaignId }]);
  const { contactId } = await outbox.row(id);
  const again = outbox.enqueue([{ campaignId, contactId: contactId ?? "" }]);
  await expect(again).rejects.toThrow("emails_by_contact");
  await outbox.enqueue([{ campaignId: newId(), contactId: contactId ?? "" }, { contactId: contactId ?? "" }]);
});

test("includes the list kind and the month in the id of a content", () => {
  const parts = {
    projectId: "p",
    from: { address: "a@b.example", name: null },
    replyTo: null,
    subject: "s",
    html: "h",
    text: null,
    headers: [],
    attachments: [],
  };
  vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2031, 11, 31, 23, 59) });
  try {
    const [one, same] = [makeContent(parts), makeContent({ ...parts, listKind: null })];
    expect(same).toMatchObject({ id: one.id, usedUntil: new Date(Date.UTC(2032, 0)) });
    vi.setSystemTime(Date.UTC(2031, 11, 1));
    expect(makeContent(parts).id).toBe(one.id);
    const kinds = LIST_KINDS.map((listKind) => makeContent({ ...parts, listKind }).id);
    vi.setSystemTime(Date.UTC(2032, 0));
    expect(new Set([one.id, ...kinds, makeContent(parts).id]).size).toBe(4);
  } finally {
    vi.useRealTimers();
  }
});
