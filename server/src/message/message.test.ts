// Tests built messages from outside with a DKIM verifier, a MIME parser and byte checks. Covers message.ts, body.ts, header.ts and
// attachment.ts; dkim.test.ts covers the signer.
import { generateKeyPairSync } from "node:crypto";
import * as fc from "fast-check";
import { dkimVerify } from "mailauth/lib/dkim/verify.js";
import type { Attachment as ReadAttachment } from "postal-mime";
import PostalMime from "postal-mime";
import { expect, test } from "vitest";
import type { Attachment } from "./attachment.ts";
import { safeFilename } from "./attachment.ts";
import { buildBody, type BodyParts } from "./body.ts";
import { signMessage } from "./dkim.ts";
import type { Mailbox } from "./header.ts";
import { buildMessage, type Message, type MessageParts } from "./message.ts";
import { sharePieces } from "./part-text.ts";

const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const key = { domain: "mail.example.com", selector: "s1", privateKey };
const record = `v=DKIM1; k=rsa; p=${publicKey.export({ type: "spki", format: "der" }).toString("base64")}`;

async function resolver(name: string, type: string): Promise<string[][]> {
  if (type === "TXT" && name === "s1._domainkey.mail.example.com") return [[record]];
  throw Object.assign(new Error(`no record for ${type} ${name}`), { code: "ENOTFOUND" });
}

/** The expected content of a message: header fields and body parts. */
type Mail = Omit<MessageParts, "body"> & Omit<BodyParts, "html" | "text"> & { html: string; text: string };

/** @param shared whether the texts come in pieces, as the renderer returns them. */
function build(mail: Mail, shared = false): Message {
  const texts = shared ? { html: sharePieces(mail.html), text: sharePieces(mail.text) } : {};
  return buildMessage({ ...mail, body: buildBody({ ...mail, ...texts }) });
}

function partsWith(changes: Partial<Mail>): Mail {
  return {
    messageId: "0198c5a0-0000-7000-8000-000000000001@mail.example.com",
    date: new Date("2025-11-21T03:27:09.500Z"),
    from: { address: "news@mail.example.com", name: "Example" },
    to: [{ address: "ada@example.net", name: "Ada" }],
    subject: "Hello",
    html: "<p>Hello</p>",
    text: "Hello",
    headers: [],
    attachments: [],
    ...changes,
  };
}

/** Returns the header section as unfolded lines, bytes as characters. */
function headerLines(message: Buffer): string[] {
  const section = message.toString("latin1", 0, message.indexOf("\r\n\r\n"));
  return section.split(/\r\n(?![ \t])/).map((line) => line.replaceAll("\r\n", ""));
}

