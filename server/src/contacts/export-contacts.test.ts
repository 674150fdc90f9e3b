// CSV export of contacts: complete, in a stable format, safe in spreadsheets, and unchanged after an import.
import { Readable } from "node:stream";
import type { KyselyPlugin } from "kysely";
import * as contactImport from "@postloft/contract/contact-import.ts";
import * as contactsContract from "@postloft/contract/contacts.ts";
import * as segments from "@postloft/contract/segments.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { expect, test } from "vitest";
import { faultsOf, errorOf, useTestServer, type TestCaller } from "../testing/test-server.ts";
import { endOfImport, uploadCsv } from "../testing/upload.ts";
import { writeContacts } from "./export-contacts.ts";

const server = useTestServer();

const exportAll = (caller: TestCaller, query = "") =>
  server.call(contactImport.exportContacts, caller, { anyQuery: query });
const linesOf = async (caller: TestCaller, query = "") => (await exportAll(caller, query)).text.split("\r\n");

async function addContacts(
  projectId: string,
  contacts: ReadonlyArray<{ email: string; data?: object; subscribed?: boolean }>,
) {
  await server.rows(
    `insert into contacts (project_id, id, email, subscribed, data, created_at)
     select $1, new_id(), c.email, coalesce(c.subscribed, true), coalesce(c.data, '{}'), '2026-01-31T10:00:00.5Z'
     from jsonb_to_recordset($2::jsonb) as c (email text, subscribed boolean, data jsonb)`,
    projectId,
    JSON.stringify(contacts),
  );
}

test("the file has all contacts, oldest first, with registered keys before all other keys", async () => {
  const { id, byKey } = await server.createProject(server.project.owner);
  for (const [email, data] of [
    ["ada@example.com", { zeta: 1 }],
    ["bob@example.com", { alpha: "a", zeta: null }],
  ] as const)
    await server.call(contactsContract.upsertContact, byKey, { body: { email, data } });
  await addContacts(id, [{ email: "eve@example.com", data: { gamma: true, beta: [1] }, subscribed: false }]);
  await server.rows(
    "insert into contact_fields (project_id, field, type) values ($1, 'never', 'string')",
    id,
  );
  const reply = await exportAll(byKey);
  expect(reply.headers.get("content-type")).toBe("text/csv; charset=utf-8; header=present");
  expect(reply.headers.get("content-disposition")).toBe('attachment; filename="contacts.csv"');
  expect(reply.text.replaceAll(INSTANT, "T")).toBe(
    [
      "email,subscribed,createdAt,zeta,alpha,beta,gamma",
      "ada@example.com,true,T,1,,,",
      "bob@example.com,true,T,,a,,",
      "eve@example.com,false,T,,,[1],true",
      "",
    ].join("\r\n"),
  );
  expect(reply.text).toContain("2026-01-31T10:00:00.500Z");
});

test("the file of an empty project has only the header and no contact of other projects", async () => {
  const { byKey } = await server.createProject();
  expect(await linesOf(byKey)).toEqual(["email,subscribed,createdAt", ""]);
});

const asText = (value: string) =>
  encodeURIComponent(
    JSON.stringify({ operator: "AND", conditions: [{ field: "email", operator: "startsWith", value }] }),
  );

test("all filters of the list apply to the file, and an unknown segment returns 404", async () => {
  const { id, byKey } = await server.createProject(server.project.owner);
  await addContacts(id, [
    { email: "a_1@example.com", data: { only: "here" } },
    { email: "ab1@example.com", subscribed: false },
    { email: "c@example.com" },
  ]);
  const emails = async (query: string) =>
    (await linesOf(byKey, query)).slice(1, -1).map((line) => line.split(",")[0]);
  expect(await emails("?search=A_1")).toEqual(["a_1@example.com"]);
  expect(await emails("?subscribed=false")).toEqual(["ab1@example.com"]);
  expect(await emails("?search=1@&subscribed=true")).toEqual(["a_1@example.com"]);
  expect((await linesOf(byKey, "?subscribed=false"))[0]).toBe("email,subscribed,createdAt");
  const addSegment = async (segment: object) =>
    (await server.call(segments.createSegment, byKey, { body: { name: "S", ...segment } })).body.id;
  const having = { operator: "AND", conditions: [{ field: "data.only", operator: "exists" }] };
  const dynamic = await addSegment({ filters: having });
  const fixed = await addSegment({ type: "STATIC" });
  const members = { emails: ["c@example.com", "ab1@example.com"] };
  await server.call(segments.addSegmentMembers, byKey, { params: { id: fixed }, body: members });
  expect(await emails(`?segmentId=${dynamic}`)).toEqual(["a_1@example.com"]);
  expect(await emails(`?segmentId=${fixed}&subscribed=true`)).toEqual(["c@example.com"]);
  expect(await emails(`?filters=${asText("a_")}`)).toEqual(["a_1@example.com"]);
  for (const [text, fault] of [
    ["{", "filters invalid_string"],
    [asText("").replace("startsWith", "begins"), "filters.conditions.0.operator invalid_enum_value"],
  ])
    expect(
      faultsOf(await server.call(contactImport.exportContacts, byKey, { anyQuery: `?filters=${text}` })),
    ).toEqual([fault]);
  expect(
    faultsOf(
      await server.call(contactImport.exportContacts, byKey, { anyQuery: "?subscribed=1&segmentId=x" }),
    ),
  ).toEqual(["segmentId invalid_string", "subscribed invalid_enum_value"]);
  const unknown = "/contacts/export.csv?segmentId=00000000-0000-7000-8000-000000000000";
  expect(errorOf(await server.call("GET", unknown, byKey))).toBe("404 SEGMENT_NOT_FOUND");
});

