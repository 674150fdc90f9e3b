// The property of all numbers: whatever happened, was deleted or became known late, and however far the counting is, each one
// equals a recount from the rows, by the days of PostgreSQL's own zones.
import * as fc from "fast-check";
import { expect, test, vi } from "vitest";
import { LIMITS } from "@postloft/contract/limits.ts";
import { transaction, type Database } from "../platform/database.ts";
import { newId } from "../platform/ids.ts";
import { createLog } from "../platform/log.ts";
import { createMetrics } from "../platform/metrics.ts";
import { startJobs } from "../platform/jobs.ts";
import { countNews } from "../events/counts.ts";
import { DELETE_EVENTS_JOB, deleteEvents, deleteEventsStep } from "../events/event-names.ts";
import { confirmSent } from "../emails/returned-emails.ts";
import { resolveEmails } from "../emails/resolve-emails.ts";
import { deleteContacts } from "../contacts/contacts.ts";
import { makeSentMails } from "../testing/sent-mails.ts";
import { useTestServer } from "../testing/test-server.ts";
import {
  getAudience,
  getBreakdown,
  getHours,
  getSummary,
  getTimeseries,
  listTopCampaigns,
  listTopEvents,
} from "./analytics.ts";
import { readPeriod } from "./period.ts";

const server = useTestServer({ ROLES: "api" });

const ZONES = [
  "UTC",
  "Europe/Berlin",
  "Asia/Kathmandu",
  "America/St_Johns",
  "Australia/Lord_Howe",
  "Pacific/Chatham",
  "Africa/Cairo",
];
/** Around where clocks change, and where days do. */
const MOMENTS = [
  "2026-03-29T00:45:00Z",
  "2026-04-04T14:50:00Z",
  "2026-04-23T21:55:00Z",
  "2026-10-25T00:40:00Z",
  "2026-10-29T20:50:00Z",
  "2026-11-01T04:20:00Z",
].map((text) => Date.parse(text));
const DOMAINS = ["gmail.com", "hotmail.com", "web.de", "example.com"];
const NAMES = ["signed-up", "paid", "contact.subscribed", "contact.unsubscribed"];
const CONTACTS = 4;
const CAMPAIGNS = 2;

const instant = fc
  .tuple(fc.constantFrom(...MOMENTS), fc.integer({ min: -40 * 60, max: 40 * 60 }))
  .map(([moment, minutes]) => new Date(moment + minutes * 60_000).toISOString());
const CAME_BACK = [
  ["email.delivery", {}],
  ["email.open", { isFirst: true }],
  ["email.click", { isFirst: true }],
  ["email.click", { isFirst: false }],
  ["email.machine-open", {}],
  ["email.machine-click", {}],
  ["email.bounce", { bounceType: "hard" }],
  ["email.bounce", { bounceType: "soft" }],
  ["email.complaint", {}],
] as const;
const sentMail = fc.record({
  contact: fc.nat(CONTACTS - 1),
  domain: fc.constantFrom(...DOMAINS),
  campaign: fc.option(fc.nat(CAMPAIGNS - 1)),
  sentAt: instant,
  isTest: fc.boolean().map((is) => (is ? true : null)),
  inDoubt: fc.boolean(),
  cameBack: fc.array(fc.tuple(fc.constantFrom(...CAME_BACK), instant), { maxLength: 4 }),
});
const recordedEvent = fc.record({
  contact: fc.nat(CONTACTS - 1),
  name: fc.constantFrom(...NAMES),
  reason: fc.constantFrom(null, "bounce", "complaint"),
  at: instant,
});
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("count" as const), size: fc.integer({ min: 1, max: 9 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("delete contact" as const), which: fc.nat(CONTACTS - 1) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("delete name" as const),
      name: fc.constantFrom("signed-up", "paid"),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("resolve" as const), by: fc.constantFrom("person", "report") }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("happen" as const), name: fc.constantFrom("signed-up", "paid") }),
  },
);
const history = fc.record({
  mails: fc.array(sentMail, { minLength: 1, maxLength: 12 }),
  events: fc.array(recordedEvent, { maxLength: 12 }),
  steps: fc.array(step, { maxLength: 8 }),
  zone: fc.constantFrom(...ZONES),
  period: fc.constantFrom(
    ["2026-03-28", "2026-04-24"],
    ["2026-10-25", "2026-10-25"],
    ["2026-10-24", "2026-11-23"],
    ["2026-03-01", "2026-12-01"],
  ),
});
type History = typeof history extends fc.Arbitrary<infer Value> ? Value : never;

