// List of contacts over HTTP: filters, sort orders, and cursors in each order.
import { expect, test } from "vitest";
import * as contacts from "@postloft/contract/contacts.ts";
import * as segments from "@postloft/contract/segments.ts";
import { newId } from "../platform/ids.ts";
import {
  responsesByName,
  faultsOf,
  errorOf,
  sameByName,
  useTestServer,
  type TestProject,
} from "../testing/test-server.ts";
import type { ResponseOf } from "../testing/typed-call.ts";

const server = useTestServer({ ROLES: "api" });
/** For 60 MB of data on a slow machine. */
const PATIENT = { timeout: 180_000 };

type ContactList = ResponseOf<typeof contacts.listContacts>;

const call = ({ byKey }: TestProject, query: string) =>
  server.call(contacts.listContacts, byKey, { anyQuery: `?${query}` });
const list = async (project: TestProject, query: string) => (await call(project, query)).body;

/** Walks all pages of a list and returns the local parts of the addresses. */
async function walk(project: TestProject, query: string): Promise<string[]> {
  const names: string[] = [];
  for (let cursor = ""; ;) {
    const page = await list(project, `${query}&limit=7${cursor}`);
    names.push(...page.data.map(({ email }) => email.split("@")[0] ?? ""));
    expect(page.hasMore).toBe(page.cursor !== null);
    if (page.cursor === null) return names;
    cursor = `&cursor=${page.cursor}`;
  }
}

/**
 * Creates contacts with different address and creation orders, every fifth of them unsubscribed. Returns the local parts in
 * creation order.
 */
async function fill({ id }: TestProject, count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, at) => `${(at * 37) % 101}-${at}`);
  await server.rows(
    `insert into contacts (project_id, id, email, subscribed)
     select $1, unnest($2::uuid[]), unnest($3::text[]), unnest($4::boolean[])`,
    id,
    names.map(() => newId()),
    names.map((name) => `${name}@example.com`),
    names.map((_, at) => at % 5 !== 0),
  );
  return names;
}

const byAddress = (names: readonly string[]) =>
  names.toSorted((one, other) => (`${one}@` < `${other}@` ? -1 : 1));

test("each order lists every contact once, forwards and backwards", async () => {
  const project = await server.createProject();
  const names = await fill(project, 30);
  await fill(await server.createProject(), 10);
  expect(await walk(project, "")).toEqual(names.toReversed());
  expect(await walk(project, "sort=createdAt")).toEqual(names.toReversed());
  expect(await walk(project, "sort=createdAt&dir=asc")).toEqual(names);
  expect(await walk(project, "dir=asc")).toEqual(names);
  expect(await walk(project, "sort=email")).toEqual(byAddress(names));
  expect(await walk(project, "sort=email&dir=asc")).toEqual(byAddress(names));
  expect(await walk(project, "sort=email&dir=desc")).toEqual(byAddress(names).toReversed());
});

test("filters work in each order and together, and the total counts the matches", async () => {
  const project = await server.createProject();
  const names = await fill(project, 60);
  const unsubscribed = names.filter((_, at) => at % 5 === 0);
  const found = unsubscribed.filter((name) => name.includes("5"));
  expect(await walk(project, "subscribed=false")).toEqual(unsubscribed.toReversed());
  expect(await walk(project, "subscribed=true")).toHaveLength(48);
  expect(await walk(project, "subscribed=false&sort=email")).toEqual(byAddress(unsubscribed));
  expect(await walk(project, "subscribed=false&search=5")).toEqual(found.toReversed());
  expect(await walk(project, "subscribed=false&search=5&sort=email&dir=desc")).toEqual(
    byAddress(found).toReversed(),
  );
  const first = await list(project, "subscribed=false&limit=5");
  expect(first).toMatchObject({ total: 12, hasMore: true });
  expect(await list(project, `subscribed=false&limit=5&cursor=${first.cursor}`)).toMatchObject({ total: 0 });
  expect(await list(project, "subscribed=false&search=5&limit=1")).toMatchObject({ total: found.length });
});

