// Starts the whole service as main.ts builds it for tests, on a new database and a free port, with an account and a project.
import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type pg from "pg";
import { afterAll, beforeAll } from "vitest";
import type { Endpoint } from "@postloft/contract/endpoint.ts";
import { startPostloft, type Running } from "../main.ts";
import { readConfig } from "../platform/settings/config.ts";
import { createDatabase, transaction, type Database } from "../platform/database/database.ts";
import type { ErrorEnvelope } from "../platform/http/errors.ts";
import { createLog } from "../platform/log.ts";
import {
  createTestDatabase,
  SECRET_OF_TESTS,
  type TestDatabase,
} from "../platform/database/test-database.ts";
import { createSessions } from "../users/sessions.ts";
import { createUser } from "../users/users.ts";
import { addressOf, type InputOf, type ResponseOf } from "./typed-call.ts";
import { replyFaults } from "./check-reply.ts";
import { databaseUrlOf } from "./database-url.ts";

export const APP_SECRET: string = SECRET_OF_TESTS;
const PASSWORD = "correct horse battery staple";
const HASH_OF_PASSWORD =
  "$argon2id$v=19$m=19456,t=2,p=1$BIVrG0c8ri3q3OECfgEq4g$qcfGFaxFRq6PEfT8a7FF27GLl7dlhkYs6Q89U0gnXic";
/** Protects against hanging requests, not slow ones. */
const REQUEST_TIMEOUT_MS = 50_000;

/** The caller's credentials and additional headers. */
export interface TestCaller {
  key?: string;
  cookie?: string;
  projectId?: string;
  headers?: Readonly<Record<string, string>>;
}

export interface Reply<Body> {
  status: number;
  headers: Headers;
  text: string;
  /** The parsed JSON in the shape that the test names, or undefined if the response is not JSON. */
  body: Body;
}

export interface Call {
  /** Calls any path with any input, for requests that the contract does not allow. */
  <Body = ErrorEnvelope>(
    method: string,
    path: string,
    caller?: TestCaller,
    body?: unknown,
  ): Promise<Reply<Body>>;
  /** Calls an endpoint of the contract with input that it declares. This overload is last because the compiler explains only the errors of the last one. */
  <Called extends Endpoint>(
    endpoint: Called,
    caller?: TestCaller,
    input?: InputOf<Called>,
  ): Promise<Reply<ResponseOf<Called>>>;
}

type CallOfPath = [method: string, path: string, caller?: TestCaller, body?: unknown];
type CallOfEndpoint = [endpoint: Endpoint, caller?: TestCaller, input?: InputOf<Endpoint>];

export interface TestPerson {
  id: string;
  email: string;
  password: string;
  cookie: string;
}

export interface TestProject {
  id: string;
  publicKey: string;
  secretKey: string;
  owner: TestPerson;
  /** A caller with the secret key. */
  byKey: TestCaller;
  /** The owner's session with this project. */
  bySession: TestCaller;
}

export interface OneServer {
  /** The address of the status endpoints if the role `api` is off. */
  readonly url: string;
  readonly call: Call;
  stop(): Promise<void>;
}

export interface TestServer extends OneServer {
  readonly database: Database;
  readonly pool: pg.Pool;
  /** A project that every test of the file may use. */
  readonly project: TestProject;
  signUp(): Promise<TestPerson>;
  createProject(owner?: TestPerson): Promise<TestProject>;
  /** Verifies the user's address as the link in the email does. */
  prove(person: TestPerson): Promise<void>;
  /** Starts another service on the same database; `say` receives the lines that it prints. */
  startAnother(settings?: Settings, say?: (line: string) => void): Promise<OneServer>;
  /** Notifies the loops of all servers of work (platform/hints.ts), so that a test does not wait for a poll. */
  hint(work: string): Promise<void>;
  /** Returns the rows of one statement. */
  rows<Row>(statement: string, ...values: unknown[]): Promise<Row[]>;
  /** Returns how many rows each table has. */
  countRows(): Promise<Record<string, number>>;
}

