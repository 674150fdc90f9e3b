// Defines the worst requests a hostile project may legally send: the largest bodies, the most expensive queries, the largest pages.

/** A kind of request, sent as a burst of `atOnce` every `everyMs`. */
export interface Burst {
  name: string;
  atOnce: number;
  everyMs: number;
  /** Used in rotation. */
  requests: readonly PlainRequest[];
}

export interface PlainRequest {
  method: string;
  path: string;
  /** Sent as is; null for none. */
  key: string | null;
  body: Buffer | null;
  /** Defaults to JSON. */
  contentType?: string;
}

/** Data prepared in the hostile project. */
export interface HostileProject {
  secretKey: string;
  publicKey: string;
  /** A contact with `EXPLAINED_LENGTH` characters in `data.text`. */
  contactId: string;
  /** The key of a second project of the same owner, with its own rate limit. */
  secondKey: string;
  /** An address at a verified domain. */
  from: string;
  /** A PNG of several megabytes. */
  image: Buffer;
}

const MEGABYTE = 1024 * 1024;
/** With `CONDITIONS` conditions, the most text that an explanation may search. */
export const EXPLAINED_LENGTH = 490_000;
const CONDITIONS = 100;
/** Node.js limits the request line and headers to 16 KB. */
const SLASHES = 15_800;
const KEYS_OF_CONTACT = 1_000;
const LOOP_ITEMS = 300;
/** About 5 MB. */
const CSV_ROWS = 115_000;

/**
 * Returns all attacks. Those with a key stay at 16 requests a second per project, the default limit of 1,000 a minute. Logins are 5 a
 * second, the limit per address.
 */
export function attacksOf(project: HostileProject): Burst[] {
  return [...questions(project), ...strangers(), ...writes(project), ...templatesAndFiles(project)];
}

/** Requests by the second project that are validated, rendered or decoded before they are stored. */
function templatesAndFiles({ secondKey, from, image }: HostileProject): Burst[] {
  const long = `${"\n".repeat(200_000)}${"{{#if a}}{{/if}}".repeat(300)}`;
  const items = Array.from({ length: LOOP_ITEMS }, (_, at) => at);
  const busy = { subject: "Busy", body: "{{#each items}}{{#each @root.items}}{{this}}{{/each}}{{/each}}" };
  const rows = Array.from({ length: CSV_ROWS }, (_, at) => `row-${at}@example.com,"Name, ${at}",${at}\n`);
  return [
    burst("previews of some ten milliseconds", 20, 4_000, [
      post("/templates/preview", secondKey, { ...busy, data: { items } }),
    ]),
    burst("sends with long templates to check", 16, 4_000, [
      post("/v1/send", secondKey, { to: "long@example.com", from, subject: "Long", body: long }),
    ]),
    burst("CSV files of 5 MB", 1, 1_000, [
      upload(
        "/contacts/import?dryRun=true",
        secondKey,
        "file",
        "list.csv",
        Buffer.from(`email,name,n\n${rows.join("")}`),
      ),
    ]),
    burst("images to encode", 2, 1_000, [upload("/uploads/image", secondKey, "image", "large.png", image)]),
  ];
}

function upload(path: string, key: string, part: string, filename: string, bytes: Buffer): PlainRequest {
  const boundary = "----bench-neighbours";
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="${part}"; filename="${filename}"\r\nContent-Type: application/octet-stream\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(head), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]);
  return { method: "POST", path, key, body, contentType: `multipart/form-data; boundary=${boundary}` };
}

function post(path: string, key: string | null, body: object): PlainRequest {
  return { method: "POST", path, key, body: Buffer.from(JSON.stringify(body)) };
}

function get(path: string, key: string | null): PlainRequest {
  return { method: "GET", path, key, body: null };
}

/** Returns `count` different requests. */
function several(count: number, make: (at: number) => PlainRequest): PlainRequest[] {
  return Array.from({ length: count }, (_, at) => make(at));
}

function burst(name: string, atOnce: number, everyMs: number, requests: readonly PlainRequest[]): Burst {
  return { name, atOnce, everyMs, requests };
}

