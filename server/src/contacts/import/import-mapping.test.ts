// Imports with a mapping and options: columns, subscription rules, and reports.
import { expect, test } from "vitest";
import { readFileSync } from "node:fs";
import * as contactImport from "@postloft/contract/contact-import.ts";
import * as contacts from "@postloft/contract/contacts.ts";
import * as segments from "@postloft/contract/segments.ts";
import type { ErrorEnvelope } from "../../platform/http/errors.ts";
import { errorOf, useTestServer, type TestProject } from "../../testing/test-server.ts";
import { endOfImport, uploadCsv, uploadOf } from "../../testing/upload.ts";
import { zipOf } from "../../testing/zip.ts";

const server = useTestServer();

async function importInto(
  { byKey }: TestProject,
  content: string | Buffer,
  { query = "", mapping }: { query?: string; mapping?: unknown } = {},
) {
  const reply = await uploadCsv(server.call, byKey, content, query, mapping);
  expect(`${reply.status} ${reply.text}`).toMatch(/^202 /);
  const job = await endOfImport(server.call, byKey, reply.body.jobId);
  expect(job.state).toBe("completed");
  return job;
}

async function problemsOf(content: string | Buffer, mapping: unknown, query = ""): Promise<string[]> {
  const reply = await uploadCsv<ErrorEnvelope>(server.call, server.project.byKey, content, query, mapping);
  expect(errorOf(reply)).toBe("422 VALIDATION_ERROR");
  return (reply.body.error.errors ?? []).map(({ field, message }) => `${field}: ${message}`);
}

const newProject = () => server.createProject(server.project.owner);
const readContacts = ({ id }: TestProject) =>
  server.rows<{ email: string; subscribed: boolean; data: Record<string, unknown> }>(
    "select email, subscribed, data from contacts where project_id = $1 order by email",
    id,
  );
const readStatuses = async (project: TestProject) =>
  (await readContacts(project)).map(({ email, subscribed }) => `${email.split("@")[0]} ${subscribed}`);

const PEOPLE =
  "Mail,Wants it,Since,Joined Us\na@x.org,si senor,03/02/2024,1\nb@x.org,never again,04/02/2024,2\nc@x.org,?,,3\n";
const MAPPING = [
  {
    column: "Wants it",
    target: "status",
    values: { "Si Senor": "subscribed", "never again": "suppressed", "?": "skip" },
  },
  { column: 3, target: "field", field: "since", dateFormat: "DMY" },
  { column: "joined us", target: "ignore" },
];

test("a mapping sets the columns, and a dry run returns the same result as the real run", async () => {
  const project = await newProject();
  const dry = await importInto(project, PEOPLE, { query: "?dryRun=true", mapping: MAPPING });
  expect(await readContacts(project)).toEqual([]);
  const { result } = await importInto(project, PEOPLE, { mapping: MAPPING });
  expect({ ...dry.result, dryRun: false }).toEqual(result);
  expect(result).toMatchObject({
    totalRows: 3,
    successCount: 2,
    subscribedCount: 1,
    suppressedCount: 1,
    unsubscribedCount: 0,
    skippedCount: 1,
    ignoredColumns: ["Joined Us"],
    warnings: [],
  });
  expect(result.mapping.map(({ target, field, type, why }) => [target, field, type, why])).toEqual([
    ["email", null, "auto", "name"],
    ["status", null, "auto", "given"],
    ["field", "since", "date", "given"],
    ["ignore", null, "auto", "given"],
  ]);
  expect(await readContacts(project)).toEqual([
    { email: "a@x.org", subscribed: true, data: { since: "2024-02-03" } },
    { email: "b@x.org", subscribed: false, data: { since: "2024-02-04" } },
  ]);
  expect(
    await server.rows("select email, reason from suppressions where project_id = $1", project.id),
  ).toEqual([{ email: "b@x.org", reason: "IMPORT" }]);
});