test("finds rare matches far back in the list and common ones page by page", async () => {
  const project = await server.createProject();
  await server.rows(
    `insert into contacts (project_id, id, email, subscribed)
     select $1, new_id(), case when n % 1000 = 0 then 'rare' else 'many' end || n || '@example.com', n <> 5
     from generate_series(1, 5000) n`,
    project.id,
  );
  const rare = ["rare5000", "rare4000", "rare3000", "rare2000", "rare1000"];
  expect((await walk(project, "search=rare")).toSorted()).toEqual(rare.toSorted());
  expect(await walk(project, "search=rare&sort=email")).toEqual(rare.toReversed());
  expect(await walk(project, "subscribed=false")).toEqual(["many5"]);
  expect(await walk(project, "subscribed=false&sort=email")).toEqual(["many5"]);
  expect(await walk(project, "search=rare&subscribed=false")).toEqual([]);
  const many = await list(project, "search=many&sort=email&dir=desc&limit=3");
  expect(many.total).toBe(4_995);
  expect(many.data.map(({ email }) => email)).toEqual([
    "many9@example.com",
    "many99@example.com",
    "many999@example.com",
  ]);
});

test("searches farther without counting when the nearest contacts almost fill a page", async () => {
  const project = await server.createProject();
  await server.rows(
    `insert into contacts (project_id, id, email, subscribed)
     select $1, new_id(), case when n % 1000 = 0 then 'rare' else 'many' end || n || '@example.com', true
     from generate_series(1, 20000) n`,
    project.id,
  );
  const page = await list(project, "search=rare&sort=email&dir=asc&limit=13&withTotal=false");
  const all = Array.from({ length: 20 }, (_, at) => `rare${(at + 1) * 1_000}`);
  expect(page.total).toBe(all.length);
  const newest = await list(project, "search=rare&limit=13&withTotal=false");
  expect(newest).toMatchObject({ total: 0, hasMore: true });
  expect((await walk(project, "search=rare")).toSorted()).toEqual(all.toSorted());
});

test("a segment filter lists its members in each order, and an unknown segment returns 404", async () => {
  const project = await server.createProject();
  const names = await fill(project, 20);
  const segmentId = newId();
  await server.rows(
    "insert into segments (project_id, id, name, type, slug) values ($1, $2, 's', 'STATIC', 's')",
    project.id,
    segmentId,
  );
  await server.rows(
    `insert into segment_members (project_id, segment_id, contact_id)
     select project_id, $2, id from contacts where project_id = $1 and email like any(array['1%', '2%'])`,
    project.id,
    segmentId,
  );
  const members = names.filter((name) => /^[12]/.test(name));
  expect(await walk(project, `segmentId=${segmentId}`)).toEqual(members.toReversed());
  expect(await walk(project, `segmentId=${segmentId.toUpperCase()}&sort=email`)).toEqual(byAddress(members));
  expect(await list(project, `segmentId=${segmentId}&subscribed=false`)).toMatchObject({
    total: members.filter((name) => Number(name.split("-")[1]) % 5 === 0).length,
  });
  const dynamic = await server.call(segments.createSegment, project.byKey, {
    body: {
      name: "Begin with one",
      filters: { operator: "AND", conditions: [{ field: "email", operator: "startsWith", value: "1" }] },
    },
  });
  const ones = names.filter((name) => name.startsWith("1"));
  expect(await walk(project, `segmentId=${dynamic.body.id}`)).toEqual(ones.toReversed());
  const elsewhere = await server.createProject();
  for (const [asking, id] of [
    [elsewhere, segmentId],
    [project, newId()],
  ] as const)
    expect(errorOf((await call(asking, `segmentId=${id}`)) as never)).toBe("404 SEGMENT_NOT_FOUND");
});

