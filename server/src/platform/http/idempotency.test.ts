// Tests that a repeated request with an idempotency key has one effect and one response, even after failures in between.
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import * as campaignActions from "@postloft/contract/campaign-actions.ts";
import * as contacts from "@postloft/contract/contacts.ts";
import * as domains from "@postloft/contract/domains.ts";
import * as linkDomains from "@postloft/contract/link-domains.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { endpoint } from "@postloft/contract/endpoint.ts";
import { ENDPOINTS } from "@postloft/contract/endpoints.ts";
import { EXAMPLE_BODIES } from "@postloft/contract/openapi/examples.ts";
import {
  faultsOf,
  errorOf,
  useTestServer,
  type OneServer,
  type TestCaller,
  type TestProject,
} from "../../testing/test-server.ts";
import { addReceivedEmails } from "../../testing/received-email.ts";
import { addFailedDelivery } from "../../testing/event-delivery.ts";
import { ONE_PIXEL, uploadOf } from "../../testing/upload.ts";
import { drawWorkflow } from "../../testing/workflow-fixture.ts";
import { createSealer } from "../crypto.ts";
import { createHttp } from "./http.ts";
import { ok, route } from "./route.ts";
import {
  createKeyTurns,
  findResponse,
  keyedRequest,
  runWithoutRepeats,
  storeResponses,
  sweepKeys,
} from "./idempotency.ts";
import { createLog } from "../log.ts";
import { createMetrics } from "../metrics.ts";
import { transaction } from "../database/database.ts";
import { AppError } from "../app-error.ts";

const server = useTestServer({ ROLES: "api" });
let another: OneServer;
beforeAll(async () => {
  another = await server.startAnother();
});
let used = 0;
const newKey = () => `key-${++used}`;
const withKey = (caller: TestCaller, key: string, headers = {}): TestCaller => ({
  ...caller,
  headers: { "idempotency-key": key, ...headers },
});

const mail = (to: string) => ({ to, from: "a@sandbox.localhost", subject: "Hello", body: "<p>Hello</p>" });

interface CallToRepeat {
  path: string;
  body?: unknown;
  /** Set if the body is not JSON. */
  headers?: Readonly<Record<string, string>>;
}

/** Creates an object and returns its id; some creations respond with an envelope. */
async function make({ byKey }: TestProject, path: string, body: unknown): Promise<string> {
  const reply = await server.call<{ id?: string; data?: { id: string } }>("POST", path, byKey, body);
  return reply.body.id ?? reply.body.data?.id ?? "";
}

const contact = (project: TestProject, name: string) =>
  make(project, "/contacts", { email: `${name}@example.com` });
const SUBSCRIBED = {
  operator: "AND",
  conditions: [{ field: "subscribed", operator: "equals", value: true }],
};
const template = (name: string) => ({ name, subject: "s", body: "b", type: "TRANSACTIONAL" });
const draft = (name: string) => ({
  name,
  subject: "s",
  body: "b",
  from: "a@sandbox.localhost",
  audienceType: "ALL",
});

/** Creates a campaign to one contact and sends it unless it stays a draft. */
async function campaign(project: TestProject, name: string, sent: "draft" | "sent"): Promise<string> {
  await contact(project, name);
  const id = await make(project, "/campaigns", draft(name));
  if (sent === "sent")
    await server.call(campaignActions.sendCampaign, project.byKey, { params: { id }, body: {} });
  return `/campaigns/${id}`;
}

function csvUpload(path: string, name: string): CallToRepeat {
  return {
    path,
    headers: { "content-type": "multipart/form-data; boundary=between-parts" },
    body: `--between-parts\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\nContent-Type: text/csv\r\n\r\nemail\n${name}@example.com\r\n--between-parts--\r\n`,
  };
}

async function bulk(
  project: TestProject,
  name: string,
  operation: string,
  more: object = {},
): Promise<CallToRepeat> {
  return {
    path: `/contacts/bulk-${operation}`,
    body: { contactIds: [await contact(project, name)], ...more },
  };
}

/** Creates an email in a final state, as part of a campaign or on its own, and returns its id. */
async function stranded(
  project: TestProject,
  name: string,
  { status, campaign: path }: { status: string; campaign: string | null },
): Promise<string> {
  const { body } = await server.call(v1.send, project.byKey, { body: mail(`${name}@example.com`) });
  const id = body.data.emails[0]?.email ?? "";
  await server.rows(
    "update emails set status = $1, campaign_id = $2 where id = $3",
    status,
    path?.split("/")[2] ?? null,
    id,
  );
  return id;
}