type Settings = Readonly<Record<string, string>>;

/** Starts the service before the tests of a file and stops it after them. */
export function useTestServer(settings: Settings = {}): TestServer {
  let server: TestServer | undefined;
  beforeAll(async () => {
    server = await startTestServer(settings);
  });
  afterAll(async () => server?.stop());
  return new Proxy({} as TestServer, {
    get(_target, name) {
      if (server === undefined) throw new Error("The test server runs from beforeAll on.");
      return server[name as keyof TestServer];
    },
  });
}

/** Starts the service on a new database, for programs without tests. */
export async function startTestServer(settings: Settings = {}): Promise<TestServer> {
  const testDatabase = await createTestDatabase();
  const servers = [await startOne(testDatabase, settings)];
  const [{ url, call } = { url: "", call: neverCalled }] = servers;
  const { pool } = testDatabase;
  const database = createDatabase(pool);
  const secure = settings["BASE_URL"]?.startsWith("https:") === true;
  const sessions = createSessions({ database, applicationSecret: APP_SECRET, secure });
  let people = 0;

  const newPerson = () => ({ email: `person${++people}@example.com`, password: PASSWORD });

  async function signUp(): Promise<TestPerson> {
    const person = newPerson();
    // If email leaves the machine, the account is only created by the link.
    if ((settings["MAIL_TRANSPORT"] ?? "mailbox") !== "mailbox") return addPerson(person);
    const reply = await call<{ data: { id: string } }>("POST", "/auth/signup", {}, person);
    if (reply.status !== 200) throw new Error(`The test account was refused: ${reply.text}`);
    return { id: reply.body.data.id, ...person, cookie: cookieOf(reply) };
  }

  /**
   * Adds an account without the work of a sign-up, because hashes are costly and callers that request many have to pause
   * (docs/decisions/0073).
   */
  async function addPerson(person = newPerson()): Promise<TestPerson> {
    return transaction(database, async (tx) => {
      const { id } = await createUser(tx, { email: person.email, passwordHash: HASH_OF_PASSWORD });
      const [cookie = ""] = await sessions.start(tx, id, { ip: "127.0.0.1", headers: {} });
      return { id, ...person, cookie: cookie.split(";")[0] ?? "" };
    });
  }

  async function createProject(owner?: TestPerson): Promise<TestProject> {
    const person = owner ?? (await addPerson());
    const { body } = await call<{ id: string; public: string; secret: string }>(
      "POST",
      "/users/@me/projects",
      { cookie: person.cookie },
      { name: "A project" },
    );
    return {
      id: body.id,
      publicKey: body.public,
      secretKey: body.secret,
      owner: person,
      byKey: { key: body.secret },
      bySession: { cookie: person.cookie, projectId: body.id },
    };
  }

  const rows = async <Row>(statement: string, ...values: unknown[]): Promise<Row[]> =>
    (await pool.query(statement, values)).rows as Row[];
  const countTables = await statementThatCounts(pool);
  return {
    url,
    call,
    database,
    pool,
    project: settings["DISABLE_SIGNUPS"] === "true" ? noProject : await createProject(),
    signUp,
    createProject,
    prove: async ({ id }) => void (await rows("update users set verified_at = now() where id = $1", id)),
    async startAnother(more = {}, say = () => undefined) {
      const another = await startOne(testDatabase, { ...settings, ...more }, say);
      servers.push(another);
      return another;
    },
    hint: async (work) => void (await rows("select pg_notify('postloft_work', $1)", work)),
    rows,
    countRows: async () => {
      // A named statement is planned once. It contains every table, and some tests count after each of thousands of calls.
      const { rows: counted } = await pool.query<{ counts: Record<string, number> }>({
        name: "count rows",
        text: countTables,
      });
      return counted[0]?.counts ?? {};
    },
    async stop() {
      for (const one of servers) await one.stop();
      await testDatabase.drop();
    },
  };
}

