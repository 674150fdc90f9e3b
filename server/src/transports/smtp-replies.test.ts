// Tests valid and invalid SMTP replies, and that nothing a server sends is stored without a limit.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  createReplyReader,
  describeReply,
  MAX_REPLY_LENGTH,
  SmtpFailure,
  toPrintableLine,
  type SmtpReply,
} from "./smtp-replies.ts";

function readAll(...chunks: readonly (string | Buffer)[]): SmtpReply[] {
  const reader = createReplyReader();
  const replies: SmtpReply[] = [];
  for (const chunk of chunks) reader.read(Buffer.from(chunk), (reply) => replies.push(reply));
  return replies;
}

test("reads replies of one and several lines with and without text", () => {
  expect(
    readAll("220 mail.test ESMTP\r\n250-mail.test\r\n250-SIZE 1000\r\n250 PIPELINING\r\n354\r\n221 \r\n"),
  ).toEqual([
    { code: 220, lines: ["mail.test ESMTP"] },
    { code: 250, lines: ["mail.test", "SIZE 1000", "PIPELINING"] },
    { code: 354, lines: [""] },
    { code: 221, lines: [""] },
  ]);
});

test("accepts lines that end in LF alone", () => {
  expect(readAll("250-a\n250 b\n")).toEqual([{ code: 250, lines: ["a", "b"] }]);
});

test("reads the same replies wherever the bytes are cut", () => {
  const bytes = Buffer.from("220 a\r\n250-b\r\n250-c\r\n250 d\r\n550 5.1.1 nobody\r\n");
  const whole = readAll(bytes);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: bytes.length })), (cuts) => {
      const places = [0, ...cuts.sort((a, b) => a - b), bytes.length];
      expect(readAll(...places.map((place, index) => bytes.subarray(place, places[index + 1])))).toEqual(
        whole,
      );
    }),
    { numRuns: 200 },
  );
});

const malformed: Record<string, string | Buffer> = {
  "text without a code": "hello\r\n",
  "an empty line": "\r\n",
  "a code of two digits": "25 ok\r\n",
  "a code of four digits": "2500 ok\r\n",
  "a code that begins with 1": "100 wait\r\n",
  "a code that begins with 6": "600 no\r\n",
  "a code followed by neither space nor hyphen": "250+ok\r\n",
  "a code that changes within a reply": "250-a\r\n550 b\r\n",
  "a NUL": "250 a\0b\r\n",
  "a CR inside a line": "250 a\rb\r\n",
  "an escape sequence": "250 \u001b[31mred\r\n",
  "TLS bytes": Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x0a, 0x0a]),
  "an HTTP server": "HTTP/1.1 400 Bad Request\r\n",
  "a line over 4 KB": `250 ${"a".repeat(4100)}\r\n`,
  "a line over 4 KB without end": `250 ${"a".repeat(4100)}`,
  "more than 100 lines": "250-a\r\n".repeat(101),
};
for (const [title, bytes] of Object.entries(malformed))
  test(`rejects ${title}`, () => {
    expect(() => readAll(bytes)).toThrow(SmtpFailure);
  });

test("accepts 100 lines, and lines of 4,096 bytes", () => {
  expect(readAll(`${"250-a\r\n".repeat(99)}250 b\r\n`)[0]?.lines).toHaveLength(100);
  expect(readAll(`250 ${"a".repeat(4091)}\r\n`)[0]?.lines[0]).toHaveLength(4091);
});

test("returns the replies before the fault first", () => {
  const replies: SmtpReply[] = [];
  const bytes = Buffer.from("250 taken\r\n\0\0\0\r\n");
  expect(() => createReplyReader().read(bytes, (reply) => replies.push(reply))).toThrow(SmtpFailure);
  expect(replies).toEqual([{ code: 250, lines: ["taken"] }]);
});

test("rejects ten megabytes without a line end after the first four kilobytes", () => {
  const reader = createReplyReader();
  const chunk = Buffer.alloc(64 * 1024, "a");
  expect(() => reader.read(chunk, () => undefined)).toThrow("4096 bytes");
});

/** Mostly draws fragments of replies because random bytes never start like a reply. */
const anyChunk = fc.oneof(
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
  {
    weight: 4,
    arbitrary: fc
      .array(
        fc.constantFrom(
          "250 ok\r\n",
          "250-a\r\n",
          "250 b\n",
          "550 5.1.1 no",
          "4",
          "21",
          " ",
          "-",
          "\r\n",
          "\0",
          "é",
        ),
        { maxLength: 6 },
      )
      .map((parts) => Buffer.from(parts.join(""))),
  },
);

test("arbitrary bytes raise only SmtpFailure", () => {
  let replies = 0;
  let failures = 0;
  fc.assert(
    fc.property(fc.array(anyChunk, { maxLength: 5 }), (chunks) => {
      const failure = catchFailure(() => {
        const reader = createReplyReader();
        failures++;
        for (const chunk of chunks) reader.read(chunk, () => replies++);
        failures--;
      });
      expect(failure).toBe(undefined);
    }),
    { numRuns: 500 },
  );
  // Both kinds were drawn: fully read and rejected input.
  expect(replies).toBeGreaterThan(50);
  expect(failures).toBeGreaterThan(50);
});

/** Returns the thrown error, unless it is an SmtpFailure. */
function catchFailure(action: () => unknown): unknown {
  try {
    action();
    return undefined;
  } catch (error) {
    return error instanceof SmtpFailure ? undefined : error;
  }
}

test("reports whether a reply has begun", () => {
  const reader = createReplyReader();
  expect(reader.isWithinReply()).toBe(false);
  reader.read(Buffer.from("250-a\r\n"), () => undefined);
  expect(reader.isWithinReply()).toBe(true);
  reader.read(Buffer.from("250 b\r\n2"), () => undefined);
  expect(reader.isWithinReply()).toBe(true);
});

test("describes a reply as one line of at most 500 printable characters", () => {
  expect(describeReply({ code: 550, lines: ["5.1.1 no", "such\tuser"] })).toBe("550 5.1.1 no such user");
  expect(describeReply({ code: 550, lines: [Buffer.from("Empfänger unbekannt").toString("latin1")] })).toBe(
    "550 Empfänger unbekannt",
  );
  expect(describeReply({ code: 550, lines: ["x".repeat(4000)] })).toHaveLength(MAX_REPLY_LENGTH);
  fc.assert(
    fc.property(fc.array(fc.nat(0xffff), { maxLength: 600 }), (units) => {
      const text = String.fromCharCode(...units);
      const line = toPrintableLine(text);
      expect(line.length).toBeLessThanOrEqual(MAX_REPLY_LENGTH);
      expect(line).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Cf}]/u);
      expect(line.isWellFormed()).toBe(true);
    }),
  );
});
