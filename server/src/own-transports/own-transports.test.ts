// Tests the transports of projects through the API, with real SMTP servers.
import { afterAll, expect, test } from "vitest";
import * as audit from "@postloft/contract/audit.ts";
import * as contract from "@postloft/contract/project-transports.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { startDnsServer } from "../testing/dns-server.ts";
import { proveDomain } from "../testing/prove-domain.ts";
import { startSmtpSink } from "../testing/smtp-sink.ts";
import { useTestServer, type TestCaller, type TestProject } from "../testing/test-server.ts";
import { recordOutage } from "../transports/own/stored.ts";

const PASSWORD = "s3cret-pass-word";
const USER = "the-api-key-as-user";
const installation = await startSmtpSink();
const sink = await startSmtpSink({
  credentials: { user: USER, password: PASSWORD },
  advertise: { pipelining: true, auth: ["PLAIN"] },
});
const dns = await startDnsServer();
dns.setRecords("mail.own.example", { A: ["127.0.0.1"] });
dns.setRecords("mixed.own.example", { A: ["127.0.0.1", "10.0.0.7"] });
const SETTINGS = {
  ROLES: "api,worker",
  MAIL_TRANSPORT: `smtp://127.0.0.1:${installation.port}`,
  DNS_SERVERS: dns.address,
  BOUNCE_DOMAIN: "bounce.example",
  WEBHOOK_ALLOW_PRIVATE: "127.0.0.1",
};
const server = useTestServer(SETTINGS);
afterAll(async () => {
  await Promise.all([installation.close(), sink.close(), dns.close()]);
});

const options = "rejectUnauthorized=false";
const URL_OF_SINK = `smtp://${USER}:${PASSWORD}@mail.own.example:${sink.port}?${options}`;
const MASKED_URL = `smtp://••••:••••@mail.own.example:${sink.port}?${options}`;
const callerOf = ({ owner }: TestProject): TestCaller => ({ cookie: owner.cookie });

/** The fields that tests read of any response of these endpoints. */
interface ReplyBody {
  id: string;
  domain: string | null;
  name: string;
  data: Array<{ name: string }>;
  /** The reply to a test, or the error of the API. */
  error: string & { message: string; errors: Array<{ field: string; message: string }> };
}

/** Calls with a session and asserts that no response contains the credentials. */
async function call(
  project: TestProject,
  method: string,
  body?: unknown,
  path = "",
): Promise<{ status: number; body: ReplyBody; text: string }> {
  const reply = await server.call<ReplyBody>(
    method,
    `/projects/${project.id}/transports${path}`,
    callerOf(project),
    body,
  );
  expectNoSecret(reply.text);
  return reply;
}

function expectNoSecret(text: string): void {
  for (const secret of [PASSWORD, USER, Buffer.from(`\0${USER}\0${PASSWORD}`).toString("base64")])
    expect(text).not.toContain(secret);
}

const addDomain = (project: TestProject, domain: string) => proveDomain(server, dns, project.byKey, domain);

test("sends through the transport of a project with its credentials, which appear nowhere in clear", async () => {
  const project = await server.createProject();
  await addDomain(project, "shop.example");
  const added = await call(project, "POST", { name: "Own server", url: URL_OF_SINK });
  expect(added).toMatchObject({
    status: 201,
    body: { url: MASKED_URL, kinds: null, domain: null, enabled: true, failingSince: null },
  });
  const tested = await call(project, "POST", undefined, `/${added.body.id}/test`);
  expect(tested).toMatchObject({ status: 200, body: { error: null, login: "accepted" } });
  expect(sink.journal).toHaveLength(0);
  const body = { to: "ada@example.com", from: "news@shop.example", subject: "Hello", body: "Hello" };
  expect((await server.call(v1.send, project.byKey, { body })).status).toBe(200);
  await sink.waitForMessages(1, 30_000);
  expect(sink.journal[0]).toMatchObject({ user: USER, recipients: ["ada@example.com"] });
  expect(sink.journal[0]?.sender).toMatch(/^b\+[a-z2-7]{61}@bounce\.example$/);
  expect(sink.journal[0]?.raw.toString()).toContain("DKIM-Signature:");
  expect(installation.journal).toHaveLength(0);
  const log = await server.call(audit.listAuditLog, callerOf(project), { params: { projectId: project.id } });
  expect(log.body.data[0]).toMatchObject({ action: "transport.added", details: { url: MASKED_URL } });
  // Every row of every table, with binary columns as text.
  const tables = await server.rows<{ name: string }>(
    "select quote_ident(tablename) as name from pg_tables where schemaname = 'public'",
  );
  for (const { name } of tables) {
    const rows = await server.rows<{ row: string }>(`select t::text as row from ${name} t`);
    const text = rows.map(({ row }) => row).join("\n");
    expectNoSecret(text);
    expect(text).not.toContain(Buffer.from(PASSWORD).toString("hex"));
  }
});

