// Rejected calls of POST /v1/send over HTTP, with every error reported and nothing written. No sender runs, so the rows stay unchanged.
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { faultsOf, errorOf, useTestServer } from "../testing/test-server.ts";

const server = useTestServer({ ROLES: "api" });

let made = 0;
const newAddress = () => `to${++made}@example.com`;
const plain = { from: "news@sandbox.localhost", subject: "Hello", body: "<p>Hello</p>" };
const refuse = (body: object) => server.call("POST", "/v1/send", server.project.byKey, { ...plain, ...body });

test.for([
  ["no to", { to: undefined }, ["to required"]],
  ["no one in to", { to: [] }, ["to too_small"]],
  ["101 recipients", { to: Array(101).fill("a@example.com") }, ["to too_big"]],
  ["null", { to: null }, ["to invalid_type"]],
  ["a number", { to: 5 }, ["to invalid_type"]],
  ["an empty object", { to: {} }, ["to.email required"]],
  ["a list in a list", { to: [["a@example.com"]] }, ["to.0 invalid_type"]],
  [
    "several faults",
    { to: ["a@example.com", "x", { email: 5 }, null, { name: "N" }] },
    ["to.1 invalid_string", "to.2.email invalid_type", "to.3 invalid_type", "to.4.email required"],
  ],
  ["a comma list", { to: "a@example.com,b@example.com" }, ["to invalid_string"]],
  ["two addresses in one", { to: "a@example.com <b@example.com>" }, ["to invalid_string"]],
  ["something after the address", { to: "<a@example.com>b@example.com" }, ["to invalid_string"]],
  ["a line break", { to: "a@example.com\r\nBcc: b@example.com" }, ["to invalid_string"]],
  ["an SMTP command", { to: "a@example.com>\r\nRCPT TO:<b@example.com" }, ["to invalid_string"]],
  ["a group", { to: "group:a@example.com;" }, ["to invalid_string"]],
  [
    "a line break in the name",
    { to: { email: "a@example.com", name: "A\r\nBcc: b@example.com" } },
    ["to.name invalid_string"],
  ],
  ["a line break in a quoted name", { to: '"A\nB" <a@example.com>' }, ["to invalid_string"]],
  ["a long name", { to: { email: "a@example.com", name: "x".repeat(257) } }, ["to.name too_big"]],
  ["a name that is none", { to: { email: "a@example.com", name: 5 } }, ["to.name invalid_type"]],
  ["an address literal", { to: "a@[127.0.0.1]" }, ["to invalid_string"]],
  ["one label", { to: "a@localhost" }, ["to invalid_string"]],
  ["ten thousand brackets", { to: "<".repeat(10_000) }, ["to invalid_string"]],
  ["a NUL", { to: "a\u0000@example.com" }, ["to custom"]],
  [
    "a faulty sender",
    { to: "a@example.com", from: { email: "x", name: "a\nb" } },
    ["from.email invalid_string", "from.name invalid_string"],
  ],
  ["no sender", { to: "a@example.com", from: undefined }, ["from required"]],
  ["a faulty old name", { to: "a@example.com", name: "a\r\nb" }, ["name invalid_string"]],
  ["a long tag", { to: "a@example.com", tags: ["a", "x".repeat(10_000)] }, ["tags.1 too_big"]],
  ["too many tags", { to: "a@example.com", tags: Array(11).fill("a") }, ["tags too_big"]],
  ["a line break in a tag", { to: "a@example.com", tags: ["a\nb"] }, ["tags.0 invalid_string"]],
  ["an empty tag", { to: "a@example.com", tags: [""] }, ["tags.0 too_small"]],
  ["metadata that is no text", { to: "a@example.com", metadata: { a: 1 } }, ["metadata.a invalid_type"]],
  ["a list of metadata", { to: "a@example.com", metadata: ["a"] }, ["metadata invalid_type"]],
  ["large metadata", { to: "a@example.com", metadata: { a: "ü".repeat(2_048) } }, ["metadata too_big"]],
  ["text alone", { to: "a@example.com", body: undefined, text: "Hello" }, ["body required"]],
  [
    "no subject and no body",
    { to: "a@example.com", subject: undefined, body: undefined },
    ["body required", "subject required"],
  ],
  [
    "an empty subject and body",
    { to: "a@example.com", subject: "", body: "" },
    ["body too_small", "subject too_small"],
  ],
  ["a subject of 999 characters", { to: "a@example.com", subject: "x".repeat(999) }, ["subject too_big"]],
  ["a subject with CR", { to: "a@example.com", subject: "a\rb" }, ["subject invalid_string"]],
  ["a subject with LF", { to: "a@example.com", subject: " \nb" }, ["subject invalid_string"]],
  ["a subject with NEL", { to: "a@example.com", subject: "a\u0085b" }, ["subject invalid_string"]],
  [
    "a subject with a line separator",
    { to: "a@example.com", subject: "a\u2028b" },
    ["subject invalid_string"],
  ],
  ["a body that is no text", { to: "a@example.com", body: { html: "x" } }, ["body invalid_type"]],
  [
    "a body that is a parsed template",
    { to: "a@example.com", body: { type: "Program", body: [] } },
    ["body invalid_type"],
  ],
  ["a body over 5 MB", { to: "a@example.com", body: "x".repeat(5 * 1024 * 1024 + 1) }, ["body too_big"]],
  ["a body over 5 MB in UTF-8", { to: "a@example.com", body: "ü".repeat(3 * 1024 * 1024) }, ["body too_big"]],
  ["an empty text", { to: "a@example.com", text: "" }, ["text too_small"]],
  [
    "a faulty reply address",
    { to: "a@example.com", reply: "x", replyTo: 5 },
    ["reply invalid_string", "replyTo invalid_type"],
  ],
  ["an empty template name", { to: "a@example.com", template: "" }, ["template too_small"]],
  [
    "51 copies",
    { to: "a@example.com", cc: Array(26).fill("c@example.com"), bcc: Array(25).fill("b@example.com") },
    ["cc too_big"],
  ],
  ["51 blind copies", { to: "a@example.com", bcc: Array(51).fill("b@example.com") }, ["bcc too_big"]],
  [
    "faulty copies",
    { to: "a@example.com", cc: ["x"], bcc: { email: "y" } },
    ["bcc.email invalid_string", "cc.0 invalid_string"],
  ],
  ["subscribed that is none", { to: "a@example.com", subscribed: "yes" }, ["subscribed invalid_type"]],
  [
    "everything wrong",
    {
      to: 1,
      from: 2,
      subject: 3,
      body: 4,
      text: 5,
      template: 6,
      name: 7,
      subscribed: 8,
      data: 9,
      headers: 10,
      reply: 11,
      replyTo: 12,
      cc: 13,
      bcc: 14,
      attachments: 15,
    },
    [
      "attachments",
      "bcc",
      "body",
      "cc",
      "data",
      "from",
      "headers",
      "name",
      "reply",
      "replyTo",
      "subject",
      "subscribed",
      "template",
      "text",
      "to",
    ].map((field) => `${field} invalid_type`),
  ],
] as Array<[string, object, string[]]>)(
  "rejects %s, reports every error and writes nothing",
  async ([, body, faults]) => {
    const before = await server.countRows();
    const reply = await refuse(body);
    expect(reply.status).toBe(422);
    expect(faultsOf(reply)).toEqual(faults);
    expect(await server.countRows()).toEqual(before);
  },
);

