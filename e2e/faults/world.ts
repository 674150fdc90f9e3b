// What a case of faults plays in: a mail server whose journal is the truth, DNS, a database, and any number of the real program.
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

/** The verified domain that mail comes from. */
export const DOMAIN = "mail.example.com";
const IMPORT_TIMEOUT_MS = 120_000;
/** The Idempotency-Key of a request whose server died is free after a minute. */
const ANSWER_TIMEOUT_MS = 90_000;
const DEFAULT_CONNECTIONS = 10;

export interface WorldOptions {
  /** `own`: the one program brings its PostgreSQL, which dies with it. `shared` (default): one beside all programs. */
  database?: "own" | "shared";
  /** Where programs find the shared database, when something stands before it. Default: where it is. */
  databaseUrl?: (url: string) => Promise<string> | string;
  /** Mails one program hands over at once: the most that one death may leave in doubt. Default 10. */
  connections?: number;
  /** Of the mail server. */
  rules?: readonly SinkRule[];
  /** What the mail server offers. */
  advertise?: SmtpSinkOptions["advertise"];
  /** For every program. */
  settings?: Readonly<Record<string, string>>;
}

/** A program of a world. */
export interface Actor extends Program {
  /** Its own, on top of those of the world. */
  readonly settings: Readonly<Record<string, string>>;
}

/** How a program ended that nobody killed: a failpoint may, a bug must not. */
export interface UnaskedEnd {
  code: number | null;
  settings: Readonly<Record<string, string>>;
  output: string;
}

export interface World {
  readonly sink: SmtpSink;
  readonly dns: DnsServer;
  readonly connections: number;
  /** Where the shared database itself is; empty for `own`. */
  readonly databaseUrl: string;
  /** The one beside all programs; null for `own`. */
  readonly shared: SharedDatabase | null;
  /** Where the programs keep what they keep. */
  readonly folder: string;
  /** Every program that was started, in order. */
  readonly actors: readonly Actor[];
  /** Instants at which a program died or was told to stop, ms since 1970. */
  readonly faultsAt: readonly number[];
  /** Ends that came by themselves. */
  readonly unaskedEnds: readonly UnaskedEnd[];
  /** Starts a program; `settings` on top of those of the world, such as ROLES. The first one with the role `api` gets the domain verified. */
  start(settings?: Readonly<Record<string, string>>): Promise<Actor>;
  /** kill -9 of one, with everything below it. */
  kill(actor: Actor): Promise<void>;
  /** kill -9 of all that run. */
  killAll(): Promise<void>;
  /** SIGTERM; answers how it ended. */
  stop(actor: Actor): Promise<{ code: number | null; tookMs: number }>;
  /** Ends the shared database, leaves it away for so long and starts it again: at another address, so something must stand before it. */
  restartDatabase(how: Shutdown, awayMs: number): Promise<void>;
  /** A moment at which the case itself did harm, for the time of recovery. */
  noteFault(): void;
  /** The API of the last program started that runs and has one; `headers` beside the secret key. */
  api(headers?: Readonly<Record<string, string>>): ApiClient;
  /** A POST made until a program lives to answer it, under one Idempotency-Key: done once, however often it is made. @throws Error unless 2xx */
  insist<Body>(path: string, body: unknown): Promise<Body>;
  /** Contacts by a file, as their owner brings them: `person0@example.net` and so on. Answers the addresses. */
  importContacts(count: number): Promise<string[]>;
  /** A draft for all contacts. */
  createCampaign(name?: string): Promise<string>;
  /** A draft for all contacts, sent at once. */
  startCampaign(name?: string): Promise<string>;
  /** One statement in the database, whoever runs it. */
  query<Row extends QueryResultRow>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  close(): Promise<void>;
}

export const addressOf = (number: number) => `person${number}@example.net`;

export async function startWorld(options: WorldOptions = {}): Promise<World> {
  const connections = options.connections ?? DEFAULT_CONNECTIONS;
  const closing: Array<() => Promise<unknown>> = [];
  const dns = await startDnsServer();
  closing.push(() => dns.close());
  const sink = await startSmtpSink({
    keepRaw: false,
    rules: options.rules ?? [],
    advertise: options.advertise ?? {},
  });
  closing.push(() => sink.close());
  const folder = await makeDataFolder();
  closing.push(folder.remove);
  const isShared = options.database !== "own";
  const shared = isShared ? await startSharedDatabase(folder.path) : null;
  if (shared !== null) closing.push(shared.stop);
  const databaseUrl = () => shared?.url() ?? "";
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
  const unaskedEnds: UnaskedEnd[] = [];
  /** Programs that were told to end. */
  const told = new Set<Actor>();
  let isVerified = false;

  /** Notes an end that nobody asked for. */
  async function watch(actor: Actor): Promise<void> {
    const code = await actor.ended;
    if (told.has(actor)) return;
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
    told.add(actor);
    await actor.kill();
  };
  const api: World["api"] = (headers = {}) =>
    createApiClient(urlOf(running()), { authorization: `Bearer ${SECRET_KEY}`, ...headers });
  const insist: World["insist"] = async (path, body) => {
    const headers = { "idempotency-key": randomUUID() };
    return untilAnswered(path, () => api(headers).call("POST", path, body));
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
      told.add(actor);
      return actor.stop();
    },
    async restartDatabase(how, awayMs) {
      if (shared === null) throw new Error("this world has no database beside its programs");
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

/** Where the PostgreSQL that a program brought listens now. */
async function ownDatabaseUrl(folder: string): Promise<string> {
  const place = join(folder, "postgres");
  const port = (await readFile(join(place, "postmaster.pid"), "utf8")).split("\n")[3] ?? "";
  return `postgres://${SUPERUSER}:${await readPassword(place)}@127.0.0.1:${port}/postgres`;
}

function urlOf(running: readonly Actor[]): string {
  const url = running.findLast((actor) => actor.url !== "")?.url;
  if (url === undefined) throw new Error("no program that answers HTTP runs");
  return url;
}

/** Asks again while nobody lives to answer, where the server itself failed, and where it says so. */
async function untilAnswered<Body>(what: string, ask: () => Promise<Reply<Body>>): Promise<Body> {
  const reply = await waitUntil(`an answer to ${what}`, ANSWER_TIMEOUT_MS, async () => {
    const answered = await ask();
    const isFinal = answered.status < 500 && !answered.headers.has("retry-after");
    return isFinal && answered;
  });
  if (reply.status < 200 || reply.status > 299)
    throw new Error(`${what} was answered ${reply.status}: ${JSON.stringify(reply.body)}`);
  return reply.body;
}

async function importContacts(url: () => string, api: World["api"], count: number): Promise<string[]> {
  const addresses = Array.from({ length: count }, (_, number) => addressOf(number));
  const lines = addresses.map((address, number) => `${address},Person ${number}`);
  const form = new FormData();
  form.set("file", new Blob([`email,name\n${lines.join("\n")}\n`], { type: "text/csv" }), "people.csv");
  const headers = { authorization: `Bearer ${SECRET_KEY}`, "idempotency-key": randomUUID() };
  const { jobId } = await untilAnswered("the import", async () => {
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

async function createCampaign(insist: World["insist"], name = "News"): Promise<string> {
  const { data } = await insist<{ data: { id: string } }>("/campaigns", {
    name,
    subject: "Hello {{name}}",
    body: "<p>Hello {{name}}, this is the news.</p>",
    from: `news@${DOMAIN}`,
    audienceType: "ALL",
  });
  return data.id;
}
