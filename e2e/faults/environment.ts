// The test environment of a case: a mail server whose journal is the reference, DNS, a database, and any number of real programs.
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { QueryResultRow } from "pg";
import { readPassword, SUPERUSER } from "../../server/src/platform/embedded-postgres/cluster.ts";
import { startDnsServer, type DnsServer } from "../../server/src/testing/dns-server.ts";
import { CamelCaseClient } from "../../server/src/platform/database/column-names.ts";
import { startSmtpSink, type SmtpSink } from "../../server/src/testing/smtp-sink.ts";
import type { SinkRule, SmtpSinkOptions } from "../../server/src/testing/smtp-sink-rules.ts";
import { createApiClient, type ApiClient, type Reply } from "../api-client.ts";
import { BOOTSTRAP, makeDataFolder, SECRET_KEY, startProgram, type Program } from "../program.ts";
import { verifyDomain } from "../verify-domain.ts";
import { waitUntil } from "../wait-until.ts";
import { startSharedDatabase, type SharedDatabase, type Shutdown } from "./shared-database.ts";

/** The verified sender domain. */
export const DOMAIN = "mail.example.com";
const IMPORT_TIMEOUT_MS = 120_000;
/** A killed program takes up to a minute to start again. */
const RESPONSE_TIMEOUT_MS = 90_000;
const DEFAULT_CONNECTIONS = 10;

export interface EnvironmentOptions {
  /**
   * With `own` the program runs its embedded PostgreSQL, which dies with it. With `shared` (default) all programs use one, and with a URL
   * they use an existing empty database.
   */
  database?: "own" | "shared" | { url: string };
  /** Returns the URL that programs use for the shared database, such as a proxy's. Defaults to its own URL. */
  databaseUrl?: (url: string) => Promise<string> | string;
  /** Simultaneous submissions per program, which limit how many emails a crash leaves in doubt. Defaults to 10. */
  connections?: number;
  /** Rules of the mail server. */
  rules?: readonly SinkRule[];
  /** Extensions that the mail server offers. Default: CHUNKING, with which the most emails can be in doubt. */
  advertise?: SmtpSinkOptions["advertise"];
  /** Settings of every program. */
  settings?: Readonly<Record<string, string>>;
}

export interface Actor extends Program {
  /** The program's settings in addition to those of the world. */
  readonly settings: Readonly<Record<string, string>>;
}

/** The end of a program that the case did not kill. Failpoints may cause one, bugs may not. */
export interface UnexpectedEnd {
  code: number | null;
  settings: Readonly<Record<string, string>>;
  output: string;
}

export interface Environment {
  readonly sink: SmtpSink;
  readonly dns: DnsServer;
  readonly connections: number;
  /** The direct URL of the shared database; empty for `own`. */
  readonly databaseUrl: string;
  /** The shared database; null for `own` and for an existing one. */
  readonly shared: SharedDatabase | null;
  /** The programs' data folder. */
  readonly folder: string;
  /** Every program started, in order. */
  readonly actors: readonly Actor[];
  /** Times at which a program was killed or stopped, in ms since 1970. */
  readonly faultsAt: readonly number[];
  /** Ends that the case did not cause. */
  readonly unaskedEnds: readonly UnexpectedEnd[];
  /** Starts a program with additional settings, such as ROLES. Verifies the domain when the first program with the role `api` starts. */
  start(settings?: Readonly<Record<string, string>>): Promise<Actor>;
  /** Kills a program and its child processes with SIGKILL. */
  kill(actor: Actor): Promise<void>;
  /** Kills all running programs with SIGKILL. */
  killAll(): Promise<void>;
  /** Stops a program with SIGTERM and returns how it ended. */
  stop(actor: Actor): Promise<{ code: number | null; tookMs: number }>;
  /** Stops the shared database, waits `awayMs` and restarts it at another address, so programs must connect through a proxy. */
  restartDatabase(how: Shutdown, awayMs: number): Promise<void>;
  /** Records a fault caused by the case, for measuring recovery. */
  noteFault(): void;
  /** Returns a client for the last running program with an API. `headers` are added to the secret key. */
  api(headers?: Readonly<Record<string, string>>): ApiClient;
  /** Repeats a POST under one Idempotency-Key until a program responds, so that it takes effect once. @throws Error unless 2xx */
  insist<Body>(path: string, body: unknown): Promise<Body>;
  /** Imports contacts `person0@example.net` and so on from a file. Returns the addresses. */
  importContacts(count: number): Promise<string[]>;
  /** Creates a draft for all contacts. */
  createCampaign(name?: string): Promise<string>;
  /** Creates a draft for all contacts and sends it immediately. */
  startCampaign(name?: string): Promise<string>;
  /** Runs one statement in the database. */
  query<Row extends QueryResultRow>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  close(): Promise<void>;
}

