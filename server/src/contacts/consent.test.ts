// Consent log over HTTP: one row for the first state of a contact and one for each flip, with actor and source.
import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import * as contacts from "@postloft/contract/contacts.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { transaction } from "../platform/database/database.ts";
import { findWrongCounts, readEmailCounts } from "../emails/results/email-counts.ts";
import { makeSentMails, type SentMail } from "../testing/sent-mails.ts";
import { recountEmailsInSql } from "../testing/recount-emails.ts";
import { APP_SECRET, errorOf, useTestServer, type TestCaller } from "../testing/test-server.ts";
import { viaApi, type ChangeSource } from "./consent.ts";
import { createContactLinks } from "./links.ts";
import { flipAndRecord, upsertContacts } from "./upsert-contacts.ts";

const server = useTestServer();
const WAIT = { timeout: 30_000, interval: 20 };

const readLog = async (contactId: string, caller: TestCaller = server.project.byKey) =>
  (await server.call(contacts.listContactConsent, caller, { params: { id: contactId } })).body.data;
/** Returns the rows oldest first, in short form: `subscribed api key`. */
const shortLog = async (contactId: string, caller?: TestCaller) =>
  (await readLog(contactId, caller))
    .map(({ subscribed, source, actor }) => `${subscribed ? "in" : "out"} ${source} ${actor}`)
    .toReversed();
const flipsOf = async (contactId: string) =>
  (
    await server.rows<{ name: string }>(
      "select name from events where contact_id = $1 and name like 'contact.%' order by id",
      contactId,
    )
  ).map(({ name }) => (name === "contact.subscribed" ? "in" : "out"));

let made = 0;
const newAddress = () => `consent${++made}@example.com`;
const idOf = async (email: string, projectId = server.project.id) =>
  (
    await server.rows<{ id: string }>(
      "select id from contacts where project_id = $1 and email = $2",
      projectId,
      email,
    )
  )[0]?.id ?? "";
const mail = { from: "a@sandbox.localhost", subject: "s", body: "b" };

test("every way to create a contact logs its source, actor and state", async () => {
  const { byKey, bySession, owner, publicKey } = server.project;
  const ways: Array<[string, string, string, TestCaller, object]> = [
    ["in api key", "POST", "/v1/track", byKey, { event: "e" }],
    ["in api public-key", "POST", "/v1/track", { key: publicKey }, { event: "e" }],
    [`in api ${owner.id}`, "POST", "/v1/track", bySession, { event: "e" }],
    ["out api key", "POST", "/v1/track", byKey, { event: "e", subscribed: false }],
    ["out api key", "POST", "/v1/send", byKey, mail],
    ["in api key", "POST", "/contacts", byKey, {}],
    [`out dashboard ${owner.id}`, "POST", "/contacts", bySession, { subscribed: false }],
  ];
  for (const [expected, method, path, caller, body] of ways) {
    const email = newAddress();
    await server.call(method, path, caller, { ...body, [path === "/v1/send" ? "to" : "email"]: email });
    const id = await idOf(email);
    expect([path, await shortLog(id)]).toEqual([path, [expected]]);
    const [first] = await readLog(id);
    expect(first).toMatchObject({ id, ip: null });
    expect(Math.abs(Date.parse(first?.at ?? "") - Date.now())).toBeLessThan(60_000);
  }
});

test("every flip adds one row from any source, and unchanged subscriptions add none", async () => {
  const { byKey, bySession, owner } = server.project;
  const email = newAddress();
  const { body } = await server.call(contacts.upsertContact, byKey, { body: { email } });
  const { id } = body;
  const links = createContactLinks(APP_SECRET, () => "")(server.project.id, id);
  const form = { headers: { "content-type": "application/x-www-form-urlencoded" } };
  for (let time = 0; time < 2; time++) {
    await server.call(contacts.updateContact, bySession, {
      params: { id },
      body: { subscribed: false, data: { time } },
    });
    await server.call(contacts.updateContact, byKey, { params: { id }, body: { data: { time: -time } } });
    await server.call(v1.track, byKey, { body: { email, event: "e" } });
  }
  await server.call(v1.track, byKey, { body: { email, event: "e", subscribed: true } });
  await server.call(v1.send, byKey, { body: { ...mail, to: email, subscribed: false } });
  await server.call("POST", links.subscribeUrl, form, "action=subscribe");
  await server.call("POST", links.unsubscribeUrl, form, "List-Unsubscribe=One-Click");
  await server.call(contacts.upsertContact, bySession, { body: { email, subscribed: true } });
  expect(await shortLog(id)).toEqual([
    "in api key",
    `out dashboard ${owner.id}`,
    "in api key",
    "out api key",
    "in page null",
    "out one-click null",
    `in dashboard ${owner.id}`,
  ]);
  expect((await shortLog(id)).slice(1).map((row) => row.split(" ")[0])).toEqual(await flipsOf(id));
  expect((await readLog(id)).map(({ ip }) => ip)).toEqual([
    null,
    "127.0.0.1",
    "127.0.0.1",
    null,
    null,
    null,
    null,
  ]);
});

