// Tests that raw messages reach an SMTP server unchanged and are redacted with their recipients.
import { generateKeyPairSync } from "node:crypto";
import { sql } from "kysely";
import { expect, test, vi } from "vitest";
import { transaction } from "../../platform/database/database.ts";
import { newId } from "../../platform/ids.ts";
import { erasedPeople } from "../../testing/erased-people.ts";
import { OUTBOX_WAIT, useOutbox } from "../../testing/outbox-fixture.ts";
import { useSmtp } from "../../testing/smtp-fixture.ts";
import { eraseRecipients, redactEmails } from "../outbox/erase-queries.ts";
import { enqueueEmails, makeContent } from "../outbox/emails.ts";

const outbox = useOutbox();
const start = useSmtp();

const HEADER =
  "From: me@sender.example\r\nTo: All <all@x.example>\r\nSubject: {{x}}\r\nMessage-ID: <1@app.example>\r\n";
const rawOf = (body = "Hi {{name}}  \r\n.\r\n", header = "") => Buffer.from(`${HEADER}${header}\r\n${body}`);

/** Enqueues a raw message to new contacts, which have the names as local parts. */
async function enqueueRaw(raw: Buffer, names: readonly string[], scheduledFor?: Date): Promise<string[]> {
  const { projectId, database } = outbox;
  const people = names.map((name) => ({
    projectId,
    id: newId(),
    email: `${name}@to.example`,
    subscribed: false,
  }));
  return transaction(database, async (tx) => {
    await tx.insertInto("contacts").values(people).execute();
    const content = makeContent({
      projectId,
      from: { address: "me@sender.example", name: null },
      replyTo: null,
      subject: "{{x}}",
      html: "",
      text: null,
      headers: [],
      attachments: [],
      raw: { bytes: raw, messageId: "1@app.example" },
    });
    const mail = { projectId, kind: "TRANSACTIONAL" as const, copies: null, content, variables: {} };
    return enqueueEmails(
      tx,
      people.map(({ id, email }, at) => ({
        ...mail,
        contactId: id,
        to: { address: email, name: null },
        ...(scheduledFor === undefined || at > 0 ? {} : { scheduledFor }),
      })),
    );
  });
}

async function countRaws(): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from email_contents
    where project_id = ${outbox.projectId} and raw is not null and subject <> ''`.execute(outbox.database);
  return rows[0]?.count ?? -1;
}

test("sends one stored raw message to each recipient, unchanged behind the fields in front", async () => {
  const { sink, transport } = await start();
  const raw = rawOf(undefined, "Feedback-ID: own\r\n");
  const ids = await enqueueRaw(raw, ["ada", "bob"]);
  expect(await countRaws()).toBe(1);
  const { privateKey } = generateKeyPairSync("ed25519");
  const key = { domain: "sender.example", selector: "s", privateKey };
  await outbox.start(transport, { signing: { kind: "key", keys: [key] } });
  for (const id of ids) await outbox.until(id, "SENT");
  const { journal } = sink;
  expect(journal.flatMap(({ recipients }) => recipients).toSorted()).toEqual([
    "ada@to.example",
    "bob@to.example",
  ]);
  for (const message of journal) {
    expect(message.raw.subarray(-raw.length).equals(raw)).toBe(true);
    expect(message.raw.subarray(0, -raw.length).toString()).toMatch(/^DKIM-Signature: [^]*\r\n$/);
    expect(message.raw.toString().match(/^Feedback-ID:/gim)).toHaveLength(1);
  }
});

test("adds the fields by which complaints name the email", async () => {
  const { sink, transport } = await start();
  const [id = ""] = await enqueueRaw(rawOf(), ["ada"]);
  await outbox.start(transport);
  await outbox.until(id, "SENT");
  expect(sink.journal[0]?.raw.toString()).toMatch(/^Feedback-ID: :[^:]+:transactional:postloft\r\n/);
});

test.each([
  ["8BITMIME", "eightBitMime", "Grüße\r\n", ""],
  ["SMTPUTF8", "smtpUtf8", "Hi\r\n", "X-Name: Grüße\r\n"],
] as const)(
  "fails when the message needs %s and the server does not offer it",
  async (extension, name, body, header) => {
    const { sink, transport } = await start({ advertise: { [name]: false } });
    const [id = "", plain = ""] = [
      ...(await enqueueRaw(rawOf(body, header), ["ada"])),
      ...(await enqueueRaw(rawOf(), ["bob"])),
    ];
    await outbox.start(transport);
    await outbox.until(id, "FAILED");
    await outbox.until(plain, "SENT");
    expect((await outbox.row(id)).reason).toMatch(
      `the message needs ${extension}, which the server does not offer`,
    );
    expect(sink.journal).toHaveLength(1);
  },
);

test("sends a message outside ASCII to a server that offers both extensions", async () => {
  const { sink, transport } = await start();
  const raw = rawOf("Grüße\r\n", "X-Name: Grüße\r\n");
  const [id = ""] = await enqueueRaw(raw, ["ada"]);
  await outbox.start(transport);
  await outbox.until(id, "SENT");
  expect(sink.journal[0]?.mailParameters).toBe("BODY=8BITMIME SMTPUTF8");
  expect(sink.journal[0]?.raw.subarray(-raw.length).equals(raw)).toBe(true);
});

test("redacts a raw message with its recipients, but not while it waits for another one", async () => {
  const { transport } = await start();
  const later = new Date(Date.now() + 3_600_000);
  const [waiting = "", sent = ""] = await enqueueRaw(rawOf(), ["ada", "bob"], later);
  const [alone = ""] = await enqueueRaw(rawOf(), ["eve"]);
  await outbox.start(transport);
  for (const id of [sent, alone]) await outbox.until(id, "SENT");
  const { database, projectId } = outbox;
  await transaction(database, (tx) => redactEmails(tx, projectId, [sent, alone]));
  expect(await countRaws()).toBe(1);
  const { contactId } = await outbox.row(waiting);
  await transaction(database, (tx) => eraseRecipients(tx, projectId, erasedPeople([contactId ?? ""])));
  await vi.waitFor(async () => expect((await outbox.row(waiting)).status).toBe("SKIPPED"), OUTBOX_WAIT);
  expect(await countRaws()).toBe(0);
});
