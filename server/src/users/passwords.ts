// Hashes of passwords. The work is made on one thread, in turns: the pool that the database driver, DNS and signing need stays free,
// however many log in at once. Before it: routes.ts, instance/bootstrap.ts. After it: users.ts keeps the hash.
import { createTaskThread } from "../platform/task-thread.ts";

/** argon2id (the library's default) at OWASP's cost: 19 MiB, 2 passes, 1 lane. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
/** Verified against when there is no account, so that both answers take the same time. */
const NOBODYS_HASH =
  "$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$RdescudvJCsgt3ub+b6dWRWJTmaaJObGQY5lM4Xr0xk";
/** A hash takes some tens of milliseconds: nobody waits for more than a few seconds. */
const WAITING = { waitingPerOwner: 40, waiting: 200 };
const DEADLINE_MS = 10_000;

export interface PasswordTask {
  password: string;
  /** What to compare with; null makes a hash. */
  hash: string | null;
  cost: typeof COST;
}

export interface PasswordResult {
  hash: string;
  matches: boolean;
}

/** All take turns by the address they came from. @throws Refusal RATE_LIMIT_EXCEEDED when too many wait. */
export interface Passwords {
  hash(address: string, password: string): Promise<string>;
  /** Takes the same time for null, which nothing matches. */
  matches(address: string, hash: string | null, password: string): Promise<boolean>;
  close(): Promise<void>;
}

export function createPasswords(): Passwords {
  const thread = createTaskThread<PasswordTask, PasswordResult>({
    module: new URL("./password-worker.ts", import.meta.url),
    deadlineMs: DEADLINE_MS,
    ...WAITING,
  });
  return {
    async hash(address, password) {
      return (await thread.run(address, { password, hash: null, cost: COST })).hash;
    },
    async matches(address, hash, password) {
      const task = { password, hash: hash ?? NOBODYS_HASH, cost: COST };
      return (await thread.run(address, task)).matches && hash !== null;
    },
    close: () => thread.close(),
  };
}
