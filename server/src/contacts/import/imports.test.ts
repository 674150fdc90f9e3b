// Imports over HTTP: accepted formats, immediate errors, and row errors.
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import * as contactImport from "@postloft/contract/contact-import.ts";
import * as contacts from "@postloft/contract/contacts.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { ErrorEnvelope } from "../../platform/http/errors.ts";
import {
  responsesByName,
  faultsOf,
  errorOf,
  useTestServer,
  type TestCaller,
} from "../../testing/test-server.ts";
import { endOfImport, uploadCsv, uploadOf } from "../../testing/upload.ts";
import { zipOf } from "../../testing/zip.ts";

const server = useTestServer();

const upload = (content: string | Buffer, query = "", caller: TestCaller = server.project.byKey) =>
  uploadCsv(server.call, caller, content, query);

async function importInto(caller: TestCaller, content: string | Buffer, query = "") {
  const reply = await upload(content, query, caller);
  expect(`${reply.status} ${reply.text}`).toMatch(/^202 /);
  return endOfImport(server.call, caller, reply.body.jobId);
}

const readContacts = (projectId: string) =>
  server.rows<{ email: string; subscribed: boolean; data: Record<string, unknown> }>(
    "select email, subscribed, data from contacts where project_id = $1 order by email",
    projectId,
  );

const ADA = { email: "ada@example.com", subscribed: true, data: { name: "Ada", age: 36 } };
const BOB = { email: "bob@example.com", subscribed: false, data: { name: "Bob; B", age: 7 } };
const SAME: Record<string, string | Buffer> = {
  commas: "email,name,age,subscribed\nada@example.com,Ada,36,\nbob@example.com,Bob; B,7,no\n",
  "semicolons, CRLF":
    'EMAIL;name;age;Subscribed\r\nADA@example.com;Ada;36;\r\nbob@example.com;"Bob; B";7;0\r\n',
  "tabs, CR": "Email\tname\tage\tsubscribed\r ada@example.com \tAda\t36\t\rbob@example.com\tBob; B\t7\tFALSE",
  "a byte order mark":
    "\ufeffemail,name,age,subscribed\nada@example.com,Ada,36,\nbob@example.com,Bob; B,7,n\n",
  "everything in quotes, prefixes":
    '"email","data.name","data.age","subscribed"\n"ada@example.com","Ada","36",""\n"bob@example.com","Bob; B","7","False"\n',
  "UTF-16 LE": Buffer.from(
    "\ufeffemail,name,age,subscribed\nada@example.com,Ada,36,\nbob@example.com,Bob; B,7,no\n",
    "utf16le",
  ),
  "UTF-16 BE": Buffer.from(
    "\ufeffemail,name,age,subscribed\nada@example.com,Ada,36,\nbob@example.com,Bob; B,7,no\n",
    "utf16le",
  ).swap16(),
  "empty lines, cells that are missing, cells too many but empty":
    "\nemail,name,age,subscribed\n\nada@example.com,Ada,36\n,,,\nbob@example.com,Bob; B,7,no,,\n",
  "columns of the service":
    "email,id,createdAt,updatedAt,data.email,unsubscribeUrl,name,age,subscribed\nada@example.com,1,2,3,4,5,Ada,36,\nbob@example.com,1,2,3,4,5,Bob; B,7,no\n",
};

test("a file imports the same in every format", async () => {
  const imported = await responsesByName(
    Object.entries(SAME),
    ([name]) => name,
    async ([, content]) => {
      const { id, byKey } = await server.createProject(server.project.owner);
      const { state, result } = await importInto(byKey, content);
      return {
        state,
        total: result.totalRows,
        created: result.createdCount,
        contacts: await readContacts(id),
      };
    },
  );
  const expected = { state: "completed", total: 2, created: 2, contacts: [ADA, BOB] };
  expect(imported).toEqual(Object.fromEntries(Object.keys(SAME).map((name) => [name, expected])));
});

