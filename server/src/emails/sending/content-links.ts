// Stores the numbers and targets of a content's links before an email is sent, so that every link works.
import { LRUCache } from "lru-cache";
import type { Database } from "../../platform/database/database.ts";
import { upsertContentLinks, type LinkedContent } from "./link-queries.ts";

export type { LinkedContent } from "./link-queries.ts";

/** Contents to remember as stored. Forgetting one costs a statement without effect. */
const KNOWN_CONTENTS_MAX = 10_000;

/** Returns a function that stores the links of contents this process has not stored yet, in one statement. */
export function createLinkStore(database: Database): (contents: readonly LinkedContent[]) => Promise<void> {
  const known = new LRUCache<string, true>({ max: KNOWN_CONTENTS_MAX });
  return async (contents) => {
    const missing = new Map<string, LinkedContent>();
    for (const content of contents) {
      const key = `${content.projectId} ${content.contentId} ${content.queueVersion}`;
      if (content.links.length > 0 && !known.has(key)) missing.set(key, content);
    }
    if (missing.size === 0) return;
    // Insert in a fixed order, so that two processes with the same contents cannot deadlock.
    const ordered = [...missing.values()].toSorted((one, other) =>
      one.contentId < other.contentId ? -1 : 1,
    );
    await upsertContentLinks(database, ordered);
    for (const key of missing.keys()) known.set(key, true);
  };
}