const TWO = "email,plan,plan\na@x.org,1,2\n";
const WRONG: Array<[string, string, unknown, RegExp]> = [
  [
    "a missing column",
    "email,plan\na@x.org,1\n",
    [{ column: "Plan B", target: "ignore" }],
    /^mapping\.0: The file has no column "Plan B". Its columns are "email", "plan"/,
  ],
  [
    "a position after the last column",
    "email,plan\na@x.org,1\n",
    [{ column: 3, target: "ignore" }],
    /^mapping\.0: The file has no column 3/,
  ],
  [
    "a repeated column",
    "email,plan\na@x.org,1\n",
    [
      { column: 2, target: "ignore" },
      { column: "plan", target: "field" },
    ],
    /^mapping\.1: The mapping contains the column "plan" twice/,
  ],
  [
    "a name shared by two columns",
    TWO,
    [{ column: "plan", target: "ignore" }],
    /^mapping\.0: 2 columns are named "plan": 2, 3/,
  ],
  [
    "one field for two columns",
    "email,a,b\na@x.org,1,2\n",
    [{ column: "b", target: "field", field: "a" }],
    /^mapping\.0: Column 3 has the same name as column 2/,
  ],
  [
    "two email columns",
    "email,b\na@x.org,1\n",
    [
      { column: "email", target: "email" },
      { column: "b", target: "email" },
    ],
    /^mapping\.1: The columns "email" and "b" are both mapped to email/,
  ],
  [
    "no email column",
    "email,b\na@x.org,1\n",
    [{ column: "email", target: "ignore" }],
    /^file: No column has email addresses/,
  ],
  [
    "values of a field",
    "email,b\na@x.org,1\n",
    [{ column: "b", target: "field", values: { a: "skip" } }],
    /^mapping\.0: Only the target status can have values/,
  ],
  ["an unknown key", "email,b\na@x.org,1\n", [{ column: "b", traget: "ignore" }], /^mapping\.0/],
  [
    "an unknown status",
    "email,b\na@x.org,1\n",
    [{ column: "b", target: "status", values: { a: "gone" } }],
    /^mapping\.0\.values\.a/,
  ],
  [
    "an own field",
    "email,b\na@x.org,1\n",
    [{ column: "b", target: "field", field: "unsubscribeUrl" }],
    /^mapping\.0: The field "unsubscribeUrl" is filled in by the service/,
  ],
];

test.for(WRONG)(
  "rejects a mapping with %s and names it in the message",
  async ([, content, mapping, sentence]) => {
    const before = await server.countRows();
    expect((await problemsOf(content, mapping))[0]).toMatch(sentence);
    expect(await server.countRows()).toEqual(before);
  },
);

test("accepts repeated column names if the mapping distinguishes them", async () => {
  const project = await newProject();
  await importInto(project, TWO, { mapping: [{ column: 3, target: "field", field: "next" }] });
  expect((await readContacts(project))[0]?.data).toEqual({ plan: 1, next: 2 });
});

test("an import does not resubscribe a contact that left unless resubscribe is set", async () => {
  const project = await newProject();
  for (const email of ["left@x.org", "silent@x.org"])
    await server.call(contacts.upsertContact, project.byKey, { body: { email, subscribed: false } });
  const file = "email,status,n\nleft@x.org,active,1\nsilent@x.org,,1\nnew@x.org,active,1\n";
  const dry = await importInto(project, file, { query: "?dryRun=true" });
  const { result } = await importInto(project, file);
  expect([dry.result.keptUnsubscribedCount, result.keptUnsubscribedCount]).toEqual([1, 1]);
  expect(await readStatuses(project)).toEqual(["left false", "new true", "silent false"]);
  expect((await readContacts(project))[0]?.data).toEqual({ n: 1 });
  const again = await importInto(project, file, { query: "?resubscribe=true" });
  expect(again.result.keptUnsubscribedCount).toBe(0);
  expect(await readStatuses(project)).toEqual(["left true", "new true", "silent false"]);
});

