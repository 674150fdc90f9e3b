// Keeps what the links of contents are called, before a mail with them leaves: whoever follows one finds where it leads.
import { LRUCache } from "lru-cache";
import type { Database } from "../../platform/database.ts";
import { upsertContentLinks, type LinkedContent } from "./link-queries.ts";

export type { LinkedContent } from "./link-queries.ts";

/** Contents that this process has stored since their project was reset, if ever; another one costs a statement that changes nothing. */
const KNOWN_CONTENTS_MAX = 10_000;

/** Stores links of contents that this process has not stored yet, in one statement for all. */
export function createLinkStore(database: Database): (contents: readonly LinkedContent[]) => Promise<void> {
  const known = new LRUCache<string, true>({ max: KNOWN_CONTENTS_MAX });
  return async (contents) => {
    const missing = new Map<string, LinkedContent>();
    for (const content of contents) {
      const key = `${content.projectId} ${content.contentId} ${content.queueVersion}`;
      if (content.links.length > 0 && !known.has(key)) missing.set(key, content);
    }
    if (missing.size === 0) return;
    // In one order everywhere: two processes that store the same contents must not wait for each other.
    const ordered = [...missing.values()].toSorted((one, other) =>
      one.contentId < other.contentId ? -1 : 1,
    );
    await upsertContentLinks(database, ordered);
    for (const key of missing.keys()) known.set(key, true);
  };
}