const doubtful = (project: TestProject, name: string, path: string | null) =>
  stranded(project, name, { status: "UNCONFIRMED", campaign: path });

async function pauseForExample(projectId: string, campaignId: string | null): Promise<void> {
  await server.rows(
    `insert into paused_destinations (project_id, campaign_id, destination, domains, answer, try_at)
     values ($1, $2, 'example.com', '{example.com}', '550 5.7.1 no', now() + interval '1 hour')`,
    projectId,
    campaignId,
  );
}

const endpointOf = (project: TestProject) =>
  make(project, "/webhooks/endpoints", { url: "https://hooks.example.com", eventTypes: ["*"] });

/** Creates a workflow with a contact that is at a step or failed there. */
async function execution(project: TestProject, name: string, state: "RUNNING" | "FAILED" | "none") {
  const workflow = await drawWorkflow(server.database, project.id, {
    steps: [["trigger", "TRIGGER"]],
    links: [],
  });
  const path = `/workflows/${workflow.id}`;
  const contactId = await contact(project, name);
  if (state === "none") return { path, contactId, id: "", stepId: workflow.step("trigger") };
  const id = await make(project, `${path}/executions`, { contactId });
  await server.rows("update workflow_executions set status = $1, due_at = null where id = $2", state, id);
  return { path, contactId, id, stepId: workflow.step("trigger") };
}

