// How single header fields look on the wire, for the cases where the exact form matters.
// message.test.ts reads whole messages back; here the bytes themselves are the promise.
import { expect, test } from "vitest";
import { foldedField, givenField, mailboxField, neutralise, textField } from "./header.ts";

test("text that fits is written as it is", () => {
  expect(textField("Subject", "Your invoice")).toBe("Subject: Your invoice\r\n");
  expect(textField("Subject", "")).toBe("Subject:\r\n");
});

test("long text folds at white space within 78 characters and unfolds to the same text", () => {
  const text = "a reasonably long subject with many words ".repeat(20).trim();
  const field = textField("Subject", text);
  for (const line of field.split("\r\n")) expect(line.length).toBeLessThanOrEqual(78);
  expect(field.replace(/\r\n(?= )/g, "")).toBe(`Subject: ${text}\r\n`);
});

test("a word too long for a line becomes encoded words, one that just fits does not", () => {
  expect(textField("X", "a".repeat(997))).toBe(`X:\r\n ${"a".repeat(997)}\r\n`);
  const encoded = textField("X", "a".repeat(998));
  for (const line of encoded.split("\r\n")) expect(line.length).toBeLessThanOrEqual(76);
});

test("only the words that need it are encoded, so list ids stay readable by machines", () => {
  expect(givenField("List-Id", "Müller <list.example>")).toBe(
    "List-Id: =?utf-8?B?TcO8bGxlcg==?= <list.example>\r\n",
  );
  expect(textField("Subject", "Hello Jürgen, how are you")).toBe(
    "Subject: Hello =?utf-8?B?SsO8cmdlbiw=?= how are you\r\n",
  );
});

test("text that looks like an encoded word is encoded, so that it is read as it was written", () => {
  expect(textField("Subject", "=?utf-8?B?eA==?=")).toBe("Subject: =?utf-8?B?PT91dGYtOD9CP2VBPT0/PQ==?=\r\n");
});

test.each([
  [" x", "=?utf-8?B?IHg=?="],
  ["x ", "=?utf-8?B?eCA=?="],
  ["a  b c", "=?utf-8?B?YSAgYg==?= c"],
  ["  ", "=?utf-8?B?ICA=?="],
])("the spaces of %j, which folding or trimming would lose, are encoded", (text, written) => {
  expect(textField("Subject", text)).toBe(`Subject: ${written}\r\n`);
});

test("the first encoded word fills the first line, which some readers take for all there is", () => {
  const [first] = textField("Subject", `Hello ${"é".repeat(100)}`).split("\r\n");
  expect(first).toMatch(/^Subject: Hello =\?utf-8\?B\?[^ ]{32,}\?=$/);
});

test("encoded words have at most 75 characters, stand on lines of at most 76 and never cut a character", () => {
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

test("display names are atoms, a quoted string or encoded words", () => {
  expect(from("Ada Lovelace")).toBe("From: Ada Lovelace <a@x.example>\r\n");
  expect(from("Example, Inc.")).toBe('From: "Example, Inc." <a@x.example>\r\n');
  expect(from('the "one" \\ only')).toBe('From: "the \\"one\\" \\\\ only" <a@x.example>\r\n');
  expect(from("Zoë")).toBe("From: =?utf-8?B?Wm/Dqw==?= <a@x.example>\r\n");
  expect(from(" \r\n ")).toBe("From: a@x.example\r\n");
  expect(mailboxField("To", [])).toBe("To: undisclosed-recipients:;\r\n");
});

test("a local part that is no dot-atom is quoted, one outside ASCII stays as it is", () => {
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
])("the address %j, which no validation lets pass, is refused instead of changed", (address) => {
  expect(() => mailboxField("To", [{ address }])).toThrow("Not an address");
});

test("white space in custom values shrinks to single spaces", () => {
  expect(givenField("References", "\t<a@x>\r\n\t<b@x>  ")).toBe("References: <a@x> <b@x>\r\n");
});

test("control characters and line separators become spaces, each of them", () => {
  expect(neutralise("a\r\nb\0c\td\x1be\x7ff\u0085g\u2028h\u2029i")).toBe("a  b c d e f g h i");
  expect(neutralise("Zoë 日本 🎉")).toBe("Zoë 日本 🎉");
});

test("a field name outside RFC 5322 is refused", () => {
  expect(() => foldedField("X-Ü", ["x"])).toThrow("Not a header field name");
});
