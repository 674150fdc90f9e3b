// Sends requests with a typo in a field name to every endpoint that rejects unknown fields. The response is never a 2xx and the error names
// the field.
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import * as projectsContract from "@postloft/contract/projects.ts";
import * as workflowSteps from "@postloft/contract/workflows/steps.ts";
import * as workflows from "@postloft/contract/workflows/workflows.ts";
import { isSessionOnly, type Endpoint } from "@postloft/contract/endpoint.ts";
import { ENDPOINTS } from "@postloft/contract/endpoints.ts";
import { EXAMPLE_BODIES } from "@postloft/contract/openapi/examples.ts";
import { unknownFieldsOf } from "@postloft/contract/unknown-fields.ts";
import { faultsOf, useTestServer } from "../../testing/test-server.ts";

const server = useTestServer({ ROLES: "api", API_RATE_LIMIT_PER_MINUTE: "0" });
const STRICT = ENDPOINTS.filter(({ unknownFields }) => unknownFields.startsWith("refused"));

const ID = "0199e0a1-7b2c-7d3e-8f40-5a6b7c8d9e0f";
const CONDITION = { field: "data.plan", operator: "equals", value: "pro" };
const SPAN = { field: "event.login", operator: "triggered", value: 2, unit: "days", window: 3 };
const GROUP = { operator: "AND", conditions: [CONDITION, { operator: "OR", conditions: [SPAN] }] };
const GROUPED = {
  logic: "AND",
  groups: [{ filters: [CONDITION], conditions: { logic: "OR", groups: [{ filters: [SPAN] }] } }],
};
const CAMPAIGN = EXAMPLE_BODIES["campaigns.create"];
const step = (type: string, config: object) => ({ type, name: "A step", config });

/** Bodies with fields that the examples of the documentation leave out. */
const MORE_BODIES: Readonly<Record<string, readonly object[]>> = {
  "campaigns.create": [
    { ...CAMPAIGN, audienceType: "FILTERED", audienceFilter: GROUP },
    { ...CAMPAIGN, audienceType: "FILTERED", audienceCondition: GROUPED, kind: "MARKETING", replyTo: null },
    { ...CAMPAIGN, audienceType: "SEGMENT", segmentId: ID, type: "HEADLESS", description: "A note" },
  ],
  "campaigns.send": [{ scheduledAt: "2100-10-01T09:00:00Z" }],
  "campaigns.test": [{ email: "ada@example.com", contactId: ID }],
  "contacts.bulkDelete": [
    {
      mode: "query",
      filter: { subscribed: true, search: "@example.org", segmentId: ID, filters: GROUP },
      excludeIds: [ID],
    },
    { mode: "query", filter: { all: true } },
    { all: true },
  ],
  "contacts.bulkUpdate": [{ contactIds: [ID], data: { plan: "pro" } }],
  "contacts.bulkAddToSegment": [{ contactIds: [ID], targetSegmentId: ID }],
  "segments.create": [{ name: "Pro", condition: GROUPED, description: "A note" }],
  "segments.addMembers": [{ emails: ["ada@example.com"], createMissing: true, subscribed: false }],
  "projects.update": [
    { defaultFrom: { name: "Ada", email: "hello@mail.example.com" }, tracking: "DISABLED" },
  ],
  "workflows.update": [
    {
      triggerType: "EVENT",
      triggerConfig: { eventName: "paid", filter: { operator: "AND", conditions: [CONDITION] } },
    },
    { triggerConfig: { eventName: "paid" } },
    { triggerType: "SEGMENT_ENTRY", triggerConfig: { segmentId: ID } },
    { triggerType: "SCHEDULE", triggerConfig: { cron: "0 9 * * *", timezone: "UTC", audienceFilter: GROUP } },
    { triggerType: "SCHEDULE", triggerConfig: { cron: "0 9 * * *", audienceType: "ALL" } },
    { name: "Other", description: "A note", allowReentry: true, expectedUpdatedAt: "2100-10-01T09:00:00Z" },
  ],
  "workflows.addStep": [
    step("SEND_EMAIL", { templateId: ID, recipient: { type: "CUSTOM", customEmail: "ada@example.com" } }),
    step("WAIT_FOR_EVENT", {
      eventName: "paid",
      timeout: 60,
      filter: { operator: "AND", conditions: [CONDITION] },
    }),
    step("CONDITION", GROUP),
    step("BRANCH", { branches: [{ name: "Paying", filter: GROUP }] }),
    step("RANDOM_SPLIT", {
      shares: [
        { name: "A", percent: 40 },
        { name: "B", percent: 60 },
      ],
    }),
    step("UPDATE_CONTACT", { subscriptionAction: "unsubscribe" }),
    step("WEBHOOK", { url: "https://example.com", method: "POST" }),
    step("EXIT", { reason: "Done" }),
  ],
  "executions.start": [{ segmentId: ID, context: {} }],
};
/** Objects with keys that the caller chooses. */
const FREE = new Set(["data", "context", "updates", "design", "headers"]);