/** A successful call for each POST that a key may make. */
const CASES: Record<string, (project: TestProject, name: string) => Promise<CallToRepeat>> = {
  "v1.track": async (_project, name) => ({
    path: "/v1/track",
    body: { email: `${name}@example.com`, event: "opened", data: { n: 1 } },
  }),
  "v1.send": async (_project, name) => ({ path: "/v1/send", body: mail(`${name}@example.com`) }),
  "v1.sendBatch": async (_project, name) => ({
    path: "/v1/send/batch",
    body: { emails: [mail(`${name}@example.com`)] },
  }),
  "events.track": async (_project, name) => ({
    path: "/events/track",
    body: { email: `${name}@example.com`, event: "opened" },
  }),
  "emails.resolve": async (project, name) => ({
    path: `/emails/${await doubtful(project, name, null)}/resolve`,
    body: { as: "sent" },
  }),
  "emails.cancel": async (project, name) => {
    const scheduledFor = new Date(Date.now() + 86_400_000).toISOString();
    const body = { ...mail(`${name}@example.com`), scheduledFor };
    const sent = await server.call(v1.send, project.byKey, { body });
    return { path: `/emails/${sent.body.data.emails[0]?.email}/cancel`, body: {} };
  },
  "received.reply": async ({ id }, name) => {
    const [email] = await addReceivedEmails(server.database, id, [{ from: `${name}@example.com` }]);
    return {
      path: `/received-emails/${email?.id}/reply`,
      body: { from: "a@sandbox.localhost", body: "<p>Hello</p>" },
    };
  },
  "emails.release": async ({ id }) => {
    await pauseForExample(id, null);
    return { path: "/emails/release", body: {} };
  },
  "v1.verify": async (_project, name) => ({ path: "/v1/verify", body: { email: `${name}@example.com` } }),
  "contacts.upsert": async (_project, name) => ({
    path: "/contacts",
    body: { email: `${name}@example.com`, data: { n: 1 } },
  }),
  "contacts.lookup": async (_project, name) => ({
    path: "/contacts/lookup",
    body: { emails: [`${name}@example.com`] },
  }),
  "contacts.search": async () => ({ path: "/contacts/search", body: { filters: SUBSCRIBED } }),
  "domains.create": async (_project, name) => ({
    path: "/domains",
    body: { domain: `${name}.example.com` },
  }),
  "domains.rotateKey": async ({ byKey }, name) => {
    const domain = { domain: `${name}.example.com` };
    const { body } = await server.call(domains.createDomain, byKey, { body: domain });
    return { path: `/domains/${body.id}/rotate-key` };
  },
  "domains.checkLinkDomain": async ({ byKey }, name) => {
    await server.call(linkDomains.setLinkDomain, byKey, { body: { domain: `${name}.example.com` } });
    return { path: "/link-domain/check" };
  },
  "webhooks.createEndpoint": async (_project, name) => ({
    path: "/webhooks/endpoints",
    body: { url: `https://${name}.example.com`, eventTypes: ["*"] },
  }),
  "webhooks.rotateEndpointSecret": async (project) => ({
    path: `/webhooks/endpoints/${await endpointOf(project)}/rotate-secret`,
  }),
  "webhooks.testEndpoint": async (project) => ({
    path: `/webhooks/endpoints/${await endpointOf(project)}/test`,
  }),
  "webhooks.replay": async (project) => ({
    path: `/webhooks/endpoints/${await endpointOf(project)}/replay`,
    body: { after: 0 },
  }),
  "webhooks.resendDelivery": async (project) => {
    const id = await endpointOf(project);
    const deliveryId = await addFailedDelivery(server, project.id, id);
    return { path: `/webhooks/endpoints/${id}/deliveries/${deliveryId}/resend` };
  },
  "webhooks.resendFailed": async (project) => {
    const id = await endpointOf(project);
    await addFailedDelivery(server, project.id, id);
    return { path: `/webhooks/endpoints/${id}/resend-failed` };
  },
  "webhooks.rotateSecret": async () => ({ path: "/webhooks/secret/rotate" }),
  "contacts.bulkSubscribe": (project, name) => bulk(project, name, "subscribe"),
  "contacts.bulkUnsubscribe": (project, name) => bulk(project, name, "unsubscribe"),
  "contacts.bulkDelete": (project, name) => bulk(project, name, "delete"),
  "contacts.bulkUpdate": (project, name) => bulk(project, name, "update", { data: { plan: "pro" } }),
  "contacts.bulkAddToSegment": async (project, name) =>
    bulk(project, name, "add-to-segment", {
      targetSegmentId: await make(project, "/segments", { name, type: "STATIC" }),
    }),
  "contacts.undoImport": async (project, name) => {
    const { path, body, headers } = csvUpload("/contacts/import", name);
    const queued = await server.call<{ jobId: string }>(
      "POST",
      path,
      withKey(project.byKey, newKey(), headers),
      body,
    );
    // No process runs jobs here.
    await server.rows(
      "update jobs set state = 'completed', result = '{}', finished_at = now() where id = $1",
      queued.body.jobId,
    );
    return { path: `/contacts/import/${queued.body.jobId}/undo`, body: {} };
  },
  "contacts.import": async (_project, name) => csvUpload("/contacts/import", name),
  "suppressions.add": async (_project, name) => ({
    path: "/suppressions",
    body: { emails: [`${name}@example.com`] },
  }),
  "suppressions.import": async (_project, name) => csvUpload("/suppressions/import", name),
  "uploads.create": async (_project, name) => {
    const { contentType, body } = uploadOf(Buffer.concat([ONE_PIXEL, Buffer.from(name)]), { part: "image" });
    return { path: "/uploads/image", headers: { "content-type": contentType }, body };
  },
  "uploads.deleteUnused": async () => ({ path: "/uploads/delete-unused" }),
  "contacts.resetFieldType": async (project, name) => {
    await server.call(contacts.upsertContact, project.byKey, {
      body: {
        email: `${name}@example.com`,
        data: { [name]: 1 },
      },
    });
    return { path: `/contacts/fields/${name}/reset-type` };
  },
  "contacts.createView": async (_project, name) => ({ path: "/contacts/views", body: { name, query: {} } }),
  "segments.create": async (_project, name) => ({ path: "/segments", body: { name, filters: SUBSCRIBED } }),
  "segments.preview": async () => ({ path: "/segments/preview", body: { filters: SUBSCRIBED } }),
  "segments.explain": async (project, name) => ({
    path: "/segments/explain",
    body: { filters: SUBSCRIBED, contactId: await contact(project, name) },
  }),
  "segments.addMembers": async (project, name) => ({
    path: `/segments/${await make(project, "/segments", { name, type: "STATIC" })}/members`,
    body: { emails: [`${name}@example.com`], createMissing: true },
  }),
  "segments.compute": async (project, name) => {
    await contact(project, name);
    const tracked = { name, filters: SUBSCRIBED, trackMembership: true };
    return { path: `/segments/${await make(project, "/segments", tracked)}/compute` };
  },
  "segments.refresh": async (project, name) => ({
    path: `/segments/${await make(project, "/segments", { name, filters: SUBSCRIBED })}/refresh`,
  }),
  "templates.create": async (_project, name) => ({ path: "/templates", body: template(name) }),
  "templates.duplicate": async (project, name) => ({
    path: `/templates/${await make(project, "/templates", template(name))}/duplicate`,
  }),
  "templates.test": async (project, name) => ({
    path: `/templates/${await make(project, "/templates", template(name))}/test`,
    body: { email: "me@example.com", from: "hello@sandbox.localhost" },
  }),
  "templates.restoreVersion": async (project, name) => {
    const path = `/templates/${await make(project, "/templates", template(name))}`;
    await server.call("PATCH", path, project.byKey, { body: "<p>Other</p>" });
    const { body } = await server.call<{ versions: Array<{ id: string }> }>(
      "GET",
      `${path}/versions`,
      project.byKey,
    );
    return { path: `${path}/versions/${body.versions[0]?.id ?? ""}/restore` };
  },
  "templates.preview": async () => ({ path: "/templates/preview", body: { subject: "s", body: "b" } }),
  "campaigns.create": async (_project, name) => ({ path: "/campaigns", body: draft(name) }),
  "campaigns.duplicate": async (project, name) => ({
    path: `${await campaign(project, name, "draft")}/duplicate`,
  }),
  "campaigns.send": async (project, name) => ({
    path: `${await campaign(project, name, "draft")}/send`,
    body: {},
  }),
  "campaigns.test": async (project, name) => ({
    path: `${await campaign(project, name, "draft")}/test`,
    body: { email: `${name}@example.com` },
  }),
  "campaigns.cancel": async (project, name) => ({ path: `${await campaign(project, name, "sent")}/cancel` }),
  "campaigns.pause": async (project, name) => ({ path: `${await campaign(project, name, "sent")}/pause` }),
  "campaigns.resume": async (project, name) => {
    const path = await campaign(project, name, "sent");
    await server.call("POST", `${path}/pause`, project.byKey);
    return { path: `${path}/resume` };
  },
  "campaigns.retryFailed": async (project, name) => {
    const path = await campaign(project, name, "sent");
    await stranded(project, name, { status: "FAILED", campaign: path });
    return { path: `${path}/retry-failed` };
  },
  "campaigns.resolve": async (project, name) => {
    const path = await campaign(project, name, "sent");
    await doubtful(project, name, path);
    return { path: `${path}/resolve`, body: { as: "sent" } };
  },
  "campaigns.release": async (project, name) => {
    const path = await campaign(project, name, "sent");
    await pauseForExample(project.id, path.split("/")[2] ?? "");
    return { path: `${path}/release`, body: {} };
  },
  "workflows.why": async (project, name) => {
    const { path, contactId } = await execution(project, name, "none");
    return { path: `${path}/why`, body: { contactId } };
  },
  "workflows.simulate": async (project, name) => {
    const { path } = await execution(project, name, "none");
    return { path: `${path}/simulate`, body: { contact: { email: `${name}@example.com` } } };
  },
  "workflows.replay": async (project, name) => ({
    path: `${(await execution(project, name, "RUNNING")).path}/replay`,
    body: {},
  }),
  "executions.start": async (project, name) => {
    const { path, contactId } = await execution(project, name, "none");
    return { path: `${path}/executions`, body: { contactId } };
  },
  "executions.cancelAll": async (project, name) => ({
    path: `${(await execution(project, name, "RUNNING")).path}/executions/cancel-all`,
  }),
  "executions.retry": async (project, name) => {
    const { path, id } = await execution(project, name, "FAILED");
    return { path: `${path}/executions/${id}/retry` };
  },
  "executions.skip": async (project, name) => {
    const { path, id } = await execution(project, name, "FAILED");
    return { path: `${path}/executions/${id}/skip` };
  },
  "executions.retryStep": async (project, name) => {
    const { path, stepId } = await execution(project, name, "FAILED");
    return { path: `${path}/steps/${stepId}/retry-failed` };
  },
  "executions.skipStep": async (project, name) => {
    const { path, stepId } = await execution(project, name, "FAILED");
    return { path: `${path}/steps/${stepId}/skip-failed` };
  },
  "workflows.create": async (_project, name) => ({ path: "/workflows", body: { name } }),
  "workflows.duplicate": async (project, name) => ({
    path: `/workflows/${await make(project, "/workflows", { name })}/duplicate`,
  }),
  "workflows.import": async () => ({ path: "/workflows/import", body: EXAMPLE_BODIES["workflows.import"] }),
  "workflows.restoreVersion": async (project, name) => ({
    path: `/workflows/${await make(project, "/workflows", { name })}/versions/1/restore`,
  }),
  "workflows.undo": async (project, name) => {
    const path = `/workflows/${await make(project, "/workflows", { name })}`;
    await make(project, `${path}/steps`, EXIT);
    return { path: `${path}/undo`, body: { revision: 1, expectedRevision: 2 } };
  },
  "workflows.pause": async (project, name) => ({
    path: `/workflows/${await make(project, "/workflows", { name })}/pause`,
  }),
  "workflows.resume": async (project, name) => {
    const path = `/workflows/${await make(project, "/workflows", { name })}`;
    await server.call("POST", `${path}/pause`, project.byKey);
    return { path: `${path}/resume` };
  },
  "workflows.move": async (project, name) => ({
    path: `/workflows/${await make(project, "/workflows", { name })}/moves`,
    body: {},
  }),
  "workflows.undoMove": async (project, name) => {
    const path = `/workflows/${await make(project, "/workflows", { name })}/moves`;
    const queued = await server.call<{ jobId: string }>("POST", path, project.byKey, {});
    // No process runs jobs here.
    await server.rows(
      "update jobs set state = 'completed', result = '{}', finished_at = now() where id = $1",
      queued.body.jobId,
    );
    return { path: `${path}/${queued.body.jobId}/undo` };
  },
  "workflows.addStep": async (project, name) => ({
    path: `/workflows/${await make(project, "/workflows", { name })}/steps`,
    body: EXIT,
  }),
  "workflows.addTransition": async (project, name) => {
    const path = `/workflows/${await make(project, "/workflows", { name })}`;
    const toStepId = await make(project, `${path}/steps`, EXIT);
    const { body } = await server.call<{ steps: Array<{ id: string }> }>("GET", path, project.byKey);
    return { path: `${path}/transitions`, body: { fromStepId: body.steps[0]?.id, toStepId } };
  },
  "workflows.pasteSteps": async (project, name) => {
    const path = `/workflows/${await make(project, "/workflows", { name })}`;
    const { body } = await server.call<{ steps: Array<{ id: string }> }>("GET", path, project.byKey);
    return {
      path: `${path}/paste`,
      body: { ...EXAMPLE_BODIES["workflows.pasteSteps"], fromStepId: body.steps[0]?.id },
    };
  },
  "workflows.insertStep": async (project, name) => {
    const path = `/workflows/${await make(project, "/workflows", { name })}`;
    await make(project, `${path}/steps`, { ...EXIT, autoConnect: true });
    const { body } = await server.call<{ transitions: Array<{ id: string }> }>("GET", path, project.byKey);
    return {
      path: `${path}/transitions/${body.transitions[0]?.id}/insert-step`,
      body: { type: "DELAY", config: { amount: 1, unit: "days" } },
    };
  },
};
const EXIT = { type: "EXIT" };
const POSTS = ENDPOINTS.filter(
  ({ method, caller }) => method === "POST" && (caller === "project" || caller === "tracker"),
);

