// Sends emails over SMTP under their own return paths and checks that reports to these addresses find them.
import { generateKeyPairSync } from "node:crypto";
import { createTransport } from "nodemailer";
import { afterAll, expect, test } from "vitest";
import * as campaignActions from "@postloft/contract/campaign-actions.ts";
import * as campaigns from "@postloft/contract/campaigns.ts";
import * as contacts from "@postloft/contract/contacts.ts";
import * as emails from "@postloft/contract/emails.ts";
import * as securityContract from "@postloft/contract/security.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { createSealer } from "../platform/crypto.ts";
import { newId } from "../platform/ids.ts";
import { findMiscounts } from "../emails/results/sending-hours.ts";
import { freePort } from "../testing/free-port.ts";
import { bounceMail, complaintMail, personalMail } from "../testing/incoming-mail.ts";
import { startSmtpSink } from "../testing/smtp-sink.ts";
import { APP_SECRET, useTestServer } from "../testing/test-server.ts";

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

async function verifyDomain(domain: string, projectId = server.project.id): Promise<void> {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  await server.rows(
    `insert into domains (project_id, id, domain, status, dkim_selector, dkim_public_key, dkim_private_key)
     values ($1, $2, $3, 'VERIFIED', 'test', $4, $5)`,
    projectId,
    newId(),
    domain,
    publicKey.export({ type: "spki", format: "der" }).toString("base64"),
    createSealer(APP_SECRET).seal(pem, `${projectId} ${domain}`),
  );
}

interface Sent {
  id: string;
  contact: string;
  /** The envelope sender it was sent with. */
  path: string;
  raw: Buffer;
}

async function send(to: string): Promise<Sent> {
  const body = { to, from: "news@shop.example", subject: "Hello", body: "Hello", subscribed: true };
  const reply = await server.call(v1.send, server.project.byKey, { body });
  expect(reply.status).toBe(200);
  const [mail] = reply.body.data.emails;
  const arrived = () => sink.journal.find(({ messageId }) => messageId.includes(mail?.email ?? "none"));
  await expect.poll(arrived, { timeout: 30_000 }).toBeDefined();
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
  (await server.call(emails.getEmail, server.project.byKey, { params: { id } })).body.status;
const isSubscribed = async ({ contact }: Sent) =>
  (await server.call(contacts.getContact, server.project.byKey, { params: { id: contact } })).body.subscribed;

test("matches a bounce and a complaint to their emails, rejects forgeries and records a reply", async () => {
  await verifyDomain("shop.example");
  const [bounced, complained, untouched] = [
    await send("bounced@example.com"),
    await send("complained@example.com"),
    await send("untouched@example.com"),
  ];
  for (const { path } of [bounced, complained, untouched])
    expect(path).toMatch(/^b\+[a-z2-7]{61}@bounce\.example$/);

  await comeBack(bounceMail({ recipient: "bounced@example.com" }), bounced.path);
  // The complaint of a provider that omits the envelope; the header contains the proof.
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

  await expect.poll(() => statusOf(bounced), { timeout: 30_000 }).toBe("BOUNCED");
  await expect.poll(() => statusOf(complained), { timeout: 30_000 }).toBe("COMPLAINED");
  const received = () =>
    server.rows("select 1 from events where name = 'email.received' and contact_id = $1", untouched.contact);
  await expect.poll(received, { timeout: 30_000 }).toHaveLength(1);
  expect([await isSubscribed(bounced), await isSubscribed(complained)]).toEqual([false, false]);
  expect([await statusOf(untouched), await isSubscribed(untouched)]).toEqual(["SENT", true]);
  expect(await findMiscounts(server.database)).toEqual([]);
});

test("reports about a test email affect no contact and no counts", async () => {
  const project = await server.createProject();
  await verifyDomain("tests.example", project.id);
  const ada = await server.call(contacts.upsertContact, project.byKey, {
    body: {
      email: "ada@example.com",
      data: { firstName: "Ada" },
    },
  });
  const campaign = await server.call(campaigns.createCampaign, project.byKey, {
    body: {
      name: "News",
      subject: "News for {{firstName}}",
      body: '<p>For {{email}}, <a href="https://shop.example/sale">the sale</a></p>',
      from: "news@tests.example",
      audienceType: "ALL",
    },
  });
  const security = async () =>
    (await server.call(securityContract.getSecurity, project.byKey, { params: { projectId: project.id } }))
      .body;
  const before = await security();
  sink.setRules([{ phase: "RCPT", recipient: /gone@/, action: { reply: "550 5.1.1 no such user" } }]);
  const tests = ["bounces@example.com", "complains@example.com", "gone@example.com"];
  const ids: string[] = [];
  for (const email of tests) {
    const sent = await server.call(campaignActions.testCampaign, project.byKey, {
      params: { id: campaign.body.data.id },
      body: { email, contactId: ada.body.id },
    });
    ids.push(sent.body.email);
  }
  const arrived = (id: string | undefined) =>
    sink.journal.find(({ messageId }) => messageId.includes(id ?? "none"));
  await expect.poll(() => [arrived(ids[0]), arrived(ids[1])], { timeout: 30_000 }).not.toContain(undefined);
  const source = String(arrived(ids[0])?.raw ?? "");
  expect(source).toMatch(/Subject: \[TEST\] News for Ada/);
  expect(source).not.toContain("/c/");
  await comeBack(bounceMail({ recipient: "bounces@example.com" }), arrived(ids[0])?.sender ?? "");
  await comeBack(complaintMail({ mailFrom: arrived(ids[1])?.sender ?? "" }), "fbl@bounce.example");
  const statuses = async () =>
    (
      await server.rows<{ status: string }>(
        "select status from emails where id = any($1::uuid[]) order by id",
        ids,
      )
    ).map(({ status }) => status);
  await expect.poll(statuses, { timeout: 30_000 }).toEqual(["BOUNCED", "COMPLAINED", "FAILED"]);
  sink.setRules([]);
  const contact = await server.call(contacts.getContact, project.byKey, { params: { id: ada.body.id } });
  expect(contact.body.subscribed).toBe(true);
  expect(
    await server.rows("select name from events where project_id = $1 and name like 'email.%'", project.id),
  ).toEqual([]);
  expect(await server.rows("select 1 from emails where contact_id = $1", ada.body.id)).toEqual([]);
  expect(await server.rows("select * from sending_hours where project_id = $1", project.id)).toEqual([]);
  expect(await security()).toEqual(before);
  expect(await findMiscounts(server.database)).toEqual([]);
});
