import { afterEach, expect, test } from "vitest";
import { readConfig } from "./settings/config.ts";
import { armFailpoints, failpoint, FailpointError, parseFailpoint } from "./failpoints.ts";

afterEach(() => armFailpoints([]));

test("does nothing when no failpoint is armed", async () => {
  await expect(failpoint("dot.after")).resolves.toBeUndefined();
});

test("triggers an armed failpoint once, at its turn, and no others", async () => {
  armFailpoints(readConfig({ FAILPOINTS: "dot.before:throw:2, claim.after:throw" }).FAILPOINTS);
  await failpoint("dot.before");
  await expect(failpoint("dot.before")).rejects.toThrow(FailpointError);
  await failpoint("dot.before");
  await failpoint("dot.after");
  await expect(failpoint("claim.after")).rejects.toThrow("claim.after");
});

test.each(["dot.never:kill", "dot.after", "dot.after:explode", "dot.after:kill:0", "dot.after:kill:1:2"])(
  "%s is not a valid failpoint and prevents the start",
  (text) => {
    expect(parseFailpoint(text)).toBeNull();
    expect(() => readConfig({ FAILPOINTS: text })).toThrow("FAILPOINTS");
  },
);