type Path = Array<string | number>;

/** Returns the path of every key in a body, including nested objects. */
function keysOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const at = Array.isArray(value) ? Number(name) : name;
    const below = FREE.has(name) ? [] : keysOf(inner, [...path, at]);
    return Array.isArray(value) ? below : [[...path, at], ...below];
  });
}

/** Whether a path is within an item of a batch, which has its own result. A warning there names the field. */
const isInBatch = ({ batchOf }: Endpoint, path: Path) => path[0] === batchOf && path.length > 1;

/** Returns a copy of a body in which the key at a path has another name. */
function renamed(value: unknown, [first, ...rest]: Path, name: string): unknown {
  if (Array.isArray(value)) return value.map((one, at) => (at === first ? renamed(one, rest, name) : one));
  return Object.fromEntries(
    Object.entries(value as object).map(([key, inner]) =>
      key !== first ? [key, inner] : rest.length === 0 ? [name, inner] : [key, renamed(inner, rest, name)],
    ),
  );
}

/** Returns names with one typo: a letter missing, doubled, replaced or in the other case. */
function slipsIn(name: string): string[] {
  return [...name].flatMap((letter, at) => {
    const [before, after] = [name.slice(0, at), name.slice(at + 1)];
    const other = letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase();
    return [before + after, before + letter + letter + after, `${before}x${after}`, before + other + after];
  });
}

const bodiesOf = ({ name }: Endpoint) => [EXAMPLE_BODIES[name] ?? {}, ...(MORE_BODIES[name] ?? [])];
const fieldsOf = (schema: z.ZodType) => (schema instanceof z.ZodObject ? Object.keys(schema.shape) : []);

const ids: Record<string, string> = {};

/** Creates the objects in the paths, so that only the typo can be rejected. */
beforeAll(async () => {
  const { byKey } = server.project;
  const make = async (path: string, body: unknown) => {
    const reply = await server.call<{ id?: string; data?: { id: string } }>(
      "POST",
      path,
      byKey,
      sendable(body),
    );
    if (reply.status !== 201) throw new Error(`${path} was refused: ${reply.text}`);
    return reply.body.data?.id ?? reply.body.id ?? "";
  };
  await make("/contacts", { email: "ada@example.com" });
  ids["campaigns"] = await make("/campaigns", CAMPAIGN);
  ids["templates"] = await make("/templates", EXAMPLE_BODIES["templates.create"]);
  ids["locale"] = "de";
  ids["segments"] = await make("/segments", { name: "Static", type: "STATIC" });
  ids["workflows"] = await make("/workflows", { name: "Welcome", eventName: "signed-up" });
  ids["stepId"] = await make(`/workflows/${ids["workflows"]}/steps`, {
    ...EXAMPLE_BODIES["workflows.addStep"],
  });
  const { body } = await server.call(workflows.getWorkflow, byKey, { params: { id: ids["workflows"] } });
  ids["transitionId"] = body.transitions[0]?.id ?? "";
});

/** Returns the body with senders at the domain that every project may send from here. */
const sendable = (body: unknown) => JSON.stringify(body).replaceAll("mail.example.com", "sandbox.localhost");