test("writes nothing for one faulty recipient of five, faulty data or an unverified domain", async () => {
  const before = await server.countRows();
  const to = Array.from({ length: 5 }, newAddress);
  expect((await refuse({ to: [...to, "nobody"] })).status).toBe(422);
  expect((await refuse({ to, data: { ok: 1, constructor: 1 }, subscribed: true })).status).toBe(422);
  expect(errorOf(await refuse({ to, from: "a@unverified.example", subscribed: true }))).toBe(
    "403 DOMAIN_NOT_VERIFIED",
  );
  expect((await refuse({ to, body: "{{#if}" })).status).toBe(422);
  expect(errorOf(await refuse({ to, template: randomUUID() }))).toBe("404 TEMPLATE_NOT_FOUND");
  expect(errorOf(await refuse({ to, template: randomUUID(), from: "a@elsewhere.example" }))).toBe(
    "403 DOMAIN_NOT_VERIFIED",
  );
  expect(await server.countRows()).toEqual(before);
});

test.for([
  ["body", "<p>\n  {{#if a}", "body"],
  ["body", "{{#each a}}x", "body"],
  ["body", "{{> partial}}", "body"],
  ["body", "{{nosuchhelper a b}}", "body"],
  ["body", "x {{/if}}", "body"],
  ["subject", "Hello {{", "subject"],
  ["text", "Hello {{#if}}", "text"],
] as const)("reports a template error in %s (%j) with line and column", async ([field, text, reported]) => {
  const before = await server.countRows();
  const reply = await refuse({ to: newAddress(), [field]: text });
  expect(reply.status).toBe(422);
  expect(faultsOf(reply)).toEqual([`${reported} custom`]);
  expect(reply.body.error.errors?.[0]?.message).toMatch(/^Line \d+, column \d+: ./);
  expect(await server.countRows()).toEqual(before);
});