test("a cursor continues in its order, survives row deletion, and exposes no other project", async () => {
  const project = await server.createProject();
  const names = byAddress(await fill(project, 12));
  const first = await list(project, "sort=email&dir=desc&limit=4");
  await server.rows("delete from contacts where id = $1", first.data.at(-1)?.id);
  const rest = names.toReversed().slice(4, 8);
  for (const order of ["", "&sort=email", "&dir=desc", "&sort=email&dir=desc"]) {
    const page = await list(project, `limit=4&cursor=${first.cursor}${order}`);
    expect(page.data.map(({ email }) => email.split("@")[0])).toEqual(rest);
  }
  const elsewhere = await server.createProject();
  expect((await list(elsewhere, `cursor=${first.cursor}`)).data).toEqual([]);
});

const cursorOf = (text: string) => Buffer.from(text).toString("base64url");

test("rejects cursors of another order and cursors that this list did not return", async () => {
  const project = await server.createProject();
  await fill(project, 5);
  const byMail = (await list(project, "sort=email&limit=1")).cursor ?? "";
  const byTime = (await list(project, "limit=1")).cursor ?? "";
  const queries = {
    "by address, asked by time": `sort=createdAt&cursor=${byMail}`,
    "by address, asked backwards": `sort=email&dir=desc&cursor=${byMail}`,
    "by time, asked by address": `sort=email&cursor=${byTime}`,
    "by time, asked forwards": `dir=asc&cursor=${byTime}`,
    "of other lists": `cursor=${cursorOf(`events:createdAt:desc:${newId()}`)}`,
    "of an older form": `cursor=${cursorOf(`contacts:${newId()}`)}`,
    "of an order there is not": `cursor=${cursorOf("contacts:name:asc:x")}`,
    "an address by time": `cursor=${cursorOf("contacts:createdAt:desc:a@example.com")}`,
    "an id by address": `cursor=${cursorOf(`contacts:email:asc:${newId()}`)}`,
    "an address that is not canonical": `cursor=${cursorOf("contacts:email:asc:A@example.com")}`,
    "a NUL": `cursor=${cursorOf("contacts:email:asc:a\0@example.com")}`,
    "more parts": `cursor=${cursorOf("contacts:email:asc:a@example.com:x")}`,
    "something after it": `cursor=${byMail}!!`,
  };
  const names = Object.keys(queries) as Array<keyof typeof queries>;
  expect(
    await responsesByName(names, String, async (name) =>
      errorOf((await call(project, queries[name])) as never),
    ),
  ).toEqual(sameByName(names, String, () => "400 BAD_REQUEST"));
});

test.for([
  ["subscribed=yes", ["subscribed invalid_enum_value"]],
  ["subscribed=", ["subscribed invalid_enum_value"]],
  ["sort=name", ["sort invalid_enum_value"]],
  ["dir=up&sort=", ["dir invalid_enum_value", "sort invalid_enum_value"]],
  ["segmentId=5", ["segmentId invalid_string"]],
  ["sort=email&sort=email", ["sort invalid_enum_value"]],
] as Array<[string, string[]]>)("GET /contacts?%s returns 422", async ([query, faults]) => {
  const reply = await server.call(contacts.listContacts, server.project.byKey, { anyQuery: `?${query}` });
  expect([reply.status, faultsOf(reply)]).toEqual([422, faults]);
});

const PRO_OR_FIVE = {
  operator: "OR",
  conditions: [
    { field: "data.plan", operator: "equals", value: "pro" },
    {
      operator: "AND",
      conditions: [
        { field: "email", operator: "contains", value: "5" },
        { field: "subscribed", operator: "equals", value: false },
      ],
    },
  ],
};

const ask = ({ byKey }: TestProject, body: object) =>
  server.call(contacts.searchContacts, byKey, { anyBody: body });

/** Returns whether `fill` created this contact as unsubscribed. */
const isOff = (name: string) => Number(name.split("-")[1]) % 5 === 0;

/** Walks all pages of a search like `walk`. */
async function walkSearch(project: TestProject, body: object): Promise<string[]> {
  const names: string[] = [];
  for (let cursor: string | null = null; ;) {
    const { body: page } = await ask(project, { ...body, limit: 7, ...(cursor === null ? {} : { cursor }) });
    names.push(...page.data.map(({ email }) => email.split("@")[0] ?? ""));
    if (page.cursor === null) return names;
    cursor = page.cursor;
  }
}

