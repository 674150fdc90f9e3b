// POST /v1/send/batch: one result per email in order, all accepted emails in one transaction, and retries that send nothing twice.
import { expect, test, vi } from "vitest";
import * as billing from "@postloft/contract/limits/billing.ts";
import * as contacts from "@postloft/contract/contacts.ts";
import * as emailsContract from "@postloft/contract/emails.ts";
import * as keys from "@postloft/contract/keys.ts";
import * as templates from "@postloft/contract/templates.ts";
import { sendBatch } from "@postloft/contract/send-batch.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import {
  errorOf,
  faultsOf,
  useTestServer,
  type TestCaller,
  type TestProject,
} from "../testing/test-server.ts";
import { holdRow } from "../testing/hold-row.ts";

const server = useTestServer();
const WAIT = { timeout: 30_000, interval: 20 };

let made = 0;
const newAddress = () => `batch${++made}@example.com`;
const plain = { from: "news@sandbox.localhost", subject: "Hello", body: "<p>Hello</p>" };
const email = (more: object = {}) => ({ ...plain, to: newAddress(), ...more });

const callBatch = (emails: unknown, caller: TestCaller = server.project.byKey, more: object = {}) =>
  server.call(sendBatch, caller, { body: { emails, ...more } as { emails: unknown[] } });
const withKey = (key: string, { byKey }: TestProject = server.project): TestCaller => ({
  ...byKey,
  headers: { "idempotency-key": key },
});

/** Returns each result in short: its recipients, or its error with the fields. */
function resultsOf({ body }: Awaited<ReturnType<typeof callBatch>>): string[] {
  return body.data.results.map(({ success, data, error }) => {
    expect(success).toBe(error === undefined);
    const faults = error?.errors ?? [];
    const all = [error?.code, ...faults.map(({ field, code }) => `${field} ${code}`)];
    return success ? (data?.emails ?? []).map(({ contact }) => contact.email).join(" ") : all.join(" ");
  });
}
const idsOf = ({ body }: Awaited<ReturnType<typeof callBatch>>) =>
  body.data.results.flatMap(({ data }) => (data?.emails ?? []).map((one) => one.email));

/** Returns nearly half as many keys as a contact or a project may have. */
const manyKeys = (prefix: string) =>
  Object.fromEntries(Array.from({ length: 990 }, (_, at) => [`${prefix}${at}`, at]));

async function countEmails({ id }: TestProject = server.project): Promise<number> {
  const [row] = await server.rows<{ count: number }>(
    "select count(*)::int as count from emails where project_id = $1",
    id,
  );
  return row?.count ?? 0;
}

test("sends each email of a batch and returns the results in the order of the request", async () => {
  const [one, another, third, fourth] = [newAddress(), newAddress(), newAddress(), newAddress()];
  const reply = await callBatch([
    email({ to: one, subject: "First" }),
    email({ to: [another, third], subject: "Second {{n}}", data: { n: 2 } }),
    // The same address again keeps the order of the calls, and their data.
    email({ to: one, data: { plan: "pro" }, "reply-to": "x@example.com", surprise: 1 }),
    email({ to: fourth }),
  ]);
  expect(reply.status).toBe(200);
  expect(reply.body.data).toMatchObject({ accepted: 4, failed: 0 });
  expect(resultsOf(reply)).toEqual([one, `${another} ${third}`, one, fourth]);
  expect(reply.body.data.results[2]).toMatchObject({
    data: { warnings: [{ code: "unknown_field", where: { field: "surprise" } }] },
  });
  const byKey = server.project.byKey;
  const list = async () => (await server.call(emailsContract.listEmails, byKey)).body.data;
  await vi.waitFor(async () => {
    const statuses = new Map((await list()).map(({ id, status, subject }) => [id, `${status} ${subject}`]));
    expect(idsOf(reply).map((id) => statuses.get(id))).toEqual([
      "DELIVERED First",
      "DELIVERED Second 2",
      "DELIVERED Second 2",
      "DELIVERED Hello",
      "DELIVERED Hello",
    ]);
  }, WAIT);
});

