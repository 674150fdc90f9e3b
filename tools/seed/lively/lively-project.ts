// Fills an empty project with a simulated history of 90 days: contacts, campaigns, workflows, orders, and the result of every email. What can
// be done now goes through the API. The past, which no API can write, is simulated in memory and inserted in one transaction.
import { sql } from "kysely";
import type { Graph } from "@postloft/contract/workflows/graph.ts";
import type { TemplateType } from "@postloft/contract/templates.ts";
import type { ApiClient } from "../../../e2e/api-client.ts";
import { transaction, type Database } from "../../../server/src/platform/database/database.ts";
import { idTimeMs } from "../../../server/src/platform/ids.ts";
import { storeLetter } from "./contents.ts";
import { CAMPAIGNS, createCampaigns, createTemplates, TEMPLATES } from "./definitions.ts";
import { backdate, countHistory, isEmpty, markSent } from "./derived.ts";
import { createHabits } from "./habits.ts";
import { addDeliveries, addReceived, addRequests, type Wanted } from "./other-rows.ts";
import { addContacts, createPeople, DAY_MS, HISTORY_DAYS, type People } from "./people.ts";
import { createRandom, type Random } from "./random.ts";
import { createRows, type Rows } from "./rows.ts";
import { SentEmails, type Letter } from "./sent-emails.ts";
import { createTimeline, type Timeline } from "./timeline.ts";
import { createWorkflows, type CreatedWorkflow } from "./workflow-definitions.ts";
import { WorkflowRuns, graphOf, type RunWorkflow } from "./workflow-runs.ts";

export interface LivelyRequest {
  database: Database;
  /** Calls the API with a secret key of the project. */
  api: ApiClient;
  projectId: string;
  /** Equal seeds produce the same people, who do the same. */
  seed: number;
  /** The end of the history; defaults to now. */
  until?: Date;
}

/** IDs of what the project is about, for pictures of it. */
export interface Lively {
  templates: ReadonlyMap<string, string>;
  /** In the order of `CAMPAIGNS`. */
  campaigns: readonly string[];
  workflows: readonly CreatedWorkflow[];
  segmentId: string;
  endpointId: string;
}

const HOUR_MS = 3_600_000;
const SENDING_MS = 9 * 60_000;
/** Webhook endpoints get the events of the last days, as if they were created then. */
const ENDPOINT_DAYS = 20;
const ASKS = 0.03;

interface World {
  random: Random;
  timeline: Timeline;
  rows: Rows;
  people: People;
  sent: SentEmails;
}

/** @returns null if the project is not empty, because its counts could not be made from the history alone */
export async function fillLively(request: LivelyRequest): Promise<Lively | null> {
  const { database, api, projectId, seed, until = new Date() } = request;
  if (!(await transaction(database, (tx) => isEmpty(tx, projectId)))) return null;
  const written = await write(api);
  const rows = createRows(projectId);
  const letters = await readLetters(database, projectId, written, rows);
  const workflows = await readWorkflows(database, projectId, written, letters.ofTemplates);
  const random = createRandom(seed);
  const world = play({ random, rows, endMs: until.getTime() }, letters, workflows);
  await store(database, projectId, { ...world, written });
  await finish(api, written);
  return written;
}

/** Creates the segment, templates, campaigns, workflows and webhook endpoint. */
async function write(api: ApiClient): Promise<Lively> {
  const segment = { name: "Paying customers", filters: PAYING, trackMembership: false };
  const { id: segmentId } = await api.post<{ id: string }>("/segments", segment);
  const templates = await createTemplates(api);
  const campaigns = await createCampaigns(api, segmentId);
  const workflows = await createWorkflows(api, templates);
  const { id: endpointId } = await api.post<{ id: string }>("/webhooks/endpoints", {
    url: "https://hooks.nordlicht.example/orders",
    description: "The warehouse",
    eventTypes: ["order-placed"],
    ordered: true,
  });
  return { segmentId, templates, campaigns, workflows, endpointId };
}

const PAYING = {
  operator: "AND",
  conditions: [{ field: "data.plan", operator: "in", value: ["pro", "team"] }],
};

