// Tests GET /emails: each filter, partial pages, and how many rows a search reads.
import { AsyncLocalStorage } from "node:async_hooks";
import { sql } from "kysely";
import { expect, test, vi } from "vitest";
import * as emails from "@postloft/contract/emails.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { transaction, type Tx } from "../../platform/database/database.ts";
import { firstIdAt, newId } from "../../platform/ids.ts";
import { faultsOf, useTestServer } from "../../testing/test-server.ts";
import { readRecipient } from "./find-emails.ts";
import { listEmails } from "./read-emails.ts";
import type { EmailFilter } from "./search-queries.ts";

const server = useTestServer({ ROLES: "api" });
const CAMPAIGN = newId();
const WORKFLOW = newId();

interface Row {
  name: string;
  to: string;
  status?: string;
  priority?: number;
  /** Further columns, as in an UPDATE. */
  set?: string;
}

async function addContent(projectId: string, subject: string): Promise<string> {
  const id = newId();
  await server.rows(
    "insert into email_contents (project_id, id, from_address, subject, html) values ($1, $2, 'me@sender.example', $3, '')",
    projectId,
    id,
    subject,
  );
  return id;
}

/** Adds emails and returns their ids by name. */
async function addEmails(projectId: string, rows: readonly Row[]): Promise<Map<string, string>> {
  const contentId = await addContent(projectId, "Your invoice");
  const ids = new Map(rows.map(({ name }) => [name, newId()]));
  for (const { name, to, status = "SENT", priority = 1, set = "attempts = 1" } of rows) {
    const id = ids.get(name);
    await server.rows(
      "insert into emails (project_id, id, content_id, to_address, status, priority) values ($1, $2, $3, $4, $5, $6)",
      projectId,
      id,
      contentId,
      to,
      status,
      priority,
    );
    await server.rows(`update emails set ${set} where id = $1`, id);
  }
  return ids;
}

const ROWS: readonly Row[] = [
  { name: "ada", to: "ada@example.com", status: "DELIVERED", set: "subject = 'Your order 12% off'" },
  { name: "adam", to: "adam@gmail.com", status: "BOUNCED", priority: 2, set: `workflow_id = '${WORKFLOW}'` },
  { name: "umlaut", to: "ada@xn--exmple-cua.com", priority: 3, set: `campaign_id = '${CAMPAIGN}'` },
  {
    name: "ses",
    to: "bob@example.com",
    set: "provider_message_id = '0100-abc-0', transport = 'ses', tags = '[\"order\", \"Größe 5\"]'",
  },
  { name: "old", to: "carol@example.com", set: "created_at = '2026-01-02T00:00:00Z'" },
  { name: "queued", to: "dan@example.com", status: "QUEUED", set: "due_at = 'infinity'" },
  // Redacted emails keep the domain of a provider.
  { name: "redacted", to: "@gmail.com", set: "forgotten_at = now(), subject = 'Your order'" },
  { name: "deleted", to: "", status: "SKIPPED" },
];

