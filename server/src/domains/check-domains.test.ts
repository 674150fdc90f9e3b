// Tests domain checks against a real DNS server: every kind of answer, three failed checks, and several processes.
import { randomUUID } from "node:crypto";
import { pino } from "pino";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { createSealer } from "../platform/crypto.ts";
import { createDatabase, transaction, type Database } from "../platform/database/database.ts";
import { createDns, type Dns } from "../platform/dns.ts";
import { createLog } from "../platform/log.ts";
import { createMetrics } from "../platform/metrics.ts";
import { createTestDatabase, type TestDatabase } from "../platform/database/test-database.ts";
import { startDnsServer, type DnsServer } from "../testing/dns-server.ts";
import { APP_SECRET } from "../testing/test-server.ts";
import { SYSTEM_PROJECT_ID } from "../emails/rows/system-project.ts";
import { readPlatformEmails } from "../testing/platform-emails.ts";
import { startDomainChecks } from "./check-domains.ts";
import { inspectDomains } from "./inspect-domains.ts";
import { createDomains, type Domains } from "./domains.ts";
import type { DomainView } from "./present-domain.ts";

let testDatabase: TestDatabase;
let database: Database;
let dns: DnsServer;
let projectId: string;
let logged: Array<{ level: number; msg: string; domain?: string }> = [];

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase(testDatabase.pool);
});
afterAll(() => testDatabase.drop());
beforeEach(async () => {
  dns = await startDnsServer();
  projectId = await newProject();
  logged = [];
});
afterEach(async () => {
  await testDatabase.pool.query("delete from projects where id <> $1", [SYSTEM_PROJECT_ID]);
  await dns.close();
});

async function newProject(): Promise<string> {
  const id = randomUUID();
  await testDatabase.pool.query(
    "with p as (insert into projects (id, name) values ($1, 'P') returning id) insert into project_queues (project_id) select id from p",
    [id],
  );
  return id;
}

/** The domains of one process, with a separate resolver. */
function startProcess(resolver: Dns = createDns([dns.address]), returnPath: string | null = null): Domains {
  const log = pino({}, { write: (line: string) => void logged.push(JSON.parse(line)) });
  return createDomains({
    database,
    sealer: createSealer(APP_SECRET),
    dns: resolver,
    staysHere: false,
    returnPath,
    baseUrl: () => "https://post.example",
    log,
  });
}

async function add(domains: Domains, domain: string, project = projectId): Promise<DomainView> {
  const checked = await domains.checkNew(project, domain);
  return transaction(database, (tx) => domains.create(tx, project, checked));
}

const dkimOf = ({ records }: DomainView) => records.filter(({ purpose }) => purpose === "dkim");
const nameOf = (view: DomainView) => dkimOf(view)[0]?.name ?? "";
const valueOf = (view: DomainView) => dkimOf(view)[0]?.value ?? "";

async function addVerified(domains: Domains, domain: string): Promise<DomainView> {
  const view = await add(domains, domain);
  dns.setTxt(nameOf(view), [valueOf(view)]);
  const verified = await domains.verify(projectId, view.id);
  expect(verified.status).toBe("VERIFIED");
  return verified;
}

async function getView(domains: Domains, id: string): Promise<DomainView> {
  const view = (await domains.list(projectId)).find((one) => one.id === id);
  if (view === undefined) throw new Error("The domain is gone.");
  return view;
}

/** Moves all times of a domain's row back. */
async function letPass(id: string, minutes: number): Promise<void> {
  await testDatabase.pool.query(
    `update domains set next_check_at = next_check_at - $2::interval, failed_at = failed_at - $2::interval,
       status_changed_at = status_changed_at - $2::interval, created_at = created_at - $2::interval where id = $1`,
    [id, `${minutes} minutes`],
  );
}

async function minutesUntilNextCheck(id: string): Promise<number> {
  const { rows } = await testDatabase.pool.query<{ minutes: number }>(
    "select extract(epoch from next_check_at - now())::float8 / 60 as minutes from domains where id = $1",
    [id],
  );
  return Math.round(rows[0]?.minutes ?? Number.NaN);
}