function pathOf({ path }: Endpoint): string {
  const noun = path.split("/")[1] ?? "";
  return path.replaceAll(/:([a-zA-Z]+)/g, (_all, name: string) =>
    name === "projectId" ? server.project.id : (ids[name === "id" ? noun : name] ?? ID),
  );
}

async function send(endpoint: Endpoint, body: unknown, query = "") {
  const { byKey, owner } = server.project;
  const caller = isSessionOnly(endpoint) ? { cookie: owner.cookie } : byKey;
  return server.call(endpoint.method, pathOf(endpoint) + query, caller, sendable(body));
}

test("rejects unknown fields at the endpoints that decide recipients, time or conditions", () => {
  const expected = ENDPOINTS.filter(
    ({ name, takesBody, bodyKind }) =>
      takesBody &&
      bodyKind === "json" &&
      (/^(campaigns|segments|projects)\./.test(name) ||
        name.startsWith("contacts.bulk") ||
        /^templates\.(create|update|test)$/.test(name) ||
        /^workflows\.(create|update|import|add|insert)/.test(name)),
  );
  const strict = new Set(STRICT.map(({ name }) => name));
  expect(expected.map(({ name }) => name).filter((name) => !strict.has(name))).toEqual([]);
  expect(expected.length).toBeGreaterThan(25);
});

test.for(STRICT.map((endpoint) => [endpoint.name, endpoint] as const))(
  "%s rejects a body with a typo in a key",
  async ([, endpoint]) => {
    for (const body of bodiesOf(endpoint)) {
      expect(unknownFieldsOf(endpoint, body)).toEqual([]);
      for (const path of keysOf(body).filter((one) => !isInBatch(endpoint, one))) {
        const key = String(path.at(-1));
        const known = fieldsOf(endpoint.body);
        const slips = slipsIn(key).filter((slip) => slip !== "" && slip !== key && !known.includes(slip));
        // Sends one typo of each key over HTTP, which also checks the config of stored steps.
        const slip = slips[slips.length >> 1] ?? `${key}x`;
        const sent = renamed(body, path, slip);
        const reply = await send(endpoint, sent);
        const field = [...path.slice(0, -1), slip].join(".");
        expect({ sent, status: reply.status, faults: faultsOf(reply) }).toEqual({
          sent,
          status: 422,
          faults: expect.arrayContaining([`${field} unknown_field`]),
        });
        const isInShape = unknownFieldsOf(endpoint, sent).length > 0;
        const missed = slips.filter(
          (other) => unknownFieldsOf(endpoint, renamed(body, path, other)).length === 0,
        );
        expect(isInShape ? missed : []).toEqual([]);
      }
    }
  },
);

test("suggests the right name for a misspelled field", async () => {
  const misspelled: Array<[string, object, string]> = [
    ["campaigns.send", { scheduleFor: "2100-01-01T00:00:00Z" }, "Did you mean `scheduledFor`?"],
    ["campaigns.send", { scheduled_for: "2100-01-01T00:00:00Z" }, "Did you mean `scheduledFor`?"],
    ["campaigns.send", { sendAt: "2100-01-01T00:00:00Z" }, "Did you mean `scheduledFor`?"],
    ["campaigns.send", { campaign: { scheduledFor: "2100-01-01T00:00:00Z" } }, "not inside `campaign`"],
    ["campaigns.send", { data: { scheduledFor: "2100-01-01T00:00:00Z" } }, "not inside `data`"],
    ["workflows.update", { enable: true }, "Did you mean `enabled`?"],
    ["segments.create", { name: "Pro", filter: GROUP }, "Did you mean `filters`?"],
  ];
  for (const [name, body, sentence] of misspelled) {
    const endpoint = STRICT.find((one) => one.name === name);
    if (endpoint === undefined) throw new Error(`There is no ${name}.`);
    const reply = await send(endpoint, body);
    expect([name, reply.status]).toEqual([name, 422]);
    expect(reply.body.error.errors?.map(({ message }) => message).join(" ")).toContain(sentence);
  }
});