test("covers every POST that a key may make", () => {
  expect(Object.keys(CASES).toSorted()).toEqual(POSTS.map(({ name }) => name).toSorted());
});

test.for(Object.entries(CASES))(
  "%s: returns the first response for a repeated request and does nothing",
  async ([, prepare]) => {
    const { path, body, headers } = await prepare(server.project, `repeat${++used}`);
    const caller = withKey(server.project.byKey, newKey(), headers);
    const first = await server.call("POST", path, caller, body);
    expect(first.status).toBeLessThan(300);
    expect(first.headers.get("idempotency-replayed")).toBeNull();
    const before = await server.countRows();
    for (let at = 0; at < 2; at++) {
      const again = await server.call("POST", path, caller, body);
      expect(again.status).toBe(first.status);
      expect(again.text).toBe(first.text);
      expect(again.headers.get("content-type")).toBe(first.headers.get("content-type"));
      expect(again.headers.get("idempotency-replayed")).toBe("true");
    }
    expect(await server.countRows()).toEqual(before);
  },
);

test.for(Object.entries(CASES))(
  "%s: keeps the effect of one of 50 concurrent requests to two servers and returns its response to all",
  async ([, prepare]) => {
    const once = await effectOf(prepare, 1);
    const { effect, replies } = await effectOf(prepare, 50);
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([once.replies[0]?.status]));
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    expect(replies.filter(({ headers }) => !headers.has("idempotency-replayed"))).toHaveLength(1);
    expect(effect).toEqual(once.effect);
  },
);

