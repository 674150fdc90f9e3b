// What stands for a project where anybody may read it: a token that never changes and tells nothing.
import { createHmac } from "node:crypto";
import { deriveKey } from "../platform/crypto.ts";

const TOKEN_BYTES = 8;
/** An installation has few projects that send at once; more of them are computed again. */
const MAX_KEPT = 1_000;

/** The same token for a project on every process, as 16 hexadecimal digits. */
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
