// Provides the environment of a thread. It contains only the folder of compiled modules and no secrets, because the thread may run
// untrusted code.
import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";

/** Returns the environment. Node.js creates a folder per version inside NODE_COMPILE_CACHE, and the thread gets the outer one. */
export function threadEnvironment(): Readonly<Record<string, string>> {
  const folder = getCompileCacheDir();
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}