const checkDue = (domains: Domains) => domains.checkDue(new AbortController().signal);
const maySend = async (domains: Domains, domain: string) =>
  (await domains.findSigningKeys([{ projectId, domain }])).get(`${projectId} ${domain}`)?.kind === "key";

/** Nothing sends from a domain. */
const NO_ONE = { templateFrom: async () => undefined, campaignFrom: async () => undefined };

test("verifies a key of more than 255 octets that is split into strings", async () => {
  const domains = startProcess();
  const view = await add(domains, "split.example");
  expect(await maySend(domains, "split.example")).toBe(false);
  expect(valueOf(view).length).toBeGreaterThan(255);
  dns.setTxt(nameOf(view), [valueOf(view)]);
  const verified = await domains.verify(projectId, view.id);
  expect(verified).toMatchObject({ status: "VERIFIED", verified: true, lastError: null });
  expect(dkimOf(verified)).toEqual([
    expect.objectContaining({ status: "FOUND", found: valueOf(view), advice: null, required: true }),
  ]);
  expect(await maySend(domains, "split.example")).toBe(true);
});

test("verifies a key behind a CNAME until its target is removed", async () => {
  const domains = startProcess();
  const view = await add(domains, "alias.example");
  dns.setAlias(nameOf(view), "key.hoster.example");
  expect(dkimOf(await domains.verify(projectId, view.id))[0]?.status).toBe("MISSING");
  dns.setTxt("key.hoster.example", [valueOf(view)]);
  expect((await domains.verify(projectId, view.id)).status).toBe("VERIFIED");
});

test("shows a wrong key shortened and does not verify the domain", async () => {
  const domains = startProcess();
  const view = await add(domains, "wrong.example");
  const wrong = valueOf(view).replace(/p=..../, "p=AAAA") + "A".repeat(1_000);
  dns.setTxt(nameOf(view), [wrong]);
  const checked = await domains.verify(projectId, view.id);
  expect(checked).toMatchObject({ status: "PENDING", verified: false });
  expect(dkimOf(checked)).toEqual([
    expect.objectContaining({
      status: "MISMATCH",
      found: `${wrong.slice(0, 500)}…`,
      advice: expect.stringContaining("Another key"),
    }),
  ]);
});

test("stores a record with characters that text columns reject", async () => {
  const domains = startProcess();
  const view = await add(domains, "zero.example");
  dns.setTxt(nameOf(view), ["v=DKIM1; p=\0\uD83D", "x".repeat(9_000)]);
  expect(dkimOf(await domains.verify(projectId, view.id))[0]?.status).toBe("MISMATCH");
});

test("gives SPF and DMARC advice for several records, +all and an inherited policy", async () => {
  const domains = startProcess();
  const view = await addVerified(domains, "mail.advice.example");
  const advisory = async () => {
    const { records } = await domains.verify(projectId, view.id);
    return records.slice(1).map(({ purpose, name, required, status, found, advice, adviceParts }) => ({
      line: `${purpose} ${name} ${status}${required ? " required" : ""}`,
      found,
      advice: advice?.slice(0, 24) ?? null,
      codes: adviceParts.map(({ code }) => code),
    }));
  };
  expect(await advisory()).toEqual([
    {
      line: "spf mail.advice.example MISSING",
      found: null,
      advice: "There is no SPF record. ",
      codes: ["spf.missing", "spf.askProvider"],
    },
    {
      line: "dmarc _dmarc.mail.advice.example MISSING",
      found: null,
      advice: "There is no DMARC record",
      codes: ["dmarc.missing"],
    },
  ]);
  dns.setTxt("mail.advice.example", ["v=spf1 mx ~all", "unrelated", "v=spf1 a ~all"]);
  dns.setTxt("_dmarc.advice.example", ["v=DMARC1; p=quarantine"]);
  expect(await advisory()).toEqual([
    {
      line: "spf mail.advice.example MISMATCH",
      found: "v=spf1 mx ~all\nv=spf1 a ~all",
      advice: "There are 2 SPF records,",
      codes: ["spf.several"],
    },
    { line: "dmarc _dmarc.advice.example FOUND", found: "v=DMARC1; p=quarantine", advice: null, codes: [] },
  ]);
  const unrelated = Array.from({ length: 20 }, (_, at) => `verification=${at}`);
  dns.setTxt("mail.advice.example", [...unrelated, "v=spf1 +all"]);
  expect((await advisory())[0]?.advice).toBe("`+all` allows every serv");
});