export const addressOf = (number: number) => `person${number}@example.net`;

export async function startEnvironment(options: EnvironmentOptions = {}): Promise<Environment> {
  const connections = options.connections ?? DEFAULT_CONNECTIONS;
  const closing: Array<() => Promise<unknown>> = [];
  const dns = await startDnsServer();
  closing.push(() => dns.close());
  const sink = await startSmtpSink({
    keepRaw: false,
    rules: options.rules ?? [],
    advertise: options.advertise ?? { chunking: true },
  });
  closing.push(() => sink.close());
  const folder = await makeDataFolder();
  closing.push(folder.remove);
  const { database = "shared" } = options;
  const isShared = database !== "own";
  const shared = database === "shared" ? await startSharedDatabase(folder.path) : null;
  if (shared !== null) closing.push(shared.stop);
  const databaseUrl = () => (typeof database === "object" ? database.url : (shared?.url() ?? ""));
  const settings: Readonly<Record<string, string>> = {
    ...BOOTSTRAP,
    MAIL_TRANSPORT: `smtp://127.0.0.1:${sink.port}?connections=${connections}&rejectUnauthorized=false`,
    DNS_SERVERS: dns.address,
    DATA_DIR: folder.path,
    APP_SECRET: "one secret for all the processes",
    ...(isShared ? { DATABASE_URL: (await options.databaseUrl?.(databaseUrl())) ?? databaseUrl() } : {}),
    ...options.settings,
  };
  const actors: Actor[] = [];
  const faultsAt: number[] = [];
  const unaskedEnds: UnexpectedEnd[] = [];
  /** Programs that the case stopped or killed. */
  const reported = new Set<Actor>();
  let isVerified = false;

  /** Records an unexpected end. */
  async function watch(actor: Actor): Promise<void> {
    const code = await actor.ended;
    if (reported.has(actor)) return;
    faultsAt.push(Date.now());
    unaskedEnds.push({ code, settings: actor.settings, output: actor.output() });
  }

  async function start(own: Readonly<Record<string, string>> = {}): Promise<Actor> {
    const program = await startProgram({ ...settings, ...own });
    const actor: Actor = { ...program, settings: own };
    actors.push(actor);
    void watch(actor);
    if (!isVerified && actor.url !== "") {
      isVerified = true;
      await verifyDomain(createApiClient(actor.url), dns, DOMAIN);
    }
    return actor;
  }

  const running = () => actors.filter((actor) => actor.isRunning());
  const kill = async (actor: Actor): Promise<void> => {
    reported.add(actor);
    await actor.kill();
  };
  const api: Environment["api"] = (headers = {}) =>
    createApiClient(urlOf(running()), { authorization: `Bearer ${SECRET_KEY}`, ...headers });
  const insist: Environment["insist"] = async (path, body) => {
    const headers = { "idempotency-key": randomUUID() };
    return untilResponded(path, () => api(headers).call("POST", path, body));
  };

  return {
    sink,
    dns,
    connections,
    get databaseUrl() {
      return databaseUrl();
    },
    shared,
    folder: folder.path,
    actors,
    faultsAt,
    unaskedEnds,
    start,
    kill: async (actor) => {
      faultsAt.push(Date.now());
      await kill(actor);
    },
    async killAll() {
      faultsAt.push(Date.now());
      await Promise.all(running().map(kill));
    },
    stop: (actor) => {
      faultsAt.push(Date.now());
      reported.add(actor);
      return actor.stop();
    },
    async restartDatabase(how, awayMs) {
      if (shared === null) throw new Error("this world has no shared database");
      await shared.restart(how, awayMs);
    },
    noteFault: () => void faultsAt.push(Date.now()),
    api,
    insist,
    importContacts: (count) => importContacts(() => urlOf(running()), api, count),
    createCampaign: (name) => createCampaign(insist, name),
    async startCampaign(name) {
      const id = await createCampaign(insist, name);
      await insist(`/campaigns/${id}/send`, {});
      return id;
    },
    query: async <Row extends QueryResultRow>(text: string, values: readonly unknown[] = []) => {
      const client = new CamelCaseClient({
        connectionString: isShared ? databaseUrl() : await ownDatabaseUrl(folder.path),
      });
      await client.connect();
      try {
        return (await client.query<Row>(text, [...values])).rows;
      } finally {
        await client.end();
      }
    },
    async close() {
      await Promise.all(running().map(kill));
      for (const close of closing.splice(0).toReversed()) await close();
    },
  };
}