/** Returns how many rows each table gains through concurrent calls with one key, in a new project. */
async function effectOf(prepare: (typeof CASES)[string], calls: number) {
  const project = await server.createProject();
  const { path, body, headers } = await prepare(project, `parallel${++used}`);
  const caller = withKey(project.byKey, newKey(), headers);
  const before = await server.countRows();
  const replies = await Promise.all(
    Array.from({ length: calls }, (_, at) =>
      (at % 2 === 0 ? server : another).call("POST", path, caller, body),
    ),
  );
  const after = await server.countRows();
  const effect = Object.fromEntries(
    Object.keys(after).map((table) => [table, (after[table] ?? 0) - (before[table] ?? 0)]),
  );
  return { effect, replies };
}

test("returns 409 and does nothing if a key is used with another body, path or query", async () => {
  const caller = withKey(server.project.byKey, newKey());
  const first = { email: "first@example.com", event: "opened" };
  expect((await server.call(v1.track, caller, { body: first })).status).toBe(200);
  const before = await server.countRows();
  for (const [path, body] of [
    ["/v1/track", { ...first, event: "closed" }],
    ["/v1/track", `${JSON.stringify(first)} `],
    ["/v1/track?x=1", first],
    ["/contacts", first],
    ["/v1/send", mail("first@example.com")],
  ] as const) {
    const reply = await server.call("POST", path, caller, body);
    expect(errorOf(reply)).toBe("409 IDEMPOTENCY_KEY_REUSED");
  }
  expect(await server.countRows()).toEqual(before);
});