test("values get the type they look like, empty cells change nothing, and fields are registered", async () => {
  const { id, byKey } = await server.createProject(server.project.owner);
  const header = "email,n,minus,no,yes,zip,phone,exp,long,day,text,mark,list,kept,nothing,secret";
  const row = `ada@example.com,1.50,-3,FALSE,true,01234,+49 30,1e5,12345678901234567890,2026-01-31,a,'42,"[1,{""a"":2}]",,"","{""value"":1,""persistent"":false}"`;
  await server.call(contacts.upsertContact, byKey, {
    body: { email: "ada@example.com", data: { kept: "as it was" } },
  });
  const { result } = await importInto(byKey, `${header}\n${row}\n`);
  expect(result).toMatchObject({ totalRows: 1, createdCount: 0, updatedCount: 1, failureCount: 0 });
  expect((await readContacts(id))[0]?.data).toEqual({
    n: 1.5,
    minus: -3,
    no: false,
    yes: true,
    zip: "01234",
    phone: "+49 30",
    exp: "1e5",
    long: "12345678901234567890",
    day: "2026-01-31",
    text: "a",
    mark: "42",
    list: [1, { a: 2 }],
    kept: "as it was",
  });
  const fields = await server.rows<{ field: string; type: string }>(
    "select field, type from contact_fields where project_id = $1",
    id,
  );
  const types = Object.fromEntries(fields.map(({ field, type }) => [field, type]));
  expect(types).toMatchObject({ n: "number", no: "boolean", day: "date", zip: "string", mark: "string" });
  expect(types).not.toHaveProperty("nothing");
});

const MAYBE =
  '"maybe" in the column subscribed is not a known subscription status. Correct it, or map it to a status.';

test("subscribed cells unsubscribe anyone, subscribe only new contacts, and log each flip", async () => {
  const { id, byKey } = await server.createProject(server.project.owner);
  for (const [email, subscribed] of [
    ["a@example.com", false],
    ["b@example.com", true],
    ["c@example.com", false],
    ["d@example.com", true],
    ["h@example.com", false],
  ])
    await server.call("POST", "/contacts", byKey, { email, subscribed });
  const words = [
    "a@example.com,YES",
    "b@example.com,0",
    "c@example.com,",
    "d@example.com,true",
    "e@example.com,",
    "f@example.com,N",
    "g@example.com,maybe",
  ];
  const { result } = await importInto(byKey, `email,subscribed\n${words.join("\n")}\n`);
  expect(result).toMatchObject({ totalRows: 7, createdCount: 2, updatedCount: 4, failureCount: 1 });
  expect(result.errors).toEqual([
    {
      row: 8,
      email: "g@example.com",
      error: MAYBE,
      errorParts: [
        {
          code: "row.subscribed",
          values: { column: "subscribed", value: '"maybe"' },
          text: MAYBE,
        },
      ],
    },
  ]);
  expect((await readContacts(id)).map(({ email, subscribed }) => `${email[0]} ${subscribed}`)).toEqual([
    "a false",
    "b false",
    "c false",
    "d true",
    "e true",
    "f false",
    "h false",
  ]);
  const flips = await server.rows<{ email: string; name: string }>(
    `select c.email, e.name from events e join contacts c on c.project_id = e.project_id and c.id = e.contact_id
     where e.project_id = $1 order by c.email`,
    id,
  );
  expect(flips).toEqual([{ email: "b@example.com", name: "contact.unsubscribed" }]);
  const log = await server.rows<{ email: string; actor: string }>(
    `select c.email, l.actor from consent_changes l join contacts c on c.project_id = l.project_id and c.id = l.contact_id
     where l.project_id = $1 and l.source = 'import' order by c.email`,
    id,
  );
  expect(log.map(({ email, actor }) => `${email[0]} ${actor}`)).toEqual(["b key", "e key", "f key"]);
});