const insertEvent = (
  projectId: string,
  values: { contactId: string; name: string; data: object | null; emailId: string | null; at: string },
) =>
  server.rows(
    `insert into events (project_id, id, contact_id, name, data, email_id, created_at)
     values ($1, sent_event_id($2, $3), $4, $5, $6, $7, $3)`,
    projectId,
    newId(),
    values.at,
    values.contactId,
    values.name,
    values.data === null ? null : JSON.stringify(values.data),
    values.emailId,
  );

/** A project with what happened in it, none of it counted. */
async function tell({ mails, events }: History) {
  const projectId = newId();
  await server.rows("insert into projects (id, name) values ($1, 'Told')", projectId);
  const made = await makeSentMails(server.database, projectId, Math.max(CONTACTS, mails.length));
  const contactIds = made.slice(0, CONTACTS).map(({ contactId }) => contactId);
  const campaignIds = [newId(), newId()];
  for (const id of campaignIds)
    await server.rows(
      `insert into campaigns (project_id, id, name, subject, body, from_address, audience_type, status)
       values ($1, $2, 'Told', 's', 'b', 'me@sender.example', 'ALL', 'SENT')`,
      projectId,
      id,
    );
  await server.rows("update emails set sent_at = null, contact_id = null where project_id = $1", projectId);
  const seen = new Set<string>();
  for (const [at, one] of mails.entries()) {
    const emailId = made[at]?.id ?? "";
    const campaign = one.campaign === null ? null : (campaignIds[one.campaign] ?? null);
    // A contact has one mail of a campaign.
    const key = `${one.contact} ${campaign}`;
    const campaignId = campaign !== null && seen.has(key) ? null : campaign;
    seen.add(key);
    const contactId = contactIds[one.contact] ?? "";
    await server.rows(
      `update emails set contact_id = $3, sent_at = $4, status = $5, to_address = $6, campaign_id = $7, is_test = $8, priority = $9, attempts = 1
       where project_id = $1 and id = $2`,
      projectId,
      emailId,
      contactId,
      one.inDoubt ? null : one.sentAt,
      one.inDoubt ? "UNCONFIRMED" : "SENT",
      `x@${one.domain}`,
      campaignId,
      one.isTest,
      campaignId === null ? 1 : 3,
    );
    if (one.inDoubt)
      await server.rows(
        "insert into email_attempts (project_id, email_id, attempt, outcome, answer, created_at) values ($1, $2, 1, 'uncertain', '', $3)",
        projectId,
        emailId,
        one.sentAt,
      );
    for (const [[name, data], when] of one.cameBack)
      await insertEvent(projectId, { contactId, name, data, emailId, at: when });
  }
  for (const { contact, name, reason, at } of events)
    await insertEvent(projectId, {
      contactId: contactIds[contact] ?? "",
      name,
      data: reason === null ? null : { reason },
      emailId: null,
      at,
    });
  return { projectId, contactIds };
}

const users = { segments: async () => [], workflows: async () => [] };

async function take(
  steps: History["steps"],
  told: { projectId: string; contactIds: string[] },
): Promise<void> {
  const { projectId, contactIds } = told;
  const { database } = server;
  for (const one of steps) {
    if (one.do === "count") await countNews(database, { lagSeconds: 0, stepSize: one.size });
    else if (one.do === "delete contact")
      await transaction(database, (tx) => deleteContacts(tx, projectId, [contactIds[one.which] ?? ""]));
    else if (one.do === "delete name")
      await transaction(database, (tx) => deleteEvents(tx, users, projectId, one.name));
    else if (one.do === "happen") {
      const [contact] = await server.rows<{ id: string }>(
        "select id from contacts where project_id = $1 limit 1",
        projectId,
      );
      if (contact !== undefined)
        await insertEvent(projectId, {
          contactId: contact.id,
          name: one.name,
          data: null,
          emailId: null,
          at: new Date().toISOString(),
        });
    } else await endDoubts(database, projectId, one.by);
  }
}

