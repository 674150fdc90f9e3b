// Credentials in webhook headers are encrypted, masked in every response, and sent to the endpoint.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import * as workflowSteps from "@postloft/contract/workflows/steps.ts";
import * as workflows from "@postloft/contract/workflows/workflows.ts";
import { createSealer } from "../platform/crypto.ts";
import { APP_SECRET, faultsOf, useTestServer } from "../testing/test-server.ts";
import { sealStoredSteps } from "./seal-stored-steps.ts";

const server = useTestServer({ WEBHOOK_ALLOW_PRIVATE: "127.0.0.1/32", WEBHOOK_ALLOW_PORTS: "1024-65535" });
const WAIT = { timeout: 30_000, interval: 20 };
const CREDENTIAL = "Bearer a-credential-of-theirs";
const MASK = "••••";
const seen: Array<{ authorization: string | undefined; url: string | undefined }> = [];
const endpoint = createServer((request, response) => {
  seen.push({ authorization: request.headers.authorization, url: request.url });
  response.end("{}");
});
let url = "";

beforeAll(async () => {
  await new Promise<void>((resolve) => endpoint.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/hook?page=2&api_key=a-credential-in-a-url`;
});
afterAll(() => void endpoint.close());

interface Step {
  id: string;
  type: string;
  config: { url?: string; headers?: Record<string, string> };
}
interface Workflow {
  id: string;
  steps: Step[];
  problems: Array<{ code: string; severity: string; message: string }>;
}

const ask = <Body>(method: string, path: string, body?: unknown) =>
  server.call<Body>(method, path, server.project.byKey, body);

/** A workflow that calls the endpoint with a credential. */
async function draw(event: string): Promise<{ id: string; step: Step }> {
  const made = await ask<Workflow>("POST", "/workflows", {
    name: event,
    triggerConfig: { eventName: event },
  });
  const { id } = made.body;
  const config = { url, headers: { Authorization: CREDENTIAL, "Content-Type": "text/plain" } };
  const added = await ask<Step>("POST", `/workflows/${id}/steps`, {
    type: "WEBHOOK",
    config,
    autoConnect: true,
  });
  expect(added.status).toBe(201);
  return { id, step: added.body };
}

const change = (id: string, step: Step, headers: Record<string, string>) =>
  ask<Step>("PATCH", `/workflows/${id}/steps/${step.id}`, { config: { url, headers } });

test("masks a credential in responses, encrypts it in storage and sends it in clear", async () => {
  const { id, step } = await draw("ordered");
  expect(step.config.headers).toEqual({ Authorization: MASK, "Content-Type": "text/plain" });
  expect(step.config.url).toBe(url.replace("a-credential-in-a-url", MASK));
  const masked = { Authorization: MASK, "Content-Type": "text/html" };
  const sentBack = { config: { url: step.config.url, headers: masked } };
  const kept = await ask<Step>("PATCH", `/workflows/${id}/steps/${step.id}`, sentBack);
  expect(kept.body.config).toEqual(sentBack.config);
  await ask("PATCH", `/workflows/${id}`, { enabled: true });
  const byKey = { email: "ada@example.com", event: "ordered" };
  await ask("POST", "/v1/track", byKey);
  const called = { authorization: CREDENTIAL, url: "/hook?page=2&api_key=a-credential-in-a-url" };
  await vi.waitFor(() => expect(seen).toEqual([called]), WAIT);
  const copy = await ask<Workflow>("POST", `/workflows/${id}/duplicate`);
  const shown = await Promise.all(
    [id, copy.body.id, `${id}/versions/1`, `${id}/versions/1/compare`, `${id}/export`].map(async (path) => {
      const { status, text } = await ask("GET", `/workflows/${path}`);
      return [path, status, text.includes("a-credential"), /"sealed:/.test(text)];
    }),
  );
  expect(shown.filter(([, status, ...leaks]) => status !== 200 || leaks.includes(true))).toEqual([]);
  for (const table of ["workflow_versions", "webhook_calls"])
    expect(await server.rows(`select 1 from ${table} t where t::text like '%a-credential%'`)).toEqual([]);
});

test("rejects a mask without a stored value, and reports a changed credential as a difference", async () => {
  const { id, step } = await draw("paid");
  const refused = await server.call(workflowSteps.updateStep, server.project.byKey, {
    params: { id, stepId: step.id },
    body: { config: { url, headers: { "X-Token": MASK } } },
  });
  expect(faultsOf(refused)).toEqual(["config.headers.X-Token custom"]);
  await server.rows("update workflow_versions set is_used = true where workflow_id = $1", id);
  await change(id, step, { authorization: "Basic another-credential", "Content-Type": "text/plain" });
  type Compared = { steps: { changed: Array<{ fields: string[]; after: Step }> } };
  const { body } = await ask<Compared>("GET", `/workflows/${id}/versions/1/compare`);
  expect(body.steps.changed).toMatchObject([
    { fields: ["config"], after: { config: { headers: { authorization: MASK } } } },
  ]);
});

test("requires the credentials that an export omits before an imported workflow is enabled", async () => {
  const { id } = await draw("left");
  const document = (await ask("GET", `/workflows/${id}/export`)).body;
  const imported = (await ask<Workflow>("POST", "/workflows/import", document)).body;
  expect(imported.problems).toMatchObject([
    { code: "MISSING_URL_VALUE", severity: "error", message: expect.stringContaining('"api_key"') },
    { code: "MISSING_HEADER", severity: "error" },
  ]);
  const enable = () =>
    server.call(workflows.updateWorkflow, server.project.byKey, {
      params: { id: imported.id },
      body: { enabled: true },
    });
  expect(faultsOf(await enable())).toEqual(["enabled custom"]);
  const step = imported.steps.find(({ type }) => type === "WEBHOOK");
  await change(imported.id, step ?? { id: "", type: "", config: {} }, { Authorization: CREDENTIAL });
  expect((await enable()).status).toBe(200);
});

test("a masked credential of a URL or a header is not sent to another host", async () => {
  const { id, step } = await draw("moved");
  const move = (config: Record<string, unknown>) =>
    server.call(workflowSteps.updateStep, server.project.byKey, {
      params: { id, stepId: step.id },
      body: { config },
    });
  expect(faultsOf(await move({ url: `http://127.0.0.1:8000/?api_key=${MASK}` }))).toEqual([
    "config.url custom",
  ]);
  const elsewhere = "http://127.0.0.1:8000/";
  expect(faultsOf(await move({ url: elsewhere, headers: { authorization: MASK } }))).toEqual([
    "config.headers.authorization custom",
  ]);
  const given = await move({ url: elsewhere, headers: { Authorization: "Bearer for-the-new-host" } });
  expect(given.status).toBe(200);
});

