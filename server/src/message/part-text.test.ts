// Tests the encoding of text: same bytes for a strict decoder however the text is cut, and lines that relays keep intact. Covers
// part-text.ts and quoted-printable.ts; message.test.ts reads and verifies whole messages.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  encodeText,
  sharePieces,
  startTexts,
  wholeText,
  type PartText,
  type SharedText,
} from "./part-text.ts";
import { htmlToText } from "../rendering/text-part.ts";
import { buildBody, HEADER_ROOM_BYTES } from "./body.ts";
import { relaxedLines } from "./quoted-printable.ts";

const asText = (octets: readonly Uint8Array[]) => Buffer.concat(octets).toString("latin1");

function encode(text: PartText): { lines: string; relaxed: string; transferEncoding: string } {
  startTexts();
  const { pieces, relaxed, transferEncoding } = encodeText(text);
  return { lines: asText(pieces), relaxed: asText(relaxed), transferEncoding };
}

/** Decodes by RFC 2045 section 6.7 strictly: anything its grammar does not allow is an error. */
function decode(lines: string): Buffer {
  const octets: number[] = [];
  for (const [index, line] of lines.split("\r\n").entries()) {
    if (index > 0 && octets.at(-1) !== -1) octets.push(0x0d, 0x0a);
    if (octets.at(-1) === -1) octets.pop();
    expect(line).toMatch(/^(?:[\t\x20-\x3c\x3e-\x7e]|=[0-9A-F]{2})*=?$/);
    expect(line.length).toBeLessThanOrEqual(76);
    expect(line).not.toMatch(/[ \t]$|^\.|^From /);
    for (const [token] of line.matchAll(/=[0-9A-F]{2}|=$|[^=]/g))
      octets.push(
        token === "=" ? -1 : token.length === 3 ? Number.parseInt(token.slice(1), 16) : token.charCodeAt(0),
      );
  }
  expect(octets.at(-1)).not.toBe(-1);
  return Buffer.from(octets);
}

const asSent = (text: PartText) => Buffer.from(wholeText(text).replace(/\r\n?|\n/g, "\r\n"));

test.each([
  ["Hello, world!", "Hello, world!"],
  ["", ""],
  ['<a href="x">', '<a href=3D"x">'],
  ["Grüße für 5 €", "Gr=C3=BC=C3=9Fe f=C3=BCr 5 =E2=82=AC"],
  ["a\nb\rc\r\n\n\rd", "a\r\nb\r\nc\r\n\r\n\r\nd"],
  ["a \nb\t\r\n c ", "a=20\r\nb=09\r\n c=20"],
  ["a \t\n", "a =09\r\n"],
  [".\n..a\na.", "=2E\r\n=2E.a\r\na."],
  ["From me\nFrame From x", "=46rom me\r\nFrame From x"],
  ["\0\f\v\x1b\x7f\u0085 and some text", "=00=0C=0B=1B=7F=C2=85 and some text"],
  ["\ud800a half of a pair", "=EF=BF=BDa half of a pair"],
  ["a".repeat(76), `${"a".repeat(75)}=\r\na`],
  [`${"a".repeat(75)}.b`, `${"a".repeat(75)}=\r\n=2Eb`],
  [`${"a".repeat(75)}\nb`, `${"a".repeat(75)}\r\nb`],
  [`${"a".repeat(74)} \nb`, `${"a".repeat(74)}=\r\n=20\r\nb`],
  [`${"a".repeat(64)}🎉`, `${"a".repeat(64)}=\r\n=F0=9F=8E=89`],
  [`${"a".repeat(63)}🎉`, `${"a".repeat(63)}=F0=9F=8E=89`],
])("encodes %j as %j", (text, lines) => {
  expect(encode(text)).toMatchObject({ lines, transferEncoding: "quoted-printable" });
  expect(decode(lines)).toEqual(asSent(text));
});

const units = fc.constantFrom(
  "a",
  "=",
  ".",
  "From ",
  " ",
  "\t",
  "\r",
  "\n",
  "\r\n",
  "\0",
  "\f",
  "é",
  "日",
  "🎉",
);
const halves = fc.constantFrom("\ud83c", "\udf89");
const sentences = fc.integer({ min: 60, max: 400 }).map((length) => "text. ".repeat(length).slice(0, length));
const texts = fc
  .array(fc.oneof({ weight: 6, arbitrary: units }, sentences, halves), { maxLength: 12 })
  .map((parts) => parts.join(""));

/** Cuts like the renderer: any text may be shared, and the rest is one piece with its neighbors. */
function cut(parts: ReadonlyArray<{ text: string; isShared: boolean }>): PartText {
  const pieces: (string | SharedText)[] = [""];
  for (const { text, isShared } of parts)
    for (const piece of isShared ? sharePieces(text) : [text]) {
      const last = pieces.at(-1);
      if (typeof piece === "string" && typeof last === "string") pieces[pieces.length - 1] = last + piece;
      else pieces.push(piece);
    }
  return pieces;
}