test("the stricter of two contradicting columns wins, and the result reports it", async () => {
  const project = await newProject();
  const file = "email,opt_in,unsubscribed\na@x.org,yes,no\nb@x.org,yes,yes\nc@x.org,no,no\n";
  const { result } = await importInto(project, file);
  expect(await readStatuses(project)).toEqual(["a true", "b false", "c false"]);
  expect(result.warnings).toMatchObject([{ code: "status.contradiction", values: { count: 2, row: 3 } }]);
});

test("an unknown status is a row error, and an unused status is a warning with the column name", async () => {
  const project = await newProject();
  const file = "email,status\na@x.org,active\nb@x.org,gold\n";
  const { result } = await importInto(project, file);
  expect(await readStatuses(project)).toEqual(["a true"]);
  expect(result.errors.map(({ row, error }) => `${row} ${error}`)).toEqual([
    '3 "gold" in the column status is not a known subscription status. Correct it, or map it to a status.',
  ]);
  expect(result.warnings).toMatchObject([
    { code: "status.unknown", column: "status", values: { words: "gold" } },
  ]);
  const unused = await importInto(project, file, { mapping: [{ column: "status", target: "field" }] });
  expect(unused.result.warnings).toMatchObject([{ code: "status.unused", column: "status" }]);
});

test("imported contacts join a static segment, and other segments are rejected immediately", async () => {
  const project = await newProject();
  const make = async (body: object) =>
    (await server.call(segments.createSegment, project.byKey, { body: { name: "Imported", ...body } })).body
      .id;
  const segment = await make({ type: "STATIC" });
  const file = "email,status\na@x.org,active\nb@x.org,unsubscribed\nbad,active\na@x.org,active\n";
  const query = `?segmentId=${segment}`;
  const dry = await importInto(project, file, { query: `${query}&dryRun=true` });
  const { result } = await importInto(project, file, { query });
  expect([dry.result.segmentAddedCount, result.segmentAddedCount]).toEqual([2, 2]);
  expect((await importInto(project, file, { query })).result.segmentAddedCount).toBe(0);
  const { body } = await server.call(segments.getSegment, project.byKey, { params: { id: segment } });
  expect(body.memberCount).toBe(2);
  const dynamic = await make({
    name: "Pro",
    filters: { logic: "AND", conditions: [{ field: "data.plan", operator: "equals", value: "pro" }] },
  });
  const refused = await uploadCsv<ErrorEnvelope>(server.call, project.byKey, file, `?segmentId=${dynamic}`);
  expect(errorOf(refused)).toBe("422 VALIDATION_ERROR");
  const missing = "?segmentId=00000000-0000-7000-8000-000000000000";
  expect(errorOf(await uploadCsv<ErrorEnvelope>(server.call, project.byKey, file, missing))).toBe(
    "404 SEGMENT_NOT_FOUND",
  );
});

test("values become dates, empty cells, localized numbers, or texts that look like numbers", async () => {
  const project = await newProject();
  const types = readFileSync(
    new URL("../../../../contract/src/contact-file/exports/types.csv", import.meta.url),
  );
  const plain = await importInto(project, types);
  expect(plain.result.warnings.map(({ code, column }) => `${code} ${column}`)).toEqual([
    "date.ambiguous date4",
    "date.ambiguous date5",
  ]);
  expect((await readContacts(project))[0]?.data).toEqual({
    zip: "02108",
    phone: "+4930123456",
    phone2: "0301234567",
    sci: "1e5",
    big: "12345678901234567890",
    dec: 1.5,
    decde: "1,5",
    neg: -5,
    bool1: true,
    bool2: false,
    bool3: "yes",
    date1: "2024-02-03",
    date2: "2024-02-03T04:05:06Z",
    date3: "2024-02-03T04:05:06Z",
    date4: "03/02/2024",
    date5: "3.2.2024",
    date6: "2024-02-03",
    date7: "2024-02-03T03:05:06Z",
    epoch: 1706933106,
    json: { a: 1 },
    list: [1, 2],
    pct: "12%",
    money: "$5.00",
  });
  const mapping = ["date4", "date5", "date6"].map((column) => ({
    column,
    target: "field",
    type: "date",
    dateFormat: "DMY",
  }));
  const chosen = await importInto(project, types, {
    query: "?decimal=comma",
    mapping: [
      ...mapping,
      { column: "bool3", target: "field", type: "boolean" },
      { column: "pct", target: "field", type: "number" },
    ],
  });
  expect((await readContacts(project))[0]?.data).toMatchObject({
    date4: "2024-02-03",
    date5: "2024-02-03",
    date6: "2024-02-03",
    bool3: true,
    decde: 1.5,
    pct: "12%",
  });
  expect(chosen.result.warnings).toMatchObject([
    { code: "value.other", column: "pct", values: { count: 1, row: 2 } },
  ]);
});

