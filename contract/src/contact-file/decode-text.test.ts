// Tests that files of any spreadsheet program are decoded correctly and that binary files are rejected.
import { expect, test } from "vitest";
import { decodeText } from "./decode-text.ts";

const TEXT = "Name;E-Mail\nMüller;mueller@example.com\n";
const bytes = (text: string, encoding: BufferEncoding) => new Uint8Array(Buffer.from(text, encoding));

test("reads UTF-8 with and without a byte order mark", () => {
  expect(decodeText(bytes(TEXT, "utf8"))).toEqual({ text: TEXT, isGuessed: false });
  expect(decodeText(bytes(`\uFEFF${TEXT}`, "utf8"))).toEqual({ text: TEXT, isGuessed: false });
});

test("reads UTF-16 with a byte order mark", () => {
  const little = bytes(`\uFEFF${TEXT}`, "utf16le");
  expect(decodeText(little)).toEqual({ text: TEXT, isGuessed: false });
  expect(decodeText(new Uint8Array(Buffer.from(little).swap16()))).toEqual({ text: TEXT, isGuessed: false });
});

test("reads the umlauts of Excel's CSV files and marks the encoding as guessed", () => {
  expect(decodeText(bytes(TEXT, "latin1"))).toEqual({ text: TEXT, isGuessed: true });
  expect(decodeText(Uint8Array.from([0x80, 0x92]))).toEqual({ text: "€’", isGuessed: true });
});

test("rejects a workbook, an archive, a PDF, an image and UTF-16 without a byte order mark", () => {
  const problems = [
    bytes("504b030414000600", "hex"),
    bytes("d0cf11e0a1b11ae1", "hex"),
    bytes("1f8b0800", "hex"),
    bytes("%PDF-1.7", "utf8"),
    bytes("89504e470d0a1a0a0000000d49484452", "hex"),
    bytes(TEXT, "utf16le"),
  ].map((file) => decodeText(file).problem);
  expect(problems).toEqual(["workbook", "workbook", "archive", "pdf", "binary", "binary"]);
});