test("shares keys among the secret keys of a project, but not with public, test or foreign keys", async () => {
  const key = newKey();
  const project = await server.createProject();
  const other = await server.createProject();
  const event = { email: "ada@example.com", event: "opened" };
  const first = await server.call(v1.track, withKey(project.byKey, key), { body: event });
  const scoped = async (...scopes: string[]) => {
    const path = `/projects/${project.id}/keys`;
    const body = { name: "A key", scopes };
    const { cookie } = project.owner;
    const made = await server.call<{ data: { key: string } }>("POST", path, { cookie }, body);
    return { key: made.body.data.key };
  };
  const same = await server.call(v1.track, withKey(await scoped("v1:write"), key), { body: event });
  expect(same.text).toBe(first.text);
  for (const caller of [{ key: project.publicKey }, other.byKey]) {
    const reply = await server.call(v1.track, withKey(caller, key), { body: event });
    expect(reply.status).toBe(200);
    expect(reply.headers.has("idempotency-replayed")).toBe(false);
    const again = await server.call(v1.track, withKey(caller, key), { body: event });
    expect(again.text).toBe(reply.text);
  }
  const order = newKey();
  const byTest = withKey(await scoped("test:send"), order);
  const tried = await server.call(v1.send, byTest, { body: mail("ada@example.com") });
  const sent = await server.call(v1.send, withKey(project.byKey, order), { body: mail("ada@example.com") });
  expect([tried.status, sent.status]).toEqual([200, 200]);
  expect(sent.headers.has("idempotency-replayed")).toBe(false);
  expect(sent.text).not.toBe(tried.text);
});

test("replays the response of another server, for every spelling of the path", async () => {
  const caller = withKey(server.project.byKey, newKey());
  const event = { email: "ada@example.com", event: "opened" };
  const { body: first } = await server.call(v1.track, caller, { body: event });
  const again = await another.call<object>("POST", "/track", caller, event);
  expect(again.headers.get("idempotency-replayed")).toBe("true");
  expect(again.body).toEqual({ ...first, ...first.data });
});

test("counts every repetition without a key, and ignores the key of a session", async () => {
  const { byKey, bySession } = server.project;
  const event = { email: "many@example.com", event: "repeated" };
  const caller = withKey(bySession, newKey());
  for (const one of [byKey, byKey, caller, caller])
    expect((await server.call(v1.track, one, { body: event })).status).toBe(200);
  expect(await server.rows("select 1 from events where name = 'repeated'")).toHaveLength(4);
});

test("frees the key for the corrected request after an error", async () => {
  const caller = withKey(server.project.byKey, newKey());
  const wrong = [
    ["/v1/send", { ...mail("ada@example.com"), from: "a@unverified.example" }, "403 DOMAIN_NOT_VERIFIED"],
    ["/v1/send", { ...mail("ada@example.com"), body: "{{#if}" }, "422 VALIDATION_ERROR"],
    ["/v1/send", {}, "422 VALIDATION_ERROR"],
    ["/v1/send", "{", "400 INVALID_REQUEST_BODY"],
    ["/domains", { domain: "sandbox.localhost" }, "422 VALIDATION_ERROR"],
  ] as const;
  for (const [path, body, reported] of wrong)
    expect(errorOf(await server.call("POST", path, caller, body))).toBe(reported);
  const right = await server.call(v1.send, caller, { body: mail("ada@example.com") });
  expect(right.status).toBe(200);
  expect(right.headers.has("idempotency-replayed")).toBe(false);
});