test("hard bounces and complaints are logged as the source and named in the event", async () => {
  const { byKey } = server.project;
  for (const [role, source] of [
    ["bounced", "bounce"],
    ["complained", "complaint"],
  ]) {
    const to = `${role}+consent@sandbox.localhost`;
    await server.call(v1.send, byKey, { body: { ...mail, to, subscribed: true } });
    const id = await idOf(to);
    await vi.waitFor(
      async () => expect(await shortLog(id)).toEqual(["in api key", `out ${source} null`]),
      WAIT,
    );
    const [event] = await server.rows<{ data: unknown }>(
      "select data from events where contact_id = $1 and name = 'contact.unsubscribed'",
      id,
    );
    expect(event?.data).toEqual({ reason: source });
  }
});

test("each new contact of a batch logs its own caller, and existing contacts add no row", async () => {
  const { id: projectId } = await server.createProject();
  const person: ChangeSource = { source: "import", actor: randomUUID(), ip: null };
  const change = (email: string, via: ChangeSource, subscribed?: boolean) => ({
    projectId,
    email,
    subscribedIfNew: true,
    patch: { set: {}, remove: [], transient: {} },
    via,
    ...(subscribed === undefined ? {} : { subscribed }),
  });
  const changes = [
    change("a@example.com", viaApi(null)),
    change("b@example.com", person, false),
    change("a@example.com", person, false),
    change("a@example.com", person),
  ];
  for (let time = 0; time < 2; time++)
    await transaction(server.database, (tx) => upsertContacts(tx, changes));
  const rows = await server.rows<{ row: string }>(
    `select c.email || ' ' || l.subscribed || ' ' || l.source as row from consent_changes l
     join contacts c on c.project_id = l.project_id and c.id = l.contact_id
     where l.project_id = $1 order by c.email, l.created_at`,
    projectId,
  );
  expect(rows.map(({ row }) => row)).toEqual([
    "a@example.com true api",
    "a@example.com false import",
    "b@example.com false import",
  ]);
});