test("uses the address of the sender as the return path if the URL asks for it", async () => {
  const project = await server.createProject();
  await addDomain(project, "plain.example");
  await call(project, "POST", { name: "Own", url: `${URL_OF_SINK}&returnPath=sender` });
  const body = { to: "eve@example.com", from: "news@plain.example", subject: "Hello", body: "Hello" };
  await server.call(v1.send, project.byKey, { body });
  const sent = () => sink.journal.find(({ recipients }) => recipients[0] === "eve@example.com");
  await sink.waitUntil(() => sent() !== undefined, 30_000);
  expect(sent()?.sender).toBe("news@plain.example");
});

test.each([
  ["https://mail.example", "Must begin with smtp://"],
  ["smtp://", "neither a name nor an IP address"],
  [`smtp://${USER}@mail.example`, "password is missing"],
  ["ses://eu-west-1", "needs an access key"],
  ["smtp://mail.example?weight=5", "unknown option"],
  ["smtp://••••:••••@mail.example", "no stored credentials"],
])("rejects the URL %s and names the field", async (url, message) => {
  const reply = await call(server.project, "POST", { name: "Own", url });
  expect(reply.status).toBe(422);
  const [error] = reply.body.error.errors;
  expect(error?.field).toBe("url");
  expect(error?.message).toContain(message);
});

test("rejects unknown domains, a second transport for the same email and more than five", async () => {
  const project = await server.createProject();
  const url = "smtp://mail.own.example";
  await addDomain(project, "one.example");
  const unknown = await call(project, "POST", { name: "a", url, domain: "other.example" });
  expect(unknown.body.error.errors[0]).toMatchObject({ field: "domain" });
  expect((await call(project, "POST", { name: "all", url })).status).toBe(201);
  expect((await call(project, "POST", { name: "b", url })).status).toBe(409);
  const campaigns = await call(project, "POST", { name: "c", url, kinds: ["CAMPAIGN", "WORKFLOW"] });
  const domain = await call(project, "POST", { name: "d", url, domain: "ONE.example" });
  expect([campaigns.status, domain.status]).toEqual([201, 201]);
  expect(domain.body.domain).toBe("one.example");
  const overlapping = await call(project, "POST", { name: "e", url, kinds: ["WORKFLOW"] });
  expect(overlapping.status).toBe(409);
  expect(overlapping.body.error.message).toContain('"c"');
  const moved = await call(project, "PATCH", { kinds: null }, `/${campaigns.body.id}`);
  expect(moved.status).toBe(409);
  await call(project, "POST", { name: "f", url, kinds: ["TRANSACTIONAL"] });
  await call(project, "POST", { name: "g", url, kinds: ["WORKFLOW"], domain: "one.example" });
  const sixth = await call(project, "POST", { name: "h", url, kinds: ["CAMPAIGN"], domain: "one.example" });
  expect(sixth.status).toBe(409);
  const listed = await call(project, "GET");
  expect(listed.body.data.map(({ name }: { name: string }) => name)).toEqual(["all", "c", "d", "f", "g"]);
});

test("keeps masked credentials for the same server only", async () => {
  const project = await server.createProject();
  const { body } = await call(project, "POST", { name: "Own", url: URL_OF_SINK });
  const renamed = await call(project, "PATCH", { name: "New", url: MASKED_URL }, `/${body.id}`);
  expect(renamed).toMatchObject({ status: 200, body: { name: "New", url: MASKED_URL } });
  expect((await call(project, "POST", undefined, `/${body.id}/test`)).body.error).toBeNull();
  const stolen = await call(
    project,
    "PATCH",
    { url: MASKED_URL.replace("mail.own.example", "mail.evil.example") },
    `/${body.id}`,
  );
  expect(stolen.status).toBe(422);
  const wrong = await call(project, "PATCH", { url: URL_OF_SINK.replace(PASSWORD, "wrong") }, `/${body.id}`);
  expect(wrong.status).toBe(200);
  const tested = await call(project, "POST", undefined, `/${body.id}/test`);
  expect(tested.body.error).toContain("AUTH: 535");
});

