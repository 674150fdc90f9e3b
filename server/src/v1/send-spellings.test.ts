// Bodies of POST /v1/send as written for other services: spellings, attachments, unknown fields, and times.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import * as mailbox from "@postloft/contract/mailbox.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { faultsOf, useTestServer } from "../testing/test-server.ts";
import type { ResponseOf } from "../testing/typed-call.ts";

const server = useTestServer();
const WAIT = { timeout: 30_000, interval: 20 };

type Sent = ResponseOf<typeof v1.send>;
interface Message {
  id: string;
  to: string;
  html: string;
  headers: Array<{ name: string; value: string }>;
  attachments: Array<{ filename: string; contentType: string; sizeBytes: number }>;
}

const FROM = "hello@sandbox.localhost";
let people = 0;
const newAddress = () => `reader${++people}@example.com`;

async function post(body: object) {
  const whole = { to: newAddress(), from: FROM, subject: "Hello", body: "<p>Hello</p>", tracking: false };
  return server.call<Sent>("POST", "/v1/send", server.project.byKey, { ...whole, ...body });
}
/** A rejected request. */
async function refuse(body: object) {
  const whole = { to: newAddress(), from: FROM, subject: "Hello", body: "<p>Hello</p>" };
  return server.call("POST", "/v1/send", server.project.byKey, { ...whole, ...body });
}

async function sendAndRead(body: object): Promise<Message> {
  const to = newAddress();
  expect(await post({ to, ...body })).toMatchObject({ status: 200, body: { success: true } });
  return vi.waitFor(async () => {
    const { byKey } = server.project;
    const path = `/mailbox/messages?to=${encodeURIComponent(to)}`;
    const { body: list } = await server.call<{ data: Message[] }>("GET", path, byKey);
    expect(list.data.length).toBeGreaterThan(0);
    return (await server.call<Message>("GET", `/mailbox/messages/${list.data[0]?.id}`, byKey)).body;
  }, WAIT);
}

const headerOf = ({ headers }: Message, name: string) =>
  headers.find((header) => header.name.toLowerCase() === name)?.value;
const warningsOf = ({ body }: { body: Sent }) =>
  (body.data.warnings ?? []).map(({ code, where }) => `${where.field} ${code}`);

test.for(["reply_to", "reply-to", "Reply-To", "replyto", "ReplyTo"])("reads %s as replyTo", async (name) => {
  const message = await sendAndRead({ [name]: "answers@example.com" });
  expect(headerOf(message, "reply-to")).toBe("answers@example.com");
});

test("accepts capital letters, variables and a single attachment without a warning", async () => {
  const file = { file_name: "a.bin", content: "eA==", content_type: "image/x-test" };
  const body = {
    body: "<p>{{plan}}</p>",
    variables: { plan: "gold" },
    attachment: file,
    Cc: "cc@example.com",
  };
  expect(warningsOf(await post(body))).toEqual([]);
  const message = await sendAndRead(body);
  expect(message.html).toContain("<p>gold</p>");
  expect(headerOf(message, "cc")).toBe("cc@example.com");
  expect(message.attachments).toMatchObject([
    { filename: "a.bin", contentType: "image/x-test", sizeBytes: 1 },
  ]);
});

test("ignores unknown fields with a warning, also nested ones and alternative spellings", async () => {
  const reply = await post({
    tagz: ["a"],
    headres: { "X-A": "1" },
    replyTo: "a@example.com",
    reply_to: "b@example.com",
    to: { email: newAddress(), firstName: "Ada" },
    attachments: [{ filename: "a.txt", content: "eA==", encoding: "base64" }],
  });
  expect(reply.status).toBe(200);
  expect(warningsOf(reply).toSorted()).toEqual(
    ["tagz", "headres", "reply_to", "to.firstName", "attachments.0.encoding"]
      .map((field) => `${field} unknown_field`)
      .toSorted(),
  );
  const messages = reply.body.data.warnings?.map(({ message }) => message) ?? [];
  expect(messages).toContain("`headres` is unknown and was ignored. Did you mean `headers`?");
});

