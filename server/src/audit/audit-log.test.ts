// Audit log: entries are written with the change, actor and IP address, and any edited, missing or added entry is detected.
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import * as audit from "@postloft/contract/audit.ts";
import * as campaignActions from "@postloft/contract/campaign-actions.ts";
import * as campaignReport from "@postloft/contract/campaign-report.ts";
import * as campaigns from "@postloft/contract/campaigns.ts";
import * as contactImport from "@postloft/contract/contact-import.ts";
import * as contacts from "@postloft/contract/contacts.ts";
import * as domains from "@postloft/contract/domains.ts";
import * as members from "@postloft/contract/members.ts";
import * as suppressions from "@postloft/contract/suppressions.ts";
import * as webhooks from "@postloft/contract/webhooks.ts";
import { transaction } from "../platform/database/database.ts";
import { useTestServer, type TestProject } from "../testing/test-server.ts";
import { recordAudit, SERVICE, verifyAuditLog, verifyAuditLogs, type AuditEntry } from "./audit-log.ts";

const server = useTestServer({ ROLES: "api" });

const list = async ({ id, byKey }: TestProject, query = "") =>
  (await server.call(audit.listAuditLog, byKey, { params: { projectId: id }, anyQuery: query })).body;
const entryOf = (projectId: string, details = {}): AuditEntry => ({
  projectId,
  actor: SERVICE,
  action: "project.updated",
  details,
});
const record = (...entries: AuditEntry[]) => transaction(server.database, (tx) => recordAudit(tx, entries));
const verify = (projectId: string) => verifyAuditLog(server.database, projectId);

test("records the actor, action, time and IP address of changes, in order", async () => {
  const project = await server.createProject();
  const { owner, id } = project;
  const caller = { cookie: owner.cookie };
  const person = await server.signUp();
  await server.prove(person);
  const own = `/users/@me/projects/${id}`;
  await server.call("PATCH", own, caller, { name: "Renamed", language: "en" });
  await server.call("PATCH", own, caller, { name: "Renamed" });
  await server.call("PATCH", own, caller, { name: "" });
  await server.call(members.addMember, caller, { params: { projectId: id }, body: { email: person.email } });
  await server.call(members.changeMember, caller, {
    params: { projectId: id, userId: person.id },
    body: { role: "ADMIN" },
  });
  await server.call(members.removeMember, caller, { params: { projectId: id, userId: person.id } });
  const { body } = await server.call<{ secret: string }>("POST", `${own}/regenerate-keys`, caller);
  const { data, total } = await list({ ...project, byKey: { key: body.secret } });
  const by = {
    kind: "person",
    userId: owner.id,
    email: owner.email,
    ip: expect.stringMatching(/127\.0\.0\.1|::1/),
  };
  const target = { id: person.id, name: person.email };
  expect(data.toReversed()).toEqual(
    [
      { action: "project.created", target: null, details: { name: "A project" } },
      { action: "project.updated", target: null, details: { name: { from: "A project", to: "Renamed" } } },
      { action: "member.added", target, details: { role: "MEMBER" } },
      { action: "member.roleChanged", target, details: { from: "MEMBER", to: "ADMIN" } },
      { action: "member.removed", target, details: { role: "ADMIN", couldSeeSecretKey: true } },
      { action: "keys.regenerated", target: null, details: {} },
    ].map((entry, at) => expect.objectContaining({ ...entry, actor: by, number: at + 1 })),
  );
  expect(total).toBe(6);
  expect(await verify(id)).toBeNull();
});

test("records domains, secrets, suppressions, exports and campaigns without contact addresses", async () => {
  const { id, byKey } = await server.createProject();
  const add = await server.call(domains.createDomain, byKey, { body: { domain: `${id}.example` } });
  await server.call(domains.updateDomain, byKey, { params: { id: add.body.id }, body: { ed25519: true } });
  await server.call(domains.rotateDomainKey, byKey, { params: { id: add.body.id } });
  await server.call(webhooks.rotateWebhookSecret, byKey);
  await server.call(suppressions.addSuppressions, byKey, { body: { emails: ["ada@example.com"] } });
  await server.call(suppressions.addSuppressions, byKey, { body: { emails: ["ada@example.com"] } });
  await server.call("DELETE", "/suppressions/ada@example.com", byKey);
  await server.call("DELETE", "/suppressions/ada@example.com", byKey);
  await server.call(suppressions.exportSuppressions, byKey);
  await server.call(contacts.upsertContact, byKey, { body: { email: "ada@example.com", subscribed: true } });
  await server.call(contactImport.exportContacts, byKey);
  const text = { subject: "Hi", body: "<p>Hi</p>", from: "hello@sandbox.localhost" };
  const made = await server.call(campaigns.createCampaign, byKey, {
    body: {
      ...text,
      name: "News",
      audienceType: "ALL",
    },
  });
  const campaign = made.body.data.id;
  const scheduledFor = new Date(Date.now() + 86_400_000).toISOString();
  await server.call(campaignActions.sendCampaign, byKey, {
    params: { id: campaign },
    body: { scheduledFor },
  });
  await server.call(campaignActions.cancelCampaign, byKey, { params: { id: campaign } });
  await server.call(campaignActions.cancelCampaign, byKey, { params: { id: campaign } });
  await server.call(campaignActions.sendCampaign, byKey, { params: { id: campaign } });
  await server.call(campaignReport.exportCampaignRecipients, byKey, { params: { id: campaign } });
  await server.call(domains.deleteDomain, byKey, { params: { id: add.body.id } });
  const { data } = await list({ id, byKey } as TestProject);
  const domain = { id: add.body.id, name: `${id}.example` };
  const news = { id: campaign, name: "News" };
  expect(data.toReversed().map(({ action, target, details }) => [action, target, details])).toEqual([
    ["project.created", null, { name: "A project" }],
    ["domain.added", domain, {}],
    ["domain.updated", domain, { ed25519: true }],
    ["domain.keyRotated", domain, {}],
    ["webhookSecret.rotated", null, {}],
    ["suppressions.added", null, { added: 1 }],
    ["suppression.removed", null, {}],
    ["suppressions.exported", null, {}],
    ["contacts.exported", null, {}],
    ["campaign.scheduled", news, { scheduledFor }],
    ["campaign.cancelled", news, {}],
    ["campaign.sent", news, {}],
    ["campaign.exported", news, {}],
    ["domain.removed", domain, {}],
  ]);
  expect(await verify(id)).toBeNull();
});

