// Tests the installation page's endpoints: who may call them, that their numbers equal the database, and what suspending does.
import { expect, test } from "vitest";
import * as account from "@postloft/contract/account.ts";
import * as contract from "@postloft/contract/installation.ts";
import { BACKUP_ENDPOINTS } from "@postloft/contract/installation-backups.ts";
import * as v1 from "@postloft/contract/v1.ts";
import * as projects from "@postloft/contract/projects.ts";
import { getSecurity } from "@postloft/contract/security.ts";
import { transaction } from "../platform/database/database.ts";
import { suspendProjects } from "../projects/suspend-projects.ts";
import { readPlatformEmails } from "../testing/platform-emails.ts";
import {
  errorOf,
  faultsOf,
  responsesByName,
  sameByName,
  useTestServer,
  type TestCaller,
  type TestPerson,
} from "../testing/test-server.ts";

const ADMIN = "person1@example.com";
// No process sends, so that emails wait. The first account is the owner of the common project, which no test makes an admin.
const server = useTestServer({ ROLES: "api", ADMIN_EMAILS: `nobody@example.com, ${ADMIN}` });
const REASON = { reason: "Sends email that no one asked for." };

/** The first account of the server has the address of the admin, because test accounts are numbered. */
let known: TestPerson | undefined;
async function admin(): Promise<TestCaller> {
  known ??= server.project.owner;
  expect(known.email).toBe(ADMIN);
  await server.prove(known);
  return { cookie: known.cookie };
}

const BACKUP = "postloft-2026-01-01T00-00-00Z.tar.gz";
const pathOf = (path: string) => path.replace(":id", server.project.id).replace(":name", BACKUP);
const onlyForAdmins = [...contract.INSTALLATION_ENDPOINTS, ...BACKUP_ENDPOINTS].filter(
  ({ name }) => name !== contract.getInstallationAccess.name,
);

async function askAll(caller: TestCaller): Promise<Record<string, string>> {
  return responsesByName(
    onlyForAdmins,
    ({ name }) => name,
    async ({ method, path, takesBody }) =>
      errorOf(await server.call(method, pathOf(path), caller, takesBody ? REASON : undefined)),
  );
}
const all = (reply: string) =>
  sameByName(
    onlyForAdmins,
    ({ name }) => name,
    () => reply,
  );

async function access(caller: TestCaller): Promise<boolean> {
  return (await server.call(contract.getInstallationAccess, caller)).body.isAdmin;
}

async function queuesOf(projectId: string) {
  const { body } = await server.call(contract.getInstallation, await admin());
  return body.queues?.filter(({ project }) => project?.id === projectId) ?? [];
}

test("returns 404 to every account but a confirmed one in ADMIN_EMAILS, and 401 without a session", async () => {
  const member = await server.signUp();
  await server.prove(member);
  const { project } = server;
  const before = await server.countRows();
  expect(await askAll({})).toEqual(all("401 UNAUTHORIZED"));
  expect(await askAll(project.byKey)).toEqual(all("401 UNAUTHORIZED"));
  expect(await askAll({ ...project.byKey, cookie: project.owner.cookie })).toEqual(all("401 UNAUTHORIZED"));
  expect(await askAll({ cookie: member.cookie })).toEqual(all("404 RESOURCE_NOT_FOUND"));
  expect(await access({ cookie: member.cookie })).toBe(false);
  // The owner has the address of an admin, but has not confirmed it.
  expect(await askAll({ cookie: project.owner.cookie })).toEqual(all("404 RESOURCE_NOT_FOUND"));
  expect(await access({ cookie: project.owner.cookie })).toBe(false);
  expect(await server.countRows()).toEqual(before);
});

test("returns 404 to a confirmed first account if ADMIN_EMAILS is empty", async () => {
  const caller = await admin();
  const another = await server.startAnother({ ADMIN_EMAILS: "" });
  expect(errorOf(await another.call(contract.getInstallation, caller))).toBe("404 RESOURCE_NOT_FOUND");
  expect((await another.call(contract.getInstallationAccess, caller)).body).toEqual({ isAdmin: false });
  expect(await access(caller)).toBe(true);
});

