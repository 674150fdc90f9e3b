// Hashes of passwords. The work is made on one thread, in turns: the pool that the database driver, DNS and signing need stays free,
// however many log in at once. Before it: routes.ts, instance/bootstrap.ts. After it: users.ts keeps the hash.
import type { Sealer } from "../platform/crypto.ts";
import { invalidField } from "../platform/refusal.ts";
import { createTaskThread } from "../platform/task-thread.ts";

/** A hash takes some tens of milliseconds: nobody waits for more than a few seconds. */
const WAITING = { waitingPerOwner: 40, waiting: 200 };
const DEADLINE_MS = 10_000;
const SALT_BYTES = 16;

export type PasswordTask =
  | { verb: "hash"; password: string; salt: Uint8Array }
  | { verb: "compare"; password: string; hash: string }
  | { verb: "find"; password: string; salt: Uint8Array; hashes: readonly string[]; hasOldSalts: boolean };

export type PasswordResult =
  | { is: "hashed"; hash: string }
  | { is: "common" }
  | { is: "compared"; matches: boolean }
  | { is: "found"; index: number; hash: string };

interface Credentials {
  email: string;
  password: string;
}

/** All take turns by the address they came from. @throws Refusal RATE_LIMIT_EXCEEDED when too many wait. */
export interface Passwords {
  /** @throws Refusal VALIDATION_ERROR for one that everybody tries first, naming `field`: `password` unless it is told. */
  hash(address: string, account: Credentials, field?: string): Promise<string>;
  matches(address: string, hash: string, password: string): Promise<boolean>;
  /**
   * Which of the hashes of an address is the password's, -1 for none, and what `hash` makes of it. Takes the same time for none, one and many of
   * them, since those that were made by `hash` for this address have one salt (docs/decisions/0098). `hasOldSalts`: some address has a hash
   * with another one.
   */
  find(
    address: string,
    account: Credentials,
    known: { hashes: readonly string[]; hasOldSalts: boolean },
  ): Promise<{ index: number; hash: string }>;
  close(): Promise<void>;
}

export function createPasswords(sealer: Pick<Sealer, "mac">): Passwords {
  const thread = createTaskThread<PasswordTask, PasswordResult>({
    module: new URL("./password-worker.ts", import.meta.url),
    deadlineMs: DEADLINE_MS,
    ...WAITING,
  });
  /** Its own for each address and installation, which is what a salt is for (RFC 9106, 3.1). */
  const saltOf = (email: string) => sealer.mac(`salt of ${email}`).subarray(0, SALT_BYTES);
  return {
    async hash(address, { email, password }, field = "password") {
      if (isOfAddress(password, email))
        throw invalidField(field, "custom", "Must not be the e-mail address or its name.");
      const result = await thread.run(address, { verb: "hash", password, salt: saltOf(email) });
      if (result.is === "hashed") return result.hash;
      throw invalidField(field, "custom", "Is one of the 10,000 most common passwords. Choose another one.");
    },
    async matches(address, hash, password) {
      const result = await thread.run(address, { verb: "compare", password, hash });
      return result.is === "compared" && result.matches;
    },
    async find(address, { email, password }, known) {
      const result = await thread.run(address, { verb: "find", password, salt: saltOf(email), ...known });
      if (result.is !== "found")
        throw new Error(`The thread of passwords returned "${result.is}" to "find".`);
      return result;
    },
    close: () => thread.close(),
  };
}

function isOfAddress(password: string, email: string): boolean {
  const given = password.toLowerCase();
  return given === email.toLowerCase() || given === email.toLowerCase().split("@")[0];
}