interface Letters {
  ofTemplates: ReadonlyMap<string, Letter>;
  ofCampaigns: readonly Letter[];
}

/** Stores the contents of all emails. */
async function readLetters(
  database: Database,
  projectId: string,
  { templates, campaigns }: Lively,
  rows: Rows,
): Promise<Letters> {
  return transaction(database, async (tx) => {
    const deps = { tx, projectId, rows };
    const ofTemplates = new Map<string, Letter>();
    const columns = ["id", "type", "subject", "body", "previewText", "fromAddress", "fromName"] as const;
    const stored = await tx
      .selectFrom("templates")
      .select(columns)
      .where("projectId", "=", projectId)
      .execute();
    for (const { key, type, links, opens, clicks } of TEMPLATES) {
      const row = stored.find(({ id }) => id === templates.get(key));
      if (row === undefined) throw new Error(`There is no template ${key}.`);
      const isTransactional = type === "TRANSACTIONAL";
      const written = { ...row, type, fromAddress: row.fromAddress ?? "" };
      const kind = isTransactional ? ("TRANSACTIONAL" as const) : ("WORKFLOW" as const);
      const labels = isTransactional ? { tags: [key] } : {};
      const letter = { kind, links, opens, clicks, templateId: row.id, ...labels };
      ofTemplates.set(row.id, await storeLetter(deps, written, letter));
    }
    const ofCampaigns: Letter[] = [];
    const storedCampaigns = await tx
      .selectFrom("campaigns")
      .select(["id", "kind", "subject", "body", "previewText", "fromAddress", "fromName"])
      .where("projectId", "=", projectId)
      .execute();
    for (const [at, { links, opens, clicks }] of CAMPAIGNS.entries()) {
      const campaignId = campaigns[at] ?? "";
      const row = storedCampaigns.find(({ id }) => id === campaignId);
      if (row === undefined) throw new Error(`There is no campaign ${at}.`);
      const written = { ...row, type: row.kind as TemplateType };
      ofCampaigns.push(
        await storeLetter(deps, written, { kind: "CAMPAIGN", links, opens, clicks, campaignId }),
      );
    }
    return { ofTemplates, ofCampaigns };
  });
}

async function readWorkflows(
  database: Database,
  projectId: string,
  { workflows }: Lively,
  letters: ReadonlyMap<string, Letter>,
): Promise<RunWorkflow[]> {
  const versions = await database
    .selectFrom("workflow_versions")
    .select(["workflowId", "graph"])
    .where("projectId", "=", projectId)
    .execute();
  return workflows
    .filter(({ isEnabled }) => isEnabled)
    .map((workflow) => {
      const version = versions.find(({ workflowId }) => workflowId === workflow.id);
      return { ...workflow, graph: graphOf(version?.graph as Graph), letters };
    });
}

interface Played extends World {
  endMs: number;
  orders: readonly Wanted[];
  sentCampaigns: ReadonlyArray<{ at: number; startedMs: number; recipients: number }>;
}