const noOne: TestPerson = { id: "", email: "", password: "", cookie: "" };
const noProject: TestProject = {
  id: "",
  publicKey: "",
  secretKey: "",
  owner: noOne,
  byKey: {},
  bySession: {},
};

const neverCalled: Call = async () => {
  throw new Error("There is no server.");
};

/** Starts the service on an existing database; `say` receives the lines that it prints. */
export async function startOne(
  testDatabase: TestDatabase,
  settings: Settings,
  say: (line: string) => void = () => undefined,
): Promise<OneServer> {
  const dataDir = await mkdtemp(join(tmpdir(), "postloft-test-server-"));
  const config = readConfig({
    DATABASE_URL: databaseUrlOf(testDatabase.pool.options),
    APP_SECRET,
    PORT: "0",
    STATUS_PORT: "0",
    ROLES: "api,worker",
    MAIL_TRANSPORT: "mailbox",
    DATA_DIR: dataDir,
    API_RATE_LIMIT_PER_MINUTE: "0",
    // No server responds there, so that no test uses the network.
    DNS_SERVERS: "127.0.0.1:9",
    ...settings,
  });
  const running: Running = await startPostloft(config, createLog({ level: "silent" }), say);
  const url = running.url ?? running.statusUrl ?? "";
  const agent = new Agent({ keepAlive: true });
  let stopping: Promise<void> | undefined;
  return {
    url,
    call: createCall(url, agent),
    async stop() {
      stopping ??= running.stop().finally(async () => {
        agent.destroy();
        await rm(dataDir, { recursive: true, force: true });
      });
      await stopping;
    },
  };
}

function createCall(url: string, agent: Agent): Call {
  const send = createSend(url, agent);
  function call(...request: CallOfPath | CallOfEndpoint): Promise<Reply<unknown>> {
    if (isOfPath(request)) return send(...request);
    const [endpoint, caller, input = {}] = request;
    return send(endpoint.method, addressOf(endpoint, input), caller, input.body ?? input.anyBody);
  }
  return call as Call;
}

const isOfPath = (request: CallOfPath | CallOfEndpoint): request is CallOfPath =>
  typeof request[0] === "string";

/** Calls over node:http, because fetch sends no body with a GET and rejects headers that an attacker would send. */
function createSend(url: string, agent: Agent): (...request: CallOfPath) => Promise<Reply<unknown>> {
  return (method, path, caller = {}, body) =>
    new Promise<Reply<unknown>>((resolve, reject) => {
      const bytes = bytesOf(body);
      const headers = {
        ...(caller.key === undefined ? {} : { authorization: `Bearer ${caller.key}` }),
        ...(caller.cookie === undefined ? {} : { cookie: caller.cookie }),
        ...(caller.projectId === undefined ? {} : { "x-project-id": caller.projectId }),
        ...(bytes === null ? {} : { "content-type": "application/json", "content-length": bytes.length }),
        ...caller.headers,
      };
      const { hostname, port } = new URL(url);
      const options = { hostname, port, path, method, headers, agent, timeout: REQUEST_TIMEOUT_MS };
      const request = httpRequest(options, (response) => {
        const chunks: Buffer[] = [];
        // This response never ends, so tests that need it read it themselves.
        if (response.headers["content-type"]?.startsWith("text/event-stream") === true) {
          resolve({ ...beginningOf(response), text: "", body: undefined });
          return void request.destroy();
        }
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8");
          const isJson = (response.headers["content-type"] ?? "").startsWith("application/json");
          const beginning = beginningOf(response);
          const said: unknown = isJson && text !== "" ? JSON.parse(text) : undefined;
          const { status } = beginning;
          const contentType = beginning.headers.get("content-type") ?? "";
          const faults = replyFaults({ method, path, status, contentType, text, body: said });
          if (faults.length > 0)
            return reject(new Error(`${method} ${path} → ${status}: ${faults.slice(0, 5).join("; ")}`));
          resolve({ ...beginning, text, body: said });
        });
      });
      request.on("timeout", () => request.destroy(new Error(`${method} ${path} was not answered in time.`)));
      request.on("error", reject);
      request.end(bytes ?? undefined);
    });
}

