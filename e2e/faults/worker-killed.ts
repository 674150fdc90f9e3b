// Kills a worker of a Citus cluster three times during a campaign. A second project on another worker sends transactional email meanwhile.
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { Client } from "pg";
import type { ServerOfTests } from "../../server/src/platform/database/test-database.ts";
import { createClusterDatabase, prepareCluster } from "../../tools/sharded/cluster.ts";
import { createApiClient, type ApiClient } from "../api-client.ts";
import { ACCOUNT } from "../program.ts";
import { verifyDomain } from "../verify-domain.ts";
import { waitUntil } from "../wait-until.ts";
import { complain, countMails } from "./evidence.ts";
import { startEnvironment, type Environment } from "./environment.ts";
import type { FaultCase, FaultRow, FaultRun, Size } from "./fault-case.ts";
import { checkCampaign, startSampler, waitForEnd } from "./oracle.ts";

const RECIPIENTS: Record<Size, number> = { small: 2_000, large: 20_000 };
const KILLS = 3;
const AWAY_MS = 1_000;
const OTHER_EVERY_MS = 200;
const OTHER_DOMAIN = "other.example.com";
/** A sender retries a failed claim after two seconds, and results of emails after longer pauses. */
const RECOVERY_MS = 30_000;
const START_TIMEOUT_MS = 120_000;
const END_TIMEOUT_MS = 1_800_000;

export const workerKilled: FaultCase = {
  name: "worker-killed",
  shows:
    "a worker of a cluster killed three times during a campaign, while a project on the other one sends too",
  async run(run) {
    const nodes = await prepareCluster(process.env["SHARDED_DATABASE_URL"] ?? "");
    const url = await createClusterDatabase(nodes, "test_worker_killed");
    const environment = await startEnvironment({ database: { url } });
    try {
      return [await play(run, environment, nodes)];
    } finally {
      await environment.close();
    }
  },
};

async function play(
  run: FaultRun,
  environment: Environment,
  nodes: readonly ServerOfTests[],
): Promise<FaultRow> {
  const { url } = await environment.start();
  const [first] = await environment.query<{ id: string }>(
    "select id from projects where id <> '00000000-0000-7000-8000-000000000000'",
  );
  const port = await portOf(environment, first?.id ?? "");
  const worker = nodes.find((node) => node.port === port);
  if (worker === undefined) throw new Error(`No worker has port ${port}.`);
  const other = await startOther(environment, url, port);
  const recipients = await environment.importContacts(RECIPIENTS[run.size]);
  const campaignId = await environment.startCampaign();
  const sampler = startSampler(environment, [campaignId]);
  const mailed = () => environment.sink.journal.length;
  for (let kill = 1; kill <= KILLS; kill++) {
    const enough = (recipients.length * kill) / (KILLS + 1);
    await waitUntil(`${enough} emails`, END_TIMEOUT_MS, () => mailed() >= enough);
    environment.noteFault();
    await restartWorker(worker);
  }
  await waitForEnd(environment, campaignId, END_TIMEOUT_MS);
  const found = [...(await sampler.stop()), ...(await other.stop())];
  const expected = { name: "worker killed", recipients, recoveryMs: RECOVERY_MS };
  return checkCampaign(environment, campaignId, expected, found);
}

/** Returns the port of the worker that has a project. */
async function portOf(environment: Environment, projectId: string): Promise<number> {
  const [row] = await environment.query<{ port: number }>(
    `select nodeport as port from pg_dist_shard_placement
     where shardid = get_shard_id_for_distribution_column('projects', $1::uuid)`,
    [projectId],
  );
  return row?.port ?? 0;
}

/** Stops a worker as its crash would, and starts it again. Both run on this machine as the owner of its data. */
async function restartWorker(worker: ServerOfTests): Promise<void> {
  const client = new Client({ ...worker, database: "postgres" });
  await client.connect();
  const { rows } = await client.query<{ folder: string; programs: string }>(
    "select current_setting('data_directory') as folder, setting as programs from pg_config where name = 'BINDIR'",
  );
  await client.end();
  const { folder = "", programs = "" } = rows[0] ?? {};
  const lock = join(folder, "postmaster.pid");
  const [pid] = (await readFile(lock, "utf8")).split("\n");
  process.kill(Number(pid), "SIGQUIT");
  // A busy machine takes long to end its processes, and until then pg_ctl finds a server that runs.
  await waitUntil("the end of the worker", START_TIMEOUT_MS, () => !existsSync(lock));
  await delay(AWAY_MS);
  const { uid, gid } = await stat(folder);
  const options = process.getuid?.() === uid ? {} : { uid, gid };
  const log = join(folder, "..", `${worker.port}.restarted.log`);
  await promisify(execFile)(join(programs, "pg_ctl"), ["-D", folder, "-l", log, "-w", "start"], {
    ...options,
    cwd: "/",
    timeout: START_TIMEOUT_MS,
  });
}

/** Sends transactional emails of a project on another worker until it stops. */
async function startOther(environment: Environment, url: string, notOnPort: number) {
  const api = await createProjectElsewhere(environment, url, notOnPort);
  await verifyDomain(api, environment.dns, OTHER_DOMAIN);
  const accepted: string[] = [];
  let isEnding = false;
  let longestMs = 0;
  const running = (async () => {
    let lastAtMs = Date.now();
    for (let number = 0; !isEnding; number++) {
      const to = `other${number}@example.org`;
      const mail = { to, subject: "Hi", body: "<p>Hi</p>", from: `hi@${OTHER_DOMAIN}` };
      const { status } = await api
        .call("POST", "/v1/send", mail)
        .catch((): { status: number } => ({ status: 0 }));
      if (status === 200) {
        accepted.push(to);
        longestMs = Math.max(longestMs, Date.now() - lastAtMs);
        lastAtMs = Date.now();
      }
      await delay(OTHER_EVERY_MS);
    }
  })();
  return {
    async stop(): Promise<string[]> {
      isEnding = true;
      await running;
      await waitUntil("the other project's emails", START_TIMEOUT_MS, () => {
        const now = countMails(environment.sink.journal);
        return accepted.every((to) => now.has(to));
      }).catch(() => undefined);
      const mailed = countMails(environment.sink.journal);
      process.stdout.write(
        `the other project: ${accepted.length} emails accepted, at most ${longestMs} ms between two\n`,
      );
      return [
        ...complain(
          accepted.filter((to) => !mailed.has(to)),
          "emails of the other project were lost",
        ),
        ...complain(
          [...mailed].filter(([to, count]) => to.startsWith("other") && count > 1).map(([to]) => to),
          "emails of the other project were sent more than once",
        ),
      ];
    },
  };
}

async function createProjectElsewhere(
  environment: Environment,
  url: string,
  notOnPort: number,
): Promise<ApiClient> {
  const login = await fetch(new URL("/auth/login", url), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(ACCOUNT),
  });
  const cookie = login.headers
    .getSetCookie()
    .map((one) => one.split(";")[0])
    .join("; ");
  const session = createApiClient(url, { cookie, origin: new URL(url).origin });
  for (;;) {
    const project = await session.post<{ id: string; secret: string }>("/users/@me/projects", {
      name: `Other ${randomUUID().slice(0, 8)}`,
    });
    if ((await portOf(environment, project.id)) !== notOnPort)
      return createApiClient(url, { authorization: `Bearer ${project.secret}` });
  }
}
