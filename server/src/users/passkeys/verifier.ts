// Verifies passkeys on a thread, because the library that parses certificates and keys takes a second and 45 MB to load.
import type { z } from "zod";
import type { addPasskey, passkeyAssertion } from "@postloft/contract/passkeys.ts";
import { createTaskThread } from "../../platform/threads/task-thread.ts";

const WAITING = { waitingPerOwner: 20, waiting: 200 };
const DEADLINE_MS = 10_000;

export type Assertion = z.output<typeof passkeyAssertion>;
export type Registration = z.output<(typeof addPasskey)["body"]>["passkey"];

/** The values that the browser must have signed. */
export interface Expected {
  challenge: string;
  origin: string;
  rpId: string;
}

export type PasskeyTask =
  | { is: "registration"; id: string; response: Registration["response"]; expected: Expected }
  | {
      is: "assertion";
      id: string;
      response: Assertion["response"];
      expected: Expected;
      publicKey: Uint8Array;
      counter: number;
    };

export type PasskeyResult =
  | { is: "verified"; publicKey: Uint8Array; counter: number }
  | { is: "refused"; reason: string };

export interface PasskeyVerifier {
  /**
   * Verifies a passkey.
   * @param owner callers with the same owner take turns
   * @throws AppError RATE_LIMIT_EXCEEDED if too many wait
   */
  verify(owner: string, task: PasskeyTask): Promise<PasskeyResult>;
  close(): Promise<void>;
}

/** The thread starts with the first passkey. */
export function createPasskeyVerifier(): PasskeyVerifier {
  const thread = createTaskThread<PasskeyTask, PasskeyResult>({
    module: new URL("./verify-worker.ts", import.meta.url),
    deadlineMs: DEADLINE_MS,
    ...WAITING,
  });
  return { verify: (owner, task) => thread.run(owner, task), close: () => thread.close() };
}