test("finds emails by each filter and by combinations, in one page or in short pages", async () => {
  const project = await server.createProject();
  const ids = await addEmails(project.id, ROWS);
  // The id decides where a search by time begins.
  const old = firstIdAt(Date.parse("2026-01-02T00:00:00Z")).slice(0, 14) + newId().slice(14);
  await server.rows("update emails set id = $1 where id = $2", old, ids.get("old"));
  const names = new Map([...ids].map(([name, id]) => [name === "old" ? old : id, name]));
  const find = async (query: string) => {
    const said = new URLSearchParams(query);
    const whole = await server.call(emails.listEmails, project.byKey, { anyQuery: `?${said}` });
    said.set("shortPages", "true");
    said.set("withTotal", "false");
    const short = await server.call(emails.listEmails, project.byKey, { anyQuery: `?${said}` });
    expect([query, short.body]).toEqual([query, whole.body]);
    expect(whole.body.total).toBe(whole.body.data.length);
    return whole.body.data.map(({ id }) => names.get(id));
  };
  const expected: Array<[string, string[]]> = [
    ["", ["deleted", "redacted", "queued", "ses", "umlaut", "adam", "ada", "old"]],
    ["to=ada@example.com", ["ada"]],
    ["to= ADA@Example.com ", ["ada"]],
    ["to=Ada Lovelace <ada@example.com>", ["ada"]],
    ["to=ada", ["umlaut", "adam", "ada"]],
    ["to=ada@ex", ["ada"]],
    ["to=ada@exämple.com", ["umlaut"]],
    ["to=ada@exämple.", ["umlaut"]],
    ["to=example.com", []],
    ["to=@gmail", []],
    ["to=a%", []],
    ["subject=order", ["ada"]],
    ["subject=ORDER 12%25", ["ada"]],
    ["subject=invoice", ["deleted", "queued", "ses", "umlaut", "adam", "old"]],
    ["subject=2_", []],
    [`messageId=<${ids.get("ada")}@sender.example>`, ["ada"]],
    [`messageId=${ids.get("redacted")?.toUpperCase()}@sender.example`, ["redacted"]],
    ["messageId=<0100-abc-0@eu-west-1.amazonses.com>", ["ses"]],
    ["messageId=0100-abc-0", ["ses"]],
    [`messageId=${newId()}@sender.example`, []],
    ["messageId=nonsense", []],
    ["tag=order", ["ses"]],
    ["tag=Größe 5&status=SENT", ["ses"]],
    ["tag=orde", []],
    ["status=BOUNCED", ["adam"]],
    ["status=QUEUED", ["queued"]],
    ["status=SENT", ["redacted", "ses", "umlaut", "old"]],
    ["kind=WORKFLOW", ["adam"]],
    [`campaignId=${CAMPAIGN}`, ["umlaut"]],
    [`workflowId=${WORKFLOW}`, ["adam"]],
    [`workflowId=${newId()}`, []],
    ["provider=gmail", ["redacted", "adam"]],
    ["provider=other", ["deleted", "queued", "ses", "umlaut", "ada", "old"]],
    ["transport=ses", ["ses"]],
    ["until=2026-02-01T00:00:00Z", ["old"]],
    ["since=2026-01-01T00:00:00Z&until=2026-01-02T00:00:00Z", []],
    ["since=2026-01-02T00:00:00Z&until=2026-01-02T00:00:01Z", ["old"]],
    ["since=2026-02-01T00:00:00Z&subject=invoice&status=SENT", ["ses", "umlaut"]],
    ["to=ada&status=BOUNCED&provider=gmail&subject=invoice", ["adam"]],
    ["to=ada&status=BOUNCED&provider=yahoo", []],
    [`to=ada&campaignId=${CAMPAIGN}`, ["umlaut"]],
  ];
  for (const [query, found] of expected) expect([query, await find(query)]).toEqual([query, found]);
  const stranger = await server.createProject();
  for (const query of ["?to=ada@example.com", `?messageId=${ids.get("ada")}@sender.example&shortPages=true`])
    expect((await server.call(emails.listEmails, stranger.byKey, { anyQuery: query })).body.data).toEqual([]);
});

test("finds a waiting recipient of a campaign by its whole address, with the other filters", async () => {
  const project = await server.createProject();
  const campaignId = newId();
  const [id, other] = [newId(), newId()];
  await server.rows(
    `insert into recipient_batches (project_id, id, campaign_id, content_id, email_ids, contact_ids, addresses, domains)
    values ($1, $2, $3, $4, $5, $5, $6, '{gmail.com}')`,
    project.id,
    id,
    campaignId,
    await addContent(project.id, "The news"),
    [id, other],
    ["ada@gmail.com", "bob@gmail.com"],
  );
  const find = async (query: string) =>
    (
      await server.call(emails.listEmails, project.byKey, { anyQuery: `?to=ada@gmail.com${query}` })
    ).body.data.map((email) => email.id);
  for (const query of ["", "&shortPages=true", "&subject=NEWS&provider=gmail&status=QUEUED&kind=CAMPAIGN"])
    expect([query, await find(query)]).toEqual([query, [id]]);
  for (const query of [
    "subject=offer",
    "provider=yahoo",
    "kind=WORKFLOW",
    "status=SENT",
    "until=2026-01-01T00:00:00Z",
    `workflowId=${newId()}`,
    "transport=ses",
    `messageId=${newId()}@sender.example`,
  ])
    expect([query, await find(`&${query}`)]).toEqual([query, []]);
});

test("names the wrong parameter", async () => {
  const faults = {
    status: "status=DONE",
    kind: "kind=NEWS",
    provider: "provider=gmail.com",
    campaignId: "campaignId=1",
    workflowId: "workflowId=1",
    since: "since=yesterday",
    until: "since=2026-01-02T00:00:00Z&until=2026-01-02T00:00:00Z",
    to: `to=${"a".repeat(LIMITS.searchLength.value + 1)}`,
    subject: "subject=%20",
    messageId: "messageId=",
    shortPages: "shortPages=maybe",
  };
  const { byKey } = server.project;
  for (const [field, query] of Object.entries(faults)) {
    const reply = await server.call("GET", `/emails?${query}`, byKey);
    expect([reply.status, faultsOf(reply)]).toEqual([
      422,
      [expect.stringMatching(new RegExp(`^${field} `, "u"))],
    ]);
  }
});

