// Tests that sealed secrets open unchanged, only with the application secret and in the row they were sealed for.
import { expect, test } from "vitest";
import { createSealer } from "./crypto.ts";

const sealer = createSealer("a secret for tests, long enough");

test("opens a sealed secret in the row it was sealed for", () => {
  expect(sealer.open(sealer.seal("sk_ü", "row 1"), "row 1")).toBe("sk_ü");
});

test("rejects a sealed secret that was moved to another row", () => {
  expect(() => sealer.open(sealer.seal("sk_one", "row 1"), "row 2")).toThrow("unable to authenticate data");
});

test("rejects a sealed secret that was changed or sealed with another application secret", () => {
  const sealed = sealer.seal("sk_one", "row 1");
  for (const at of sealed.keys()) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(() => sealer.open(changed, "row 1")).toThrow("unable to authenticate data");
  }
  expect(() => createSealer("another secret, long enough").open(sealed, "row 1")).toThrow(
    "unable to authenticate data",
  );
});
