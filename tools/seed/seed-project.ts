// Fills a project with realistic fake contacts and events. The data is generated in the database and is the same for the same seed.
import type pg from "pg";

export interface SeedRequest {
  projectId: string;
  /** Number of contacts to add to the existing ones. */
  contacts: number;
  /** Number of events for the added contacts. */
  events: number;
  /** Equal seeds and numbers produce the same contacts. */
  seed: number;
  /** The time of the latest data; defaults to now. */
  until?: Date;
  onProgress?: (progress: SeedProgress) => void;
}

export interface SeedProgress {
  table: "contacts" | "events";
  done: number;
  total: number;
}

const ROWS_AT_ONCE = 25_000;
const DAY_MS = 86_400_000;
/** Contacts are spread over two years, events over the last 90 days. */
const CONTACT_DAYS = 730;
const EVENT_DAYS = 90;

const FIRST_NAMES =
  "ada alan barbara chen claire dennis edsger elena fatima frances grace guido hedy ines ivan jean john katherine ken leslie linus lynn margaret mary niklaus olga omar priya radia rosa sofia sven tim tomas ursula vera vint wei yuki zoe";
const LAST_NAMES =
  "allen bauer becker bianchi brown costa dubois fischer garcia hansen hoffmann ivanova jansen johnson kim kowalski lambert larsen lee lopez martin meyer moreau muller nakamura novak okafor olsen patel petrov rossi santos schmidt silva smith tanaka wagner walker wang yilmaz";
/** Reserved names (RFC 2606), so that a mistake with this data reaches no real person. */
const DOMAINS = "example.com mail.example.com example.org corp.example.org example.net post.example.net";
const COUNTRIES = "US US US US GB GB DE DE FR NL ES IT BR IN JP";
const PLANS = "free free free free free free pro pro pro team enterprise";
const COMPANY_KINDS = "Labs Systems Foods Logistics Media Health Energy Studio Partners Works";
const TAGS = "newsletter beta partner webinar trial referral support annual";
const EVENT_NAMES =
  "page_viewed page_viewed page_viewed page_viewed signed_in signed_in signed_in feature_used feature_used cart_updated purchase invoice_paid document_exported teammate_invited support_requested";

/** The types that the first values would have set. */
const FIELDS = {
  plan: "string",
  age: "number",
  country: "string",
  company: "string",
  lastLogin: "date",
  seats: "number",
  vip: "boolean",
  tags: "string",
};

/** Returns SQL for a random number 0 ≤ x < 1, derived from the row number `n`, the seed ($3) and the purpose. */
const random = (purpose: number) =>
  `((hashint8extended(n, $3::bigint * 1000 + ${purpose}) & 4294967295)::float8 / 4294967296)`;

const pick = (words: string, purpose: number) => {
  const list = words.split(" ");
  return `(array['${list.join("','")}'])[1 + floor(${random(purpose)} * ${list.length})::int]`;
};

/** Returns SQL for a UUIDv7 made of a time and bits derived from the row number. */
const idOf = (atMs: string, number: string, purpose: number) => {
  const bits = `hashint8extended(${number}, $3::bigint * 1000 + ${purpose})`;
  return `(lpad(to_hex(${atMs}), 12, '0') || '7' || lpad(to_hex(${bits} & 4095), 3, '0')
    || to_hex(8 + ((${bits} >> 12) & 3)) || lpad(to_hex((${bits} >> 14) & 1125899906842623), 15, '0'))::uuid`;
};

const CONTACT_ID = 1;
/** Returns SQL for the creation time of contact `$n` in ms, evenly spread over the two years that end at $2. */
const contactAtMs = (number: string) =>
  `($2::bigint - ${CONTACT_DAYS * DAY_MS} + (${number}::float8 / $4 * ${CONTACT_DAYS * DAY_MS})::bigint)`;

const INSERT_CONTACTS = `
  insert into contacts (project_id, id, email, subscribed, data, created_at, updated_at)
  select $1::uuid, ${idOf("at_ms", "n", CONTACT_ID)},
    ${pick(FIRST_NAMES, 2)} || '.' || ${pick(LAST_NAMES, 3)} || (n + $7::bigint) || '@' || ${pick(DOMAINS, 4)},
    ${random(5)} < 0.88,
    jsonb_strip_nulls(jsonb_build_object(
      'plan', plan,
      'age', case when ${random(6)} < 0.9 then 18 + floor(${random(7)} * 63)::int end,
      'country', ${pick(COUNTRIES, 8)},
      'company', case when ${random(9)} < 0.7 then
        initcap(${pick(LAST_NAMES, 10)}) || ' ' || ${pick(COMPANY_KINDS, 11)} || ' ' || (1 + floor(${random(12)} * 12))::int end,
      'lastLogin', case when ${random(13)} < 0.95 then to_char(
        to_timestamp(($2::bigint - (power(${random(14)}, 2) * ($2::bigint - at_ms))::bigint) / 1000) at time zone 'UTC',
        'YYYY-MM-DD"T"HH24:MI:SS"Z"') end,
      'seats', case plan when 'team' then 3 + floor(${random(15)} * 47)::int
                         when 'enterprise' then 50 + floor(${random(15)} * 950)::int end,
      'vip', ${random(16)} < 0.03,
      'tags', case when ${random(17)} < 0.4 then jsonb_build_array(${pick(TAGS, 18)})
                   when ${random(17)} < 0.5 then jsonb_build_array(${pick(TAGS, 18)}, ${pick(TAGS, 19)}) end)),
    to_timestamp(at_ms / 1000.0), to_timestamp(at_ms / 1000.0)
  from (select n, ${contactAtMs("n")} as at_ms, ${pick(PLANS, 20)} as plan
        from generate_series($5::bigint, $6::bigint) n) row_of`;