const TIMES =
  "scheduledAt scheduled_at schedule scheduleAt sendAt send_at SendAt send_on sendAfter sendLater deliverAt delivery_time deliveryTime o:deliverytime delay delaySeconds delay_until notBefore".split(
    " ",
  );

test.for(TIMES)("rejects a send with %s because it would not wait", async (name) => {
  for (const value of ["2100-01-01T00:00:00Z", 60, null]) {
    const reply = await refuse({ to: "reader-late@example.com", [name]: value });
    expect([reply.status, faultsOf(reply)]).toEqual([422, [`${name} unknown_field`]]);
    expect(reply.body.message).toContain("scheduledFor");
  }
  const rows = await server.rows("select 1 from emails where to_address like 'reader-late%'");
  expect(rows).toEqual([]);
});

const PDF = "JVBERi0xLjQ+Pz8/";
const CALENDAR = Buffer.from("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\n").toString(
  "base64",
);
const PLAIN_CALENDAR = Buffer.from("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\n").toString("base64");

test.for([
  ["a data URL", { filename: "a", content: `data:application/pdf;base64,${PDF}` }, "application/pdf"],
  ["a data URL without a type", { filename: "a.png", content: `data:;base64,${PDF}` }, "image/png"],
  ["the alphabet of URLs", { filename: "a.pdf", content: "JVBERi0xLjQ-Pz8_" }, "application/pdf"],
  [
    "wrapped lines",
    { filename: "A.PDF", content: `${PDF.slice(0, 7)}\r\n${PDF.slice(7)}\n` },
    "application/pdf",
  ],
  ["its own type", { filename: "a.pdf", content: PDF, contentType: "text/x-own" }, "text/x-own"],
  ["an invitation", { filename: "a.ics", content: CALENDAR }, "text/calendar; method=REQUEST"],
  ["a calendar without a method", { filename: "a.ics", content: PLAIN_CALENDAR }, "text/calendar"],
  ["an unknown ending", { filename: "a.constructor", content: PDF }, "application/octet-stream"],
] as Array<[string, { filename: string; content: string }, string]>)(
  "delivers an attachment with %s with its type",
  async ([, file, type]) => {
    const { id } = await sendAndRead({ attachments: [file] });
    const raw = await server.call(mailbox.getRawMessage, server.project.byKey, { params: { id } });
    expect(raw.text).toMatch(new RegExp(`Content-Type: ${type};\\s+name="?${file.filename}`));
    const isCalendar = file.filename.endsWith("ics");
    expect(raw.text.replaceAll("\r\n", "")).toContain(isCalendar ? file.content : PDF);
  },
);

/** The first sentence of the message of a 422. */
async function sentence(method: string, path: string, body: object): Promise<string | undefined> {
  const reply = await server.call(method, path, server.project.byKey, body);
  expect([reply.status, reply.body.message]).toEqual([422, reply.body.error.message]);
  return reply.body.message.split(". ")[0];
}

test("names the fields and reasons in the first sentence of a 422", async () => {
  expect(await sentence("POST", "/v1/send", { to: "ada", from: FROM, html: "x", subject: "s" })).toMatch(
    /`to`: .+ `body`: required without a template; `html` was sent: did you mean `body`\?/,
  );
  expect(await sentence("POST", "/v1/track", { email: "ada@example.com" })).toContain("`event`: required");
  expect(await sentence("POST", "/v1/contacts", {})).toContain("`email`: required");
  expect(await sentence("POST", "/v1/send", { to: newAddress(), subject: "s", body: "b" })).toContain(
    "`from`: ",
  );
});

test("returns no warning for the first request in the README", async () => {
  const readme = readFileSync(join(import.meta.dirname, "../../../README.md"), "utf8");
  const [, json = ""] = /v1\/send .+ -d '(\{[^']+\})/s.exec(readme) ?? [];
  const reply = await server.call(v1.send, server.project.byKey, { anyBody: json });
  expect(JSON.parse(json)).toMatchObject({ subject: 'Hello {{firstName ?? "there"}}' });
  expect([reply.status, reply.body.data.warnings]).toEqual([200, undefined]);
});
