// Tests the bytes on the wire: dots doubled at line starts only, one line end at the end, and no early end of the message.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { toWireBody } from "./smtp-body.ts";

function toWire(raw: string): string {
  const wire = toWireBody(Buffer.from(raw));
  if ("refusal" in wire) throw new Error(wire.refusal);
  return wire.body.toString();
}

test("doubles a dot at the start of a line and no other", () => {
  expect(toWire(".a\r\nb.c\r\n..d\r\n.\r\n\r\n.")).toBe("..a\r\nb.c\r\n...d\r\n..\r\n\r\n..\r\n");
});

test("returns a message without such dots unchanged and uncopied", () => {
  const raw = Buffer.from("a\r\nb\r\n");
  const wire = toWireBody(raw);
  expect("body" in wire && wire.body === raw).toBe(true);
});

test("ends in exactly one additional line end", () => {
  expect(toWire("")).toBe("");
  expect(toWire("a")).toBe("a\r\n");
  expect(toWire("a\r\n")).toBe("a\r\n");
  expect(toWire("a\r\n\r\n")).toBe("a\r\n\r\n");
  expect(toWire("\n")).toBe("\n\r\n");
  expect(toWire("a\r")).toBe("a\r\r\n");
});

const smuggling = [
  "a\n.\nb",
  "a\n.\r\nMAIL FROM:<x@y.test>\r\n",
  "a\r.\rb",
  "a\r.\r\nb",
  "\n.",
  "\r.",
  "a\r\n\n.\r\n",
  "a\n\r.\r\n",
];
for (const raw of smuggling)
  test(`rejects ${JSON.stringify(raw)} because some servers read it as the end of the message`, () => {
    expect(toWireBody(Buffer.from(raw))).toEqual({
      refusal: expect.stringMatching(/^5\.6\.0 bare (LF|CR) before a dot/),
    });
  });

const lines = fc
  .array(fc.stringMatching(/^[.a ]{0,5}$/), { maxLength: 30 })
  .map((parts) => parts.map((part) => `${part}\r\n`).join(""));
test("never contains the end of a message and returns the original when unstuffed", () => {
  fc.assert(
    fc.property(lines, (raw) => {
      const wire = toWire(raw);
      expect(`\r\n${wire}`).not.toContain("\r\n.\r\n");
      expect(wire.replace(/^\./gm, "")).toBe(raw);
    }),
    { numRuns: 500 },
  );
});

const bytes = fc
  .array(fc.constantFrom("\r", "\n", ".", "a"), { maxLength: 12 })
  .map((parts) => parts.join(""));
test("never contains a line with a single dot under any reading of line ends", () => {
  fc.assert(
    fc.property(bytes, (raw) => {
      const wire = toWireBody(Buffer.from(raw));
      expect(`\r\n${"body" in wire ? wire.body.toString() : "refused"}`).not.toMatch(/[\r\n]\.[\r\n]/);
    }),
    { numRuns: 5_000 },
  );
});
