// Tests link domains with a real DNS server: from the records to links in emails, what the host serves, and a lost domain.
import { afterAll, beforeEach, expect, test, vi } from "vitest";
import * as contract from "@postloft/contract/link-domains.ts";
import * as mailbox from "@postloft/contract/mailbox.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import * as templates from "@postloft/contract/templates.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { FONT_PATH, ICON_PATH } from "../platform/http/public-page.ts";
import { createDns, type Dns } from "../platform/dns.ts";
import { newId } from "../platform/ids.ts";
import { createLog } from "../platform/log.ts";
import { createPublicIds } from "../projects/public-ids.ts";
import { startDnsServer } from "../testing/dns-server.ts";
import { readPlatformEmails } from "../testing/platform-emails.ts";
import { NO_TARGETS } from "../webhooks/networks.ts";
import { checkLinkDomain } from "./check-link-domains.ts";
import { APP_SECRET, errorOf, faultsOf, useTestServer, type TestProject } from "../testing/test-server.ts";

const dns = await startDnsServer();
const server = useTestServer({ DNS_SERVERS: dns.address });
afterAll(() => dns.close());

const WAIT = { timeout: 30_000, interval: 20 };
/** The address of the installation, whose host name is localhost. */
const base = () => server.url.replace("127.0.0.1", "localhost");
const portOf = () => new URL(server.url).port;
let made = 0;
let project: TestProject;
let domain: string;
beforeEach(async () => {
  project = await server.createProject();
  domain = `go${++made}.shop.example`;
  dns.setMood("answer");
  dns.setRecords("localhost", { A: ["127.0.0.1"] });
});

const read = async (of = project) => (await server.call(contract.getLinkDomain, of.byKey)).body.linkDomain;
const set = (name = domain, of = project) =>
  server.call(contract.setLinkDomain, of.byKey, { body: { domain: name } });
const check = async (of = project) => (await server.call(contract.checkLinkDomain, of.byKey)).body;

/** Publishes the records of a project's link domain. */
async function publish(of = project): Promise<void> {
  const [alias, proof] = (await read(of))?.records ?? [];
  dns.setAlias(alias?.name ?? "", alias?.value ?? "");
  dns.setTxt(proof?.name ?? "", [proof?.value ?? ""]);
}

async function activate(of = project, name = domain): Promise<void> {
  expect((await set(name, of)).status).toBe(200);
  await publish(of);
  expect(await check(of)).toMatchObject({ status: "ACTIVE", problem: null });
}

/** The failed checks were long enough ago that the next one counts. */
const letTimePass = () => server.rows("update link_domains set failed_at = failed_at - interval '5 minutes'");

const imageOf = ({ id }: TestProject) => `/images/${id.replaceAll("-", "")}${"0".repeat(32)}.png`;

/** Sends an email with a link and an image of the project, and returns the addresses in it. */
async function receive(of = project, over: object = {}) {
  const to = `reader${++made}@example.com`;
  const sent = await server.call(v1.send, of.byKey, {
    body: {
      to,
      from: "news@sandbox.localhost",
      subject: "Hello",
      body: `<a href="https://shop.example/sale">Sale</a><img src="${base()}${imageOf(of)}"><a href="{{unsubscribeUrl}}">out</a>`,
      ...over,
    },
  });
  expect(sent.status).toBe(200);
  const id = await vi.waitFor(async () => {
    const listed = await server.call(mailbox.listMessages, of.byKey, { query: { to } });
    expect(listed.body.data).toHaveLength(1);
    return listed.body.data[0]?.id ?? "";
  }, WAIT);
  const html = (await server.call(mailbox.getMessage, of.byKey, { params: { id } })).body.html ?? "";
  const addresses = [...html.matchAll(/(?:href|src)="(http[^"]+)"/g)].map((match) => match[1] ?? "");
  return { addresses };
}

/** Returns the origins of addresses, without repeats. */
const originsOf = (addresses: readonly string[]) => [...new Set(addresses.map((one) => new URL(one).origin))];
const pathsOf = (addresses: readonly string[]) =>
  addresses.map((one) => one.slice(new URL(one).origin.length));
const at = (host: string, path: string) =>
  server.call("GET", path, { headers: { host: `${host}:${portOf()}` } });

