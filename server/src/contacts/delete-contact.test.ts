// Deleting a contact over HTTP: all personal data is gone, and the totals still add up.
import { expect, test, vi } from "vitest";
import * as contacts from "@postloft/contract/contacts.ts";
import * as emails from "@postloft/contract/emails.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { holdRow } from "../testing/hold-row.ts";
import { errorOf, useTestServer } from "../testing/test-server.ts";

const server = useTestServer();
const WAIT = { timeout: 30_000, interval: 20 };

test("deleting a contact deletes its events and messages and skips waiting emails", async () => {
  const { byKey, id } = await server.createProject();
  const send = async (email: string) =>
    (
      await server.call(v1.send, byKey, {
        body: {
          to: email,
          from: "a@sandbox.localhost",
          subject: "s",
          body: "b",
        },
      })
    ).body.data.emails[0]?.email ?? "";
  const statusOf = async (emailId: string) =>
    (await server.call(emails.getEmail, byKey, { params: { id: emailId } })).body.status;
  const address = "deferred+ada@sandbox.localhost";
  const { body: contact } = await server.call(contacts.upsertContact, byKey, {
    body: {
      email: address,
      data: { secret: "of a person" },
    },
  });
  const sent = await send(address);
  await vi.waitFor(async () => expect(await statusOf(sent)).toBe("DELIVERED"), WAIT);
  const waiting = await send(address);
  await vi.waitFor(async () => expect(await statusOf(waiting)).toBe("QUEUED"), WAIT);
  expect(await server.rows("select 1 from mailbox_messages where project_id = $1", id)).toHaveLength(1);

  expect((await server.call(contacts.deleteContact, byKey, { params: { id: contact.id } })).status).toBe(204);
  expect(errorOf(await server.call(contacts.getContact, byKey, { params: { id: contact.id } }))).toBe(
    "404 CONTACT_NOT_FOUND",
  );
  expect(errorOf(await server.call(contacts.deleteContact, byKey, { params: { id: contact.id } }))).toBe(
    "404 CONTACT_NOT_FOUND",
  );
  for (const table of ["events", "mailbox_messages", "contacts"])
    expect(await server.rows(`select 1 from ${table} where project_id = $1`, id)).toEqual([]);
  expect([await statusOf(sent), await statusOf(waiting)]).toEqual(["DELIVERED", "SKIPPED"]);
  const { body } = await server.call(emails.getEmail, byKey, { params: { id: waiting } });
  expect(body).toMatchObject({ contactId: null, to: "", reason: "The contact was deleted." });
  const kept = await server.rows<{ text: string }>(
    "select t::text as text from emails t where project_id = $1",
    id,
  );
  // Searches with the @, because three letters of the address alone would sometimes occur in an id.
  expect(JSON.stringify(kept)).not.toMatch(/\+ada|ada@|of a person/);
});

test("an upsert during the deletion of a contact creates a new contact", async () => {
  const { byKey } = await server.createProject();
  const person = { email: "ada@example.com", data: { plan: "pro" } };
  const { body: former } = await server.call(contacts.upsertContact, byKey, { body: person });
  const [reply] = await holdRow(
    server.pool,
    ["select 1 from contacts where id = $1", former.id],
    () => [server.call(contacts.upsertContact, byKey, { body: { ...person, data: { plan: "free" } } })],
    (client) => client.query("delete from contacts where id = $1", [former.id]),
  );
  expect(reply?.status).toBe(201);
  expect((await server.call("GET", `/contacts/${reply?.body.id}`, byKey)).body).toMatchObject({
    email: "ada@example.com",
    data: { plan: "free" },
  });
});
