// Mail of the installation itself: it leaves with the commit of what caused it, once, by the same rules as other mail, and its text does not stay behind.
import { sql } from "kysely";
import { expect, test, vi } from "vitest";
import PostalMime from "postal-mime";
import { readConfig } from "../platform/config.ts";
import { transaction } from "../platform/database.ts";
import { newId } from "../platform/ids.ts";
import { createScriptedTransport, refuseWith, takeEverything } from "../testing/scripted-transport.ts";
import { OUTBOX_WAIT, useOutbox } from "../testing/outbox-fixture.ts";
import { createMailboxTransport } from "../transports/mailbox.ts";
import type { Transport } from "../transports/transport.ts";
import { enqueueSystemMails, listSystemMails, sweepSystemMails } from "./system-mail.ts";
import type { Witness } from "../platform/stamp/stamp.ts";
import { defaultSystemAddress } from "./system-sender.ts";

const outbox = useOutbox();
const systemFrom = { address: "post@host.example", name: "Postloft" };
const MAIL = { to: "owner@example.net", subject: "Grüße", text: "the secret", html: "<p>the secret</p>" };

const enqueue = async (count = 1) =>
  transaction(outbox.database, (tx) =>
    enqueueSystemMails(
      tx,
      Array.from({ length: count }, () => MAIL),
    ),
  );
const start = (transport: Transport) => outbox.start(transport, { systemFrom });

async function rowOf(id: string) {
  return outbox.database
    .selectFrom("system_mails")
    .selectAll()
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
}

async function until(id: string, status: string): Promise<void> {
  await vi.waitFor(async () => expect((await rowOf(id)).status).toBe(status), OUTBOX_WAIT);
}

test("it leaves once: from the installation, without tracking and without a way out of a list; its text is erased", async () => {
  const transport = createScriptedTransport();
  const [id = ""] = await enqueue();
  await start(transport);
  await until(id, "SENT");
  expect(transport.handedOver).toHaveLength(1);
  const [message] = transport.handedOver;
  expect(message).toMatchObject({
    projectId: null,
    envelope: { from: "post@host.example", to: ["owner@example.net"] },
  });
  const parsed = await PostalMime.parse(message?.raw ?? "");
  expect(parsed).toMatchObject({ subject: "Grüße", text: "the secret\n", html: "<p>the secret</p>\n" });
  expect(parsed.from).toEqual({ address: "post@host.example", name: "Postloft" });
  expect(parsed.headers.map(({ key }) => key).toSorted()).toEqual(
    [
      "auto-submitted",
      "content-type",
      "date",
      "from",
      "message-id",
      "mime-version",
      "subject",
      "to",
    ].toSorted(),
  );
  expect(await rowOf(id)).toMatchObject({ text: null, html: null, attempts: 1, transport: "scripted" });
});

/** As a standby has it that lacks the last commits; not due, as nobody reaches such a database before it is put right. */
const forget = (id: string, row: object) =>
  outbox.database
    .updateTable("system_mails")
    .set({ due_at: sql`now() + interval '1 hour'`, ...MAIL_ROW, ...row })
    .where("id", "=", id)
    .execute();
const MAIL_ROW = {
  text: MAIL.text,
  html: MAIL.html,
  attempts: 0,
  answer: null,
  transport: null,
  ended_at: null,
};

/** Starts a sender with all that remembers what it does; the function puts right what the database forgot. */
async function startRemembering(transport: Transport): Promise<() => Promise<void>> {
  const witnesses: Witness[] = [];
  await outbox.start(transport, { systemFrom, addWitness: (witness) => void witnesses.push(witness) });
  return async () => {
    for (const witness of witnesses) await witness.putRight(outbox.database);
  };
}

test("a mail that left is not sent again by a database that forgot it, and keeps no text", async () => {
  const transport = createScriptedTransport();
  const [id = ""] = await enqueue();
  const putRight = await startRemembering(transport);
  await until(id, "SENT");
  await forget(id, { status: "QUEUED", sender_id: null });
  await putRight();
  expect(await rowOf(id)).toMatchObject({ status: "SENT", text: null, html: null, transport: "scripted" });
  expect(transport.handedOver).toHaveLength(1);
});

