// Calls every endpoint of the contract as every kind of caller in the table of rights (contract/src/rights.ts).
import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import * as keys from "@postloft/contract/keys.ts";
import * as webhooks from "@postloft/contract/webhooks.ts";
import { isOfProject, isSessionOnly, type Endpoint } from "@postloft/contract/endpoint.ts";
import { ENDPOINTS } from "@postloft/contract/endpoints.ts";
import { EXAMPLE_BODIES } from "@postloft/contract/openapi/examples.ts";
import { RIGHTS } from "@postloft/contract/rights.ts";
import { nounOf, SCOPE_NOUNS } from "@postloft/contract/scopes.ts";
import {
  useTestServer,
  type TestCaller,
  type TestPerson,
  type TestProject,
} from "../../testing/test-server.ts";
import { uploadFor } from "../../testing/upload.ts";

// No process sends emails here, so nothing changes in the background.
const server = useTestServer({ ROLES: "api" });

const LET_IN = "let in";
/** Errors about the caller. Any other response except a failure means that the caller was admitted. */
const ABOUT_THE_CALLER = new Set<string>(
  ENDPOINTS.flatMap((endpoint) => Object.values(RIGHTS).flatMap((verdict) => verdict(endpoint) ?? [])),
);
/** These change the caller or the project, so each gets its own project, and signing out is last. */
const ENDS = new Set([
  "projects.regenerateKeys",
  "projects.reset",
  "projects.delete",
  "members.leave",
  "auth.logout",
]);

/** Required query parameters, because the query is checked before rights. */
const QUERIES: Readonly<Record<string, string>> = {
  "analytics.breakdown": "?dimension=kind",
  "analytics.export": "?report=audience",
};

let people: Record<"OWNER" | "ADMIN" | "MEMBER" | "disabled" | "stranger", TestPerson>;
let foreign: TestProject;

beforeAll(async () => {
  const [OWNER, ADMIN, MEMBER, disabled, stranger] = await Promise.all([
    server.signUp(),
    server.signUp(),
    server.signUp(),
    server.signUp(),
    server.signUp(),
  ]);
  people = { OWNER, ADMIN, MEMBER, disabled, stranger };
  foreign = await server.createProject(stranger);
});

interface Scene {
  caller: TestCaller;
  /** The project in the path, and in the header of sessions. */
  projectId: string;
  /** Secrets that no endpoint may return to this caller. */
  hidden: readonly string[];
}

/** Matches the columns that may read secrets. No endpoint may return a secret to other callers. */
const SEES_SECRETS = /^(secret key|ADMIN|OWNER|key with `secrets:)/;

/** Creates a project with all its members and the caller of this column. */
async function prepare(column: string): Promise<Scene> {
  const isDisabled = column.endsWith(", project disabled");
  const [, ofMember, scope] = /^(MEMBER's )?key with `(.*)`$/.exec(column) ?? [];
  const project = await server.createProject(isDisabled ? people.disabled : people.OWNER);
  for (const role of ["ADMIN", "MEMBER"] as const)
    await server.rows(
      "insert into memberships (project_id, user_id, role) values ($1, $2, $3)",
      project.id,
      people[role].id,
      role,
    );
  if (isDisabled) await server.rows("update projects set disabled = true where id = $1", project.id);
  const session = ({ cookie }: TestPerson) => ({ cookie, projectId: project.id });
  const callers: Record<string, TestCaller> = {
    nobody: {},
    "public key": { key: project.publicKey },
    "secret key": project.byKey,
    ...(scope === undefined
      ? {}
      : {
          [column]: await scopedKey(project, scope, ofMember === undefined ? project.owner : people.MEMBER),
        }),
    "foreign secret key": foreign.byKey,
    "foreign session": session(people.stranger),
    MEMBER: session(people.MEMBER),
    ADMIN: session(people.ADMIN),
    OWNER: session(people.OWNER),
    "OWNER, project disabled": session(people.disabled),
    "secret key, project disabled": project.byKey,
    "public key, project disabled": { key: project.publicKey },
  };
  const caller = callers[column];
  if (caller === undefined) throw new Error(`Nobody plays the column ${column}.`);
  const hidden = SEES_SECRETS.test(column) ? [] : await secretsOf(project, isDisabled);
  return { caller, projectId: project.id, hidden };
}

/** The secret key and the webhook secret, which is created when it is first read. */
async function secretsOf(project: TestProject, isDisabled: boolean): Promise<string[]> {
  if (isDisabled) return [project.secretKey];
  const { body } = await server.call(webhooks.getWebhookSecret, project.byKey);
  return [project.secretKey, body.secret];
}

async function scopedKey({ id }: TestProject, scope: string, by: TestPerson): Promise<TestCaller> {
  const { body } = await server.call(
    keys.createKey,
    { cookie: by.cookie },
    { params: { projectId: id }, body: { name: "A key", scopes: [scope] } },
  );
  return { key: body.data.key };
}

test("scopes contain every noun that has an endpoint for secret keys", () => {
  const nouns = ENDPOINTS.filter((one) => isOfProject(one) && !isSessionOnly(one)).map(nounOf);
  expect(new Set(SCOPE_NOUNS)).toEqual(new Set(nouns));
});

async function ask(endpoint: Endpoint, { caller, projectId, hidden }: Scene): Promise<string> {
  const path =
    endpoint.path.replace(":projectId", projectId).replace(/:[a-zA-Z]+/g, randomUUID()) +
    (QUERIES[endpoint.name] ?? "");
  const upload = endpoint.bodyKind === "upload" ? uploadFor(endpoint) : null;
  const headers = upload === null ? {} : { "content-type": upload.contentType };
  const json = endpoint.takesBody ? (EXAMPLE_BODIES[endpoint.name] ?? {}) : undefined;
  const body = upload?.body ?? json;
  const reply = await server.call(endpoint.method, path, { ...caller, headers }, body);
  const code = reply.body?.error?.code ?? "";
  if (hidden.some((secret) => reply.text.includes(secret))) return "shows a secret";
  if (reply.status >= 500) return `${reply.status} ${code}`;
  return endpoint.caller !== "anyone" && ABOUT_THE_CALLER.has(code) ? code : LET_IN;
}

/** Requests that run together. More would wait for the lock of their project longer than a busy server allows. */
const CONCURRENT = 10;

test.for(Object.keys(RIGHTS))(
  "admits or rejects %s at each endpoint as in the table of rights",
  async (column) => {
    const scene = await prepare(column);
    const responses: string[][] = [];
    const lasting = ENDPOINTS.filter(({ name }) => !ENDS.has(name));
    for (let from = 0; from < lasting.length; from += CONCURRENT)
      responses.push(
        ...(await Promise.all(
          lasting.slice(from, from + CONCURRENT).map(async (one) => [one.name, await ask(one, scene)]),
        )),
      );
    for (const one of ENDPOINTS.filter(({ name }) => ENDS.has(name)).toReversed())
      responses.push([one.name, await ask(one, await prepare(column))]);
    expect(Object.fromEntries(responses)).toEqual(
      Object.fromEntries(ENDPOINTS.map((one) => [one.name, RIGHTS[column]?.(one) ?? LET_IN])),
    );
  },
);
