// Tests resetting and deleting a project: everything of it is deleted, nothing of others, nothing is sent, and it continues after any
// crash.
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import * as campaignsContract from "@postloft/contract/campaigns.ts";
import * as contactsContract from "@postloft/contract/contacts.ts";
import * as members from "@postloft/contract/members.ts";
import * as projects from "@postloft/contract/projects.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { transaction } from "../../platform/database/database.ts";
import { findClaimedForUpdate, updateJobStep } from "../../platform/background/job-queries.ts";
import type { ErrorEnvelope } from "../../platform/http/errors.ts";
import { listTenantTables } from "../../platform/database/tenant-rows.ts";
import { verifyAuditLog } from "../../audit/audit-log.ts";
import { holdRow } from "../../testing/hold-row.ts";
import {
  faultsOf,
  errorOf,
  useTestServer,
  type OneServer,
  type TestProject,
} from "../../testing/test-server.ts";
import { drawWorkflow } from "../../testing/workflow-fixture.ts";
import { KEPT, removalStep } from "./removal.ts";

// Each test starts the workers when they are needed.
const server = useTestServer({ ROLES: "api" });

const LEFT = ["api_keys", "audit_heads", "audit_log", "jobs", "memberships", "project_queues", "domains"];
const WAIT = { timeout: 30_000, interval: 50 };
const own = ({ id }: TestProject, rest = "") => `/users/@me/projects/${id}${rest}`;
const session = ({ owner: { cookie } }: TestProject) => ({ cookie });
type Asked = ErrorEnvelope & { jobId: string };
const reset = (project: TestProject, confirm = "A project") =>
  server.call<Asked>("POST", own(project, "/reset"), session(project), { confirm });
const remove = (project: TestProject, confirm = "A project") =>
  server.call<Asked>("DELETE", own(project), session(project), { confirm });

/** Creates rows in most tables, and many contacts with an event each. */
async function furnish(project: TestProject, contacts = 30): Promise<void> {
  const { byKey, id } = project;
  const mail = {
    to: "ada@example.com",
    from: "a@sandbox.localhost",
    subject: "s",
    body: "<a href='https://a.example'>b</a>",
  };
  for (const [path, body] of [
    ["/v1/send", mail],
    ["/v1/track", { email: "ada@example.com", event: "opened", data: { plan: "pro" } }],
    ["/templates", { name: "Hello", subject: "s", body: "b", type: "TRANSACTIONAL" }],
    ["/segments", { name: "Guests", type: "STATIC" }],
    [
      "/campaigns",
      { name: "News", subject: "s", body: "b", from: "a@sandbox.localhost", audienceType: "ALL" },
    ],
    ["/domains", { domain: `${randomUUID()}.example.com` }],
    ["/contacts/bulk-unsubscribe", { contactIds: [randomUUID()] }],
  ] as const)
    expect(
      (await server.call("POST", path, { ...byKey, headers: { "idempotency-key": randomUUID() } }, body))
        .status,
    ).toBeLessThan(300);
  await drawWorkflow(server.database, id, { steps: [["trigger", "TRIGGER"]], links: [] });
  // A new connection, without query plans from when the tables were small.
  const connection = await server.pool.connect();
  await connection.query("discard plans");
  await connection.query(
    `with made as (
       insert into contacts (project_id, id, email, subscribed)
       select $1, gen_random_uuid(), 'c' || n || '@example.com', true from generate_series(1, $2) n returning id
     )
     insert into events (project_id, id, contact_id, name, created_at) select $1, gen_random_uuid(), id, 'seen', now() from made`,
    [id, contacts],
  );
  connection.release();
}

/** Returns the number of a project's rows per table, without empty ones. Skips the request log, which is written after the responses. */
async function rowsOf(projectId: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { name } of await listTenantTables(server.database)) {
    if (name === "api_requests") continue;
    const [row] = await server.rows<{ count: number }>(
      `select count(*)::int as count from "${name}" where project_id = $1`,
      projectId,
    );
    if (row !== undefined && row.count > 0) counts[name] = row.count;
  }
  return counts;
}

async function withWorker(work: (worker: OneServer) => Promise<void>): Promise<void> {
  const worker = await server.startAnother({ ROLES: "worker" });
  await work(worker).finally(() => worker.stop());
}

const isGone = async (project: TestProject) =>
  (await server.rows("select 1 from projects where id = $1", project.id)).length === 0;

