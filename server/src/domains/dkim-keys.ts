// Makes DKIM keys, on one thread and in turns between projects.
import { createTaskThread } from "../platform/threads/task-thread.ts";

const RSA_BITS = 2048;
const WAITING = { waitingPerOwner: 3, waiting: 50 };
const DEADLINE_MS = 20_000;

export interface NewKey {
  privatePem: string;
  /** As the DNS record has it. */
  publicKey: string;
}

export interface KeyMaker {
  /** @throws Refusal RATE_LIMIT_EXCEEDED when too many wait. */
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
