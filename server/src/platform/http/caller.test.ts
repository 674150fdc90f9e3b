// Calls every endpoint of the contract as every kind of caller.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { SignJWT } from "jose";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import * as campaigns from "@postloft/contract/campaigns.ts";
import * as contactBulk from "@postloft/contract/contact-bulk.ts";
import * as contacts from "@postloft/contract/contacts.ts";
import * as domains from "@postloft/contract/domains.ts";
import * as mailbox from "@postloft/contract/mailbox.ts";
import * as projects from "@postloft/contract/projects.ts";
import * as users from "@postloft/contract/users.ts";
import * as v1 from "@postloft/contract/v1.ts";
import * as webhooks from "@postloft/contract/webhooks.ts";
import { endpoint as defineEndpoint, type CallerKind, type Endpoint } from "@postloft/contract/endpoint.ts";
import { ENDPOINTS } from "@postloft/contract/endpoints.ts";
import { takesKey } from "@postloft/contract/openapi/errors.ts";
import { EXAMPLE_BODIES } from "@postloft/contract/openapi/examples.ts";
import {
  APP_SECRET,
  responsesByName,
  errorOf,
  sameByName,
  useTestServer,
  type TestCaller,
} from "../../testing/test-server.ts";
import { addReceivedEmails } from "../../testing/received-email.ts";
import type { ResponseOf } from "../../testing/typed-call.ts";
import { ONE_PIXEL, uploadFor, uploadOf } from "../../testing/upload.ts";
import { drawWorkflow } from "../../testing/workflow-fixture.ts";
import { createSealer, deriveKey } from "../crypto.ts";
import { createHttp } from "./http.ts";
import { ok, route } from "./route.ts";
import { createLog } from "../log.ts";
import { createMetrics } from "../metrics.ts";

// No process sends emails here, so nothing changes in the background.
const server = useTestServer({ ROLES: "api" });

const nameOf = ({ name }: Endpoint) => name;
const inProject = ENDPOINTS.filter(takesKey);

/** Matches responses about the caller. Any other response means that the caller was admitted. */
const ABOUT_THE_CALLER =
  /^401 |^403 |400 BAD_REQUEST|MISSING_AUTH|INVALID_API_KEY|UNAUTHORIZED|PROJECT_ACCESS_DENIED|PROJECT_NOT_FOUND/;
const LET_IN = "let in";

async function ask(endpoint: Endpoint, caller: TestCaller, projectInPath: string): Promise<string> {
  const path = endpoint.path.replace(":projectId", projectInPath).replace(/:[a-zA-Z]+/g, randomUUID());
  const body = endpoint.takesBody ? {} : undefined;
  const answer = errorOf(await server.call(endpoint.method, path, caller, body));
  return ABOUT_THE_CALLER.test(answer) ? answer : LET_IN;
}

const askAll = (caller: TestCaller, projectInPath = server.project.id) =>
  responsesByName(ENDPOINTS, nameOf, (endpoint) => ask(endpoint, caller, projectInPath));

/** Returns the expected responses. Without an admin token, its endpoints respond like those for sessions, as do those for members. */
function expected(byKind: Readonly<Record<Exclude<CallerKind, "anyone" | "operator" | "member">, string>>) {
  return sameByName(ENDPOINTS, nameOf, ({ caller }) =>
    caller === "anyone" ? LET_IN : byKind[caller === "operator" || caller === "member" ? "session" : caller],
  );
}

const NO_KEY = {
  tracker: "401 INVALID_API_KEY",
  project: "401 INVALID_API_KEY",
  "project-by-path": "401 INVALID_API_KEY",
  session: "401 UNAUTHORIZED",
};
const NO_ONE = {
  tracker: "401 MISSING_AUTH",
  project: "401 MISSING_AUTH",
  "project-by-path": "401 MISSING_AUTH",
  session: "401 UNAUTHORIZED",
};

const BAD_AUTHORIZATION: Record<string, string> = {
  "an empty header": "",
  "a word": "garbage",
  "no prefix": "Bearer abc",
  "another scheme": "Basic c2tfYTpi",
  "two keys": "Bearer sk_a, Bearer sk_b",
  "a key with a quote": "Bearer sk_a'--",
  "10 kB": `Bearer sk_${"a".repeat(10_000)}`,
  "an unknown secret key": `Bearer sk_${"a".repeat(48)}`,
  "an unknown public key": `Bearer pk_${"a".repeat(48)}`,
};

test("returns 401 for every protected endpoint without authentication, and nothing changes", async () => {
  const before = await server.countRows();
  expect(await askAll({})).toEqual(expected(NO_ONE));
  expect(await server.countRows()).toEqual(before);
});