test("accepts the complete response of a resource as a request body", async () => {
  const { byKey } = server.project;
  const paths = [
    ["PUT", `/campaigns/${ids["campaigns"]}`],
    ["PATCH", `/templates/${ids["templates"]}`],
    ["PATCH", `/segments/${ids["segments"]}`],
    ["PATCH", `/workflows/${ids["workflows"]}`],
  ] as const;
  for (const [method, path] of paths) {
    const { body: whole } = await server.call<object>("GET", path, byKey);
    const reply = await server.call(method, path, byKey, whole);
    expect([path, reply.status, reply.text.slice(0, 300)]).toEqual([path, 200, expect.any(String)]);
  }
  const { body: workflow } = await server.call<{ steps: Array<{ id: string }> }>(
    "GET",
    `/workflows/${ids["workflows"]}`,
    byKey,
  );
  for (const whole of workflow.steps) {
    const reply = await server.call(workflowSteps.updateStep, byKey, {
      params: { id: ids["workflows"] ?? "", stepId: whole.id },
      anyBody: whole,
    });
    expect([reply.status, reply.text.slice(0, 300)]).toEqual([200, expect.any(String)]);
  }
  const { id, owner } = server.project;
  const { body: projects } = await server.call(projectsContract.listProjects, {
    cookie: owner.cookie,
  });
  const project = projects.find((one) => one.id === id);
  const reply = await server.call(
    projectsContract.updateProject,
    { cookie: owner.cookie },
    { params: { projectId: id }, anyBody: project },
  );
  expect([reply.status, reply.text.slice(0, 300)]).toEqual([200, expect.any(String)]);
});

test("rejects a query parameter that belongs in the body", async () => {
  const sending = STRICT.find(({ name }) => name === "campaigns.send");
  if (sending === undefined) throw new Error("There is no campaigns.send.");
  for (const name of ["scheduledFor", "scheduled_for", "scheduledAt", "scheduleFor"]) {
    const reply = await send(sending, {}, `?${name}=2100-01-01T00:00:00Z`);
    expect(faultsOf(reply)).toEqual([`${name} custom`]);
  }
  const { body } = await server.call<{ status: string }>(
    "GET",
    `/campaigns/${ids["campaigns"]}`,
    server.project.byKey,
  );
  expect(body.status).toBe("DRAFT");
});

const NOT_A_TIME: ReadonlyArray<readonly [string, unknown]> = [
  ["null", { scheduledFor: null }],
  ["null in the other spelling", { scheduledAt: null }],
  ["a day without a time", { scheduledFor: "2100-01-01" }],
  ["a time without an offset", { scheduledFor: "2100-01-01T00:00:00" }],
  ["a date that does not exist", { scheduledFor: "2100-02-30T00:00:00Z" }],
  ["a number", { scheduledFor: 4102444800 }],
  ["an empty text", { scheduledFor: "" }],
  ["the past", { scheduledFor: "2020-01-01T00:00:00Z" }],
  ["two different times", { scheduledFor: "2100-01-01T00:00:00Z", scheduledAt: "2100-01-02T00:00:00Z" }],
  ["a misspelled name", { scheduledfor: "2100-01-01T00:00:00Z" }],
  ["a wrapped body", { data: { scheduledFor: "2100-01-01T00:00:00Z" } }],
  ["a body named after the resource", { campaign: { scheduledFor: "2100-01-01T00:00:00Z" } }],
  ["a list", [{ scheduledFor: "2100-01-01T00:00:00Z" }]],
  ["a text", "2100-01-01T00:00:00Z"],
  ["null as the whole body", null],
];

test.for(NOT_A_TIME)("rejects sending a campaign with %s and sends nothing", async ([, body]) => {
  const { byKey } = server.project;
  const path = `/campaigns/${ids["campaigns"]}`;
  const before = await server.countRows();
  const reply = await server.call("POST", `${path}/send`, byKey, JSON.stringify(body));
  expect([reply.status, reply.text]).toEqual([422, expect.any(String)]);
  expect((await server.call<{ status: string }>("GET", path, byKey)).body.status).toBe("DRAFT");
  expect(await server.countRows()).toEqual(before);
});