test("allows the same request to succeed after an error", async () => {
  const [one, other] = [await server.createProject(), await server.createProject()];
  const domain = { domain: "wanted.example.com" };
  const held = await server.call(domains.createDomain, one.byKey, { body: domain });
  await server.call(domains.verifyDomain, one.byKey, { params: { id: held.body.id } });
  const caller = withKey(other.byKey, newKey());
  expect(errorOf(await server.call(domains.createDomain, caller, { body: domain }))).toBe("409 CONFLICT");
  await server.call(domains.deleteDomain, one.byKey, { params: { id: held.body.id } });
  expect((await server.call(domains.createDomain, caller, { body: domain })).status).toBe(201);
});

test.for([
  ["", "Idempotency-Key invalid_string"],
  ["x".repeat(256), "Idempotency-Key too_big"],
  ["é", "Idempotency-Key invalid_string"],
  ["a\tb", "Idempotency-Key invalid_string"],
] as const)("returns 422 and does nothing for the key %j", async ([key, fault]) => {
  const before = await server.countRows();
  const reply = await server.call(v1.track, withKey(server.project.byKey, key), {
    body: { email: "ada@example.com", event: "opened" },
  });
  expect(reply.status).toBe(422);
  expect(faultsOf(reply)).toEqual([fault]);
  expect(await server.countRows()).toEqual(before);
});

test("accepts a key of 255 printable characters", async () => {
  const key = ` !"#$%&'()*+,-./:;<=>?@[\\]^_\`{|}~`.trim().padEnd(255, "x");
  const event = { email: "ada@example.com", event: "opened" };
  const caller = withKey(server.project.byKey, key);
  const first = await server.call(v1.track, caller, { body: event });
  expect((await server.call(v1.track, caller, { body: event })).text).toBe(first.text);
});

test("rolls back an effect when another request used the key meanwhile", async () => {
  const request = keyedRequest(server.project.id, newKey(), "/x", Buffer.from("1"));
  const finish = (body: string) =>
    transaction(server.database, async (tx) => {
      const effect = { bucket: `effect ${body}`, startedAt: new Date(), taken: 1 };
      await tx.insertInto("rate_windows").values(effect).execute();
      await storeResponses(tx, [{ request, response: { status: 200, body } }]);
    });
  const reused = { code: "IDEMPOTENCY_KEY_REUSED", retryAfterSeconds: 1 };
  await finish("first");
  await expect(finish("second")).rejects.toMatchObject(reused);
  const effects = "select bucket from rate_windows where bucket like 'effect %'";
  expect(await server.rows(effects)).toEqual([{ bucket: "effect first" }]);
  expect(await findResponse(server.database, request)).toEqual({ status: 200, body: "first" });
  const other = { ...request, fingerprint: Buffer.from("another body") };
  await expect(findResponse(server.database, other)).rejects.toMatchObject({ code: reused.code });
});