test("fails an invalid email alone, with its position in the names of the fields", async () => {
  const { byKey } = server.project;
  const marketing = await server.call(templates.createTemplate, byKey, {
    body: { name: "News", type: "MARKETING", subject: "News", body: "<p>News</p>", from: plain.from },
  });
  const full = newAddress();
  for (const prefix of ["a", "b"])
    await server.call(contacts.upsertContact, byKey, { body: { email: full, data: manyKeys(prefix) } });
  const deep = JSON.parse(`${'{"a":'.repeat(50)}1${"}".repeat(50)}`) as unknown;
  const cases: Array<[input: unknown, result: string]> = [
    ["not an object", "VALIDATION_ERROR emails.0 invalid_type"],
    [null, "VALIDATION_ERROR emails.1 invalid_type"],
    [{}, "VALIDATION_ERROR emails.2.to required emails.2.subject required emails.2.body required"],
    [email({ to: "no address" }), "VALIDATION_ERROR emails.3.to invalid_string"],
    [email({ subject: "a\u0000b" }), "VALIDATION_ERROR emails.4.subject custom"],
    [email({ data: deep }), expect.stringMatching(/^VALIDATION_ERROR emails\.5\.data\.a\.\S+ too_big$/)],
    [email({ body: "<p>{{#if a}}</p>" }), "VALIDATION_ERROR emails.6.body custom"],
    [
      email({ headers: { "Reply-To": "nobody" } }),
      "VALIDATION_ERROR emails.7.headers.Reply-To invalid_string",
    ],
    [email({ from: "a@unverified.example" }), "DOMAIN_NOT_VERIFIED"],
    [email({ template: "0199e0a1-7b2c-7d3e-8f40-5a6b7c8d9e0f" }), "TEMPLATE_NOT_FOUND"],
    [email({ template: marketing.body.id }), "CONTACT_UNSUBSCRIBED"],
    [email({ idempotencyKey: "ü" }), "VALIDATION_ERROR emails.11.idempotencyKey invalid_string"],
    [email({ idempotencyKey: 7 }), "VALIDATION_ERROR emails.12.idempotencyKey invalid_type"],
    [email({ to: "valid@example.com", idempotencyKey: "twice" }), "valid@example.com"],
    [email({ idempotencyKey: "twice" }), "VALIDATION_ERROR emails.14.idempotencyKey custom"],
    // Only the database can tell that this is too much.
    [email({ to: full, data: manyKeys("c") }), "VALIDATION_ERROR emails.15.data too_big"],
    [email({ to: "last@example.com" }), "last@example.com"],
  ];
  const before = await countEmails();
  const reply = await callBatch(cases.map(([input]) => input));
  expect(reply.status).toBe(200);
  expect(resultsOf(reply)).toEqual(cases.map(([, result]) => result));
  expect(reply.body.data).toMatchObject({ accepted: 2, failed: cases.length - 2 });
  expect(reply.body.data.results[3]).toMatchObject({
    success: false,
    error: {
      message: expect.stringContaining("`emails.3.to`"),
      statusCode: 422,
      requestId: reply.headers.get("x-request-id"),
    },
  });
  expect(await countEmails()).toBe(before + 2);
});

test.each([
  ["without emails", undefined, {}, "emails required"],
  ["with no email", [], {}, "emails too_small"],
  [
    "with too many emails",
    Array.from({ length: LIMITS.batchEmails.value + 1 }, () => 1),
    {},
    "emails too_big",
  ],
  [
    "with too many recipients",
    Array.from({ length: 11 }, () => email({ to: Array.from({ length: 100 }, newAddress) })),
    {},
    "emails too_big",
  ],
  ["with a field that belongs to the emails", [email()], { from: "a@b.test" }, "from unknown_field"],
])("rejects a batch %s as a whole", async (_, emails, more, fault) => {
  const before = await countEmails();
  const reply = await callBatch(emails, server.project.byKey, more);
  expect(errorOf(reply)).toBe("422 VALIDATION_ERROR");
  expect(faultsOf(reply)).toEqual([fault]);
  expect(await countEmails()).toBe(before);
});

test("accepts a thousand emails, and a retry with the same key returns the same response", async () => {
  const project = await server.createProject();
  const emails: unknown[] = Array.from({ length: LIMITS.batchEmails.value }, (_, at) =>
    email({ subject: `Number ${at}` }),
  );
  emails[500] = { to: "broken" };
  const first = await callBatch(emails, withKey("batch", project));
  expect(first.body.data).toMatchObject({ accepted: 999, failed: 1 });
  const again = await callBatch(emails, withKey("batch", project));
  expect(again.headers.get("idempotency-replayed")).toBe("true");
  expect(again.body).toEqual(first.body);
  expect(await countEmails(project)).toBe(999);
  expect(errorOf(await callBatch(emails.slice(1), withKey("batch", project)))).toBe(
    "409 IDEMPOTENCY_KEY_REUSED",
  );
  // A batch in which every email fails has a response to repeat, too.
  const failed = await callBatch([1], withKey("failed", project));
  expect(failed.body.data).toMatchObject({ accepted: 0, failed: 1 });
  expect((await callBatch([1], withKey("failed", project))).body).toEqual(failed.body);
});

