// Opt-outs that outlive contacts, over HTTP: a returning contact stays unsubscribed unless a subscription is explicitly requested.
import { expect, test, vi } from "vitest";
import * as campaignActions from "@postloft/contract/campaign-actions.ts";
import * as campaigns from "@postloft/contract/campaigns.ts";
import * as contacts from "@postloft/contract/contacts.ts";
import * as importUndo from "@postloft/contract/import-undo.ts";
import * as mailbox from "@postloft/contract/mailbox.ts";
import * as segments from "@postloft/contract/segments.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { transaction } from "../platform/database/database.ts";
import { hashAddress } from "../platform/address-hash.ts";
import { NO_ONE } from "../platform/ids.ts";
import { readDataPatch } from "./rules.ts";
import { APP_SECRET, useTestServer, type TestCaller, type TestProject } from "../testing/test-server.ts";
import type { ResponseOf } from "../testing/typed-call.ts";
import { endOfImport, uploadCsv } from "../testing/upload.ts";
import { createContactLinks, type LinkedAddress } from "./links.ts";
import { upsertContacts } from "./upsert-contacts.ts";

const server = useTestServer();
const linksOf = createContactLinks(APP_SECRET, () => "");
const WAIT = { timeout: 30_000, interval: 20 };
const FORM = { headers: { "content-type": "application/x-www-form-urlencoded" } };
const ONE_CLICK = "List-Unsubscribe=One-Click";
const MAIL = { from: "a@sandbox.localhost", subject: "s", body: "b" };

let made = 0;
const newAddress = () => `opt-out${++made}@example.com`;

type Contact = ResponseOf<typeof contacts.upsertContact>;

const find = async (email: string, { id }: TestProject = server.project) =>
  (
    await server.rows<Contact>(
      "select id, subscribed from contacts where project_id = $1 and email = $2",
      id,
      email,
    )
  )[0];
const idOf = async (email: string) => (await find(email))?.id ?? "";
const create = async (email: string, more: object = {}) =>
  (await server.call(contacts.upsertContact, server.project.byKey, { body: { email, ...more } })).body.id;
const remove = async (id: string) =>
  expect((await server.call(contacts.deleteContact, server.project.byKey, { params: { id } })).status).toBe(
    204,
  );
const isKept = async (email: string, { id }: TestProject = server.project) =>
  (
    await server.rows(
      "select 1 from opt_outs where project_id = $1 and address_hash = $2",
      id,
      hashAddress(id, email),
    )
  ).length > 0;
/** Returns the rows oldest first, in short form: `out opt-out key`. */
const logOf = async (email: string) =>
  (
    await server.rows<{ line: string }>(
      `select case when l.subscribed then 'in ' else 'out ' end || l.source || ' ' || coalesce(l.actor, 'nobody') as line
       from consent_changes l join contacts c on c.project_id = l.project_id and c.id = l.contact_id
       where c.project_id = $1 and c.email = $2 order by l.created_at`,
      server.project.id,
      email,
    )
  ).map(({ line }) => line);
const linkOf = (address: string, emailId: string | null = null) =>
  linksOf(server.project.id, NO_ONE, { address, emailId } satisfies LinkedAddress);
const click = async (url: string, form = ONE_CLICK) => server.call<string>("POST", url, FORM, form);
const importCsv = async (content: string) => {
  const { body } = await uploadCsv(server.call, server.project.byKey, content);
  return endOfImport(server.call, server.project.byKey, body.jobId);
};

/** Creates a contact, unsubscribes it through the link, deletes it, and returns the address. */
async function unsubscribedContact(): Promise<string> {
  const email = newAddress();
  const id = await create(email);
  expect((await click(linkOf(email).unsubscribeUrl)).status).toBe(200);
  await remove(id);
  return email;
}

type Way = [name: string, come: (email: string) => Promise<unknown>];

const post =
  (path: string, bodyOf: (email: string) => object, caller?: TestCaller) => async (email: string) => {
    const { status, text } = await server.call<unknown>(
      "POST",
      path,
      caller ?? server.project.byKey,
      bodyOf(email),
    );
    if (status >= 300) throw new Error(text);
  };
const staticSegment = async () =>
  (
    await server.call(segments.createSegment, server.project.byKey, {
      body: {
        name: `Members ${++made}`,
        type: "STATIC",
      },
    })
  ).body.id;
const addTo = (more: object) => async (email: string) =>
  post(`/segments/${await staticSegment()}/members`, () => ({
    emails: [email],
    createMissing: true,
    ...more,
  }))(email);
