// Checks that bounces and complaints apply to the address an email was sent to, whichever contact has it by then.
import { expect, test } from "vitest";
import * as contacts from "@postloft/contract/contacts.ts";
import { transaction } from "../platform/database/database.ts";
import { hashAddress } from "../platform/address-hash.ts";
import { findReturnedMails } from "../emails/returned/returned-emails.ts";
import { makeSentMails, type SentMail } from "../testing/sent-mails.ts";
import { useTestServer, type TestProject } from "../testing/test-server.ts";
import { createDeliveries } from "./deliveries.ts";
import type { ReportKind } from "./rules.ts";

const server = useTestServer({ ROLES: "api" });
const deliveries = createDeliveries({ guard: async () => undefined });

const isSubscribed = async (email: string, { id }: TestProject) =>
  (
    await server.rows<{ subscribed: boolean }>(
      "select subscribed from contacts where project_id = $1 and email = $2",
      id,
      email,
    )
  )[0]?.subscribed;
const isKept = async (email: string, { id }: TestProject) =>
  (await server.rows("select 1 from opt_outs where address_hash = $1", hashAddress(id, email))).length > 0;
const create = async (email: string, project: TestProject) =>
  (await server.call(contacts.upsertContact, project.byKey, { body: { email } })).body.id;

async function report(
  { projectId, id }: SentMail,
  kind: ReportKind,
  recipients: readonly string[] | null = null,
): Promise<void> {
  await transaction(server.database, async (tx) => {
    const [mail] = await findReturnedMails(tx, [{ projectId, emailId: id, providerId: null }]);
    if (mail === undefined || mail === null) throw new Error("The mail is there.");
    await deliveries.applyReports(tx, [{ mail, recipients, kind, at: new Date(), data: {} }]);
  });
}

async function oneSent() {
  const project = await server.createProject();
  const [mail] = await makeSentMails(server.database, project.id, 1);
  if (mail === undefined) throw new Error("One mail was made.");
  return { project, mail, address: mail.address };
}
const remove = async (mail: SentMail, project: TestProject) =>
  server.call(contacts.deleteContact, project.byKey, { params: { id: mail.contactId } });

const UNWANTED: ReadonlyArray<[ReportKind, string]> = [
  ["hard-bounce", "bounce"],
  ["complaint", "complaint"],
  ["unsubscribed", "one-click"],
];

test.for(UNWANTED)(
  "applies a %s for a renamed contact's old address to its current contact",
  async ([kind, source]) => {
    const { project, mail, address } = await oneSent();
    const email = `new-${address}`;
    await server.call(contacts.updateContact, project.byKey, {
      params: { id: mail.contactId },
      body: { email },
    });
    const holder = await create(address, project);
    await report(mail, kind);
    expect([await isSubscribed(address, project), await isSubscribed(email, project)]).toEqual([false, true]);
    const path = `/contacts/${holder}/consent`;
    const { body } = await server.call<{ data: unknown[] }>("GET", path, project.byKey);
    expect(body.data[0]).toMatchObject({ subscribed: false, source, email: { id: mail.id } });
  },
);

test.for(UNWANTED)("keeps a %s for a renamed contact's old, unused address", async ([kind]) => {
  const { project, mail, address } = await oneSent();
  const email = `new-${address}`;
  await server.call(contacts.updateContact, project.byKey, {
    params: { id: mail.contactId },
    body: { email },
  });
  await report(mail, kind);
  expect([await isKept(address, project), await isSubscribed(email, project)]).toEqual([true, true]);
  await create(address, project);
  expect(await isSubscribed(address, project)).toBe(false);
});

test.for(UNWANTED)("applies a %s with a deleted contact's address to its successor", async ([kind]) => {
  const { project, mail, address } = await oneSent();
  await remove(mail, project);
  await create(address, project);
  await report(mail, kind, [address.toUpperCase()]);
  expect(await isSubscribed(address, project)).toBe(false);
});

test("ignores a bounce about a deleted contact's email that names another address", async () => {
  const { project, mail, address } = await oneSent();
  await remove(mail, project);
  const other = "somebody.else@example.com";
  for (const email of [address, other]) await create(email, project);
  await report(mail, "hard-bounce", [other]);
  const states = [await isSubscribed(address, project), await isSubscribed(other, project)];
  expect([...states, await isKept(address, project)]).toEqual([true, true, false]);
});

test.for([[null], [["its own"]]])(
  "keeps a bounce that names %j after a deletion until the contact returns",
  async ([named]) => {
    const { project, mail, address } = await oneSent();
    await remove(mail, project);
    await report(mail, "hard-bounce", named === null ? null : [address]);
    expect(await isKept(address, project)).toBe(true);
    const rows = await server.rows("select e::text from emails e where id = $1", mail.id);
    expect(JSON.stringify(rows)).not.toContain(address);
    await create(address, project);
    expect(await isSubscribed(address, project)).toBe(false);
  },
);
