// Generates DKIM keys on one thread, with projects taking turns.
import { createTaskThread } from "../platform/threads/task-thread.ts";

const RSA_BITS = 2048;
const WAITING = { waitingPerOwner: 3, waiting: 50 };
const DEADLINE_MS = 20_000;

export interface NewKey {
  privatePem: string;
  /** In the format of the DNS record. */
  publicKey: string;
}

export interface KeyMaker {
  /**
   * Generates a key.
   * @throws AppError RATE_LIMIT_EXCEEDED if too many wait
   */
  make(projectId: string): Promise<NewKey>;
}

export function createKeyMaker(): KeyMaker {
  const thread = createTaskThread<number, NewKey>({
    module: new URL("./key-worker.ts", import.meta.url),
    deadlineMs: DEADLINE_MS,
    ...WAITING,
  });
  return { make: (projectId) => thread.run(projectId, RSA_BITS) };
}
