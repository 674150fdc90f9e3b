// Tests emails in doubt, of campaigns and others: listed, resolved once by a person, counted correctly, with that person's address.
import { expect, test } from "vitest";
import type * as campaignActions from "@postloft/contract/campaign-actions.ts";
import * as campaigns from "@postloft/contract/campaigns.ts";
import * as emails from "@postloft/contract/emails.ts";
import type { ErrorEnvelope } from "../platform/http/errors.ts";
import { findMiscounts } from "../emails/results/sending-hours.ts";
import { useTestServer, type TestCaller, type TestProject } from "../testing/test-server.ts";
import type { ResponseOf } from "../testing/typed-call.ts";

const server = useTestServer({ ROLES: "api" });
const PEOPLE = 6;

type Email = ResponseOf<typeof emails.getEmail>;

/** Emails that have been in doubt for two hours. With `campaign` they are all emails of a SENT campaign. */
async function inDoubt(campaign: boolean): Promise<{ project: TestProject; id: string; mails: string[] }> {
  const project = await server.createProject();
  const [row] = await server.rows<{ id: string }>(
    `insert into campaigns (project_id, id, name, subject, body, from_address, audience_type, status, started_at, snapshot_at,
       finished_at, total_recipients)
     values ($1, new_id(), 'News', 's', 'b', 'news@sandbox.localhost', 'ALL', 'SENT', now(), now(), now(), $2) returning id`,
    project.id,
    PEOPLE,
  );
  const mails = await server.rows<{ id: string }>(
    `with content as (
       insert into email_contents (project_id, id, from_address, subject, html)
       values ($1, new_id(), 'news@sandbox.localhost', 'News', '<p>Hello</p>') returning id
     ), people as (
       insert into contacts (project_id, id, email, subscribed)
       select $1, new_id(), 'person' || n || '@example.net', true from generate_series(1, $3::integer) n
       returning id, email
     ), mails as (
       insert into emails (project_id, id, contact_id, content_id, campaign_id, priority, to_address, status, attempts, reason)
       select $1, new_id(), p.id, content.id, $2, case when $2::uuid is null then 1 else 3 end, p.email, 'UNCONFIRMED', 1, 'no reply'
       from people p, content returning id
     ), counted as (
       insert into email_counts (project_id, subject_id, recipients, unconfirmed) select $1, $2, $3, $3 where $2 is not null
     ), attempts as (
       insert into email_attempts (project_id, email_id, attempt, outcome, answer, transport, created_at)
       select $1, id, 1, 'uncertain', 'no reply', 'smtp', now() - interval '2 hours' from mails
     )
     select id from mails order by id`,
    project.id,
    campaign ? row?.id : null,
    PEOPLE,
  );
  return { project, id: row?.id ?? "", mails: mails.map((mail) => mail.id) };
}

const resolve = (caller: TestCaller, id: string, body: object) =>
  server.call<ResponseOf<typeof campaignActions.resolveCampaign> & ErrorEnvelope>(
    "POST",
    `/campaigns/${id}/resolve`,
    caller,
    body,
  );
const resolveMail = (caller: TestCaller, id: string, as: string) =>
  server.call<Email & ErrorEnvelope>("POST", `/emails/${id}/resolve`, caller, { as });
const listed = async (caller: TestCaller, path: string) =>
  (await server.call<{ data: Array<{ id: string }>; total: number }>("GET", path, caller)).body;
const countedHours = () =>
  server.rows<{ sent: number; hours: number }>(
    "select sum(sent)::integer as sent, min(round(extract(epoch from now() - hour) / 3600))::integer as hours from sending_hours",
  );

