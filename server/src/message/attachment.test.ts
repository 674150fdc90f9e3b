// Tests the headers of attachment parts: safe file names and content types that cannot break out. message.test.ts reads the parts back with
// a MIME parser.
import { expect, test } from "vitest";
import type { Attachment } from "./attachment.ts";
import { attachmentHeader, safeFilename } from "./attachment.ts";

function headerOf(changes: Partial<Attachment>): string {
  return attachmentHeader({
    filename: "a.pdf",
    contentType: "application/pdf",
    content: Buffer.from("x"),
    disposition: "attachment",
    ...changes,
  });
}

test.each([
  ["report.pdf", "report.pdf"],
  ["日本語 レポート.pdf", "日本語 レポート.pdf"],
  ["👩‍👩‍👧 family.jpg", "👩‍👩‍👧 family.jpg"],
  [".htaccess", ".htaccess"],
  ["../../etc/passwd", "passwd"],
  ["C:\\Users\\me\\a.txt", "a.txt"],
  ["..", "attachment"],
  ["dir/", "attachment"],
  ["", "attachment"],
  [" a.txt. . ", "a.txt"],
  ["a\r\nX: y", "a  X_ y"],
  ["a\0b\u0007c\u0085d\u2028e", "a b c d e"],
  ["what? <1|2*>.txt", "what_ _1_2__.txt"],
  ["exe\u202egpj.scr", "exegpj.scr"],
  ["\u2066a\u2069\u200f\ufeff.txt", "a.txt"],
  ['say "hi".txt', "say _hi_.txt"],
  ["\ud800.txt", "\ufffd.txt"],
])("stores the file name %j as %j", (input, stored) => {
  expect(safeFilename(input)).toBe(stored);
});

test("limits a file name to 255 characters", () => {
  expect(safeFilename("🎉".repeat(1000))).toBe("🎉".repeat(255));
});

test("writes a plain name as a quoted string", () => {
  expect(headerOf({ filename: "my report.pdf" })).toBe(
    'Content-Type: application/pdf; name="my report.pdf"\r\n' +
      'Content-Disposition: attachment; filename="my report.pdf"\r\n' +
      "Content-Transfer-Encoding: base64\r\n",
  );
});

test("percent-encodes other names by RFC 2231 and adds an ASCII fallback for old clients", () => {
  const header = headerOf({ filename: "Überweisung (1) 50%.pdf" });
  expect(header).toContain('name="Uberweisung (1) 50_.pdf"\r\n');
  expect(header).toContain("\r\n filename*=utf-8''%C3%9Cberweisung%20%281%29%2050%25.pdf\r\n");
});

test("cuts a long ASCII name", () => {
  for (const line of headerOf({ filename: `${"report-".repeat(30)}.pdf` }).split("\r\n")) {
    expect(line.length).toBeLessThanOrEqual(78);
  }
});

test("splits a long name into sections on short lines, between characters", () => {
  const header = headerOf({ filename: `${"日本".repeat(60)}.pdf` });
  const sections = [...header.matchAll(/filename\*(\d+)\*=(?:utf-8'')?([^;\r]*)/g)];
  expect(sections.map(([, index]) => Number(index))).toEqual(sections.keys().toArray().map(Number));
  expect(sections.map(([, , value]) => decodeURIComponent(value ?? "")).join("")).toBe(
    `${"日本".repeat(60)}.pdf`,
  );
  for (const line of header.split("\r\n")) expect(line.length).toBeLessThanOrEqual(78);
  expect(header).toMatch(/name="_+\.pdf"/);
});

test.each([
  ["text/calendar; charset=utf-8; method=REQUEST", "text/calendar; charset=utf-8; method=REQUEST"],
  ['text/csv ;name="evil.exe"; NAME=x;header="a b"', 'text/csv; header="a b"'],
  ["image/png\r\nBcc: e@evil.example", "application/octet-stream"],
  ['text/html; x="a\r\nBcc: e"; y', 'text/html; x="a  Bcc: e"'],
  ['text/x; a="b; x=evil"; c=d;', 'text/x; a="b; x=evil"; c=d'],
  ["text/x; name*=utf-8''evil; charset=x", "text/x; charset=x"],
  ["text/x; a=(b); b=c d; c='1'", "text/x; c='1'"],
  ["nonsense", "application/octet-stream"],
])("writes the content type %j as %s and drops malformed parameters", (input, written) => {
  expect(headerOf({ contentType: input }).split("; name=")[0]).toBe(`Content-Type: ${written}`);
});

test("sends composite types as plain files because they cannot be base64-encoded", () => {
  for (const contentType of ["message/rfc822", "Multipart/mixed; boundary=x"]) {
    expect(headerOf({ contentType })).toContain("Content-Type: application/octet-stream;");
  }
});

test("writes a content id in angle brackets", () => {
  expect(headerOf({ contentId: "logo@mail.example" })).toContain("Content-ID: <logo@mail.example>\r\n");
});

test.each(["a\r\nX: y", "a b", "<a>", "", "ü"])("rejects the content id %j", (contentId) => {
  expect(() => headerOf({ contentId })).toThrow("Not an id for Content-ID");
});