test("follows SPF includes, at the return path if the installation has a separate one", async () => {
  const domains = startProcess(createDns([dns.address]), "bounces.host.example");
  const view = await add(domains, "tenant.example");
  const spf = async () => {
    const { records } = await domains.verify(projectId, view.id);
    return records
      .filter(({ purpose }) => purpose === "spf" || purpose === "return-path")
      .map(({ purpose, name, status, advice }) => [purpose, name, status, advice]);
  };
  expect(await spf()).toEqual([
    ["return-path", "bounces.host.example", "MISSING", expect.stringContaining("only its administrator")],
    ["spf", "tenant.example", "MISSING", expect.stringContaining("none is needed")],
  ]);
  dns.setTxt("bounces.host.example", ["v=spf1 include:relay.example a:mail.host.example mx -all"]);
  dns.setTxt("relay.example", ["v=spf1 include:deep.relay.example -all"]);
  dns.setTxt("deep.relay.example", ["v=spf1 include:relay.example -all"]);
  dns.setRecords("mail.host.example", { AAAA: ["2001:db8::1"] });
  dns.setTxt("tenant.example", ["v=spf1 ip4:192.0.2.1 -all"]);
  expect(await spf()).toEqual([
    ["return-path", "bounces.host.example", "MISMATCH", expect.stringContaining("leads back to itself")],
    ["spf", "tenant.example", "FOUND", null],
  ]);
  expect(await domains.advisoryRecords(projectId, "tenant.example")).toEqual([
    expect.objectContaining({ purpose: "spf", name: "bounces.host.example", status: "MISMATCH" }),
    expect.objectContaining({ purpose: "dmarc", name: "_dmarc.tenant.example", status: "MISSING" }),
  ]);
  dns.setTxt("deep.relay.example", ["v=spf1 ip4:192.0.2.0/24 -all"]);
  expect((await spf())[0]).toEqual(["return-path", "bounces.host.example", "FOUND", null]);
  dns.setMood("servfail");
  expect((await spf())[0]).toEqual(["return-path", "bounces.host.example", "FOUND", null]);
});

test("asks for the return path once per batch and limits questions about hostile records", async () => {
  const domains = startProcess(createDns([dns.address]), "bounces.host.example");
  dns.setTxt("bounces.host.example", [
    `v=spf1 ${Array.from({ length: 60 }, (_, at) => `include:r${at}.example`).join(" ")} -all`,
  ]);
  for (let at = 0; at < 60; at++) dns.setTxt(`r${at}.example`, [`v=spf1 include:s${at}.example -all`]);
  for (const name of ["one.example", "two.example", "three.example"]) {
    const { id } = await add(domains, name);
    await letPass(id, 6);
  }
  expect(await checkDue(domains)).toBe(3);
  // A long answer is requested again over TCP.
  const asked = dns.questions.flatMap(({ name, transport }) => (transport === "udp" ? [name] : []));
  expect(asked.filter((name) => name === "bounces.host.example")).toHaveLength(1);
  expect(asked.filter((name) => /^[rs]\d+\.example$/.test(name)).length).toBeLessThanOrEqual(42);
});

test.for(["servfail", "silent"] as const)(
  "a DNS that is %s never changes a domain's status",
  async (mood) => {
    const domains = startProcess();
    const verified = await addVerified(domains, "calm.example");
    const pending = await add(domains, "new.calm.example");
    dns.setMood(mood);
    for (let turn = 0; turn < (mood === "silent" ? 1 : 4); turn++) {
      for (const { id } of [verified, pending]) await letPass(id, 6);
      expect(await checkDue(domains)).toBe(2);
    }
    const after = await getView(domains, verified.id);
    expect(after).toMatchObject({
      status: "VERIFIED",
      lastError: expect.stringMatching(
        /^DNS did not respond \(E(SERVFAIL|TIMEOUT)\), so the status was not changed/,
      ),
      lastErrorParts: [
        {
          code: "proof.undecided",
          values: { trouble: expect.stringMatching(/^E/) },
          text: after.lastError,
        },
      ],
    });
    expect(dkimOf(after)).toEqual(dkimOf(verified));
    expect(dkimOf(await getView(domains, pending.id))[0]).toMatchObject({ status: "UNCHECKED", found: null });
    expect(await maySend(domains, "calm.example")).toBe(true);
    dns.setMood("answer");
    expect((await domains.verify(projectId, verified.id)).lastError).toBeNull();
  },
);