test("shows what waits in each queue of a project, and why", async () => {
  const project = await server.createProject();
  const from = "hello@sandbox.localhost";
  const send = async (to: string, more: object = {}) =>
    expect(
      (await server.call("POST", "/v1/send", project.byKey, { to, from, subject: "s", body: "b", ...more }))
        .status,
    ).toBe(200);
  expect(await queuesOf(project.id)).toEqual([]);
  await send("ada@example.com", { scheduledFor: new Date(Date.now() + 86_400_000).toISOString() });
  expect(await queuesOf(project.id)).toMatchObject([
    { kind: "TRANSACTIONAL", campaign: null, waiting: 1, due: 0, held: false, reason: "LATER" },
  ]);
  await send("bob@example.com");
  await send("eve@example.com");
  const [row] = await server.rows<{ oldest: Date }>(
    "select min(due_at) as oldest from emails where project_id = $1",
    project.id,
  );
  expect(await queuesOf(project.id)).toMatchObject([
    { waiting: 3, due: 2, oldestDueAt: row?.oldest.toISOString(), reason: "NO_PROCESS" },
  ]);
  await server.rows(
    "update emails set due_at = now() + interval '1 minute', attempts = 1 where project_id = $1 and due_at <= now()",
    project.id,
  );
  expect(await queuesOf(project.id)).toMatchObject([{ waiting: 3, due: 0, reason: "RETRY" }]);
  await server.rows("update emails set due_at = 'infinity' where project_id = $1", project.id);
  expect(await queuesOf(project.id)).toMatchObject([
    { waiting: 3, due: 0, held: true, oldestDueAt: null, reason: "HELD" },
  ]);
  await server.rows("update projects set disabled = true where id = $1", project.id);
  expect(await queuesOf(project.id)).toMatchObject([{ waiting: 3, reason: "PROJECT_DISABLED" }]);
});

test("ignores the outages of a dead process, and names an outage as the reason of a live one", async () => {
  const project = await server.createProject();
  const mail = { to: "ada@example.com", from: "hello@sandbox.localhost", subject: "s", body: "b" };
  expect((await server.call(v1.send, project.byKey, { body: mail })).status).toBe(200);
  const outage = "The transport smtp has been out of service since 2027-01-31T12:00:00.000Z";
  await server.rows(
    "insert into senders (id, lease_until, outages) values (new_id(), now() - interval '1 minute', $1)",
    [outage],
  );
  const another = await server.startAnother({ MAIL_TRANSPORT: "smtp://127.0.0.1:1" });
  const read = async () => {
    const { body } = await another.call(contract.getInstallation, await admin());
    const [queue] = body.queues?.filter((one) => one.project?.id === project.id) ?? [];
    return { outage: body.transports?.[0]?.outage, reason: queue?.reason };
  };
  expect(await read()).toEqual({ outage: null, reason: "NO_PROCESS" });
  await server.rows("update senders set lease_until = now() + interval '1 hour'");
  expect(await read()).toEqual({ outage, reason: "TRANSPORT_OUTAGE" });
  await server.rows("update senders set outages = '{}'");
  expect(await read()).toEqual({ outage: null, reason: null });
  await server.rows("delete from senders");
});

test("shows the version, the database, tables, disk and findings without a secret", async () => {
  const { text, body } = await server.call(contract.getInstallation, await admin());
  expect(contract.getInstallation.responses[200]?.parse(body)).toEqual(body);
  const [size] = await server.rows<{ bytes: string }>(
    "select pg_total_relation_size('emails')::float8 as bytes",
  );
  expect(body.tables).toHaveLength(20);
  expect(body.tables?.map(({ bytes }) => bytes)).toEqual(
    body.tables?.map(({ bytes }) => bytes).toSorted((one, other) => other - one),
  );
  expect(body.tables?.find(({ name }) => name === "emails")?.bytes).toBe(size?.bytes);
  expect(body.database?.connections).toBeGreaterThan(0);
  expect(body.database?.bytes).toBeGreaterThan(1_000_000);
  expect(body.disk?.freeBytes).toBeLessThanOrEqual(body.disk?.totalBytes ?? 0);
  expect(body.transports).toEqual([{ label: "mailbox", outage: null }]);
  expect(body.settings).toMatchObject({ roles: ["api"], signUps: true });
  expect(body.findings?.map(({ check }) => check)).toEqual(
    expect.arrayContaining(["database", "migrations", "clock", "queue"]),
  );
  const { publicKey, secretKey, owner } = server.project;
  for (const secret of [publicKey, secretKey, owner.password, "postgres://"])
    expect(text).not.toContain(secret);
});