async function endDoubts(database: Database, projectId: string, by: string): Promise<void> {
  const [mail] = await server.rows<{ id: string }>(
    "select id from emails where project_id = $1 and status = 'UNCONFIRMED' order by id limit 1",
    projectId,
  );
  if (mail === undefined) return;
  await transaction(database, async (tx) => {
    if (by === "person")
      await resolveEmails(tx, { projectId, campaignId: null, ids: [mail.id] }, "sent", null);
    else await confirmSent(tx, [{ projectId, id: mail.id, at: new Date(MOMENTS[0] ?? 0) }]);
  });
}

/** Each fact with its instant, as the rows say it. */
const FACTS = `
  select e.sent_at as at, 'emails' as what, e.to_address, e.campaign_id from emails e
  where e.project_id = $1 and e.sent_at is not null and e.contact_id is not null and e.is_test is null
  union all
  select v.created_at, case v.name when 'email.delivery' then 'delivered' when 'email.open' then 'opens'
    when 'email.click' then case when (v.data ->> 'isFirst')::boolean then 'clicks' else 'repeat' end
    when 'email.machine-open' then 'machineOpens' when 'email.machine-click' then 'machineClicks'
    when 'email.bounce' then case v.data ->> 'bounceType' when 'hard' then 'bounces' else 'softBounces' end
    when 'email.complaint' then 'complaints' end, e.to_address, e.campaign_id
  from events v join emails e on e.project_id = v.project_id and e.id = v.email_id
  where v.project_id = $1 and e.is_test is null`;
const WHATS = [
  "emails",
  "delivered",
  "opens",
  "clicks",
  "machineOpens",
  "machineClicks",
  "bounces",
  "softBounces",
  "complaints",
] as const;

/** Names that are being deleted are gone for every reader (docs/decisions/0042). */
const SHOWN = `v.name <> all (select j.input ->> 'name' from jobs j where j.project_id = v.project_id
  and j.state in ('waiting', 'active') and v.created_at <= (j.input ->> 'until')::timestamptz)`;

const nonZero = (rows: ReadonlyArray<Record<string, unknown>>, keys: readonly string[]) =>
  rows
    .flatMap((row) =>
      keys.flatMap((key) =>
        Number(row[key]) === 0
          ? []
          : [`${String(row["date"] ?? row["value"] ?? row["at"])} ${key} ${String(row[key])}`],
      ),
    )
    .toSorted();

async function recount(
  projectId: string,
  zone: string,
  by: string,
  [first, last]: string[],
): Promise<string[]> {
  const rows = await server.rows<{ key: string; what: string; count: number }>(
    `select ${by} as key, what, count(*)::integer as count from (${FACTS}) f
     where (at at time zone $2)::date between $3::date and $4::date and what <> 'repeat' group by 1, 2`,
    projectId,
    zone,
    first,
    last,
  );
  return rows.map(({ key, what, count }) => `${key} ${what} ${count}`).toSorted();
}

async function compare({ zone, period: [first, last] }: History, projectId: string): Promise<void> {
  const { database } = server;
  const period = readPeriod({ startDate: first, endDate: last, tz: zone }, new Date());
  const all = { dimension: "kind", value: null } as const;
  const days = [first, last];
  const byDay = await recount(projectId, zone, "(at at time zone $2)::date::text", days);
  const series = await getTimeseries(database, projectId, all, period);
  expect(nonZero(series, WHATS)).toEqual(byDay);
  expect(series.map(({ date }) => date)).toEqual(period.days);
  const { current } = await getSummary(database, projectId, all, period);
  for (const what of WHATS) expect(current[what]).toBe(series.reduce((sum, day) => sum + day[what], 0));
  const provider = `case substring(to_address from '[^@]*$') when 'gmail.com' then 'gmail' when 'hotmail.com' then 'microsoft' when 'web.de' then 'gmx' else 'other' end`;
  expect(nonZero(await getBreakdown(database, projectId, "provider", period), WHATS)).toEqual(
    await recount(projectId, zone, provider, days),
  );
  const gmail = await getTimeseries(database, projectId, { dimension: "provider", value: "gmail" }, period);
  expect(nonZero(gmail, ["opens"]).length).toBeLessThanOrEqual(nonZero(series, ["opens"]).length);
  const campaigns = await listTopCampaigns(database, projectId, { metric: "sent", limit: 10 }, period);
  const ofCampaigns = (await recount(projectId, zone, "coalesce(campaign_id::text, 'none')", days)).filter(
    (line) => !line.startsWith("none") && line.includes(" emails "),
  );
  expect(
    campaigns
      .filter(({ sentCount }) => sentCount > 0)
      .map(({ id, sentCount }) => `${id} emails ${sentCount}`)
      .toSorted(),
  ).toEqual(ofCampaigns);
  const hours = (await getHours(database, projectId, all, period)).map((slot) => ({
    ...slot,
    at: `${slot.weekday}-${slot.hour}`,
  }));
  const byHour = await recount(
    projectId,
    zone,
    "extract(isodow from at at time zone $2) || '-' || extract(hour from at at time zone $2)",
    days,
  );
  expect(nonZero(hours, ["emails", "opens", "clicks"])).toEqual(
    byHour.filter((line) => /(emails|opens|clicks) /.test(line)),
  );
  await compareEvents(projectId, zone, period, days);
}

