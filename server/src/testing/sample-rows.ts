// Fills a database with one row of each kind that statements lock, claim or postpone, for tests that call all of these statements.
import { sql, type RawBuilder } from "kysely";
import { transaction, type Database, type Tx } from "../platform/database/database.ts";
import { newId } from "../platform/ids.ts";
import { addProject } from "./add-project.ts";

/** The ids of the rows. */
export const id = newIds(
  ...(["project", "user", "session", "content", "campaign", "sender", "job", "claimedJob", "claim"] as const),
  ...([
    "ada",
    "bob",
    "eve",
    "joe",
    "queued",
    "campaignMail",
    "plainMail",
    "bulkMail",
    "suppressedMail",
  ] as const),
  ...([
    "doubtful",
    "ended",
    "tried",
    "batch",
    "batched",
    "alsoBatched",
    "segment",
    "tracked",
    "template",
  ] as const),
  ...(["workflow", "waiting", "due", "failed", "cancelled", "step", "key", "domain"] as const),
  ...(["notice", "request", "outboxEvent", "call", "endpoint", "delivery"] as const),
);
/** The address of the contact `ada`. */
export const ADA = "ada@shop.example";
export const HASH: Buffer = Buffer.alloc(32);

function newIds<Name extends string>(...names: Name[]): Record<Name, string> {
  return Object.fromEntries(names.map((name) => [name, newId()])) as Record<Name, string>;
}

/** Inserts the rows into a new database. */
export async function addSampleRows(database: Database): Promise<void> {
  await addProject(database, { id: id.project });
  await transaction(database, async (tx) => {
    for (const statement of ROWS) await statement.execute(tx);
  });
}

/** Runs work in a transaction that is rolled back, and returns its result. */
export async function undone<T>(database: Database, work: (tx: Tx) => Promise<T>): Promise<T> {
  const ended: { result?: T } = {};
  const undo = new Error("undo");
  await transaction(database, async (tx) => {
    ended.result = await work(tx);
    throw undo;
  }).catch((error: unknown) => {
    if (error !== undo) throw error;
  });
  return ended.result as T;
}

const mailRow = (
  mailId: string,
  values: { contact?: string; status?: string; campaign?: string; to?: string; attempts?: number },
) => {
  const {
    contact = null,
    status = "QUEUED",
    campaign = null,
    to = "bob@other.example",
    attempts = 0,
  } = values;
  return sql`
    insert into emails (project_id, id, contact_id, content_id, priority, status, to_address, campaign_id, sender_id, sent_at, attempts)
    values (${id.project}, ${mailId}, ${contact}, ${id.content}, 3, ${status}, ${to}, ${campaign},
      ${status === "CLAIMED" ? id.sender : null}, case when ${status} = 'SENT' then now() end, ${attempts})`;
};
const executionRow = (
  executionId: string,
  contact: string,
  entry: number,
  values: { status: string; dueAt?: RawBuilder<unknown> },
) => sql`
  insert into workflow_executions (project_id, id, workflow_id, contact_id, entry, version, status, step_id, due_at, trace, moves)
  values (${id.project}, ${executionId}, ${id.workflow}, ${contact}, ${entry}, 1, ${values.status}, ${id.step}, ${values.dueAt ?? null}, '[{"at": 1}]',
    jsonb_build_array(jsonb_build_object('id', ${id.job}::text)))`;
const EMPTY_GRAPH = JSON.stringify({ steps: [], transitions: [] });