const INSTANT = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;
const byEmail = (one: { email: string }, other: { email: string }) => (one.email < other.email ? -1 : 1);
const timeless = (csv: string) => csv.replaceAll(INSTANT, "").split("\r\n").toSorted();
const ODD = [
  {
    email: "=1+1@example.com",
    data: { formula: "=HYPERLINK(1)", plus: "+49 30", minus: "-1", at: "@x", tab: "\tx", cr: "\rx" },
  },
  {
    email: "'quoted@example.com",
    data: { text: 'a "b", c\r\nd', apostrophe: "'=1", zip: "01234", digits: "42", word: "true" },
  },
  {
    email: "types@example.com",
    subscribed: false,
    data: { n: -1.5, b: false, list: [1, { a: "=1" }], object: { "=x": null }, json: "[1]", blanks: " x " },
  },
  {
    email: "names@example.com",
    data: {
      subscribed: "not the field",
      createdAt: 1,
      "data.x": 1,
      "=key": 1,
      " blank ": 1,
      'a "b", c': 1,
      Email: 1,
    },
  },
];

test("exported contacts import unchanged, and no cell is a formula", async () => {
  const [one, other] = [
    await server.createProject(server.project.owner),
    await server.createProject(server.project.owner),
  ];
  await addContacts(one.id, ODD);
  const { text } = await exportAll(one.byKey);
  // A cell begins at the start of a line or after a comma. A quoted cell begins after the quote.
  const lines = text.replaceAll("\r\n", "\n");
  expect(lines).not.toMatch(/(^|[,\n])"?[=+@\t\r]/);
  expect(lines).not.toMatch(/(^|[,\n])"?-(?!1\.5)/);
  const { body } = await uploadCsv(server.call, other.byKey, text);
  const { result } = await endOfImport(server.call, other.byKey, body.jobId);
  expect(result).toMatchObject({ createdCount: ODD.length, failureCount: 0, ignoredColumns: ["createdAt"] });
  const contacts = await server.rows<{ email: string }>(
    "select email, subscribed, data from contacts where project_id = $1",
    other.id,
  );
  const expected = ODD.map(({ email, subscribed = true, data }) => ({ email, subscribed, data }));
  expect(contacts.toSorted(byEmail)).toEqual(expected.toSorted(byEmail));
  expect(timeless((await exportAll(other.byKey)).text)).toEqual(timeless(text));
});

test("an export has as many columns as an import accepts, and no empty key", async () => {
  const [one, other] = [
    await server.createProject(server.project.owner),
    await server.createProject(server.project.owner),
  ];
  const keys = Array.from({ length: LIMITS.fields.value }, (_, at) => `k${at}`);
  const data = Object.fromEntries(keys.map((key) => [key, 1]));
  // Data stored before empty keys were rejected.
  await addContacts(one.id, [{ email: "ada@example.com", data: { ...data, "": 1 } }]);
  const { body } = await uploadCsv(server.call, other.byKey, (await exportAll(one.byKey)).text);
  const { result } = await endOfImport(server.call, other.byKey, body.jobId);
  expect(result).toMatchObject({ createdCount: 1, failureCount: 0 });
  const imported = "select data from contacts where project_id = $1";
  expect(await server.rows(imported, other.id)).toEqual([{ data }]);
  const [contact] = await server.rows<{ id: string }>(
    "select id from contacts where project_id = $1",
    one.id,
  );
  await server.call("PATCH", `/contacts/${contact?.id}`, one.byKey, { data: { "": null } });
  expect(await server.rows(imported, one.id)).toEqual([{ data }]);
});

const MANY = 6_500;

test("a long file has no gaps or repeats and is read only as fast as the client takes it", async () => {
  const { id, byKey } = await server.createProject(server.project.owner);
  await server.rows(
    `insert into contacts (project_id, id, email, subscribed, data)
     select $1, new_id(), 'p' || n || '@example.com', true, jsonb_build_object('n', n) from generate_series(1, $2) n`,
    id,
    MANY,
  );
  const lines = (await linesOf(byKey)).slice(1, -1);
  expect(lines).toHaveLength(MANY);
  expect(new Set(lines.map((line) => line.split(",")[0])).size).toBe(MANY);

  let statements = 0;
  const counting: KyselyPlugin = {
    transformQuery({ node }) {
      statements++;
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  const { effects } = server.database;
  const counted = Object.assign(server.database.withPlugin(counting), { effects });
  const stream = Readable.from(writeContacts(counted, id, []));
  const chunks = stream[Symbol.asyncIterator]();
  for (let taken = 0; taken < 3; taken++) await chunks.next();
  await new Promise((resolve) => setTimeout(resolve, 50));
  // Two key scans, the registered keys, and two batches of which one is buffered.
  const readSoFar = statements;
  expect(readSoFar).toBeLessThanOrEqual(6);
  stream.destroy();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(statements).toBe(readSoFar);
});