const rename = (more: object) => async (email: string) => {
  const id = await create(newAddress());
  await server.call(contacts.updateContact, server.project.byKey, {
    params: { id },
    body: { email, ...more },
  });
};

const headingOf = (html: string) => /<h1>(.*?)<\/h1>/.exec(html)?.[1];

const SILENT: Way[] = [
  ["POST /contacts", post("/contacts", (email) => ({ email, data: { a: 1 } }))],
  ["POST /v1/track", post("/v1/track", (email) => ({ email, event: "e" }))],
  ["POST /v1/send", post("/v1/send", (to) => ({ ...MAIL, to }))],
  ["an import", async (email) => importCsv(`email,name\n${email},Ada\n`)],
  ["an import that says subscribed", async (email) => importCsv(`email,subscribed\n${email},yes\n`)],
  ["a segment that creates its members", addTo({})],
  ["a contact that gets the address", rename({})],
  ["explicit false", post("/contacts", (email) => ({ email, subscribed: false }))],
  ["an import that says unsubscribed", async (email) => importCsv(`email,subscribed\n${email},no\n`)],
];

test.for(["yes", "no", ""])("an undone import keeps earlier opt-outs and adds none (%j)", async (cell) => {
  const [left, other] = [await unsubscribedContact(), newAddress()];
  const { id } = await importCsv(`email,subscribed\n${left},${cell}\n${other},${cell}\n`);
  expect(
    (await server.call(importUndo.undoImport, server.project.byKey, { params: { jobId: id } })).status,
  ).toBe(202);
  await expect.poll(async () => [await find(left), await find(other)], WAIT).toEqual([undefined, undefined]);
  expect([await isKept(left), await isKept(other)]).toEqual([true, false]);
});

test.for(SILENT)("an opt-out outlives its contact, and %s does not subscribe", async ([name, come]) => {
  const email = await unsubscribedContact();
  for (let time = 0; time < 2; time++) {
    expect(await isKept(email)).toBe(true);
    await come(email);
    const contact = await find(email);
    expect([name, contact?.subscribed]).toEqual([name, false]);
    // The contact has the opt-out now, and the log has the reason.
    expect(await isKept(email)).toBe(false);
    expect((await logOf(email)).at(-1)).toMatch(/^out opt-out /);
    await remove(contact?.id ?? "");
  }
  expect(await isKept(email)).toBe(true);
});

const ASKED: Way[] = [
  ["POST /contacts", post("/contacts", (email) => ({ email, subscribed: true }))],
  ["POST /v1/track", post("/v1/track", (email) => ({ email, event: "e", subscribed: true }))],
  ["POST /v1/send", post("/v1/send", (to) => ({ ...MAIL, to, subscribed: true }))],
  ["a segment that creates subscribed members", addTo({ subscribed: true })],
  ["a contact that gets the address and is subscribed", rename({ subscribed: true })],
];

test.for(ASKED)("an explicit true ends an opt-out and is logged: %s", async ([name, come]) => {
  const email = await unsubscribedContact();
  await come(email);
  const contact = await find(email);
  expect([name, contact?.subscribed, await isKept(email)]).toEqual([name, true, false]);
  expect((await logOf(email)).at(-1)).toMatch(/^in (api|dashboard) key$/);
  await remove(contact?.id ?? "");
  await post("/v1/track", () => ({ email, event: "e" }))(email);
  expect((await find(email))?.subscribed).toBe(true);
});

