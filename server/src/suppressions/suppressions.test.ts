// Suppression list over HTTP: filled by bounces and complaints, by hand and from files, and applied if enabled.
import { readFile } from "node:fs/promises";
import { expect, test, vi } from "vitest";
import * as campaigns from "@postloft/contract/campaigns.ts";
import * as contacts from "@postloft/contract/contacts.ts";
import * as projects from "@postloft/contract/projects.ts";
import * as suppressions from "@postloft/contract/suppressions.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { faultsOf, errorOf, useTestServer, type TestProject } from "../testing/test-server.ts";
import { uploadOf, type ImportJob } from "../testing/upload.ts";

const server = useTestServer({ ROLES: "api,worker" });
const WAIT = { timeout: 30_000, interval: 20 };

const list = async ({ byKey }: TestProject, query = "") =>
  (await server.call(suppressions.listSuppressions, byKey, { anyQuery: query })).body;
const add = ({ byKey }: TestProject, emails: readonly string[]) =>
  server.call<{ added: number; known: number }>("POST", "/suppressions", byKey, { emails });
const remove = ({ byKey }: TestProject, address: string) =>
  server.call(suppressions.removeSuppression, byKey, { params: { address } });
const explain = async ({ byKey }: TestProject, address: string) =>
  (await server.call(suppressions.explainSuppression, byKey, { params: { address } })).body;

async function checkList({ owner, id }: TestProject, suppressionList = true): Promise<void> {
  const reply = await server.call(projects.updateProject, owner, {
    params: { projectId: id },
    body: { suppressionList },
  });
  expect(reply.body).toMatchObject({ suppressionList });
}

/** Sends a transactional email and returns its final status. */
async function send({ byKey }: TestProject, to: string, more: object = {}) {
  const body = { to, from: "me@sandbox.localhost", subject: "Hello", body: "<p>Hi</p>", ...more };
  const reply = await server.call(v1.send, byKey, { body });
  const id = reply.body.data.emails[0]?.email ?? "";
  return vi.waitFor(async () => {
    const [row] = await server.rows<{ id: string; status: string; reason: string | null }>(
      "select id, status, reason from emails where id = $1 and status not in ('QUEUED', 'CLAIMED', 'SENT')",
      id,
    );
    if (row === undefined) throw new Error("It is under way.");
    return row;
  }, WAIT);
}

const reachedBy = async ({ id }: TestProject) =>
  (
    await server.rows<{ to: string[] }>(
      "select recipients as to from mailbox_messages where project_id = $1",
      id,
    )
  )
    .flatMap(({ to }) => to)
    .toSorted();

test("lists bounces and complaints with their email, and skips them once the list is enabled", async () => {
  const project = await server.createProject();
  const bounced = await send(project, "bounced@sandbox.localhost");
  const complained = await send(project, "complained@sandbox.localhost");
  expect((await list(project)).data).toEqual([
    {
      id: expect.any(String),
      email: "complained@sandbox.localhost",
      reason: "COMPLAINT",
      emailId: complained.id,
      actor: null,
      createdAt: expect.any(String),
    },
    expect.objectContaining({
      email: "bounced@sandbox.localhost",
      reason: "HARD_BOUNCE",
      emailId: bounced.id,
    }),
  ]);
  // The list is off by default, so emails are still sent.
  expect((await send(project, "bounced@sandbox.localhost")).status).toBe("BOUNCED");
  await checkList(project);
  expect(await send(project, "Bounced@Sandbox.localhost")).toMatchObject({
    status: "SKIPPED",
    reason: "The address is on the suppression list because an email bounced.",
  });
  expect(await send(project, "complained@sandbox.localhost")).toMatchObject({
    status: "SKIPPED",
    reason: "The address is on the suppression list because of a spam complaint.",
  });
  expect((await remove(project, "bounced@sandbox.localhost")).status).toBe(204);
  expect((await send(project, "bounced@sandbox.localhost")).status).toBe("BOUNCED");
  expect((await list(project, "?reason=HARD_BOUNCE")).total).toBe(1);
});

test("skips suppressed cc and bcc addresses and sends to everyone else", async () => {
  const project = await server.createProject();
  await add(project, ["cc@example.com", "bcc@example.com"]);
  await checkList(project);
  const { status, id } = await send(project, "ada@example.com", {
    cc: ["cc@example.com", "boss@example.com"],
    bcc: ["bcc@example.com", "archive@example.com"],
  });
  expect(status).toBe("DELIVERED");
  expect(await reachedBy(project)).toEqual(["ada@example.com", "archive@example.com", "boss@example.com"]);
  const [raw] = await server.rows<{ raw: Buffer }>(
    "select raw from mailbox_messages where email_id = $1",
    id,
  );
  expect(raw?.raw.toString()).toContain("Cc: boss@example.com");
});