test("conditions filter in each order and combine with all other filters", async () => {
  const project = await server.createProject();
  const names = await fill(project, 60);
  await server.rows(
    `update contacts set data = '{"plan":"pro"}' where project_id = $1 and email like '1%'`,
    project.id,
  );
  const found = names.filter((name) => name.startsWith("1") || (name.includes("5") && isOff(name)));
  expect(await walkSearch(project, {})).toEqual(names.toReversed());
  expect(await walkSearch(project, { filters: PRO_OR_FIVE })).toEqual(found.toReversed());
  expect(await walkSearch(project, { filters: PRO_OR_FIVE, sort: "email" })).toEqual(byAddress(found));
  const narrow = { filters: PRO_OR_FIVE, subscribed: false, search: "1", dir: "asc" };
  const both = found.filter((name) => isOff(name) && name.includes("1"));
  expect(await walkSearch(project, narrow)).toEqual(both);
  expect((await ask(project, { ...narrow, limit: 1 })).body.total).toBe(both.length);
});

test("without the total, pages still work and return it if it is known for free", async () => {
  const project = await server.createProject();
  const names = await fill(project, 20);
  const many = { filters: PRO_OR_FIVE, withTotal: false };
  expect(await list(project, "withTotal=false&limit=5")).toMatchObject({ total: 0, hasMore: true });
  expect(await list(project, "search=@&withTotal=false&limit=5")).toMatchObject({ total: 0, hasMore: true });
  const { body: few } = await ask(project, many);
  expect(few.total).toBe(few.data.length);
  expect(few.data.length).toBeLessThan(names.length);
  expect((await ask(project, { ...many, limit: 1 })).body.hasMore).toBe(few.data.length > 1);
});

test("a quick total is exact or 0", async () => {
  const project = await server.createProject();
  const names = await fill(project, 60);
  expect(await list(project, "withTotal=quick&limit=5")).toMatchObject({
    total: names.length,
    hasMore: true,
  });
  expect(await list(project, "withTotal=quick&search=@&limit=5")).toMatchObject({ total: names.length });
  const all = { filters: PRO_OR_FIVE, limit: 1 };
  const { total } = (await ask(project, all)).body;
  expect((await ask(project, { ...all, withTotal: "quick" })).body.total).toBe(total);
  // The texts are long. Checking one contact is fast, but checking all of them exceeds the time limit.
  await server.rows(
    `insert into contacts (project_id, id, email, subscribed, data)
     select $1, new_id(), 'many' || n || '@example.com', true, jsonb_build_object('text', repeat('b', 3000) || 'a')
     from generate_series(1, 20001) n`,
    project.id,
  );
  const conditions = [{ field: "data.text", operator: "contains", value: "a" }];
  const long = { filters: { operator: "AND", conditions }, limit: 1 };
  expect((await ask(project, { ...long, withTotal: "quick" })).body).toMatchObject({
    total: 0,
    hasMore: true,
  });
  expect((await ask(project, long)).body.total).toBe(20_001);
  const refused = await ask(project, { ...all, withTotal: "soon" });
  expect(faultsOf(refused)).toEqual(["withTotal invalid_union"]);
});

