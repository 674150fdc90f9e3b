// `scheduledFor` of POST /v1/send: checked, sent at its time and not before, changed and cancelled.
import { expect, test, vi } from "vitest";
import * as emails from "@postloft/contract/emails.ts";
import * as templates from "@postloft/contract/templates.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { cancelEmail, rescheduleEmail } from "@postloft/contract/scheduled-emails.ts";
import { sendBatch } from "@postloft/contract/send-batch.ts";
import { transaction } from "../platform/database/database.ts";
import { holdEmails, releaseHeldEmails } from "../emails/lease/held-queries.ts";
import { errorOf, faultsOf, useTestServer, type TestCaller } from "../testing/test-server.ts";

const server = useTestServer();
const WAIT = { timeout: 30_000, interval: 20 };
const DAY_MS = 86_400_000;
const plain = {
  to: "ada@example.com",
  from: "news@sandbox.localhost",
  subject: "Hello",
  body: "<p>Hello</p>",
};
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
const TOMORROW = inMs(DAY_MS);

const schedule = (scheduledFor: unknown, more: object = {}, caller: TestCaller = server.project.byKey) =>
  server.call(v1.send, caller, { body: { ...plain, ...more, scheduledFor } as typeof plain });
async function scheduled(scheduledFor: string, more: object = {}): Promise<string> {
  const { body } = await schedule(scheduledFor, more);
  return body.data.emails[0]?.email ?? "";
}
const read = async (id: string) =>
  (await server.call(emails.getEmail, server.project.byKey, { params: { id } })).body;
const change = (id: string, scheduledFor: string) =>
  server.call(rescheduleEmail, server.project.byKey, { params: { id }, body: { scheduledFor } });
const cancel = (id: string) => server.call(cancelEmail, server.project.byKey, { params: { id } });

test("rejects a time that is past, too late, without a zone or no time, in a call and in a batch", async () => {
  const waiting = await scheduled(TOMORROW);
  const before = await server.rows("select 1 from emails");
  for (const [time, code] of [
    ["2020-01-01T00:00:00Z", "invalid_date"],
    ["2099-01-01T00:00:00Z", "too_big"],
    [inMs(367 * DAY_MS), "too_big"],
    ["2027-01-01T00:00:00", "invalid_date"],
    ["tomorrow", "invalid_date"],
    [60, "invalid_type"],
  ] as const) {
    const reply = await schedule(time);
    expect([time, reply.status, faultsOf(reply)]).toEqual([time, 422, [`scheduledFor ${code}`]]);
    const batch = await server.call(sendBatch, server.project.byKey, {
      body: { emails: [{ ...plain, scheduledFor: time }] },
    });
    expect(batch.body.data.results[0]?.error?.errors).toMatchObject([
      { field: "emails.0.scheduledFor", code },
    ]);
    const changed = await change(waiting, time as string);
    expect([time, changed.status, faultsOf(changed)]).toEqual([time, 422, [`scheduledFor ${code}`]]);
  }
  expect(await server.rows("select 1 from emails")).toEqual(before);
});

test("sends an email once at its time, and repeats its response after that", async () => {
  const template = await server.call(templates.createTemplate, server.project.byKey, {
    body: { name: "Later", type: "TRANSACTIONAL", subject: "Hello", body: "<p>Hello</p>", from: plain.from },
  });
  const at = inMs(6_000);
  const caller = { ...server.project.byKey, headers: { "idempotency-key": "later" } };
  const call = () =>
    schedule(at, { subject: undefined, body: undefined, template: template.body.id }, caller);
  const first = await call();
  const id = first.body.data.emails[0]?.email ?? "";
  expect(await read(id)).toMatchObject({
    status: "QUEUED",
    scheduledFor: at,
    nextAttemptAt: at,
    attempts: 0,
  });
  const params = { id: template.body.id };
  expect((await server.call(templates.deleteTemplate, server.project.byKey, { params })).status).toBe(204);
  await vi.waitFor(async () => expect((await read(id)).status).toBe("DELIVERED"), WAIT);
  const email = await read(id);
  expect(email).toMatchObject({ subject: "Hello", scheduledFor: at, attempts: 1 });
  expect(Date.parse(email.sentAt ?? "")).toBeGreaterThanOrEqual(Date.parse(at));
  expect((await call()).body).toEqual(first.body);
  expect(errorOf(await change(id, TOMORROW))).toBe("409 CONFLICT");
  expect(errorOf(await cancel(id))).toBe("409 CONFLICT");
});

test("changes the time of an email that waits, also while it is held, and sends it then", async () => {
  const id = await scheduled(TOMORROW);
  await transaction(server.database, (tx) => holdEmails(tx, "Held."));
  const later = inMs(2 * DAY_MS);
  expect((await change(id, later)).body).toMatchObject({ scheduledFor: later, nextAttemptAt: null });
  await transaction(server.database, (tx) => releaseHeldEmails(tx, server.project.id));
  expect(await read(id)).toMatchObject({ status: "QUEUED", nextAttemptAt: later });
  expect((await change(id, inMs(3_000))).status).toBe(200);
  await vi.waitFor(async () => expect((await read(id)).status).toBe("DELIVERED"), WAIT);
});

test("dates an email at its time, because filters suspect older emails", async () => {
  const id = await scheduled(TOMORROW);
  const { body } = await server.call(emails.previewEmail, server.project.byKey, { params: { id } });
  const date = body.headers.find(({ name }) => name === "Date")?.value ?? "";
  // The header has no milliseconds.
  expect(Date.parse(date)).toBe(Math.floor(Date.parse(TOMORROW) / 1_000) * 1_000);
});

test("cancels an email that waits, and says whether it certainly was not sent", async () => {
  const [id, tried, busy] = [await scheduled(TOMORROW), await scheduled(TOMORROW), await scheduled(TOMORROW)];
  for (let times = 0; times < 2; times++)
    expect((await cancel(id)).body).toMatchObject({ status: "SKIPPED", neverSent: true });
  expect(errorOf(await change(id, TOMORROW))).toBe("409 CONFLICT");
  await server.rows("update emails set attempts = 1 where id = $1", tried);
  await server.rows(
    `insert into email_attempts (project_id, email_id, attempt, outcome, answer)
     select project_id, id, 1, 'uncertain', '' from emails where id = $1`,
    tried,
  );
  expect(errorOf(await change(tried, TOMORROW))).toBe("409 CONFLICT");
  expect((await cancel(tried)).body).toMatchObject({ status: "UNCONFIRMED", neverSent: false });
  await server.rows("update emails set status = 'CLAIMED', sender_id = new_id() where id = $1", busy);
  const refused = await cancel(busy);
  expect(errorOf(refused)).toBe("409 CONFLICT");
  expect(refused.text).toContain("may leave");
  const stranger = await server.createProject();
  const foreign = await server.call(cancelEmail, stranger.byKey, { params: { id } });
  expect(errorOf(foreign)).toBe("404 EMAIL_NOT_FOUND");
});