const BEGINNINGS: Array<[name: string, begin: (email: string) => Promise<unknown>, isOptOut: boolean]> = [
  ["a transactional email", post("/v1/send", (to) => ({ ...MAIL, to })), false],
  [
    "a transactional email that says false",
    post("/v1/send", (to) => ({ ...MAIL, to, subscribed: false })),
    true,
  ],
  [
    "a transactional email and one that says false",
    async (email) => {
      await post("/v1/send", (to) => ({ ...MAIL, to }))(email);
      await post("/v1/send", (to) => ({ ...MAIL, to, subscribed: false }))(email);
    },
    true,
  ],
  [
    "a transactional email and a click on its link",
    async (email) => {
      await post("/v1/send", (to) => ({ ...MAIL, to }))(email);
      await click(linkOf(email).unsubscribeUrl);
    },
    true,
  ],
  [
    "a transactional email and a bulk change",
    async (email) => {
      await post("/v1/send", (to) => ({ ...MAIL, to }))(email);
      const contactIds = [await idOf(email)];
      await post("/contacts/bulk-unsubscribe", () => ({ contactIds }))(email);
      await vi.waitFor(
        async () =>
          expect(
            await server.rows(
              "select 1 from consent_changes where contact_id = $1 and by_default",
              contactIds[0],
            ),
          ).toEqual([]),
        WAIT,
      );
    },
    true,
  ],
  ["an import that says unsubscribed", async (email) => importCsv(`email,subscribed\n${email},no\n`), true],
  [
    "an inbound email",
    async (email) =>
      transaction(server.database, (tx) =>
        upsertContacts(tx, [
          {
            projectId: server.project.id,
            email,
            subscribedIfNew: false,
            patch: readDataPatch(undefined),
            via: { source: "inbound", actor: null, ip: null },
          },
        ]),
      ),
    false,
  ],
  [
    "an unsubscription before the log",
    async (email) => {
      const id = await create(email, { subscribed: false });
      await server.rows("delete from consent_changes where contact_id = $1", id);
    },
    true,
  ],
];

test.for(BEGINNINGS)("a contact unsubscribed by %s has opted out: %s", async ([name, begin, isOptOut]) => {
  const email = newAddress();
  await begin(email);
  const contact = await find(email);
  expect([name, contact?.subscribed]).toEqual([name, false]);
  await remove(contact?.id ?? "");
  expect([name, await isKept(email)]).toEqual([name, isOptOut]);
  await importCsv(`email\n${email}\n`);
  expect([name, (await find(email))?.subscribed]).toEqual([name, !isOptOut]);
});

test("a contact that changes its address keeps its opt-out and leaves one with the old address", async () => {
  const [email, newEmail] = [newAddress(), newAddress()];
  const id = await create(email);
  await click(linkOf(email).unsubscribeUrl);
  await server.call(contacts.updateContact, server.project.byKey, {
    params: { id },
    body: { email: newEmail },
  });
  expect(await isKept(email)).toBe(true);
  await importCsv(`email\n${email}\n`);
  expect([(await find(email))?.subscribed, (await find(newEmail))?.subscribed]).toEqual([false, false]);
  await remove(id);
  expect(await isKept(newEmail)).toBe(true);
});

test("bulk deletion and a project reset keep opt-outs without addresses", async () => {
  const project = await server.createProject();
  const emails = ["bulk@example.com", "reset@example.com", "stays@example.com"];
  const ids: string[] = [];
  for (const email of emails) {
    const { body } = await server.call(contacts.upsertContact, project.byKey, { body: { email } });
    ids.push(body.id);
    if (email.startsWith("stays")) continue;
    await server.call(contacts.updateContact, project.byKey, {
      params: { id: body.id },
      body: { subscribed: false },
    });
  }
  const kept = async () => [await isKept(emails[0] ?? "", project), await isKept(emails[1] ?? "", project)];
  await server.call("POST", "/contacts/bulk-delete", project.byKey, { contactIds: [ids[0]] });
  await expect.poll(kept, WAIT).toEqual([true, false]);
  const [row] = await server.rows<{ name: string }>("select name from projects where id = $1", project.id);
  await server.call(
    "POST",
    `/users/@me/projects/${project.id}/reset`,
    { cookie: project.owner.cookie },
    {
      confirm: row?.name,
    },
  );
  const isReset = async () =>
    (await server.rows("select 1 from projects where id = $1 and removal is null", project.id)).length > 0 &&
    (await find(emails[2] ?? "", project)) === undefined;
  await expect.poll(isReset, WAIT).toBe(true);
  expect(await kept()).toEqual([true, true]);
  expect(await isKept(emails[2] ?? "", project)).toBe(false);
  const rows = await server.rows("select o::text from opt_outs o where project_id = $1", project.id);
  expect(rows).toHaveLength(2);
  expect(JSON.stringify(rows)).not.toContain("@");
  for (const email of emails) {
    await server.call(v1.track, project.byKey, { body: { email, event: "e" } });
    expect((await find(email, project))?.subscribed).toBe(email.startsWith("stays"));
  }
});

