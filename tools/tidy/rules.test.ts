// Tests that every house rule finds at least one violation in a small tree, so that no rule passes by accident.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { dependencies, DEPENDENCY_TABLE } from "./dependencies.ts";
import { oneCampaignMove, oneTransaction, workNotifies, workNotifiesBut } from "./commit-effects.ts";
import { links, treeMap } from "./documents.ts";
import { bannedWords, OTHER_MEANINGS } from "./glossary.ts";
import { barrelsAndState, headerNames, headers, oneClock, pathAliases } from "./modules.ts";
import { nounsTogether } from "./nouns.ts";
import { metricsOf, prose } from "./prose.ts";
import { propertyNames, propertyNamesBut } from "./property-names.ts";
import {
  contractImports,
  importsStayInside,
  INNER_ORDERS,
  privateFiles,
  readingOrder,
  READING_ORDER,
  readingOrderShown,
} from "./reading-order.ts";
import { releasedMigrations, releasedMigrationsBut } from "./released-migrations.ts";
import { RULES } from "./rules.ts";
import { sharding, shardingBut } from "./sharding.ts";
import { tablePlaces, tablePlacesBut } from "./table-places.ts";
import { noFixedSleeps, noFixedSleepsBut } from "./sleeps.ts";
import { oneWriterPerTable, sqlInItsPlace } from "./sql.ts";
import { readsInOrder, readsInOrderBut } from "./table-reads.ts";
import { createTree, describeFinding, RATCHET_PATH, readTree, type Rule } from "./tree.ts";
import { everyTestRuns, machinePaths, names, suppressions, unfinishedWork } from "./wording.ts";

/** A tree, and the beginnings of the expected findings. */
type Case = [what: string, rule: Rule, files: Record<string, string>, findings: string[]];

const ROOT = join(import.meta.dirname, "../..");
const MIGRATION = "server/migrations/0001_initial.sql";
/** The SHA-256 of the letter a. */
const HASH_OF_A = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb";
const EMAILS_TABLE = { [MIGRATION]: "-- owner: emails\ncreate table emails (\n  id uuid\n);\n" };

const TABLES = {
  [MIGRATION]:
    "-- owner: users\ncreate table users (\n  id uuid\n);\n-- owner: campaigns\ncreate table campaigns (\n  id uuid\n);\n",
};

const MEANINGS = Object.keys(OTHER_MEANINGS).join(", ");
const GLOSSARY_OF_BANS = `| word | meaning | not |
|---|---|---|
| good | it | automation, blacklist, mailer, mass action, waiting room (of others), gate, ${MEANINGS} |
| mark, gate (of a garden) | it | |
`;

function linesOf(count: number): string {
  return "// line\n".repeat(count);
}

function readme(...mapLines: string[]): string {
  return [
    "# It",
    "```",
    "not/the/map",
    "```",
    "## The map",
    "",
    "```",
    ...mapLines,
    "```",
    "## Next",
    "",
  ].join("\n");
}

