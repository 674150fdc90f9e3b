// Notification webhooks of members: signed calls about the chosen subjects, with a log, to no one else.
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import * as webhooks from "@postloft/contract/webhooks.ts";
import { transaction } from "../platform/database/database.ts";
import type { ErrorEnvelope } from "../platform/http/errors.ts";
import { addJob } from "../platform/background/jobs.ts";
import { layOutPlatformEmail } from "../emails/platform-email/platform-email-layout.ts";
import { notifyMembers } from "../projects/members/notifications.ts";
import {
  faultsOf,
  errorOf,
  useTestServer,
  type TestPerson,
  type TestProject,
} from "../testing/test-server.ts";
import { readPlatformEmails } from "../testing/platform-emails.ts";

const WAIT = { timeout: 30_000, interval: 50 };
const server = useTestServer({
  ROLES: "api,worker",
  WEBHOOK_ALLOW_PRIVATE: "127.0.0.1",
  WEBHOOK_ALLOW_PORTS: "1024-65535",
});

interface Webhook {
  data: {
    url: string | null;
    calls: Array<{ kind: string; state: string; tries: number; status: number | null; error: string | null }>;
  };
}
interface Arrival {
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

const arrivals: Arrival[] = [];
let status = 200;
const endpoint = createServer(async (request, response) => {
  let body = "";
  for await (const part of request) body += String(part);
  arrivals.push({ headers: request.headers, body });
  response.writeHead(status).end();
});
const urlOf = (path: string) => `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}${path}`;
beforeAll(async () => new Promise<void>((resolve) => endpoint.listen(0, "127.0.0.1", resolve)));
afterAll(() => void endpoint.close().closeAllConnections());
beforeEach(() => {
  arrivals.length = 0;
  status = 200;
});

const pathOf = ({ id }: TestProject, rest = "") => `/projects/${id}/notifications${rest}`;
const setUrl = <Body = Webhook>(project: TestProject, { cookie }: TestPerson, url: unknown) =>
  server.call<Body>("PUT", pathOf(project, "/webhook"), { cookie }, { url });
const choose = (project: TestProject, { cookie }: TestPerson, body: object) =>
  server.call("PUT", pathOf(project), { cookie }, body);
const read = async (project: TestProject, { cookie }: TestPerson) =>
  (await server.call<Webhook>("GET", pathOf(project, "/webhook"), { cookie })).body.data;
const notify = (project: TestProject) =>
  transaction(server.database, (tx) =>
    notifyMembers(tx, { projectId: project.id, kind: "domain-lost", facts: { domain: "shop.example" } }, () =>
      layOutPlatformEmail({ subject: "It is lost", blocks: ["Put it back."] }),
    ),
  );
const hint = async () => {
  await server.hint("jobs");
  await server.hint("webhooks");
};

async function withMember(): Promise<{ project: TestProject; member: TestPerson }> {
  const [project, member] = [await server.createProject(), await server.signUp()];
  await server.rows(
    "insert into memberships (project_id, user_id, role) values ($1, $2, 'MEMBER')",
    project.id,
    member.id,
  );
  return { project, member };
}

test("calls only members who chose a webhook, with a signature, and lists the results", async () => {
  const { project, member } = await withMember();
  const early = await choose(project, member, { webhook: { "domain-lost": true } });
  expect(faultsOf(early)).toEqual(["webhook.domain-lost custom"]);
  await setUrl(project, member, urlOf("/hook"));
  await choose(project, member, { "domain-lost": false, webhook: { "domain-lost": true } });
  await setUrl(project, project.owner, urlOf("/owner"));
  status = 500;
  expect(await notify(project)).toBe(1);
  await vi.waitFor(async () => {
    await hint();
    expect((await read(project, member)).calls[0]).toMatchObject({
      kind: "domain-lost",
      tries: 1,
      status: 500,
    });
  }, WAIT);
  status = 200;
  await server.rows("update webhook_calls set due_at = now() where project_id = $1", project.id);
  await vi.waitFor(async () => {
    await hint();
    expect((await read(project, member)).calls).toMatchObject([{ state: "done", tries: 2, error: null }]);
  }, WAIT);
  expect(arrivals).toHaveLength(2);
  const [{ headers, body }] = arrivals as [Arrival];
  const { secret } = (await server.call(webhooks.getWebhookSecret, project.byKey)).body;
  const signed = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${body}`;
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  expect(headers["webhook-signature"]).toBe(
    `v1,${createHmac("sha256", key).update(signed).digest("base64")}`,
  );
  expect(JSON.parse(body)).toMatchObject({
    type: "domain-lost",
    data: { projectId: project.id, subject: "It is lost", domain: "shop.example" },
  });
  expect((await read(project, project.owner)).calls).toEqual([]);
});

test("deletes waiting calls when the URL changes or the membership ends", async () => {
  const { project, member } = await withMember();
  status = 500;
  await setUrl(project, member, urlOf("/hook"));
  await choose(project, member, { webhook: { "domain-lost": true } });
  await notify(project);
  await vi.waitFor(async () => {
    await hint();
    expect((await read(project, member)).calls).toMatchObject([{ state: "waiting", tries: 1 }]);
  }, WAIT);
  expect((await setUrl(project, member, null)).body.data).toEqual({ url: null, calls: [] });
  await server.rows("delete from memberships where user_id = $1", member.id);
  const gone = await server.call("GET", pathOf(project, "/webhook"), { cookie: member.cookie });
  expect(errorOf(gone)).toBe("404 PROJECT_NOT_FOUND");
});

test("rejects URLs that are invalid or not public, and a test call without a URL", async () => {
  const { project, member } = await withMember();
  for (const url of [
    "ftp://example.com",
    "http://10.0.0.1/",
    "http://169.254.169.254/",
    "nothing",
    "x".repeat(3_000),
  ])
    expect(faultsOf(await setUrl<ErrorEnvelope>(project, member, url))[0]).toMatch(
      /^url (invalid_string|too_big)$/,
    );
  expect(faultsOf(await setUrl<ErrorEnvelope>(project, member, 7))).toEqual(["url invalid_type"]);
  const callNow = <Body = { data: unknown }>() =>
    server.call<Body>("POST", pathOf(project, "/webhook/test"), { cookie: member.cookie });
  expect(errorOf(await callNow<ErrorEnvelope>())).toBe("409 CONFLICT");
  await setUrl(project, member, urlOf("/hook"));
  status = 410;
  expect((await callNow()).body.data).toEqual({ status: 410, error: "The endpoint responded with 410." });
  status = 204;
  expect((await callNow()).body.data).toEqual({ status: 204, error: null });
  expect(arrivals.map(({ body }) => (JSON.parse(body) as { type: string }).type)).toEqual(["test", "test"]);
});

test("notifies about failed jobs with the reason once an hour per kind", async () => {
  const { project, member } = await withMember();
  await setUrl(project, member, urlOf("/hook"));
  await choose(project, member, { "job-failed": false, webhook: { "job-failed": true } });
  const input = { sizeBytes: 9, columns: [], offset: 0 };
  const fail = () =>
    transaction(server.database, (tx) =>
      addJob(tx, { projectId: project.id, kind: "contacts.import", input }),
    );
  const ids = [await fail(), await fail()];
  await vi.waitFor(async () => {
    await hint();
    const failed = await server.rows(
      "select from jobs where project_id = $1 and state = 'failed'",
      project.id,
    );
    expect(failed).toHaveLength(2);
    expect((await read(project, member)).calls).toMatchObject([{ kind: "job-failed", state: "done" }]);
  }, WAIT);
  const { data } = JSON.parse(arrivals[0]?.body ?? "") as { data: { jobId: string } };
  expect(data).toMatchObject({ sort: "contacts.import", reason: "The uploaded file is gone." });
  expect(ids).toContain(data.jobId);
  const mails = await readPlatformEmails(server.pool, { subject: /^A contact import failed$/ });
  expect(mails.map(({ to }) => to)).toEqual([project.owner.email]);
});
