// Sends the largest possible bodies to every endpoint and checks that no turn of the event loop takes long. Measures CPU time of this
// thread, which runs the server, because wall time is longer on a busy machine.
import { expect, test } from "vitest";
import type { Endpoint } from "@postloft/contract/endpoint.ts";
import { ENDPOINTS } from "@postloft/contract/endpoints.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { newId } from "../ids.ts";
import { largeBodiesOf } from "../../testing/large-bodies.ts";
import { longestTurn } from "../../testing/longest-turn.ts";
import { useTestServer, type TestProject } from "../../testing/test-server.ts";

const server = useTestServer({ ROLES: "api" });

/** How long other requests may have to wait. */
const LONGEST_TURN_MS = 100;
/**
 * Exceptions with longer turns, because their bodies may have 60 MB and JSON is parsed in one step. Parsing 15 MB of escapes takes a tenth
 * of a second. A project parses one large body at a time and pauses after it (http/pace.ts).
 */
const LONGER_TURNS_MS: Readonly<Record<string, number>> = {
  "v1.send": 600,
  "v1.sendBatch": 600,
  "received.reply": 600,
};
const TRIES = 2;
/** As many conditions as a filter may have, each with the longest text. */
const dearFilter = {
  operator: "AND",
  conditions: Array.from({ length: LIMITS.filterConditions.value }, (_, at) => ({
    field: "data.text",
    operator: "notContains",
    value: `${at} `.padEnd(LIMITS.filterTextLength.value, "ab"),
  })),
};
const attachment = {
  filename: "large.pdf",
  contentType: "application/pdf",
  content: Buffer.alloc(LIMITS.attachmentBytes.value, "%PDF-").toString("base64"),
};
/** Valid values for most bodies, so that the work after validation is measured too. */
const FITTING = {
  from: "hello@sandbox.localhost",
  to: "ada@example.com",
  headers: { "X-Order": "1" },
  cc: undefined,
  bcc: undefined,
  filters: dearFilter,
  condition: undefined,
  audienceFilter: undefined,
  attachments: [attachment],
  language: "en",
  template: undefined,
  templateId: undefined,
  segmentId: undefined,
};

/** Values of single endpoints. */
const OWN: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "v1.sendBatch": {
    emails: Array.from({ length: LIMITS.batchEmails.value }, (_, at) => ({
      to: `ada${at}@example.com`,
      from: FITTING.from,
      subject: "Hello",
      body: `<p>${"x".repeat(LIMITS.sendBodyBytes.value / LIMITS.batchEmails.value - 1_000)}</p>`,
    })),
  },
};

/**
 * Creates an object for each kind of id, so that bodies get as far as possible. Creates a domain only for its own endpoints, because its
 * keys take long.
 */
async function makeThings({ byKey }: TestProject, noun: string): Promise<Record<string, string>> {
  const make = async (path: string, body: object) => {
    const reply = await server.call<{ id?: string; data?: { id: string } }>("POST", path, byKey, body);
    return reply.body.id ?? reply.body.data?.id ?? "";
  };
  const filters = { operator: "AND", conditions: [{ field: "subscribed", operator: "equals", value: true }] };
  return {
    contacts: await make("/contacts", { email: "ada@example.com", data: { plan: "pro" } }),
    segments: await make("/segments", { name: "All", filters }),
    templates: await make("/templates", { name: "T", type: "TRANSACTIONAL", subject: "S", body: "B" }),
    domains: noun === "domains" ? await make("/domains", { domain: "shop.example" }) : "",
    campaigns: await make("/campaigns", {
      name: "News",
      subject: "News",
      body: "News",
      from: "hello@sandbox.localhost",
      audienceType: "ALL",
    }),
  };
}

function pathOf({ path }: Endpoint, things: Readonly<Record<string, string>>, project: TestProject): string {
  return path.replaceAll(/:(\w+)/g, (_, name: string) =>
    name === "projectId" ? project.id : name === "field" ? "data.plan" : things[nounOf(path)] || project.id,
  );
}

const nounOf = (path: string) => path.split("/")[1] ?? "";

const withBody = ENDPOINTS.filter(
  ({ takesBody, envelope, bodyKind }) => takesBody && envelope !== "page" && bodyKind === "json",
);

test("finds endpoints to send to", () => {
  expect(withBody.length).toBeGreaterThan(20);
});

test.for(withBody.map((one) => [one.name, one] as const))(
  "%s: does not delay other requests with its largest bodies",
  async ([, endpoint]) => {
    const project = await server.createProject();
    const things = await makeThings(project, nounOf(endpoint.path));
    const path = pathOf(endpoint, things, project);
    const caller = endpoint.caller === "session" ? project.owner : project.byKey;
    const mostMs = LONGER_TURNS_MS[endpoint.name] ?? LONGEST_TURN_MS;
    const turns: Record<string, number> = {};
    for (const [name, body] of largeBodiesOf(endpoint, {
      ...FITTING,
      contactId: things["contacts"],
      ...OWN[endpoint.name],
    })) {
      const send = () => server.call(endpoint.method, path, caller, body);
      // Repeats a slow try, because the first one compiles code and garbage collection may run.
      for (let at = 0; at < TRIES && (turns[name] ?? Infinity) > mostMs; at++)
        turns[name] = Math.min(turns[name] ?? Infinity, await longestTurn(send));
    }
    expect(Object.entries(turns).filter(([, ms]) => ms > mostMs)).toEqual([]);
  },
);

test("reads a message with very many lines off the serving thread, without delaying others", async () => {
  const project = await server.createProject();
  const id = newId();
  const raw = `Content-Type: text/html\r\n\r\n${"<hr>\n".repeat(50_000)}`;
  await server.rows(
    "insert into mailbox_messages (project_id, id, email_id, from_address, recipients, subject, raw) values ($1, $2, $3, '', '{ada@example.com}', '', $4)",
    project.id,
    id,
    newId(),
    Buffer.from(raw),
  );
  let html = "";
  const read = async () => {
    const path = `/mailbox/messages/${id}`;
    html = (await server.call<{ html: string }>("GET", path, project.byKey)).body.html;
  };
  const turnsMs = [await longestTurn(read), await longestTurn(read)];
  expect(html).toHaveLength(250_000 - 1);
  expect(Math.min(...turnsMs)).toBeLessThan(LONGEST_TURN_MS);
});