test("three failed checks in a row unverify a domain until its record is back", async () => {
  const domains = startProcess();
  const { id, ...view } = await addVerified(domains, "strikes.example");
  dns.setTxt(view.records[0]?.name ?? "", []);
  const seen = [];
  for (let check = 1; check <= 4; check++) {
    await letPass(id, 6);
    expect(await checkDue(domains)).toBe(1);
    const { status, lastError } = await getView(domains, id);
    seen.push([status, lastError?.slice(0, 41), await maySend(domains, "strikes.example")]);
  }
  expect(seen).toEqual([
    ["VERIFIED", "DNS no longer has the DKIM record: 1 of 3", true],
    ["VERIFIED", "DNS no longer has the DKIM record: 2 of 3", true],
    ["PENDING", expect.stringMatching(/^The domain is pending since 20/), false],
    ["PENDING", expect.stringMatching(/^The domain is pending since 20/), false],
  ]);
  expect(logged.filter(({ level }) => level === 40)).toEqual([
    expect.objectContaining({
      domain: "strikes.example",
      msg: expect.stringContaining("no longer verified"),
    }),
  ]);
  dns.setTxt(view.records[0]?.name ?? "", [view.records[0]?.value ?? ""]);
  await letPass(id, 6);
  await checkDue(domains);
  expect(await getView(domains, id)).toMatchObject({ status: "VERIFIED", lastError: null });
});

test("notifies members once by email each time a domain is lost, with the record to restore", async () => {
  const { pool } = testDatabase;
  const people = ["ada@example.net", "grace@example.net", "stranger@example.net"].map((email) => ({
    id: randomUUID(),
    email,
  }));
  for (const { id, email } of people)
    await pool.query("insert into users (id, email, password_hash) values ($1, $2, '')", [id, email]);
  for (const { id } of people.slice(0, 2))
    await pool.query("insert into memberships (project_id, user_id, role) values ($1, $2, 'MEMBER')", [
      projectId,
      id,
    ]);
  await pool.query(
    "insert into event_subscriptions (project_id, event_name, subscriber) values ($1, '', 'stream')",
    [projectId],
  );
  const domains = startProcess();
  const view = await addVerified(domains, "lost.example");
  const checkTimes = async (times: number) => {
    for (let check = 0; check < times; check++) {
      await letPass(view.id, 6);
      await checkDue(domains);
    }
    return readPlatformEmails(pool);
  };
  dns.setTxt(nameOf(view), []);
  expect(await checkTimes(2)).toEqual([]);
  const reported = await checkTimes(5);
  expect(reported.map(({ to, subject }) => [to, subject])).toEqual([
    ["ada@example.net", "lost.example is no longer verified"],
    ["grace@example.net", "lost.example is no longer verified"],
  ]);
  expect(reported[0]?.text).toContain(nameOf(view));
  dns.setTxt(nameOf(view), [valueOf(view)]);
  expect(await checkTimes(1)).toHaveLength(2);
  dns.setTxt(nameOf(view), []);
  expect(await checkTimes(3)).toHaveLength(4);
  const { rows } = await pool.query<{ name: string; data: unknown }>(
    "select event_name as name, data from event_reactions where project_id = $1 order by id",
    [projectId],
  );
  expect(rows.map(({ name }) => name)).toEqual(
    ["verified", "unverified", "verified", "unverified"].map((change) => `domain.${change}`),
  );
  expect(rows[1]?.data).toEqual({ domain: { id: view.id, domain: "lost.example", status: "PENDING" } });
  await pool.query("delete from emails");
  await pool.query("delete from users");
});