test("a credential in a body is a warning that names its place", async () => {
  const { id, step } = await draw("told");
  const body = { auth: { token: "a-credential" }, key: "{{event.key}}" };
  const config = { url, headers: { Authorization: MASK }, body };
  expect((await ask("PATCH", `/workflows/${id}/steps/${step.id}`, { config })).status).toBe(200);
  const { problems } = (await ask<Workflow>("GET", `/workflows/${id}`)).body;
  expect(problems).toMatchObject([
    { code: "CREDENTIAL_IN_BODY", severity: "warning", message: expect.stringContaining('"auth.token"') },
  ]);
});

test("steps stored in clear text are encrypted by the sweep, and equal credentials stay equal between versions", async () => {
  const { id, step } = await draw("old");
  await server.rows("update workflow_versions set is_used = true where workflow_id = $1", id);
  await change(id, step, { Authorization: CREDENTIAL, "Content-Type": "text/html" });
  const clear = JSON.stringify({ url, headers: { Authorization: CREDENTIAL, "Content-Type": "text/plain" } });
  await server.rows(
    `update workflow_versions set is_sealed = false, graph = jsonb_set(graph, '{steps,1,config}', $2::jsonb) where workflow_id = $1`,
    id,
    clear,
  );
  const shown = (await ask("GET", `/workflows/${id}`)).text;
  expect(shown).not.toContain("a-credential");
  const sweep = () => sealStoredSteps(server.database, createSealer(APP_SECRET));
  expect(await sweep()).toBeGreaterThan(0);
  const stored = await server.rows<{ graph: string }>(
    "select graph::text as graph from workflow_versions where workflow_id = $1 order by version",
    id,
  );
  expect(stored).toHaveLength(2);
  for (const { graph } of stored) expect(graph).not.toContain("a-credential");
  type Compared = { steps: { changed: unknown[] } };
  expect((await ask<Compared>("GET", `/workflows/${id}/versions/1/compare`)).body.steps.changed).toEqual([]);
  expect(await sweep()).toBe(0);
  await ask("PATCH", `/workflows/${id}`, { enabled: true });
  seen.splice(0);
  await ask("POST", "/v1/track", { email: "bob@example.com", event: "old" });
  await vi.waitFor(
    () =>
      expect(seen).toMatchObject([
        { authorization: CREDENTIAL, url: expect.stringContaining("a-credential-in") },
      ]),
    WAIT,
  );
});