test("a mail in handover is in handover again, and its answer finds it", async () => {
  const transport = createScriptedTransport();
  const reached = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  transport.play = async (message, mayLeave) => {
    const outcome = await takeEverything(message, mayLeave);
    reached.resolve();
    await answered.promise;
    return outcome;
  };
  const [id = ""] = await enqueue();
  const putRight = await startRemembering(transport);
  await reached.promise;
  await forget(id, { status: "QUEUED", sender_id: null });
  await putRight();
  expect((await rowOf(id)).status).toBe("SENDING");
  answered.resolve();
  await until(id, "SENT");
  expect(transport.handedOver).toHaveLength(1);
});

test("a mail that was claimed and not handed over as far as the database knows waits again", async () => {
  const transport = createScriptedTransport();
  const putRight = await startRemembering(transport);
  const [sender] = await outbox.database.selectFrom("senders").select("id").execute();
  const id = await transaction(outbox.database, async (tx) => {
    const [one = ""] = await enqueueSystemMails(tx, [MAIL]);
    await sql`update system_mails set status = 'CLAIMED', sender_id = ${sender?.id} where id = ${one}`.execute(
      tx,
    );
    return one;
  });
  await putRight();
  await until(id, "SENT");
  expect(transport.handedOver).toHaveLength(1);
});