const XLSX = Buffer.from("504b030414000600080000002100", "hex");
const many = (count: number) => Array.from({ length: count }, (_, at) => `,k${at}`).join("");
const REFUSED: Array<[string, string | Buffer, RegExp]> = [
  ["no content", "", /empty/],
  ["only blanks", " \n\r\n", /empty/],
  [
    "no addresses",
    "name,mail address of work\nAda,\n",
    /No column has email addresses. The columns are \\?"name/,
  ],
  ["a broken workbook", XLSX, /ZIP archive cannot be read/],
  ["an Excel workbook", zipOf({ "[Content_Types].xml": "", "xl/workbook.xml": "" }), /Excel workbook/],
  ["an old workbook", Buffer.from("d0cf11e0a1b11ae1", "hex"), /Excel/],
  ["an archive", gzipSync("email\n"), /gzip/],
  ["NUL characters", "email\nada@example.com\u0000\n", /NUL/],
  ["UTF-16 without a mark", Buffer.from("email\nada@example.com\n", "utf16le"), /NUL/],
  ["half a UTF-16 pair", Buffer.from("\ufeffemail\n\ud800\n", "utf16le"), /incomplete characters/],
  ["10,000 columns", `email${many(9_999)}\n`, /10000 columns, but at most 2003/],
  ["__proto__", "email,__proto__\n", /Column 2 cannot be a key of data: The name __proto__/],
  ["constructor with a prefix", "email,a,data.constructor\n", /Column 3/],
  ["a repeated name", "email,name,age,name\n", /same name as column 4/],
  ["a name repeated with a prefix", "email,name,data.name\n", /Column 3 has the same name/],
  ["two email columns", "email,Email\n", /same name as column 2/],
  ["two subscribed columns", "email,subscribed,Subscribed\n", /same name as column 3/],
  ["only a prefix", "email,data.\n", /Column 2 has no name/],
  ["a name that is too long", `email,${"x".repeat(256)}\n`, /more than 255 characters/],
  [
    "an unclosed quote",
    'email,name\nada@example.com,"Ada\nbob@example.com,Bob\n',
    /Row 2 opens a quoted cell that is never closed/,
  ],
  ["an unclosed quote in the header", 'email,"name\nada@example.com,Ada\n', /first row cannot be read/],
  ["a header without an end", "email,".repeat(500_000), /first row cannot be read/],
  [
    "more than 5 MB",
    Buffer.concat([Buffer.from("email\n"), Buffer.alloc(LIMITS.importFileBytes.value, "x")]),
    /at most 5242880 bytes/,
  ],
];

test.for(REFUSED)(
  "rejects a file with %s immediately, with a message about it",
  async ([, content, sentence]) => {
    const before = await server.countRows();
    const reply = await uploadCsv<ErrorEnvelope>(server.call, server.project.byKey, content);
    expect(errorOf(reply)).toBe("422 VALIDATION_ERROR");
    expect(reply.body.error.errors?.map(({ field }) => field)).toEqual(["file"]);
    expect(reply.body.error.errors?.[0]?.message).toMatch(sentence);
    expect(await server.countRows()).toEqual(before);
  },
);

test("validates the upload's part, format, size, kind and query", async () => {
  const { byKey } = server.project;
  const send = (body: Buffer | string, contentType: string, query = "") =>
    server.call(
      "POST",
      `/contacts/import${query}`,
      { ...byKey, headers: { "content-type": contentType } },
      body,
    );
  const other = uploadOf("email\n", { part: "data" });
  expect(faultsOf(await send(other.body, other.contentType))).toEqual(["file required"]);
  const file = uploadOf("email\n");
  expect(faultsOf(await send(file.body, file.contentType, "?dryRun=maybe"))).toEqual([
    "dryRun invalid_enum_value",
  ]);
  expect(errorOf(await send(file.body.subarray(0, -10), file.contentType))).toBe("400 INVALID_REQUEST_BODY");
  expect(errorOf(await send(file.body, "multipart/form-data"))).toBe("400 INVALID_REQUEST_BODY");
  for (const type of ["text/csv", "application/json", "application/x-www-form-urlencoded"])
    expect(errorOf(await send(file.body, type))).toBe("415 UNSUPPORTED_MEDIA_TYPE");
  const large = uploadOf(Buffer.alloc(LIMITS.importBodyBytes.value + 1, "x"));
  expect(errorOf(await send(large.body, large.contentType))).toBe("413 PAYLOAD_TOO_LARGE");
  expect(faultsOf(await server.call(contactImport.importContacts, byKey))).toEqual(["file required"]);
});

