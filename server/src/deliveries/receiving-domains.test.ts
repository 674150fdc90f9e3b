// Receives email at a project's own domain over real sockets, with the records of a test DNS server.
import { createTransport } from "nodemailer";
import { afterAll, expect, test } from "vitest";
import * as domains from "@postloft/contract/domains.ts";
import * as received from "@postloft/contract/received-emails.ts";
import * as executions from "@postloft/contract/executions.ts";
import * as events from "@postloft/contract/events.ts";
import * as webhookDeliveries from "@postloft/contract/webhook-deliveries.ts";
import * as webhooks from "@postloft/contract/webhook-endpoints.ts";
import { startDnsServer } from "../testing/dns-server.ts";
import { freePort } from "../testing/free-port.ts";
import { proveDomain } from "../testing/prove-domain.ts";
import { drawWorkflow } from "../testing/workflow-fixture.ts";
import { errorOf, useTestServer, type TestProject } from "../testing/test-server.ts";
import { MAX_FAILED_CHECKS } from "../domains/rules.ts";

const dns = await startDnsServer();
const port = await freePort();
const server = useTestServer({
  ROLES: "api,worker,smtp",
  MAIL_TRANSPORT: "smtp://127.0.0.1:9",
  SMTP_NAME: "mx.postloft.example",
  INBOUND_DOMAIN: "in.example",
  BOUNCE_DOMAIN: "bounce.example",
  SMTP_PORT: String(port),
  DNS_SERVERS: dns.address,
});
afterAll(async () => dns.close());

const WAIT = { timeout: 30_000 };
const NOT_OURS = /^550/;

/** Adds a verified domain that receives email. Returns its id. */
async function addReceiving(project: TestProject, domain: string): Promise<string> {
  await proveDomain(server, dns, project.byKey, domain);
  const id = (await listDomains(project)).find((one) => one.domain === domain)?.id ?? "";
  await setReceiving(project, id, true);
  return id;
}

const listDomains = async ({ id: projectId, byKey }: TestProject) =>
  (await server.call(domains.listDomains, byKey, { params: { projectId } })).body;
const setReceiving = async ({ byKey }: TestProject, id: string, receiving: boolean) =>
  (await server.call(domains.updateDomain, byKey, { params: { id }, body: { receiving } })).body;
const verify = async ({ byKey }: TestProject, id: string) =>
  (await server.call(domains.verifyDomain, byKey, { params: { id } })).body;
const list = async ({ byKey }: TestProject) => (await server.call(received.listReceived, byKey)).body.data;

/** Submits a message and returns the last reply or the rejection. */
async function write(to: string, headers: Record<string, string> = {}): Promise<string> {
  const client = createTransport({ host: "127.0.0.1", port, ignoreTLS: true, name: "client.example" });
  try {
    return (await client.sendMail({ from: "ada@person.example", to, subject: to, text: "Hi", headers }))
      .response;
  } catch (error) {
    return (error as { response?: string }).response ?? String(error);
  }
}

test("receives email at every address of a verified domain, and names the address in the event", async () => {
  const project = await server.createProject();
  await addReceiving(project, "in.acme.example");
  const names = [
    "support@in.acme.example",
    "Orders+17@IN.acme.example",
    "postmaster@in.acme.example",
    "b+1@in.acme.example",
  ];
  for (const name of names) expect(await write(name)).toMatch(/^250/);
  await expect.poll(async () => (await list(project)).length, WAIT).toBe(names.length);
  const emails = await list(project);
  expect(emails.map(({ recipient }) => recipient).toSorted()).toEqual(
    names.map((name) => name.toLowerCase()).toSorted(),
  );
  const { contactId } = emails[0] ?? { contactId: "" };
  const { body } = await server.call(events.listContactEvents, project.byKey, { params: { contactId } });
  expect(body.data.map(({ data }) => data)).toContainEqual(
    expect.objectContaining({ address: "orders+17@in.acme.example", localPart: "orders+17" }),
  );
});

test("stores email of people whose provider marks all email for complaints and unsubscribing", async () => {
  const project = await server.createProject();
  await addReceiving(project, "marked.acme.example");
  const marks = { "Feedback-ID": "1.eu-west-1:AmazonSES", "List-Unsubscribe": "<https://person.example/u>" };
  expect(await write("us@marked.acme.example", marks)).toMatch(/^250/);
  await expect.poll(async () => (await list(project)).length, WAIT).toBe(1);
});

test("stores email that was accepted before the domain was removed or moved to another project", async () => {
  const [project, other] = [await server.createProject(), await server.createProject()];
  const id = await addReceiving(project, "moved.acme.example");
  await server.rows("alter table notices alter column due_at set default now() + interval '1 hour'");
  try {
    expect(await write("us@moved.acme.example")).toMatch(/^250/);
  } finally {
    await server.rows("alter table notices alter column due_at set default now()");
  }
  await server.call(domains.deleteDomain, project.byKey, { params: { id } });
  await addReceiving(other, "moved.acme.example");
  await server.rows("update notices set due_at = now() where done_at is null");
  await expect.poll(async () => (await list(project)).length, WAIT).toBe(1);
  expect(await list(other)).toEqual([]);
});

