// An object that is deleted and created again under the same name does not inherit references to its predecessor.
import { expect, test, vi } from "vitest";
import * as campaignActions from "@postloft/contract/campaign-actions.ts";
import * as contacts from "@postloft/contract/contacts.ts";
import * as domainsContract from "@postloft/contract/domains.ts";
import * as v1 from "@postloft/contract/v1.ts";
import * as workflows from "@postloft/contract/workflows/workflows.ts";
import { errorOf, useTestServer, type TestProject } from "../testing/test-server.ts";

const server = useTestServer();
const WAIT = { timeout: 30_000, interval: 20 };

const make = async <Body = { id: string }>({ byKey }: TestProject, path: string, body: object) => {
  const reply = await server.call<Body>("POST", path, byKey, body);
  if (reply.status >= 300) throw new Error(`${path}: ${reply.text}`);
  return reply.body;
};
const remove = async ({ byKey }: TestProject, path: string) =>
  expect((await server.call("DELETE", path, byKey)).status).toBe(204);

const hasPlan = (value: string) => ({
  operator: "AND",
  conditions: [{ field: "data.plan", operator: "equals", value }],
});
const VIP = { name: "VIP", filters: hasPlan("pro"), trackMembership: true };

test("gives a recreated segment its own events, unused by workflows of the deleted one", async () => {
  const project = await server.createProject();
  const segment = await make<{ id: string; slug: string }>(project, "/segments", VIP);
  expect(segment.slug).toBe("vip");
  const workflow = await make(project, "/workflows", { name: "Welcome" });
  const trigger = { triggerType: "SEGMENT_ENTRY", triggerConfig: { segmentId: segment.id } };
  const patched = await server.call(workflows.updateWorkflow, project.byKey, {
    params: { id: workflow.id },
    anyBody: trigger,
  });
  expect(patched.status).toBe(200);
  const { id } = await make(project, "/contacts", { email: "ada@example.com", data: { plan: "pro" } });
  const enteredBy = async (name: string) =>
    (await server.rows("select 1 from events where contact_id = $1 and name = $2", id, name)).length;
  await vi.waitFor(async () => expect(await enteredBy("segment.vip.entry")).toBe(1), WAIT);
  const filters = {
    operator: "AND",
    conditions: [{ field: "event.segment.vip.entry", operator: "triggered" }],
  };
  const count = async (conditions: object) =>
    (await make<{ total: number }>(project, "/contacts/search", { filters: conditions, withTotal: true }))
      .total;
  expect(await count(filters)).toBe(1);

  for (const slug of ["vip-2", "vip-3"]) {
    const [last] = await server.rows<{ id: string }>(
      "select id from segments where project_id = $1",
      project.id,
    );
    await remove(project, `/segments/${last?.id}`);
    expect(await make(project, "/segments", { ...VIP, filters: hasPlan("free") })).toMatchObject({ slug });
  }
  const path = `/workflows/${workflow.id}`;
  expect(errorOf(await server.call("PATCH", path, project.byKey, { enabled: true }))).toBe(
    "422 VALIDATION_ERROR",
  );
  const free = await make(project, "/contacts", { email: "bob@example.com", data: { plan: "free" } });
  await vi.waitFor(async () => {
    const names = await server.rows("select name from events where contact_id = $1", free.id);
    expect(names).toContainEqual({ name: "segment.vip-3.entry" });
  }, WAIT);
  expect(await server.rows("select 1 from workflow_executions where project_id = $1", project.id)).toEqual(
    [],
  );
  expect(await count(filters)).toBe(1);
});

test("sends a draft for a deleted segment to no one, not to a segment of the same name", async () => {
  const project = await server.createProject();
  const segment = await make(project, "/segments", VIP);
  await make(project, "/contacts", { email: "ada@sandbox.localhost", data: { plan: "pro" } });
  const {
    data: { id },
  } = await make<{ data: { id: string } }>(project, "/campaigns", {
    name: "News",
    subject: "s",
    body: "<p>Hello</p>",
    from: "news@sandbox.localhost",
    audienceType: "SEGMENT",
    segmentId: segment.id,
  });
  await remove(project, `/segments/${segment.id}`);
  await make(project, "/segments", VIP);
  const { status } = await server.call(campaignActions.sendCampaign, project.byKey, {
    params: { id },
    body: {},
  });
  expect([400, 409, 422]).toContain(status);
  expect(await server.rows("select 1 from emails where project_id = $1", project.id)).toEqual([]);
});

test("does not send a recreated template by the id of the deleted one", async () => {
  const project = await server.createProject();
  const template = { name: "T", type: "TRANSACTIONAL", subject: "s", body: "b", from: "a@sandbox.localhost" };
  const { id } = await make(project, "/templates", template);
  await remove(project, `/templates/${id}`);
  await make(project, "/templates", template);
  const reply = await server.call(v1.send, project.byKey, {
    body: {
      to: "a@sandbox.localhost",
      template: id,
    },
  });
  expect(errorOf(reply)).toBe("404 TEMPLATE_NOT_FOUND");
});

test("removes a default sender together with its domain", async () => {
  const project = await server.createProject();
  const path = `/users/@me/projects/${project.id}`;
  const defaultFrom = async () =>
    (
      await server.rows<{ from: string | null }>(
        'select default_from as "from" from projects where id = $1',
        project.id,
      )
    )[0]?.from;
  const domains: string[] = [];
  for (const domain of ["shop.example", "other.example"]) {
    const { body } = await server.call(domainsContract.createDomain, project.bySession, { body: { domain } });
    domains.push(body.id);
  }
  const patched = await server.call("PATCH", path, project.bySession, {
    defaultFrom: "Shop <hello@shop.example>",
  });
  expect(patched.status).toBe(200);
  expect((await server.call("DELETE", `/domains/${domains[1]}`, project.bySession)).status).toBe(204);
  expect(await defaultFrom()).toContain("<hello@shop.example>");
  expect((await server.call("DELETE", `/domains/${domains[0]}`, project.bySession)).status).toBe(204);
  expect(await defaultFrom()).toBeNull();
  await server.call(domainsContract.createDomain, project.bySession, { body: { domain: "shop.example" } });
  expect(await defaultFrom()).toBeNull();
});

test("rejects the deleted key after a new one gets its name, and logs them apart", async () => {
  const project = await server.createProject();
  const path = `/projects/${project.id}/keys`;
  const create = async () => {
    const body = { name: "Shop", scopes: ["contacts:read"] };
    const reply = await server.call<{ data: { id: string; key: string } }>(
      "POST",
      path,
      project.bySession,
      body,
    );
    return reply.body.data;
  };
  const ask = async ({ key }: { key: string }) => (await server.call(contacts.listContacts, { key })).status;
  const former = await create();
  expect(await ask(former)).toBe(200);
  expect((await server.call("DELETE", `${path}/${former.id}`, project.bySession)).status).toBe(204);
  const now = await create();
  expect([await ask(former), await ask(now)]).toEqual([401, 200]);
  const requestsOf = async (key: string) =>
    (await server.rows("select 1 from api_requests where project_id = $1 and key = $2", project.id, key))
      .length;
  await vi.waitFor(
    async () => expect([await requestsOf(former.id), await requestsOf(now.id)]).toEqual([1, 1]),
    WAIT,
  );
});
