// Tests that no address can end the path or the line that contains it.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { toEnvelopePaths } from "./smtp-address.ts";

function toPaths(
  from: string,
  to: readonly string[],
  needsSmtpUtf8 = false,
): ReturnType<typeof toEnvelopePaths> {
  return toEnvelopePaths({ envelope: { from, to }, needsSmtpUtf8 });
}

test("puts addresses in brackets, including the empty reverse-path of a notice", () => {
  expect(toPaths("a@x.test", ["b@y.test", "c+d=e@z.test"])).toEqual({
    paths: { from: "<a@x.test>", to: ["<b@y.test>", "<c+d=e@z.test>"] },
  });
  expect(toPaths("", ["b@y.test"])).toEqual({ paths: { from: "<>", to: ["<b@y.test>"] } });
  expect(toPaths("a@x.test", ["jürgen@y.test"], true)).toEqual({
    paths: { from: "<a@x.test>", to: ["<jürgen@y.test>"] },
  });
});

const unsafe: Record<string, string> = {
  "CR and LF": "a@x.test\r\nBcc: e@evil.test",
  "a second command": "a@x.test>\r\nRCPT TO:<z@z.test",
  LF: "a@x.test\nRSET",
  CR: "a@x.test\rRSET",
  NUL: "a\u0000@x.test",
  "a space": "a b@x.test",
  "a quoted space": '"a b"@x.test',
  TAB: "a\t@x.test",
  "a closing bracket and a parameter": "a@x.test> SIZE=1 BODY=<",
  "an opening bracket": "<a@x.test",
  "a display name": "a <b@x.test>",
  "a line separator": "a@x.test\u2028b",
  "a next-line control": "a@x.test\u0085b",
  "a no-break space": "a\u00a0@x.test",
  "a byte order mark": "a\ufeff@x.test",
  DEL: "a\u007f@x.test",
  "half a surrogate pair": "a\ud800@x.test",
  "255 octets": `${"a".repeat(248)}@x.test`,
  "127 characters of two octets each and more": `${"ä".repeat(124)}@x.test`,
};
for (const [title, address] of Object.entries(unsafe))
  test(`rejects an address with ${title} as sender and as any recipient`, () => {
    expect(toPaths("a@x.test", [address], true)).toEqual({
      refusal: expect.stringMatching(/^5\.1\.3 recipient/),
    });
    expect(toPaths("a@x.test", ["b@y.test", address], true)).toEqual({
      refusal: expect.stringMatching(/^5\.1\.3/),
    });
    expect(toPaths(address, ["b@y.test"], true)).toEqual({
      refusal: expect.stringMatching(/^5\.5\.4 sender/),
    });
  });

test("rejects a message with no recipient or an empty one", () => {
  expect(toPaths("a@x.test", [])).toEqual({ refusal: expect.stringContaining("missing") });
  expect(toPaths("a@x.test", ["b@y.test", ""])).toEqual({ refusal: expect.stringContaining("missing") });
});

test("rejects a non-ASCII address in a message not marked for SMTPUTF8", () => {
  expect(toPaths("a@x.test", ["jürgen@y.test"])).toEqual({ refusal: expect.stringContaining("SMTPUTF8") });
  expect(toPaths("jürgen@y.test", ["a@x.test"])).toEqual({ refusal: expect.stringContaining("SMTPUTF8") });
});

test("accepts 254 octets", () => {
  expect(toPaths("", [`${"a".repeat(247)}@x.test`])).toHaveProperty("paths");
});

/** Any UTF-16 units including unpaired surrogates; every second one is likely to cause trouble. */
const anyText = fc
  .array(fc.oneof(fc.nat(0xffff), fc.constantFrom(...Buffer.from("\r\n\0 <>a@."))), { maxLength: 20 })
  .map((units) => String.fromCharCode(...units));

test("encloses any path in one pair of brackets without white space", () => {
  fc.assert(
    fc.property(anyText, fc.boolean(), (address, isUtf8) => {
      const result = toPaths("", [address], isUtf8);
      expect("paths" in result ? result.paths.to[0] : "<refused>").toMatch(/^<[^<>\s\p{Cc}]+>$/u);
    }),
    { numRuns: 2_000 },
  );
});