test("rejects email for domains of no one, pending domains, and domains that do not receive", async () => {
  const project = await server.createProject();
  const id = await addReceiving(project, "off.acme.example");
  await setReceiving(project, id, false);
  const body = { domain: "pending.acme.example" };
  const pending = await server.call(domains.createDomain, project.byKey, { body });
  await setReceiving(project, pending.body.id, true);
  for (const domain of ["nowhere.example", "off.acme.example", "pending.acme.example", "acme.example"])
    expect([domain, await write(`us@${domain}`)]).toEqual([domain, expect.stringMatching(NOT_OURS)]);
  expect(await list(project)).toEqual([]);
});

test("gives a domain to the project that verified it, not to one that only added it", async () => {
  const [owner, other] = [await server.createProject(), await server.createProject()];
  const body = { domain: "mine.acme.example" };
  const added = await server.call(domains.createDomain, other.byKey, { body });
  await setReceiving(other, added.body.id, true);
  await addReceiving(owner, "mine.acme.example");
  expect(await write("us@mine.acme.example")).toMatch(/^250/);
  await expect.poll(async () => (await list(owner)).length, WAIT).toBe(1);
  expect(await list(other)).toEqual([]);
});

test("delays email for four days after a domain lost its proof, and rejects it after a removal", async () => {
  const [project, other] = [await server.createProject(), await server.createProject()];
  const id = await addReceiving(project, "lost.acme.example");
  const removed = await addReceiving(project, "gone.acme.example");
  await server.call(domains.deleteDomain, project.byKey, { params: { id: removed } });
  expect(await write("us@gone.acme.example")).toMatch(NOT_OURS);
  expect(await write("us@lost.acme.example")).toMatch(/^250/);
  for (const { name } of (await verify(project, id)).records) dns.setTxt(name, []);
  for (let check = 0; check < MAX_FAILED_CHECKS; check++) {
    await server.rows("update domains set failed_at = failed_at - interval '1 hour' where id = $1", id);
    await verify(project, id);
  }
  expect(await write("us@lost.acme.example")).toMatch(/^450 4\.3\.5/);
  const age = (by: string) =>
    server.rows("update domains set status_changed_at = now() - $2::interval where id = $1", id, by);
  await age("95 hours");
  expect(await write("us@lost.acme.example")).toMatch(/^450/);
  await age("97 hours");
  expect(await write("us@lost.acme.example")).toMatch(NOT_OURS);
  await age("0 hours");
  await addReceiving(other, "lost.acme.example");
  expect(await write("us@lost.acme.example")).toMatch(/^250/);
  await expect.poll(async () => (await list(other)).length, WAIT).toBe(1);
});

test("routes an address to a webhook endpoint and to a workflow", async () => {
  const project = await server.createProject();
  await addReceiving(project, "routes.acme.example");
  const endpoint = await server.call(webhooks.createWebhookEndpoint, project.byKey, {
    body: {
      url: "https://hook.example/",
      eventTypes: ["email.received"],
      addresses: ["orders+*@routes.acme.example"],
    },
  });
  const filter = {
    operator: "AND",
    conditions: [{ field: "data.localPart", operator: "equals", value: "support" }],
  };
  const config = { eventName: "email.received", filter };
  const workflow = await drawWorkflow(server.database, project.id, {
    steps: [["trigger", "TRIGGER"]],
    links: [],
    trigger: { type: "EVENT", config, event: config.eventName },
  });
  for (const name of ["sales", "orders+17", "support"])
    expect(await write(`${name}@routes.acme.example`)).toMatch(/^250/);
  await expect.poll(async () => (await list(project)).length, WAIT).toBe(3);
  const params = { id: endpoint.body.id };
  const delivered = async () =>
    (await server.call(webhookDeliveries.listDeliveries, project.byKey, { params })).body.data.length;
  const entered = async () =>
    (await server.call(executions.listExecutions, project.byKey, { params: { id: workflow.id } })).body.data
      .length;
  await expect.poll(async () => [await delivered(), await entered()], WAIT).toEqual([1, 1]);
  const [row] = await server.rows<{ address: string }>(
    "select l.data #>> '{properties,address}' as address from event_deliveries d join event_log l using (project_id, number) where d.project_id = $1",
    project.id,
  );
  expect(row?.address).toBe("orders+17@routes.acme.example");
});

test("shows the MX record with what DNS has", async () => {
  const project = await server.createProject();
  const id = await addReceiving(project, "mx.acme.example");
  const recordWith = async (MX: readonly string[]) => {
    dns.setRecords("mx.acme.example", { MX });
    return (await verify(project, id)).receiving?.record;
  };
  const record = { type: "MX", name: "mx.acme.example", value: "10 mx.postloft.example" };
  expect(await recordWith([])).toEqual({ ...record, found: null, status: "MISSING" });
  expect(await recordWith(["5 other.example"])).toEqual({
    ...record,
    found: "other.example",
    status: "MISMATCH",
  });
  expect(await recordWith(["10 MX.postloft.example"])).toMatchObject({ status: "FOUND" });
  dns.setMood("servfail");
  expect((await verify(project, id)).receiving?.record.status).toBe("FOUND");
  dns.setMood("answer");
});

test("rejects a change without a field, and one of another project", async () => {
  const [project, other] = [await server.createProject(), await server.createProject()];
  const id = await addReceiving(project, "field.acme.example");
  const params = { id };
  const empty = await server.call(domains.updateDomain, project.byKey, { params, anyBody: {} });
  expect(errorOf(empty)).toBe("422 VALIDATION_ERROR");
  const foreign = await server.call(domains.updateDomain, other.byKey, {
    params,
    body: { receiving: false },
  });
  expect(errorOf(foreign)).toBe("404 DOMAIN_NOT_FOUND");
});