test("reports errors in several templates at once", async () => {
  const reply = await refuse({ to: newAddress(), subject: "{{", body: "{{#if}}", text: "{{>x}}" });
  expect(faultsOf(reply)).toEqual(["body custom", "subject custom", "text custom"]);
});

const base64 = (sizeBytes: number) => Buffer.alloc(sizeBytes).toString("base64");
const MEGABYTE = 1024 * 1024;

test.for([
  ["eleven attachments", Array<number>(11).fill(1)],
  ["one byte more than 10 MB of attachments", [...Array<number>(9).fill(MEGABYTE), MEGABYTE + 1]],
] as Array<[string, number[]]>)("rejects %s", async ([, sizes]) => {
  const before = await server.countRows();
  const attachments = sizes.map((size, at) => ({ filename: `${at}.bin`, content: base64(size) }));
  const reply = await refuse({ to: newAddress(), attachments });
  expect(reply.status).toBe(422);
  expect(faultsOf(reply)).toEqual(["attachments too_big"]);
  expect(await server.countRows()).toEqual(before);
});

const good = { filename: "a.txt", content: "eA==" };
test.for([
  ["no name", { content: "eA==" }, ["filename required"]],
  ["an empty name", { ...good, filename: "" }, ["filename too_small"]],
  ["a long name", { ...good, filename: "x".repeat(256) }, ["filename too_big"]],
  ["a path", { ...good, filename: "../../x" }, ["filename invalid_string"]],
  ["a Windows path", { ...good, filename: "a\\b" }, ["filename invalid_string"]],
  ["a line break in the name", { ...good, filename: "a\r\nX: y" }, ["filename invalid_string"]],
  ["no content", { filename: "a" }, ["content required"]],
  ["padding alone", { ...good, content: "==" }, ["content invalid_string"]],
  ["one letter", { ...good, content: "e" }, ["content invalid_string"]],
  ["five letters", { ...good, content: "eHh4e" }, ["content invalid_string"]],
  ["too little padding", { ...good, content: "eA=" }, ["content invalid_string"]],
  ["too much padding", { ...good, content: "eHh4=" }, ["content invalid_string"]],
  ["padding inside", { ...good, content: "eA==eA==" }, ["content invalid_string"]],
  ["no base64", { ...good, content: "<html>" }, ["content invalid_string"]],
  ["a data URL that is no base64", { ...good, content: "data:text/plain,eA" }, ["content invalid_string"]],
  ["a data URL with faulty base64", { ...good, content: "data:;base64,eA=" }, ["content invalid_string"]],
  ["bytes as a list", { ...good, content: [1, 2] }, ["content invalid_type"]],
  ["a path to a file", { filename: "a", path: "/etc/passwd" }, ["content required"]],
  ["a URL to fetch", { filename: "a", href: "http://127.0.0.1/" }, ["content required"]],
  ["a type that is none", { ...good, contentType: "text" }, ["contentType invalid_string"]],
  ["a parameter without a value", { ...good, contentType: "text/x; a" }, ["contentType invalid_string"]],
  ["a parameter with a line break", { ...good, type: 'text/x; a="b\r\nX: y"' }, ["type invalid_string"]],
  ["a type that is long", { ...good, type: `text/x${"; a=b".repeat(100)}` }, ["type too_big"]],
  ["a type with a line break", { ...good, type: "text/plain\r\nX: y" }, ["type invalid_string"]],
  ["a content id with a bracket", { ...good, contentId: "a>\r\nX: y" }, ["contentId invalid_string"]],
  ["a content id in another script", { ...good, contentId: "lögö" }, ["contentId invalid_string"]],
  ["a content id with a control character", { ...good, contentId: "a\u0001b" }, ["contentId invalid_string"]],
  ["inline without a content id", { ...good, disposition: "inline" }, ["contentId required"]],
  ["another disposition", { ...good, disposition: "hidden" }, ["disposition invalid_enum_value"]],
  ["null", null, [" invalid_type"]],
  ["a text", "eA==", [" invalid_type"]],
] as Array<[string, unknown, string[]]>)("rejects an attachment with %s", async ([, attachment, faults]) => {
  const before = await server.countRows();
  const reply = await refuse({ to: newAddress(), attachments: [good, attachment] });
  expect(reply.status).toBe(422);
  expect(faultsOf(reply)).toEqual(faults.map((fault) => `attachments.1.${fault}`.replace(". ", " ")));
  expect(await server.countRows()).toEqual(before);
});

