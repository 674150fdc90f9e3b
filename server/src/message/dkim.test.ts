// Tests that independent verifiers accept signatures, that any signed change breaks them, and that no message stays unsigned.
// message.test.ts signs messages of every shape; this file covers the signer's edge cases.
import type { KeyObject } from "node:crypto";
import { createPublicKey, generateKeyPairSync } from "node:crypto";
import * as fc from "fast-check";
import { dkimVerify } from "mailauth/lib/dkim/verify.js";
import { expect, test } from "vitest";
import { bodySha256 } from "./body-hash.ts";
import { DkimSigningError, signMessage, type DkimKey } from "./dkim.ts";
import { relaxedLines } from "./quoted-printable.ts";

const rsa = keyOf(generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey);
const ed25519 = keyOf(generateKeyPairSync("ed25519").privateKey);

function keyOf(privateKey: KeyObject): DkimKey {
  return { domain: "mail.example.com", selector: privateKey.asymmetricKeyType ?? "", privateKey };
}

/** RFC 6376 section 3.6.1 and RFC 8463 section 4: RSA as SubjectPublicKeyInfo, Ed25519 as the bare 32 bytes. */
function recordOf(key: DkimKey): string {
  const der = createPublicKey(key.privateKey).export({ type: "spki", format: "der" });
  return `v=DKIM1; k=${key.selector}; p=${(key === rsa ? der : der.subarray(-32)).toString("base64")}`;
}

async function verify(message: Buffer): Promise<string[]> {
  const records = new Map(
    [rsa, ed25519].map((key) => [`${key.selector}._domainkey.${key.domain}`, recordOf(key)]),
  );
  const resolver = async (name: string, type: string) => {
    const record = type === "TXT" ? records.get(name) : undefined;
    if (record === undefined) throw Object.assign(new Error(`no ${name}`), { code: "ENOTFOUND" });
    return [[record]];
  };
  const { results } = await dkimVerify(message, { resolver, strict: true });
  return results.map((result) => result.status.result);
}

const SIGNED = {
  From: "Example <news@mail.example.com>",
  To: "ada@example.net",
  Cc: "grace@example.net",
  "Reply-To": "help@example.com",
  Sender: "post@mail.example.com",
  Subject: "Hello  \t there",
  Date: "Fri, 21 Nov 2025 03:27:00 +0000",
  "Message-ID": "<1@mail.example.com>",
  "In-Reply-To": "<0@mail.example.com>",
  References: "<a@mail.example.com>\r\n\t<b@mail.example.com>",
  "MIME-Version": "1.0",
  "Content-Type": "text/plain; charset=utf-8",
  "Content-Transfer-Encoding": "7bit",
  "List-Unsubscribe": "<https://mail.example.com/u/1>",
  "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
  "List-Id": "<news.example.com>",
  "Feedback-ID": "c:p:m:s",
  "Auto-Submitted": "auto-generated",
  Precedence: "bulk",
};
const BODY = "Hello,\r\n\r\nthis is it.\r\n";