/** Tables that a reset empties. Add new tenant tables here, or to `KEPT` if a reset must keep them. */
const WIPED =
  "api_requests campaign_queues campaigns consent_changes consent_erasures consent_heads consent_seals contact_fields contact_views contacts content_links count_positions count_values dmarc_reports dmarc_sources email_attempts email_contents email_counts email_files " +
  "email_resolutions emails emails_kept_longer event_counts event_deliveries event_log event_name_counts event_reactions event_streams event_subscriptions events idempotency_keys import_changes job_errors job_files link_clicks " +
  "mail_counts mailbox_messages paused_destinations received_emails recipient_batches retired_slugs returned_messages segment_members segments template_variants template_versions templates " +
  "tls_reports tracking_counts uploads webhook_calls webhook_endpoints workflow_dates workflow_earlier_graphs workflow_executions workflow_step_counts workflow_versions workflows";

test("every tenant table is listed as deleted or kept by a reset", async () => {
  const tables = (await listTenantTables(server.database)).map(({ name }) => name);
  expect(tables.toSorted()).toEqual([...WIPED.split(" "), ...KEPT.RESET].toSorted());
});

test("a reset keeps members, keys, domains and the log, and affects no other project", async () => {
  const [project, other] = [await server.createProject(), await server.createProject()];
  for (const one of [project, other]) await furnish(one);
  // Plans the deletions of the next tests with current table sizes, like a new installation.
  await server.rows("analyze");
  const before = await rowsOf(other.id);
  expect(Object.keys(before).length).toBeGreaterThan(15);
  const { status, body } = await reset(project);
  expect(status).toBe(202);
  expect(
    errorOf(
      await server.call(contactsContract.upsertContact, project.byKey, { body: { email: "a@example.com" } }),
    ),
  ).toBe("403 PROJECT_DISABLED");
  const path = own(project, `/removals/${body.jobId}`);
  const job = async () =>
    (await server.call<{ state: string; result: unknown }>("GET", path, session(project))).body;
  await withWorker(async () => {
    await expect.poll(async () => (await job()).state, WAIT).toBe("completed");
  });
  expect((await job()).result).toEqual({ deletedRows: expect.any(Number) });
  expect(Object.keys(await rowsOf(project.id)).toSorted()).toEqual(LEFT.toSorted());
  // Other projects' emails are sent and their jobs done in that time, but nothing of them is lost.
  const after = await rowsOf(other.id);
  const gone = Object.entries(before).filter(([table, count]) => (after[table] ?? 0) < count);
  expect(gone.filter(([table]) => table !== "job_files")).toEqual([]);
  const { body: shown } = await server.call(projects.listProjects, session(project));
  expect(shown[0]).toMatchObject({ disabled: false, removal: null });
  expect(
    (await server.call(contactsContract.upsertContact, project.byKey, { body: { email: "a@example.com" } }))
      .status,
  ).toBe(201);
  expect(await verifyAuditLog(server.database, project.id)).toBeNull();
});

test("a reset keeps the brand, and a logo only if it is not an image that the reset deletes", async () => {
  const [uploaded, elsewhere] = [await server.createProject(), await server.createProject()];
  const key = uploaded.id.replaceAll("-", "") + "a".repeat(32);
  const logos = [`https://post.example/images/${key}.png`, "https://shop.example/logo.png"];
  const both = [uploaded, elsewhere];
  for (const [at, { id }] of both.entries())
    await server.rows(
      "update projects set logo_url = $2, brand_accent = '#0f766e' where id = $1",
      id,
      logos[at],
    );
  for (const project of both) expect((await reset(project)).status).toBe(202);
  const stateOf = async () =>
    server.rows(
      'select removal, logo_url as "logoUrl", brand_accent as "accent" from projects where id = any($1) order by id',
      both.map(({ id }) => id),
    );
  await withWorker(async () => {
    await expect.poll(stateOf, WAIT).toEqual([
      { removal: null, logoUrl: null, accent: "#0f766e" },
      { removal: null, logoUrl: logos[1], accent: "#0f766e" },
    ]);
  });
});

