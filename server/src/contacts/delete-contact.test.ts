// Deleting a contact over HTTP: all personal data is gone, and the totals still add up.
import { expect, test, vi } from "vitest";
import { holdRow } from "../testing/hold-row.ts";
import { errorOf, useTestServer } from "../testing/test-server.ts";

const server = useTestServer();
const WAIT = { timeout: 30_000, interval: 20 };

test("deleting a contact deletes its events and messages and skips waiting emails", async () => {
  const { byKey, id } = await server.createProject();
  const send = async (email: string) =>
    (
      await server.call<{ data: { emails: Array<{ email: string }> } }>("POST", "/v1/send", byKey, {
        to: email,
        from: "a@sandbox.localhost",
        subject: "s",
        body: "b",
      })
    ).body.data.emails[0]?.email ?? "";
  const statusOf = async (emailId: string) =>
    (await server.call<{ status: string }>("GET", `/emails/${emailId}`, byKey)).body.status;
  const address = "deferred+ada@sandbox.localhost";
  const { body: contact } = await server.call<{ id: string }>("POST", "/contacts", byKey, {
    email: address,
    data: { secret: "of a person" },
  });
  const sent = await send(address);
  await vi.waitFor(async () => expect(await statusOf(sent)).toBe("DELIVERED"), WAIT);
  const waiting = await send(address);
  await vi.waitFor(async () => expect(await statusOf(waiting)).toBe("QUEUED"), WAIT);
  expect(await server.rows("select 1 from mailbox_messages where project_id = $1", id)).toHaveLength(1);

  expect((await server.call("DELETE", `/contacts/${contact.id}`, byKey)).status).toBe(204);
  expect(errorOf(await server.call("GET", `/contacts/${contact.id}`, byKey))).toBe("404 CONTACT_NOT_FOUND");
  expect(errorOf(await server.call("DELETE", `/contacts/${contact.id}`, byKey))).toBe(
    "404 CONTACT_NOT_FOUND",
  );
  for (const table of ["events", "mailbox_messages", "contacts"])
    expect(await server.rows(`select 1 from ${table} where project_id = $1`, id)).toEqual([]);
  expect([await statusOf(sent), await statusOf(waiting)]).toEqual(["DELIVERED", "SKIPPED"]);
  const { body } = await server.call("GET", `/emails/${waiting}`, byKey);
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
  const { body: former } = await server.call<{ id: string }>("POST", "/contacts", byKey, person);
  const [reply] = await holdRow(
    server.pool,
    ["select 1 from contacts where id = $1", former.id],
    () => [server.call<{ id: string }>("POST", "/contacts", byKey, { ...person, data: { plan: "free" } })],
    (client) => client.query("delete from contacts where id = $1", [former.id]),
  );
  expect(reply?.status).toBe(201);
  expect((await server.call("GET", `/contacts/${reply?.body.id}`, byKey)).body).toMatchObject({
    email: "ada@example.com",
    data: { plan: "free" },
  });
});