function messageOf(fields: Record<string, string>, body = BODY): Buffer {
  const header = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${header.join("")}\r\n${body}`);
}

/** Signs bytes that message.ts did not build. */
function sign(
  message: Buffer,
  key: DkimKey | [DkimKey, DkimKey],
  uncovered?: readonly string[],
): Promise<Buffer> {
  const keys = Array.isArray(key) ? key : ([key] as const);
  const body = message.subarray(message.indexOf("\r\n\r\n") + 4);
  const sha256 = bodySha256(body, 0, [{ start: 0, end: body.length, relaxed: relaxedLines(body) }]);
  return signMessage({ bytes: message, roomBytes: 0, bodySha256: sha256 }, keys, uncovered);
}

test.each([
  ["RSA", rsa],
  ["Ed25519", ed25519],
])("%s signatures verify and leave the message bytes unchanged", async (_, key) => {
  const message = messageOf(SIGNED);
  const signed = await sign(message, key);
  expect(await verify(signed)).toEqual(["pass"]);
  expect(signed.subarray(-message.length).equals(message)).toBe(true);
});

test("signature lists sha256, relaxed/relaxed, the domain, no length and each field once extra", async () => {
  const signed = (await sign(messageOf({ ...SIGNED, "X-Other": "1" }), rsa)).toString();
  const field = signed.slice(0, signed.indexOf("\r\nFrom:"));
  for (const line of field.split("\r\n")) expect(line.length).toBeLessThanOrEqual(78);
  const tags = Object.fromEntries(
    field
      .replace("DKIM-Signature:", "")
      .split(";")
      .map((tag) => tag.replace(/\s+/g, ""))
      .map((tag) => [tag.slice(0, tag.indexOf("=")), tag.slice(tag.indexOf("=") + 1)]),
  );
  expect(tags).toMatchObject({
    v: "1",
    a: "rsa-sha256",
    c: "relaxed/relaxed",
    d: "mail.example.com",
    s: "rsa",
  });
  expect(Object.keys(tags).sort()).toEqual(["a", "b", "bh", "c", "d", "h", "s", "v"]);
  const names = Object.keys(SIGNED).map((name) => name.toLowerCase());
  expect(tags["h"]?.split(":").sort()).toEqual([...names, ...names].sort());
});

test("RSA and Ed25519 signatures verify together", async () => {
  const signed = await sign(messageOf(SIGNED), [rsa, ed25519]);
  expect(await verify(signed)).toEqual(["pass", "pass"]);
  expect(signed.toString().match(/a=[\w-]+/g)).toEqual(["a=rsa-sha256", "a=ed25519-sha256"]);
  expect(await verify(Buffer.from(signed.toString().replace("this is it", "this was it")))).not.toContain(
    "pass",
  );
});

test.each(Object.keys(SIGNED))("changing, removing or duplicating %s breaks the signature", async (name) => {
  const signed = (await sign(messageOf(SIGNED), rsa)).toString();
  const line = new RegExp(`\\r\\n${name}: (.*(?:\\r\\n[ \\t].*)*)`);
  const changes = [
    signed.replace(line, `\r\n${name}: x$1`),
    signed.replace(line, ""),
    signed.replace(line, `\r\n${name}: x$&`),
    `${name}: x\r\n${signed}`,
  ];
  for (const changed of changes) {
    expect(changed).not.toBe(signed);
    expect(await verify(Buffer.from(changed))).not.toContain("pass");
  }
});

test.each(["Cc", "Reply-To", "Sender", "List-Unsubscribe", "List-Unsubscribe-Post"])(
  "adding a missing %s breaks the signature",
  async (name) => {
    const { [name]: _, ...fields } = SIGNED as Record<string, string>;
    const signed = (await sign(messageOf(fields), rsa)).toString();
    expect(await verify(Buffer.from(signed))).toEqual(["pass"]);
    expect(await verify(Buffer.from(`${name}: x@evil.example\r\n${signed}`))).not.toContain("pass");
  },
);

test("other absent fields and fields written by the transport may be added", async () => {
  const { From, To, Subject } = SIGNED;
  const signed = (await sign(messageOf({ From, To, Subject }), rsa, ["list-unsubscribe"])).toString();
  const added = "List-Id: <x.example>\r\nPrecedence: bulk\r\nList-Unsubscribe: <https://x.example>\r\n";
  expect(await verify(Buffer.from(added + signed))).toEqual(["pass"]);
});

test("leaves fields uncovered that the transport replaces and covers all others", async () => {
  const uncovered = ["date", "message-id", "from"];
  const signed = (await sign(messageOf(SIGNED), rsa, uncovered)).toString();
  const replaced = signed
    .replace(/^Message-ID:.*$/m, "Message-ID: <other@ses.example>\r")
    .replace(/^Date:.*$/m, "Date: Sat, 22 Nov 2025 03:27:00 +0000\r");
  expect(replaced).not.toBe(signed);
  expect(await verify(Buffer.from(replaced))).toEqual(["pass"]);
  // From is always covered (RFC 6376 section 5.4).
  for (const name of ["Subject", "From"])
    expect(await verify(Buffer.from(replaced.replace(`${name}: `, `${name}: x`)))).not.toContain("pass");
});

test("changing any byte of the body breaks the signature", async () => {
  const signed = await sign(messageOf(SIGNED), rsa);
  for (let position = signed.length - BODY.length; position < signed.length; position++) {
    const changed = Buffer.from(signed);
    changed[position] = changed[position] === 0x58 ? 0x59 : 0x58;
    expect(await verify(changed), `byte ${position}`).not.toContain("pass");
  }
  expect(await verify(Buffer.concat([signed, Buffer.from("more\r\n")]))).not.toContain("pass");
});

test("white space changes that relays may make keep the signature valid", async () => {
  const signed = (await sign(messageOf(SIGNED, "a  b\t\tc\r\n\r\n\r\n"), rsa)).toString();
  const relayed = signed
    .replace("Subject: Hello  \t there", "SUBJECT:Hello\r\n there ")
    .replace("a  b\t\tc\r\n\r\n\r\n", "a b  c \r\n\r\n");
  expect(await verify(Buffer.from(relayed))).toEqual(["pass"]);
});

test.each(["  a\r\nb\r\n", "a\tb\r\n", "a  b\r\n\r\n", "a\r\n\r\n", "\r\n", "\r\n\r\n", ""])(
  "verifies the body %j, which is not in canonical form",
  async (body) => {
    expect(await verify(await sign(messageOf(SIGNED, body), rsa))).toEqual(["pass"]);
  },
);

test("signs a repeated field from the last occurrence to the first", async () => {
  const message = Buffer.concat([
    Buffer.from("List-Id: <a.example>\r\nlist-id: <b.example>\r\n"),
    messageOf(SIGNED),
  ]);
  const signed = await sign(message, rsa);
  expect(await verify(signed)).toEqual(["pass"]);
  expect(await verify(Buffer.from(signed.toString().replace("<a.example>", "<x.example>")))).not.toContain(
    "pass",
  );
});

test("canonicalizes header values with any white space and bytes like the verifier", async () => {
  const pieces = fc.array(fc.constantFrom("a", "é", "\u00a0", " ", "\t", ".", "  "), { maxLength: 30 });
  const value = pieces.map((piece) => piece.join(""));
  await fc.assert(
    fc.asyncProperty(value, value, async (subject, references) => {
      const fields = { From: SIGNED.From, Subject: subject, References: `<a>\r\n\t${references}b` };
      expect(await verify(await sign(messageOf(fields), rsa))).toEqual(["pass"]);
    }),
    { numRuns: 300 },
  );
});

test.each<[string, Partial<DkimKey>]>([
  ["a public key", { privateKey: createPublicKey(rsa.privateKey) }],
  [
    "an RSA key under 1024 bits",
    { privateKey: generateKeyPairSync("rsa", { modulusLength: 768 }).privateKey },
  ],
  ["an unsupported key type", { privateKey: generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey }],
  ["no domain", { domain: "" }],
  ["a domain with a tag in it", { domain: "x.example; l=0" }],
  ["a selector with a line break", { selector: "s\r\n" }],
])("signs nothing with %s and throws an error without the key", async (_, change) => {
  const error: unknown = await sign(messageOf(SIGNED), { ...rsa, ...change }).catch(
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(DkimSigningError);
  expect(String(error)).toContain("was not signed");
  expect(JSON.stringify(error)).not.toContain("PRIVATE");
});

test.each([
  ["no From", Buffer.from("To: a@x.example\r\n\r\nx\r\n")],
  ["two From", Buffer.from("From: a@x.example\r\nFrom: b@x.example\r\n\r\nx\r\n")],
  ["a header without end", Buffer.from("From: a@x.example\r\n")],
  ["a bare line feed in the header", Buffer.from("From: a@x.example\nBcc: b@x.example\r\n\r\nx\r\n")],
  ["a line that is not a field", Buffer.from("From: a@x.example\r\nnonsense\r\n\r\nx\r\n")],
])("does not sign a message with %s", async (_, message) => {
  await expect(sign(message, rsa)).rejects.toThrow(DkimSigningError);
});
