// Tests projects and their keys over HTTP: creating, changing, viewing and rotating by permitted users.
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import * as contacts from "@postloft/contract/contacts.ts";
import * as projects from "@postloft/contract/projects.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { faultsOf, errorOf, useTestServer, type TestCaller } from "../testing/test-server.ts";

const server = useTestServer({ ROLES: "api", INBOUND_DOMAIN: "in.example" });

interface Project {
  id: string;
  name: string;
  public: string;
  secret: string;
  role: string;
  language: string;
  tracking: string;
  defaultFrom: string | null;
  inboundAddress: string;
  disabled: boolean;
  createdAt: string;
  updatedAt: string;
}

const LIST = "/users/@me/projects";
const create = (caller: TestCaller, body: unknown) => server.call<Project>("POST", LIST, caller, body);
const list = async (caller: TestCaller) => (await server.call<Project[]>("GET", LIST, caller)).body;
const patch = (caller: TestCaller, id: string, body: unknown) =>
  server.call<Project>("PATCH", `${LIST}/${id}`, caller, body);
const refusePatch = (caller: TestCaller, id: string, body: unknown) =>
  server.call("PATCH", `${LIST}/${id}`, caller, body);
const rotate = (caller: TestCaller, id: string) =>
  server.call<Project>("POST", `${LIST}/${id}/regenerate-keys`, caller);
const readdress = (caller: TestCaller, id: string) =>
  server.call<Project>("POST", `${LIST}/${id}/regenerate-inbound-address`, caller);
const statusWith = async (key: string, call = server.call) =>
  (await call(contacts.listContacts, { key })).status;

test("a new project belongs to its creator, with both keys and the default settings", async () => {
  const { cookie } = await server.signUp();
  const reply = await create({ cookie }, { name: "  Shop  " });
  expect(reply.status).toBe(201);
  expect(reply.body).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    name: "Shop",
    public: expect.stringMatching(/^pk_[A-Za-z0-9]{48}$/),
    secret: expect.stringMatching(/^sk_[A-Za-z0-9]{48}$/),
    role: "OWNER",
    language: "en",
    tracking: "ENABLED",
    whenInDoubt: "RETRY",
    suppressionList: false,
    defaultFrom: null,
    sendingRate: null,
    eventRetentionDays: null,
    emailRetentionDays: null,
    postalAddress: null,
    logoUrl: null,
    brand: {
      background: "#f5f5f4",
      surface: "#ffffff",
      ink: "#1c1917",
      accent: "#2f3437",
      font: "sans",
      footerAlign: "center",
      footerLogo: true,
    },
    inboundAddress: expect.stringMatching(/^[0-9a-f]{20}@in\.example$/),
    disabled: false,
    removal: null,
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    updatedAt: reply.body.createdAt,
  });
  expect(await list({ cookie })).toEqual([reply.body]);
});

test("limits the projects that a person owns, not counting other people's", async () => {
  const { owner } = await server.createProject();
  await server.rows(
    `with made as (
       insert into projects (id, name) select gen_random_uuid(), 'One more' from generate_series(1, $2) returning id
     )
     insert into memberships (project_id, user_id, role)
     select id, $1, case when row_number() over () = 1 then 'ADMIN' else 'OWNER' end from made`,
    owner.id,
    LIMITS.projects.value - 1,
  );
  const make = () =>
    server.call(projects.createProject, { cookie: owner.cookie }, { body: { name: "One more" } });
  const both = await Promise.all([make(), make()]);
  expect(both.map(({ status }) => status).toSorted()).toEqual([201, 409]);
  await server.rows("delete from projects where name = 'One more'");
});

test("lists only the user's own projects, newest first, as a bare array", async () => {
  const { cookie } = await server.signUp();
  expect(await list({ cookie })).toEqual([]);
  const first = await create({ cookie }, { name: "First" });
  const second = await create({ cookie }, { name: "Second" });
  expect((await list({ cookie })).map(({ id }) => id)).toEqual([second.body.id, first.body.id]);
});

