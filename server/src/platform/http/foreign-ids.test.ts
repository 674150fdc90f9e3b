// Sends ids of another project in bodies and queries. The response is the same as for an unknown id and the other project does not change.
// The fields come from the contract, and ids in paths are tested in caller.test.ts.
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { Endpoint } from "@postloft/contract/endpoint.ts";
import { ENDPOINTS } from "@postloft/contract/endpoints.ts";
import { EXAMPLE_BODIES } from "@postloft/contract/openapi/examples.ts";
import { inputSchema, type JsonSchema } from "@postloft/contract/openapi/schemas.ts";
import { addReceivedEmails } from "../../testing/received-email.ts";
import { responsesByName, sameByName, useTestServer, type TestProject } from "../../testing/test-server.ts";
import { drawWorkflow } from "../../testing/workflow-fixture.ts";
import { listTenantTables } from "../database/tenant-rows.ts";

// Jobs do the bulk changes.
const server = useTestServer({ ROLES: "api,worker" });

/** Maps the last word of a field to the kind of object that its id refers to. */
const KINDS = {
  contactId: "contact",
  contactIds: "contact",
  excludeIds: "contact",
  segmentId: "segment",
  targetSegmentId: "segment",
  template: "template",
  templateId: "template",
  campaignId: "campaign",
  workflowId: "workflow",
  stepId: "step",
  fromStepId: "step",
  toStepId: "step",
  stepIds: "step",
  executionIds: "execution",
  ids: "email",
  threadId: "thread",
  userId: "person",
} as const;
type Kind = (typeof KINDS)[keyof typeof KINDS];
/** These ids refer to places in the imported or pasted document, or to a part of the workflow's own graph, instead of rows. */
const NO_ROWS = new Set([
  "workflows.import templates.id",
  "workflows.import segments.id",
  "workflows.pasteSteps copied.templates.id",
  "workflows.pasteSteps copied.segments.id",
  "workflows.pasteSteps transitionId",
]);

interface IdField {
  endpoint: Endpoint;
  part: "body" | "query";
  /** The path from the part down. A list of ids ends like a single id. */
  path: string[];
  isList: boolean;
}

function fieldsOf(endpoint: Endpoint, part: "body" | "query"): IdField[] {
  const found: IdField[] = [];
  const walk = (schema: JsonSchema | boolean | undefined, path: string[], isList: boolean): void => {
    if (typeof schema !== "object") return;
    if (schema.format === "uuid") found.push({ endpoint, part, path, isList });
    for (const [name, property] of Object.entries(schema.properties ?? {}))
      walk(property, [...path, name], false);
    if (!Array.isArray(schema.items)) walk(schema.items, path, true);
    for (const one of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) walk(one, path, isList);
  };
  walk(inputSchema(endpoint[part]), [], false);
  return [...new Map(found.map((field) => [nameOf(field), field])).values()];
}

const nameOf = ({ endpoint, path }: IdField) => `${endpoint.name} ${path.join(".")}`;
const FIELDS = ENDPOINTS.flatMap((one) => [...fieldsOf(one, "body"), ...fieldsOf(one, "query")]).filter(
  (field) => !NO_ROWS.has(nameOf(field)),
);

type Ids = Record<Kind, string>;
let mine: TestProject;
let ids: Ids;
let foreign: TestProject;
let foreignIds: Ids;

const WAIT = { timeout: 30_000, interval: 20 };
const SAME = "the same";
const FROM = "a@sandbox.localhost";
const CAMPAIGN = { name: "News", subject: "s", body: "b", from: FROM, audienceType: "SEGMENT" };
const QUERY = { mode: "query", filter: { search: "@" } };
const SETTING = { data: { plan: "pro" } };
/** Valid bodies except for the id, where the documentation's example is not valid. */
const BODIES: Readonly<Record<string, Record<string, unknown>>> = {
  "v1.send": { to: "ada@example.com", from: FROM },
  "campaigns.create": CAMPAIGN,
  "campaigns.replace": CAMPAIGN,
  "campaigns.resolve": { as: "sent" },
  "contacts.bulkSubscribe excludeIds": QUERY,
  "contacts.bulkUnsubscribe excludeIds": QUERY,
  "contacts.bulkDelete excludeIds": QUERY,
  "contacts.bulkUpdate contactIds": SETTING,
  "contacts.bulkUpdate excludeIds": { ...SETTING, ...QUERY },
  "contacts.bulkUpdate filter.segmentId": { ...SETTING, ...QUERY },
  "contacts.bulkSubscribe filter.segmentId": QUERY,
  "contacts.bulkUnsubscribe filter.segmentId": QUERY,
  "contacts.bulkDelete filter.segmentId": QUERY,
  "contacts.bulkUnsubscribe contactIds": {},
  "contacts.bulkAddToSegment contactIds": {},
  "contacts.bulkAddToSegment excludeIds": QUERY,
  "contacts.bulkAddToSegment filter.segmentId": QUERY,
  "executions.start segmentId": {},
  "events.track": { event: "opened" },
};

