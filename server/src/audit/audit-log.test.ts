// Audit log: entries are written with the change, actor and IP address, and any edited, missing or added entry is detected.
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { transaction } from "../platform/database/database.ts";
import { useTestServer, type TestProject } from "../testing/test-server.ts";
import { recordAudit, SERVICE, verifyAuditLog, verifyAuditLogs, type AuditEntry } from "./audit-log.ts";

const server = useTestServer({ ROLES: "api" });

interface Entry {
  number: number;
  action: string;
  actor: { kind: string; userId: string | null; email: string | null; ip: string | null };
  target: { id: string; name: string | null } | null;
  details: Record<string, unknown>;
}
interface Listed {
  data: Entry[];
  cursor: string | null;
  hasMore: boolean;
  total: number;
}

const list = async ({ id, byKey }: TestProject, query = "") =>
  (await server.call<Listed>("GET", `/projects/${id}/audit-log${query}`, byKey)).body;
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
  await server.call("POST", `/projects/${id}/members`, caller, { email: person.email });
  await server.call("PATCH", `/projects/${id}/members/${person.id}`, caller, { role: "ADMIN" });
  await server.call("DELETE", `/projects/${id}/members/${person.id}`, caller);
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
  const add = await server.call<{ id: string }>("POST", "/domains", byKey, { domain: `${id}.example` });
  await server.call("PATCH", `/domains/${add.body.id}`, byKey, { ed25519: true });
  await server.call("POST", `/domains/${add.body.id}/rotate-key`, byKey);
  await server.call("POST", "/webhooks/secret/rotate", byKey);
  await server.call("POST", "/suppressions", byKey, { emails: ["ada@example.com"] });
  await server.call("POST", "/suppressions", byKey, { emails: ["ada@example.com"] });
  await server.call("DELETE", "/suppressions/ada@example.com", byKey);
  await server.call("DELETE", "/suppressions/ada@example.com", byKey);
  await server.call("GET", "/suppressions/export.csv", byKey);
  await server.call("POST", "/contacts", byKey, { email: "ada@example.com", subscribed: true });
  await server.call("GET", "/contacts/export.csv", byKey);
  const text = { subject: "Hi", body: "<p>Hi</p>", from: "hello@sandbox.localhost" };
  const made = await server.call<{ data: { id: string } }>("POST", "/campaigns", byKey, {
    ...text,
    name: "News",
    audienceType: "ALL",
  });
  const campaign = made.body.data.id;
  const scheduledFor = new Date(Date.now() + 86_400_000).toISOString();
  await server.call("POST", `/campaigns/${campaign}/send`, byKey, { scheduledFor });
  await server.call("POST", `/campaigns/${campaign}/cancel`, byKey);
  await server.call("POST", `/campaigns/${campaign}/cancel`, byKey);
  await server.call("POST", `/campaigns/${campaign}/send`, byKey);
  await server.call("DELETE", `/domains/${add.body.id}`, byKey);
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