test("a campaign excludes suppressed contacts and reports their number", async () => {
  const project = await server.createProject();
  const { byKey } = project;
  for (const name of ["ada", "bob", "eve", "zoe"])
    await server.call(contacts.upsertContact, byKey, {
      body: {
        email: `${name}@example.com`,
        subscribed: name !== "zoe",
      },
    });
  await add(project, ["eve@example.com", "zoe@example.com", "nobody@example.com"]);
  const { body: made } = await server.call(campaigns.createCampaign, byKey, {
    body: {
      name: "News",
      subject: "News",
      body: "<p>Hi</p>",
      from: "me@sandbox.localhost",
      audienceType: "ALL",
    },
  });
  const path = `/campaigns/${made.data.id}`;
  const audience = async () => (await server.call("GET", `${path}/audience`, byKey)).body;
  expect(await audience()).toEqual({ total: 4, eligible: 3, excluded: { unsubscribed: 1, suppressed: 0 } });
  await checkList(project);
  expect(await audience()).toEqual({ total: 4, eligible: 2, excluded: { unsubscribed: 1, suppressed: 1 } });
  await server.call("POST", `${path}/send`, byKey, {});
  const read = async () => (await server.call("GET", path, byKey)).body;
  await vi.waitFor(async () => expect(await read()).toMatchObject({ status: "SENT" }), WAIT);
  expect(await read()).toMatchObject({
    totalRecipients: 2,
    sentCount: 2,
    skippedCount: 0,
    pendingCount: 0,
  });
  expect(await reachedBy(project)).toEqual(["ada@example.com", "bob@example.com"]);
});

test("explains what an address gets and why", async () => {
  const project = await server.createProject();
  const ask = (address: string) => explain(project, address);
  expect(await ask("nobody@example.com")).toMatchObject({
    suppression: null,
    contact: null,
    gets: { transactional: true, lists: false },
  });
  await server.call(contacts.upsertContact, project.byKey, { body: { email: "ada@example.com" } });
  expect((await ask("ada@example.com")).gets).toEqual({ transactional: true, lists: true });
  await add(project, ["ada@example.com"]);
  const ignored = await ask("ADA@example.com");
  expect(ignored).toMatchObject({
    suppression: { reason: "MANUAL", actor: "key" },
    suppressionList: false,
    contact: { subscribed: true },
    gets: { transactional: true, lists: true },
  });
  expect(ignored.explanation).toMatch(/does not apply its list/);
  await checkList(project);
  const barred = await ask("ada@example.com");
  expect(barred.gets).toEqual({ transactional: false, lists: false });
  expect(barred.explanation).toMatch(/^No email is sent to this address\. .* because it was added manually/);
  const reply = await server.call(suppressions.explainSuppression, project.byKey, {
    params: { address: "no-address" },
  });
  expect(errorOf(reply)).toBe("404 SUPPRESSION_NOT_FOUND");
});

test("adds addresses once, finds them by part, pages, removes, and hides other projects", async () => {
  const project = await server.createProject();
  const names = ["a@x.example", "b@x.example", "c@y.example"];
  expect((await add(project, [...names, "A@X.example"])).body).toEqual({ added: 3, known: 0 });
  expect((await add(project, [...names, "d@y.example"])).body).toEqual({ added: 1, known: 3 });
  const first = await list(project, "?limit=3");
  expect(first).toMatchObject({ total: 4, hasMore: true });
  const second = await list(project, `?limit=3&cursor=${first.cursor}`);
  expect([...first.data, ...second.data].map(({ email }) => email).toSorted()).toEqual([
    ...names,
    "d@y.example",
  ]);
  expect((await list(project, "?search=X.EX")).data.map(({ email }) => email).toSorted()).toEqual(
    names.slice(0, 2),
  );
  expect((await list(project, "?search=%25")).total).toBe(0);
  const stranger = await server.createProject();
  expect((await list(stranger)).data).toEqual([]);
  expect((await explain(stranger, "a@x.example")).suppression).toBeNull();
  expect(errorOf(await remove(stranger, "a@x.example"))).toBe("404 SUPPRESSION_NOT_FOUND");
  expect((await remove(project, "A@x.example")).status).toBe(204);
  expect(errorOf(await remove(project, "a@x.example"))).toBe("404 SUPPRESSION_NOT_FOUND");
  expect((await list(project)).total).toBe(3);
});