test("headers valid in templates and known fields keep their names, and others become valid keys", async () => {
  const project = await newProject();
  await server.call(contacts.upsertContact, project.byKey, {
    body: { email: "a@x.org", data: { "Last Name": "A" } },
  });
  const { result } = await importInto(
    project,
    "email,plan,First Name,Last Name,,data.Old Name\na@x.org,pro,Ada,L,5,O\n",
  );
  expect((await readContacts(project))[0]?.data).toEqual({
    plan: "pro",
    firstName: "Ada",
    "Last Name": "L",
    column5: 5,
    "Old Name": "O",
  });
  expect(result.warnings).toMatchObject([
    { code: "column.unnamed", values: { position: 5, key: "column5" } },
  ]);
});

test("a corrected errors.csv can be imported again", async () => {
  const project = await newProject();
  const file =
    'Name;Mail;n;when\nAda;a@x.org;1;2024-01-01\n"Bob; B";b@x;-5;"=1+1"\nCy;"c@x.org, d@x.org";007;\nE;e@x.org;1;2;3\n';
  const job = await importInto(project, file);
  expect(job.result).toMatchObject({ totalRows: 4, createdCount: 1, failureCount: 3 });
  const errors = await server.call(contactImport.getImportErrors, project.byKey, {
    params: { jobId: job.id },
  });
  const lines = errors.text.trimEnd().split("\r\n");
  expect(lines).toEqual([
    "Name,Mail,n,when,import_row,import_error",
    '"Bob; B",b@x,-5,\'=1+1,3,"The domain needs at least two parts, such as example.com."',
    'Cy,"c@x.org, d@x.org",007,,4,The cell contains more than one address. Put each address in a separate row.',
    'E,e@x.org,1,2,5,"The row has 5 cells, but there are 4 columns. A cell that contains a separator must be in quotes.",3',
  ]);
  const again = await importInto(project, errors.text);
  expect(again.result).toMatchObject({
    totalRows: 3,
    failureCount: 3,
    ignoredColumns: ["import_row", "import_error"],
  });
  const fixed = errors.text
    .replace("b@x,", "b@x.org,")
    .replace('"c@x.org, d@x.org"', "c@x.org")
    .replace(/,3\r\n$/, "\r\n");
  const { result } = await importInto(project, fixed);
  expect(result).toMatchObject({ totalRows: 3, createdCount: 3, failureCount: 0 });
  expect((await readContacts(project)).map(({ data }) => data)).toEqual([
    { Name: "Ada", n: 1, when: "2024-01-01" },
    { Name: "Bob; B", n: -5, when: "=1+1" },
    { Name: "Cy", n: "007" },
    { Name: "E", n: 1, when: 2 },
  ]);
});