test("pages follow each other without a gap", async () => {
  const project = await server.createProject();
  await record(...Array.from({ length: 6 }, (_, at) => entryOf(project.id, { at })));
  const first = await list(project, "?limit=4");
  const second = await list(project, `?limit=4&cursor=${first.cursor}`);
  expect([...first.data, ...second.data].map(({ number }) => number)).toEqual([7, 6, 5, 4, 3, 2, 1]);
  expect([first.total, second.hasMore]).toEqual([7, false]);
});

test("a rolled back change leaves no entry", async () => {
  const project = await server.createProject();
  const failing = transaction(server.database, async (tx) => {
    await recordAudit(tx, [entryOf(project.id)]);
    throw new Error("changed my mind");
  });
  await expect(failing).rejects.toThrow("changed my mind");
  expect((await list(project)).total).toBe(1);
  expect(await verify(project.id)).toBeNull();
});

test("concurrent changes over several projects build one chain per project", async () => {
  const ids = (await Promise.all([server.createProject(), server.createProject()])).map(({ id }) => id);
  const mixed = (at: number) => (at % 2 === 0 ? ids : ids.toReversed()).map((id) => entryOf(id, { at }));
  await Promise.all(Array.from({ length: 30 }, (_, at) => record(...mixed(at))));
  for (const id of ids) {
    expect(await verify(id)).toBeNull();
    const rows = await server.rows<{ count: number }>(
      "select max(number)::int as count from audit_log where project_id = $1",
      id,
    );
    expect(rows).toEqual([{ count: 31 }]);
  }
});

test.for([
  ["an edited detail", `update audit_log set details = '{"b": 1}' where number = 3`, 3, "changed"],
  ["another actor", "update audit_log set actor_email = 'me@example.com' where number = 2", 2, "changed"],
  ["another time", "update audit_log set at = at - interval '1 ms' where number = 4", 4, "changed"],
  ["a missing entry", "delete from audit_log where number = 3", 3, "missing"],
  ["a missing end", "delete from audit_log where number = 5", 5, "missing"],
  [
    "an end that was never recorded",
    "update audit_heads set hash = decode(repeat('00', 32), 'hex') where number = 5",
    5,
    "changed",
  ],
] as const)("the chain detects %s", async ([, statement, number, what]) => {
  const projectId = randomUUID();
  await record(
    ...Array.from({ length: 5 }, () => entryOf(projectId, { b: { y: 1, x: [true, null] }, a: "é" })),
  );
  expect(await verify(projectId)).toBeNull();
  await server.rows(`${statement} and project_id = '${projectId}'`);
  expect(await verify(projectId)).toEqual({ projectId, number, what });
  expect(await verifyAuditLogs(server.database)).toContainEqual({ projectId, number, what });
});

test("filters entries by action, actor and time, and counts what matches", async () => {
  const project = await server.createProject();
  const other = await server.createProject();
  const { owner, id } = project;
  const before = new Date().toISOString();
  await server.call("PATCH", `/users/@me/projects/${id}`, { cookie: owner.cookie }, { name: "Renamed" });
  await record(entryOf(id), entryOf(id, { by: "service" }), entryOf(other.id));
  const actionsOf = async (query: string) => {
    const { data, total } = await list(project, query);
    expect(total).toBe(data.length);
    return data.map(({ action, actor }) => `${action} by ${actor.kind}`);
  };
  const renamed = "project.updated by person";
  const automatic = "project.updated by service";
  expect(await actionsOf("?action=project.updated")).toEqual([automatic, automatic, renamed]);
  expect(await actionsOf(`?action=project.updated&userId=${owner.id}`)).toEqual([renamed]);
  expect(await actionsOf("?actorKind=service")).toEqual([automatic, automatic]);
  expect(await actionsOf(`?since=${before}`)).toEqual([automatic, automatic, renamed]);
  expect(await actionsOf(`?until=${before}`)).toEqual(["project.created by person"]);
  expect(await actionsOf(`?userId=${randomUUID()}`)).toEqual([]);
  const first = await list(project, "?actorKind=service&limit=1");
  const next = await list(project, `?actorKind=service&limit=1&cursor=${first.cursor}`);
  expect([first.total, first.hasMore, next.data.length, next.hasMore]).toEqual([2, true, 1, false]);
});