test(
  "short pages find rare matches in partial pages, each contact once, in each order",
  PATIENT,
  async () => {
    const project = await server.createProject();
    // The texts are long and not indexed, so checking all contacts takes longer than one partial page.
    await server.rows(
      `insert into contacts (project_id, id, email, subscribed, data)
     select $1, new_id(), lpad(n::text, 5, '0') || '@example.com', true,
       jsonb_build_object('text', repeat('b', 2000) || case when n in (700, 701, 6001, 12000, 14000, 29900) then 'a' else '' end)
     from generate_series(1, 30000) n`,
      project.id,
    );
    const filters = {
      operator: "AND",
      conditions: [{ field: "data.text", operator: "contains", value: "a" }],
    };
    // In address order, two of these are the first and the last contact of a checked range.
    const rare = ["00700", "00701", "06001", "12000", "14000", "29900"];
    for (const sort of ["createdAt", "email"] as const) {
      const pages: ContactList[] = [];
      for (let cursor: string | null | undefined; cursor !== null; cursor = pages.at(-1)?.cursor) {
        const body = { filters, sort, limit: 2, withTotal: "quick", shortPages: true };
        pages.push((await ask(project, { ...body, ...(cursor === undefined ? {} : { cursor }) })).body);
      }
      const found = pages.flatMap(({ data }) => data);
      const key = sort === "email" ? "email" : "id";
      expect(found).toEqual(
        found.toSorted((one, other) => (one[key] < other[key] === (key === "email") ? -1 : 1)),
      );
      expect(found.map(({ email }) => email.slice(0, 5)).toSorted()).toEqual(rare);
      // Partial pages report the number of checked contacts and do not count.
      expect(pages.filter(({ lookedAt }) => lookedAt !== undefined).length).toBeGreaterThan(0);
      for (const { lookedAt, cursor, hasMore, total } of pages)
        expect([hasMore, total, lookedAt !== undefined && !hasMore]).toEqual([cursor !== null, 0, false]);
    }
    // Without `shortPages`, every page is full except the last.
    expect((await ask(project, { filters, limit: 3 })).body).toMatchObject({ total: 6, hasMore: true });
  },
);

test("short pages return indexed, nearby and rare matches immediately, with the total", async () => {
  const project = await server.createProject();
  const names = await fill(project, 60);
  const all = { withTotal: "quick", shortPages: true } as const;
  const few = (await ask(project, { ...all, filters: PRO_OR_FIVE })).body;
  expect(few).toEqual((await ask(project, { filters: PRO_OR_FIVE })).body);
  expect((await ask(project, { ...all, search: "@", limit: 5 })).body).toMatchObject({
    total: names.length,
    hasMore: true,
  });
  await server.rows(
    `insert into contacts (project_id, id, email, subscribed)
     select $1, new_id(), 'many' || n || '@example.com', true from generate_series(1, 13000) n`,
    project.id,
  );
  // A busy machine may exceed the time limit of the index lookup, and then the page is partial.
  await expect
    .poll(async () => list(project, "search=37-1@&withTotal=quick&shortPages=true"), { timeout: 30_000 })
    .toMatchObject({ data: [{ email: "37-1@example.com" }], total: 1, cursor: null });
});

test("a statement over the time limit returns an error on the conditions", async () => {
  const project = await server.createProject();
  const client = await server.pool.connect();
  const waiting =
    "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  try {
    for (const path of ["/contacts/search", "/segments/preview"]) {
      await client.query("begin; lock table contacts in access exclusive mode");
      const asked = server.call("POST", path, project.byKey, { filters: PRO_OR_FIVE });
      // Cancels the statement as PostgreSQL does after a timeout, without waiting for the timeout.
      await expect
        .poll(async () => (await client.query(`select pg_cancel_backend(pid) from (${waiting}) w`)).rowCount)
        .toBeGreaterThan(0);
      await client.query("rollback");
      const reply = await asked;
      expect([reply.status, faultsOf(reply)]).toEqual([422, ["filters custom"]]);
    }
  } finally {
    client.release();
  }
});

test("an invalid filter, or one with a segment of another project, returns an error on its field", async () => {
  const [project, elsewhere] = [await server.createProject(), await server.createProject()];
  const { body: foreign } = await server.call(segments.createSegment, elsewhere.byKey, {
    body: {
      name: "Theirs",
      type: "STATIC",
    },
  });
  const bad = { operator: "AND", conditions: [{ field: "data.plan", operator: "within", value: "x" }] };
  expect(faultsOf(await ask(project, { filters: bad, limit: 0, subscribed: "yes" }))).toEqual([
    "filters.conditions.0.unit required",
    "filters.conditions.0.value invalid_type",
    "limit too_small",
    "subscribed invalid_type",
  ]);
  for (const id of [foreign.id, newId()]) {
    const conditions = [{ field: `segment.${id}`, operator: "memberOfSegment" }];
    const reply = await ask(project, { filters: { operator: "AND", conditions } });
    expect(faultsOf(reply)).toEqual(["filters custom"]);
  }
});
