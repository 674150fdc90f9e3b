// Tests the exact bytes of single header fields. message.test.ts reads whole messages back.
import { expect, test } from "vitest";
import { foldedField, customField, mailboxField, neutralize, textField } from "./header.ts";

test("writes text that fits unchanged", () => {
  expect(textField("Subject", "Your invoice")).toBe("Subject: Your invoice\r\n");
  expect(textField("Subject", "")).toBe("Subject:\r\n");
});

test("folds long text at white space within 78 characters, and it unfolds to the same text", () => {
  const text = "a reasonably long subject with many words ".repeat(20).trim();
  const field = textField("Subject", text);
  for (const line of field.split("\r\n")) expect(line.length).toBeLessThanOrEqual(78);
  expect(field.replace(/\r\n(?= )/g, "")).toBe(`Subject: ${text}\r\n`);
});

test("encodes a word too long for a line and keeps one that just fits", () => {
  expect(textField("X", "a".repeat(997))).toBe(`X:\r\n ${"a".repeat(997)}\r\n`);
  const encoded = textField("X", "a".repeat(998));
  for (const line of encoded.split("\r\n")) expect(line.length).toBeLessThanOrEqual(76);
});

test("encodes only the words that need it so that machines can read list ids", () => {
  expect(customField("List-Id", "Müller <list.example>")).toBe(
    "List-Id: =?utf-8?B?TcO8bGxlcg==?= <list.example>\r\n",
  );
  expect(textField("Subject", "Hello Jürgen, how are you")).toBe(
    "Subject: Hello =?utf-8?B?SsO8cmdlbiw=?= how are you\r\n",
  );
});

test("encodes text that looks like an encoded word so that it reads back unchanged", () => {
  expect(textField("Subject", "=?utf-8?B?eA==?=")).toBe("Subject: =?utf-8?B?PT91dGYtOD9CP2VBPT0/PQ==?=\r\n");
});

test.each([
  [" x", "=?utf-8?B?IHg=?="],
  ["x ", "=?utf-8?B?eCA=?="],
  ["a  b c", "=?utf-8?B?YSAgYg==?= c"],
  ["  ", "=?utf-8?B?ICA=?="],
])("encodes the spaces of %j, which folding or trimming would lose", (text, written) => {
  expect(textField("Subject", text)).toBe(`Subject: ${written}\r\n`);
});

test("fills the first line with the first encoded word, since some clients read only that", () => {
  const [first] = textField("Subject", `Hello ${"é".repeat(100)}`).split("\r\n");
  expect(first).toMatch(/^Subject: Hello =\?utf-8\?B\?[^ ]{32,}\?=$/);
});

test("limits encoded words to 75 characters and lines to 76 without splitting characters", () => {
  for (const name of ["Subject", "X", "X-".padEnd(60, "n"), "X-".padEnd(90, "n")]) {
    const field = textField(name, "🎉é€".repeat(110));
    const words = field
      .slice(name.length + 1)
      .trim()
      .split(/\r\n | /);
    expect(words.length).toBeGreaterThan(10);
    for (const line of field.split("\r\n").slice(1)) expect(line.length).toBeLessThanOrEqual(76);
    const texts = words.map((word) => {
      expect(word).toMatch(/^=\?utf-8\?B\?[A-Za-z0-9+/]+=*\?=$/);
      expect(word.length).toBeLessThanOrEqual(75);
      return Buffer.from(word.slice(10, -2), "base64").toString();
    });
    expect(texts.join("")).toBe("🎉é€".repeat(110));
  }
});

function from(name: string): string {
  return mailboxField("From", [{ address: "a@x.example", name }]);
}

test("writes display names as atoms, a quoted string or encoded words", () => {
  expect(from("Ada Lovelace")).toBe("From: Ada Lovelace <a@x.example>\r\n");
  expect(from("Example, Inc.")).toBe('From: "Example, Inc." <a@x.example>\r\n');
  expect(from('the "one" \\ only')).toBe('From: "the \\"one\\" \\\\ only" <a@x.example>\r\n');
  expect(from("Zoë")).toBe("From: =?utf-8?B?Wm/Dqw==?= <a@x.example>\r\n");
  expect(from(" \r\n ")).toBe("From: a@x.example\r\n");
  expect(mailboxField("To", [])).toBe("To: undisclosed-recipients:;\r\n");
});

test("quotes a local part that is not a dot-atom and keeps non-ASCII ones unchanged", () => {
  const addresses = ["a..b@x.example", '"a b"@x.example', "é@x.example"];
  expect(
    mailboxField(
      "To",
      addresses.map((address) => ({ address })),
    ),
  ).toBe('To: "a..b"@x.example, "a b"@x.example, é@x.example\r\n');
});

test.each([
  "a@x.com\r\nBcc: e@evil.com",
  "a\0@x.com",
  "a@x.com,b@y.com",
  "a,b@x.com",
  '"a"b"@x.com',
  "a@",
  "@x",
  "x",
  "a@x y",
])("rejects the invalid address %j instead of changing it", (address) => {
  expect(() => mailboxField("To", [{ address }])).toThrow("Not an address");
});

test("shrinks white space in custom values to single spaces", () => {
  expect(customField("References", "\t<a@x>\r\n\t<b@x>  ")).toBe("References: <a@x> <b@x>\r\n");
});

test("replaces each control character and line separator with a space", () => {
  expect(neutralize("a\r\nb\0c\td\x1be\x7ff\u0085g\u2028h\u2029i")).toBe("a  b c d e f g h i");
  expect(neutralize("Zoë 日本 🎉")).toBe("Zoë 日本 🎉");
});

test("rejects a field name that RFC 5322 does not allow", () => {
  expect(() => foldedField("X-Ü", ["x"])).toThrow("Not a header field name");
});
