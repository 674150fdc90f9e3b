// Writes the data of this version for tests of later upgrades: a project that used the whole API, and rows for all other tables.
import { readFile } from "node:fs/promises";
import path from "node:path";
import { writeBackup } from "../../server/src/backup/write-backup.ts";
import { countNews } from "../../server/src/events/counts.ts";
import { APP_SECRET, startTestServer } from "../../server/src/testing/test-server.ts";
import { recordResponses } from "../generate/answer-examples.ts";

/** Rows for tables that a small project leaves empty. `:project` stands for its id. */
const OTHER_ROWS = path.join(import.meta.dirname, "other-rows.sql");

/** Writes a backup in which every table has rows. Its secret is the one of tests. */
export async function writeRelease(file: string, version: string): Promise<void> {
  const server = await startTestServer();
  try {
    await recordResponses(server.url, async (projectId) => {
      const rows = await readFile(OTHER_ROWS, "utf8");
      await countNews(server.database, { lagSeconds: 0 });
      await server.pool.query(rows.replaceAll(":project", `'${projectId}'`));
      await writeBackup({ pool: server.pool, secret: APP_SECRET, version }, file);
    });
  } finally {
    await server.stop();
  }
}