/** Only contacts that existed at the time get events; a few get many, most get few. */
const INSERT_EVENTS = `
  insert into events (project_id, id, contact_id, name, data, created_at)
  select $1::uuid, ${idOf("at_ms", "n", 30)}, ${idOf(contactAtMs("who"), "who", CONTACT_ID)}, name,
    case name when 'purchase' then jsonb_build_object('amount', round((5 + power(${random(31)}, 3) * 495)::numeric, 2), 'currency', 'EUR')
              when 'page_viewed' then jsonb_build_object('path', '/page/' || floor(${random(32)} * 200)::int) end,
    to_timestamp(at_ms / 1000.0)
  from (
    select n, at_ms, ${pick(EVENT_NAMES, 33)} as name,
      floor(power(${random(34)}, 1.7) * $4 * (1 - ($2::bigint - at_ms)::float8 / ${CONTACT_DAYS * DAY_MS}))::bigint as who
    from (select n, $2::bigint - ${EVENT_DAYS * DAY_MS} + (n::float8 / $7 * ${EVENT_DAYS * DAY_MS})::bigint as at_ms
          from generate_series($5::bigint, $6::bigint) n) timed
  ) row_of`;

const REGISTER_FIELDS = `
  insert into contact_fields (project_id, field, type) select $1, * from unnest($2::text[], $3::text[]) on conflict do nothing`;

/** Generating takes longer than writing, so two connections use two cores. */
const CONNECTIONS = 2;

/** Adds the contacts and events in commits of several ten thousand rows, and updates the planner's statistics. */
export async function seedProject(pool: pg.Pool, request: SeedRequest): Promise<void> {
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => openFastClient(pool)));
  try {
    await fill(clients, request);
    await clients[0]?.query("select gin_clean_pending_list('contacts_search')");
    await clients[0]?.query("vacuum (analyze) contacts, events");
  } finally {
    // Close the connections, because their session settings were changed.
    for (const client of clients) client.release(true);
  }
}

async function openFastClient(pool: pg.Pool): Promise<pg.PoolClient> {
  const client = await pool.connect();
  // Data lost in a crash can be generated again.
  await client.query("set statement_timeout = 0; set synchronous_commit = off");
  // The search index merges one long pending list in half the time of many short ones.
  await client.query(
    "set gin_pending_list_limit = '1GB'; set work_mem = '256MB'; set maintenance_work_mem = '512MB'",
  );
  try {
    // Skip foreign key checks, because each event refers to a contact of the same run. Without the privilege the checks run.
    await client.query("set session_replication_role = replica");
  } catch (error) {
    if ((error as { code?: unknown }).code !== "42501") throw error;
  }
  return client;
}

async function fill(clients: readonly pg.PoolClient[], request: SeedRequest): Promise<void> {
  const { projectId, seed, contacts, events } = request;
  const untilMs = (request.until ?? new Date()).getTime();
  const [client] = clients;
  await client?.query(REGISTER_FIELDS, [projectId, Object.keys(FIELDS), Object.values(FIELDS)]);
  const counted = await client?.query<{ present: number }>(
    "select count(*) as present from contacts where project_id = $1",
    [projectId],
  );
  const present = Number(counted?.rows[0]?.present ?? 0);
  const shared = [projectId, untilMs, seed, contacts];
  await inParts(clients, "contacts", request, (of, first, last) =>
    of.query(INSERT_CONTACTS, [...shared, first, last, present]),
  );
  if (contacts === 0) return;
  await inParts(clients, "events", request, (of, first, last) =>
    of.query(INSERT_EVENTS, [...shared, first, last, events]),
  );
}

async function inParts(
  clients: readonly pg.PoolClient[],
  table: SeedProgress["table"],
  request: SeedRequest,
  insert: (client: pg.PoolClient, first: number, last: number) => Promise<unknown>,
): Promise<void> {
  const total = request[table];
  let next = 0;
  let done = 0;
  async function work(client: pg.PoolClient): Promise<void> {
    while (next < total) {
      const first = next;
      next = Math.min(total, first + ROWS_AT_ONCE);
      const size = next - first;
      await insert(client, first, next - 1);
      done += size;
      request.onProgress?.({ table, done, total });
    }
  }
  await Promise.all(clients.map(work));
}