/** Plays the history in memory. */
function play(
  { random, rows, endMs }: { random: Random; rows: Rows; endMs: number },
  { ofTemplates, ofCampaigns }: Letters,
  workflows: readonly RunWorkflow[],
): Played {
  const timeline = createTimeline(endMs);
  const orders: Wanted[] = [];
  const letterOf = (tag: string) =>
    [...ofTemplates.values()].find(({ tags }) => tags?.includes(tag) === true);
  const people = createPeople(
    { random, timeline, rows },
    (person, ms) => habits.signUp(person, ms),
    (person, ms) => habits.begin(person, ms),
  );
  const sent = new SentEmails({ random, timeline, rows, people });
  const runs = new WorkflowRuns({ random, timeline, rows, sent }, workflows);
  const send = (tag: string) => (person: People["all"][number], atMs: number) => {
    const letter = letterOf(tag);
    if (letter === undefined) return;
    const emailId = sent.send(letter, person, atMs);
    if (random.chance(ASKS))
      timeline.at(atMs + random.delay(30 * HOUR_MS), (ms) =>
        addReceived({ rows, random }, { person, emailId, from: letter.from, atMs: ms }),
      );
  };
  const habits = createHabits(
    { random, timeline, rows },
    {
      happened(event) {
        if (event.name === "order-placed" && event.atMs > endMs - ENDPOINT_DAYS * DAY_MS) orders.push(event);
        runs.happened(event);
      },
      order: send("receipt"),
      forget: send("password"),
    },
  );
  const sentCampaigns: Array<Played["sentCampaigns"][number]> = [];
  for (const [at, { sentDaysAgo, isForPaying }] of CAMPAIGNS.entries()) {
    const letter = ofCampaigns[at];
    if (sentDaysAgo === undefined || letter === undefined) continue;
    const day = Math.floor((endMs - sentDaysAgo * DAY_MS) / DAY_MS) * DAY_MS;
    timeline.at(day + random.between(8.5, 10.5) * HOUR_MS, (startedMs) => {
      const recipients = people.all.filter(
        ({ subscribed, data }) => subscribed && (isForPaying === undefined || data["plan"] !== "free"),
      );
      for (const person of recipients)
        timeline.at(startedMs + random.next() * SENDING_MS, (ms) => void sent.send(letter, person, ms));
      sentCampaigns.push({ at, startedMs, recipients: recipients.length });
    });
  }
  timeline.play();
  addContacts(rows, people.all, idTimeMs);
  sent.addRows();
  runs.addRows();
  addRequests(rows, random, endMs);
  return { random, timeline, rows, people, sent, endMs, orders, sentCampaigns };
}

async function store(
  database: Database,
  projectId: string,
  { rows, random, endMs, orders, sentCampaigns, written }: Played & { written: Lively },
): Promise<void> {
  const { campaigns, endpointId } = written;
  const log = await transaction(database, async (tx) => {
    const { rows: streams } = await sql<{ lastNumber: number }>`
      select last_number from event_streams where project_id = ${projectId} for update`.execute(tx);
    return Number(streams[0]?.lastNumber ?? 0);
  });
  const lastNumber = addDeliveries({ rows, random }, endpointId, log, orders);
  await transaction(database, async (tx) => {
    await rows.insert(tx);
    await countHistory(tx, projectId);
    for (const { at, startedMs, recipients } of sentCampaigns)
      await markSent(
        tx,
        { projectId, id: campaigns[at] ?? "" },
        { startedAt: new Date(startedMs), finishedAt: new Date(startedMs + SENDING_MS), recipients },
      );
    await sql`update event_streams set last_number = ${lastNumber} where project_id = ${projectId}`.execute(
      tx,
    );
    await sql`
      update webhook_endpoints set position = ${lastNumber}, previous = ${lastNumber}
      where project_id = ${projectId} and id = ${endpointId}`.execute(tx);
    await backdate(tx, projectId, new Date(endMs - (HISTORY_DAYS + 5) * DAY_MS));
  });
}

/** Does what needs the history: enables the workflows, schedules a campaign and counts the segments. */
async function finish(api: ApiClient, { workflows, campaigns, segmentId }: Lively): Promise<void> {
  for (const { id, isEnabled } of workflows)
    if (isEnabled) await succeed(api, "PATCH", `/workflows/${id}`, { enabled: true });
  for (const [at, { dueInDays }] of CAMPAIGNS.entries())
    if (dueInDays !== undefined)
      await api.post(`/campaigns/${campaigns[at]}/send`, {
        scheduledFor: new Date(Date.now() + dueInDays * DAY_MS).toISOString(),
      });
  await api.post(`/segments/${segmentId}/refresh`, {});
  const vips = [{ field: "data.vip", operator: "equals", value: true }];
  await api.post("/segments", {
    name: "VIPs",
    filters: { operator: "AND", conditions: vips },
  });
  const active = [{ field: "event.order-placed", operator: "triggeredWithin", value: 30, unit: "days" }];
  await api.post("/segments", { name: "Ordered lately", filters: { operator: "AND", conditions: active } });
  await api.post("/suppressions", { emails: ["former.partner@example.com", "test@example.org"] });
}

async function succeed(api: ApiClient, method: string, path: string, body: unknown): Promise<void> {
  const { status, body: said } = await api.call(method, path, body);
  if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${JSON.stringify(said)}`);
}