const OWN =
  "To Cc Bcc From Sender Subject Return-Path Date Message-ID MIME-Version Content-Type Content-Transfer-Encoding Content-ID DKIM-Signature ARC-Seal ARC-Message-Signature Received Authentication-Results Feedback-ID X-Postloft-Id Resent-To";

const PROVIDERS =
  "X-SES-CONFIGURATION-SET X-SES-SOURCE-ARN X-SMTPAPI X-MSYS-API X-Mailgun-Variables X-MC-Subaccount X-PM-Message-Stream X-MJ-CustomID X-Mailin-custom X-Sib-Sandbox X-Amz-Meta X-SG-EID X-MS-Exchange-Organization-SCL";

test.for([
  ...`${OWN} ${PROVIDERS}`.split(" ").flatMap((name) => [
    [name, "x"],
    [name.toLowerCase(), "x"],
  ]),
  ["X Space", "x"],
  ["X:Colon", "x"],
  ["X\r\nBcc", "x"],
  ["X-Ünï", "x"],
  ["", "x"],
  ["X-Value", "a\r\nBcc: b@example.com"],
  ["X-Value", "a\nb"],
  ["X-Value", "a\u0085b"],
  ["X-Value", "a\u2028b"],
] as Array<[string, string]>)("rejects the header %j: %j", async ([name, value]) => {
  const reply = await refuse({ to: newAddress(), headers: { [name]: value } });
  expect(reply.status).toBe(422);
  expect(faultsOf(reply)).toEqual([`headers.${name} invalid_string`]);
});

test.for([
  ["a value of 999 characters", { "X-Long": "x".repeat(999) }, ["headers.X-Long too_big"]],
  [
    "a value that is no text",
    { "X-N": 5, "X-O": {}, "X-L": null },
    ["headers.X-L invalid_type", "headers.X-N invalid_type", "headers.X-O invalid_type"],
  ],
  ["a name of 101 characters", { ["x".repeat(101)]: "x" }, [`headers.${"x".repeat(100)} invalid_string`]],
  [
    "51 headers",
    Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`X-${at}`, "x"])),
    ["headers too_big"],
  ],
  ["a name twice", { "X-A": "1", "x-a": "2" }, ["headers custom"]],
  ["half of List-Unsubscribe", { "List-Unsubscribe": "<https://example.com>" }, ["headers custom"]],
  ["the other half", { "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" }, ["headers custom"]],
  ["a NUL in a value", { "X-A": "a\u0000" }, ["headers.X-A custom"]],
  ["a NUL in a name", { "X\u0000": "a" }, ["headers.X\u0000 custom"]],
  ["a list", ["X-A: x"], ["headers invalid_type"]],
  ["a faulty Reply-To", { "Reply-To": "a@example.com, nobody" }, ["headers.Reply-To invalid_string"]],
  [
    "too many in Reply-To",
    { "Reply-To": Array(11).fill("a@example.com").join() },
    ["headers.Reply-To too_big"],
  ],
] as Array<[string, unknown, string[]]>)("rejects headers with %s", async ([, headers, faults]) => {
  const reply = await refuse({ to: newAddress(), headers });
  expect(reply.status).toBe(422);
  expect(faultsOf(reply)).toEqual(faults);
});

test("rejects two different reply addresses", async () => {
  const headers = { "Reply-To": "a@example.com" };
  expect(faultsOf(await refuse({ to: newAddress(), headers, reply: "b@example.com" }))).toEqual([
    "headers custom",
  ]);
});
