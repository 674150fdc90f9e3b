// Tests that a content is redacted once no kept email uses it. The same content can be sent again, and old links keep working.
import { beforeEach, expect, test, vi } from "vitest";
import * as emails from "@postloft/contract/emails.ts";
import * as mailbox from "@postloft/contract/mailbox.ts";
import { transaction } from "../../platform/database/database.ts";
import { daysAgo, enqueueOldEmails } from "../../testing/old-mails.ts";
import { useTestServer, type TestProject } from "../../testing/test-server.ts";
import { createContentLoader } from "../sending/load-contents.ts";
import type { ClaimedRow } from "../rows/claimed-queries.ts";
import { changeEmailRetention, redactExpired } from "./retention.ts";

const server = useTestServer();
const DAY_MS = 86_400_000;
const WAIT = { timeout: 30_000, interval: 20 };
const PERSON = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/142.0.0.0 Safari/537.36";
/** Longer than the limit for resending, so that an existing content is looked up. */
const BODY = `<p>Your secret is 4711. <a href="https://shop.example/sale">Sale</a></p>${"<p>Much more.</p>".repeat(200)}`;
const FILE = {
  filename: "bill 4711.txt",
  contentType: "text/plain",
  contentId: null,
  disposition: "attachment" as const,
  bytes: Buffer.from("owes 4711"),
};
const FILE_AS_SENT = FILE.bytes.toString("base64");

let project: TestProject;
let made = 0;
beforeEach(async () => {
  await server.rows("delete from email_retentions");
  project = await server.createProject();
});

const TEXTS = { subject: "On 4711", html: BODY, attachments: [FILE] };

