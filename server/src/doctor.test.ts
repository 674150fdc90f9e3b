// Runs `npm run doctor` as a program. A healthy installation has no problems, and every fault is reported with its fix.
import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import * as v1 from "@postloft/contract/v1.ts";
import { databaseDiskFinding } from "./instance/doctor-disk.ts";
import type { Finding } from "./instance/finding.ts";
import { APP_SECRET, useTestServer } from "./testing/test-server.ts";
import { countNews } from "./events/counts.ts";
import { databaseUrlOf } from "./testing/database-url.ts";

const PROGRAM = fileURLToPath(new URL("./doctor.ts", import.meta.url));
const server = useTestServer({ ROLES: "api" });

async function run(more: Record<string, string> = {}, args = ["--json"]) {
  const env = {
    PATH: process.env["PATH"],
    APP_SECRET,
    BASE_URL: server.url,
    DATABASE_URL: databaseUrlOf(server.pool.options),
    ...more,
  };
  const child = spawn(process.execPath, [PROGRAM, ...args], { env });
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { out, err, code };
}

async function examine(more: Record<string, string> = {}) {
  const { out, err, code } = await run(more);
  expect(err).toBe("");
  const { ok, findings } = JSON.parse(out) as { ok: boolean; findings: Finding[] };
  expect(code).toBe(ok ? 0 : 1);
  return findings;
}

const problemsOf = (findings: Finding[]) =>
  findings.filter(({ state }) => state === "problem").map(({ check, message }) => `${check}: ${message}`);

test("reports no problem for a healthy installation, also while counts lag behind the rows", async () => {
  const { byKey } = server.project;
  for (const email of ["ada@example.com", "grace@example.com"])
    await server.call(v1.track, byKey, { body: { email, event: "signed-up" } });
  await countNews(server.database, { lagSeconds: 0 });
  await server.call(v1.track, byKey, { body: { email: "ada@example.com", event: "paid" } });
  const findings = await examine();
  expect(problemsOf(findings)).toEqual([]);
  expect(findings.map(({ check }) => check)).toEqual([
    "settings",
    "database",
    "migrations",
    "clock",
    "disk",
    "disk of the database",
    "queue",
    "mail",
    "address",
    "audit log",
    "consent log",
    "counts",
    "email counts",
  ]);
  const reported = await run({}, []);
  expect(reported.out).toContain("ok       database: PostgreSQL");
  expect(reported.out).toContain("ok       disk: The disk of DATA_DIR has enough space.");
});

test("reports an edited audit log, wrong counts, a missing mail server and a missing address", async () => {
  await server.rows(
    `insert into event_counts (project_id, quarter, name, detail, count)
     values ($1, date_bin('15 minutes', now() - interval '1 day', 'epoch'), 'never-happened', '', 1)`,
    server.project.id,
  );
  await server.rows(
    `with news as (
       insert into campaigns (project_id, id, name, subject, body, from_address, audience_type)
       values ($1, new_id(), 'News', 's', 'b', 'news@sandbox.localhost', 'ALL') returning id)
     insert into email_counts (project_id, subject_id, opened) select $1, id, 2 from news`,
    server.project.id,
  );
  await server.rows(
    "update audit_log set details = '{}' where project_id = $1 and number = 1",
    server.project.id,
  );
  const findings = await examine({
    MAIL_TRANSPORT: "smtp://127.0.0.1:1",
    BASE_URL: "https://127.0.0.1:1",
  });
  expect(problemsOf(findings)).toEqual([
    expect.stringMatching(/^mail: Cannot send email: /),
    expect.stringMatching(/^address: https:\/\/127\.0\.0\.1:1 can't be reached: /),
    expect.stringMatching(/^audit log: Entry 1 of .* was changed\.$/),
    expect.stringMatching(/^counts: The counts by events of project .* in 1 quarter hours /),
    expect.stringMatching(
      /^email counts: The counts of campaign "News" .* differ from its emails: opened 2 instead of 0\.$/,
    ),
  ]);
  expect(findings.filter(({ state, advice }) => state === "problem" && advice === undefined)).toEqual([]);
  expect(findings.find(({ check }) => check === "proxy")?.state).toBe("warning");
});

test("explains invalid settings and an unreachable database in one sentence", async () => {
  expect(problemsOf(await examine({ MAIL_TRANSPORT: "ftp://x" }))).toEqual([
    expect.stringMatching(/^settings: .*MAIL_TRANSPORT/s),
  ]);
  // The server would not start with these settings either.
  expect(problemsOf(await examine({ S3_BUCKET: "images" }))).toEqual([
    expect.stringMatching(/^settings: .*S3_ACCESS_KEY_ID: required with S3_BUCKET/s),
  ]);
  expect(problemsOf(await examine({ DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" })).length).toBe(1);
  expect((await run({}, ["--nonsense"])).code).toBe(2);
});

test("checks the disk of a folder that does not exist yet, and reports a full disk as a problem", async () => {
  const findings = await examine({ DATA_DIR: join(tmpdir(), "postloft-none", "made") });
  expect(findings.filter(({ check }) => check.startsWith("disk"))).toEqual([
    { check: "disk", state: "ok", message: "The disk of DATA_DIR has enough space." },
    expect.objectContaining({ check: "disk of the database", state: "warning" }),
  ]);
  expect(databaseDiskFinding(false)).toMatchObject({
    state: "problem",
    message: "The disk of the database is full or nearly full.",
  });
});

test("checks a sample of many verified domains and says how many were not checked", async () => {
  await server.rows(
    `insert into domains (project_id, id, domain, status, dkim_selector, dkim_public_key, dkim_private_key)
     select $1, gen_random_uuid(), n || '.example.com', 'VERIFIED', 's', 'public', 'private' from generate_series(1, 53) n`,
    server.project.id,
  );
  const findings = await examine({ MAIL_TRANSPORT: "smtp://127.0.0.1:1", DNS_SERVERS: "127.0.0.1:1" });
  const domains = findings.filter(({ check }) => check === "domains");
  expect(domains).toHaveLength(51);
  expect(domains.at(-1)).toMatchObject({ message: "3 more verified domains were not checked." });
});
