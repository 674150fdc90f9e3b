// Tests that the data of every release restores, migrates, has intact logs and is served.
// `WRITE_RELEASE=1 npm test -- upgrades` writes the data of the version in package.json.
import { readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import path from "node:path";
import { EXAMPLE_BODIES } from "@postloft/contract/openapi/examples.ts";
import { afterEach, beforeAll, expect, test } from "vitest";
import { verifyAuditLogs } from "../../server/src/audit/audit-log.ts";
import { checkBackup, restoreBackup } from "../../server/src/backup/restore-backup.ts";
import { verifyConsentLogs } from "../../server/src/contacts/consent-chain/verify-consent.ts";
import { recountEmails } from "../../server/src/emails/results/email-counts.ts";
import { createDatabase } from "../../server/src/platform/database/database.ts";
import { createTestDatabase } from "../../server/src/platform/database/test-database.ts";
import { startOne } from "../../server/src/testing/test-server.ts";
import packageJson from "../../package.json" with { type: "json" };
import { writeRelease } from "./write-release.ts";

const FOLDER = import.meta.dirname;
const WRITING_MS = 120_000;
const PATHS = "/contacts /segments /templates /campaigns /workflows /emails /events /activity".split(" ");

const cleanups: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

beforeAll(async () => {
  if (process.env["WRITE_RELEASE"] !== "1") return;
  const file = path.join(FOLDER, `${packageJson.version}.tar.gz`);
  await rm(file, { force: true });
  await writeRelease(file, packageJson.version);
}, WRITING_MS);

test.each(readdirSync(FOLDER).filter((name) => name.endsWith(".tar.gz")))(
  "upgrades the data of the release in %s and serves it",
  async (name) => {
    const restored = await createTestDatabase();
    cleanups.push(() => restored.drop());
    await restored.pool.query("drop schema public cascade; create schema public");
    const file = path.join(FOLDER, name);
    const { about, end } = await checkBackup(file);
    await restoreBackup(restored.pool, file, { about, end });

    // A migration that moves or deletes rows changes this expectation for the releases before it.
    for (const table of about.tables) {
      const { rows } = await restored.pool.query<{ count: number }>(
        `select count(*)::integer as count from "${table.name}"`,
      );
      expect([table.name, rows[0]?.count]).toEqual([table.name, end.rows[table.name]]);
      expect([table.name, end.rows[table.name]]).not.toEqual([table.name, 0]);
    }
    const database = createDatabase(restored.pool);
    expect(await verifyAuditLogs(database)).toEqual([]);
    expect(await verifyConsentLogs(database)).toEqual([]);
    const recount = await recountEmails(database, 5);
    expect(recount).toEqual({ projects: 1, wrong: [] });

    const server = await startOne(restored, { ROLES: "api" });
    cleanups.push(() => server.stop());
    expect((await server.call("GET", "/ready")).status).toBe(200);
    const login = await server.call("POST", "/auth/login", {}, EXAMPLE_BODIES["auth.login"]);
    const cookie = login.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    const { rows } = await restored.pool.query<{ id: string }>(
      "select project_id as id from contacts limit 1",
    );
    for (const place of PATHS) {
      const reply = await server.call("GET", place, { cookie, projectId: rows[0]?.id ?? "" });
      expect([place, reply.status]).toEqual([place, 200]);
    }
  },
);
