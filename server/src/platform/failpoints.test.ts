import { afterEach, expect, test } from "vitest";
import { readConfig } from "./settings/config.ts";
import { armFailpoints, failpoint, FailpointError, parseFailpoint } from "./failpoints.ts";

afterEach(() => armFailpoints([]));

test("nothing acts where nothing is armed", async () => {
  await expect(failpoint("dot.after")).resolves.toBeUndefined();
});

test("a place acts at its turn, once, and other places do not", async () => {
  armFailpoints(readConfig({ FAILPOINTS: "dot.before:throw:2, claim.after:throw" }).FAILPOINTS);
  await failpoint("dot.before");
  await expect(failpoint("dot.before")).rejects.toThrow(FailpointError);
  await failpoint("dot.before");
  await failpoint("dot.after");
  await expect(failpoint("claim.after")).rejects.toThrow("claim.after");
});

test.each(["dot.never:kill", "dot.after", "dot.after:explode", "dot.after:kill:0", "dot.after:kill:1:2"])(
  "%s is no failpoint, and no process starts with it",
  (text) => {
    expect(parseFailpoint(text)).toBeNull();
    expect(() => readConfig({ FAILPOINTS: text })).toThrow("FAILPOINTS");
  },
);