/** In an order that the foreign keys allow. */
const ROWS = [
  sql`insert into users (id, email, password_hash) values (${id.user}, 'owner@shop.example', 'hash')`,
  sql`insert into sessions (id, user_id, expires_at, last_used_at) values (${id.session}, ${id.user}, now() + interval '1 day', now())`,
  sql`insert into second_factors (user_id, sealed_secret) values (${id.user}, ${HASH})`,
  sql`insert into memberships (project_id, user_id, role) values (${id.project}, ${id.user}, 'OWNER')`,
  sql`insert into scoped_keys (project_id, id, hash, name, scopes, networks, created_by, role)
    values (${id.project}, ${id.key}, ${HASH}, 'key', '{}', '{}', ${id.user}, 'ADMIN')`,
  sql`insert into senders (id, lease_until) values (${id.sender}, now() + interval '1 hour')`,
  ...[
    [id.ada, ADA],
    [id.bob, "bob@shop.example"],
    [id.eve, "eve@shop.example"],
    [id.joe, "joe@shop.example"],
  ].map(
    ([contactId, email]) => sql`
    insert into contacts (project_id, id, email, subscribed, data) values (${id.project}, ${contactId}, ${email}, true, '{"plan": 1}')`,
  ),
  sql`insert into consent_changes (project_id, contact_id, id, subscribed, source) values (${id.project}, ${id.ada}, ${newId()}, true, 'import')`,
  sql`insert into email_contents (project_id, id, from_address, subject, html, list_kind)
    values (${id.project}, ${id.content}, 'me@shop.example', 's', '', 'MARKETING')`,
  sql`insert into campaigns (project_id, id, name, subject, body, from_address, audience_type, status)
    values (${id.project}, ${id.campaign}, 'c', 's', 'b', 'me@shop.example', 'ALL', 'SENDING')`,
  sql`insert into campaign_queues (project_id, campaign_id, state) values (${id.project}, ${id.campaign}, 'OPEN')`,
  mailRow(id.queued, { to: ADA }),
  mailRow(id.campaignMail, { campaign: id.campaign }),
  mailRow(id.plainMail, { status: "CLAIMED" }),
  mailRow(id.bulkMail, { status: "CLAIMED", contact: id.ada }),
  mailRow(id.suppressedMail, { status: "CLAIMED", to: "listed@other.example" }),
  mailRow(id.doubtful, { status: "UNCONFIRMED" }),
  mailRow(id.ended, { status: "SENT" }),
  mailRow(id.tried, { status: "CLAIMED", contact: id.eve, attempts: 1, to: "eve@shop.example" }),
  sql`insert into suppressions (project_id, id, email, reason) values (${id.project}, ${newId()}, 'listed@other.example', 'MANUAL')`,
  sql`insert into recipient_batches (project_id, id, campaign_id, content_id, email_ids, contact_ids, addresses, domains)
    values (${id.project}, ${id.batch}, ${id.campaign}, ${id.content}, ${[id.batched, id.alsoBatched]}::uuid[], ${[id.bob, id.eve]}::uuid[],
      '{bob@shop.example,eve@shop.example}', '{shop.example}')`,
  sql`insert into email_retentions (project_id, days) values (${id.project}, 30)`,
  sql`insert into paused_destinations (project_id, destination, domains, answer, try_at)
    values (${id.project}, 'shop.example', '{shop.example}', '421', now() - interval '1 second')`,
  sql`insert into paused_destinations (project_id, destination, domains, answer, try_at, trial_ids, tried_at)
    values (${id.project}, 'test.example', '{test.example}', '421', now(), ${[id.ended]}::uuid[], now())`,
  sql`insert into jobs (project_id, id, kind, input) values (${id.project}, ${id.job}, 'test', '{}')`,
  sql`insert into jobs (project_id, id, kind, input, state, claim_id) values (${id.project}, ${id.claimedJob}, 'import', '{}', 'active', ${id.claim})`,
  sql`insert into import_changes (project_id, job_id, number, kind, contact_ids, befores, afters)
    values (${id.project}, ${id.claimedJob}, 1, 'CHANGED', ${[id.ada, id.bob]}::uuid[], array['{}', '{}']::jsonb[], array['{}', '{}']::jsonb[])`,
  sql`insert into notices (id, source, provider_id, raw) values (${id.notice}, 'sns', 'one', '{}')`,
  sql`insert into segments (project_id, id, name, type, slug) values (${id.project}, ${id.segment}, 's', 'STATIC', 's')`,
  sql`insert into segments (project_id, id, name, type, filters, slug, track_membership, compute_due_at)
    values (${id.project}, ${id.tracked}, 't', 'DYNAMIC', '{}', 't', true, now())`,
  sql`insert into segment_members (project_id, segment_id, contact_id) values (${id.project}, ${id.segment}, ${id.ada})`,
  sql`insert into audit_heads (project_id, number, hash) values (${id.project}, 0, ${HASH})`,
  sql`insert into domains (project_id, id, domain, dkim_selector, dkim_public_key, dkim_private_key)
    values (${id.project}, ${id.domain}, 'shop.example', 's', 'k', ${HASH})`,
  sql`insert into link_domains (project_id, domain) values (${id.project}, 'go.shop.example')`,
  sql`insert into templates (project_id, id, name, type, subject, body) values (${id.project}, ${id.template}, 't', 'MARKETING', 's', 'b')`,
  sql`insert into template_variants (project_id, template_id, locale, subject, body) values (${id.project}, ${id.template}, 'de', 's', 'b')`,
  sql`insert into workflows (project_id, id, name, enabled, next_run_at, dates_since, trigger_config)
    values (${id.project}, ${id.workflow}, 'w', true, now(), now(), '{"dateField": "data.day"}')`,
  sql`insert into workflow_versions (project_id, workflow_id, version, graph) values (${id.project}, ${id.workflow}, 1, ${EMPTY_GRAPH}::jsonb)`,
  sql`insert into workflow_dates (project_id, workflow_id, contact_id, occurs_at, due_at, since)
    values (${id.project}, ${id.workflow}, ${id.ada}, now(), now(), now())`,
  executionRow(id.waiting, id.ada, 1, { status: "WAITING" }),
  executionRow(id.due, id.bob, 1, { status: "RUNNING", dueAt: sql`now()` }),
  executionRow(id.cancelled, id.eve, 1, { status: "WAITING" }),
  executionRow(id.failed, id.joe, 1, { status: "FAILED" }),
  sql`insert into count_positions (project_id, position) values (${id.project}, ${newId()})`,
  sql`insert into billing_usage (project_id, day, category, customer_id, value) values (${id.project}, '2026-01-01', 'workflows', 'cus', 1)`,
  sql`insert into billing_limits (project_id) values (${id.project})`,
  sql`insert into billing_customers (project_id, customer_id) values (${id.project}, 'cus')`,
  sql`insert into api_requests (project_id, id, request_id, at, method, path, route, status, duration_ms, key, body_bytes)
    values (${id.project}, ${id.request}, 'r', now() - interval '9 days', 'GET', '/', '/', 200, 1, 'secret', 0)`,
  sql`insert into event_reactions (project_id, subscriber, id, contact_id) values (${id.project}, 'test', ${id.outboxEvent}, ${id.ada})`,
  sql`insert into event_streams (project_id, last_number) values (${id.project}, 1)`,
  sql`insert into event_log (project_id, number, id, type, contact_id, data, created_at)
    values (${id.project}, 1, ${newId()}, 'e', ${id.ada}, '{}', now())`,
  sql`insert into webhook_endpoints (project_id, id, url, event_types, ordered, sealed, position, previous)
    values (${id.project}, ${id.endpoint}, 'https://x.example', '{*}', false, ${HASH}, 1, 0)`,
  sql`insert into event_deliveries (project_id, id, endpoint_id, number, previous, claim_id)
    values (${id.project}, ${id.delivery}, ${id.endpoint}, 1, 0, ${id.claim})`,
  sql`insert into webhook_calls (project_id, id, owner_kind, owner_id, owner_ref, url, method, headers)
    values (${id.project}, ${id.call}, 'workflow', ${id.workflow}, 'r', 'https://x.example', 'POST', '{}')`,
];