test.for([
  [{}, ["name required"]],
  [{ name: "" }, ["name too_small"]],
  [{ name: "   " }, ["name too_small"]],
  [{ name: "x".repeat(101) }, ["name too_big"]],
  [{ name: "a\r\nb" }, ["name invalid_string"]],
  [{ name: 5 }, ["name invalid_type"]],
  [[], ["body invalid_type"]],
  [null, ["body invalid_type"]],
] as Array<[unknown, string[]]>)("rejects a project with %j and reports %j", async ([body, faults]) => {
  const reply = await server.call("POST", LIST, { cookie: server.project.owner.cookie }, body);
  expect(reply.status).toBe(422);
  expect(faultsOf(reply)).toEqual(faults);
});

test("a change keeps missing fields", async () => {
  const { id, owner } = await server.createProject();
  const caller = { cookie: owner.cookie };
  await patch(caller, id, { name: "Renamed" });
  await patch(caller, id, { language: "pt-BR" });
  await patch(caller, id, { whenInDoubt: "WAIT" });
  const reply = await patch(caller, id, { tracking: "MARKETING_ONLY" });
  expect(reply.status).toBe(200);
  expect(reply.body).toMatchObject({
    name: "Renamed",
    language: "pt-BR",
    tracking: "MARKETING_ONLY",
    whenInDoubt: "WAIT",
    defaultFrom: null,
  });
  expect((await patch(caller, id, {})).body).toMatchObject({ name: "Renamed", language: "pt-BR" });
});

test.for([
  ["ada@example.com", "ada@example.com"],
  ["Ada <ADA@example.com>", '"Ada" <ada@example.com>'],
  [{ email: "ada@example.com", name: 'Ada "The" \\ L.' }, '"Ada \\"The\\" \\\\ L." <ada@example.com>'],
  [{ email: "ada@example.com" }, "ada@example.com"],
  [null, null],
] as Array<[unknown, string | null]>)("stores the default sender %j as %s", async ([input, kept]) => {
  const { id, owner } = server.project;
  const caller = { cookie: owner.cookie };
  const reply = await patch(caller, id, { defaultFrom: input });
  expect(reply.status).toBe(200);
  expect(reply.body.defaultFrom).toBe(kept);
  // The response is a valid request.
  expect((await patch(caller, id, { defaultFrom: reply.body.defaultFrom })).body.defaultFrom).toBe(kept);
});

test("sets and unsets the footer, sending rate and retention settings", async () => {
  const { id, owner } = await server.createProject();
  const set = {
    sendingRate: 5,
    eventRetentionDays: 30,
    emailRetentionDays: 3650,
    postalAddress: "  Shop Ltd \r\n\r\n 1 Main St\rTown ",
    logoUrl: " https://shop.example/logo.png?a=b c ",
  };
  const { body } = await patch({ cookie: owner.cookie }, id, set);
  expect(body).toMatchObject({
    sendingRate: 5,
    eventRetentionDays: 30,
    emailRetentionDays: 3650,
    postalAddress: "Shop Ltd\n1 Main St\nTown",
    logoUrl: "https://shop.example/logo.png?a=b%20c",
  });
  const unset = {
    sendingRate: null,
    eventRetentionDays: null,
    emailRetentionDays: null,
    postalAddress: null,
    logoUrl: null,
  };
  expect((await patch({ cookie: owner.cookie }, id, unset)).body).toMatchObject(unset);
});

