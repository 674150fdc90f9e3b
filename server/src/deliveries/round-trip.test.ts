// The whole way round: a mail leaves over SMTP under an address of its own, and what comes back to that address finds it again.
import { generateKeyPairSync } from "node:crypto";
import { createServer, type AddressInfo } from "node:net";
import { createTransport } from "nodemailer";
import { afterAll, expect, test } from "vitest";
import { createSealer } from "../platform/crypto.ts";
import { newId } from "../platform/ids.ts";
import { findMiscounts } from "../emails/sending-hours.ts";
import { bounceMail, complaintMail, personalMail } from "../testing/incoming-mail.ts";
import { startSmtpSink } from "../testing/smtp-sink.ts";
import { APP_SECRET, useTestServer } from "../testing/test-server.ts";

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const sink = await startSmtpSink();
const port = await freePort();
const server = useTestServer({
  ROLES: "api,worker,smtp",
  MAIL_TRANSPORT: `smtp://127.0.0.1:${sink.port}`,
  BOUNCE_DOMAIN: "bounce.example",
  INBOUND_DOMAIN: "in.example",
  SMTP_PORT: String(port),
});
afterAll(async () => sink.close());

async function verifyDomain(domain: string): Promise<void> {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  await server.rows(
    `insert into domains (project_id, id, domain, status, dkim_selector, dkim_public_key, dkim_private_key)
     values ($1, $2, $3, 'VERIFIED', 'test', $4, $5)`,
    server.project.id,
    newId(),
    domain,
    publicKey.export({ type: "spki", format: "der" }).toString("base64"),
    createSealer(APP_SECRET).seal(pem, `${server.project.id} ${domain}`),
  );
}

interface Sent {
  id: string;
  contact: string;
  /** The envelope sender under which it left. */
  path: string;
  raw: Buffer;
}

async function send(to: string): Promise<Sent> {
  const body = { to, from: "news@shop.example", subject: "Hello", body: "Hello", subscribed: true };
  const reply = await server.call<{ data: { emails: Array<{ contact: { id: string }; email: string }> } }>(
    "POST",
    "/v1/send",
    server.project.byKey,
    body,
  );
  expect(reply.status).toBe(200);
  const [mail] = reply.body.data.emails;
  const arrived = () => sink.journal.find(({ messageId }) => messageId.includes(mail?.email ?? "none"));
  await expect.poll(arrived, { timeout: 10_000 }).toBeDefined();
  return {
    id: mail?.email ?? "",
    contact: mail?.contact.id ?? "",
    path: arrived()?.sender ?? "",
    raw: arrived()?.raw ?? Buffer.alloc(0),
  };
}

async function comeBack(raw: Buffer, to: string, from = ""): Promise<void> {
  const client = createTransport({ host: "127.0.0.1", port, ignoreTLS: true });
  await client.sendMail({ envelope: { from, to }, raw });
}

const statusOf = async ({ id }: Sent) =>
  (await server.call<{ status: string }>("GET", `/emails/${id}`, server.project.byKey)).body.status;
const isSubscribed = async ({ contact }: Sent) =>
  (await server.call<{ subscribed: boolean }>("GET", `/contacts/${contact}`, server.project.byKey)).body
    .subscribed;

test("a bounce and a complaint over SMTP find their mails, a forged one does not, and an answer becomes an event", async () => {
  await verifyDomain("shop.example");
  const [bounced, complained, untouched] = [
    await send("bounced@example.com"),
    await send("complained@example.com"),
    await send("untouched@example.com"),
  ];
  for (const { path } of [bounced, complained, untouched])
    expect(path).toMatch(/^b\+[a-z2-7]{61}@bounce\.example$/);

  await comeBack(bounceMail({ recipient: "bounced@example.com" }), bounced.path);
  // As a provider shows it that keeps the envelope to itself: the header holds what proves whose mail it is.
  const signedId = /^X-Postloft-Id:(?:.|\r\n[ \t])+/m.exec(complained.raw.toString())?.[0] ?? "";
  await comeBack(complaintMail({ original: [signedId] }), "fbl@bounce.example");
  for (const { raw } of [bounced, complained, untouched])
    expect(raw.toString()).not.toContain(server.project.id);
  await comeBack(
    bounceMail(),
    untouched.path.replace(/^b\+./, (start) => (start === "b+a" ? "b+q" : "b+a")),
  );
  const [{ inboundAddress } = { inboundAddress: "" }] = (
    await server.call<Array<{ inboundAddress: string }>>("GET", "/users/@me/projects", {
      cookie: server.project.owner.cookie,
    })
  ).body;
  expect(inboundAddress).toMatch(/^[0-9a-f]{20}@in\.example$/);
  await comeBack(personalMail({ from: "untouched@example.com" }), inboundAddress, "untouched@example.com");

  await expect.poll(() => statusOf(bounced), { timeout: 10_000 }).toBe("BOUNCED");
  await expect.poll(() => statusOf(complained), { timeout: 10_000 }).toBe("COMPLAINED");
  const received = () =>
    server.rows("select 1 from events where name = 'email.received' and contact_id = $1", untouched.contact);
  await expect.poll(received, { timeout: 10_000 }).toHaveLength(1);
  expect([await isSubscribed(bounced), await isSubscribed(complained)]).toEqual([false, false]);
  expect([await statusOf(untouched), await isSubscribed(untouched)]).toEqual(["SENT", true]);
  expect(await findMiscounts(server.database)).toEqual([]);
});
