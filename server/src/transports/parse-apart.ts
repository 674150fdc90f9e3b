// Takes messages of the local mailbox apart on a thread beside the one that serves: a mail may be of a million lines, each of which costs.
import type { Email } from "postal-mime";
import { Refusal } from "../platform/refusal.ts";
import { createTaskThread, TaskOverLimit } from "../platform/threads/task-thread.ts";

/** The largest message of ordinary lines takes 6 s where nothing else runs. */
const DEADLINE_MS = 20_000;
/** A page that shows messages asks for one at a time. */
const WAITING = { waitingPerOwner: 10, waiting: 100 };

/** One for the process: it is let go when nobody reads. */
const thread = createTaskThread<Uint8Array, Email>({
  module: new URL("./parse-worker.ts", import.meta.url),
  deadlineMs: DEADLINE_MS,
  ...WAITING,
});

/**
 * Projects take turns.
 *
 * @throws Refusal RATE_LIMIT_EXCEEDED when too many wait, CONFLICT when it takes too long or too much memory
 */
export async function parseApart(projectId: string, raw: Uint8Array): Promise<Email> {
  try {
    return await thread.run(projectId, raw);
  } catch (error) {
    if (error instanceof TaskOverLimit) throw tooCostly();
    throw error;
  }
}

const tooCostly = () =>
  new Refusal("CONFLICT", {
    message:
      "This message takes too much time or memory to be taken apart. Read its source: GET /mailbox/messages/:id/raw.",
  });