function beginningOf({ statusCode = 0, rawHeaders }: IncomingMessage) {
  return { status: statusCode, headers: new Headers(pairsOf(rawHeaders)) };
}

/** Returns text and bytes unchanged and everything else as JSON. */
function bytesOf(body: unknown): Buffer | null {
  if (body === undefined) return null;
  if (typeof body === "string") return Buffer.from(body);
  return Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
}

function pairsOf(rawHeaders: readonly string[]): Array<[string, string]> {
  return Array.from({ length: rawHeaders.length / 2 }, (_, at) => [
    rawHeaders[at * 2] ?? "",
    rawHeaders[at * 2 + 1] ?? "",
  ]);
}

/** Returns the result of `ask` for each item by name, so that one expectation shows all differences. */
export async function responsesByName<Item, HttpResponse>(
  items: readonly Item[],
  nameOf: (item: Item) => string,
  ask: (item: Item) => Promise<HttpResponse>,
): Promise<Record<string, HttpResponse>> {
  const responses: Record<string, HttpResponse> = {};
  for (const item of items) responses[nameOf(item)] = await ask(item);
  return responses;
}

/** Returns the same result for each item by name, to compare with `responsesByName`. */
export function sameByName<Item, HttpResponse>(
  items: readonly Item[],
  nameOf: (item: Item) => string,
  respond: (item: Item) => HttpResponse,
): Record<string, HttpResponse> {
  return Object.fromEntries(items.map((item) => [nameOf(item), respond(item)]));
}

/** Returns the short form of an error, such as `401 INVALID_API_KEY`. */
export function errorOf({ status, body }: Reply<unknown>): string {
  return `${status} ${(body as Partial<ErrorEnvelope> | undefined)?.error?.code}`;
}

/** Returns the invalid fields of an error with their codes, sorted, such as `["email invalid_string"]`. */
export function faultsOf({ body }: Reply<unknown>): string[] {
  return ((body as Partial<ErrorEnvelope> | undefined)?.error?.errors ?? [])
    .map(({ field, code }) => `${field} ${code}`)
    .toSorted();
}

const MAX_WINDOW_TRIES = 3;

/** Repeats `work` if a rate-limit window ended while it ran, because its counts are meaningless then. */
export async function inOneWindow(
  server: Pick<TestServer, "rows">,
  windowSeconds: number,
  work: () => Promise<void>,
): Promise<void> {
  const window = async () =>
    (
      await server.rows<{ start: Date }>(
        "select date_bin(make_interval(secs => $1), now(), 'epoch') as start",
        windowSeconds,
      )
    )[0]?.start.getTime();
  for (let tries = 1; ; tries++) {
    const before = await window();
    const failure = await work().then(
      () => null,
      (error: unknown) => ({ error }),
    );
    if (before !== (await window()) && tries < MAX_WINDOW_TRIES) continue;
    if (failure !== null) throw failure.error;
    return;
  }
}

/** Returns the session cookie that a response sets, as the next request sends it. */
export function cookieOf(reply: Reply<unknown>): string {
  return reply.headers.getSetCookie()[0]?.split(";")[0] ?? "";
}

async function statementThatCounts(pool: pg.Pool): Promise<string> {
  // Leaves out tables that are not the effect of a call: counts behind the events (docs/decisions/0044), rate windows, the request log, the
  // chain that a loop adds to the consent log, and challenges.
  const { rows } = await pool.query<{ name: string }>(`
    select quote_ident(tablename) as name from pg_tables
    where schemaname = 'public' and tablename not in ('mail_counts', 'event_counts', 'event_name_counts', 'count_positions', 'count_values', 'api_requests', 'passkey_challenges', 'rate_windows', 'consent_heads', 'consent_seals') order by 1`);
  const counts = rows.map(({ name }) => `select '${name}' as name, count(*) as count from ${name}`);
  return `select json_object_agg(name, count) as counts from (${counts.join(" union all ")}) t`;
}