test("successful or unanswered checks in between don't add up to three failures", async () => {
  const domains = startProcess();
  const { id, records } = await addVerified(domains, "row.example");
  const [{ name, value } = { name: "", value: "" }] = records;
  const check = async (mood: "servfail" | "answer", published: string[]) => {
    dns.setMood(mood);
    dns.setTxt(name, published);
    await letPass(id, 6);
    await checkDue(domains);
    const { rows } = await testDatabase.pool.query(
      "select status, failed_checks from domains where id = $1",
      [id],
    );
    return Object.values(rows[0]).join(" ");
  };
  expect([
    await check("answer", []),
    await check("answer", []),
    await check("servfail", []),
    await check("answer", [value]),
    await check("answer", ["v=DKIM1; p="]),
    await check("answer", []),
  ]).toEqual(["VERIFIED 1", "VERIFIED 2", "VERIFIED 2", "VERIFIED 0", "VERIFIED 1", "VERIFIED 2"]);
});

test("repeated manual checks within a minute don't unverify a domain", async () => {
  const domains = startProcess();
  const { id, records } = await addVerified(domains, "impatient.example");
  dns.setTxt(records[0]?.name ?? "", []);
  const answers = [];
  for (let press = 0; press < 5; press++) answers.push(await domains.verify(projectId, id));
  await Promise.all(Array.from({ length: 5 }, () => domains.verify(projectId, id)));
  expect(answers.map(({ status, records: [dkim] }) => `${status} ${dkim?.status}`)).toEqual(
    Array.from({ length: 5 }, () => "VERIFIED MISSING"),
  );
  expect((await getView(domains, id)).lastError).toContain("1 of 3");
});

test("checks only due domains, and a pending domain verifies automatically", async () => {
  const domains = startProcess();
  const [due, fresh] = [await add(domains, "due.example"), await add(domains, "fresh.example")];
  for (const view of [due, fresh]) dns.setTxt(nameOf(view), [valueOf(view)]);
  expect(await checkDue(domains)).toBe(0);
  expect(dns.questions).toEqual([]);
  await letPass(due.id, 6);
  expect(await checkDue(domains)).toBe(1);
  expect((await getView(domains, due.id)).status).toBe("VERIFIED");
  expect(await getView(domains, fresh.id)).toMatchObject({ status: "PENDING", lastCheckedAt: null });
  expect(await minutesUntilNextCheck(due.id)).toBe(5);
  expect(await checkDue(domains)).toBe(0);
});

test("checks a domain hourly after a week without published records", async () => {
  const domains = startProcess();
  const { id } = await add(domains, "slow.example");
  await letPass(id, 7 * 24 * 60 - 10);
  await checkDue(domains);
  expect(await minutesUntilNextCheck(id)).toBe(5);
  await letPass(id, 20);
  await checkDue(domains);
  expect(await minutesUntilNextCheck(id)).toBe(60);
});

test("several processes check each domain once, longest waiting first, in limited batches", async () => {
  const processes = Array.from({ length: 3 }, () => startProcess());
  const [first] = processes;
  if (first === undefined) throw new Error("There is no process.");
  const { id } = await add(first, "d0.many.example");
  await testDatabase.pool.query(
    `insert into domains (project_id, id, domain, dkim_selector, dkim_public_key, dkim_private_key, next_check_at)
     select project_id, gen_random_uuid(), 'd' || n || '.many.example', 's' || n, dkim_public_key, dkim_private_key,
       now() - make_interval(mins => 200 - n)
     from domains, generate_series(1, 120) n where id = $1`,
    [id],
  );
  const counts: number[] = [];
  const turn = async (domains: Domains) => {
    for (let batch = 0; batch < 20; batch++) {
      const count = await checkDue(domains);
      counts.push(count);
      if (count === 0) return;
    }
  };
  await Promise.all(processes.map((one) => turn(one)));
  for (const one of processes) await turn(one);
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(120);
  expect(Math.max(...counts)).toBeLessThanOrEqual(50);
  const asked = dns.questions.map(({ name }) => name).filter((name) => name.includes("_domainkey"));
  expect(asked.toSorted()).toEqual(
    Array.from({ length: 120 }, (_, at) => `s${at + 1}._domainkey.d${at + 1}.many.example`).toSorted(),
  );
  expect(asked.slice(0, 50).every((name) => Number(/^s(\d+)/.exec(name)?.[1]) <= 100)).toBe(true);
});