test("a deleted project and all its rows are gone, and its audit log is kept", async () => {
  const project = await server.createProject();
  await furnish(project);
  const member = await server.signUp();
  await server.prove(member);
  await server.call(members.addMember, session(project), {
    params: { projectId: project.id },
    body: { email: member.email },
  });
  expect((await remove(project)).status).toBe(202);
  await withWorker(async () => {
    await expect.poll(() => isGone(project), WAIT).toBe(true);
  });
  expect(Object.keys(await rowsOf(project.id)).toSorted()).toEqual(["audit_heads", "audit_log"]);
  expect(errorOf(await server.call(contactsContract.listContacts, project.byKey))).toBe(
    "401 INVALID_API_KEY",
  );
  expect(errorOf(await remove(project))).toBe("404 PROJECT_NOT_FOUND");
  const actions = await server.rows(
    "select action from audit_log where project_id = $1 order by number desc limit 2",
    project.id,
  );
  expect(actions).toEqual([{ action: "project.deleted" }, { action: "project.deletionRequested" }]);
  expect(await verifyAuditLog(server.database, project.id)).toBeNull();
});

test("rejects a request without the exact name or while another removal is running", async () => {
  const project = await server.createProject();
  const before = await server.countRows();
  for (const confirm of ["", "a project", "A project ", project.id])
    for (const ask of [reset, remove])
      expect(faultsOf(await ask(project, confirm))).toEqual(["confirm custom"]);
  expect(faultsOf(await server.call("DELETE", own(project), session(project), {}))).toEqual([
    "confirm required",
  ]);
  expect(await server.countRows()).toEqual(before);
  const replies = await Promise.all([reset(project), remove(project), remove(project), reset(project)]);
  expect(replies.filter(({ status }) => status === 202)).toHaveLength(1);
  const owner = await server.rows("select removal from projects where id = $1 and disabled", project.id);
  expect(owner).toHaveLength(1);
  const enabled = await server.call(projects.enableProject, session(project), {
    params: { projectId: project.id },
    body: { reason: "I did not mean it" },
  });
  expect(errorOf(enabled)).toBe("409 CONFLICT");
  expect(errorOf(await server.call("GET", own(project, `/removals/${randomUUID()}`), session(project)))).toBe(
    "404 JOB_NOT_FOUND",
  );
});

test("waiting emails are never sent, neither during the deletion nor afterwards", async () => {
  const project = await server.createProject();
  const to = Array.from({ length: 20 }, (_, at) => `p${at}@example.com`);
  const mail = { to, from: "a@sandbox.localhost", subject: "s", body: "b" };
  expect((await server.call(v1.send, project.byKey, { body: mail })).status).toBe(200);
  // Nested loops over these tables would exceed the timeout.
  await furnish(project, 12_000);
  const campaigns = await server.call(campaignsContract.listCampaigns, project.byKey);
  await server.call("POST", `/campaigns/${campaigns.body.data[0]?.id}/send`, project.byKey, {});
  expect((await reset(project)).status).toBe(202);
  const received = () => server.rows("select 1 from mailbox_messages where project_id = $1", project.id);
  expect(await received()).toHaveLength(0);
  await withWorker(async () => {
    const isDone = async () =>
      (await server.rows("select 1 from projects where id = $1 and not disabled", project.id)).length === 1;
    await expect.poll(isDone, WAIT).toBe(true);
    // A later email proves that the senders were working.
    const after = { to: "later@example.com", from: "a@sandbox.localhost", subject: "s", body: "b" };
    await server.call(v1.send, project.byKey, { body: after });
    const sent = () =>
      server.rows<{ toAddress: string }>(
        "select e.to_address from emails e where sent_at is not null and project_id = $1",
        project.id,
      );
    await expect.poll(sent, WAIT).toEqual([{ toAddress: "later@example.com" }]);
  });
  expect(await received()).toHaveLength(1);
});

test("a link of an email sent before a reset has the same target when it is sent again", async () => {
  const project = await server.createProject();
  const mail = {
    to: "ada@example.com",
    from: "a@sandbox.localhost",
    subject: "s",
    body: "<a href='https://a.example/page'>b</a>",
  };
  await withWorker(async () => {
    const sendAndRead = async () => {
      expect((await server.call(v1.send, project.byKey, { body: mail })).status).toBe(200);
      const urls = () =>
        server.rows(
          `select l.urls from emails e
           left join content_links l on l.project_id = e.project_id and l.content_id = e.content_id
           where e.sent_at is not null and e.project_id = $1`,
          project.id,
        );
      await expect.poll(async () => (await urls()).length, WAIT).toBe(1);
      return urls();
    };
    const before = await sendAndRead();
    expect(before).toEqual([{ urls: ["https://a.example/page"] }]);
    expect((await reset(project)).status).toBe(202);
    const isDone = async () =>
      (await server.rows("select 1 from projects where id = $1 and not disabled", project.id)).length === 1;
    await expect.poll(isDone, WAIT).toBe(true);
    expect(await sendAndRead()).toEqual(before);
  });
});

