// Keyed hashes of email addresses, for what must outlive the address itself (docs/decisions/0107-opt-outs-of-addresses.md).
import { createHmac, type KeyObject } from "node:crypto";
import { deriveKey } from "./crypto.ts";

const HASH_BYTES = 16;

/** A process has one application secret, as it has one clock: every statement that makes contacts needs the key. */
const state: { key: KeyObject | null } = { key: null };

/** Sets the key of this process; called once, before anything is hashed. */
export function setAddressKey(applicationSecret: string): void {
  state.key = deriveKey(applicationSecret, "opt-outs");
}

/** Returns the hash of a canonical address within a project, written as a UUID: 128 bits of an HMAC-SHA256. */
export function hashAddress(projectId: string, email: string): string {
  if (state.key === null) throw new Error("The key of address hashes is not set.");
  const bytes = createHmac("sha256", state.key).update(`${projectId} ${email}`).digest();
  return bytes.toString("hex", 0, HASH_BYTES).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