const formAt = (host: string) => ({
  headers: { host: `${host}:${portOf()}`, "content-type": "application/x-www-form-urlencoded" },
});

test("a domain shows its two records, and emails use it once DNS proves it and it responds", async () => {
  expect(await read()).toBeNull();
  const { body: view } = await set(domain.toUpperCase());
  expect(view).toMatchObject({
    domain,
    status: "PENDING",
    problem: null,
    lastCheckedAt: null,
    records: [
      { type: "CNAME", name: domain, value: "localhost", found: null, status: "UNCHECKED" },
      {
        type: "TXT",
        name: `_postloft.${domain}`,
        value: expect.stringMatching(/^postloft=[0-9a-f]+$/),
        found: null,
        status: "UNCHECKED",
      },
    ],
  });
  expect(await check()).toMatchObject({
    status: "PENDING",
    problem: "DNS_MISSING",
    records: [
      { found: [], status: "MISSING" },
      { found: [], status: "MISSING" },
    ],
  });
  expect(originsOf((await receive()).addresses)).toEqual([base()]);

  await publish();
  expect(await check()).toMatchObject({
    status: "ACTIVE",
    problem: null,
    records: [{ found: ["localhost"], status: "FOUND" }, { status: "FOUND" }],
  });
  const ours = `http://${domain}:${portOf()}`;
  const mail = await receive();
  expect(mail.addresses).toHaveLength(4);
  expect(originsOf(mail.addresses)).toEqual([ours]);
  const stranger = await server.createProject();
  expect(originsOf((await receive(stranger)).addresses)).toEqual([base()]);

  expect((await server.call(contract.removeLinkDomain, project.byKey)).status).toBe(204);
  expect(await read()).toBeNull();
  expect(originsOf((await receive()).addresses)).toEqual([base()]);
  const actions = await server.rows<{ action: string }>(
    "select action from audit_log where project_id = $1 and action like 'linkDomain.%' order by number",
    project.id,
  );
  expect(actions.map(({ action }) => action)).toEqual(["linkDomain.set", "linkDomain.removed"]);
});

test("the footer of a marketing email has its logo and its links at the domain", async () => {
  await activate();
  await server.rows(
    "update projects set logo_url = $2 where id = $1",
    project.id,
    `${base()}${imageOf(project)}`,
  );
  const body = {
    name: "News",
    type: "MARKETING",
    subject: "News",
    body: "<p>Hello</p>",
    from: "news@sandbox.localhost",
  } as const;
  const template = await server.call(templates.createTemplate, project.byKey, { body });
  const of = { template: template.body.id, subscribed: true, subject: undefined, body: undefined };
  const { addresses } = await receive(project, of);
  expect(pathsOf(addresses)).toContain(imageOf(project));
  expect(originsOf(addresses)).toEqual([`http://${domain}:${portOf()}`]);
});

test("the host of a link domain serves links, images and pages of its project and nothing else", async () => {
  await activate();
  const mine = pathsOf((await receive()).addresses);
  const stranger = await server.createProject();
  const theirs = await receive(stranger);
  const statuses = async (paths: readonly string[], host = domain) =>
    Promise.all(paths.map(async (path) => (await at(host, path)).status));
  // The image does not exist.
  const works = { c: 302, o: 200, images: 404, unsubscribe: 200 };
  const expected = (paths: readonly string[]) =>
    paths.map((path) => works[(path.split("/")[1] ?? "") as keyof typeof works]);
  expect(await statuses(mine)).toEqual(expected(mine));
  expect(await statuses(pathsOf(theirs.addresses))).toEqual([404, 404, 404, 404]);
  expect(await statuses(["/", "/app", "/health", "/docs", "/openapi.json", "/images/x", "/c/"])).toEqual(
    Array(7).fill(404),
  );
  const mark = (await at(domain, "/.well-known/postloft")).text;
  expect(mark).toMatch(new RegExp(`^postloft [0-9a-f]+ ${domain}$`));
  for (const same of [domain.toUpperCase(), `${domain}.`])
    expect(await statuses(["/health", ...mine.slice(0, 1)], same)).toEqual([404, 302]);
  expect(await statuses([ICON_PATH])).toEqual([200]);
  // It is empty if the dashboard is not built, but the host doesn't hide it.
  expect((await at(domain, FONT_PATH)).text).not.toContain("RESOURCE_NOT_FOUND");
  // Everything works at the installation's own address, and at names that are no link domain.
  expect(await statuses([...mine, "/health"], "localhost")).toEqual([...expected(mine), 200]);
  expect((await at("10.0.0.5", "/health")).status).toBe(200);

  const page = mine.find((path) => path.startsWith("/unsubscribe/")) ?? "";
  const action = /action="([^"]+)"/.exec((await at(domain, page)).text)?.[1] ?? "";
  expect(action).toMatch(/^\/(?:un)?subscribe\//);
  expect((await server.call("POST", action, formAt(domain), "action=subscribe")).status).toBe(200);
});

