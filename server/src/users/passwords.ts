// Hashes of passwords. The work is made on one thread, in turns: the pool that the database driver, DNS and signing need stays free,
// however many log in at once. Before it: routes.ts, instance/bootstrap.ts. After it: users.ts keeps the hash.
import { invalidField } from "../platform/refusal.ts";
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

export type PasswordResult =
  | { is: "hashed"; hash: string }
  | { is: "common" }
  | { is: "compared"; matches: boolean };

/** All take turns by the address they came from. @throws Refusal RATE_LIMIT_EXCEEDED when too many wait. */
export interface Passwords {
  /** @throws Refusal VALIDATION_ERROR for one that everybody tries first, naming `field`: `password` unless it is told. */
  hash(address: string, account: { email: string; password: string }, field?: string): Promise<string>;
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
    async hash(address, { email, password }, field = "password") {
      if (isOfAddress(password, email))
        throw invalidField(field, "custom", "Must not be the e-mail address or its name.");
      const result = await thread.run(address, { password, hash: null, cost: COST });
      if (result.is === "hashed") return result.hash;
      throw invalidField(field, "custom", "Is one of the 10,000 most common passwords. Choose another one.");
    },
    async matches(address, hash, password) {
      const task = { password, hash: hash ?? NOBODYS_HASH, cost: COST };
      const result = await thread.run(address, task);
      return result.is === "compared" && result.matches && hash !== null;
    },
    close: () => thread.close(),
  };
}

function isOfAddress(password: string, email: string): boolean {
  const given = password.toLowerCase();
  return given === email.toLowerCase() || given === email.toLowerCase().split("@")[0];
}