test("reports cleaned addresses, decodes Windows-1252, and numbers rows of a file part", async () => {
  const project = await newProject();
  const file = Buffer.from('name,email\nJörg,"Ada <a@x.org>"\nX,nobody\n', "latin1");
  const { result } = await importInto(project, file, { query: "?rowOffset=1000" });
  expect(result.notes).toEqual([
    { row: 1002, column: "email", code: "address.cleaned", cell: "Ada <a@x.org>", value: "a@x.org" },
  ]);
  expect(result.errors.map(({ row }) => row)).toEqual([1003]);
  expect(result.warnings.map(({ code }) => code)).toEqual(["encoding.guessed"]);
  expect((await readContacts(project))[0]?.data).toEqual({ name: "Jörg" });
});

const HEADER = "Email Address,First Name,LEID";
const MAILCHIMP = {
  "subscribed_email_audience_export_1.csv": `${HEADER},TAGS\ns@x.org,S,1,"""VIP"""\n`,
  "nonsubscribed_email_audience_export_1.csv": `${HEADER}\nn@x.org,N,2\n`,
  "unsubscribed_email_audience_export_1.csv": `${HEADER},UNSUB_TIME\nu@x.org,U,3,2024-02-03 09:15:00\n`,
  "cleaned_email_audience_export_1.csv": `${HEADER},CLEAN_TIME\nc@x.org,C,4,2024-02-03 09:15:00\nbad,B,5,\n`,
};

test("reads Mailchimp's archive as one file and subscribes only its subscribed contacts", async () => {
  const project = await newProject();
  const { result } = await importInto(project, zipOf(MAILCHIMP));
  expect(await readStatuses(project)).toEqual(["c false", "n false", "s true", "u false"]);
  expect(result).toMatchObject({
    subscribedCount: 1,
    unsubscribedCount: 2,
    suppressedCount: 1,
    failureCount: 1,
  });
  expect(result.warnings).toMatchObject([
    {
      code: "archive.joined",
      values: { files: expect.stringContaining("cleaned_email_audience_export_1.csv (rows 5 to 6)") },
    },
  ]);
  expect(await server.rows("select email from suppressions where project_id = $1", project.id)).toEqual([
    { email: "c@x.org" },
  ]);
});

test("reads the status of a Mailchimp file from its name if it has no status column", async () => {
  const people = "Email Address,LEID\nnever@x.org,1\n";
  for (const [filename, expected] of [
    ["nonsubscribed_email_audience_export_1.csv", ["never false"]],
    ["subscribed_email_audience_export_1.csv", ["never true"]],
    ["audience.csv", ["never true"]],
  ] as const) {
    const project = await newProject();
    const { contentType, body } = uploadOf(people, { filename });
    const headers = { ...project.byKey.headers, "content-type": contentType };
    const queued = await server.call<{ jobId: string }>(
      "POST",
      "/contacts/import",
      { ...project.byKey, headers },
      body,
    );
    await endOfImport(server.call, project.byKey, queued.body.jobId);
    expect(await readStatuses(project)).toEqual(expected);
  }
  const project = await newProject();
  await importInto(project, "Email Address,n\nplain@x.org,1\n");
  expect(await readStatuses(project)).toEqual(["plain true"]);
});

const BOMB = Buffer.alloc(40 * 1024 * 1024, "a");
const ARCHIVES: Array<[string, Buffer, RegExp]> = [
  ["a bomb", zipOf({ "contacts.csv": BOMB }), /more than 5242880 bytes in total/],
  [
    "1,000 files",
    zipOf(Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`${at}.csv`, "email\n"]))),
    /more than 20 CSV files/,
  ],
  ["no CSV", zipOf({ "readme.md": "hello" }), /no CSV file/],
  ["a faulty row", zipOf({ "a.csv": 'email,n\n"a@x.org"b,1\n' }), /Row 2 of a\.csv cannot be read/],
  ["a truncated end", zipOf(MAILCHIMP).subarray(0, 200), /ZIP archive cannot be read/],
];

test.for(ARCHIVES)(
  "rejects an archive with %s and names it in the message",
  async ([, archive, sentence]) => {
    const before = await server.countRows();
    expect((await problemsOf(archive, undefined))[0]).toMatch(sentence);
    expect(await server.countRows()).toEqual(before);
  },
);
