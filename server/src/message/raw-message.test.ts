// Tests that a raw message keeps its bytes behind the added fields, and that independent verifiers accept its signature.
import { createPublicKey, generateKeyPairSync } from "node:crypto";
import * as fc from "fast-check";
import { dkimVerify } from "mailauth/lib/dkim/verify.js";
import { expect, test } from "vitest";
import { signMessage, type DkimKey } from "./dkim.ts";
import { buildRawMessage, factsOfRaw } from "./raw-message.ts";

const key: DkimKey = {
  domain: "mail.example.com",
  selector: "one",
  privateKey: generateKeyPairSync("ed25519").privateKey,
};
const FIELDS = [{ name: "X-Postloft-Id", value: "abc" }];
const HEADER =
  "From: us@mail.example.com\r\nTo: ada@example.net\r\nSubject:  On \t sale\r\nX-Own : yes\r\n\r\n";

async function verify(message: Buffer): Promise<string[]> {
  const der = createPublicKey(key.privateKey).export({ type: "spki", format: "der" });
  const record = `v=DKIM1; k=ed25519; p=${der.subarray(-32).toString("base64")}`;
  const { results } = await dkimVerify(message, { resolver: async () => [[record]], strict: true });
  return results.map(({ status }) => status.result);
}

async function sign(raw: Buffer): Promise<Buffer> {
  return signMessage(buildRawMessage(raw, factsOfRaw(raw), FIELDS).message, [key]);
}

test.each([
  ["", "no body"],
  ["\r\n\r\n", "only empty lines"],
  ["Hello\r\n", "one line"],
  ["a  b\t c \r\n \t\r\nd\t\r\n", "white space within and at the end of lines"],
  ["a\r\n \r\n\r\n", "white space in the last lines"],
  [" a\r\n.\r\n..b\r\n", "dots and a leading space"],
  ["Grüße \u{1F600}  x\r\n", "text outside ASCII"],
])("signs a body so that it verifies, byte for byte as given: %j (%s)", async (body) => {
  const raw = Buffer.from(HEADER + body);
  const signed = await sign(raw);
  expect(await verify(signed)).toEqual(["pass"]);
  expect(signed.subarray(-raw.length).equals(raw)).toBe(true);
  expect(signed.subarray(0, -raw.length).toString()).toMatch(
    /^DKIM-Signature: [^]*\r\nX-Postloft-Id: abc\r\n$/,
  );
});

test("signs any lines of spaces, tabs and letters so that they verify", async () => {
  const line = fc.string({ unit: fc.constantFrom(" ", "\t", "a", "ö", "."), maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 6 }), async (lines) => {
      const raw = Buffer.from(HEADER + lines.map((one) => `${one}\r\n`).join(""));
      expect(await verify(await sign(raw))).toEqual(["pass"]);
    }),
    { numRuns: 200 },
  );
});

test("finds the bytes outside ASCII and the names of the header fields", () => {
  const facts = factsOfRaw(Buffer.from(`${HEADER}A line: of the body\r\n`));
  expect(facts).toMatchObject({ hasUtf8Header: false, is8Bit: false });
  expect([...facts.fieldNames]).toEqual(["from", "to", "subject", "x-own"]);
  expect(factsOfRaw(Buffer.from(`${HEADER}ö\r\n`))).toMatchObject({ hasUtf8Header: false, is8Bit: true });
  const inHeader = factsOfRaw(Buffer.from(`Subject: ö\r\n${HEADER}a\r\n`));
  expect(inHeader).toMatchObject({ hasUtf8Header: true, is8Bit: true });
});

test("gives each recipient separate memory", () => {
  const raw = Buffer.from(`${HEADER}a\r\n`);
  const [one, other] = [1, 2].map(() => buildRawMessage(raw, factsOfRaw(raw), FIELDS));
  one?.memory.transfer(0);
  expect(other?.message.bytes.subarray(-raw.length).equals(raw)).toBe(true);
});