function countByName(message: Buffer): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const line of headerLines(message)) {
    const name = line.slice(0, line.indexOf(":")).toLowerCase();
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** Checks the line limits of RFC 5322 section 2.1.1 and RFC 2045 section 2.7 on the bytes. */
function expectCleanBytes(message: Buffer): void {
  const text = message.toString("latin1");
  expect(text).not.toMatch(/\r(?!\n)|(?<!\r)\n|\0/);
  expect(text.endsWith("\r\n")).toBe(true);
  const headerEnd = text.indexOf("\r\n\r\n");
  for (const line of text.split("\r\n")) expect(line.length).toBeLessThanOrEqual(998);
  // A longer line is one word that cannot be folded; some clients would read a blank-looking line as the end of the header.
  const folded = text.slice(0, headerEnd).split("\r\n");
  expect(folded.filter((line) => line.length > 78 && line.includes(" ", 1))).toEqual([]);
  expect(folded.filter((line) => line.trim() === "")).toEqual([]);
  expect(text.slice(headerEnd)).toMatch(/^[\x20-\x7e\t\r\n]*$/);
}

/** Returns the content types of the message in the order of the parts. */
function shape(changes: Partial<Mail>): string[] {
  const lines = build(partsWith(changes)).bytes.toString("latin1").split("\r\n");
  return lines.flatMap((line) => /^Content-Type: ([^;]+)/.exec(line)?.[1] ?? []);
}

const TROUBLE = [
  "a",
  "Zürich",
  "日本語",
  "🎉",
  " ",
  "  ",
  "\t",
  "\r\n",
  "\0",
  "\u2028",
  "\r\nBcc: e@evil.example",
];
TROUBLE.push(",", ":;", "(", '"', "\\", "<x@y.example>", "=?utf-8?B?YQ==?=");

/** Without U+FEFF because postal-mime drops it at the start of a text. */
function unicode(maxLength: number): fc.Arbitrary<string> {
  const texts = (["binary", "grapheme", "grapheme-ascii"] as const).map((unit) =>
    fc.string({ unit, maxLength, size: "max" }),
  );
  const trouble = fc.array(fc.constantFrom(...TROUBLE), { maxLength: Math.ceil(maxLength / 8), size: "max" });
  return fc
    .oneof(
      ...texts,
      trouble.map((words) => words.join("")),
    )
    .map((text) => text.replaceAll("\ufeff", ""));
}

const addresses = fc.constantFrom(
  "ada@example.net",
  "o'neil+tag@sub.example.org",
  "a.b.c_d-e@xn--bcher-kva.example",
  `${"l".repeat(64)}@${"d".repeat(60)}.${"e".repeat(60)}.example`,
);
const mailboxes: fc.Arbitrary<Mailbox> = fc.record({ address: addresses, name: unicode(80) });
const attachments: fc.Arbitrary<Attachment> = fc
  .record({
    filename: unicode(300),
    contentType: fc.constantFrom(
      "application/pdf",
      "image/png",
      "text/csv; charset=utf-8",
      'application/x; title="a b"',
      "message/rfc822",
      "x\r\nBcc: y",
    ),
    content: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    disposition: fc.constantFrom("attachment" as const, "inline" as const),
    contentId: fc.option(fc.constantFrom("logo", "img1@mail.example.com"), { nil: undefined }),
  })
  .map(({ contentId, ...rest }) => (contentId === undefined ? rest : { ...rest, contentId }));
const messages: fc.Arbitrary<Mail> = fc.record({
  messageId: fc.uuid().map((id) => `${id}@mail.example.com`),
  date: fc.date({ min: new Date("2000-01-01"), max: new Date("2099-12-31"), noInvalidDate: true }),
  from: mailboxes.map((mailbox) => ({ ...mailbox, address: "news@mail.example.com" })),
  to: fc.array(mailboxes, { minLength: 1, maxLength: 5 }),
  cc: fc.array(mailboxes, { maxLength: 3 }),
  replyTo: fc.array(mailboxes, { minLength: 1, maxLength: 3 }),
  subject: unicode(998),
  html: unicode(3000).map((text) => `<p>${text}</p>`),
  text: unicode(3000).map((text) => `.${text}`),
  headers: fc.array(fc.record({ name: fc.stringMatching(/^X-[A-Za-z0-9-]{1,60}$/), value: unicode(998) }), {
    maxLength: 4,
  }),
  attachments: fc.array(attachments, { maxLength: 4 }),
});

const neutral = (text: string) => text.replace(/[\p{Cc}\u2028\u2029]/gu, " ");
const asReadName = (mailbox: Mailbox) => ({
  address: mailbox.address,
  name: neutral(mailbox.name ?? "").trim(),
});
const isRelated = (sent: Attachment) => sent.disposition === "inline" && sent.contentId !== undefined;
const asSent = (sent: Attachment) => ({
  filename: safeFilename(sent.filename),
  mimeType: /^(message|x\r)/.test(sent.contentType)
    ? "application/octet-stream"
    : sent.contentType.split(";")[0],
  disposition: sent.disposition,
  contentId: sent.contentId === undefined ? undefined : `<${sent.contentId}>`,
  content: Buffer.from(sent.content).toString("hex"),
});
const asRead = (read: ReadAttachment) => ({
  filename: read.filename,
  mimeType: read.mimeType,
  disposition: read.disposition,
  contentId: read.contentId,
  content:
    typeof read.content === "string"
      ? read.content
      : Buffer.from(new Uint8Array(read.content)).toString("hex"),
});
/** postal-mime reads a line break as LF, and counts the one in front of a boundary as text of a quoted-printable part. */
const asReadText = (text = "") => text.replace(/\r\n/g, "\n").replace(/\n$/, "");
const withLf = (text: string) => text.replace(/\r\n?/g, "\n");

test("signed messages of any shape verify and read back exactly as written", async () => {
  await fc.assert(
    fc.asyncProperty(messages, fc.boolean(), async (parts, shared) => {
      const built = build(parts, shared);
      const unsigned = Buffer.from(built.bytes);
      const signed = await signMessage(built, [key]);
      expect(signed.subarray(-unsigned.length).equals(unsigned)).toBe(true);
      expectCleanBytes(signed);

      const { results } = await dkimVerify(signed, { resolver, strict: true });
      expect(results.map((result) => result.status)).toMatchObject([{ result: "pass", aligned: key.domain }]);

      const counts = countByName(signed);
      const once = [
        "from",
        "to",
        "reply-to",
        "subject",
        "date",
        "message-id",
        "mime-version",
        "content-type",
      ];
      expect(once.map((name) => counts[name])).toEqual(once.map(() => 1));
      expect(counts["bcc"]).toBeUndefined();

      const read = await PostalMime.parse(signed);
      expect(read.messageId).toBe(`<${parts.messageId}>`);
      expect(read.date).toBe(new Date(Math.floor(parts.date.getTime() / 1000) * 1000).toISOString());
      expect(read.subject ?? "").toBe(neutral(parts.subject));
      expect(read.from).toEqual(asReadName(parts.from));
      expect(read.to).toEqual(parts.to.map(asReadName));
      expect(read.cc ?? []).toEqual(parts.cc?.map(asReadName));
      expect(asReadText(read.html)).toBe(withLf(parts.html));
      expect([withLf(parts.text), withLf(parts.text).replace(/\n$/, "")]).toContain(asReadText(read.text));
      const related = parts.attachments.filter(isRelated);
      const mixed = parts.attachments.filter((attachment) => !isRelated(attachment));
      expect(read.attachments.map(asRead)).toEqual([...related, ...mixed].map(asSent));
    }),
    { numRuns: 150 },
  );
});

test("puts text first in an alternative, relates inline parts to HTML, mixes files around", () => {
  const image: Attachment = {
    filename: "logo.png",
    contentType: "image/png",
    content: Buffer.from([1, 2, 3]),
    disposition: "inline",
    contentId: "logo",
  };
  const file: Attachment = {
    filename: "a.pdf",
    contentType: "application/pdf",
    content: Buffer.from("x"),
    disposition: "attachment",
  };
  const [alternative, related, mixed] = ["multipart/alternative", "multipart/related", "multipart/mixed"];
  expect(shape({})).toEqual([alternative, "text/plain", "text/html"]);
  expect(shape({ html: "" })).toEqual(["text/plain"]);
  expect(shape({ text: "" })).toEqual(["text/html"]);
  expect(shape({ html: "", text: "" })).toEqual(["text/plain"]);
  expect(shape({ attachments: [image] })).toEqual([
    alternative,
    "text/plain",
    related,
    "text/html",
    "image/png",
  ]);
  expect(shape({ attachments: [file, image] })).toEqual([
    mixed,
    alternative,
    "text/plain",
    related,
    "text/html",
    "image/png",
    "application/pdf",
  ]);
  const nested = build(partsWith({ attachments: [file, image] })).bytes.toString("latin1");
  const boundaries = [...nested.matchAll(/boundary="([^"]+)"/g)].map(([, boundary]) => boundary);
  expect(new Set(boundaries).size).toBe(3);
  expect(shape({ html: "", attachments: [image] })).toEqual([mixed, "text/plain", "image/png"]);
});

test("messages without content or with empty parts verify", async () => {
  const empty: Attachment = {
    filename: "empty",
    contentType: "text/csv",
    content: Buffer.alloc(0),
    disposition: "attachment",
  };
  for (const changes of [
    { html: "", text: "" },
    { html: "", text: "", attachments: [empty, empty] },
  ]) {
    const signed = await signMessage(build(partsWith(changes)), [key]);
    expectCleanBytes(signed);
    const { results } = await dkimVerify(signed, { resolver, strict: true });
    expect(results[0]?.status.result).toBe("pass");
    expect((await PostalMime.parse(signed)).attachments).toHaveLength(changes.attachments?.length ?? 0);
  }
});

async function attempt(messageId: string): Promise<Buffer> {
  return signMessage(build(partsWith({ messageId })), [key]);
}

test("same parts give the same signed bytes and another message gets other boundaries", async () => {
  expect((await attempt("1@mail.example.com")).equals(await attempt("1@mail.example.com"))).toBe(true);
  const boundary = async (id: string) => /boundary="([^"]+)"/.exec((await attempt(id)).toString())?.[1];
  expect(await boundary("1@mail.example.com")).not.toBe(await boundary("2@mail.example.com"));
});