const BROKEN: Case[] = [
  // Reading order.
  [
    "a later folder",
    readingOrder,
    { "server/src/contacts/contacts.ts": '// c\nimport { a } from "../campaigns/campaigns.ts";' },
    [
      'server/src/contacts/contacts.ts:2 imports server/src/campaigns/campaigns.ts, but "campaigns" comes after "contacts"',
    ],
  ],
  [
    "a later folder from a sub-folder, by type, export, import() and import type",
    readingOrder,
    {
      "server/src/events/deep/a.ts":
        'import type { A } from "../../domains/a.ts";\nexport { b } from "../../users/b.ts";\nconst c = await import("../../v1/c.ts");\nlet d: import("../../billing/d.ts").D;',
    },
    [1, 2, 3, 4].map((line) => `server/src/events/deep/a.ts:${line} imports`),
  ],
  [
    "a root file",
    readingOrder,
    { "server/src/instance/health.ts": 'import { a } from "../main.ts";' },
    ["server/src/instance/health.ts:1 imports server/src/main.ts. Root files"],
  ],
  [
    "a later subfolder of the same folder",
    readingOrder,
    {
      "server/src/emails/results/a.ts":
        'import "../rows/a.ts";\nimport "./b.ts";\nimport type { B } from "../lease/lease.ts";',
    },
    [
      'server/src/emails/results/a.ts:3 imports server/src/emails/lease/lease.ts, but "lease" comes after "results" inside emails/',
    ],
  ],
  [
    "a later subfolder, from files directly in a folder and to one of them by name",
    readingOrder,
    {
      "server/src/contacts/contacts.ts": 'import "./rules.ts";\nimport "./fields/fields.ts";',
      "server/src/contacts/fields/fields.ts": 'import "../contacts.ts";\nimport "../routes.ts";',
      "server/src/contacts/routes.ts": 'import "./fields/fields.ts";',
    },
    [
      'server/src/contacts/contacts.ts:2 imports server/src/contacts/fields/fields.ts, but "fields" comes after "."',
      'server/src/contacts/fields/fields.ts:2 imports server/src/contacts/routes.ts, but "routes.ts" comes after "fields"',
    ],
  ],
  [
    "an unknown subfolder",
    readingOrder,
    { "server/src/emails/misc/a.ts": "", "server/src/emails/a.ts": "" },
    ['server/src/emails/a.ts is at "."', 'server/src/emails/misc/a.ts is at "misc"'],
  ],
  [
    "a different order in the documents",
    readingOrderShown,
    {
      "ARCHITECTURE.md": [READING_ORDER.toReversed(), ...Object.values(INNER_ORDERS)]
        .map((places) => places.join(" → "))
        .join("\n"),
    },
    ['ARCHITECTURE.md does not contain "platform → '],
  ],
  ["an unknown folder", readingOrder, { "server/src/misc/a.ts": "" }, ['server/src/misc/a.ts is in "misc"']],
  ["a loose file", readingOrder, { "server/src/loose.ts": "" }, ["server/src/loose.ts is directly below"]],
  [
    "a package in the contract",
    contractImports,
    { "contract/src/a.ts": 'import { v7 } from "uuid";' },
    ["contract/src/a.ts:1 imports uuid"],
  ],
  [
    "node in the contract",
    contractImports,
    { "contract/src/a.ts": 'import "node:fs";' },
    ["contract/src/a.ts:1 imports node:fs"],
  ],
  [
    "the server in the contract",
    contractImports,
    { "contract/src/a.ts": 'import "../../server/src/a.ts";' },
    ["contract/src/a.ts:1 imports server/src/a.ts"],
  ],
  [
    "another package by its path",
    importsStayInside,
    {
      "server/src/emails/a.ts":
        'import "../../../contract/src/v1.ts";\nimport "../../../tools/seed/seed.ts";',
      "dashboard/src/a.ts": 'import "../../server/src/emails/emails.ts";',
    },
    [
      "dashboard/src/a.ts:1 imports server/",
      "server/src/emails/a.ts:1 imports contract/",
      "server/src/emails/a.ts:2 imports tools/",
    ],
  ],
  [
    "test support in code",
    importsStayInside,
    { "server/src/emails/a.ts": 'import "../platform/testing/database.ts";' },
    ["server/src/emails/a.ts:1 imports server/src/platform/testing/database.ts, which is test support"],
  ],
  [
    "private files of an earlier folder",
    privateFiles,
    {
      "server/src/v1/send.ts":
        'import "../emails/queries.ts";\nimport "../emails/providers/claim-queries.ts";\nimport "../emails/routes.ts";\nimport "../emails/jobs.ts";',
    },
    [1, 2, 3, 4].map((line) => `server/src/v1/send.ts:${line} imports server/src/emails/`),
  ],
  [
    "private files imported by the wrong root file",
    privateFiles,
    {
      "server/src/api.ts": 'import "./emails/routes.ts";\nimport "./emails/jobs.ts";',
      "server/src/main.ts": 'import "./emails/queries.ts";',
      "server/src/worker.ts": 'import "./emails/jobs.ts";\nimport "./emails/bulk-routes.ts";',
    },
    ["server/src/api.ts:2", "server/src/main.ts:1", "server/src/worker.ts:2"],
  ],
  [
    "the private statements of the shared file that creates jobs",
    privateFiles,
    {
      "server/src/contacts/imports.ts":
        'import "../platform/background/jobs.ts";\nimport "../platform/background/job-queries.ts";',
    },
    ["server/src/contacts/imports.ts:2 imports server/src/platform/background/job-queries.ts"],
  ],

  // SQL.
  ...[
    "const q = sql`${a}`",
    "const q = sql<Row>`now()`",
    "const q = sql.raw`now()`",
    "const q = `\n  select id, email as address from contacts where id = ${id}`",
    'const q = "SELECT * FROM contacts"',
    'const q = "Select * From contacts"',
    'const q = "select count(*) from contacts"',
    'const q = "select 1"',
    'const q = "-- why\\nselect email from contacts"',
    'const q = "insert into contacts (id) values ($1)"',
    'const q = "update contacts set email = $1"',
    'const q = "update contacts as c set email = $1"',
    'const q = "delete from contacts where id = $1"',
    'const q = "delete from contacts"',
    'const q = "WITH gone AS (DELETE FROM contacts RETURNING id) SELECT id FROM gone"',
    'const q = "truncate table contacts"',
    'const q = "merge into contacts as c using news on true when matched then delete"',
    'const q = "create unlogged table t (id int)"',
    'const q = "copy contacts (id, email) from stdin"',
    'const q = db.selectFrom("contacts").selectAll()',
    'const q = db.insertInto("contacts").values(rows)',
    'const q = db["deleteFrom"]("contacts")',
  ].map((code): Case => [
    `SQL in a verb: ${code}`,
    sqlInItsPlace,
    { "server/src/contacts/contacts.ts": code },
    ["server/src/contacts/contacts.ts:1 holds SQL"],
  ]),
  [
    "a table without an owner",
    oneWriterPerTable,
    { [MIGRATION]: "-- The mails.\ncreate table if not exists emails (" },
    [`${MIGRATION}:2 creates emails without an owner`],
  ],
  [
    "an owner that is not on the line above",
    oneWriterPerTable,
    { [MIGRATION]: "-- owner: emails\n\nCREATE UNLOGGED TABLE public.emails (" },
    [`${MIGRATION}:3 creates emails without an owner`],
  ],
  [
    "an owner without a folder",
    oneWriterPerTable,
    { [MIGRATION]: "-- owner: mails\ncreate table emails (" },
    [`${MIGRATION}:2 gives emails to "mails"`],
  ],
  ...[
    "sql`insert into emails (id) values (${id})`",
    'sql`with a as (select 1) update "emails" as e set status = ${s}`',
    "sql`with gone as (delete from only public.emails returning id) select id from gone`",
    "sql`TRUNCATE events, emails`",
    'client.query("delete from emails where id = $1")',
    '"copy emails (id) from stdin"',
    'db.insertInto("emails").values(rows)',
    'db.updateTable("emails as e").set({ a })',
    'db.deleteFrom("emails")',
    'db.mergeInto("emails")',
  ].map((code): Case => [
    `a foreign write: ${code}`,
    oneWriterPerTable,
    { ...EMAILS_TABLE, "server/src/contacts/queries.ts": `await ${code}` },
    ['server/src/contacts/queries.ts:1 writes to emails, which belongs to "emails"'],
  ]),
  [
    "a foreign write from platform",
    oneWriterPerTable,
    { ...EMAILS_TABLE, "server/src/platform/a.ts": "sql`delete from emails`" },
    ["server/src/platform/a.ts:1 writes to emails"],
  ],

  // Source files.
  ...["new Date()", "f(Date.now())", 'Date["now"]'].map((code): Case => [
    `the clock: ${code}`,
    oneClock,
    { "server/src/main.ts": code },
    ["server/src/main.ts:1 reads this machine's clock"],
  ]),
  [
    "a header that names a missing file",
    headerNames,
    {
      "server/src/emails/a.ts":
        "// Before it: b.ts, emails/a.ts, *.test.ts. After it: emails/gone.ts.\n// See ./b.ts.\nconst a = 'c.ts';\n",
      "server/src/emails/b.ts": "// Says c.js.\n",
    },
    ["server/src/emails/a.ts:1 names emails/gone.ts", "server/src/emails/b.ts:1 names c.js"],
  ],
  ["no header", headers, { "tools/a.ts": "const a = 1;\n" }, ["tools/a.ts:1 does not open with a comment"]],
  [
    "a header below a blank line",
    headers,
    { "tools/a.js": "\n// What it is for.\n" },
    ["tools/a.js:1 does not open"],
  ],
  [
    "a block comment as a header",
    headers,
    { "tools/a.tsx": "/** What it is for. */\n" },
    ["tools/a.tsx:1 does not open"],
  ],
  ["an empty header", headers, { "tools/a.ts": "//\nconst a = 1;\n" }, ["tools/a.ts:1 does not open"]],
  [
    "a header of five lines",
    headers,
    { "tools/a.ts": `${linesOf(5)}const a = 1;\n` },
    ["tools/a.ts:1 opens with 5 comment lines"],
  ],
  ["a header that never ends", headers, { "tools/a.ts": "// a\n// b\n// c\n// d\n// e" }, ["tools/a.ts:1"]],
  [
    "a barrel",
    barrelsAndState,
    { "tools/a.ts": 'export { b } from "./b.ts";\nexport type { C } from "./c.ts";' },
    ["tools/a.ts:1 only passes on"],
  ],
  [
    "a module-level let",
    barrelsAndState,
    { "tools/a.ts": "let a = 1;\nexport let b = 2;\nvar c = 3;" },
    ["tools/a.ts:1 has a module-level let", "tools/a.ts:2", "tools/a.ts:3 has a module-level var"],
  ],
  [
    "aliases in imports",
    pathAliases,
    { "tools/a.ts": 'import "#b";\nimport "@/b";\nimport "~/b";' },
    ['tools/a.ts:1 imports "#b"', 'tools/a.ts:2 imports "@/b"', 'tools/a.ts:3 imports "~/b"'],
  ],
  [
    "aliases defined",
    pathAliases,
    { "dashboard/tsconfig.app.json": '{ "paths": {} }', "package.json": '{ "imports": {} }' },
    ["dashboard/tsconfig.app.json defines", "package.json defines"],
  ],

  [
    "dependencies missing from the decision or from the packages",
    dependencies,
    {
      "package.json": '{ "devDependencies": { "one": "1.0.0", "@x/a": "1.0.0" } }',
      "server/package.json": '{ "dependencies": { "two": "1.0.0", "@postloft/contract": "1.0.0" } }',
      [DEPENDENCY_TABLE]: "| package | why |\n|---|---|\n| dev: one, @x/* | it |\n| three | it |\n",
    },
    ["server/package.json depends on two", `${DEPENDENCY_TABLE}:4 lists three`],
  ],

  // Prose.
  [
    "comments that begin with the wrong word",
    prose,
    { "server/src/a.ts": "// Whoever adds numbers here is answered.\nexport const a = 1;\n" },
    [
      `${RATCHET_PATH} comments of server: pronouns rose to`,
      `${RATCHET_PATH} comments of server: openers rose to 100`,
    ],
  ],
  [
    "prose that improved beyond its entry on the ratchet, and an entry that is no longer needed",
    prose,
    {
      "server/src/a.ts": "// Adds numbers; subtracts numbers; multiplies numbers.\nexport const a = 1;\n",
      [RATCHET_PATH]: JSON.stringify({ prose: { "comments of server": { colons: 900, odd: 9 } } }),
    },
    [
      `${RATCHET_PATH} comments of server: colons fell to 333.3`,
      `${RATCHET_PATH} comments of server: odd is within its limit`,
    ],
  ],

  // Statements.
  [
    "reads of a later folder's table, in every spelling",
    readsInOrder,
    {
      ...TABLES,
      "server/src/users/queries.ts": [
        "sql`select 1 from campaigns`;",
        "sql`with a as (select 1) select 1 from a join Campaigns c on true`;",
        "sql`select 1 from users u, campaigns c`;",
        "sql`delete from users using only campaigns where true`;",
        "const f = sql`exists (select from campaigns)`;",
        'db.selectFrom("campaigns as c");',
        'db.selectFrom("users").innerJoin("campaigns as c", "c.id", "users.id");',
        'db.selectFrom(["users", "campaigns"]);',
        'sql.raw("select 1 from campaigns");',
        "sql`insert into users (id) select id from campaigns`;",
      ].join("\n"),
    },
    Array.from(
      { length: 10 },
      (_, at) => `server/src/users/queries.ts:${at + 1} reads campaigns, which belongs to "campaigns"`,
    ),
  ],
  [
    "an exception that is no longer needed",
    readsInOrderBut([{ reader: "users", owner: "campaigns", why: "as it was" }]),
    { ...TABLES, "server/src/users/queries.ts": "sql`select 1 from users`" },
    ['tools/tidy/table-reads.ts lists "users" reading tables of "campaigns"'],
  ],
  [
    "work that notifies nobody, or the wrong loop",
    workNotifies,
    {
      "server/src/emails/queries.ts": [
        'async function addJob(tx) { await sql`insert into jobs (id) values (1)`.execute(tx); notify(tx, "jobs"); }',
        'async function addEmail(tx) { await sql`with a as (insert into emails (id) values (1)) select`.execute(tx); notify(tx, "jobs"); }',
        "export async function release(tx) { await sql`update jobs j set a = 1, due_at = now() where b`.execute(tx); }",
        "async function record(tx) { await sql`with ${recordEventsFrom(source)} select`.execute(tx); }",
      ].join("\n"),
    },
    [
      'server/src/emails/queries.ts:2 addEmail writes work for a loop. Call notify(tx, "emails")',
      'server/src/emails/queries.ts:3 release writes work for a loop. Call notify(tx, "jobs")',
      'server/src/emails/queries.ts:4 record writes work for a loop. Call notify(tx, "workflows")',
    ],
  ],
  [
    "an exception from notifying that is over",
    workNotifiesBut([{ path: "server/src/emails/queries.ts", name: "addJob", why: "as it was" }]),
    { "server/src/emails/queries.ts": "" },
    ["tools/tidy/commit-effects.ts lists addJob of server/src/emails/queries.ts"],
  ],
  [
    "a transaction that notifies nobody",
    oneTransaction,
    {
      "server/src/platform/database/database.ts": "database.transaction().execute(work);",
      "server/src/users/users.ts": "database.transaction().execute(work);",
      "bench/a.ts": "database.transaction().execute(work);",
    },
    ["server/src/users/users.ts:1 starts a transaction of its own"],
  ],
  [
    "a status of campaigns that is changed beside moveCampaign, and a pause beside pauseAutomatically",
    oneCampaignMove,
    {
      "server/src/campaigns/queries.ts": [
        "sql`update campaigns set updated_at = now(), status = 'PAUSED' where id = 1`;",
        'tx.updateTable("campaigns").set({ status: "PAUSED" }).execute();',
      ].join("\n"),
      "server/src/campaigns/settle.ts": "await updateStatus(tx); await move(tx, TRANSITIONS.pause);",
    },
    [
      "server/src/campaigns/queries.ts:1 changes the status of campaigns",
      "server/src/campaigns/queries.ts:2 changes the status of campaigns",
      "server/src/campaigns/settle.ts uses updateStatus",
      "server/src/campaigns/settle.ts uses TRANSITIONS.pause",
    ],
  ],
  [
    "shapes of statements that a sharded database refuses",
    sharding,
    {
      "server/src/emails/queries.ts": [
        "merge into a using b on true",
        "delete from a where ctid = any(array(select 1))",
        "select 1 from a where until > clock_timestamp()",
        "insert into a (id) values (1) on conflict (id) do update set at = now()",
        "with b as (insert into a (id) values (1) on conflict (id) do update set at = (select 1) returning id) select 1",
        "update a set at = coalesce(at, now())",
        "update only a set at = case when b then now() end from c",
        "select 1 from a where not exists (select 1 from unnest($1) as b (id) where b.id = a.id)",
        "select 1 from unnest($1::uuid[]) as i (id) where exists (select 1 from a where a.id = i.id)",
        "select 1 from a cross join lateral (select 1 from b limit 1) c",
        "select 1 from a where due_at < now() for update skip locked",
        "update a set b = case when c then jsonb_build_object('d', 1) end",
        "update a set at = now() + make_interval(secs => a.seconds) from b",
        "insert into a (id) values (1) on conflict (id) where reason = ${reason} do nothing",
        "with recursive b as (select project_id from a) select 1 from b",
        "insert into a (id, b) select * from unnest($1) on conflict (id) do update set b = greatest(a.b, excluded.b) where a.c < ${since}",
        "insert into a (id, b) select * from unnest($1) on conflict (id) do update set b = excluded.b where a.c < ${sql.lit(since)}",
        "select 1 from a where a.project_id = ${projectId} and (a.b or exists (select 1 from c where c.project_id = a.project_id))",
        "select a.id, exists (select 1 from c where c.project_id = a.project_id) from unnest($1) as a (project_id, id)",
        "with b as materialized (select 1 from a) select a.id, (select count(*) from b where b.id = a.id) from a",
      ]
        .map((text) => `sql\`${text}\`;`)
        .join("\n"),
      "server/migrations/0999_a.sql":
        "-- on delete set null\n  foreign key (a) references b on delete set null (a)",
    },
    [
      ...[
        "merge.",
        "ctid.",
        "clock in a condition.",
        "clock or query in DO UPDATE.",
        "clock or query in DO UPDATE.",
        "clock or JSON in CASE or COALESCE of an update.",
        "clock or JSON in CASE or COALESCE of an update.",
        "EXISTS over or beside unnest.",
        "EXISTS over or beside unnest.",
        "LATERAL with LIMIT over projects.",
        "row locks over projects.",
        "clock or JSON in CASE or COALESCE of an update.",
        "interval of a column in an update.",
        "parameter in ON CONFLICT WHERE.",
        "recursive query over projects.",
        "parameter in DO UPDATE of INSERT … SELECT.",
        null,
        "project of a subquery from a column, under OR or in the select list.",
        "project of a subquery from a column, under OR or in the select list.",
        "correlated query over a CTE.",
      ].flatMap((shape, at) =>
        shape === null
          ? []
          : [
              `server/src/emails/queries.ts:${at + 1} has a statement that a sharded database rejects: ${shape}`,
            ],
      ),
      "server/migrations/0999_a.sql:2 empties a key",
    ],
  ],
  [
    "a table without a place on the nodes",
    tablePlaces,
    { "server/migrations/0999_a.sql": "create table lists (id uuid);" },
    ["server/migrations/0999_a.sql:1 creates lists without a project_id."],
  ],
  [
    "tables without a place on the nodes, and a place without a table",
    tablePlacesBut(["senders", "former"]),
    {
      "server/migrations/0999_a.sql": [
        "create table projects (id uuid);",
        "create table lists (id uuid);",
        "create table members (project_id uuid);",
        "create table senders (id uuid);",
      ].join("\n"),
    },
    [
      "server/migrations/0999_a.sql:2 creates lists without a project_id.",
      "server/src/platform/database/table-places.ts has a place for former,",
    ],
  ],
  [
    "a changed released migration",
    releasedMigrations,
    { [MIGRATION]: "create table users (id uuid)" },
    [`${MIGRATION} was released and has changed.`],
  ],
  [
    "released migrations that changed or are missing, and a new one with a released number",
    releasedMigrationsBut({ "0001_a.sql": HASH_OF_A, "0002_b.sql": HASH_OF_A, "0003_c.sql": HASH_OF_A }),
    {
      "server/migrations/0001_a.sql": "a",
      "server/migrations/0002_b.sql": "b",
      "server/migrations/0003_other.sql": "c",
      "server/migrations/0004_new.sql": "d",
    },
    [
      "server/migrations/0002_b.sql was released and has changed.",
      "server/migrations/0003_c.sql was released and is missing.",
      "server/migrations/0003_other.sql has a number that was released.",
    ],
  ],
  [
    "a listed statement that is no longer rejected",
    shardingBut({ "emails/queries.ts merge": "as it was" }),
    { "server/src/emails/queries.ts": "sql`select 1`" },
    ['tools/tidy/open-shapes.ts lists "emails/queries.ts merge"'],
  ],
  [
    "a noun spread over too many folders",
    nounsTogether,
    Object.fromEntries(
      ["emails", "users", "billing", "v1", "campaigns"].map((folder) => [
        `server/src/${folder}/campaign-${folder}.ts`,
        "",
      ]),
    ),
    ["server/src/campaigns has its word in the names of files in billing, campaigns, emails, users, v1"],
  ],

  // Words.
  ...[
    "utils",
    "helpers",
    "common",
    "manager",
    "handler",
    "service",
    "types",
    "index",
    "mail-utils",
    "event-types",
    "mail-service",
  ].map((name): Case => [
    `the name ${name}`,
    names,
    { [`tools/${name}/a.ts`]: "", [`tools/b/${name}.test.ts`]: "" },
    [`tools/${name} "${name}"`, `tools/b/${name}.test.ts "${name}"`],
  ]),
  [
    "a machine-specific path",
    machinePaths,
    { "tools/a.ts": '// a\nconst a = "/work/x";\n// see /root/b' },
    ['tools/a.ts:2 has "/work/"', 'tools/a.ts:3 has "/root/"'],
  ],
  ...["TO_DO", "FIX_ME", "X_XX", "HA_CK"]
    .map((marker) => marker.replace("_", ""))
    .map((marker): Case => [
      `unfinished: ${marker}`,
      unfinishedWork,
      { "tools/a.test.ts": `// a\n// ${marker}: later`, "server/migrations/1.sql": `-- ${marker}` },
      [`server/migrations/1.sql:1 has "${marker}"`, `tools/a.test.ts:2 has "${marker}"`],
    ]),
  ...[
    "test.skip('', f)",
    "it.only('', f)",
    "test.todo('')",
    "describe.skip.each(rows)('', f)",
    "test.skipIf(a)('', f)",
    "test.each(rows).only('', f)",
    "ctx.skip()",
  ].map((code): Case => [
    `a test that does not run: ${code}`,
    everyTestRuns,
    { "e2e/a.ts": code, "tools/a.test.ts": `\n${code}` },
    ["e2e/a.ts:1 has a .", "tools/a.test.ts:2 has a ."],
  ]),

  [
    "sleeps of fixed duration",
    noFixedSleeps,
    {
      "e2e/a.ts": "async (page) => {\n  await page.waitForTimeout(5);\n};",
      "server/src/a.test.ts":
        'import { setTimeout as delay } from "node:timers/promises";\ntest("a", async () => {\n  await delay(5);\n  for (;;) f(async () => {\n    await new Promise((resolve) => setTimeout(resolve, 5));\n  });\n  await new Promise<void>((resolve) => {\n    setTimeout(resolve, 5);\n  });\n});',
    },
    [
      "e2e/a.ts:2 sleeps",
      "server/src/a.test.ts:3 sleeps",
      "server/src/a.test.ts:5 sleeps",
      "server/src/a.test.ts:7 sleeps",
    ],
  ],
  [
    "too many sleeps, and an allowance that is too large",
    noFixedSleepsBut({
      "a.test.ts": { count: 1, why: "it is so" },
      "b.test.ts": { count: 2, why: "it is so" },
    }),
    {
      "a.test.ts": "await page.waitForTimeout(5);\nawait page.waitForTimeout(5);",
      "b.test.ts": "await page.waitForTimeout(5);",
    },
    ["a.test.ts:1 sleeps", "a.test.ts:2 sleeps", "b.test.ts has 1 fixed sleeps"],
  ],
  [
    "a column that is snake_case outside of SQL",
    propertyNames,
    {
      ...EMAILS_TABLE,
      "server/src/a.ts":
        "interface Row {\n  sent_at: Date;\n}\nconst { project_id: projectId } = row;\ninsert({ to_address });\nread(row.is_test);",
    },
    [
      "server/src/a.ts:2 has the property sent_at",
      "server/src/a.ts:4 has the property project_id",
      "server/src/a.ts:5 has the property to_address",
      "server/src/a.ts:6 has the property is_test",
    ],
  ],
  [
    "a foreign name in another file, and an unused one",
    propertyNamesBut([{ why: "it is so", files: ["server/src/a.ts"], names: ["has_more", "line_items"] }]),
    { "server/src/a.ts": "list.has_more", "server/src/b.ts": "list.has_more" },
    ["server/src/b.ts:1 has the property has_more", "tools/tidy/property-names.ts allows line_items"],
  ],
  [
    "suppressed checks",
    suppressions,
    {
      "a.ts": ["ts-ignore: because it is so", "ts-nocheck", "ts-expect-error", "ts-expect-error: because"]
        .map((word) => `// @${word}`)
        .concat(
          [
            "disable",
            "disable no-alert -- it is needed here",
            "disable-next-line no-alert",
            "disable-line -- it is needed here",
          ].map((word) => `// oxlint-${word}`),
        )
        .join("\n"),
    },
    Array.from({ length: 8 }, (_, at) => `a.ts:${at + 1} suppresses a check by `),
  ],
  [
    "words banned by the glossary",
    bannedWords,
    {
      "GLOSSARY.md": GLOSSARY_OF_BANS,
      "a/blacklist.ts": "",
      "b.ts": "const waitingRooms = 1;\nconst TO_MAILER = 1;\nclass MassActions {}\na.automation = b;",
    },
    [
      'a/blacklist.ts calls something blacklist, and the glossary has another word for "blacklist": good',
      'b.ts:1 calls something waitingRooms, and the glossary has another word for "waiting room": good',
      "b.ts:2 calls something TO_MAILER",
      "b.ts:3 calls something MassActions",
      "b.ts:4 calls something automation",
    ],
  ],
  [
    "an old word in more names than the ratchet allows, and one in fewer",
    bannedWords,
    {
      "GLOSSARY.md": GLOSSARY_OF_BANS,
      "a.ts": "const mailer = 1; const openMailer = 2; const gateOfGarden = 3;",
      [RATCHET_PATH]: `{ "oldWords": { "mailer": 1, "blacklist": 2 } }`,
    },
    [
      "a.ts:1 calls something mailer",
      "a.ts:1 calls something openMailer",
      `${RATCHET_PATH} "blacklist" is in 0 names now. Delete its entry`,
    ],
  ],
  [
    "a listed other meaning of a word the glossary does not ban",
    bannedWords,
    { "GLOSSARY.md": GLOSSARY_OF_BANS.replace("world", "bell"), "a.ts": "const bell = world;" },
    ['GLOSSARY.md does not ban "world"', "a.ts:1 calls something bell"],
  ],

  // Documents.
  ["no ARCHITECTURE", treeMap, { "tools/a.ts": "" }, ["ARCHITECTURE.md is missing"]],
  ["no map", treeMap, { "ARCHITECTURE.md": "# It\n```\ntools/ them\n```\n" }, ["ARCHITECTURE.md has no map"]],
  [
    "a map without its block",
    treeMap,
    { "ARCHITECTURE.md": "## The map\n\n## Next\n```\ntools/ them\n```\n" },
    ["ARCHITECTURE.md has no map"],
  ],
  [
    "a map that lists what is gone",
    treeMap,
    { "ARCHITECTURE.md": readme("tools/    them", "server/src/gone.ts"), "tools/a.ts": "" },
    ["ARCHITECTURE.md:9 lists server/src/gone.ts"],
  ],
  [
    "a map that leaves folders out",
    treeMap,
    {
      "ARCHITECTURE.md": readme("server/", "server/src/"),
      "server/src/emails/deep/a.ts": "",
      "tools/deep/a.ts": "",
      "docs/a.md": "",
    },
    [
      "ARCHITECTURE.md does not list docs/",
      "ARCHITECTURE.md does not list server/src/emails/",
      "ARCHITECTURE.md does not list tools/",
    ],
  ],
  [
    "broken links",
    links,
    {
      "docs/a.md":
        "# A\n[b](b.md)\n[c](../c.md#part) ![d](/d.png)\n[e]: <e f.md>\n```\n[code](no.md)\n```\n[g](../../outside.md)",
    },
    [
      "docs/a.md:2 links to b.md",
      "docs/a.md:3 links to ../c.md",
      "docs/a.md:3 links to /d.png",
      "docs/a.md:4 links to e f.md",
      "docs/a.md:8 links to ../../outside.md",
    ],
  ],
];