test.for(Object.entries(BAD_AUTHORIZATION))(
  "returns 401 everywhere for %s in Authorization, and nothing changes",
  async ([, authorization]) => {
    const before = await server.countRows();
    expect(await askAll({ headers: { authorization } })).toEqual(expected(NO_KEY));
    expect(await server.countRows()).toEqual(before);
  },
);

test("ignores a key outside of Authorization", async () => {
  const { secretKey } = server.project;
  for (const caller of [{ cookie: `postloft_session=${secretKey}` }, { headers: { "x-api-key": secretKey } }])
    expect(await askAll(caller)).toEqual(expected(NO_ONE));
  expect(errorOf(await server.call(contacts.listContacts, {}, { anyQuery: `?key=${secretKey}` }))).toBe(
    "401 MISSING_AUTH",
  );
  expect(errorOf(await server.call("POST", "/v1/send", {}, { key: secretKey }))).toBe("401 MISSING_AUTH");
});

test("allows the public key to call POST /v1/track and nothing else", async () => {
  const before = await server.countRows();
  expect(await askAll({ key: server.project.publicKey })).toEqual(expected({ ...NO_KEY, tracker: LET_IN }));
  expect(await server.countRows()).toEqual(before);
});

test("allows the secret key to call every endpoint of a project and none of a user", async () => {
  expect(await askAll(server.project.byKey)).toEqual(
    expected({ tracker: LET_IN, project: LET_IN, "project-by-path": LET_IN, session: "401 UNAUTHORIZED" }),
  );
});

test("accepts the scheme in any case", async () => {
  for (const scheme of ["bearer", "BEARER", "BeArEr"]) {
    const headers = { authorization: `${scheme} ${server.project.secretKey}` };
    expect((await server.call(contacts.listContacts, { headers })).status).toBe(200);
  }
});

test("returns 400 for a session without X-Project-Id if the endpoint needs a project", async () => {
  const { cookie } = await server.signUp();
  for (const caller of [{ cookie }, { cookie, projectId: "" }])
    expect(await responsesByName(inProject, nameOf, (one) => ask(one, caller, server.project.id))).toEqual(
      sameByName(inProject, nameOf, (one) =>
        one.caller === "project-by-path" ? "404 PROJECT_NOT_FOUND" : "400 BAD_REQUEST",
      ),
    );
});

test.for(["of others", "that does not exist", "with an invalid id", "with SQL as its id"])(
  "returns 403 for a project %s in the header of a session and 404 for one in the path",
  async (kind) => {
    const { cookie } = await server.signUp();
    const before = await server.countRows();
    const id =
      kind === "of others"
        ? server.project.id
        : kind === "that does not exist"
          ? randomUUID()
          : kind === "with an invalid id"
            ? "nothing"
            : "' or 1=1 --";
    const caller = { cookie, projectId: id };
    expect(
      await responsesByName(inProject, nameOf, (one) => ask(one, caller, encodeURIComponent(id))),
    ).toEqual(
      sameByName(inProject, nameOf, ({ caller: callerKind }) =>
        callerKind === "project-by-path" ? "404 PROJECT_NOT_FOUND" : "403 PROJECT_ACCESS_DENIED",
      ),
    );
    expect(await server.countRows()).toEqual(before);
  },
);

test("allows a member's session with X-Project-Id to call what the secret key may call", async () => {
  const project = await server.createProject();
  expect(await responsesByName(inProject, nameOf, (one) => ask(one, project.bySession, project.id))).toEqual(
    sameByName(inProject, nameOf, () => LET_IN),
  );
});

test("applies joining and leaving a project to a session's next call", async () => {
  const project = await server.createProject();
  const { id, cookie } = await server.signUp();
  const caller = { cookie, projectId: project.id };
  expect((await server.call(contacts.listContacts, caller)).status).toBe(403);
  await server.rows(
    "insert into memberships (project_id, user_id, role) values ($1, $2, 'MEMBER')",
    project.id,
    id,
  );
  expect((await server.call(contacts.listContacts, caller)).status).toBe(200);
  await server.rows("delete from memberships where user_id = $1", id);
  expect((await server.call(contacts.listContacts, caller)).status).toBe(403);
});

