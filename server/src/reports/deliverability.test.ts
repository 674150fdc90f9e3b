// The deliverability report: campaigns behind bounces and complaints, changes of DNS records, and translatable advice.
import { expect, test } from "vitest";
import * as deliverability from "@postloft/contract/deliverability.ts";
import * as domainsContract from "@postloft/contract/domains.ts";
import { ADVICE, say } from "@postloft/contract/advice.ts";
import { countNews } from "../events/counts.ts";
import { firstIdAt, newId } from "../platform/ids.ts";
import { makeSentMails } from "../testing/sent-mails.ts";
import { useTestServer } from "../testing/test-server.ts";
import { adviceOnProvider } from "./deliverability-advice.ts";

const server = useTestServer({ ROLES: "api" });

const room = async () =>
  (await server.call(deliverability.getDeliverability, server.project.byKey, { query: { days: 7 } })).body;

async function makeCampaign(name: string): Promise<string> {
  const id = newId();
  await server.rows(
    `insert into campaigns (project_id, id, name, subject, body, from_address, audience_type, status)
     values ($1, $2, $3, 's', 'b', 'me@sender.example', 'ALL', 'SENT')`,
    server.project.id,
    id,
    name,
  );
  return id;
}

test("attributes a provider's bounces and complaints to the campaigns of the emails", async () => {
  const { project } = server;
  const [old, fresh] = [await makeCampaign("Old list"), await makeCampaign("Fresh")];
  const mails = await makeSentMails(server.database, project.id, 200);
  await server.rows(
    "update emails set to_address = 'x@' || case when id = any($2::uuid[]) then 'gmail.com' else 'example.org' end where project_id = $1",
    project.id,
    mails.slice(0, 150).map(({ id }) => id),
  );
  const happen = async (from: number, count: number, name: string, data: object, campaign: string | null) => {
    for (const { id, contactId } of mails.slice(from, from + count)) {
      if (campaign !== null)
        await server.rows(
          "update emails set campaign_id = $3, priority = 3 where project_id = $1 and id = $2",
          project.id,
          id,
          campaign,
        );
      await server.rows(
        "insert into events (project_id, id, contact_id, name, data, email_id) values ($1, new_id(), $2, $3, $4, $5)",
        project.id,
        contactId,
        name,
        JSON.stringify(data),
        id,
      );
    }
  };
  await happen(0, 8, "email.bounce", { bounceType: "hard" }, old);
  await happen(8, 2, "email.bounce", { bounceType: "hard" }, fresh);
  await happen(10, 1, "email.complaint", {}, fresh);
  await happen(11, 1, "email.bounce", { bounceType: "soft" }, null);
  await happen(160, 3, "email.bounce", { bounceType: "hard" }, old);
  const { providers } = await room();
  const gmail = providers.find(({ value }) => value === "gmail");
  expect(gmail).toMatchObject({ bounces: 10, softBounces: 1, complaints: 1 });
  expect(gmail?.campaigns).toMatchObject([
    { name: "Fresh", bounces: 2, softBounces: 0, complaints: 1 },
    { name: "Old list", bounces: 8, softBounces: 0, complaints: 0 },
  ]);
  expect(gmail?.advice.map(({ code }) => code)).toEqual([
    "provider.complaintsOfCampaign",
    "provider.bouncesOfCampaign",
  ]);
  expect(gmail?.advice[1]?.text).toMatch(/^6\.67% of the email to gmail bounced, .* Old list\./);
  const other = providers.find(({ value }) => value === "other");
  expect(other).toMatchObject({ bounces: 3, campaigns: [{ name: "Old list", bounces: 3 }], advice: [] });
});

test("reports no provider numbers or causes for days without stored events", async () => {
  const { byKey, id: projectId } = await server.createProject();
  const mails = await makeSentMails(server.database, projectId, 3);
  const campaignId = newId();
  await server.rows(
    `insert into campaigns (project_id, id, name, subject, body, from_address, audience_type, status)
     values ($1, $2, 'Old list', 's', 'b', 'me@sender.example', 'ALL', 'SENT')`,
    projectId,
    campaignId,
  );
  await server.rows(
    "update emails set to_address = id || '@gmail.com', campaign_id = $2, priority = 3 where project_id = $1",
    projectId,
    campaignId,
  );
  const [year, month] = [new Date().getUTCFullYear(), new Date().getUTCMonth()];
  const keptFromMs = Date.UTC(year, month, 1);
  const bounced = (at: number, ms: number) =>
    server.rows(
      `insert into events (project_id, id, contact_id, name, data, email_id, created_at)
       values ($1, $2, $3, 'email.bounce', '{"bounceType":"hard"}', $4, $5)`,
      projectId,
      `${firstIdAt(ms).slice(0, 18)}-8000-00000000000${at}`,
      mails[at]?.contactId,
      mails[at]?.id,
      new Date(ms),
    );
  await bounced(0, keptFromMs - 60_000);
  await bounced(1, keptFromMs - 3 * 60_000);
  await bounced(2, keptFromMs);
  await countNews(server.database, { lagSeconds: -1 });
  const told = async () => {
    const { body } = await server.call(deliverability.getDeliverability, byKey, { query: { days: 60 } });
    return body.providers.map(({ bounces, campaigns }) => [bounces, campaigns.map((one) => one.bounces)]);
  };
  expect(await told()).toEqual([[3, [3]]]);
  await server.rows(
    "update count_positions set kept_from = $2 where project_id = $1",
    projectId,
    firstIdAt(keptFromMs),
  );
  await server.rows("delete from events where project_id = $1 and id < $2", projectId, firstIdAt(keptFromMs));
  expect(await told()).toEqual([[1, [1]]]);
});