/** Returns the URL of a program's embedded PostgreSQL. */
async function ownDatabaseUrl(folder: string): Promise<string> {
  const place = join(folder, "postgres");
  const port = (await readFile(join(place, "postmaster.pid"), "utf8")).split("\n")[3] ?? "";
  return `postgres://${SUPERUSER}:${await readPassword(place)}@127.0.0.1:${port}/postgres`;
}

function urlOf(running: readonly Actor[]): string {
  const url = running.findLast((actor) => actor.url !== "")?.url;
  if (url === undefined) throw new Error("no program with HTTP is running");
  return url;
}

/** Retries while no program responds or the server returns a 5xx or asks to retry. */
async function untilResponded<Body>(what: string, ask: () => Promise<Reply<Body>>): Promise<Body> {
  const reply = await waitUntil(`a response to ${what}`, RESPONSE_TIMEOUT_MS, async () => {
    const responded = await ask();
    const isFinal = responded.status < 500 && !responded.headers.has("retry-after");
    return isFinal && responded;
  });
  if (reply.status < 200 || reply.status > 299)
    throw new Error(`${what} returned ${reply.status}: ${JSON.stringify(reply.body)}`);
  return reply.body;
}

async function importContacts(url: () => string, api: Environment["api"], count: number): Promise<string[]> {
  const addresses = Array.from({ length: count }, (_, number) => addressOf(number));
  const lines = addresses.map((address, number) => `${address},Person ${number}`);
  const form = new FormData();
  form.set("file", new Blob([`email,name\n${lines.join("\n")}\n`], { type: "text/csv" }), "people.csv");
  const headers = { authorization: `Bearer ${SECRET_KEY}`, "idempotency-key": randomUUID() };
  const { jobId } = await untilResponded("the import", async () => {
    const response = await fetch(new URL("/contacts/import", url()), { method: "POST", headers, body: form });
    const body = (await response.json()) as { jobId: string };
    return { status: response.status, headers: response.headers, body };
  });
  await waitUntil("the import", IMPORT_TIMEOUT_MS, async () => {
    const job = await api().get<{ state: string }>(`/contacts/import/${jobId}`);
    return job.state === "completed";
  });
  return addresses;
}

async function createCampaign(insist: Environment["insist"], name = "News"): Promise<string> {
  const { data } = await insist<{ data: { id: string } }>("/campaigns", {
    name,
    subject: "Hello {{name}}",
    body: "<p>Hello {{name}}, this is the news.</p>",
    from: `news@${DOMAIN}`,
    audienceType: "ALL",
  });
  return data.id;
}
