// Checks all statistics against a recount from the rows, by the days of PostgreSQL's own zones. This holds after any deletion, late event
// and progress of the counters.
import * as fc from "fast-check";
import { beforeAll, expect, test, vi } from "vitest";
import * as analytics from "@postloft/contract/analytics.ts";
import * as eventsContract from "@postloft/contract/events.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { transaction, type Database } from "../platform/database/database.ts";
import { newId } from "../platform/ids.ts";
import { createLog } from "../platform/log.ts";
import { createMetrics } from "../platform/metrics.ts";
import { startJobs } from "../platform/background/jobs.ts";
import { enqueuePlatformEmails } from "../emails/platform-email/platform-email.ts";
import { SYSTEM_PROJECT_ID } from "../emails/rows/system-project.ts";
import { addLateSent, countNews } from "../events/counts.ts";
import { DELETE_EVENTS_JOB, deleteEvents, deleteEventsStep, listEventNames } from "../events/event-names.ts";
import { recountEmailsInSql } from "../testing/recount-emails.ts";
import { findWrongCounts } from "../emails/results/email-counts.ts";
import { confirmSent } from "../emails/returned/returned-emails.ts";
import { resolveEmails } from "../emails/reading/resolve-emails.ts";
import { deleteContacts } from "../contacts/contacts.ts";
import { addProject } from "../testing/add-project.ts";
import { makeSentMails } from "../testing/sent-mails.ts";
import { useTestServer } from "../testing/test-server.ts";
import {
  audienceOf,
  countsOf,
  keepEventsOf,
  namesOf,
  prepareDeletedEvents,
  readRows,
  recountNames,
  withRates,
  type Fact,
} from "../testing/recounted-numbers.ts";
import {
  getActivityStats,
  getAudience,
  getBreakdown,
  getCampaignTotals,
  getHours,
  getSummary,
  getTimeseries,
  listTopCampaigns,
  listTopEvents,
} from "./analytics.ts";
import { previousPeriod, readPeriod, type Period } from "./period.ts";
import { memberships } from "../segments/usage.ts";

const WAIT = { timeout: 30_000, interval: 50 };
const server = useTestServer({ ROLES: "api" });

beforeAll(() => prepareDeletedEvents(server));

const ZONES = [
  "UTC",
  "Europe/Berlin",
  "Asia/Kathmandu",
  "America/St_Johns",
  "Australia/Lord_Howe",
  "Pacific/Chatham",
  "Africa/Cairo",
];
/** Times around clock changes and day boundaries. */
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
  ["email.bounce", { bounceType: "hard", atOnce: true }],
  ["email.bounce", { bounceType: "soft", atOnce: true }],
  ["email.complaint", {}],
] as const;
const sentMail = fc.record({
  contact: fc.nat(CONTACTS - 1),
  domain: fc.constantFrom(...DOMAINS),
  campaign: fc.option(fc.nat(CAMPAIGNS - 1)),
  /** The template or workflow, if it is not a campaign email. */
  from: fc.constantFrom("nothing", "template", "workflow"),
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
  starts: fc.array(instant, { maxLength: 4 }),
  steps: fc.array(step, { maxLength: 8 }),
  zone: fc.constantFrom(...ZONES),
  period: fc.constantFrom(
    ["2026-03-28", "2026-04-24"],
    ["2026-10-25", "2026-10-25"],
    ["2026-10-24", "2026-11-23"],
    ["2026-03-01", "2026-12-01"],
  ),
});
const LATE: History["steps"] = [
  { do: "delete contact", which: 0 },
  { do: "resolve", by: "person" },
  { do: "resolve", by: "report" },
];
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

