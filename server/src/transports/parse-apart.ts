// Parses messages of the local mailbox on a separate thread, because a message may have a million lines and each line costs time.
import type { Email } from "postal-mime";
import { AppError } from "../platform/app-error.ts";
import { createTaskThread, TaskOverLimit } from "../platform/threads/task-thread.ts";

/** The largest message with ordinary lines takes 6 s of CPU time. */
const DEADLINE_MS = 20_000;
/** A page that shows messages requests one at a time. */
const WAITING = { waitingPerOwner: 10, waiting: 100 };

/** One thread per process, stopped while unused. */
const thread = createTaskThread<Uint8Array, Email>({
  module: new URL("./parse-worker.ts", import.meta.url),
  deadlineMs: DEADLINE_MS,
  ...WAITING,
});

/**
 * Parses a message. Projects take turns.
 * @throws AppError RATE_LIMIT_EXCEEDED when too many messages are waiting, CONFLICT when parsing takes too long or too much memory
 */
export async function parseApart(projectId: string, raw: Uint8Array): Promise<Email> {
  try {
    return await thread.run(projectId, raw);
  } catch (error) {
    if (error instanceof TaskOverLimit) throw tooExpensive();
    throw error;
  }
}

const tooExpensive = () =>
  new AppError("CONFLICT", {
    message:
      "This message takes too much time or memory to parse. Read its source with GET /mailbox/messages/:id/raw.",
  });