/** Sends an email, backdates it by `days` and returns the received message. */
async function receive(days: number, over: Partial<typeof TEXTS> = {}) {
  const { id: projectId } = project;
  const to = `reader${++made}@example.com`;
  const [id = ""] = await transaction(server.database, (tx) =>
    enqueueOldEmails(tx, daysAgo(days), [
      {
        projectId,
        contactId: null,
        kind: "TRANSACTIONAL",
        to: { address: to, name: null },
        copies: null,
        content: {
          projectId,
          from: { address: "news@sandbox.localhost", name: null },
          replyTo: null,
          text: null,
          headers: [],
          ...TEXTS,
          ...over,
        },
        variables: {},
      },
    ]),
  );
  await server.hint("emails");
  await vi.waitFor(async () => {
    const [row] = await server.rows<{ status: string }>("select status from emails where id = $1", id);
    expect(row?.status).toBe("DELIVERED");
  }, WAIT);
  await server.rows("update emails set sent_at = $2 where id = $1", id, daysAgo(days));
  const listed = await server.call(mailbox.listMessages, project.byKey, { query: { to } });
  const message = await server.call<{ subject: string; html: string }>(
    "GET",
    `/mailbox/messages/${listed.body.data[0]?.id}`,
    project.byKey,
  );
  const { subject, html } = message.body;
  const [stored] = await server.rows<{ raw: Buffer }>(
    "select raw from mailbox_messages where email_id = $1",
    id,
  );
  const [, link = ""] = /href="http:\/\/[^/"]+(\/c\/[^"]+)"/.exec(html) ?? [];
  const [, pixel = ""] = /src="http:\/\/[^/"]+(\/o\/[^"]+)"/.exec(html) ?? [];
  // Ignore the addresses, which differ for each email.
  const said = html.replaceAll(/http:\/\/[^/"']+\/[oc]\/[\w.-]+/g, "ours");
  return { id, link, pixel, subject, said, raw: stored?.raw.toString() ?? "" };
}

const keepFor = (days: number) =>
  transaction(server.database, (tx) => changeEmailRetention(tx, project.id, days));

/** Runs the retention as if `inDays` days had passed. */
async function redactAll(inDays = 0): Promise<void> {
  while (await redactExpired(server.database, { batchSize: 1, at: daysAgo(-inDays) }));
}

/** Counts what the database still holds of the project's contents. */
async function saidOf(): Promise<{ contents: number; files: number; messages: number }> {
  const [row] = await server.rows<{ contents: number; files: number; messages: number }>(
    `select (select count(*)::int from email_contents where project_id = $1 and (html like '%4711%' or subject like '%4711%'
         or attachments::text like '%4711%')) as contents,
       (select count(*)::int from email_files where project_id = $1) as files,
       (select count(*)::int from mailbox_messages where project_id = $1) as messages`,
    project.id,
  );
  return row ?? { contents: -1, files: -1, messages: -1 };
}

test("redacts old contents with their files and delivers the same content again in full", async () => {
  const old = await receive(100);
  await receive(100);
  await receive(0);
  expect(await saidOf()).toEqual({ contents: 2, files: 2, messages: 3 });
  await keepFor(30);
  await redactAll();
  expect(await saidOf()).toEqual({ contents: 1, files: 1, messages: 1 });
  const again = await receive(0);
  expect(again).toMatchObject({ subject: "On 4711", said: old.said });
  expect(again.raw).toContain(FILE_AS_SENT);
  await redactAll();
  expect(await saidOf()).toEqual({ contents: 1, files: 1, messages: 2 });
  const mail = await server.call(emails.getEmail, project.byKey, { params: { id: old.id } });
  expect(mail.body).toMatchObject({ to: "", subject: "", body: "", attachments: [] });
  expect(mail.text).not.toContain("4711");
});

test("delivers the same content in full to concurrent sends while the old one is redacted", async () => {
  const old = await receive(100);
  await keepFor(30);
  const [again] = await Promise.all([Promise.all(Array.from({ length: 8 }, () => receive(0))), redactAll()]);
  for (const { said, raw } of again) expect([said, raw.includes(FILE_AS_SENT)]).toEqual([old.said, true]);
  expect((await saidOf()).contents).toBe(1);
});

test("keeps a content for a kept email, a younger one of the same month and one in doubt", async () => {
  const kept = await receive(100);
  await receive(100);
  const lost = await receive(100, { subject: "Of 4711 nobody knows" });
  await server.rows("update emails set status = 'UNCONFIRMED' where id in ($1, $2)", kept.id, lost.id);
  await keepFor(30);
  await redactAll();
  expect(await saidOf()).toEqual({ contents: 2, files: 1, messages: 2 });
  // The content is redacted with this email, although the pass over its month is complete.
  await server.rows("update emails set status = 'FAILED' where id = $1", lost.id);
  await redactAll(0.1);
  expect(await saidOf()).toEqual({ contents: 1, files: 1, messages: 1 });
  const read = () => server.call(emails.getEmail, project.byKey, { params: { id: kept.id } });
  expect((await read()).text).toContain("secret is 4711");

  // A person resolves it as retry, and the email still has its content.
  await server.call(emails.resolveEmail, project.byKey, { params: { id: kept.id }, body: { as: "retry" } });
  await server.hint("emails");
  await vi.waitFor(async () => {
    expect((await read()).body).toMatchObject({ status: "SENT", attempts: 2 });
  }, WAIT);
  expect((await read()).text).toContain("secret is 4711");
  await redactAll(31);
  expect(await saidOf()).toEqual({ contents: 0, files: 0, messages: 0 });
});

test("keeps the contents of a month until all its emails are old enough", async () => {
  // The first and the last day of the same month.
  const month = new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() - 3));
  const days = (date: Date) => (Date.now() - date.getTime()) / DAY_MS;
  const first = days(new Date(month.getTime() + DAY_MS));
  const last = days(new Date(Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + 1) - DAY_MS / 2));
  const earlier = await receive(Math.floor(first));
  const later = await receive(Math.ceil(last));
  await keepFor(Math.floor((first + last) / 2));
  await redactAll();
  expect(await saidOf()).toEqual({ contents: 1, files: 1, messages: 1 });
  expect((await server.call(emails.getEmail, project.byKey, { params: { id: later.id } })).text).toContain(
    "secret is 4711",
  );
  // The earlier email no longer shows the content.
  expect(
    (await server.call(emails.getEmail, project.byKey, { params: { id: earlier.id } })).text,
  ).not.toContain("4711");
});

test("serves late opens and clicks of a redacted email, records them and restores nothing", async () => {
  const old = await receive(100, { attachments: [] });
  await keepFor(30);
  await redactAll();
  expect((await saidOf()).contents).toBe(0);
  const headers = { "user-agent": PERSON };
  expect((await server.call("GET", old.pixel, { headers })).status).toBe(200);
  const followed = await server.call("GET", old.link, { headers });
  expect([followed.status, followed.headers.get("location")]).toEqual([302, "https://shop.example/sale"]);
  await vi.waitFor(async () => {
    const mail = await server.call(emails.getEmail, project.byKey, { params: { id: old.id } });
    expect(mail.body).toMatchObject({ status: "CLICKED", to: "", subject: "", body: "" });
  }, WAIT);
  expect((await saidOf()).contents).toBe(0);
});

test("redacts contents older than the upgrade once all emails before it are redacted", async () => {
  await receive(100);
  await receive(40);
  // The state that the migration leaves, in which any content may be in use until the upgrade.
  const upgrade = daysAgo(20);
  await server.rows("update email_contents set used_until = $2 where project_id = $1", project.id, upgrade);
  await server.rows("update email_files set used_until = $2 where project_id = $1", project.id, upgrade);
  await keepFor(30);
  await redactAll();
  expect((await saidOf()).contents).toBe(2);
  await redactAll(45);
  expect(await saidOf()).toEqual({ contents: 0, files: 0, messages: 0 });
});

test("fails an email with a redacted content instead of sending it", async () => {
  const old = await receive(100);
  // This state cannot occur in practice.
  await server.rows(
    "update email_contents set forgotten_at = now(), html = '' where project_id = $1",
    project.id,
  );
  const loadContents = createContentLoader(server.database);
  const rows = await server.rows<ClaimedRow>(
    "select project_id, content_id from emails where id = $1",
    old.id,
  );
  expect((await loadContents(rows)).size).toBe(0);
});
