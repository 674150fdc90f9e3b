// Creates a standby of a running PostgreSQL with a base backup over SQL, because the npm binaries lack pg_basebackup.
import { appendFile, cp, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { QueryResultRow } from "pg";
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from "../../server/src/platform/embedded-postgres/embedded-postgres.ts";
import { waitUntil } from "../wait-until.ts";
import { CamelCaseClient } from "../../server/src/platform/database/column-names.ts";

const WAIT_MS = 60_000;
const PROMOTE_SECONDS = 30;
/** An address without a listener. */
const NOWHERE = "host=127.0.0.1 port=1";
/** Files that belong to the primary only, such as its lock and its log. */
const LEFT_OUT = new Set(["postmaster.pid", "postmaster.opts", "log"]);

export interface StartedStandby {
  freeze(): Promise<void>;
  promote(): Promise<EmbeddedPostgres>;
}

export async function startStandby(
  folder: string,
  standbyFolder: string,
  primaryUrl: string,
): Promise<StartedStandby> {
  const cluster = join(standbyFolder, "postgres");
  await copyCluster(join(folder, "postgres"), cluster, primaryUrl);
  const { hostname, port, username, password } = new URL(primaryUrl);
  await follow(cluster, `host=${hostname} port=${port} user=${username} password=${password}`);
  await writeFile(join(cluster, "standby.signal"), "");
  // Accepts queries as soon as it replicates.
  const standby = await startEmbeddedPostgres({ dataDir: standbyFolder, log: () => {} });
  const url = new URL(primaryUrl);
  url.port = String(standby.connection.port);
  await waitUntil("the standby to replicate", WAIT_MS, async () => {
    const [row] = await ask<{ count: number }>(
      primaryUrl,
      "select count(*)::int as count from pg_stat_replication where state = 'streaming'",
    ).catch(() => []);
    return row?.count === 1;
  });
  return {
    async freeze() {
      await ask(url.href, `alter system set primary_conninfo = '${NOWHERE}'`);
      await ask(url.href, "select pg_reload_conf()");
      await waitUntil("the standby to be cut off", WAIT_MS, async () => {
        const rows = await ask(primaryUrl, "select 1 from pg_stat_replication");
        return rows.length === 0;
      });
    },
    async promote() {
      await ask(url.href, `select pg_promote(true, ${PROMOTE_SECONDS})`);
      return standby;
    },
  };
}

async function copyCluster(from: string, to: string, url: string): Promise<void> {
  const client = new CamelCaseClient({ connectionString: url });
  await client.connect();
  try {
    await client.query("select pg_backup_start('standby', true)");
    await cp(from, to, { recursive: true, filter: (source) => !LEFT_OUT.has(basename(source)) });
    const { rows } = await client.query<{ labelfile: string }>("select labelfile from pg_backup_stop(false)");
    await writeFile(join(to, "backup_label"), rows[0]?.labelfile ?? "");
    await rm(join(to, "standby.signal"), { force: true });
  } finally {
    await client.end();
  }
}

async function follow(cluster: string, conninfo: string): Promise<void> {
  await appendFile(join(cluster, "postgresql.auto.conf"), `primary_conninfo = '${conninfo}'\n`);
}

async function ask<Row extends QueryResultRow>(url: string, text: string): Promise<Row[]> {
  const client = new CamelCaseClient({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}