test("begins its pass again when a request in progress adds an email to a contact", async () => {
  const project = await server.createProject();
  await furnish(project);
  const step = { projectId: project.id, id: randomUUID(), input: {}, createdAt: new Date() };
  const checkpoint = { table: "contacts", deleted: 1, deletedInRound: 1 };
  const outcome = await transaction(server.database, (tx) =>
    removalStep("RESET")(tx, { ...step, checkpoint }),
  );
  expect(outcome).toMatchObject({ done: false, checkpoint: { table: null, deleted: 1 } });
  expect((await rowsOf(project.id))["emails"]).toBe(1);
});

test("another process continues after a crash between batches and ignores uncommitted ones", async () => {
  const project = await server.createProject();
  await furnish(project, 5_000);
  const { jobId } = (await remove(project)).body;
  const claimId = randomUUID();
  await server.rows(
    "update jobs set state = 'active', claim_id = $2, due_at = now() + interval '15 s' where id = $1",
    jobId,
    claimId,
  );
  const step = (isDying: boolean) =>
    transaction(server.database, async (tx) => {
      const key = { projectId: project.id, id: jobId };
      const row = await findClaimedForUpdate(tx, key, claimId);
      if (row === undefined) throw new Error("The job is there.");
      const outcome = await removalStep("DELETE")(tx, { ...key, ...row, createdAt: row.createdAt });
      if (outcome.done || isDying) throw new Error("died");
      await updateJobStep(tx, key, {
        checkpoint: JSON.stringify(outcome.checkpoint),
        progress: Math.floor(outcome.progress),
        leaseMs: 0,
      });
    });
  await step(false);
  await expect(step(true)).rejects.toThrow("died");
  const halfway = await rowsOf(project.id);
  expect(Object.values(halfway).reduce((sum, count) => sum + count)).toBeGreaterThan(5_000);
  await withWorker(async () => {
    await expect.poll(() => isGone(project), WAIT).toBe(true);
  });
  expect(Object.keys(await rowsOf(project.id)).toSorted()).toEqual(["audit_heads", "audit_log"]);
  const [entry] = await server.rows<{ deleted: number }>(
    "select (details ->> 'deletedRows')::int as deleted from audit_log where project_id = $1 and action = 'project.deleted'",
    project.id,
  );
  // Contacts and events once each, and little else.
  expect(entry?.deleted).toBeGreaterThanOrEqual(10_000);
  expect(entry?.deleted).toBeLessThan(10_100);
});

test("requests in progress get an error at every endpoint when the project is removed", async () => {
  const project = await server.createProject();
  const post = (path: string, body: object) => server.call("POST", path, project.byKey, body);
  const replies = await holdRow(
    server.pool,
    ["select 1 from projects where id = $1", project.id],
    () => [
      post("/domains", { domain: `${randomUUID()}.example.com` }),
      post("/templates", { name: "Hello", subject: "s", body: "b", type: "TRANSACTIONAL" }),
      post("/v1/track", { email: "ada@example.com", event: "opened" }),
    ],
    (client) => client.query("delete from projects where id = $1", [project.id]),
  );
  expect(replies.map(errorOf)).toEqual(Array(3).fill("403 PROJECT_DISABLED"));
});

test.each([
  ["disabled", "update projects set disabled = true where id = $1", "403 PROJECT_DISABLED"],
  ["no longer theirs", "update memberships set role = 'MEMBER' where project_id = $1", "403 FORBIDDEN"],
])(
  "a reset pending while the project was %s does not start and enables nothing",
  async (_, change, appError) => {
    const project = await server.createProject();
    const [reply] = await holdRow(
      server.pool,
      ["select 1 from projects where id = $1", project.id],
      () => [reset(project)],
      (client) => client.query(change, [project.id]),
    );
    expect(reply === undefined ? "" : errorOf(reply)).toBe(appError);
    expect(await server.rows("select 1 from jobs where project_id = $1", project.id)).toEqual([]);
  },
);
