// Reads reports on a separate thread, so that emails from strangers can't slow down the serving thread.
import { AppError } from "../../platform/app-error.ts";
import { createTaskThread, TaskOverLimit } from "../../platform/threads/task-thread.ts";
import type { Unpacked } from "./unpack.ts";

/** Per report. Bounces wait during that time. */
const DEADLINE_MS = 2_000;
const WAITING = 50;

export interface ReportReader {
  /** Reads a report. Returns a fault if it takes too long, and throws only if the queue is full, so that the email is retried. */
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
        if (error instanceof AppError) throw error;
        return { fault: error instanceof TaskOverLimit ? "took too long to read" : "not readable" };
      }),
    close: () => thread.close(),
  };
}