/** Creates a project with many emails of one campaign, each to another address. */
async function addMany(count: number) {
  const project = await server.createProject();
  const contentId = await addContent(project.id, "Your invoice");
  await server.rows(
    `insert into emails (project_id, id, content_id, priority, to_address, status, campaign_id)
    select $1, new_id(), $2, 3, 'c' || n || '@example.com', 'SENT', $3::uuid from generate_series(1, $4::integer) n`,
    project.id,
    contentId,
    CAMPAIGN,
    count,
  );
  return project;
}

test("a short page ends when time is up, says how far it searched, and the cursor continues there", async () => {
  const project = await addMany(11_000);
  const [oldest] = await server.rows<{ id: string }>(
    "update emails set subject = 'Rare' where id = (select id from emails where project_id = $1 order by id limit 1) returning id",
    project.id,
  );
  // A clock on which each statement of a search takes a second. The loops of the server keep the real clock,
  // because one that starts on the false clock and ends on the real one would run for a negative time.
  const searching = new AsyncLocalStorage<{ nowMs: number }>();
  const realNow = performance.now.bind(performance);
  vi.spyOn(performance, "now").mockImplementation(() => {
    const clock = searching.getStore();
    return clock ? (clock.nowMs += 1_000) : realNow();
  });
  const search = (filter: EmailFilter, before: string | null, limit = 2) =>
    searching.run({ nowMs: 0 }, () =>
      listEmails(server.database, project.id, filter, { limit, before, isShort: true, withTotal: false }),
    );
  try {
    const found: string[] = [];
    const searchedTo: string[] = [];
    let before: string | null = null;
    for (let pages = 0; pages < 40; pages++) {
      const page = await search({ subject: "rare" }, before);
      found.push(...page.data.map(({ id }) => id));
      if (page.cursor === null) break;
      searchedTo.push(page.searchedTo ?? "");
      before = Buffer.from(page.cursor, "base64url").toString().replace("emails:", "");
    }
    expect(found).toEqual([oldest?.id]);
    expect(searchedTo.length).toBeGreaterThan(1);
    expect(searchedTo).toEqual(searchedTo.toSorted().toReversed());
    expect(searchedTo.every((time) => Math.abs(Date.parse(time) - Date.now()) < 600_000)).toBe(true);
    // A full page ends like any other.
    const full = await search({ campaignId: CAMPAIGN }, null);
    expect(full).toMatchObject({ hasMore: true, total: 0 });
    expect([full.data.length, full.searchedTo]).toEqual([2, undefined]);
  } finally {
    vi.restoreAllMocks();
  }
});

async function countRead(tx: Tx): Promise<number> {
  const { rows } = await sql<{ read: number }>`
    select seq_tup_read + idx_tup_fetch as read from pg_stat_xact_user_tables where relname = 'emails'`.execute(
    tx,
  );
  return rows[0]?.read ?? 0;
}

test("a search that an index serves reads only its matches, also before statistics exist", async () => {
  const project = await addMany(5_000);
  const other = await server.createProject();
  await addEmails(other.id, ROWS);
  const searches: Array<[string, EmailFilter]> = [
    ["address", { to: readRecipient("c77@example.com") }],
    ["no address", { to: readRecipient("c77@example.org") }],
    ["bounced", { status: "BOUNCED" }],
    ["complained", { status: "COMPLAINED" }],
    ["queued", { status: "QUEUED" }],
    ["workflow", { workflowId: WORKFLOW }],
    ["no campaign", { campaignId: newId() }],
    ["no contact", { contactId: newId() }],
    ["times", { until: new Date("2026-01-01T00:00:00Z") }],
  ];
  for (const [name, filter] of searches) {
    const read = await transaction(server.database, async (tx) => {
      // The connection's numbers may include earlier transactions.
      const before = await countRead(tx);
      await listEmails(tx, project.id, filter, { limit: 20, before: null, isShort: true, withTotal: false });
      return (await countRead(tx)) - before;
    });
    expect([name, read]).toEqual([name, expect.toSatisfy((rows: number) => rows <= 600)]);
  }
});