async function furnish(project: TestProject): Promise<Ids> {
  const make = async (path: string, body: unknown) =>
    (await server.call<{ id: string; data: { id: string } }>("POST", path, project.byKey, body)).body;
  const contact = await make("/contacts", { email: "ada@example.com" });
  const segment = await make("/segments", { name: "Guests", type: "STATIC" });
  const content = { name: "Hello", subject: "s", body: "b", type: "TRANSACTIONAL" };
  const template = await make("/templates", content);
  const campaign = await make("/campaigns", { ...CAMPAIGN, segmentId: segment.id });
  const workflow = await drawWorkflow(server.database, project.id, {
    steps: [["trigger", "TRIGGER"]],
    links: [],
  });
  await make("/v1/send", { to: "bob@example.com", from: FROM, subject: "s", body: "b" });
  const delivered = () =>
    server.rows<{ id: string }>(
      "select id from emails where project_id = $1 and status = 'DELIVERED'",
      project.id,
    );
  await expect.poll(async () => (await delivered()).length, WAIT).toBe(1);
  await make(`/workflows/${workflow.id}/executions`, { contactId: contact.id });
  const completed = () =>
    server.rows<{ id: string }>(
      "select id from workflow_executions where project_id = $1 and status = 'COMPLETED'",
      project.id,
    );
  await expect.poll(async () => (await completed()).length, WAIT).toBe(1);
  const [received] = await addReceivedEmails(server.database, project.id, [{}]);
  return {
    contact: contact.id,
    segment: segment.id,
    template: template.id,
    campaign: campaign.data.id,
    workflow: workflow.id,
    step: workflow.step("trigger"),
    execution: (await completed())[0]?.id ?? "",
    email: (await delivered())[0]?.id ?? "",
    person: project.owner.id,
    thread: received?.id ?? "",
  };
}

/** Returns all data of the other project except what counters and sweeps write on their own. */
async function contents(): Promise<unknown> {
  const own = (await listTenantTables(server.database)).filter(
    ({ name }) =>
      !/^jobs$|count|idempotency|mailbox|sending_hours|reaction|api_requests|consent_(heads|seals)/.test(
        name,
      ),
  );
  return Promise.all(
    own.map(({ name }) =>
      server.rows(`select t::text as row from "${name}" t where project_id = $1 order by 1`, foreign.id),
    ),
  );
}

function kindOf(field: IdField): Kind {
  const kind = (KINDS as Readonly<Record<string, Kind>>)[field.path.at(-1) ?? ""];
  if (kind === undefined) throw new Error(`Nobody knows whose id ${nameOf(field)} is.`);
  return kind;
}

const OWN_IDS: ReadonlyArray<readonly [RegExp, (own: Ids) => string]> = [
  [/\/contacts\/:id/, (own) => own.contact],
  [/\/segments\/:id/, (own) => own.segment],
  [/\/campaigns\/:id/, (own) => own.campaign],
  [/\/workflows\/:id/, (own) => own.workflow],
];

function pathOf({ path }: Endpoint): string {
  const own = OWN_IDS.find(([pattern]) => pattern.test(path))?.[1](ids) ?? randomUUID();
  return path
    .replace(":projectId", mine.id)
    .replace(":id", own)
    .replace(":stepId", ids.step)
    .replace(/:[a-zA-Z]+/g, randomUUID());
}

/** Returns the body with one id set. */
function bodyWith(field: IdField, id: string): unknown {
  const body: Record<string, unknown> = structuredClone(
    BODIES[nameOf(field)] ?? BODIES[field.endpoint.name] ?? EXAMPLE_BODIES[field.endpoint.name] ?? {},
  );
  const last = field.path.at(-1) ?? "";
  if (nameOf(field) === "workflows.addTransition toStepId") body["fromStepId"] = ids.step;
  if (field.endpoint.name === "contacts.bulkAddToSegment") body["targetSegmentId"] = ids.segment;
  const place = field.path
    .slice(0, -1)
    .reduce<Record<string, unknown>>((at, name) => (at[name] ??= {}) as Record<string, unknown>, body);
  place[last] = field.isList ? [id] : id;
  return body;
}

async function ask(field: IdField, id: string): Promise<string> {
  const { endpoint, part, path } = field;
  const caller = endpoint.caller === "member" ? { cookie: mine.owner.cookie } : mine.byKey;
  const query = part === "query" ? `?report=timeseries&${path.join(".")}=${id}` : "";
  const body = part === "body" ? bodyWith(field, id) : undefined;
  const reply = await server.call(endpoint.method, pathOf(endpoint) + query, caller, body);
  const reported = reply.text
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<id>")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<instant>");
  return `${reply.status} ${reported}`;
}

test("responds to foreign ids as to unknown ones and leaves the other project unchanged", async () => {
  mine = await server.createProject();
  foreign = await server.createProject();
  ids = await furnish(mine);
  foreignIds = await furnish(foreign);
  const before = await contents();
  const responses = await responsesByName(FIELDS, nameOf, async (field) => {
    const told = await ask(field, foreignIds[kindOf(field)]);
    const missing = await ask(field, randomUUID());
    return { told, missing: missing === told ? SAME : missing };
  });
  const same = sameByName(FIELDS, nameOf, () => ({
    told: expect.stringMatching(/^(2\d\d|404|409|422) /),
    missing: SAME,
  }));
  expect(responses).toEqual(same);
  const isBusy = async () =>
    (await server.rows("select 1 from jobs where state in ('waiting', 'active')")).length > 0;
  await expect.poll(isBusy, WAIT).toBe(false);
  expect(await contents()).toEqual(before);
});
