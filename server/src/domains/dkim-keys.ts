// Generates DKIM keys on one thread, with projects taking turns.
import { generateKeyPair } from "node:crypto";
import { promisify } from "node:util";
import { createTaskThread } from "../platform/threads/task-thread.ts";

const RSA_BITS = 2048;
/** The SubjectPublicKeyInfo of an Ed25519 key ends with the key itself. */
const ED25519_KEY_BYTES = 32;
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

/** Generates an Ed25519 key, which takes no time worth a thread. */
export async function makeEd25519Pair(): Promise<NewKey> {
  const pair = await promisify(generateKeyPair)("ed25519", {});
  const der = pair.publicKey.export({ type: "spki", format: "der" });
  const privatePem = pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  return { privatePem, publicKey: der.subarray(-ED25519_KEY_BYTES).toString("base64") };
}

export function createKeyMaker(): KeyMaker {
  const thread = createTaskThread<number, NewKey>({
    module: new URL("./key-worker.ts", import.meta.url),
    deadlineMs: DEADLINE_MS,
    ...WAITING,
  });
  return { make: (projectId) => thread.run(projectId, RSA_BITS) };
}