test("requests with the same key run in turn, also after a failure, and others at the same time", async () => {
  const turns = createKeyTurns();
  const order: string[] = [];
  const opening = Promise.withResolvers<void>();
  const start = (key: string, name: string, work: Promise<unknown>) =>
    turns.wait(keyedRequest("project", key, "/x", Buffer.from(name)), async () => {
      order.push(name);
      await work;
      return name;
    });
  const first = start("a", "first", opening.promise);
  const repeats = [
    start("a", "second", Promise.reject(new Error("failed"))),
    start("a", "third", opening.promise),
  ];
  expect(await start("b", "other", Promise.resolve())).toBe("other");
  expect(order).toEqual(["first", "other"]);
  opening.resolve();
  expect(await first).toBe("first");
  expect((await Promise.allSettled(repeats)).map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
  expect(order).toEqual(["first", "other", "second", "third"]);
});

test("runs the items of a batch whose keys are new in it, and fails only the others", async () => {
  const keys = [[], ["a"], ["b", "c"], ["a"], [], ["d", "b"]];
  const items = keys.map((own) => own.map((key) => keyedRequest("project", key, "/x", Buffer.from("1"))));
  const ran: unknown[] = [];
  const results = await runWithoutRepeats(
    items,
    (item) => item,
    async (some) => {
      ran.push(...some);
      return some.map(({ length }) => length);
    },
  );
  expect(ran).toEqual([items[0], items[1], items[2], items[4]]);
  const reused = expect.objectContaining({ code: "IDEMPOTENCY_KEY_REUSED" });
  expect(results).toEqual([0, 1, 2, reused, 0, reused]);
});

test("keeps a response for 24 hours, then accepts the key again and sweeps the old one", async () => {
  const caller = withKey(server.project.byKey, newKey());
  const event = { email: "ada@example.com", event: "opened" };
  const age = (hours: number) =>
    server.rows(
      "update idempotency_keys set created_at = now() - make_interval(hours => $1) where key = $2",
      hours,
      caller.headers?.["idempotency-key"],
    );
  const first = await server.call(v1.track, caller, { body: event });
  await age(23);
  expect(await sweepKeys(server.database)).toBe(0);
  expect((await server.call(v1.track, caller, { body: event })).text).toBe(first.text);
  await age(25);
  const later = await server.call(v1.track, caller, { body: { ...event, event: "closed" } });
  expect(later.status).toBe(200);
  expect(later.headers.has("idempotency-replayed")).toBe(false);
  await age(25);
  expect(await sweepKeys(server.database)).toBe(1);
});

const work = endpoint({
  name: "test.work",
  method: "POST",
  path: "/work",
  summary: "Does something and may fail after it",
  description: "As `fail` says.",
  caller: "project",
  body: z.object({ fail: z.enum(["not", "inside", "refused", "after"]) }),
  responses: { 200: z.object({ done: z.boolean() }) },
});

async function startWorking() {
  return createHttp(
    {
      database: server.database,
      sealer: createSealer("a secret for tests"),
      credentials: {
        findKey: async () => ({
          hash: Buffer.alloc(32),
          projectId: server.project.id,
          kind: "secret",
          disabled: false,
        }),
        findSession: async () => null,
        findMembership: async () => null,
      },
      rateLimiter: { take: () => Promise.reject(new Error("never asked")), giveBack: async () => undefined },
      requestsPerMinute: 0,
      trustedProxies: [],
      sessionCookie: "session",
      origin: () => null,
      log: createLog({ level: "silent" }),
      metrics: createMetrics(),
    },
    [
      route(work, async ({ body, commit }) => {
        const response = await commit(async (tx) => {
          const effect = { bucket: "work", startedAt: new Date(), taken: 1 };
          await tx.insertInto("rate_windows").values(effect).execute();
          if (body.fail === "inside") throw new Error("failed after its work");
          if (body.fail === "refused") throw new AppError("CONFLICT");
          return ok({ done: true });
        });
        if (body.fail === "after") throw new Error("failed after its commit");
        return response;
      }),
    ],
  );
}

let working: Awaited<ReturnType<typeof startWorking>>;
beforeAll(async () => {
  working = await startWorking();
});
afterAll(async () => working.close());

async function doWork(key: string, fail: string) {
  const headers = { authorization: "Bearer sk_x", "idempotency-key": key };
  const { statusCode } = await working.inject({ method: "POST", url: "/work", headers, payload: { fail } });
  const effects = await server.rows("select 1 from rate_windows where bucket = 'work'");
  const storedResponses = await server.rows("select status from idempotency_keys where key = $1", key);
  await server.rows("delete from rate_windows where bucket = 'work'");
  return { statusCode, effects: effects.length, storedResponses };
}

test("stores neither effect nor response if the request fails after its work", async () => {
  const key = newKey();
  expect(await doWork(key, "inside")).toEqual({ statusCode: 500, effects: 0, storedResponses: [] });
  expect(await doWork(key, "refused")).toEqual({ statusCode: 409, effects: 0, storedResponses: [] });
  expect(await doWork(key, "not")).toEqual({
    statusCode: 200,
    effects: 1,
    storedResponses: [{ status: 200 }],
  });
});

test("returns the stored response if the request fails after its commit, and repeats nothing", async () => {
  const key = newKey();
  expect(await doWork(key, "after")).toEqual({
    statusCode: 200,
    effects: 1,
    storedResponses: [{ status: 200 }],
  });
  expect(await doWork(key, "after")).toEqual({
    statusCode: 200,
    effects: 0,
    storedResponses: [{ status: 200 }],
  });
});

test("keeps a separate effect and response per project for the same call and key", async () => {
  const projects = [await server.createProject(), await server.createProject()];
  const body = { email: "shared@example.com", data: { n: 1 } };
  const callAll = async () =>
    Promise.all(
      projects.map(async ({ byKey }) => {
        const caller = { ...byKey, headers: { "idempotency-key": "the same for both" } };
        return (await server.call(contacts.upsertContact, caller, { body })).body.id;
      }),
    );
  const ids = await callAll();
  expect(new Set(ids).size).toBe(2);
  expect(await callAll()).toEqual(ids);
  for (const [at, { id }] of projects.entries())
    expect(await server.rows("select id from contacts where project_id = $1", id)).toEqual([{ id: ids[at] }]);
});