test("reports bad rows with their number in the file and continues", async () => {
  const { id, byKey } = await server.createProject(server.project.owner);
  const rows = [
    "email,name,meta",
    "good1@example.com,One,",
    "nobody,Two,",
    ",Three,",
    '"good2@example.com","two',
    'lines",',
    '"x@example.com"y,Four,',
    "",
    "a@example.com,b,c,d",
    'x@example.com,Five,"{""__proto__"":1}"',
    `big@example.com,${"x".repeat(4 * 1024 * 1024)},`,
    "'=good3@example.com,Six,",
    "ada@exa mple.com,Seven,",
  ];
  const job = await importInto(byKey, rows.join("\n"));
  expect(job.result.errors.map(({ row, email }) => `${row} ${email}`)).toEqual([
    "3 nobody",
    "4 ",
    '6 "x@example.com"y',
    "8 a@example.com",
    "9 x@example.com",
    "10 big@example.com",
    "12 ada@exa mple.com",
  ]);
  expect(job.result).toMatchObject({ totalRows: 10, createdCount: 3, updatedCount: 0, failureCount: 7 });
  expect((await readContacts(id)).map(({ email, data }) => [email, data["name"]])).toEqual([
    ["=good3@example.com", "Six"],
    ["good1@example.com", "One"],
    ["good2@example.com", "two\nlines"],
  ]);
  const list = await server.call(contactImport.getImportErrors, byKey, { params: { jobId: job.id } });
  expect(list.headers.get("content-type")).toMatch(/^text\/csv; charset=utf-8/);
  const lines = list.text.split("\r\n");
  expect(lines.slice(0, 4)).toEqual([
    "email,name,meta,import_row,import_error",
    'nobody,Two,,3,"The address has no ""@""."',
    ",Three,,4,The address is empty.",
    '"""x@example.com""y",Four,,6,There is text after a closing quote.',
  ]);
  expect(lines).toHaveLength(9);
});

test("the errors file has all errors, the result has the first 100, and none is a formula", async () => {
  const { byKey } = await server.createProject(server.project.owner);
  const rows = Array.from({ length: 2_345 }, (_, at) => `=cmd|' /C calc'!A${at}`);
  const job = await importInto(byKey, `email\n${rows.join("\n")}\n`);
  expect(job.result).toMatchObject({ totalRows: 2_345, successCount: 0, failureCount: 2_345 });
  expect(job.result.errors).toHaveLength(100);
  const { text } = await server.call(contactImport.getImportErrors, byKey, { params: { jobId: job.id } });
  const lines = text.trimEnd().split("\r\n").slice(1);
  expect(lines).toHaveLength(2_345);
  expect(lines.every((line, at) => line.startsWith("'=cmd") && line.includes(`,${at + 2},`))).toBe(true);
});

test("applies several rows of one address in order and counts each row once", async () => {
  const { id, byKey } = await server.createProject(server.project.owner);
  const rows = [
    "email,a,b,subscribed",
    "ada@example.com,1,,no",
    "ADA@example.com,,2,",
    "bob@example.com,1,,",
    "ada@example.com,3,,yes",
  ];
  const { result } = await importInto(byKey, rows.join("\n"));
  expect(result).toMatchObject({ totalRows: 4, createdCount: 2, updatedCount: 2, failureCount: 0 });
  // The first row unsubscribed this contact, and rows of an import never resubscribe.
  expect(result.keptUnsubscribedCount).toBe(1);
  expect((await readContacts(id))[0]).toEqual({
    email: "ada@example.com",
    subscribed: false,
    data: { a: 3, b: 2 },
  });
});