test("connects to no address outside the public internet unless the instance admin allows it", async () => {
  const project = await server.createProject();
  const testUrl = async (url: string, kinds: string[]) => {
    const { body } = await call(project, "POST", { name: "Own", url, kinds });
    return (await call(project, "POST", undefined, `/${body.id}/test`)).body.error;
  };
  expect(await testUrl("smtp://10.0.0.7:25", ["CAMPAIGN"])).toContain("outside the public internet");
  expect(await testUrl("smtp://mixed.own.example:25", ["WORKFLOW"])).toContain("outside the public internet");
  expect(await testUrl("ses://a:b@eu-west-1?endpoint=http://169.254.169.254", ["TRANSACTIONAL"])).toContain(
    "outside the public internet",
  );
  const none = await call(project, "POST", { name: "Own", url: "smtp://gone.own.example" });
  expect((await call(project, "POST", undefined, `/${none.body.id}/test`)).body.error).toContain(
    "DNS has no address for gone.own.example",
  );
});

test("is for owners and admins of the project only", async () => {
  const project = await server.createProject();
  const { body } = await call(project, "POST", { name: "Own", url: URL_OF_SINK });
  const member = await server.signUp();
  await server.rows(
    "insert into memberships (project_id, user_id, role) values ($1, $2, 'MEMBER')",
    project.id,
    member.id,
  );
  const params = { projectId: project.id, id: body.id };
  const caller = { cookie: member.cookie };
  expect((await server.call(contract.listProjectTransports, caller, { params })).status).toBe(403);
  expect((await server.call(contract.deleteProjectTransport, caller, { params })).status).toBe(403);
  expect((await server.call(contract.testProjectTransport, caller, { params })).status).toBe(403);
  expect((await server.call(contract.listProjectTransports, project.byKey, { params })).status).toBe(401);
  const foreign = callerOf(server.project);
  const other = { projectId: server.project.id, id: body.id };
  expect((await server.call(contract.testProjectTransport, foreign, { params: other })).status).toBe(404);
  expect((await server.call(contract.deleteProjectTransport, foreign, { params: other })).status).toBe(404);
  expect((await call(project, "DELETE", undefined, `/${body.id}`)).status).toBe(204);
  expect((await call(project, "GET")).body.data).toEqual([]);
});

test("an outage keeps the time of its first failure until the server replies or the transport is changed", async () => {
  const project = await server.createProject();
  const { body } = await call(project, "POST", { name: "Own", url: URL_OF_SINK });
  const key = { projectId: project.id, id: body.id };
  const outage = async () =>
    server.rows(
      "select failing_since < now() - interval '1 hour' as is_old, last_error from project_transports where id = $1",
      body.id,
    );
  const fail = async () => {
    await recordOutage(server.database, key, "first");
    await server.rows(
      "update project_transports set failing_since = now() - interval '2 hours' where id = $1",
      body.id,
    );
    await recordOutage(server.database, key, "second");
    return outage();
  };
  const none = [{ isOld: null, lastError: null }];
  expect(await fail()).toEqual([{ isOld: true, lastError: "second" }]);
  await recordOutage(server.database, key, null);
  expect(await outage()).toEqual(none);
  expect(await fail()).toEqual([{ isOld: true, lastError: "second" }]);
  expect((await call(project, "PATCH", { name: "New" }, `/${body.id}`)).status).toBe(200);
  expect(await outage()).toEqual(none);
});

test("uses own transports only while one is enabled, and records each change in the audit log", async () => {
  const project = await server.createProject();
  const areUsed = async () => {
    const rows = await server.rows<{ ownTransports: boolean }>(
      "select own_transports from project_queues where project_id = $1",
      project.id,
    );
    return rows[0]?.ownTransports;
  };
  const { body } = await call(project, "POST", { name: "Own", url: URL_OF_SINK, kinds: ["CAMPAIGN"] });
  const second = await call(project, "POST", {
    name: "Off",
    url: URL_OF_SINK,
    enabled: false,
    kinds: ["WORKFLOW"],
  });
  expect(await areUsed()).toBe(true);
  await call(project, "PATCH", { enabled: false }, `/${body.id}`);
  expect(await areUsed()).toBe(false);
  await call(project, "PATCH", { enabled: true }, `/${second.body.id}`);
  expect(await areUsed()).toBe(true);
  await call(project, "DELETE", undefined, `/${second.body.id}`);
  expect(await areUsed()).toBe(false);
  const log = await server.call(audit.listAuditLog, callerOf(project), { params: { projectId: project.id } });
  expect(
    log.body.data
      .map(({ action }) => action)
      .toReversed()
      .slice(1),
  ).toEqual([
    "transport.added",
    "transport.added",
    "transport.updated",
    "transport.updated",
    "transport.removed",
  ]);
});
