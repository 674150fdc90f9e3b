// Creates a public token for each project that never changes and reveals nothing.
import { createHmac } from "node:crypto";
import { deriveKey } from "../platform/crypto.ts";

const TOKEN_BYTES = 8;
/** Few projects send at the same time, and evicted tokens are computed again. */
const MAX_KEPT = 1_000;

/** Returns 16 hexadecimal digits, the same in every process. */
export function createPublicIds(applicationSecret: string): (projectId: string) => string {
  const key = deriveKey(applicationSecret, "public-project-ids");
  const kept = new Map<string, string>();
  return (projectId) => {
    const known = kept.get(projectId);
    if (known !== undefined) return known;
    const mac = createHmac("sha256", key).update(projectId).digest();
    const token = mac.subarray(0, TOKEN_BYTES).toString("hex");
    if (kept.size >= MAX_KEPT) kept.clear();
    kept.set(projectId, token);
    return token;
  };
}
