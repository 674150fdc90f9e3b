// Restores a backup taken during a campaign. Nothing is sent until a person releases it; then each recipient gets one email (P13).
import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { BOOTSTRAP, makeDataFolder } from "./program.ts";
import { waitForEnd } from "./faults/oracle.ts";
import { DOMAIN, startEnvironment, type Environment } from "./faults/environment.ts";
import { waitUntil } from "./wait-until.ts";

const RECIPIENTS = 6_000;
const WAIT_MS = 60_000;
const END_TIMEOUT_MS = 600_000;
const APP_SECRET = "one secret for all the processes";

/** Runs an admin command in a separate process. @returns its output */
async function run(program: "admin.ts" | "backup.ts", args: string[], dataDir: string): Promise<string> {
  const file = fileURLToPath(new URL(`../server/src/${program}`, import.meta.url));
  const env = { PATH: process.env["PATH"], ...BOOTSTRAP, DATA_DIR: dataDir, APP_SECRET };
  return (await promisify(execFile)(process.execPath, [file, ...args], { env })).stdout;
}

const taken = (world: Environment) => world.sink.journal.length;

test(
  "a backup taken mid-campaign sends nothing until released, then each recipient once",
  async () => {
    const world = await startEnvironment({ database: "own" });
    const elsewhere = await makeDataFolder();
    try {
      // Slow enough that both backups are made during the campaign, even on a busy machine.
      const actor = await world.start({ PROJECT_SENDS_PER_SECOND: String(Math.ceil(RECIPIENTS / 15)) });
      await world.importContacts(RECIPIENTS);
      const campaignId = await world.startCampaign();
      await waitUntil("the first mails", WAIT_MS, () => taken(world) >= RECIPIENTS / 10);
      // Taken while the original continues, so this copy knows less.
      const early = join(elsewhere.path, "early.tar.gz");
      expect(JSON.parse(await run("backup.ts", ["backup", early, "--json"], world.folder))).toMatchObject({
        file: early,
        rows: expect.any(Number),
      });
      await world.stop(actor);
      const before = taken(world);
      expect(before).toBeLessThan(RECIPIENTS);
      const file = join(elsewhere.path, "backup.tar.gz");
      expect(await run("backup.ts", ["backup", file], world.folder)).toContain("Backup written to ");
      const dataDir = join(elsewhere.path, "data");
      expect(await run("backup.ts", ["restore", file], dataDir)).toContain("is held at the next start");
      await expect(run("backup.ts", ["restore", file], dataDir)).rejects.toThrow(/The database is in use/);

      await world.start({ DATA_DIR: dataDir });
      // A new email is sent, so the sender works and skips the held emails.
      const hello = { from: `us@${DOMAIN}`, to: "new@example.net", subject: "Hello", body: "<p>Hello</p>" };
      await world.insist("/v1/send", hello);
      await waitUntil("a new mail", WAIT_MS, () => taken(world) > before);
      expect(taken(world)).toBe(before + 1);
      expect(await run("admin.ts", ["held"], dataDir)).toContain("1 campaign");
      await run("admin.ts", ["release"], dataDir);
      await waitForEnd(world, campaignId, END_TIMEOUT_MS);
      const mails = Map.groupBy(world.sink.journal, ({ messageId }) => messageId);
      expect([mails.size, taken(world)]).toEqual([RECIPIENTS + 1, RECIPIENTS + 1]);
    } finally {
      await world.close();
      await elsewhere.remove();
    }
  },
  END_TIMEOUT_MS,
);