test("a lost domain is used until three checks in a row failed, then members are notified", async () => {
  await activate();
  const ours = `http://${domain}:${portOf()}`;
  dns.setMood("servfail");
  for (let times = 0; times < 4; times++) {
    expect(await check()).toMatchObject({ status: "ACTIVE", problem: "DNS_UNANSWERED" });
    await letTimePass();
  }
  dns.setMood("answer");
  dns.setAlias(domain, "elsewhere.example");
  dns.setRecords("elsewhere.example", { A: ["198.51.100.7"] });
  // Clicks right after each other count once.
  for (let times = 0; times < 4; times++)
    expect(await check()).toMatchObject({ status: "ACTIVE", problem: "DNS_ELSEWHERE" });
  await letTimePass();
  expect(await check()).toMatchObject({
    status: "ACTIVE",
    records: [{ status: "MISMATCH" }, { status: "FOUND" }],
  });
  expect(originsOf((await receive()).addresses)).toEqual([ours]);
  await letTimePass();
  expect(await check()).toMatchObject({ status: "PENDING", problem: "DNS_ELSEWHERE" });
  expect(originsOf((await receive()).addresses)).toEqual([base()]);
  const mails = await readPlatformEmails(server.pool, {
    to: project.owner.email,
    subject: /no longer works for links/,
  });
  expect(mails.map(({ subject }) => subject)).toEqual([`${domain} no longer works for links`]);
  dns.setAlias(domain, "localhost");
  expect(await check()).toMatchObject({ status: "ACTIVE", problem: null });
});

test("a verified domain is used only while it responds", async () => {
  await set();
  const proof = (await read())?.records[1];
  dns.setTxt(proof?.name ?? "", [proof?.value ?? ""]);
  // The installation has two addresses, and no server listens at the second one.
  dns.setRecords("localhost", { A: ["127.0.0.1", "127.0.0.2"] });
  const leadTo = (address: string) => dns.setRecords(domain, { A: [address] });
  leadTo("127.0.0.2");
  expect(await check()).toMatchObject({
    status: "VERIFIED",
    problem: "UNREACHABLE",
    problemDetail: expect.stringContaining("ECONNREFUSED"),
  });
  expect(originsOf((await receive()).addresses)).toEqual([base()]);
  leadTo("127.0.0.1");
  expect(await check()).toMatchObject({ status: "ACTIVE", problem: null, problemDetail: null });
  // Nobody's domain is the cause while the installation itself doesn't respond.
  leadTo("127.0.0.2");
  dns.setRecords("localhost", { A: ["127.0.0.2"] });
  for (let times = 0; times < 4; times++) {
    expect(await check()).toMatchObject({ status: "ACTIVE", problem: "UNREACHABLE" });
    await letTimePass();
  }
  dns.setRecords("localhost", { A: ["127.0.0.1", "127.0.0.2"] });
  for (const status of ["ACTIVE", "ACTIVE", "VERIFIED"]) {
    expect(await check()).toMatchObject({ status, problem: "UNREACHABLE" });
    await letTimePass();
  }
  expect(originsOf((await receive()).addresses)).toEqual([base()]);
});

test("a domain belongs to the first project that proves it", async () => {
  const rival = await server.createProject();
  await set(domain, rival);
  await activate();
  await publish(rival);
  // The proof of the rival replaced ours, as if the owner of the domain had published both.
  const proofs = await Promise.all([read(), read(rival)]);
  dns.setTxt(
    `_postloft.${domain}`,
    proofs.map((view) => view?.records[1]?.value ?? ""),
  );
  expect(await check(rival)).toMatchObject({ status: "PENDING", problem: "TAKEN" });
  const third = await server.createProject();
  expect(errorOf(await set(domain, third))).toBe("409 CONFLICT");
  expect((await receive(rival)).addresses.some((one) => one.includes(domain))).toBe(false);
  // Without its proof a domain that leads here is nobody's.
  const dangling = `dangling-${domain}`;
  await set(dangling, third);
  dns.setAlias(dangling, "localhost");
  expect(await check(third)).toMatchObject({ status: "PENDING", problem: "DNS_MISSING" });
});