test("lists recipients in doubt and resolves them as sent, failed or retried", async () => {
  const { project, id, mails } = await inDoubt(true);
  const { byKey } = project;
  const inList = await listed(byKey, `/campaigns/${id}/recipients?status=UNCONFIRMED`);
  expect(inList.data.map((mail) => mail.id).toSorted()).toEqual(mails);
  expect((await listed(byKey, "/emails?status=UNCONFIRMED")).total).toBe(PEOPLE);

  const sent = await resolve(byKey, id, { as: "sent", ids: mails.slice(0, 2) });
  expect(sent.body).toMatchObject({ resolvedCount: 2, status: "SENT", sentCount: 2, unconfirmedCount: 4 });
  const failed = await resolve(byKey, id, { as: "failed", ids: mails.slice(1, 3) });
  expect(failed.body).toMatchObject({ resolvedCount: 1, sentCount: 2, failedCount: 1, unconfirmedCount: 3 });
  const again = await resolve(byKey, id, { as: "retry" });
  expect(again.body).toMatchObject({
    resolvedCount: 3,
    status: "SENDING",
    pendingCount: 3,
    unconfirmedCount: 0,
  });
  expect((await resolve(byKey, id, { as: "retry" })).body).toMatchObject({
    resolvedCount: 0,
    status: "SENDING",
  });

  const [first = ""] = mails;
  const { sentAt, timeline } = (await server.call(emails.getEmail, byKey, { params: { id: first } })).body;
  const attempt = timeline.find(({ type }) => type === "attempt");
  expect(sentAt).toBe(attempt?.at);
  expect(timeline.at(-1)).toMatchObject({
    type: "resolved",
    detail: "as sent, by somebody with the secret key",
  });
  expect(timeline.some(({ type }) => type === "email.sent")).toBe(true);
  // Counted in the hour in which they left.
  expect(await findMiscounts(server.database)).toEqual([]);
  const [hour] = await countedHours();
  expect(hour?.sent).toBe(2);
  expect(hour?.hours).toBeGreaterThan(0);
});

test("accepts one of several concurrent resolutions of an email and counts it once", async () => {
  const { project, id, mails } = await inDoubt(true);
  const callers = Array.from({ length: 12 }, (_, at) =>
    resolve(project.byKey, id, { as: ["sent", "failed", "retry"][at % 3], ids: mails }),
  );
  const bodies = (await Promise.all(callers)).map(({ body }) => body);
  expect(bodies.reduce((sum, { resolvedCount }) => sum + resolvedCount, 0)).toBe(PEOPLE);
  const campaign = (await server.call(campaigns.getCampaign, project.byKey, { params: { id } })).body;
  expect(campaign.unconfirmedCount).toBe(0);
  expect(campaign.sentCount + campaign.failedCount + campaign.pendingCount).toBe(PEOPLE);
  expect(await findMiscounts(server.database)).toEqual([]);
});

test("keeps a campaign paused, retries nothing of a cancelled one, and skips erased contacts", async () => {
  const { project, id, mails } = await inDoubt(true);
  const state = (status: string) =>
    server.rows("update campaigns set status = $2, finished_at = null where id = $1", id, status);
  await state("CANCELLED");
  const refused = await resolve(project.byKey, id, { as: "retry" });
  expect(refused.status).toBe(409);
  expect(refused.body.error.message).toContain("CANCELLED");
  expect((await resolve(project.byKey, id, { as: "failed", ids: mails.slice(0, 1) })).status).toBe(200);
  await state("PAUSED");
  await server.rows("update emails set to_address = '' where id = $1", mails[1]);
  expect((await resolve(project.byKey, id, { as: "retry" })).body).toMatchObject({
    status: "PAUSED",
    resolvedCount: PEOPLE - 2,
    unconfirmedCount: 1,
  });
  const other = await server.createProject();
  expect((await resolve(other.byKey, id, { as: "sent" })).status).toBe(404);
});

test("resolves a single email idempotently and rejects a different resolution", async () => {
  const { project, mails } = await inDoubt(false);
  const [sent = "", retried = "", erased = ""] = mails;
  const person: TestCaller = { cookie: project.owner.cookie, projectId: project.id };
  const first = await resolveMail(person, sent, "sent");
  expect(first.status).toBe(200);
  expect(first.body).toMatchObject({ status: "SENT" });
  expect(first.body.timeline.at(-1)?.detail).toBe(`as sent, by ${project.owner.email}`);
  expect((await resolveMail(project.byKey, sent, "sent")).body).toEqual(first.body);
  const other = await resolveMail(project.byKey, sent, "failed");
  expect(other.status).toBe(409);
  expect(other.body.error.message).toContain("The email is SENT");
  expect((await resolveMail(project.byKey, retried, "retry")).body).toMatchObject({ status: "QUEUED" });
  await server.rows("update emails set to_address = '' where id = $1", erased);
  expect((await resolveMail(project.byKey, erased, "retry")).status).toBe(409);
  const stranger = await server.createProject();
  expect((await resolveMail(stranger.byKey, sent, "sent")).status).toBe(404);
  expect(await findMiscounts(server.database)).toEqual([]);
});

test("rejects retrying a campaign's email outside its campaign", async () => {
  const { project, id, mails } = await inDoubt(true);
  const reply = await resolveMail(project.byKey, mails[0] ?? "", "retry");
  expect(reply.status).toBe(409);
  expect(reply.body.error.message).toContain(`/campaigns/${id}/resolve`);
  expect((await resolveMail(project.byKey, mails[0] ?? "", "failed")).body).toMatchObject({
    status: "FAILED",
  });
});