/** A project with uncounted activity. */
async function notify({ mails, events, starts }: History) {
  const projectId = newId();
  await addProject(server.database, { id: projectId });
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
  const [templateId, workflowId] = [newId(), newId()];
  await server.rows(
    "insert into workflows (project_id, id, name) values ($1, $2, 'Told')",
    projectId,
    workflowId,
  );
  for (const at of starts)
    await server.rows(
      `insert into workflow_executions (project_id, id, workflow_id, entry, version, status, started_at, ended_at)
       values ($1, sent_event_id($2, $4), $3, 1, 1, 'COMPLETED', $4, $4)`,
      projectId,
      newId(),
      workflowId,
      at,
    );
  const seen = new Set<string>();
  for (const [at, one] of mails.entries()) {
    const emailId = made[at]?.id ?? "";
    const campaign = one.campaign === null ? null : (campaignIds[one.campaign] ?? null);
    // A contact has one email per campaign.
    const key = `${one.contact} ${campaign}`;
    const campaignId = campaign !== null && seen.has(key) ? null : campaign;
    seen.add(key);
    const contactId = contactIds[one.contact] ?? "";
    await server.rows(
      `update emails set contact_id = $3, sent_at = $4, status = $5, to_address = $6, campaign_id = $7, is_test = $8, priority = $9, attempts = 1,
         template_id = $10, workflow_id = $11
       where project_id = $1 and id = $2`,
      projectId,
      emailId,
      contactId,
      one.inDoubt ? null : one.sentAt,
      one.inDoubt ? "UNCONFIRMED" : "SENT",
      `x@${one.domain}`,
      campaignId,
      one.isTest,
      campaignId === null ? (one.from === "workflow" ? 2 : 1) : 3,
      campaignId === null && one.from === "template" ? templateId : null,
      campaignId === null && one.from === "workflow" ? workflowId : null,
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
  await recountEmailsInSql(server.database, projectId);
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
  reported: { projectId: string; contactIds: string[] },
): Promise<void> {
  const { projectId, contactIds } = reported;
  const { database } = server;
  for (const one of steps) {
    if (one.do === "count") await countNews(database, { lagSeconds: 0, stepSize: one.size });
    else if (one.do === "delete contact") {
      const contactId = contactIds[one.which] ?? "";
      await keepEventsOf(server, projectId, contactId);
      await transaction(database, (tx) => deleteContacts(tx, projectId, [contactId], [memberships]));
    } else if (one.do === "delete name")
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
      await resolveEmails(
        tx,
        { projectId, campaignId: null, ids: [mail.id] },
        { as: "sent", by: null },
        addLateSent,
      );
    else await confirmSent(tx, [{ projectId, id: mail.id, at: new Date(MOMENTS[0] ?? 0) }], addLateSent);
  });
}

type Rows = Awaited<ReturnType<typeof readRows>>;
const DIMENSIONS = ["kind", "provider", "campaign", "template", "workflow"] as const;
const ALL = { dimension: "kind", value: null } as const;

/** Compares every number of every endpoint with the rows. */
async function compare({ zone, period: [first, last] }: History, projectId: string): Promise<void> {
  const period = readPeriod({ startDate: first, endDate: last, tz: zone }, new Date());
  const rows = await readRows(server, projectId, period, previousPeriod(period));
  await compareMails(projectId, period, rows);
  await compareDimensions(projectId, period, rows);
  await compareEvents(projectId, period, rows);
  const { names } = await listEventNames(server.database, projectId);
  expect(names).toEqual(await recountNames(server, projectId));
  expect(await findWrongCounts(server.database, projectId)).toEqual([]);
}

async function compareMails(projectId: string, period: Period, { facts, factsBefore }: Rows) {
  const { database } = server;
  const ofDay = (all: readonly Fact[]) =>
    period.days.map((date) => ({ date, ...countsOf(all.filter((fact) => fact.date === date)) }));
  expect(await getTimeseries(database, projectId, ALL, period)).toEqual(ofDay(facts));
  const gmail = { dimension: "provider", value: "gmail" } as const;
  expect(await getTimeseries(database, projectId, gmail, period)).toEqual(
    ofDay(facts.filter(({ provider }) => provider === "gmail")),
  );
  const { current, previous } = await getSummary(database, projectId, ALL, period);
  expect(current).toMatchObject(withRates(countsOf(facts)));
  expect(previous).toMatchObject(withRates(countsOf(factsBefore)));
  const hours = await getHours(database, projectId, ALL, period);
  const inHour = Map.groupBy(facts, ({ weekday, hour }) => (weekday - 1) * 24 + hour);
  expect(hours).toEqual(
    Array.from({ length: 168 }, (_, at) => {
      const { emails, opens, clicks } = countsOf(inHour.get(at) ?? []);
      return { weekday: Math.floor(at / 24) + 1, hour: at % 24, emails, opens, clicks };
    }),
  );
}

const byValue = (one: { value: string }, other: { value: string }) => (one.value < other.value ? -1 : 1);

async function compareDimensions(projectId: string, period: Period, { facts }: Rows) {
  const { database } = server;
  const groups = (dimension: (typeof DIMENSIONS)[number]) =>
    [...Map.groupBy(facts, (fact) => fact[dimension])].flatMap(([value, own]) =>
      value === null ? [] : [{ value, ...withRates(countsOf(own)) }],
    );
  for (const dimension of DIMENSIONS) {
    const reported = await getBreakdown(database, projectId, dimension, period);
    expect(reported.map(({ emails }) => emails)).toEqual(
      reported.map(({ emails }) => emails).toSorted((one, other) => other - one),
    );
    expect(reported.map(({ name: _name, ...row }) => row).toSorted(byValue)).toEqual(
      groups(dimension).toSorted(byValue),
    );
  }
  const campaigns = groups("campaign");
  for (const [metric, of] of METRICS) {
    const top = await listTopCampaigns(database, projectId, { metric, limit: 10 }, period);
    expect(top.map((row) => row[of])).toEqual(
      top.map((row) => row[of]).toSorted((one, other) => other - one),
    );
    expect(
      top
        .map(({ id, sentCount, openedCount, clickedCount, openRate, clickRate }) =>
          [id, sentCount, openedCount, clickedCount, openRate, clickRate].join(" "),
        )
        .toSorted(),
    ).toEqual(
      campaigns
        .map(({ value, emails, opens, clicks, openRate, clickRate }) =>
          [value, emails, opens, clicks, openRate, clickRate].join(" "),
        )
        .toSorted(),
    );
  }
  const sent = campaigns.filter(({ emails }) => emails > 0);
  const average = (rate: "openRate" | "clickRate") =>
    Math.round((sent.reduce((sum, one) => sum + one[rate], 0) / Math.max(1, sent.length)) * 100) / 100;
  expect(await getCampaignTotals(database, projectId, period)).toEqual({
    total: CAMPAIGNS,
    active: 0,
    completed: CAMPAIGNS,
    averageOpenRate: average("openRate"),
    averageClickRate: average("clickRate"),
  });
}

const METRICS = [
  ["sent", "sentCount"],
  ["opened", "openedCount"],
  ["clickRate", "clickRate"],
] as const;

async function compareEvents(
  projectId: string,
  period: Period,
  { facts, events, eventsBefore, starts, arrivals }: Rows,
) {
  const { database } = server;
  const top = await listTopEvents(database, projectId, LIMITS.pageSizeMaximum.value, period);
  expect(top).toEqual(namesOf(events, eventsBefore));
  expect(await getAudience(database, projectId, period)).toEqual(
    period.days.map((date) => audienceOf(events, arrivals, date)),
  );
  const { emails, opens, clicks, openRate, clickRate } = withRates(countsOf(facts));
  expect(await getActivityStats(database, projectId, period)).toEqual({
    totalEvents: events.length,
    totalEmailsSent: emails,
    totalEmailsOpened: opens,
    totalEmailsClicked: clicks,
    totalWorkflowsStarted: starts,
    openRate,
    clickRate,
  });
}

test("equals a recount through counting, deletions and late events", async () => {
  expect.hasAssertions();
  await fc.assert(
    fc.asyncProperty(history, async (one) => {
      const reported = await notify(one);
      await take(one.steps, reported);
      await compare(one, reported.projectId);
      // Afterwards come the operations that reduce counts and add late events, whatever the steps did.
      await countNews(server.database, { lagSeconds: 0 });
      await take(LATE, reported);
      await compare(one, reported.projectId);
    }),
    { numRuns: 15 },
  );
});

test("does not count platform email, which belongs to no contact either", async () => {
  const mail = { to: "ada@example.com", subject: "s", text: "t", html: "<p>t</p>" };
  await transaction(server.database, (tx) => enqueuePlatformEmails(tx, [mail]));
  await server.rows(
    "update emails set status = 'SENT', sent_at = now(), variables = null where project_id = $1",
    SYSTEM_PROJECT_ID,
  );
  await countNews(server.database, { lagSeconds: 0 });
  expect(await server.rows("select 1 from mail_counts where project_id = $1", SYSTEM_PROJECT_ID)).toEqual([]);
});

test("keeps numbers stable during the deletion of a name while new events are counted", async () => {
  const { project } = server;
  const track = (event: string) =>
    server.call(v1.track, project.byKey, { body: { email: "ada@example.com", event } });
  const count = async () =>
    (await server.call(analytics.listTopEvents, project.byKey)).body.map(
      ({ name, count: times }) => `${name} ${times}`,
    );
  await track("old");
  await track("kept");
  await track("kept");
  expect(await count()).toEqual(["kept 2", "old 1"]);
  await vi.waitFor(async () => {
    await countNews(server.database, { lagSeconds: 0 });
    expect(
      await server.rows("select 1 from event_counts where project_id = $1 and name = 'old'", project.id),
    ).toHaveLength(1);
  }, WAIT);
  expect(await count()).toEqual(["kept 2", "old 1"]);
  await server.call(eventsContract.deleteEvents, project.byKey, { params: { eventName: "old" } });
  expect(await count()).toEqual(["kept 2"]);
  const jobs = startJobs({
    database: server.database,
    kinds: { [DELETE_EVENTS_JOB]: deleteEventsStep },
    log: createLog({ level: "silent" }),
    metrics: createMetrics(),
  });
  await vi.waitFor(
    async () =>
      expect(
        await server.rows("select 1 from jobs where project_id = $1 and state <> 'completed'", project.id),
      ).toEqual([]),
    WAIT,
  );
  await jobs.stop();
  await track("old");
  expect(await count()).toEqual(["kept 2", "old 1"]);
});