test("it is not there when what caused it is rolled back", async () => {
  const failing = transaction(outbox.database, async (tx) => {
    await enqueueSystemMails(tx, [MAIL]);
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  expect(await outbox.database.selectFrom("system_mails").selectAll().execute()).toEqual([]);
});

test("a temporary refusal is tried again later, a permanent one is not; then the text is erased", async () => {
  const transport = createScriptedTransport();
  transport.play = refuseWith({ kind: "deferred", answer: "450 later" });
  const [id = ""] = await enqueue();
  const sender = await start(transport);
  await vi.waitFor(
    async () => expect(await rowOf(id)).toMatchObject({ status: "QUEUED", attempts: 1 }),
    OUTBOX_WAIT,
  );
  const { text, answer } = await rowOf(id);
  expect([text, answer]).toEqual(["the secret", "450 later"]);
  transport.play = refuseWith({ kind: "rejected", answer: "550 no", meaning: "hard-bounce" });
  await sql`update system_mails set due_at = now()`.execute(outbox.database);
  sender.wake();
  await until(id, "FAILED");
  expect(await rowOf(id)).toMatchObject({ text: null, html: null, attempts: 2, answer: "550 no" });
});

test("in doubt it leaves once more under the same Message-ID, and then never again", async () => {
  const transport = createScriptedTransport();
  transport.play = async (_message, mayLeave) =>
    (await mayLeave()) ? { kind: "uncertain", answer: "no reply" } : { kind: "withdrawn" };
  const [id = ""] = await enqueue();
  const sender = await start(transport);
  await vi.waitFor(
    async () => expect(await rowOf(id)).toMatchObject({ status: "QUEUED", answer: "no reply" }),
    OUTBOX_WAIT,
  );
  expect((await rowOf(id)).due_at.getTime()).toBeGreaterThan(Date.now() + 20_000);
  await sql`update system_mails set due_at = now()`.execute(outbox.database);
  sender.wake();
  await until(id, "UNCONFIRMED");
  expect(new Set(transport.handedOver.map(({ raw }) => raw.toString())).size).toBe(1);
  expect(transport.handedOver).toHaveLength(2);
});

test.each([
  ["CLAIMED", 1, "SENT", 1],
  ["SENDING", 1, "SENT", 1],
  ["SENDING", 2, "UNCONFIRMED", 0],
] as const)(
  "what a killed process left %s at attempt %i ends %s by itself",
  async (left, attempts, end, handovers) => {
    const transport = createScriptedTransport();
    const [id = ""] = await enqueue();
    await sql`update system_mails set status = ${left}, attempts = ${attempts}, sender_id = ${newId()}`.execute(
      outbox.database,
    );
    await start(transport);
    await until(id, end);
    expect(transport.handedOver).toHaveLength(handovers);
  },
);

test("what a living process has in handover is left to it", async () => {
  const transport = createScriptedTransport();
  const gone = Promise.withResolvers<void>();
  transport.play = async (message, mayLeave) => {
    const outcome = await takeEverything(message, mayLeave);
    await gone.promise;
    return outcome;
  };
  const [id = ""] = await enqueue();
  await start(transport);
  await until(id, "SENDING");
  const other = createScriptedTransport();
  const second = await start(other);
  const [next = ""] = await enqueue();
  second.wake();
  await until(next, "SENT");
  expect(other.handedOver.map(({ emailId }) => emailId)).toEqual([next]);
  gone.resolve();
  await until(id, "SENT");
});

test("two processes send each once", async () => {
  const transports = [createScriptedTransport(), createScriptedTransport()];
  const ids = await enqueue(30);
  await Promise.all(transports.map(start));
  for (const id of ids) await until(id, "SENT");
  const left = transports.flatMap(({ handedOver }) => handedOver.map(({ emailId }) => emailId));
  expect(left.toSorted()).toEqual(ids.toSorted());
});

test("the local mailbox keeps it to be read, newest first, and shows nothing that left the machine", async () => {
  const [away = ""] = await enqueue();
  const sender = await start(createScriptedTransport());
  await until(away, "SENT");
  await sender.stop();
  const ids = await enqueue(2);
  await start(createMailboxTransport(outbox.database));
  for (const id of ids) await until(id, "SENT");
  const page = await listSystemMails(outbox.database, { limit: 1, before: null });
  expect(page).toMatchObject({ data: [{ id: ids[1], ...MAIL }], hasMore: true, total: 2 });
  const rest = await listSystemMails(outbox.database, { limit: 10, before: ids[1] ?? null });
  expect(rest.data.map(({ id }) => id)).toEqual([ids[0]]);
  expect(await outbox.database.selectFrom("mailbox_messages").selectAll().execute()).toEqual([]);
});

test("without an address to send from it waits; what ended is forgotten after a month", async () => {
  const [id = ""] = await enqueue();
  const transport = createScriptedTransport();
  await outbox.start(transport);
  const [mail = ""] = await outbox.enqueue([{}]);
  await outbox.until(mail, "SENT");
  expect((await rowOf(id)).status).toBe("QUEUED");
  await sweepSystemMails(outbox.database);
  expect((await rowOf(id)).status).toBe("QUEUED");
  await sql`update system_mails set status = 'SENT', ended_at = now() - interval '31 days'`.execute(
    outbox.database,
  );
  await sweepSystemMails(outbox.database);
  expect(await outbox.database.selectFrom("system_mails").selectAll().execute()).toEqual([]);
});

test("by default it comes from the installation's own host", () => {
  expect(defaultSystemAddress("https://mail.example.com:8443/x")).toEqual({
    address: "postloft@mail.example.com",
    name: "Postloft",
  });
});

test("SYSTEM_FROM is an address, with or without a name; anything else stops the start", () => {
  expect(readConfig({ SYSTEM_FROM: "Post <Post@Host.example>" }).SYSTEM_FROM).toEqual({
    address: "post@host.example",
    name: "Post",
  });
  expect(readConfig({ SYSTEM_FROM: "post@host.example" }).SYSTEM_FROM).toEqual({
    address: "post@host.example",
  });
  for (const SYSTEM_FROM of ["post", "a@b.example, c@d.example", "a@b.example\r\nBcc: c@d.example"])
    expect(() => readConfig({ SYSTEM_FROM })).toThrow("SYSTEM_FROM: must be an address");
});