test("sends an email with its own key once in several batches, and releases the key if it fails", async () => {
  const project = await server.createProject();
  const [one, other] = [email({ idempotencyKey: "one" }), email({ idempotencyKey: "other" })];
  const first = await callBatch(
    [one, email({ idempotencyKey: "broken", from: "a@unverified.example" })],
    project.byKey,
  );
  const second = await callBatch(
    [email(), other, one, { ...one, subject: "Changed" }, email({ idempotencyKey: "broken" })],
    project.byKey,
  );
  // The first email with a key in the batch has it.
  expect(resultsOf(second).map((result) => result.split(" ")[0])).toEqual([
    expect.stringContaining("@"),
    other.to,
    one.to,
    "VALIDATION_ERROR",
    expect.stringContaining("@"),
  ]);
  expect(second.body.data.results[2]).toEqual(first.body.data.results[0]);
  const third = await callBatch([{ ...one, subject: "Changed" }], project.byKey);
  expect(resultsOf(third)).toEqual(["IDEMPOTENCY_KEY_REUSED"]);
  // The key of the call is not free for an email of it.
  const own = await callBatch([email({ idempotencyKey: "whole" }), email()], withKey("whole", project));
  expect(resultsOf(own).map((result) => result.split(" ").slice(0, 2).join(" "))).toEqual([
    "VALIDATION_ERROR emails.0.idempotencyKey",
    expect.stringContaining("@"),
  ]);
  // A single call with the key of an email in a batch sends nothing, either.
  const single = await server.call("POST", "/v1/send", withKey("one", project), email());
  expect(errorOf(single)).toBe("409 IDEMPOTENCY_KEY_REUSED");
  expect(await countEmails(project)).toBe(5);
});

test("accepts no email of a batch that the database cannot store, and its keys stay free", async () => {
  const project = await server.createProject();
  const emails = [email({ idempotencyKey: "a" }), email({ to: "poison@example.com" }), email()];
  await server.rows(
    "alter table emails add constraint poison check (to_address <> 'poison@example.com') not valid",
  );
  const failed = await callBatch(emails, withKey("whole", project));
  await server.rows("alter table emails drop constraint poison");
  expect(errorOf(failed)).toBe("500 INTERNAL_SERVER_ERROR");
  expect(await countEmails(project)).toBe(0);
  const again = await callBatch(emails, withKey("whole", project));
  expect(again.body.data).toMatchObject({ accepted: 3, failed: 0 });
});

test("sends a batch once if it is repeated while it waits", async () => {
  const project = await server.createProject();
  const emails = [email(), email({ idempotencyKey: "slow item" })];
  await server.call(contacts.upsertContact, project.byKey, { body: { email: emails[0]?.to ?? "" } });
  const another = await server.startAnother();
  const replies = await holdRow(
    server.pool,
    ["select 1 from contacts where project_id = $1", project.id],
    () =>
      [server, another].map(({ call }) => call(sendBatch, withKey("slow", project), { body: { emails } })),
    async () => undefined,
  );
  expect(replies.map((reply) => reply.status)).toEqual([200, 200]);
  expect(replies[1]?.body).toEqual(replies[0]?.body);
  expect(replies[0]?.body.data).toMatchObject({ accepted: 2, failed: 0 });
  expect(await countEmails(project)).toBe(2);
});

test("rejects a batch with hundreds of contacts that the database rejects after a bounded number of tries", async () => {
  const project = await server.createProject();
  for (const prefix of ["a", "b"])
    await server.call(contacts.upsertContact, project.byKey, {
      body: { email: newAddress(), data: manyKeys(prefix) },
    });
  const reply = await callBatch(
    Array.from({ length: 300 }, (_, at) => email({ data: { [`new${at}`]: 1 } })),
    project.byKey,
  );
  expect(errorOf(reply)).toBe("422 VALIDATION_ERROR");
  expect(await countEmails(project)).toBe(0);
});

test("counts each recipient of a batch against the monthly cap", async () => {
  const project = await server.createProject();
  await server.call(
    billing.updateBillingLimits,
    { cookie: project.owner.cookie },
    { params: { projectId: project.id }, body: { transactional: 3 } },
  );
  const reply = await callBatch(
    [email(), email({ to: [newAddress(), newAddress(), newAddress()] }), email(), email(), email()],
    project.byKey,
  );
  expect(resultsOf(reply).map((result) => result.includes("@"))).toEqual([true, false, true, true, false]);
  expect(resultsOf(reply)[4]).toBe("BILLING_LIMIT_EXCEEDED");
});

test("keeps the emails of a batch with a test key in the local mailbox", async () => {
  const { id: projectId, owner } = server.project;
  const { key } = (
    await server.call(
      keys.createKey,
      { cookie: owner.cookie },
      { params: { projectId }, body: { name: "Test", scopes: ["test:send"] } },
    )
  ).body.data;
  const reply = await callBatch([email({ subscribed: true }), email()], { key });
  const rows = await server.rows(
    "select contact_id, is_test, stays_here from emails where id = any($1)",
    idsOf(reply),
  );
  expect(rows).toEqual([1, 2].map(() => ({ contactId: null, isTest: true, staysHere: true })));
});