test("line breaks, NULs and commas in any value add no header, recipient or part", async () => {
  const attack = 'x\r\nBcc: e@evil.example\r\n\r\n--b\0, y <z@evil.example>; "q';
  const file: Attachment = {
    filename: attack,
    contentType: `text/plain${attack}`,
    content: Buffer.from("ok"),
    disposition: "attachment",
  };
  const parts = partsWith({
    from: { address: "news@mail.example.com", name: attack },
    to: [{ address: "ada@example.net", name: attack }],
    replyTo: [{ address: "help@example.com", name: attack }],
    subject: attack,
    html: attack,
    text: attack,
    headers: [{ name: "X-Custom", value: attack }],
    attachments: [file],
  });
  const message = build(parts).bytes;
  expectCleanBytes(message);
  expect(Object.keys(countByName(message))).toEqual([
    "from",
    "to",
    "reply-to",
    "subject",
    "date",
    "message-id",
    "x-custom",
    "mime-version",
    "content-type",
  ]);
  const read = await PostalMime.parse(message);
  expect(read.to?.map((mailbox) => mailbox.address)).toEqual(["ada@example.net"]);
  expect(read.from?.address).toBe("news@mail.example.com");
  expect(read.attachments).toHaveLength(1);
});

test.each(["From", "to", "BCC", "Subject", "Content-Type", "content-x", "MIME-Version", "DKIM-Signature"])(
  "rejects a custom header %s because the message writes it itself",
  (name) => {
    expect(() => build(partsWith({ headers: [{ name, value: "x" }] }))).toThrow("writes this header itself");
  },
);