const SOUND: [what: string, rule: Rule, files: Record<string, string>][] = [
  [
    "a document with the correct orders",
    readingOrderShown,
    {
      "ARCHITECTURE.md": [READING_ORDER, ...Object.values(INNER_ORDERS)]
        .map((places) => places.join(" → "))
        .join("\n"),
    },
  ],
  [
    "dependencies listed in the decision, some by scope",
    dependencies,
    {
      "package.json": '{ "devDependencies": { "one": "1.0.0", "@x/a": "1.0.0" } }',
      "server/package.json": '{ "dependencies": { "@postloft/contract": "1.0.0" } }',
      [DEPENDENCY_TABLE]: "| package | why |\n|---|---|\n| one | it |\n| dev: @x/* | them |\n",
    },
  ],
  [
    "own folder, earlier folders, packages and the contract",
    readingOrder,
    {
      "server/src/contacts/a.ts":
        'import "./b.ts";\nimport "../emails/emails.ts";\nimport "pg";\nimport "node:fs";\nimport "@postloft/contract/v1.ts";',
    },
  ],
  [
    "anything from a root file or a test",
    readingOrder,
    {
      "server/src/main.ts": 'import "./instance/a.ts";',
      "server/src/events/a.test.ts": 'import "../instance/a.ts";\nimport "../main.ts";',
    },
  ],
  [
    "zod and the contract itself in the contract",
    contractImports,
    {
      "contract/src/a.ts": 'import { z } from "zod";\nimport "./b.ts";',
      "contract/src/a.test.ts": 'import "vitest";',
    },
  ],
  [
    "a package whose name ends like a test",
    importsStayInside,
    {
      "server/src/emails/a.ts": 'import "@postloft/contract/v1.ts";\nimport "./b.ts";',
      "server/src/emails/a.test.ts": 'import "../../../e2e/sink.ts";',
    },
  ],
  [
    "private files imported from their own folder",
    privateFiles,
    {
      "server/src/emails/providers/a.ts": 'import "../queries.ts";',
      "server/src/api.ts": 'import "./emails/routes.ts";',
      "server/src/worker.ts": 'import "./emails/jobs.ts";',
      "server/src/v1/send.test.ts": 'import "../emails/queries.ts";',
    },
  ],
  [
    "SQL in its places, and in tests and bench",
    sqlInItsPlace,
    Object.fromEntries(
      [
        "server/src/emails/queries.ts",
        "server/src/emails/claim-queries.ts",
        "server/src/platform/a.ts",
        "server/src/emails/a.test.ts",
        "bench/a.ts",
        "e2e/a.ts",
      ].map((path) => [path, "sql`select 1`"]),
    ),
  ],
  [
    "plain English, and an entry on the ratchet that still fits",
    prose,
    {
      "server/src/a.ts": "// Adds numbers; subtracts numbers; multiplies numbers.\nexport const a = 1;\n",
      [RATCHET_PATH]: JSON.stringify({ prose: { "comments of server": { colons: 333.5 } } }),
    },
  ],
  [
    "sentences and class names that begin like SQL",
    sqlInItsPlace,
    {
      "dashboard/src/a.tsx":
        'const a = ["Select a segment from the list", "Select one from many", "Select file(s) to upload", "Delete from list", "Update the name", "Insert into template", "With care", "Create table", "truncate text-sm", "select-none", "selected", "update"]; const b = `Select ${c} from here`; array.from("x"); query.select("a");',
    },
  ],
  [
    "writes of the owner, of tests, and reads of anyone",
    oneWriterPerTable,
    {
      ...EMAILS_TABLE,
      "server/src/emails/queries.ts":
        "sql`insert into emails (id) values (1) on conflict (id) do update set id = 1`",
      "server/src/reports/queries.ts":
        "sql`select id from emails for update skip locked`; sql`insert into other select id from emails`",
      "server/src/v1/a.test.ts": "sql`delete from emails`",
      "bench/a.ts": "sql`delete from emails`",
    },
  ],
  [
    "reads of earlier folders, by reports and by tests, and names that are no tables",
    readsInOrder,
    {
      ...TABLES,
      "server/src/campaigns/queries.ts": "sql`select 1 from users`",
      "server/src/reports/queries.ts": "sql`select 1 from campaigns`",
      "server/src/users/a.test.ts": "sql`select 1 from campaigns`",
      "bench/a.ts": "sql`select 1 from campaigns`",
      "server/src/users/queries.ts":
        "sql`with campaigns as (select 1) select 1 from campaigns`; sql`select campaigns from users, campaigns(1) where a is distinct from campaigns.id`; const text = 'Mail comes from campaigns';",
    },
  ],
  [
    "work that notifies its loop or is deferred",
    workNotifies,
    {
      "server/src/emails/queries.ts": [
        'async function addEmails(tx) { await sql`insert into emails (id) values (1)`.execute(tx); notify(tx, "emails"); }',
        "async function retry(tx) { await sql`update jobs set due_at = now() + interval '1 s'`.execute(tx); }",
        "async function claim(tx) { await sql`update jobs set claim_id = 1 where due_at = now()`.execute(tx); }",
        "function fragment(source) { return sql`with ${recordEventsFrom(source)} select`; }",
      ].join("\n"),
      "server/src/emails/a.test.ts":
        "async function addJob(tx) { await sql`insert into jobs (id) values (1)`; }",
    },
  ],
  [
    "an exception from notifying that is still needed",
    workNotifiesBut([{ path: "server/src/emails/queries.ts", name: "takeBack", why: "its own" }]),
    {
      "server/src/emails/queries.ts":
        "async function takeBack(tx) { await sql`update emails e set due_at = now()`.execute(tx); }",
    },
  ],
  [
    "other changes of campaigns, and reads of their status",
    oneCampaignMove,
    {
      "server/src/campaigns/queries.ts": [
        "sql`update campaigns set name = 'a' where status = 'DRAFT'`;",
        'tx.updateTable("campaigns").set(texts).execute(); const a = { status: 1 };',
      ].join("\n"),
      "server/src/campaigns/status-queries.ts": 'tx.updateTable("campaigns").set({ status: to });',
      "server/src/campaigns/a.test.ts": "sql`update campaigns set status = 'SENT'`",
    },
  ],
  [
    "a transaction by the one function",
    oneTransaction,
    { "server/src/users/users.ts": "transaction(database, work); lookUp.transaction(id);" },
  ],
  [
    "an exception that is still needed, and a tree without the tables of the exceptions",
    readsInOrderBut([{ reader: "users", owner: "campaigns", why: "for now" }]),
    { ...TABLES, "server/src/users/queries.ts": "sql`select 1 from campaigns`" },
  ],
  [
    "tables with a project, their partitions, and declared tables",
    tablePlaces,
    {
      "server/migrations/0999_a.sql": [
        "create table members (project_id uuid);",
        "create table members_later partition of members default;",
        "create table senders (id uuid);",
      ].join("\n"),
    },
  ],
  [
    "unchanged released migrations and a later one",
    releasedMigrations,
    { [MIGRATION]: readFileSync(join(ROOT, MIGRATION), "utf8"), "server/migrations/9999_new.sql": "a" },
  ],
  [
    "a listed statement",
    shardingBut({ "emails/queries.ts merge": "it is so" }),
    { "server/src/emails/queries.ts": "sql`merge into a using b on true`" },
  ],
  [
    "accepted statements, tables without a project, and tests",
    sharding,
    {
      ...TABLES,
      [MIGRATION]: `${TABLES[MIGRATION]}foreign key (a) references b on delete set null (a)`,
      "server/src/emails/queries.ts": [
        "insert into a (id) values (1) on conflict (id) do update set at = excluded.at where a.at < excluded.at returning now()",
        "with instant as materialized (select now() as at) update a set at = coalesce(a.at, instant.at), due_at = now() from instant where b = case when c then now() end",
        "select coalesce(at, now()), case when b then now() end from a",
        "select 1 from unnest($1::uuid[]) as i (id) left join a on a.id = i.id where a.id is null",
        "select 1 from a cross join lateral (select 1 from b where project_id = ${1} limit 1) c",
        "select 1 from a where project_id = ${1} for update",
        "update users set at = coalesce(at, now())",
        "update a set at = coalesce(a.at, i.at), due_at = i.due_at from (select now() as at, now() + make_interval(secs => b.seconds) as due_at from unnest($1) as b (seconds) offset 0) i",
        "update a set due_at = now() + make_interval(secs => ${seconds}), b = case when c then (select jsonb_build_object('d', 1)) end",
        "insert into a (id) values (1) on conflict (id) where reason = 'MANUAL' do update set at = ${at}",
        "with recursive b as (select id from a where project_id = ${projectId}) select 1 from b",
        "select 1 from a where a.b or exists (select 1 from c where c.project_id = a.project_id)",
        "select exists (select 1 from c where c.project_id = ${projectId}) from a where a.project_id = ${projectId}",
        "with b as materialized (select id from a) select 1 from a left join b on b.id = a.id where a.id = any(array(select id from b))",
      ]
        .map((text) => `sql\`${text}\`;`)
        .join("\n"),
      "server/src/a.test.ts": "sql`delete from a where ctid = 1`",
    },
  ],
  [
    "a noun in four folders",
    nounsTogether,
    Object.fromEntries(
      ["emails", "users", "billing", "campaigns"].map((folder) => [`server/src/${folder}/campaigns.ts`, ""]),
    ),
  ],
  [
    "the clock in its reader, and dates from arguments",
    oneClock,
    {
      "server/src/platform/clock.ts": "Date.now()",
      "server/src/a.test.ts": "new Date()",
      "server/src/testing/a.ts": "new Date()",
      "bench/a.ts": "Date.now()",
      "server/src/a.ts": "new Date(0); Date.parse(text); performance.now(); now()",
    },
  ],
  [
    "a header that names existing files, Node.js and a pattern",
    headerNames,
    { "server/src/emails/a.ts": "// Before it: a.ts, emails/a.ts. After it: *.test.ts under Node.js.\n" },
  ],
  [
    "headers of one and four lines",
    headers,
    {
      "a.ts": "// What.\nconst a = 1;\n",
      "b.js": `#!/usr/bin/env node\n${linesOf(4)}\n// later\n`,
      "c.test.ts": "const c = 1;",
    },
  ],
  [
    "exports, constants, and a let in a test or a function",
    barrelsAndState,
    {
      "a.ts": "export const a = 1;\nfunction f() { let b = 1; }\ndeclare let c: number;",
      "b.test.ts": "let db;",
      "c.ts": "export const c = 1;\nexport type D = string;",
    },
  ],
  [
    "packages with a scope",
    pathAliases,
    { "a.ts": 'import "@postloft/contract/v1.ts";', "data.json": '{ "paths": {} }' },
  ],
  [
    "nouns",
    names,
    { "tools/type-script/handlers-list.ts": "", "dashboard/index.html": "", "docs/index.md": "" },
  ],
  [
    "URLs, and a machine's path in a test",
    machinePaths,
    { "a.ts": '"https://a.example/work/b"; "./work/"; "/workers/"', "a.test.ts": '"/root/x"' },
  ],
  [
    "words that contain a marker",
    unfinishedWork,
    { "a.ts": `// todo list, ${"X".repeat(4)}, hackney`, "a.md": ["TO", "DO"].join("") },
  ],
  [
    "skip with another meaning",
    everyTestRuns,
    { "a.test.ts": 'parser.skip(1); const t = "test.skip(1)"; // test.only(', "b.ts": "test.skip(1)" },
  ],
  [
    "polling, timers of fakes, and sleeps outside of tests",
    noFixedSleeps,
    {
      "a.test.ts":
        "for (;;) { await page.waitForTimeout(5); } while (b) await new Promise((resolve) => setTimeout(resolve, 5)); setTimeout(close, 5); await new Promise((resolve) => server.close(resolve)); await delay(5);",
      "b.ts": "await new Promise((resolve) => setTimeout(resolve, 5));",
      "e2e/faults/c.ts": "await page.waitForTimeout(5);",
    },
  ],
  [
    "allowed sleeps",
    noFixedSleepsBut({ "a.test.ts": { count: 1, why: "it is so" } }),
    { "a.test.ts": "await page.waitForTimeout(5);" },
  ],
  [
    "snake_case in SQL, in texts, of tables and outside of the server",
    propertyNames,
    {
      [MIGRATION]: "-- owner: emails\ncreate table email_files (\n  id uuid\n);\n",
      "server/src/a.ts":
        'const { email_files: files } = counts; sql`select project_id from email_files`; header["content_type"];',
      "bench/a.ts": "row.sent_at",
    },
  ],
  [
    "foreign names in their files",
    propertyNamesBut([{ why: "it is so", files: ["server/src/a.ts"], names: ["has_more"] }]),
    { "server/src/a.ts": "list.has_more" },
  ],
  [
    "suppressed checks with a reason, and words about them",
    suppressions,
    {
      "a.ts": [
        "// @ts-expect-error: plain JavaScript",
        "// oxlint-disable-next-line react/no-array-index-key -- a column is its place",
        "/* @ts-expect-error plain JavaScript */",
        'const text = "a line without @ts-ignore";',
      ].join("\n"),
    },
  ],
  [
    "words that only contain a banned one, and other meanings",
    bannedWords,
    {
      "GLOSSARY.md": GLOSSARY_OF_BANS,
      "a.ts": "const label = bellows + room.waiting + aggregate + gate + lists; // a mailer",
    },
  ],
  [
    "a map that is equal to the disk",
    treeMap,
    {
      "ARCHITECTURE.md": readme(
        "server/            the server",
        "  server/src/emails/   the outbox",
        "",
        "compose.yaml Dockerfile",
      ),
      "server/src/emails/a.ts": "",
      "compose.yaml": "",
    },
  ],
  [
    "working links",
    links,
    {
      "docs/a.md":
        "[a](../README.md#x) [b](/docs/) [c](https://c.example) [d](#d) `[e](e.md)` [f](mailto:f@x.com) [g](g%20h.png) [h](100%.md)",
      "README.md": "[docs](docs)",
      "docs/g h.png": "",
      "docs/100%.md": "",
    },
  ],
];