test("shows jobs, schedules and throttled domains of all projects", async () => {
  const { id } = await server.createProject();
  const job = (state: string, dueAt: string) =>
    server.rows(
      `insert into jobs (project_id, id, kind, state, input, due_at, failures, finished_at)
      values ($1, new_id(), 'contacts.import', $2, '{}', now() + $3::interval, 2, case when $2 = 'failed' then now() end)`,
      id,
      state,
      dueAt,
    );
  await job("waiting", "-2 minutes");
  await job("active", "10 seconds");
  await job("failed", "0");
  await job("completed", "0");
  await server.rows(
    "insert into workflows (project_id, id, name, next_run_at) values ($1, new_id(), 'Digest', now() - interval '1 hour')",
    id,
  );
  await server.rows(
    `insert into paused_destinations (project_id, destination, domains, answer, try_at)
    values ($1, 'gmail.com', '{gmail.com}', '421 slow down', now())`,
    id,
  );
  const { body } = await server.call(contract.getInstallation, await admin());
  const own = <Item extends { project: { id: string } | null }>(items: Item[] | null) =>
    items?.filter(({ project }) => project?.id === id);
  expect(own(body.jobs)).toMatchObject([
    { state: "waiting", isLate: true, failures: 2 },
    { state: "active", isLate: false },
    { state: "failed", isLate: false },
  ]);
  expect(own(body.schedules)).toMatchObject([{ kind: "WORKFLOW", name: "Digest", isLate: true }]);
  expect(own(body.throttledDomains)).toMatchObject([{ destination: "gmail.com", reply: "421 slow down" }]);
});

test("lists projects with owner, caps and the emails of 30 days, and finds them by text and id", async () => {
  const project = await server.createProject();
  await server.rows("update projects set name = 'Needle 50% off' where id = $1", project.id);
  await server.rows("insert into billing_limits (project_id, campaigns) values ($1, 700)", project.id);
  await server.rows(
    `insert into sending_hours (project_id, hour, sent)
    values ($1, date_trunc('hour', now()), 5), ($1, date_trunc('hour', now() - interval '29 days'), 7),
      ($1, date_trunc('hour', now() - interval '31 days'), 100)`,
    project.id,
  );
  const find = async (search: string) =>
    (await server.call(contract.listInstallationProjects, await admin(), { query: { search } })).body;
  const found = await find("NEEDLE 50%");
  expect(found).toMatchObject({
    total: 1,
    data: [
      {
        id: project.id,
        owner: project.owner.email,
        disabled: false,
        caps: { transactional: null, campaigns: 700, workflows: null },
        sentLast30Days: 12,
      },
    ],
  });
  expect(await find(project.id)).toEqual(found);
  expect(await find(project.owner.email)).toEqual(found);
  expect(await find("_eedle")).toEqual({ data: [], total: 0 });
});