async function compareEvents(
  projectId: string,
  zone: string,
  period: ReturnType<typeof readPeriod>,
  [first, last]: string[],
) {
  const { database } = server;
  const named = await server.rows<{ name: string; date: string; reason: string | null }>(
    `select v.name, (v.created_at at time zone $2)::date::text as date, v.data ->> 'reason' as reason from events v
     where v.project_id = $1 and v.email_id is null and (v.created_at at time zone $2)::date between $3::date and $4::date and ${SHOWN}`,
    projectId,
    zone,
    first,
    last,
  );
  const byName = [...Map.groupBy(named, ({ name }) => name)].map(([name, all]) => `${name} ${all.length}`);
  const top = await listTopEvents(database, projectId, LIMITS.pageSizeMaximum.value, period);
  expect(top.map(({ name, count }) => `${name} ${count}`).toSorted()).toEqual(byName.toSorted());
  const audience = await getAudience(database, projectId, period);
  for (const day of audience) {
    const own = named.filter(({ date }) => date === day.date);
    const left = own.filter(({ name }) => name === "contact.unsubscribed");
    expect(day).toMatchObject({
      subscribed: own.filter(({ name }) => name === "contact.subscribed").length,
      unsubscribed: left.length,
      byBounce: left.filter(({ reason }) => reason === "bounce").length,
    });
  }
}

test("each number equals a recount, through counting, deletions and what becomes known late", async () => {
  expect.hasAssertions();
  await fc.assert(
    fc.asyncProperty(history, async (one) => {
      const told = await tell(one);
      await take(one.steps, told);
      await compare(one, told.projectId);
      await countNews(server.database, { lagSeconds: 0 });
      await compare(one, told.projectId);
    }),
    { numRuns: 25 },
  );
});

test("numbers are the same before, during and after the deletion of a name, and counting goes on beside new events", async () => {
  const { project } = server;
  const track = (event: string) =>
    server.call("POST", "/v1/track", project.byKey, { email: "ada@example.com", event });
  const count = async () =>
    (
      await server.call<Array<{ name: string; count: number }>>("GET", "/analytics/top-events", project.byKey)
    ).body.map(({ name, count: times }) => `${name} ${times}`);
  await track("old");
  await track("kept");
  await track("kept");
  expect(await count()).toEqual(["kept 2", "old 1"]);
  await vi.waitFor(async () => {
    await countNews(server.database, { lagSeconds: 0 });
    expect(
      await server.rows("select 1 from event_counts where project_id = $1 and name = 'old'", project.id),
    ).toHaveLength(1);
  });
  expect(await count()).toEqual(["kept 2", "old 1"]);
  await server.call("DELETE", "/events/old", project.byKey);
  expect(await count()).toEqual(["kept 2"]);
  const jobs = startJobs({
    database: server.database,
    kinds: { [DELETE_EVENTS_JOB]: deleteEventsStep },
    log: createLog({ level: "silent" }),
    metrics: createMetrics(),
  });
  await vi.waitFor(async () =>
    expect(
      await server.rows("select 1 from jobs where project_id = $1 and state <> 'completed'", project.id),
    ).toEqual([]),
  );
  await jobs.stop();
  await track("old");
  expect(await count()).toEqual(["kept 2", "old 1"]);
});