test("a link acts on the current contact of its address and on no other contact", async () => {
  const email = newAddress();
  const former = await create(email);
  const links = linkOf(email);
  await remove(former);
  const now = await create(email);
  expect((await click(links.unsubscribeUrl)).text).toContain("You are unsubscribed");
  expect((await find(email))?.subscribed).toBe(false);
  expect((await click(links.manageUrl, "action=subscribe")).text).toContain("You are subscribed");
  // The contact gets another address, and a new one gets the old address.
  const renamed = newAddress();
  await server.call(contacts.updateContact, server.project.byKey, {
    params: { id: now },
    body: { email: renamed },
  });
  const third = await create(email);
  await click(links.unsubscribeUrl);
  expect([(await find(email))?.subscribed, (await find(renamed))?.subscribed]).toEqual([false, true]);
  await click(links.subscribeUrl, "action=subscribe");
  expect(await find(email)).toEqual({ id: third, subscribed: true });
});

test("a link to an address without a contact records the opt-out, reports it, and undoes it", async () => {
  const email = newAddress();
  const links = linkOf(email);
  const masked = "o•••@example.com";
  for (const name of ["unsubscribeUrl", "manageUrl"] as const) {
    const asked = await server.call<string>("GET", links[name]);
    expect([asked.status, headingOf(asked.text)]).toEqual([200, "Nothing is stored about you"]);
    expect(asked.text).toContain('value="unsubscribe"');
    expect(await isKept(email)).toBe(false);
    const done = await click(links[name], "action=unsubscribe");
    expect([done.status, headingOf(done.text)]).toEqual([200, "You are unsubscribed"]);
    expect(done.text).toContain("This address is no longer in the contact list. It stays unsubscribed");
    expect(done.text).toContain(masked);
    expect(await isKept(email)).toBe(true);
    // Repeating the request and opening the page later show the same.
    await click(links.unsubscribeUrl);
    expect(headingOf((await server.call<string>("GET", links.manageUrl)).text)).toBe("You are unsubscribed");
    const [, target = ""] = /<form method="post" action="([^"]*)">/.exec(done.text) ?? [];
    const undone = await click(target, "action=subscribe");
    expect([undone.status, headingOf(undone.text)]).toEqual([200, "Nothing is stored about you"]);
    expect(await isKept(email)).toBe(false);
  }
  const shown = await server.call<string>("GET", links.subscribeUrl);
  expect([headingOf(shown.text), shown.text.includes("<form")]).toEqual([
    "Nothing is stored about you",
    false,
  ]);
  expect(await find(email)).toBeUndefined();
});

test("consent log, export and links name the email and campaign that a contact left through", async () => {
  const project = await server.createProject();
  const email = "left@sandbox.localhost";
  const { body: contact } = await server.call(contacts.upsertContact, project.byKey, { body: { email } });
  const {
    body: { data: campaign },
  } = await server.call(campaigns.createCampaign, project.byKey, {
    body: {
      name: "November",
      subject: 'News for {{name ?? "you"}}',
      body: "<p>Hello</p>",
      from: "news@sandbox.localhost",
      audienceType: "ALL",
    },
  });
  const sending = await server.call(campaignActions.sendCampaign, project.byKey, {
    params: { id: campaign.id },
    body: {},
  });
  expect(sending.status).toBe(200);
  const path = `/mailbox/messages?to=${email}`;
  const message = await vi.waitFor(async () => {
    const { body } = await server.call<{ data: Array<{ id: string }> }>("GET", path, project.byKey);
    const [found] = body.data;
    if (found === undefined) throw new Error("The campaign has not arrived yet.");
    return found;
  }, WAIT);
  const { text: raw } = await server.call(mailbox.getRawMessage, project.byKey, {
    params: { id: message.id },
  });
  const [, url = ""] = /^List-Unsubscribe:\s*<([^>]+)>/im.exec(raw.replaceAll(/\r\n[ \t]+/g, "")) ?? [];
  expect((await click(new URL(url).pathname)).status).toBe(200);
  const [mail] = await server.rows<{ id: string }>(
    "select id from emails where project_id = $1 and campaign_id = $2",
    project.id,
    campaign.id,
  );
  const left = { id: mail?.id, subject: "News for you", campaign: { id: campaign.id, name: "November" } };
  const consentAt = async (at: string) =>
    (await server.call<{ data: unknown[]; consent: unknown[] }>("GET", at, project.byKey)).body;
  const { data } = await consentAt(`/contacts/${contact.id}/consent`);
  expect(data).toMatchObject([
    { subscribed: false, source: "one-click", email: left },
    { subscribed: true, source: "api", email: null },
  ]);
  expect((await consentAt(`/contacts/${contact.id}/export`)).consent).toEqual(data);
});