test("checks a claimed domain again two minutes after its process died", async () => {
  const domains = startProcess();
  const { id } = await add(domains, "orphan.example");
  await letPass(id, 6);
  const stopped = AbortSignal.abort();
  expect(await domains.checkDue(stopped)).toBe(1);
  expect(dns.questions).toEqual([]);
  expect(await checkDue(domains)).toBe(0);
  await letPass(id, 2);
  expect(await checkDue(domains)).toBe(1);
  expect((await getView(domains, id)).lastCheckedAt).not.toBeNull();
});

test("keeps a domain pending while another project has it verified, and verifies it afterwards", async () => {
  const domains = startProcess();
  const otherProject = await newProject();
  const own = await add(domains, "shared.example");
  const other = await add(domains, "shared.example", otherProject);
  for (const view of [own, other]) dns.setTxt(nameOf(view), [valueOf(view)]);
  expect((await domains.verify(otherProject, other.id)).status).toBe("VERIFIED");
  await expect(domains.verify(projectId, own.id)).rejects.toMatchObject({ code: "CONFLICT" });
  await letPass(own.id, 6);
  expect(await checkDue(domains)).toBe(1);
  expect(await getView(domains, own.id)).toMatchObject({
    status: "PENDING",
    lastError: "The domain is verified in another project.",
    lastErrorParts: [{ code: "proof.elsewhere", values: {} }],
  });
  expect((await domains.verify(otherProject, other.id)).status).toBe("VERIFIED");
  await transaction(database, (tx) => domains.delete(tx, otherProject, other.id, NO_ONE));
  await letPass(own.id, 6);
  await checkDue(domains);
  expect(await getView(domains, own.id)).toMatchObject({ status: "VERIFIED", lastError: null });
});

test("verifies a domain for only one of many concurrent projects", async () => {
  const domains = startProcess();
  const projects = await Promise.all(Array.from({ length: 6 }, () => newProject()));
  const views = await Promise.all(projects.map((project) => add(domains, "race.example", project)));
  for (const view of views) {
    dns.setTxt(nameOf(view), [valueOf(view)]);
    await letPass(view.id, 6);
  }
  expect(await checkDue(domains)).toBe(6);
  const listed = await Promise.all(projects.map((project) => domains.list(project)));
  expect(
    listed
      .flat()
      .map(({ status }) => status)
      .toSorted(),
  ).toEqual([...Array.from({ length: 5 }, () => "PENDING"), "VERIFIED"]);
});

test("treats look-alikes, subdomains and parents of a verified domain as other domains", async () => {
  const domains = startProcess();
  await addVerified(domains, "xn--bcher-kva.example");
  for (const name of [
    "bucher.example",
    "mail.xn--bcher-kva.example",
    "example",
    "xn--bcher-kva.example.evil.example",
  ])
    expect(await maySend(domains, name)).toBe(false);
  expect(await maySend(domains, "xn--bcher-kva.example")).toBe(true);
});

const lookups = ({ records }: DomainView) =>
  records.map(({ purpose, lookedUpAt, servers }) => ({ purpose, lookedUpAt, servers }));

test("shows when DNS last answered and which servers, even while DNS no longer answers", async () => {
  const domains = startProcess();
  const added = await add(domains, "asked.example");
  const purposes = ["dkim", "spf", "dmarc"];
  expect(lookups(added)).toEqual(purposes.map((purpose) => ({ purpose, lookedUpAt: null, servers: [] })));
  const checked = await domains.verify(projectId, added.id);
  const then = purposes.map((purpose) => ({
    purpose,
    lookedUpAt: checked.lastCheckedAt,
    servers: [dns.address],
  }));
  expect(lookups(checked)).toEqual(then);
  dns.setMood("servfail");
  const later = await domains.verify(projectId, added.id);
  expect(later.lastCheckedAt).not.toBe(checked.lastCheckedAt);
  expect(lookups(later)).toEqual(then);
});

