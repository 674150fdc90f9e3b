// Tests the embedded PostgreSQL against kill -9, other processes on its folder, root and broken folders. Uses real PostgreSQL in temporary
// folders, and separate server processes where something is killed.
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
} from "node:fs";
import { readlinkSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { Client } from "pg";
import { afterAll, afterEach, expect, test } from "vitest";
import { chooseAccount, listAccounts, spawnAs } from "./account.ts";
import { copyPostgresFolder, findPostgresFolder, linkLibraries, programPath } from "./binaries.ts";
import { adoptCluster, createCluster } from "./cluster.ts";
import { explainFailure } from "./errors.ts";
import { findServerProcessesByList, readPostmasterFile } from "./leftovers.ts";
import { launchPostmaster } from "./postmaster.ts";
import { DataDirInUseError, startEmbeddedPostgres, type EmbeddedPostgres } from "./embedded-postgres.ts";

const WAIT_MS = 30_000;
const IS_ROOT = process.getuid?.() === 0;
const ORDINARY = { uid: 65534, gid: 65534 };

type Connection = EmbeddedPostgres["connection"];

const undo: (() => unknown)[] = [];
afterEach(async () => {
  while (undo.length > 0) await undo.pop()?.();
});

/** Creates a temporary folder that others may enter but not list. */
function makeFolder(mode = 0o711): string {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "embedded-postgres-")));
  chmodSync(folder, mode);
  undo.push(async () => {
    // The PostgreSQL of a killed server may still be shutting down.
    await waitFor(
      async () => (await findServerProcessesByList(path.join(folder, "postgres"))).length === 0,
      "its end",
    );
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

async function start(
  dataDir: string,
  log: (message: string) => void = () => undefined,
): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir, log, lockWaitMs: 0 });
  undo.push(() => server.stop());
  return server;
}

let template: Promise<string> | undefined;

/** Returns a copy of a data folder with a used and stopped cluster, which is created once. */
async function makeUsedFolder(): Promise<string> {
  template ??= (async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "embedded-postgres-"));
    const server = await startEmbeddedPostgres({ dataDir: folder, log: () => undefined });
    await query(server.connection, "CREATE TABLE kept AS SELECT 7 AS value");
    await server.stop();
    return folder;
  })();
  const dataDir = makeFolder();
  cpSync(await template, dataDir, { recursive: true, preserveTimestamps: true });
  return dataDir;
}

afterAll(async () => {
  if (template !== undefined) rmSync(await template, { recursive: true, force: true });
});