test.for([
  [{ sendingRate: 0 }, "sendingRate too_small"],
  [{ sendingRate: 1.5 }, "sendingRate invalid_type"],
  [{ sendingRate: 10_001 }, "sendingRate too_big"],
  [{ eventRetentionDays: 29 }, "eventRetentionDays too_small"],
  [{ eventRetentionDays: 3651 }, "eventRetentionDays too_big"],
  [{ eventRetentionDays: "30" }, "eventRetentionDays invalid_type"],
  [{ emailRetentionDays: 29 }, "emailRetentionDays too_small"],
  [{ emailRetentionDays: 3651 }, "emailRetentionDays too_big"],
  [{ emailRetentionDays: 30.5 }, "emailRetentionDays invalid_type"],
  [{ postalAddress: " \n " }, "postalAddress too_small"],
  [{ postalAddress: "a\u0007b" }, "postalAddress invalid_string"],
  [{ postalAddress: Array(9).fill("line").join("\n") }, "postalAddress too_big"],
  [{ postalAddress: "a".repeat(501) }, "postalAddress too_big"],
  ...[
    "http://a.example/l.png",
    "javascript:alert(1)",
    "//a.example/l",
    "https://u:p@a.example/",
    "https://localhost/l",
    "https://a.example:8443/l",
    "data:image/png;base64,AA",
  ].map((logoUrl): [unknown, string] => [{ logoUrl }, "logoUrl invalid_string"]),
] as Array<[unknown, string]>)("rejects %j", async ([body, fault]) => {
  const { id, owner } = server.project;
  expect(faultsOf(await refusePatch({ cookie: owner.cookie }, id, body))).toEqual([fault]);
});

const AUDIT =
  "select details from audit_log where project_id = $1 and action = 'project.updated' order by number";

test("changes only the given parts of the brand, and records them", async () => {
  const { id, owner } = await server.createProject();
  const caller = { cookie: owner.cookie };
  const { body } = await patch(caller, id, {
    brand: { accent: "#FFD400", font: "verdana", footerLogo: false },
  });
  expect(body).toMatchObject({
    brand: { accent: "#ffd400", font: "verdana", footerLogo: false, ink: "#1c1917", footerAlign: "center" },
  });
  // The response is a valid request.
  expect((await patch(caller, id, body)).status).toBe(200);
  expect(await server.rows(AUDIT, id)).toEqual([
    {
      details: {
        brandAccent: { from: "#2f3437", to: "#ffd400" },
        brandFont: { from: "sans", to: "verdana" },
        brandFooterLogo: { from: true, to: false },
      },
    },
  ]);
});

test("rejects text that is hard to read on the stored or the given background", async () => {
  const { id, owner } = await server.createProject();
  const caller = { cookie: owner.cookie };
  const refused = await refusePatch(caller, id, { brand: { ink: "#aaaaaa" } });
  expect(faultsOf(refused)).toEqual(["brand.ink custom"]);
  expect(faultsOf(await refusePatch(caller, id, { brand: { surface: "#000000" } }))).toEqual([
    "brand.ink custom",
  ]);
  const dark = { ink: "#f9fafb", surface: "#111827" };
  expect((await patch(caller, id, { brand: dark })).body).toMatchObject({ brand: dark });
  expect(faultsOf(await refusePatch(caller, id, { brand: { accent: "red", font: "Papyrus" } }))).toEqual([
    "brand.accent invalid_string",
    "brand.font invalid_enum_value",
  ]);
});

test("reports every invalid setting together and changes nothing", async () => {
  const { id, owner } = await server.createProject();
  const caller = { cookie: owner.cookie };
  const [before] = await list(caller);
  const reply = await refusePatch(caller, id, {
    name: "",
    language: "klingon",
    tracking: "SOMETIMES",
    whenInDoubt: "GUESS",
    defaultFrom: "nobody",
  });
  expect(reply.status).toBe(422);
  expect(faultsOf(reply)).toEqual([
    "defaultFrom invalid_string",
    "language invalid_string",
    "name too_small",
    "tracking invalid_enum_value",
    "whenInDoubt invalid_enum_value",
  ]);
  expect(await list(caller)).toEqual([before]);
});

test("ignores protected fields", async () => {
  const { id, owner } = await server.createProject();
  const reply = await patch({ cookie: owner.cookie }, id, {
    id: randomUUID(),
    disabled: true,
    role: "MEMBER",
    public: "pk_mine",
    secret: "sk_mine",
    createdAt: "2000-01-01T00:00:00Z",
  });
  expect(reply.body).toMatchObject({ id, disabled: false, role: "OWNER" });
  expect(reply.body.secret).not.toBe("sk_mine");
});