test("the first of two transactions that create the same contact starts its log", async () => {
  const { id: projectId } = await server.createProject();
  const change = (via: ChangeSource) => ({
    projectId,
    email: "ada@example.com",
    subscribedIfNew: true,
    patch: { set: {}, remove: [], transient: {} },
    via,
  });
  const waiting = async () =>
    server.rows(
      "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
  let second: Promise<unknown> = Promise.resolve();
  await transaction(server.database, async (tx) => {
    await upsertContacts(tx, [change(viaApi(null))]);
    second = transaction(server.database, (other) =>
      upsertContacts(other, [change({ source: "import", actor: null, ip: null })]),
    );
    await vi.waitFor(async () => expect(await waiting()).toHaveLength(1), WAIT);
  });
  expect(await second).toEqual([
    {
      contactId: await idOf("ada@example.com", projectId),
      isNew: false,
      // The second one found the contact as it wanted it.
      isChanged: false,
      isKeptUnsubscribed: false,
    },
  ]);
  const log = await server.rows("select source from consent_changes where project_id = $1", projectId);
  expect(log).toEqual([{ source: "api" }]);
});

test("a contact that appears twice in one call flips once, with one row", async () => {
  const { byKey } = server.project;
  const { body } = await server.call(contacts.upsertContact, byKey, { body: { email: newAddress() } });
  const flip = { projectId: server.project.id, id: body.id, subscribed: false };
  const complaint: ChangeSource = { source: "complaint", actor: null, ip: null };
  await transaction(server.database, (tx) =>
    flipAndRecord(tx, [
      { ...flip, via: { ...complaint, source: "bounce" } },
      { ...flip, via: complaint },
    ]),
  );
  expect(await shortLog(body.id)).toEqual(["in api key", "out complaint null"]);
  expect(await flipsOf(body.id)).toEqual(["out"]);
});

test("a rolled back change adds no row", async () => {
  const { byKey } = server.project;
  const email = newAddress();
  const { body } = await server.call(contacts.upsertContact, byKey, { body: { email } });
  const taken = newAddress();
  await server.call(contacts.upsertContact, byKey, { body: { email: taken } });
  const reply = await server.call(contacts.updateContact, byKey, {
    params: { id: body.id },
    body: { email: taken, subscribed: false },
  });
  expect(errorOf(reply)).toBe("409 CONFLICT");
  expect(await shortLog(body.id)).toEqual(["in api key"]);
});

test("the log returns the newest thousand rows, newest first, and is deleted with the contact", async () => {
  const { byKey, id: projectId } = server.project;
  const { body } = await server.call(contacts.upsertContact, byKey, { body: { email: newAddress() } });
  await server.rows(
    `insert into consent_changes (project_id, contact_id, id, subscribed, source, actor, created_at)
     select $1, $2, gen_random_uuid(), n % 2 = 0, 'api', n::text, now() + n * interval '1 second'
     from generate_series(1, $3::int) n`,
    projectId,
    body.id,
    LIMITS.consentChanges.value + 4,
  );
  const log = await readLog(body.id);
  expect(log.map(({ actor }) => Number(actor))).toEqual(
    Array.from({ length: LIMITS.consentChanges.value }, (_, at) => LIMITS.consentChanges.value + 4 - at),
  );
  expect((await server.call(contacts.deleteContact, byKey, { params: { id: body.id } })).status).toBe(204);
  expect(await server.rows("select 1 from consent_changes where contact_id = $1", body.id)).toEqual([]);
  expect(errorOf(await server.call(contacts.listContactConsent, byKey, { params: { id: body.id } }))).toBe(
    "404 CONTACT_NOT_FOUND",
  );
});

test("the log of a contact of another project returns 404", async () => {
  const other = await server.createProject();
  const { body } = await server.call(contacts.upsertContact, server.project.byKey, {
    body: {
      email: newAddress(),
    },
  });
  for (const id of [body.id, randomUUID(), "x"])
    expect(errorOf(await server.call(contacts.listContactConsent, other.byKey, { params: { id } }))).toBe(
      "404 CONTACT_NOT_FOUND",
    );
});

test("a link counts one unsubscribe for its email, and a link without an email for the last email", async () => {
  const { database, rows } = server;
  const { id: projectId } = await server.createProject();
  const [first, second] = (await makeSentMails(database, projectId, 2)) as [SentMail, SentMail];
  const { contactId } = first;
  await rows(
    `update emails set contact_id = $2, template_id = id, sent_at = now() - case id when $3 then interval '2 hours' else '1 hour' end
     where project_id = $1`,
    projectId,
    contactId,
    first.id,
  );
  await recountEmailsInSql(database, projectId);
  const flip = (subscribed: boolean, source: ChangeSource["source"], emailId: string | null = null) =>
    transaction(database, (tx) =>
      flipAndRecord(tx, [
        { projectId, id: contactId, subscribed, via: { source, actor: null, ip: null, emailId } },
      ]),
    );
  const unsubscribed = async () =>
    (await readEmailCounts(database, projectId, [first.id, second.id])).map((counts) => counts.unsubscribed);
  await flip(false, "api");
  await flip(true, "page", first.id);
  await flip(false, "page", randomUUID());
  await flip(true, "page");
  expect(await unsubscribed()).toEqual([0, 0]);
  // The link repeats what an import did, which the log records too.
  await flip(false, "import");
  await flip(false, "one-click", first.id);
  await flip(true, "page", first.id);
  await flip(false, "one-click", first.id);
  expect(await unsubscribed()).toEqual([1, 0]);
  await flip(true, "page");
  await flip(false, "page");
  expect(await unsubscribed()).toEqual([1, 1]);
  expect(await findWrongCounts(database, projectId)).toEqual([]);
});