test("a strict decoder reads the same bytes wherever shared text is cut", () => {
  fc.assert(
    fc.property(fc.array(fc.record({ text: texts, isShared: fc.boolean() }), { maxLength: 6 }), (parts) => {
      const text = cut(parts);
      expect(wholeText(text)).toBe(parts.map((part) => part.text).join(""));
      const { lines, relaxed, transferEncoding } = encode(text);
      const isReadable = transferEncoding === "quoted-printable";
      expect(isReadable ? decode(lines) : Buffer.from(lines, "latin1")).toEqual(asSent(text));
      expect(relaxed).toBe(isReadable ? lines.replace(/[ \t]+/g, " ") : lines);
    }),
    { numRuns: 2_000 },
  );
});

test("never splits a character across lines", () => {
  const { lines } = encode("é日🎉 and some more text".repeat(200));
  for (const line of lines.split("=\r\n"))
    expect(() => new TextDecoder("utf-8", { fatal: true }).decode(decode(line))).not.toThrow();
});

test.each([
  ["Just a line.", "quoted-printable"],
  ["Schöne Grüße an alle Bürger, wünscht der Bürgermeister", "quoted-printable"],
  ['<p style="color:red"><b>Привет</b></p><table width="600"><tr><td>', "quoted-printable"],
  ["Ничто не растет так медленно, как хлеб", "base64"],
  ["مرحبا بكم في متجرنا", "base64"],
  ["日本語の本文", "base64"],
])("sends %j as %s, preferring the readable encoding unless it is much longer", (text, transferEncoding) => {
  const long = `${text} `.repeat(20);
  expect(encode(long).transferEncoding).toBe(transferEncoding);
  expect(encode(["", ...sharePieces(long), ""]).transferEncoding).toBe(transferEncoding);
});

test("encodes shared text once for any preceding text", () => {
  const [head = "", shared, tail = ""] = sharePieces(`<p>\n${"shared text ".repeat(20)}</p>`);
  startTexts();
  const first = encodeText(["Ada", head, shared ?? "", tail]);
  const second = encodeText(["Somebody else", head, shared ?? "", tail]);
  const piece = first.pieces.find((octets) => octets.length > 200);
  expect(piece).toBeDefined();
  expect(second.pieces).toContain(piece);
});

/** HTML with one seventh readable text; the rest is tables and styles. */
const CAMPAIGN_HTML = `<!doctype html>
<html><body style="margin:0;padding:0;background-color:#f4f4f5;">${Array.from(
  { length: 22 },
  (_, at) => `
  <table role="presentation" border="0" cellpadding="0" cellspacing="0" width="600" align="center" style="background-color:#ffffff;">
    <tr><td style="padding:0 24px 8px 24px;font-family:Helvetica,Arial,sans-serif;color:#222222;">
      <h2 style="margin:0 0 8px 0;font-size:20px;line-height:28px;font-weight:600;">News of the week</h2>
      <p style="margin:0 0 16px 0;font-size:16px;line-height:24px;color:#444444;">Nothing rises as slowly as bread that somebody waits for, so we bake it while you are still asleep.</p>
    </td></tr>
    <tr><td align="center" bgcolor="#1a56db" style="border-radius:4px;background-color:#1a56db;">
      <a href="https://shop.example/offer/${at}" target="_blank" style="display:inline-block;padding:12px 24px;font-family:Helvetica,Arial,sans-serif;font-size:16px;font-weight:600;color:#ffffff;text-decoration:none;border:1px solid #1a56db;">See the offer</a>
    </td></tr>
  </table>`,
).join("")}
</body></html>`;

test("20 KB of HTML take 26 KB with their text part, under an eleventh more than the content", () => {
  const text = htmlToText(CAMPAIGN_HTML);
  const { memory } = buildBody({ messageId: "1@a.example", html: CAMPAIGN_HTML, text, attachments: [] });
  const sizes = {
    html: CAMPAIGN_HTML.length,
    text: text.length,
    wire: memory.length - HEADER_ROOM_BYTES,
  };
  expect(sizes.html).toBeGreaterThan(20_000);
  expect(sizes.wire).toBeLessThan((sizes.html + sizes.text) * (1 + 1 / 11));
});

test("encodes texts that are larger than the scratch memory", () => {
  for (const length of [10_000, 60_000, 200_000, 600_000]) {
    const text = [`é${"ab".repeat(length)} `, ...sharePieces("c = d. ".repeat(40)), "e".repeat(length)];
    expect(decode(encode(text).lines).equals(asSent(text))).toBe(true);
  }
});

test("shortens white space for the hash only if there is any to shorten", () => {
  const tidy = Buffer.from("a b\r\nc=3Dd\r\n");
  expect(relaxedLines(tidy)).toBe(tidy);
  expect(relaxedLines(Buffer.from("  a\t\tb  c\r\n\t d\r\n")).toString()).toBe(" a b c\r\n d\r\n");
});
