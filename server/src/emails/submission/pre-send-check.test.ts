import { expect, test } from "vitest";
import { createDatabase, createPool } from "../../platform/database/database.ts";
import { newId } from "../../platform/ids.ts";
import { createLog } from "../../platform/log.ts";
import { createMetrics } from "../../platform/metrics.ts";
import { RECIPIENT_CHECKS } from "../../suppressions/recipients.ts";
import { createDoubtBrake } from "../doubt/doubt-brake.ts";
import { createPreSendCheck } from "./pre-send-check.ts";
import type { Lease } from "../lease/lease.ts";
import { createInDoubtLimit } from "./in-doubt-limit.ts";
import { acceptedOutcome } from "../../testing/accepted-outcome.ts";

const lease: Lease = {
  senderId: () => newId(),
  isHeld: () => true,
  ensure: async () => undefined,
  liveSenders: () => 1,
  registerAgain: async () => undefined,
  end: async () => undefined,
};

test("keeps the place of an email in doubt if recording its result fails", async () => {
  const log = createLog({ level: "silent" });
  // No server listens on this port.
  const pool = createPool({ connection: { host: "127.0.0.1", port: 1 }, maxConnections: 1, log });
  const inDoubtLimit = createInDoubtLimit(1);
  const brake = createDoubtBrake({ pause: async () => undefined, log });
  const database = createDatabase(pool);
  const submission = createPreSendCheck({
    database,
    lease,
    inDoubtLimit,
    brake,
    recipients: RECIPIENT_CHECKS,
    ending: new AbortController().signal,
    log,
    metrics: createMetrics(),
  });
  const [projectId, id] = [newId(), newId()];
  try {
    await inDoubtLimit.take(id);
    const next = inDoubtLimit.take("next");
    await expect(submission.record(acceptedOutcome(projectId, id), newId())).rejects.toThrow("ECONNREFUSED");
    // The second email got the place while the recording was running, and has freed it again.
    await next;
    inDoubtLimit.free("next");
    const other = inDoubtLimit.take("other").then(() => "entered");
    expect(await Promise.race([other, Promise.resolve("waits")])).toBe("waits");
    await new Promise((resolve) => setImmediate(resolve));
    expect(await Promise.race([other, Promise.resolve("waits")])).toBe("waits");
    inDoubtLimit.free(id);
    expect(await other).toBe("entered");
  } finally {
    await pool.end();
  }
});