test("rejects a session or key that lost its rights before the last byte arrived", async () => {
  const { owner, ...project } = await server.createProject();
  const person = await server.signUp();
  await server.rows(
    "insert into memberships (project_id, user_id, role) values ($1, $2, 'ADMIN')",
    project.id,
    person.id,
  );
  const slowly = async (path: string, headers: Record<string, string>, body: string) => {
    const input = { ...headers, "content-type": "application/json", "content-length": body.length };
    const request = httpRequest(server.url + path, { method: "POST", headers: input });
    const responded = once(request, "response") as Promise<[IncomingMessage]>;
    await new Promise((resolve) => request.write(body.slice(0, -1), resolve));
    return async () => {
      request.end(body.at(-1));
      const [response] = await responded;
      response.resume();
      return response.statusCode;
    };
  };
  const endings = await Promise.all([
    slowly(`/projects/${project.id}/keys`, { cookie: person.cookie }, '{"name":"x","scopes":["*:write"]}'),
    slowly("/contacts", { authorization: `Bearer ${project.secretKey}` }, '{"email":"late@example.com"}'),
    slowly(`/projects/${project.id}/keys`, { cookie: owner.cookie }, '{"name":"x","scopes":["*:read"]}'),
  ]);
  // The server has read what was sent before this call.
  await server.call("GET", "/health", {});
  const begunMs = performance.now();
  await vi.waitUntil(() => performance.now() - begunMs > 1_100, { timeout: 30_000 });
  await server.rows("delete from memberships where user_id = $1", person.id);
  const { cookie } = owner;
  await server.call(projects.regenerateKeys, { cookie }, { params: { projectId: project.id } });
  expect(await Promise.all(endings.map((end) => end()))).toEqual([404, 401, 201]);
});

const slow = defineEndpoint({
  name: "test.slow",
  method: "POST",
  path: "/slow",
  summary: "Waits",
  description: "For tests.",
  caller: "project",
  body: z.object({ text: z.string() }),
  responses: { 200: z.object({ done: z.boolean() }) },
});

test("rejects a key that is revoked while its request waits for its turn", async () => {
  const released = Promise.withResolvers<void>();
  const seen = { lookups: 0, calls: 0 };
  let isRevoked = false;
  const known = {
    hash: Buffer.alloc(32),
    projectId: server.project.id,
    kind: "secret",
    disabled: false,
  } as const;
  const app = await createHttp(
    {
      database: server.database,
      sealer: createSealer("a secret for tests"),
      credentials: {
        findKey: async () => (seen.lookups++, isRevoked ? null : known),
        findSession: async () => null,
        findMembership: async () => null,
      },
      rateLimiter: { take: () => Promise.reject(new Error("never asked")), giveBack: async () => undefined },
      requestsPerMinute: 0,
      trustedProxies: [],
      sessionCookie: "session",
      origin: () => null,
      log: createLog({ level: "silent" }),
      metrics: createMetrics(),
    },
    [
      route(slow, async ({ body }) => {
        seen.calls++;
        if (body.text.length > 1_000) await released.promise;
        return ok({ done: true });
      }),
    ],
  );
  const send = async (length: number) =>
    app.inject({
      method: "POST",
      url: "/slow",
      headers: { authorization: `Bearer sk_${"a".repeat(48)}`, "content-type": "application/json" },
      payload: JSON.stringify({ text: "x".repeat(length) }),
    });
  const first = send(200_000);
  await vi.waitFor(() => expect(seen.calls).toBe(1), WAIT);
  const second = send(200_000);
  await vi.waitFor(() => expect(seen.lookups).toBe(2), WAIT);
  // Small requests don't wait. After this response the second request waits for the first.
  expect((await send(10)).statusCode).toBe(200);
  isRevoked = true;
  released.resolve();
  expect((await first).statusCode).toBe(200);
  const refused = await second;
  expect([refused.statusCode, refused.json<{ error: { code: string } }>().error.code]).toEqual([
    401,
    "INVALID_API_KEY",
  ]);
  expect(seen.calls).toBe(2);
  await app.close();
});

test("accepts a session's project id in capitals", async () => {
  const { bySession, id } = server.project;
  const caller = { ...bySession, projectId: id.toUpperCase() };
  const email = "capital@example.com";
  const statuses = [];
  for (const [path, body] of [
    ["/contacts", { email }],
    ["/contacts", { email, data: { a: 1 } }],
    ["/v1/track", { email, event: "opened", subscribed: false }],
    ["/v1/send", { to: email, from: "a@sandbox.localhost", subject: "s", body: "b" }],
  ] as const)
    statuses.push((await server.call("POST", path, caller, body)).status);
  expect(statuses).toEqual([201, 200, 200, 200]);
});

const domainsOf = (projectId: string) => `/domains/project/${projectId}`;