test("the installation's addresses count as an alias, and those of others do not", async () => {
  await set();
  await publish();
  const flat = `flat-${domain}`;
  await set(flat);
  const proof = (await read())?.records[1];
  dns.setTxt(proof?.name ?? "", [proof?.value ?? ""]);
  dns.setRecords(flat, { A: ["127.0.0.1", "198.51.100.7"] });
  expect(await check()).toMatchObject({ status: "PENDING", problem: "DNS_ELSEWHERE" });
  dns.setRecords(flat, { A: ["127.0.0.1"] });
  expect(await check()).toMatchObject({ status: "ACTIVE" });
});

const ask = async (name: string) =>
  (await server.call(contract.allowTls, {}, { query: { domain: name } })).status;

test("a former domain serves the links of its project until another project verifies it", async () => {
  await activate();
  const mine = pathsOf((await receive()).addresses).slice(0, 1);
  const former = domain;
  await activate(project, `new-${domain}`);
  const heir = await server.createProject();
  const theirs = pathsOf((await receive(heir)).addresses).slice(0, 1);
  const statuses = async () =>
    Promise.all([...mine, ...theirs, "/health"].map(async (path) => (await at(former, path)).status));
  expect(await statuses()).toEqual([302, 404, 404]);
  expect(await ask(former)).toBe(200);
  await activate(heir, former);
  expect(await statuses()).toEqual([404, 302, 404]);
  // A domain that was never active has no links to serve.
  await set(`unused-${domain}`);
  await server.call(contract.removeLinkDomain, project.byKey);
  expect(
    await server.rows("select domain from link_domains where project_id = $1 order by domain", project.id),
  ).toEqual([{ domain: former }, { domain: `new-${domain}` }]);
});

test("counts no failed check while the installation's own name has no address", async () => {
  await activate();
  const found = createDns([dns.address]);
  const records: Dns["records"] = async (name, type) =>
    type === "CNAME" ? found.records(name, type) : { kind: "unanswered", reason: "ESERVFAIL" };
  const parts = {
    database: server.database,
    dns: { ...found, records },
    webhookTargets: NO_TARGETS,
    publicIdOf: createPublicIds(APP_SECRET),
    baseUrl: base,
    log: createLog({ level: "silent" }),
  };
  for (let times = 0; times < 4; times++) {
    await checkLinkDomain(parts, project.id);
    expect(await read()).toMatchObject({
      status: "ACTIVE",
      problem: "DNS_UNANSWERED",
      problemDetail: "ESERVFAIL",
    });
    await letTimePass();
  }
});

test("limits how many domains a project can try in a day", async () => {
  for (let times = 0; times < LIMITS.linkDomainChanges.value; times++)
    expect((await set(`try${times}-${domain}`)).status).toBe(200);
  expect(errorOf(await set(`more-${domain}`))).toBe("429 RATE_LIMIT_EXCEEDED");
});

test("a proxy may obtain certificates for the installation and for verified link domains only", async () => {
  await set();
  expect(await Promise.all([domain, "localhost", "other.example", "", newId()].map(ask))).toEqual([
    404, 200, 404, 404, 404,
  ]);
  await activate();
  expect(await Promise.all([domain, `${domain.toUpperCase()}.`].map(ask))).toEqual([200, 200]);
});

test("rejects the installation's own name and text that is no domain, and checks nothing without a domain", async () => {
  for (const wrong of ["localhost", "https://go.shop.example", "go shop", "10.0.0.1", ""])
    expect([wrong, faultsOf(await set(wrong))]).toEqual([wrong, ["domain invalid_string"]]);
  expect(errorOf(await server.call(contract.checkLinkDomain, project.byKey))).toBe("404 RESOURCE_NOT_FOUND");
  expect((await server.call(contract.removeLinkDomain, project.byKey)).status).toBe(204);
});
