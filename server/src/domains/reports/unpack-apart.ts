// Reads reports on a thread apart from the one that serves: what anybody may mail here costs nobody else anything.
import { Refusal } from "../../platform/refusal.ts";
import { createTaskThread, TaskOverLimit } from "../../platform/threads/task-thread.ts";
import type { Unpacked } from "./unpack.ts";

/** Of one report. Those who tell of bounces wait meanwhile. */
const DEADLINE_MS = 2_000;
const WAITING = 50;

export interface ReportReader {
  /** A fault also when it took too long; only a full queue is thrown, so that the mail is looked at again. */
  read(raw: Uint8Array): Promise<Unpacked>;
  close(): Promise<void>;
}

export function createReportReader(): ReportReader {
  const thread = createTaskThread<Uint8Array, Unpacked>({
    module: new URL("./report-worker.ts", import.meta.url),
    deadlineMs: DEADLINE_MS,
    waitingPerOwner: WAITING,
    waiting: WAITING,
  });
  return {
    read: (raw) =>
      thread.run("", raw).catch((error: unknown) => {
        if (error instanceof Refusal) throw error;
        return { fault: error instanceof TaskOverLimit ? "took too long to read" : "not readable" };
      }),
    close: () => thread.close(),
  };
}