async function query(connection: Connection, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client(connection);
  // The tests stop servers while clients are connected.
  client.on("error", () => client.end());
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

type Looked<Value> = Value | undefined | false;

async function waitFor<Value>(
  look: () => Looked<Value> | Promise<Looked<Value>>,
  what: string,
): Promise<Value> {
  const deadline = performance.now() + WAIT_MS;
  for (;;) {
    const value = await look();
    if (value !== undefined && value !== false) return value;
    if (performance.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await delay(5);
  }
}

const SERVER_PROGRAM = `
  const { startEmbeddedPostgres } = await import(process.argv[1]);
  try {
    const { connection } = await startEmbeddedPostgres({ dataDir: process.argv[2], log: () => {}, lockWaitMs: 0 });
    console.log(JSON.stringify({ connection, uid: process.getuid() }));
    setInterval(() => {}, 1000);
  } catch (error) {
    console.log(JSON.stringify({ error: error.name, message: error.message }));
  }`;

type ServerResponse = { connection?: Connection; uid?: number; error?: string; message?: string };

/** Starts a server in a separate process, with `asOrdinaryUser` even if the tests run as root. */
function spawnServer(
  dataDir: string,
  asOrdinaryUser = false,
): { child: ChildProcess; answer: Promise<ServerResponse> } {
  const command = [process.execPath, "--input-type=module", "-e", SERVER_PROGRAM];
  command.push(path.join(import.meta.dirname, "embedded-postgres.ts"), dataDir);
  let identity = {};
  if (asOrdinaryUser && IS_ROOT) {
    // `nobody` cannot read a checkout in root's home. A namespace then makes the process as unprivileged as `nobody`.
    const isInReach =
      spawnSync(process.execPath, [path.join(import.meta.dirname, "..", "ids.ts")], ORDINARY).status === 0;
    if (isInReach) identity = ORDINARY;
    else command.unshift("unshare", "--user", "--map-user=65534", "--map-group=65534", "--");
  }
  const [program = "", ...rest] = command;
  const child = spawn(program, rest, { stdio: ["ignore", "pipe", "inherit"], ...identity });
  undo.push(() => endProcess(child));
  if (child.stdout === null) throw new Error("stdout is a pipe");
  const answer = once(createInterface(child.stdout), "line").then(([line]) => JSON.parse(line));
  return { child, answer };
}

async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

function postmasterPid(dataDir: string): number {
  const { pid } = readPostmasterFile(path.join(dataDir, "postgres"));
  if (pid === undefined) throw new Error("no postmaster runs");
  return pid;
}

/** Returns state and command of a process, such as "Z    [cat] <defunct>". */
function describeProcess(pid: number | undefined): string {
  return spawnSync("ps", ["-o", "stat=,comm=", "-p", String(pid)], { encoding: "utf8" }).stdout;
}

/** Inserts rows in sequence until the server is gone and counts the confirmed commits. */
function keepInserting(connection: Connection): { acknowledged: () => number; ended: Promise<unknown> } {
  let count = 0;
  const run = async (): Promise<void> => {
    const client = new Client(connection);
    const gone = new Promise((_, reject) => client.on("error", reject));
    gone.catch(() => undefined);
    await client.connect();
    await client.query("CREATE TABLE IF NOT EXISTS acknowledged (id int PRIMARY KEY)");
    for (;;) {
      await Promise.race([gone, client.query("INSERT INTO acknowledged VALUES ($1)", [count + 1])]);
      count += 1;
    }
  };
  return { acknowledged: () => count, ended: run().catch((error: unknown) => error) };
}

test("creates a UTF-8 cluster with checksums on loopback and a socket, and starts it again within a second", async () => {
  const dataDir = path.join(makeFolder(), "data with spaces");
  const first = await start(dataDir);
  const [facts] = await query(
    first.superuser,
    `SELECT current_setting('server_encoding') AS encoding, current_setting('data_checksums') AS checksums,
       current_setting('listen_addresses') AS address, current_setting('synchronous_commit') AS durable,
       lower('ÄÉ') AS lower, current_setting('unix_socket_directories') AS sockets`,
  );
  expect(facts).toEqual({
    encoding: "UTF8",
    checksums: "on",
    address: "127.0.0.1",
    durable: "on",
    lower: "äé",
    sockets: path.join(dataDir, "postgres"),
  });
  expect(await query(first.connection, "SELECT inet_client_addr() AS address")).toEqual([{ address: null }]);
  await expect(query({ ...first.connection, password: "wrong" }, "SELECT 1")).rejects.toThrow(
    /password authentication failed/,
  );
  await query(first.connection, "CREATE TABLE kept AS SELECT 7 AS value");
  await first.stop();
  await first.stop();

  let second = first;
  let tookMs = Number.POSITIVE_INFINITY;
  // A busy machine may delay one start, but not each of them.
  for (let tries = 0; tries < 5 && tookMs >= 1_000; tries++) {
    await second.stop();
    const startedAt = performance.now();
    second = await start(dataDir);
    tookMs = performance.now() - startedAt;
  }
  expect(tookMs).toBeLessThan(1_000);
  expect(await query(second.connection, "SELECT value FROM kept")).toEqual([{ value: 7 }]);
  expect(readdirSync(path.join(dataDir, "postgres", "log"))).not.toEqual([]);
});

test("rejects a second start on the same folder, in this process and another, with id and folder", async () => {
  const dataDir = await makeUsedFolder();
  const { child, answer } = spawnServer(dataDir);
  const { connection } = await answer;
  const appError = await start(dataDir).catch((error: unknown) => error);
  expect(appError).toBeInstanceOf(DataDirInUseError);
  expect(String(appError)).toContain(`process id ${child.pid}`);
  expect(String(appError)).toContain(dataDir);
  expect(connection && (await query(connection, "SELECT 1 AS one"))).toEqual([{ one: 1 }]);

  await endProcess(child);
  const own = await start(dataDir);
  await expect(start(dataDir)).rejects.toThrow(`process id ${process.pid}`);
  await own.stop();
  await start(dataDir);
});

test("waits for the previous server if it is still stopping", async () => {
  const dataDir = await makeUsedFolder();
  const ending = await start(dataDir);
  const messages: string[] = [];
  const next = startEmbeddedPostgres({
    dataDir,
    log: (message) => messages.push(message),
    lockWaitMs: WAIT_MS,
  });
  await waitFor(() => messages.length > 0, "a word about waiting");
  await ending.stop();
  const server = await next;
  undo.push(() => server.stop());
  expect(await query(server.connection, "SELECT value FROM kept")).toEqual([{ value: 7 }]);
});

test("lets exactly one of three simultaneous starts win", async () => {
  const dataDir = await makeUsedFolder();
  const responses = await Promise.all([1, 2, 3].map(() => spawnServer(dataDir).answer));
  expect(responses.filter(({ connection }) => connection !== undefined)).toHaveLength(1);
  expect(responses.map(({ error }) => error).filter((error) => error !== undefined)).toEqual([
    "DataDirInUseError",
    "DataDirInUseError",
  ]);
});

test("keeps every acknowledged row after kill -9 of the server, of PostgreSQL, and of both", async () => {
  const dataDir = makeFolder(0o700);
  if (IS_ROOT) chownSync(dataDir, ORDINARY.uid, ORDINARY.gid);
  for (const killed of [["server"], ["postgres"], ["server", "postgres"]]) {
    const { child, answer } = spawnServer(dataDir, true);
    const { connection, uid, message } = await answer;
    if (connection === undefined) throw new Error(message);
    expect(uid).not.toBe(0);
    await query(connection, "DROP TABLE IF EXISTS acknowledged");
    const { acknowledged, ended } = keepInserting(connection);
    await waitFor(() => acknowledged() > 50, "50 rows");
    const pid = postmasterPid(dataDir);
    if (killed.includes("server")) child.kill("SIGKILL");
    if (killed.includes("postgres")) process.kill(pid, "SIGKILL");
    await ended;
    await endProcess(child);

    const next = spawnServer(dataDir, true);
    const again = await next.answer;
    if (again.connection === undefined) throw new Error(again.message);
    const [rows] = await query(again.connection, "SELECT count(*)::int AS count FROM acknowledged");
    expect(rows?.count).toBeGreaterThanOrEqual(acknowledged());
    await endProcess(next.child);
  }
});

test("reports that PostgreSQL was killed and can be stopped and started again immediately", async () => {
  const dataDir = await makeUsedFolder();
  const server = await start(dataDir);
  // A statement that keeps running after its postmaster is dead.
  const busy = query(server.connection, "DO $$ BEGIN FOR n IN 1..2000000000 LOOP END LOOP; END $$").catch(
    String,
  );
  const active = "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'DO %'";
  await waitFor(async () => (await query(server.connection, active)).length > 0, "the long statement");
  const pid = postmasterPid(dataDir);
  process.kill(pid, "SIGKILL");
  expect(await server.exited).toContain(`process id ${pid}) ended by signal SIGKILL`);
  await server.stop();
  const next = await start(dataDir);
  expect(await query(next.connection, "SELECT value FROM kept")).toEqual([{ value: 7 }]);
  expect(await busy).toContain("Error");
});

test("stops a PostgreSQL of an earlier start cleanly and starts again", async () => {
  const dataDir = await makeUsedFolder();
  const clusterDir = path.join(dataDir, "postgres");
  const [best] = await listAccounts(clusterDir);
  if (best === undefined) throw new Error("there is always one");
  const { account, programs } = await chooseFor(dataDir, [
    { ...best, prefix: withoutDeathSignal(best.prefix) },
  ]);
  chmodSync(clusterDir, 0o700);
  const command = [programPath(programs, "postgres"), "-D", clusterDir, "-h", "", "-k", clusterDir];
  const orphan = spawnAs(account, command, "ignore");
  undo.push(() => endProcess(orphan));
  await waitFor(() => readPostmasterFile(clusterDir).isReady, "the orphan");
  expect(await findServerProcessesByList(clusterDir)).toContain(orphan.pid);
  const ended = once(orphan, "exit");

  const messages: string[] = [];
  const server = await start(dataDir, (message) => messages.push(message));
  expect(await query(server.connection, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  expect((await ended)[0]).toBe(0);
  expect(messages.join()).toContain(`process id ${orphan.pid}`);
});

test("starts despite a lock file that names a foreign live process, a zombie or nothing", async () => {
  const dataDir = await makeUsedFolder();
  const pidFile = path.join(dataDir, "postgres", "postmaster.pid");
  // `sleep` never waits for its child, so a child that ends after the shell became `sleep` stays a zombie.
  const script = "exec 3<&0; cat <&3 & echo $!; exec sleep 60 3<&-";
  const parent = spawn("sh", ["-c", script], { stdio: ["pipe", "pipe", "ignore"] });
  undo.push(() => endProcess(parent));
  const zombie = Number(await once(parent.stdout, "data"));
  await waitFor(() => describeProcess(parent.pid).includes("sleep"), "the shell to become sleep");
  parent.stdin.end();
  await waitFor(() => describeProcess(zombie).startsWith("Z"), "the zombie");
  for (const content of [`${parent.pid}`, `${process.pid}`, `${zombie}`, ""].map(
    (pid) => `${pid}\n${dataDir}\n`,
  )) {
    writeFileSync(pidFile, content, { mode: 0o600 });
    const server = await start(dataDir);
    expect(await query(server.connection, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
    await server.stop();
  }
  expect(parent.exitCode).toBeNull();
});

test("starts after a first start that was killed half-way", async () => {
  const dataDir = makeFolder();
  const { child, answer } = spawnServer(dataDir);
  answer.catch(() => undefined);
  await waitFor(() => {
    const workDir = readdirSync(dataDir).find((name) => name.startsWith("postgres-new-"));
    return workDir !== undefined && existsSync(path.join(dataDir, workDir, "cluster", "global"));
  }, "initdb at work");
  await endProcess(child);
  expect(existsSync(path.join(dataDir, "postgres"))).toBe(false);
  await start(dataDir);
  expect(readdirSync(dataDir).filter((name) => name.startsWith("postgres-new-"))).toEqual([]);
});

test("rejects an incomplete cluster or one of another major version without changing it", async () => {
  const dataDir = makeFolder();
  mkdirSync(path.join(dataDir, "postgres", "base"), { recursive: true });
  await expect(start(dataDir)).rejects.toThrow(/not a complete PostgreSQL data folder.*Nothing was changed/s);
  expect(readdirSync(path.join(dataDir, "postgres"))).toEqual(["base"]);

  mkdirSync(path.join(dataDir, "postgres", "global"));
  writeFileSync(path.join(dataDir, "postgres", "PG_VERSION"), "15\n");
  writeFileSync(path.join(dataDir, "postgres", "global", "pg_control"), "");
  await expect(start(dataDir)).rejects.toThrow(
    /created by PostgreSQL 15.*includes PostgreSQL 18.*DATABASE_URL/s,
  );
  expect(readdirSync(path.join(dataDir, "postgres")).sort()).toEqual(["PG_VERSION", "base", "global"]);
});

test("names a data folder without permission in a plain sentence", async () => {
  const dataDir = makeFolder(0o555);
  if (IS_ROOT) chownSync(dataDir, ORDINARY.uid, ORDINARY.gid);
  const { error, message } = await spawnServer(dataDir, true).answer;
  expect(error).toBe("EmbeddedPostgresError");
  expect(message).toContain(`No permission to use the data folder ${dataDir}`);
});

test("starts below a folder of mode 0700", async () => {
  const closed = await makeUsedFolder();
  chmodSync(closed, 0o700);
  const dataDir = path.join(closed, "deep");
  mkdirSync(dataDir);
  renameSync(path.join(closed, "postgres"), path.join(dataDir, "postgres"));
  const server = await start(dataDir);
  expect(await query(server.connection, "SELECT 1 AS answer")).toEqual([{ answer: 1 }]);
  expect(existsSync(path.join(dataDir, "postgres", "postmaster.pid"))).toBe(true);
});

/** Tries the accounts on a folder, as startEmbeddedPostgres does. */
async function chooseFor(dataDir: string, accounts: Awaited<ReturnType<typeof listAccounts>>) {
  const programs = await linkLibraries(findPostgresFolder(), dataDir);
  const workDir = mkdtempSync(path.join(dataDir, "work-"));
  return { ...(await chooseAccount({ accounts, dataDir, workDir, programs })), workDir };
}

function withoutDeathSignal(prefix: string[]): string[] {
  return prefix.filter((word) => word !== "setpriv" && !word.startsWith("--pdeathsig") && word !== "--");
}

test("runs PostgreSQL in each way that this user has, in sequence on the same cluster", async () => {
  const dataDir = makeFolder();
  const clusterDir = path.join(dataDir, "postgres");
  const ways = await listAccounts(dataDir);
  expect(ways.map(({ description }) => description).length).toBeGreaterThanOrEqual(IS_ROOT ? 3 : 1);
  for (const way of [...ways, ways[0]]) {
    if (way === undefined) throw new Error("no way");
    const { account, programs, workDir, majorVersion } = await chooseFor(dataDir, [way]);
    if (existsSync(clusterDir)) await adoptCluster(clusterDir, account, majorVersion);
    else await createCluster({ dataDir, clusterDir, workDir, programs, account });
    const launch = { dataDir, clusterDir, programs, account, startTimeoutMs: WAIT_MS, log: () => undefined };
    const postmaster = await launchPostmaster(launch);
    undo.push(() => postmaster.stop());
    expect({ way, ...readPostmasterFile(clusterDir) }).toMatchObject({ isReady: true });
    await postmaster.stop();
    expect({ way, ...readPostmasterFile(clusterDir) }).toEqual({ way, isReady: false });
  }
});

test("serves over TCP alone if the path is too long for a socket or the file system holds none", async () => {
  const deep = path.join(makeFolder(), "a".repeat(100));
  const server = await start(deep);
  expect(server.connection.host).toBe("127.0.0.1");
  expect(await query(server.connection, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  await server.stop();

  const dataDir = await makeUsedFolder();
  const clusterDir = path.join(dataDir, "postgres");
  const { account, programs, majorVersion } = await chooseFor(dataDir, await listAccounts(clusterDir));
  await adoptCluster(clusterDir, account, majorVersion);
  const refusing = `case "$*" in *unix_socket_directories=/*) echo "FATAL: could not create any Unix-domain sockets" >&2; exit 1;; esac; exec "$@"`;
  const prefix = [...account.prefix, "sh", "-c", refusing, "sh"];
  const launch = { dataDir, clusterDir, programs, account: { ...account, prefix }, startTimeoutMs: WAIT_MS };
  const postmaster = await launchPostmaster({ ...launch, log: () => undefined });
  undo.push(() => postmaster.stop());
  expect(postmaster.host).toBe("127.0.0.1");
});

test("reports the reason of each way and suggests DATABASE_URL when no way works", async () => {
  const dataDir = makeFolder();
  const blocked = [{ description: "one way", prefix: ["false"] }];
  await expect(chooseFor(dataDir, blocked)).rejects.toThrow(
    /cannot run here.*- one way: ended with code 1.*DATABASE_URL/s,
  );
  const missing = [{ description: "no such tool", prefix: ["/does/not/exist"] }];
  await expect(chooseFor(dataDir, missing)).rejects.toThrow(
    /- no such tool: spawn \/does\/not\/exist ENOENT/,
  );
});

test("names the supported platforms when there is no package for this one", () => {
  expect(() => findPostgresFolder("sunos-x64")).toThrow(
    /no embedded PostgreSQL for sunos-x64.*linux-arm64.*DATABASE_URL/,
  );
});

test("creates library links once for concurrent starts, or in a copy", async () => {
  const folder = path.join(makeFolder(), "native");
  mkdirSync(path.join(folder, "lib"), { recursive: true });
  writeFileSync(path.join(folder, "..", "package.json"), '{"version":"1.2.3"}');
  writeFileSync(path.join(folder, "lib", "libx.so.1.2"), "library");
  const links = ["native/lib/libx.so", "native/lib/libx.so.1"];
  const list = links.map((target) => ({ source: "native/lib/libx.so.1.2", target }));
  writeFileSync(path.join(folder, "pg-symlinks.json"), JSON.stringify(list));
  const dataDir = makeFolder();
  const copy = await copyPostgresFolder(folder, dataDir);
  expect(await copyPostgresFolder(folder, dataDir)).toBe(copy);
  expect(await Promise.all([1, 2, 3].map(() => linkLibraries(folder, dataDir)))).toEqual([
    folder,
    folder,
    folder,
  ]);
  for (const place of [folder, copy]) {
    expect(readdirSync(path.join(place, "lib")).sort()).toEqual(["libx.so", "libx.so.1", "libx.so.1.2"]);
    expect(readlinkSync(path.join(place, "lib", "libx.so.1"))).toBe("libx.so.1.2");
  }
  expect(readdirSync(dataDir)).toEqual(["postgres-programs-1.2.3"]);
});

test("explains a full disk and a missing permission, followed by the original message", () => {
  const full = explainFailure("initdb failed", "could not write: No space left on device", "/srv/data");
  expect(full.message).toMatch(
    /^The disk that holds the data folder \/srv\/data is full.*initdb failed.*No space left/s,
  );
  const unknown = explainFailure("PostgreSQL could not start", "odd", "/srv/data");
  expect(unknown.message).toBe("PostgreSQL could not start. Output: odd");
});

test("runs the program without superuser rights and hands it what an older version created", async () => {
  const dataDir = makeFolder(0o700);
  const made = await startEmbeddedPostgres({ dataDir, log: () => undefined });
  const superuser = new Client(made.superuser);
  await superuser.connect();
  await superuser.query("create extension pg_trgm; create extension btree_gin");
  await superuser.query(
    "create table made_before (id int generated always as identity, at serial, name text)",
  );
  await superuser.query("create function made_before() returns int language sql as 'select 1'");
  await superuser.query("create view seen_before as select id from made_before");
  await superuser.end();
  await made.stop();
  const next = await startEmbeddedPostgres({ dataDir, log: () => undefined });
  const client = new Client(next.connection);
  await client.connect();
  const { rows } = await client.query(
    "select rolsuper or rolcreaterole as mighty from pg_roles where rolname = current_user",
  );
  expect(rows).toEqual([{ mighty: false }]);
  await client.query(
    "alter table made_before add column more text; insert into made_before (name) values ('Ada')",
  );
  await client.query("create or replace function made_before() returns int language sql as 'select 2'");
  await client.query(
    "create extension if not exists pg_trgm; create index on made_before using gin (name gin_trgm_ops)",
  );
  await expect(client.query("copy made_before from program 'true'")).rejects.toThrow("permission denied");
  await expect(
    client.query("insert into made_before (id) overriding system value values ('secret')"),
  ).rejects.toThrow("secret");
  await client.end();
  await next.stop();
  const log = readdirSync(path.join(dataDir, "postgres", "log")).map((name) =>
    readFileSync(path.join(dataDir, "postgres", "log", name), "utf8"),
  );
  expect(log.join()).toContain("database system is ready");
  expect(log.join()).not.toContain("secret");
});

test("lets the program create its extensions in a new cluster", async () => {
  const postgres = await startEmbeddedPostgres({ dataDir: makeFolder(0o700), log: () => undefined });
  const client = new Client(postgres.connection);
  await client.connect();
  await client.query("create extension pg_trgm; create extension btree_gin; create table own (id int)");
  const { rows } = await client.query("select extname from pg_extension order by 1");
  expect(rows.map(({ extname }) => extname)).toEqual(["btree_gin", "pg_trgm", "plpgsql"]);
  await client.end();
  await postgres.stop();
});