test("suspends a project so that only an admin can enable it, and its email waits meanwhile", async () => {
  const project = await server.createProject();
  const mail = { to: "ada@example.com", from: "hello@sandbox.localhost", subject: "s", body: "b" };
  const send = () => server.call(v1.send, project.byKey, { body: mail });
  const change = async (endpoint: typeof contract.suspendInstallationProject) =>
    (await server.call(endpoint, await admin(), { params: { id: project.id }, body: REASON })).body;
  expect((await send()).status).toBe(200);
  expect(await change(contract.suspendInstallationProject)).toEqual({ changed: true });
  expect(await change(contract.suspendInstallationProject)).toEqual({ changed: false });
  expect(errorOf(await send())).toBe("403 PROJECT_DISABLED");
  expect(await queuesOf(project.id)).toMatchObject([{ waiting: 1, reason: "PROJECT_DISABLED" }]);
  const byOwner = { params: { projectId: project.id }, body: REASON };
  expect(errorOf(await server.call(projects.enableProject, { cookie: project.owner.cookie }, byOwner))).toBe(
    "409 CONFLICT",
  );
  expect(await change(contract.enableInstallationProject as never)).toEqual({ changed: true });
  expect(await change(contract.enableInstallationProject as never)).toEqual({ changed: false });
  expect((await send()).status).toBe(200);
  expect(await queuesOf(project.id)).toMatchObject([{ waiting: 2, reason: "NO_PROCESS" }]);
  expect(
    await server.rows(
      "select action, actor_id as by, details from audit_log where project_id = $1 order by number desc limit 2",
      project.id,
    ),
  ).toEqual([
    { action: "project.enabled", by: null, details: REASON },
    { action: "project.suspended", by: null, details: { reasons: [REASON.reason] } },
  ]);
});

test("makes an automatic suspension one that only an admin can end", async () => {
  const project = await server.createProject();
  await transaction(server.database, (tx) =>
    suspendProjects(tx, [{ projectId: project.id, reasons: ["Too many bounces."], rates: [] }]),
  );
  const suspend = async () =>
    (
      await server.call(contract.suspendInstallationProject, await admin(), {
        params: { id: project.id },
        body: REASON,
      })
    ).body;
  const disabledBy = async () =>
    (await server.call(getSecurity, project.byKey, { params: { projectId: project.id } })).body.disabledBy;
  expect(await disabledBy()).toBe("RATES");
  expect([await suspend(), await suspend()]).toEqual([{ changed: true }, { changed: false }]);
  expect(await disabledBy()).toBe("ADMIN");
  const byOwner = { params: { projectId: project.id }, body: REASON };
  expect(errorOf(await server.call(projects.enableProject, { cookie: project.owner.cookie }, byOwner))).toBe(
    "409 CONFLICT",
  );
});

test("gives no account the address of an admin, because its owner could confirm it by mistake", async () => {
  const { cookie, password } = (await server.createProject()).owner;
  const change = (newEmail: string) =>
    server.call(account.changeEmail, { cookie }, { body: { currentPassword: password, newEmail } });
  for (const address of ["nobody@example.com", "Nobody@Example.com"])
    expect(faultsOf(await change(address))).toEqual(["newEmail custom"]);
  expect((await change("somebody@example.com")).status).toBe(200);
});

test("emails the reason to the owner of a suspended project, once for each change", async () => {
  const project = await server.createProject();
  const change = async (endpoint: typeof contract.suspendInstallationProject) =>
    server.call(endpoint, await admin(), { params: { id: project.id }, body: REASON });
  for (const endpoint of [contract.suspendInstallationProject, contract.enableInstallationProject as never])
    for (let times = 0; times < 2; times++) await change(endpoint);
  const mails = await readPlatformEmails(server.pool, { to: project.owner.email });
  expect(mails.map(({ subject }) => subject)).toEqual([
    "The project A project was disabled",
    "The project A project was enabled",
  ]);
  for (const { text } of mails) expect(text.replaceAll("\n", " ")).toContain("no one asked for. ");
});

test("rejects a missing project and a short reason without a change", async () => {
  const caller = await admin();
  const before = await server.countRows();
  for (const endpoint of [contract.suspendInstallationProject, contract.enableInstallationProject]) {
    for (const id of ["nothing", "0198c0de-0000-7abc-8def-0123456789ab"])
      expect(errorOf(await server.call(endpoint, caller, { params: { id }, body: REASON }))).toBe(
        "404 PROJECT_NOT_FOUND",
      );
    const { id } = server.project;
    expect(
      faultsOf(await server.call(endpoint, caller, { params: { id }, body: { reason: " short " } })),
    ).toEqual(["reason too_small"]);
  }
  // The project of platform email is not a project of anyone.
  const id = "00000000-0000-7000-8000-000000000000";
  expect(
    errorOf(await server.call(contract.suspendInstallationProject, caller, { params: { id }, body: REASON })),
  ).toBe("404 PROJECT_NOT_FOUND");
  expect(await server.countRows()).toEqual(before);
});
