// Tests the default sender that a project gets with its first verified domain, with and without DNS.
import { expect, test } from "vitest";
import * as domains from "@postloft/contract/domains.ts";
import * as projects from "@postloft/contract/projects.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { startDnsServer } from "../testing/dns-server.ts";
import { proveDomain } from "../testing/prove-domain.ts";
import { faultsOf, useTestServer, type TestProject } from "../testing/test-server.ts";

const server = useTestServer({ ROLES: "api" });

const defaultOf = async ({ id }: TestProject) =>
  (
    await server.rows<{ defaultFrom: string | null }>("select default_from from projects where id = $1", id)
  )[0]?.defaultFrom;

async function verify({ byKey }: TestProject, domain: string): Promise<void> {
  const { body } = await server.call(domains.createDomain, byKey, { body: { domain } });
  const reply = await server.call(domains.verifyDomain, byKey, { params: { id: body.id } });
  expect(reply.status).toBe(200);
}

const FIRST = { to: "ada@example.com", subject: "Hello", body: "<p>Hello</p>" };

test("a first call without from works once the project's only domain is verified", async () => {
  const project = await server.createProject();
  const before = await server.call(v1.send, project.byKey, { body: FIRST });
  expect([before.status, faultsOf(before)]).toEqual([422, ["from required"]]);
  await verify(project, "first.example.com");
  expect(await defaultOf(project)).toBe("hello@first.example.com");
  const reply = await server.call(v1.send, project.byKey, { body: FIRST });
  expect([reply.status, reply.body]).toMatchObject([200, { success: true }]);
  const entries = await server.rows<{ details: unknown }>(
    "select details from audit_log where project_id = $1 and action = 'project.updated'",
    project.id,
  );
  expect(entries).toEqual([{ details: { defaultFrom: { from: null, to: "hello@first.example.com" } } }]);
});

test("only a domain verified by DNS sets the default sender", async () => {
  const project = await server.createProject();
  const dns = await startDnsServer();
  const away = { MAIL_TRANSPORT: "smtp://127.0.0.1:9", DNS_SERVERS: dns.address };
  const another = await server.startAnother(away);
  try {
    const { body } = await another.call(domains.createDomain, project.byKey, {
      body: {
        domain: "unproved.example.com",
      },
    });
    await another.call(domains.verifyDomain, project.byKey, { params: { id: body.id } });
    expect(await defaultOf(project)).toBeNull();
    await proveDomain(another, dns, project.byKey, "proved.example.com");
    expect(await defaultOf(project)).toBe("hello@proved.example.com");
  } finally {
    await another.stop();
    await dns.close();
  }
});

test("a second domain or an existing default sender changes nothing", async () => {
  const project = await server.createProject();
  await verify(project, "one.example.com");
  await verify(project, "two.example.com");
  expect(await defaultOf(project)).toBe("hello@one.example.com");

  const other = await server.createProject();
  const caller = { cookie: other.owner.cookie };
  const settings = { defaultFrom: "Ada <ada@three.example.com>" };
  await server.call(projects.updateProject, caller, { params: { projectId: other.id }, body: settings });
  await verify(other, "three.example.com");
  expect(await defaultOf(other)).toContain("ada@three.example.com");
});

test("a removed default sender stays removed when the same domain is checked again", async () => {
  const project = await server.createProject();
  const { body } = await server.call(domains.createDomain, project.byKey, {
    body: {
      domain: "again.example.com",
    },
  });
  const check = () => server.call(domains.verifyDomain, project.byKey, { params: { id: body.id } });
  await check();
  const caller = { cookie: project.owner.cookie };
  await server.call(projects.updateProject, caller, {
    params: { projectId: project.id },
    body: { defaultFrom: null },
  });
  await check();
  expect(await defaultOf(project)).toBeNull();
});