test("a dry run reports the effects and writes only its own report", async () => {
  const { id, byKey } = await server.createProject(server.project.owner);
  await importInto(byKey, "email\nold@example.com\n");
  const before = await server.countRows();
  const rows = ["email,x", "new@example.com,1", "old@example.com,2", "new@example.com,3", "bad,4"];
  const dry = await importInto(byKey, rows.join("\n"), "?dryRun=true");
  const after = await server.countRows();
  // The earlier entries of the consent log get their checkpoint in the background.
  const meanwhile = { jobs: 0, job_errors: 0, consent_heads: 0, consent_seals: 0, consent_sealed: 0 };
  expect({ ...after, ...meanwhile }).toEqual({ ...before, ...meanwhile });
  const counts = { totalRows: 4, createdCount: 1, updatedCount: 2, failureCount: 1 };
  expect(dry.result).toMatchObject({ ...counts, dryRun: true });
  expect(await readContacts(id)).toEqual([{ email: "old@example.com", subscribed: true, data: {} }]);
  const real = await importInto(byKey, rows.join("\n"));
  expect(real.result).toEqual({ ...dry.result, dryRun: false });
});

test("a dry run of a large file counts addresses, statuses and faults like the import", async () => {
  const { byKey } = await server.createProject(server.project.owner);
  const STATUSES = ["subscribed", "unsubscribed", "", "subscribed"];
  const rows = Array.from({ length: 3_000 }, (_, at) => {
    const address = at % 100 === 99 ? "no address" : `reader-${at % 2_000}@example.com`;
    return `${address},${STATUSES[at % STATUSES.length]},"Reader, ${at}"`;
  });
  const file = ["email,subscribed,name", ...rows].join("\n");
  const dry = await importInto(byKey, file, "?dryRun=true");
  expect(dry.result).toMatchObject({
    totalRows: 3_000,
    createdCount: 1_980,
    updatedCount: 990,
    failureCount: 30,
    unsubscribedCount: 750,
  });
  const real = await importInto(byKey, file);
  expect(real.result).toEqual({ ...dry.result, dryRun: false });
});

test("an import of another project returns the same 404 as an unknown one", async () => {
  const job = await importInto(server.project.byKey, "email\nada@example.com\n");
  const { byKey } = await server.createProject();
  const ids = [job.id, "00000000-0000-7000-8000-000000000000", "nothing"];
  for (const id of ids)
    for (const path of [`/contacts/import/${id}`, `/contacts/import/${id}/errors.csv`])
      expect(errorOf(await server.call("GET", path, byKey))).toBe("404 JOB_NOT_FOUND");
});

test("the same file with the same Idempotency-Key is imported once, with any multipart boundary", async () => {
  const { id, byKey } = await server.createProject();
  const caller = { ...byKey, headers: { "idempotency-key": "import 1" } };
  const first = await upload("email\nada@example.com\n", "", caller);
  const second = await upload("email\nada@example.com\n", "", caller);
  expect(second.headers.get("idempotency-replayed")).toBe("true");
  expect(second.body).toEqual(first.body);
  const other = await uploadCsv<ErrorEnvelope>(server.call, caller, "email\nbob@example.com\n");
  expect(errorOf(other)).toBe("409 IDEMPOTENCY_KEY_REUSED");
  expect(await server.rows("select 1 from jobs where project_id = $1", id)).toHaveLength(1);
});

test("the consent log names the member who imported", async () => {
  const { id, owner, bySession } = await server.createProject();
  await importInto(bySession, "email\nada@example.com\n");
  expect(await server.rows("select source, actor from consent_changes where project_id = $1", id)).toEqual([
    { source: "import", actor: owner.id },
  ]);
});