test("inspecting verified domains returns current DNS results and stores nothing", async () => {
  const domains = startProcess();
  const found = await addVerified(domains, "inspected.example");
  const gone = await addVerified(domains, "inspected-too.example");
  dns.setTxt(nameOf(gone), []);
  const resolver = createDns([dns.address]);
  const { inspected, left } = await inspectDomains(database, resolver, 10);
  expect(inspected.toSorted((one, other) => one.domain.localeCompare(other.domain))).toEqual([
    { projectId, domain: gone.domain, proof: "missing" },
    { projectId, domain: found.domain, proof: "found" },
  ]);
  expect(left).toBe(0);
  expect((await inspectDomains(database, resolver, 1)).left).toBe(1);
  expect(await getView(domains, gone.id)).toEqual(gone);
});

test("deleting a domain during its check causes no error", async () => {
  const removing: Dns = {
    ...createDns([dns.address]),
    async txt() {
      await testDatabase.pool.query("delete from domains where project_id = $1", [projectId]);
      return { kind: "none" };
    },
  };
  const domains = startProcess(removing);
  const { id } = await add(domains, "removed.example");
  await letPass(id, 6);
  expect(await checkDue(domains)).toBe(1);
  expect(logged).toEqual([]);
  await expect(domains.verify(projectId, id)).rejects.toMatchObject({ code: "DOMAIN_NOT_FOUND" });
});

test("the loop processes every batch, never overlaps, and stops after the current run", async () => {
  vi.useFakeTimers();
  try {
    const batches = [50, 50, 7, 0];
    const underWay: Array<PromiseWithResolvers<number>> = [];
    const signals: AbortSignal[] = [];
    const checks = startDomainChecks({
      log: createLog({ level: "silent" }),
      metrics: createMetrics(),
      checkDue(signal) {
        signals.push(signal);
        const next = batches.shift();
        if (next !== undefined) return Promise.resolve(next);
        const open = Promise.withResolvers<number>();
        underWay.push(open);
        return open.promise;
      },
    });
    await vi.advanceTimersByTimeAsync(30_000);
    expect([batches, signals.length]).toEqual([[], 4]);
    await vi.advanceTimersByTimeAsync(120_000);
    expect(underWay).toHaveLength(1);
    let isStopped = false;
    const stopping = checks.stop().then(() => (isStopped = true));
    await vi.advanceTimersByTimeAsync(60_000);
    expect([isStopped, signals.at(-1)?.aborted]).toEqual([false, true]);
    underWay[0]?.resolve(50);
    await stopping;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(signals).toHaveLength(5);
  } finally {
    vi.useRealTimers();
  }
});

test("stores a changed record but not a changed order", async () => {
  const domains = startProcess();
  const view = await addVerified(domains, "drift.example");
  const changes = async () =>
    (
      await testDatabase.pool.query(
        "select purpose, status, found from domain_record_changes where project_id = $1 and purpose in ('dkim', 'spf') order by changed_at, purpose",
        [projectId],
      )
    ).rows.map(({ purpose, status, found }) => `${purpose} ${status} ${found?.slice(0, 14)}`);
  expect(await changes()).toEqual(["dkim FOUND v=DKIM1; k=rsa", "spf MISSING undefined"]);
  dns.setTxt("drift.example", ["v=spf1 -all", "v=spf1 ~all"]);
  await domains.verify(projectId, view.id);
  dns.setTxt("drift.example", ["v=spf1 ~all", "v=spf1 -all"]);
  await domains.verify(projectId, view.id);
  dns.setTxt(nameOf(view), []);
  await domains.verify(projectId, view.id);
  expect((await changes()).slice(2)).toEqual(["spf MISMATCH v=spf1 -all\nv=", "dkim MISSING undefined"]);
  await testDatabase.pool.query(
    `insert into domain_record_changes (project_id, domain_id, purpose, name, changed_at, status)
     select project_id, id, 'spf', 'drift.example', now() - n * interval '1 hour', 'FOUND' from domains, generate_series(1, 80) n`,
  );
  dns.setTxt("drift.example", ["v=spf1 ~all"]);
  await domains.verify(projectId, view.id);
  const { rows } = await testDatabase.pool.query(
    "select count(*)::integer as kept from domain_record_changes where purpose = 'spf'",
  );
  expect(rows).toEqual([{ kept: 50 }]);
});
