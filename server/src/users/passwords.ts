// Hashes and compares passwords on one thread, with networks taking turns. The thread pool stays free for the database driver, DNS and
// signing, however many people sign in.
import { invalidField } from "../platform/app-error.ts";
import { createTaskThread } from "../platform/threads/task-thread.ts";

/** A hash takes tens of milliseconds, so the longest wait is a few seconds. */
const WAITING = { waitingPerOwner: 40, waiting: 200 };
const DEADLINE_MS = 10_000;

const PRODUCT = "postloft";
/** A password that adds fewer other characters to a name is too easy to guess. */
const OTHER_CHARACTERS = 6;
/** A shorter name within a password is a coincidence. */
const NAME_LENGTH = 4;

/** A hash of no account, compared when there is no account so that both cases take the same time. */
const DUMMY_HASH =
  "$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$RdescudvJCsgt3ub+b6dWRWJTmaaJObGQY5lM4Xr0xk";

export type PasswordTask =
  | { verb: "hash"; password: string }
  | { verb: "compare"; password: string; hash: string };

export type PasswordResult =
  | { is: "hashed"; hash: string }
  | { is: "common" }
  | { is: "compared"; matches: boolean };

export interface NewPassword {
  email: string;
  password: string;
  /** The names of the account's projects. */
  projects?: readonly string[];
}

/**
 * Callers take turns by `network`.
 * @throws AppError RATE_LIMIT_EXCEEDED if too many wait
 */
export interface Passwords {
  /**
   * Returns the hash of a new password.
   * @throws AppError VALIDATION_ERROR on `field` for a password that is easy to guess
   */
  hash(network: string, chosen: NewPassword, field?: string): Promise<string>;
  /** Returns whether the password matches. Without a hash it takes the same time and returns false. */
  matches(network: string, hash: string | null | undefined, password: string): Promise<boolean>;
  close(): Promise<void>;
}

export function createPasswords(): Passwords {
  const thread = createTaskThread<PasswordTask, PasswordResult>({
    module: new URL("./password-worker.ts", import.meta.url),
    deadlineMs: DEADLINE_MS,
    ...WAITING,
  });
  return {
    async hash(network, { email, password, projects = [] }, field = "password") {
      const [localPart = ""] = email.split("@");
      const name = [email, localPart, PRODUCT, ...projects].find((one) => isAlmost(password, one));
      if (name !== undefined)
        throw invalidField(
          field,
          "custom",
          "Must not be your email address, Postloft or the name of a project, even with a few characters added.",
        );
      const result = await thread.run(network, { verb: "hash", password });
      if (result.is === "hashed") return result.hash;
      throw invalidField(field, "custom", "Is one of the 100,000 most common passwords. Choose another one.");
    },
    async matches(network, hash, password) {
      const result = await thread.run(network, { verb: "compare", password, hash: hash ?? DUMMY_HASH });
      return typeof hash === "string" && result.is === "compared" && result.matches;
    },
    close: () => thread.close(),
  };
}

function isAlmost(password: string, name: string): boolean {
  const [whole, part] = [password, name].map((text) => text.normalize("NFC").toLowerCase().trim());
  if (whole === undefined || part === undefined) return false;
  const isNamed = part.length >= NAME_LENGTH && whole.includes(part);
  return whole === part || (isNamed && whole.length - part.length < OTHER_CHARACTERS);
}