test("covers the same whole days for reports and for bounces", async () => {
  const { byKey, bySession, id: projectId } = await server.createProject();
  await server.call(domainsContract.createDomain, bySession, { body: { domain: "span.example" } });
  const firstMs = Date.parse(new Date(Date.now() - 7 * 86_400_000).toISOString().slice(0, 10));
  const report = (id: string, endsMs: number) =>
    server.rows(
      `insert into dmarc_reports (project_id, id, domain, reporter, report_id, begins_at, ends_at)
       values ($1, $2, 'span.example', 'r', $3, $4, $5)`,
      projectId,
      newId(),
      id,
      new Date(endsMs - 1_000),
      new Date(endsMs),
    );
  await report("first day", firstMs);
  await report("day before", firstMs - 1_000);
  const { body } = await server.call(deliverability.getDeliverability, byKey, { query: { days: 7 } });
  expect(body.domains.find(({ domain }) => domain === "span.example")?.dmarc.reports).toBe(1);
});

test("counts deferred and policy-rejected emails, also for providers without sent email", async () => {
  const { byKey, id: projectId } = await server.createProject();
  const mails = await makeSentMails(server.database, projectId, 5, { status: "FAILED" });
  await server.rows(
    "update emails set sent_at = null, to_address = id || '@gmail.com' where project_id = $1",
    projectId,
  );
  const attempt = async (at: number, number: number, outcome: string, meaning: string) =>
    server.rows(
      "insert into email_attempts (project_id, email_id, attempt, outcome, answer, meaning) values ($1, $2, $3, $4, '', $5)",
      projectId,
      mails[at]?.id,
      number,
      outcome,
      meaning,
    );
  await attempt(0, 1, "deferred", "temporary");
  await attempt(0, 2, "deferred", "throttled");
  await attempt(0, 3, "rejected", "policy");
  await attempt(1, 1, "deferred", "throttled");
  await attempt(2, 1, "rejected", "policy");
  // A deferral on the way, and a mailbox that does not exist.
  await attempt(3, 1, "deferred", "unavailable");
  await attempt(4, 1, "rejected", "hard-bounce");
  const { body } = await server.call(deliverability.getDeliverability, byKey, { query: { days: 7 } });
  expect(body.providers).toMatchObject([{ value: "gmail", emails: 0, deferred: 2, blocked: 2 }]);
});

test("lists at most ten changes of a record, newest first, of its domain only", async () => {
  const { project } = server;
  const domain = (
    await server.call(domainsContract.createDomain, project.bySession, { body: { domain: "drift.example" } })
  ).body;
  const dkim = domain.records.find(({ purpose }) => purpose === "dkim")?.name;
  await server.rows(
    `insert into domain_record_changes (project_id, domain_id, purpose, name, changed_at, status, found)
     select $1, $2, 'dkim', $3, now() - n * interval '1 hour', 'MISMATCH', 'was ' || n from generate_series(1, 12) n`,
    project.id,
    domain.id,
    dkim,
  );
  const { domains } = await room();
  const [record] = domains.flatMap(({ records }) => records.filter(({ purpose }) => purpose === "dkim"));
  expect(record?.history.map(({ found }) => found)).toEqual(
    Array.from({ length: 10 }, (_, at) => `was ${at + 1}`),
  );
});

test("gives no advice on few emails, and names no campaign with less than half", () => {
  const counts = {
    value: "gmail",
    emails: 99,
    refused: 0,
    deferred: 0,
    blocked: 0,
    bounces: 50,
    softBounces: 50,
    complaints: 50,
  };
  expect(adviceOnProvider(counts, [])).toEqual([]);
  const cause = { campaignId: "c", name: "One", bounces: 5, softBounces: 0, complaints: 1 };
  const codes = (more: object) =>
    adviceOnProvider({ ...counts, emails: 100, bounces: 10, softBounces: 0, complaints: 0, ...more }, [
      cause,
    ]).map(({ code }) => code);
  expect(codes({})).toEqual(["provider.bounces"]);
  expect(codes({ bounces: 9 })).toEqual(["provider.bouncesOfCampaign"]);
  expect(codes({ bounces: 4, complaints: 1 })).toEqual(["provider.complaintsOfCampaign"]);
  expect(codes({ bounces: 0, softBounces: 5 })).toEqual(["provider.refusals"]);
  // A provider that rejects everything has no sent email, and one that rejects little is judged by all emails.
  expect(codes({ emails: 0, refused: 5_000, bounces: 5_000 })).toEqual(["provider.bounces"]);
  expect(codes({ emails: 1_000, refused: 50, bounces: 50 })).toEqual([]);
  expect(codes({ emails: 0, bounces: 0, blocked: 5_000 })).toEqual(["provider.blocks"]);
  expect(codes({ bounces: 0, deferred: 20 })).toEqual(["provider.deferrals"]);
});

test("uses every given value in each sentence, with readable numbers", () => {
  expect(
    say("dmarc.readyForQuarantine", { percent: 98.5, messages: 12_345, domain: "a.example" }).text,
  ).toMatch(/^98\.5% of 12,345 messages are aligned with a\.example/);
  for (const sentence of Object.values(ADVICE)) expect(sentence).toMatch(/\{\w+\}/);
});
