// The environment of a thread: nothing of ours, since what runs there may be a stranger's; only where compiled modules are kept.
import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";

/** No secrets. Node.js names the folder of its own version in that of NODE_COMPILE_CACHE; a thread is told the latter. */
export function threadEnvironment(): Readonly<Record<string, string>> {
  const folder = getCompileCacheDir();
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}