test("members see the public key, admins see both and change settings and keys", async () => {
  const project = await server.createProject();
  const { cookie, id: userId } = await server.signUp();
  await server.rows("insert into memberships values ($1, $2, 'MEMBER')", project.id, userId);
  expect((await list({ cookie }))[0]).toMatchObject({
    role: "MEMBER",
    public: project.publicKey,
    secret: null,
  });
  expect(errorOf(await refusePatch({ cookie }, project.id, { name: "Mine" }))).toBe("403 FORBIDDEN");
  for (const verb of ["regenerate-keys", "regenerate-inbound-address"])
    expect(errorOf(await server.call("POST", `${LIST}/${project.id}/${verb}`, { cookie }))).toBe(
      "403 FORBIDDEN",
    );
  expect(await statusWith(project.secretKey)).toBe(200);
  await server.rows("update memberships set role = 'ADMIN' where user_id = $1", userId);
  expect((await list({ cookie }))[0]).toMatchObject({ role: "ADMIN", secret: project.secretKey });
  expect((await patch({ cookie }, project.id, { name: "Ours" })).body).toMatchObject({ name: "Ours" });
  expect((await rotate({ cookie }, project.id)).status).toBe(200);
  expect((await readdress({ cookie }, project.id)).status).toBe(200);
});

test("regenerated keys invalidate the old ones on every server from the next request", async () => {
  const another = await server.startAnother();
  const project = await server.createProject();
  for (const call of [server.call, another.call]) expect(await statusWith(project.secretKey, call)).toBe(200);
  const reply = await rotate({ cookie: project.owner.cookie }, project.id);
  expect(reply.status).toBe(200);
  expect(reply.body).toMatchObject({ id: project.id });
  for (const call of [server.call, another.call]) {
    expect(await statusWith(project.secretKey, call)).toBe(401);
    expect(await statusWith(reply.body.secret, call)).toBe(200);
    const track = (key: string) =>
      call(v1.track, { key }, { body: { email: "ada@example.com", event: "opened" } });
    expect(errorOf(await track(project.publicKey))).toBe("401 INVALID_API_KEY");
    expect((await track(reply.body.public)).status).toBe(200);
  }
});

test("a disabled project can still replace its leaked keys and address", async () => {
  const project = await server.createProject();
  const caller = { cookie: project.owner.cookie };
  const [before] = await list(caller);
  await server.rows("update projects set disabled = true where id = $1", project.id);
  const { body } = await rotate(caller, project.id);
  expect([await statusWith(project.secretKey), await statusWith(body.secret)]).toEqual([401, 200]);
  const after = (await readdress(caller, project.id)).body;
  expect(after).toMatchObject({ disabled: true, secret: body.secret });
  expect(after.inboundAddress).not.toBe(before?.inboundAddress);
  expect(await list(caller)).toEqual([after]);
});

test("exactly one visible pair remains after twenty concurrent rotations", async () => {
  const project = await server.createProject();
  const caller = { cookie: project.owner.cookie };
  const replies = await Promise.all(Array.from({ length: 20 }, () => rotate(caller, project.id)));
  expect(replies.map(({ status }) => status)).toEqual(Array(20).fill(200));
  const [current] = await list(caller);
  const statuses = await Promise.all(replies.map(({ body }) => statusWith(body.secret)));
  expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  expect(await statusWith(current?.secret ?? "")).toBe(200);
  expect(await server.rows("select kind from api_keys where project_id = $1 order by 1", project.id)).toEqual(
    [{ kind: "public" }, { kind: "secret" }],
  );
});

test("no key can be read from the database", async () => {
  const { id, publicKey, secretKey } = server.project;
  const rows = await server.rows<{ row: string; sealed: string }>(
    "select t::text as row, encode(sealed, 'escape') as sealed from api_keys t where project_id = $1",
    id,
  );
  expect(rows).toHaveLength(2);
  const stored = JSON.stringify(rows);
  for (const key of [publicKey, secretKey])
    for (const written of [key, key.slice(3), Buffer.from(key).toString("hex")])
      expect(stored).not.toContain(written);
});
