// Tests that a server reply is kept until it is recorded, while the process runs and the database may recover.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Database } from "../../platform/database/database.ts";
import { createLog } from "../../platform/log.ts";
import { createMetrics } from "../../platform/metrics.ts";
import { TAKEN } from "../../testing/scripted-transport.ts";
import type { Lease } from "../lease/lease.ts";
import type { Ready } from "../rows/prepared.ts";
import { createResultRecorder } from "./outcomes.ts";

const HOUR_MS = 3_600_000;
const MAIL = { row: { projectId: "p", id: "a", attempts: 0, priority: 1 }, ownSubject: null } as Ready;

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** Records a sent email in a database that fails with `failure` until it is repaired. */
function recording(failure: object) {
  const ending = new AbortController();
  let isMended = false;
  let tries = 0;
  const records = createResultRecorder({
    database: {} as Database,
    transportName: "smtp",
    lease: { senderId: () => "s" } as Lease,
    submission: {
      async record() {
        tries++;
        if (!isMended) throw Object.assign(new Error("it could not be booked"), failure);
        return true;
      },
      drained: async () => undefined,
    },
    applyFeedback: async () => undefined,
    ending: ending.signal,
    log: createLog({ level: "silent" }),
    metrics: createMetrics(),
  });
  const end = records.record(MAIL, TAKEN).then(
    () => "booked",
    () => "given up",
  );
  return {
    end,
    tries: () => tries,
    mend: () => void (isMended = true),
    stop: () => ending.abort(),
  };
}

test.each([
  ["no server listens", { code: "ECONNREFUSED" }],
  ["connections are lost", { message: "Connection terminated unexpectedly" }],
  ["the database is read-only", { code: "25006" }],
  ["statements time out", { code: "57014" }],
])("records the reply after an hour in which %s", async (_what, failure) => {
  const { end, mend } = recording(failure);
  await vi.advanceTimersByTimeAsync(HOUR_MS);
  mend();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await Promise.race([end, Promise.resolve("it waits")])).toBe("booked");
});

test.each([
  ["the database always rejects", { code: "22021" }],
  ["a bug of ours fails to record", {}],
])("gives up after minutes on a reply that %s and frees its connection", async (_what, failure) => {
  const { end } = recording(failure);
  await vi.advanceTimersByTimeAsync(HOUR_MS);
  expect(await Promise.race([end, Promise.resolve("it waits")])).toBe("given up");
});

test("tries once more and then gives up when the process stops", async () => {
  const { end, stop, tries } = recording({ code: "ECONNREFUSED" });
  await vi.advanceTimersByTimeAsync(HOUR_MS);
  const before = tries();
  stop();
  expect(await end).toBe("given up");
  expect(tries()).toBe(before + 1);
});