test.each(BROKEN)("finds %s", (_what, rule, files, findings) => {
  const found = rule.check(createTree(files)).map(describeFinding);
  expect(found).toEqual(
    findings.map((beginning) => expect.stringMatching(new RegExp(`^${RegExp.escape(beginning)}`))),
  );
});

test.each(SOUND)("accepts %s", (_what, rule, files) => {
  expect(rule.check(createTree(files)).map(describeFinding)).toEqual([]);
});

test("every rule is violated by one tree and satisfied by another", () => {
  const broken = new Set(BROKEN.map(([, rule]) => rule));
  const kept = new Set(SOUND.map(([, rule]) => rule));
  expect(RULES.filter((rule) => !broken.has(rule) || !kept.has(rule)).map(({ name }) => name)).toEqual([]);
  expect(new Set(RULES).size).toBe(RULES.length);
});

test("the reading order lists each folder once", () => {
  expect(new Set(READING_ORDER).size).toBe(READING_ORDER.length);
});

test("the tree on disk excludes .gitignore entries, hidden folders and links", () => {
  const root = mkdtempSync(join(tmpdir(), "tidy-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  put(".gitignore", "# why\nnode_modules/\n*.log\n/data\ndocs/**/draft.md\n");
  for (const path of ["a/node_modules/b.ts", "a/b.log", "data/b.ts", "docs/x/y/draft.md", ".cache/b.ts"])
    put(path, "gone");
  for (const path of ["a/data/b.ts", ".github/workflow.yml", "docs/draft.md.txt", "a/image.png"])
    put(path, "// b");
  symlinkSync(join(root, "a/data/b.ts"), join(root, "a/link.ts"));
  const tree = readTree(root);
  expect([...tree.texts.keys()]).toEqual([
    ".github/workflow.yml",
    ".gitignore",
    "a/data/b.ts",
    "a/image.png",
    "docs/draft.md.txt",
  ]);
  expect(tree.texts.get("a/data/b.ts")).toBe("// b");
  expect(tree.texts.get("a/image.png")).toBe("");
  expect([...tree.folders].toSorted()).toEqual([".github", "a", "a/data", "docs"]);
  expect(tree.sources.map(({ path }) => path)).toEqual(["a/data/b.ts"]);
});

test("rejects an exception in .gitignore instead of misreading it", () => {
  const root = mkdtempSync(join(tmpdir(), "tidy-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  writeFileSync(join(root, ".gitignore"), "*.env\n!example.env\n");
  expect(() => readTree(root)).toThrow(/exception "!example.env"/);
});

test("counts pronouns, openers, colons, odd phrases and long sentences", () => {
  const long = `${"word ".repeat(29).trim()}.`;
  expect(metricsOf(["Of those: nobody is told.", "The sender claims a batch.", long])).toEqual({
    pronouns: 1_000 / 39,
    openers: 100 / 3,
    colons: 1_000 / 39,
    odd: 2_000 / 39,
    long: 100 / 3,
  });
  expect(metricsOf([]).pronouns).toBe(0);
});