test.for([
  [{}, ["emails required"]],
  [{ emails: [] }, ["emails too_small"]],
  [{ emails: ["ada@example.com", "nobody"] }, ["emails.1 invalid_string"]],
  [{ emails: Array(LIMITS.suppressionsAtOnce.value + 1).fill("a@example.com") }, ["emails too_big"]],
] as Array<[object, string[]]>)(
  "%# rejects invalid addresses with an error on their field",
  async ([body, faults]) => {
    expect(
      faultsOf(await server.call(suppressions.addSuppressions, server.project.byKey, { anyBody: body })),
    ).toEqual(faults);
  },
);

async function importFile(to: TestProject, content: string | Buffer): Promise<ImportJob["result"]> {
  const { contentType, body } = uploadOf(content);
  const headers = { "content-type": contentType };
  const queued = await server.call<{ jobId: string }>(
    "POST",
    "/suppressions/import",
    { ...to.byKey, headers },
    body,
  );
  expect(queued.text).toContain("jobId");
  return vi.waitFor(async () => {
    const path = `/suppressions/import/${queued.body.jobId}`;
    const job = (await server.call<ImportJob>("GET", path, to.byKey)).body;
    if (job.state !== "completed") throw new Error(`It is ${job.state}.`);
    return job.result;
  }, WAIT);
}

const EXPORTS = new URL("../../../contract/src/contact-file/exports/", import.meta.url);
const exported = (name: string) => readFile(new URL(name, EXPORTS));

test.each([
  ["SendGrid", () => exported("sendgrid-suppressions.csv"), ["sgs1@example.org", "sgs2@example.org"]],
  ["Mailchimp's cleaned file", () => exported("mailchimp-cleaned.csv"), ["mcc1@example.org"]],
  ["Mailchimp's unsubscribed file", () => exported("mailchimp-unsubscribed.csv"), ["mcu1@example.org"]],
  [
    "a list without a header",
    () => exported("one-column-no-header.csv"),
    ["nh1@example.org", "nh2@example.org", "nh3@example.org"],
  ],
  [
    "Mailgun's bounces",
    async () =>
      'address,code,error,created_at\nmg1@example.org,550,No such mailbox,2024-02-03T09:15:00Z\nmg2@example.org,554,"Blocked, again",2024-02-03T09:15:00Z\n',
    ["mg1@example.org", "mg2@example.org"],
  ],
  [
    "Mailgun's unsubscribes",
    async () => 'address,tags,created_at\nmg3@example.org,"[""*""]",2024-02-03T09:15:00Z\n',
    ["mg3@example.org"],
  ],
  ["columns of the same name", async () => "email,note,note\nsn1@example.org,a,b\n", ["sn1@example.org"]],
])("imports the suppression file of %s", async (_name, read, emails) => {
  const project = await server.createProject();
  const result = await importFile(project, await read());
  expect(result).toMatchObject({ createdCount: emails.length, failureCount: 0 });
  expect((await list(project)).data.map(({ email }) => email).toSorted()).toEqual(emails);
});

test("imports a file with row errors reported, and reads back an export", async () => {
  const project = await server.createProject();
  await add(project, ["known@example.com"]);
  const rows = [
    "email;why",
    "new@example.com;left",
    "NEW@example.com;twice",
    "known@example.com;",
    "no address;x",
  ];
  expect(await importFile(project, `${rows.join("\n")}\n`)).toMatchObject({
    totalRows: 4,
    createdCount: 1,
    updatedCount: 2,
    failureCount: 1,
    errors: [{ row: 5, email: "no address" }],
  });
  // MANUAL is the stronger reason.
  expect((await list(project)).data.map(({ email, reason }) => `${email} ${reason}`).toSorted()).toEqual([
    "known@example.com MANUAL",
    "new@example.com IMPORT",
  ]);
  const file = await server.call(suppressions.exportSuppressions, project.byKey, {
    query: { reason: "IMPORT" },
  });
  expect(file.text).toMatch(
    /^email,reason,emailId,actor,createdAt\r\nnew@example\.com,IMPORT,,key,[^\r\n]+\r\n$/,
  );
  const other = await server.createProject();
  expect(await importFile(other, file.text)).toMatchObject({ createdCount: 1, failureCount: 0 });
});