/** Expensive reads. */
function questions({ secretKey, contactId }: HostileProject): Burst[] {
  const large = { subject: "Large", body: fill("<a href=x>&amp;", MEGABYTE - 1_000) };
  return [
    burst("explain a filter: 100 conditions on 490 KB", 12, 4_000, [
      post("/segments/explain", secretKey, { contactId, filters: dearFilter() }),
    ]),
    burst("previews of nested loops", 12, 4_000, [post("/templates/preview", secretKey, nestedLoops())]),
    burst("previews of a megabyte", 2, 2_000, [post("/templates/preview", secretKey, large)]),
    burst(
      "largest pages of lists",
      4,
      2_000,
      ["contacts", "templates", "campaigns", "events"].map((list) => get(`/${list}?limit=100`, secretKey)),
    ),
  ];
}

/** Requests without a key. */
function strangers(): Burst[] {
  const body = manyObjects();
  const password = "not the password";
  return [
    burst("1 MB of `{},` without a key", 2, 1_000, [
      { method: "POST", path: "/auth/login", key: null, body },
    ]),
    burst("`GET /` with 15,800 slashes", 10, 1_000, [get("/".repeat(SLASHES), null)]),
    burst(
      "logins, wrong password",
      12,
      4_000,
      several(100, (at) => post("/auth/login", null, { email: `somebody-${at}@example.com`, password })),
    ),
  ];
}

/** Requests that store data. */
function writes({ secretKey, publicKey }: HostileProject): Burst[] {
  const body = manyObjects();
  const large = { email: "large@example.com", event: "e", data: { text: fill('é"\\ ', 500_000) } };
  return [
    burst("1 MB of `{},` with a public key", 2, 2_000, [
      { method: "POST", path: "/v1/track", key: publicKey, body },
    ]),
    burst(
      "domains without end",
      2,
      2_000,
      several(200, (at) => post("/domains", secretKey, { domain: `d${at}.hostile.example` })),
    ),
    burst(
      "field names without end, with a public key",
      2,
      2_000,
      several(100, (at) =>
        post("/v1/track", publicKey, { email: `f${at}@example.com`, event: "e", data: manyKeys(`f${at}`) }),
      ),
    ),
    burst(
      "contacts with many keys",
      2,
      1_000,
      several(100, (at) =>
        post("/contacts", secretKey, { email: `k${at}@example.com`, data: manyKeys("f0", String(at)) }),
      ),
    ),
    burst("a megabyte of data in an event", 2, 1_000, [post("/v1/track", publicKey, large)]),
  ];
}

/** Returns cheap requests with the same number and timing as `attacks`. */
export function harmlessOf(attacks: readonly Burst[], { secretKey }: HostileProject): Burst[] {
  return attacks.map(({ name, atOnce, everyMs, requests }) => {
    const key = requests[0]?.key == null ? null : secretKey;
    const path = key === null ? "/health" : "/contacts/count";
    return { name, atOnce, everyMs, requests: [{ method: "GET", path, key, body: null }] };
  });
}

function dearFilter(): object {
  return {
    operator: "AND",
    conditions: Array.from({ length: CONDITIONS }, (_, at) => ({
      field: "data.text",
      operator: "notContains",
      value: `${"ab".repeat(450)}x${at}`,
    })),
  };
}

function nestedLoops(): object {
  const items = Array.from({ length: LOOP_ITEMS }, (_, at) => at);
  const open = "{{#each @root.items}}";
  return { subject: "Loops", body: `${open.repeat(4)}{{this}}${"{{/each}}".repeat(4)}`, data: { items } };
}

function manyObjects(): Buffer {
  return Buffer.from(`[${"{},".repeat(MEGABYTE / 3 - 10)}{}]`);
}

function manyKeys(prefix: string, value = "x"): object {
  return Object.fromEntries(Array.from({ length: KEYS_OF_CONTACT }, (_, at) => [`${prefix}_${at}`, value]));
}

function fill(unit: string, length: number): string {
  return unit.repeat(Math.floor(length / unit.length));
}