test.each(["", "X Y", "X:", "X\r\nBcc", "X\0", "Ü", "X".repeat(257)])(
  "rejects a custom header %j",
  (name) => {
    expect(() => build(partsWith({ headers: [{ name, value: "x" }] }))).toThrow("Not a header field name");
  },
);

test("rejects a malformed message id or date", () => {
  expect(() => build(partsWith({ messageId: "a b@x" }))).toThrow("Not an id for Message-ID");
  expect(() => build(partsWith({ date: new Date(Number.NaN) }))).toThrow("no valid date");
});

test.each(["a\r\nb\r\n", "  a  \t b  ", "a \r\n\r\n\r\n", "\r\n", "\r\n\r\n", " ", "a  b\r\n\r\n", ""])(
  "a message with only the text %j verifies",
  async (text) => {
    const signed = await signMessage(build(partsWith({ html: "", text })), [key]);
    const { results } = await dkimVerify(signed, { resolver, strict: true });
    expect(results[0]?.status.result).toBe("pass");
  },
);

test("breaks one line of HTML of any length into short lines", () => {
  const message = build(partsWith({ html: `<p>${"ü".repeat(30_000)}</p>` })).bytes;
  expectCleanBytes(message);
  const body = message.toString("latin1", message.indexOf("\r\n\r\n"));
  expect(Math.max(...body.split("\r\n").map((line) => line.length))).toBe(76);
});

test("encodes texts of any length, whether or not they fit into the scratch memory", async () => {
  for (const length of [0, 100_000, 180_000, 300_000, 700_000]) {
    const mail = partsWith({ html: `<p>${"ä€".repeat(length)}</p>`, text: "é".repeat(length + 1) });
    const { html, text } = await PostalMime.parse(build(mail).bytes);
    expect([html?.trimEnd() === mail.html, text?.trimEnd() === mail.text]).toEqual([true, true]);
  }
});

test("writes a header that is larger than the room in front of the body", async () => {
  const headers = Array.from({ length: 40 }, (_, number) => ({
    name: `X-${number}`,
    value: "v".repeat(200),
  }));
  for (const count of [0, 10, 20, 30, 40]) {
    const signed = await signMessage(build(partsWith({ headers: headers.slice(0, count) })), [key]);
    expectCleanBytes(signed);
    expect(headerLines(signed).filter((line) => line.startsWith("X-"))).toHaveLength(count);
    const { results } = await dkimVerify(signed, { resolver, strict: true });
    expect(results[0]?.status.result).toBe("pass");
  }
});

test("writes the date in UTC with a numeric offset", () => {
  expect(headerLines(build(partsWith({})).bytes)).toContain("Date: Fri, 21 Nov 2025 03:27:09 +0000");
});