test("rejects the secret key of one project for another project in the path", async () => {
  const other = await server.createProject();
  const caller = { ...server.project.byKey, headers: { "x-request-id": "same" } };
  const foreign = await server.call("GET", domainsOf(other.id), caller);
  const missing = await server.call("GET", domainsOf(randomUUID()), caller);
  expect(errorOf(foreign)).toBe("404 PROJECT_NOT_FOUND");
  expect({ ...foreign.body, timestamp: "" }).toEqual({ ...missing.body, timestamp: "" });
  for (const own of [server.project.id, server.project.id.toUpperCase(), "current"])
    expect((await server.call("GET", domainsOf(own), caller)).status).toBe(200);
  for (const path of [domainsOf("xyz"), "/projects/xyz/security", `/projects/${other.id}/security`])
    expect(errorOf(await server.call("GET", path, caller))).toBe("404 PROJECT_NOT_FOUND");
});

function encodePart(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

const nameOfEntry = ([what]: [string, string]) => what;

test("ignores a cookie that we did not sign for this purpose", async () => {
  const { cookie } = await server.signUp();
  const [name, token = ""] = cookie.split("=");
  const [head = "", payload = "", signature = ""] = token.split(".");
  const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as Record<string, unknown>;
  const key = deriveKey(APP_SECRET, "session");
  const sign = (more: Record<string, unknown>, signer = key, header: object = {}) =>
    new SignJWT({ ...claims, ...more }).setProtectedHeader({ alg: "HS256", ...header }).sign(signer);
  const { exp: _exp, ...endless } = claims;
  const forged = {
    "no token": "",
    "a word": "garbage",
    "without a signature": `${head}.${payload}.`,
    "alg none": `${encodePart({ alg: "none", typ: "JWT" })}.${payload}.`,
    "an edited session": `${head}.${encodePart({ ...claims, sid: randomUUID() })}.${signature}`,
    "another person": `${head}.${encodePart({ ...claims, sub: randomUUID() })}.${signature}`,
    "another key": await sign({}, deriveKey("another secret, long enough", "session")),
    "the key of another purpose": await sign({}, deriveKey(APP_SECRET, "seal")),
    "another algorithm": await new SignJWT(claims).setProtectedHeader({ alg: "HS512" }).sign(key),
    "a path as key id": await sign({}, deriveKey("x".repeat(20), "session"), { kid: "../../dev/null" }),
    expired: await sign({ exp: 1_000_000_000 }),
    "without an end": await new SignJWT(endless).setProtectedHeader({ alg: "HS256" }).sign(key),
    "another audience": await sign({ aud: "another" }),
    "a session that is no id": await sign({ sid: "' or 1=1 --" }),
    "5 kB": "a".repeat(5_000),
  };
  const me = (text: string) => server.call(users.getMe, { cookie: `${name}=${text}` });
  expect((await me(await sign({}))).status).toBe(200);
  const entries = Object.entries(forged);
  expect(await responsesByName(entries, nameOfEntry, async ([, text]) => errorOf(await me(text)))).toEqual(
    sameByName(entries, nameOfEntry, () => "401 UNAUTHORIZED"),
  );
});

const SUBSCRIBED = {
  operator: "AND",
  conditions: [{ field: "subscribed", operator: "equals", value: true }],
};
const CAMPAIGN = {
  name: "News",
  subject: "s",
  body: "b",
  from: "a@sandbox.localhost",
  audienceType: "ALL",
};

const VALID_BODIES: Record<string, unknown> = {
  "webhooks.stripe": { id: "evt_1", type: "invoice.paid", created: 1, data: { object: {} } },
  "campaigns.release": { destination: "gmail" },
  "campaigns.resolve": { as: "sent" },
  "emails.release": { destination: "gmail" },
  "emails.resolve": { as: "sent" },
  "emails.reschedule": { scheduledFor: new Date(Date.now() + 86_400_000).toISOString() },
  "v1.track": { email: "ada@example.com", event: "opened" },
  "v1.send": { to: "ada@example.com", from: "a@sandbox.localhost", subject: "s", body: "b" },
  "received.reply": { from: "a@sandbox.localhost", body: "b" },
  "v1.sendBatch": {
    emails: [{ to: "ada@example.com", from: "a@sandbox.localhost", subject: "s", body: "b" }],
  },
  "events.track": { email: "ada@example.com", event: "opened" },
  "v1.verify": { email: "ada@example.com" },
  "contacts.upsert": { email: "bob@example.com" },
  "contacts.update": { subscribed: false },
  "contacts.createView": { name: "Readers", query: {} },
  "contacts.updateView": { name: "Friends" },
  "contacts.lookup": { emails: ["ada@example.com"] },
  "contacts.search": { filters: SUBSCRIBED },
  "suppressions.add": { emails: ["ada@example.com"] },
  "domains.create": { domain: "mail.example.com" },
  "domains.update": { ed25519: true },
  "domains.setLinkDomain": { domain: "go.example.com" },
  "contacts.bulkSubscribe": { contactIds: [randomUUID()] },
  "contacts.bulkUnsubscribe": { contactIds: [randomUUID()] },
  "contacts.bulkDelete": { contactIds: [randomUUID()] },
  "contacts.bulkUpdate": { contactIds: [randomUUID()], data: { plan: "pro" } },
  "contacts.bulkAddToSegment": { contactIds: [randomUUID()], targetSegmentId: randomUUID() },
  "segments.create": { name: "Guests", type: "STATIC" },
  "segments.update": { name: "Friends" },
  "segments.addMembers": { emails: ["ada@example.com"] },
  "segments.removeMembers": { emails: ["ada@example.com"] },
  "segments.preview": { filters: SUBSCRIBED },
  "segments.explain": { filters: SUBSCRIBED, contactId: randomUUID() },
  "templates.create": { name: "Hello", subject: "s", body: "b", type: "TRANSACTIONAL" },
  "uploads.update": { alt: "A leaf" },
  "templates.update": { name: "Good day" },
  "templates.saveVariant": { subject: "s", body: "b" },
  "templates.preview": { subject: "s", body: "b" },
  "templates.test": { email: "ada@example.com", from: "a@sandbox.localhost" },
  "campaigns.create": CAMPAIGN,
  "campaigns.replace": CAMPAIGN,
  "campaigns.send": {},
  "campaigns.test": { email: "ada@example.com" },
  "executions.start": { contactId: randomUUID() },
  "workflows.why": { contactId: randomUUID() },
  "workflows.simulate": { contact: { email: "ada@example.com" } },
  "workflows.create": { name: "Welcome" },
  "workflows.import": EXAMPLE_BODIES["workflows.import"],
  "workflows.update": { enabled: true },
  "workflows.addStep": { type: "EXIT" },
  "workflows.updateStep": { name: "End" },
  "workflows.pasteSteps": EXAMPLE_BODIES["workflows.pasteSteps"],
  "workflows.undo": { revision: 1, expectedRevision: 2 },
  "workflows.insertStep": { type: "DELAY", config: { amount: 1, unit: "days" } },
  "workflows.addTransition": { fromStepId: randomUUID(), toStepId: randomUUID() },
  "webhooks.createEndpoint": EXAMPLE_BODIES["webhooks.createEndpoint"],
  "webhooks.replay": EXAMPLE_BODIES["webhooks.replay"],
  "webhooks.updateEndpoint": EXAMPLE_BODIES["webhooks.updateEndpoint"],
};

/** Read-only POST endpoints, because their input may be too long for a URL. */
const ASKING = new Set([
  "contacts.lookup",
  "contacts.search",
  "v1.verify",
  "segments.preview",
  "segments.explain",
  "templates.preview",
  "workflows.why",
  "workflows.simulate",
  "workflows.replay",
]);

/** Query parameters that an endpoint requires. */
const NEEDED_QUERIES: Readonly<Record<string, string>> = {
  "analytics.breakdown": "?dimension=kind",
  "analytics.export": "?report=timeseries",
};

const asForm = ({ contentType, body }: ReturnType<typeof uploadOf>) => ({
  headers: { "content-type": contentType },
  body,
});
/** A file as a form sends it, for the endpoints that accept addresses. */
const UPLOAD = asForm(uploadOf("email\nada@example.com\n"));

test("allows reading a disabled project and returns 403 for every change", async () => {
  const project = await server.createProject();
  const { body: contact } = await server.call(contacts.upsertContact, project.byKey, {
    body: {
      email: "ada@example.com",
    },
  });
  // The first request creates the secret, and a disabled project may send it too.
  await server.call(webhooks.getWebhookSecret, project.byKey);
  await server.rows("update projects set disabled = true where id = $1", project.id);
  const before = await server.countRows();
  for (const caller of [project.byKey, project.bySession]) {
    const responses = await responsesByName(
      inProject,
      nameOf,
      async ({ method, path, name, bodyKind, body: schema }) => {
        const filled = path.replace(/:projectId/, project.id).replace(/:[a-zA-Z]+/, contact.id);
        const { headers, body } =
          bodyKind === "upload"
            ? asForm(uploadFor({ body: schema }))
            : { headers: {}, body: VALID_BODIES[name] };
        const asked = filled + (NEEDED_QUERIES[name] ?? "");
        const answer = errorOf(await server.call(method, asked, { ...caller, headers }, body));
        return /^(200|404)/.test(answer) ? "read" : answer;
      },
    );
    expect(responses).toEqual(
      sameByName(inProject, nameOf, ({ method, name }) =>
        (method === "GET" && name !== "domains.verify") || ASKING.has(name) ? "read" : "403 PROJECT_DISABLED",
      ),
    );
  }
  const owner = { cookie: project.owner.cookie };
  const own = `/users/@me/projects/${project.id}`;
  const byPublicKey = { key: project.publicKey };
  expect([
    errorOf(await server.call("PATCH", own, owner, { name: "New" })),
    errorOf(await server.call("POST", "/v1/track", byPublicKey, VALID_BODIES["v1.track"])),
  ]).toEqual(Array.from({ length: 2 }, () => "403 PROJECT_DISABLED"));
  // Reading only records an audit entry for each of the two exports, by both callers.
  const { audit_log: noted = 0, ...others } = before;
  expect(await server.countRows()).toEqual({ ...others, audit_log: noted + 4 });
  await server.rows("update projects set disabled = false where id = $1", project.id);
  expect(
    (await server.call("POST", "/contacts", project.byKey, VALID_BODIES["contacts.upsert"])).status,
  ).toBe(201);
});

type Named = ResponseOf<typeof contacts.upsertContact>;

const below = (path: string, id: string, more: readonly string[]) =>
  Object.fromEntries(["", ...more].map((end) => [`${path}/:id${end}`, id]));

/** Creates a project with one object of every kind that has an id. */
async function furnish() {
  const project = await server.createProject();
  const { byKey, owner } = project;
  const [session] = await server.rows<Named>("select id from sessions where user_id = $1", owner.id);
  const { body: contact } = await server.call(contacts.upsertContact, byKey, {
    body: {
      email: "ada@example.com",
    },
  });
  const { body: sent } = await server.call(v1.send, byKey, {
    body: { to: "ada@example.com", from: "a@sandbox.localhost", subject: "s", body: "b" },
  });
  const { body: domain } = await server.call(domains.createDomain, byKey, {
    body: { domain: "ada.example.com" },
  });
  const email = sent.data.emails[0]?.email ?? "";
  const worker = await server.startAnother({ ROLES: "worker" });
  const waiting = () => server.rows("select 1 from emails where status <> 'DELIVERED'");
  await expect.poll(waiting, WAIT).toEqual([]);
  await worker.stop();
  const make = async (path: string, body: unknown) =>
    (await server.call<Named>("POST", path, byKey, body)).body;
  const segment = await make("/segments", { name: "Guests", type: "STATIC" });
  const template = await make("/templates", VALID_BODIES["templates.create"]);
  const hook = await make("/webhooks/endpoints", { url: "https://hooks.example.com", eventTypes: ["*"] });
  const view = await make("/contacts/views", VALID_BODIES["contacts.createView"]);
  const { body: campaign } = await server.call(campaigns.createCampaign, byKey, { anyBody: CAMPAIGN });
  const workflow = await drawWorkflow(server.database, project.id, {
    steps: [["trigger", "TRIGGER"]],
    links: [],
  });
  const bulk = { contactIds: [contact.id] };
  const { body: job } = await server.call(contactBulk.bulkSubscribe, byKey, { body: bulk });
  const { body: imported } = await server.call<{ jobId: string }>(
    "POST",
    "/contacts/import",
    { ...byKey, headers: UPLOAD.headers },
    UPLOAD.body,
  );
  const { body: suppressed } = await server.call<{ jobId: string }>(
    "POST",
    "/suppressions/import",
    { ...byKey, headers: UPLOAD.headers },
    UPLOAD.body,
  );
  const { headers, body: image } = asForm(uploadOf(ONE_PIXEL, { part: "image" }));
  const { body: uploaded } = await server.call<{ key: string }>(
    "POST",
    "/uploads/image",
    { ...byKey, headers },
    image,
  );
  const { body: messages } = await server.call(mailbox.listMessages, byKey);
  const message = messages.data[0]?.id ?? "";
  const [received] = await addReceivedEmails(server.database, project.id, [{}]);
  const [logged] = await server.rows<{ id: string }>(
    `insert into api_requests (project_id, id, request_id, at, method, path, route, status, duration_ms, key, body_bytes)
     values ($1, new_id(), 'a request', now(), 'GET', '/contacts', '/contacts', 200, 1, 'secret', 0) returning id`,
    project.id,
  );
  return {
    project,
    ids: {
      ...below("/segments", segment.id, ["/contacts", "/members", "/compute", "/refresh"]),
      "/contacts/views/:id": view.id,
      ...below("/webhooks/endpoints", hook.id, [
        "/rotate-secret",
        "/test",
        "/deliveries",
        "/deliveries/:deliveryId",
        "/deliveries/:deliveryId/resend",
        "/resend-failed",
        "/replay",
      ]),
      ...below("/templates", template.id, [
        "/duplicate",
        "/usage",
        "/test",
        "/variants/:locale",
        "/versions",
        "/versions/:versionId",
        "/versions/:versionId/restore",
      ]),
      ...below("/campaigns", campaign.data.id, [
        "/duplicate",
        "/send",
        "/cancel",
        "/pause",
        "/resume",
        "/retry-failed",
        "/release",
        "/resolve",
        "/test",
        "/stats",
        "/recipients",
        "/audience",
        "/check",
      ]),
      ...below("/workflows", workflow.id, [
        "/duplicate",
        "/pause",
        "/resume",
        "/export",
        "/versions",
        "/versions/:version",
        "/versions/:version/compare",
        "/versions/:version/restore",
        "/undo",
        "/move-preview",
        "/moves",
        "/moves/:jobId",
        "/moves/:jobId/undo",
        "/steps",
        "/steps/:stepId",
        "/transitions",
        "/transitions/:transitionId",
        "/transitions/:transitionId/insert-step",
        "/paste",
        "/why",
        "/simulate",
        "/replay",
        "/stats",
        "/executions",
        "/executions/cancel-all",
        "/executions/:executionId",
        "/executions/:executionId/retry",
        "/executions/:executionId/skip",
        "/steps/:stepId/retry-failed",
        "/steps/:stepId/skip-failed",
      ]),
      "/contacts/:id/executions": contact.id,
      "/contacts/bulk/:jobId": job.jobId,
      "/contacts/import/:jobId": imported.jobId,
      "/contacts/import/:jobId/errors.csv": imported.jobId,
      "/contacts/import/:jobId/undo": imported.jobId,
      "/suppressions/import/:jobId": suppressed.jobId,
      "/uploads/:key": uploaded.key,
      "/contacts/:id/export": contact.id,
      "/contacts/:id": contact.id,
      "/contacts/:id/consent": contact.id,
      "/events/contact/:contactId": contact.id,
      "/requests/:id": logged?.id ?? "",
      "/emails/:id": email,
      "/emails/:id/resolve": email,
      "/emails/:id/cancel": email,
      ...below("/received-emails", received?.id ?? "", ["/raw", "/attachments/:index", "/reply"]),
      "/mailbox/messages/:id": message,
      "/mailbox/messages/:id/raw": message,
      "/mailbox/messages/:id/attachments/:position": message,
      "/domains/:id": domain.id,
      "/domains/:id/verify": domain.id,
      "/domains/:id/diagnosis": domain.id,
      "/domains/:id/rotate-key": domain.id,
      "/domains/project/:projectId": project.id,
      "/projects/:projectId/security": project.id,
      "/users/@me/projects/:projectId/reset": project.id,
      "/users/@me/projects/:projectId/removals/:jobId": project.id,
      "/projects/:projectId/setup-state": project.id,
      "/projects/:projectId/enable": project.id,
      "/projects/:projectId/transports": project.id,
      "/projects/:projectId/transports/:id": project.id,
      "/projects/:projectId/transports/:id/test": project.id,
      "/installation/projects/:id/suspend": project.id,
      "/installation/projects/:id/enable": project.id,
      "/projects/:projectId/keys": project.id,
      "/projects/:projectId/keys/:keyId": project.id,
      "/projects/:projectId/members": project.id,
      "/projects/:projectId/members/:userId": project.id,
      "/projects/:projectId/notifications": project.id,
      "/projects/:projectId/notifications/webhook": project.id,
      "/projects/:projectId/notifications/webhook/test": project.id,
      "/projects/:projectId/leave": project.id,
      "/projects/:projectId/transfer-ownership": project.id,
      "/projects/:projectId/invitations": project.id,
      "/projects/:projectId/invitations/:invitationId": project.id,
      "/projects/:projectId/audit-log": project.id,
      "/invitations/:token/accept": "a".repeat(43),
      "/users/@me/sessions/:sessionId": session?.id ?? "",
      "/users/@me/identities/:identityId": project.id,
      "/users/@me/passkeys/:passkeyId": project.id,
      "/users/@me/projects/:projectId": project.id,
      "/users/@me/projects/:projectId/security": project.id,
      "/users/@me/projects/:projectId/checkout": project.id,
      "/users/@me/projects/:projectId/billing-portal": project.id,
      "/users/@me/projects/:projectId/billing-invoices": project.id,
      "/users/@me/projects/:projectId/billing-limits": project.id,
      "/users/@me/projects/:projectId/billing-consumption": project.id,
      "/users/@me/projects/:projectId/regenerate-keys": project.id,
      "/users/@me/projects/:projectId/regenerate-inbound-address": project.id,
    } as Record<string, string>,
  };
}

const WAIT = { timeout: 30_000, interval: 20 };
const SAME = "the same";
// Public pages have signed links and belong to no project, and so do backups. Fields and events are identified by words, which each project
// may use.
const withId = ENDPOINTS.filter(
  ({ path, caller }) => /:(?!field\b|eventName\b|address\b|name\b)/.test(path) && caller !== "anyone",
);
const BODIES_WITH_ID: Record<string, unknown> = {
  ...VALID_BODIES,
  "contacts.update": { subscribed: false, data: { a: 1 } },
  "projects.update": { name: "Taken over" },
  "notifications.update": { "weekly-summary": true },
  "notifications.setWebhook": EXAMPLE_BODIES["notifications.setWebhook"],
  "users.renamePasskey": { name: "Mine" },
  "projects.createTransport": EXAMPLE_BODIES["projects.createTransport"],
  "projects.updateTransport": EXAMPLE_BODIES["projects.updateTransport"],
  "projects.enable": { reason: "nothing is wrong any more" },
  "installation.suspendProject": { reason: "nothing is wrong any more" },
  "installation.enableProject": { reason: "nothing is wrong any more" },
  "projects.reset": { confirm: "A project" },
  "projects.delete": { confirm: "A project" },
  "keys.create": { name: "Reads", scopes: ["*:read"] },
  "billing.updateLimits": { campaigns: 10 },
  "members.add": { email: "new@example.com" },
  "members.changeRole": { role: "ADMIN" },
  "members.transferOwnership": { userId: randomUUID() },
};

test("responds to an id of another project byte for byte like to an unknown id", async () => {
  const { ids, project } = await furnish();
  const tables = [
    "contacts",
    "events",
    "emails",
    "domains",
    "mailbox_messages",
    "received_emails",
    "projects",
    "api_keys",
    "memberships",
    "invitations",
    "audit_log",
    "segments",
    "segment_members",
    "templates",
    "template_variants",
    "campaigns",
    "workflows",
    "workflow_versions",
    "workflow_executions",
    "webhook_endpoints",
    "project_transports",
    "jobs",
  ];
  const contents = async () =>
    Promise.all(tables.map((table) => server.rows(`select t::text as row from ${table} t order by 1`)));
  const before = await contents();
  const other = server.project;
  for (const caller of [other.byKey, other.bySession]) {
    const responses = await responsesByName(withId, nameOf, async ({ method, path, caller: kind, name }) => {
      const asked = kind === "session" || kind === "member" ? { cookie: other.owner.cookie } : caller;
      const [foreign, missing] = await Promise.all(
        [ids[path] ?? "", randomUUID()].map(async (id) => {
          const headers = { "x-request-id": "the-same" };
          const filled = path.replace(/:[a-zA-Z]+/, id);
          const { status, text } = await server.call(
            method,
            filled,
            { ...asked, headers },
            BODIES_WITH_ID[name],
          );
          return `${status} ${text.replace(/"timestamp":"[^"]+"/, "")}`;
        }),
      );
      return { foreign, missing: missing === foreign ? SAME : missing };
    });
    expect(responses).toEqual(
      sameByName(withId, nameOf, () => ({ foreign: expect.stringMatching(/^40[34] /), missing: SAME })),
    );
  }
  for (const list of ["/events", "/emails"]) {
    const { body } = await server.call("GET", `${list}?contactId=${ids["/contacts/:id"]}`, other.byKey);
    expect(body).toMatchObject({ data: [], hasMore: false });
  }
  expect(await contents()).toEqual(before);
  expect((await server.call("GET", `/contacts/${ids["/contacts/:id"]}`, project.byKey)).status).toBe(200);
});

test("checks key, shape, rights and existence in that order", async () => {
  const project = await server.createProject();
  await server.rows("update projects set disabled = true where id = $1", project.id);
  const path = `/contacts/${randomUUID()}`;
  const wrong = { subscribed: "yes" };
  expect(errorOf(await server.call("PATCH", path, {}, wrong))).toBe("401 MISSING_AUTH");
  expect(errorOf(await server.call("PATCH", path, project.byKey, wrong))).toBe("422 VALIDATION_ERROR");
  expect(errorOf(await server.call("PATCH", path, project.byKey, {}))).toBe("403 PROJECT_DISABLED");
  await server.rows("update projects set disabled = false where id = $1", project.id);
  expect(errorOf(await server.call("PATCH", path, project.byKey, {}))).toBe("404 CONTACT_NOT_FOUND");
});
