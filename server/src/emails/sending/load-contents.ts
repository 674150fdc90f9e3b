// Loads the contents and files of claimed emails.
import { LRUCache } from "lru-cache";
import type { Database } from "../../platform/database/database.ts";
import type { StoredAttachment } from "../outbox/emails.ts";
import type { Attachment } from "../../message/attachment.ts";
import { findContents, findFiles } from "./sender-queries.ts";
import type { ClaimedRow } from "../rows/claimed-queries.ts";

export type Content = Awaited<ReturnType<typeof findContents>>[number];

export interface LoadedContent {
  content: Content;
  /** Null if a file is missing. */
  attachments: Attachment[] | null;
}

/** Size of the content cache. Contents never change, and a batch has few different ones. */
const CONTENT_CACHE_BYTES = 32 * 1024 * 1024;

/** Returns the cache key of an email's content. */
export const contentKey = (row: ClaimedRow) => `${row.projectId} ${row.contentId}`;

/** Returns a function that loads the contents of emails by `contentKey`. Missing contents have no entry. */
export function createContentLoader(database: Database) {
  const contents = new LRUCache<string, Content>({
    maxSize: CONTENT_CACHE_BYTES,
    sizeCalculation: (content) =>
      content.html.length + (content.text?.length ?? 0) + (content.raw?.length ?? 0) + 500,
  });

  async function loadTexts(rows: readonly ClaimedRow[]): Promise<Map<string, Content>> {
    const wanted = new Map(
      rows.map((row) => [contentKey(row), { projectId: row.projectId, id: row.contentId }]),
    );
    const found = new Map<string, Content>();
    for (const key of wanted.keys()) {
      const cached = contents.get(key);
      if (cached !== undefined) found.set(key, cached);
    }
    const missing = [...wanted].filter(([key]) => !found.has(key)).map(([, value]) => value);
    for (const content of missing.length === 0 ? [] : await findContents(database, missing)) {
      const key = `${content.projectId} ${content.id}`;
      found.set(key, content);
      contents.set(key, content);
    }
    return found;
  }

  /** Loads files without a cache, because they are large and rare. Each file is read once per call. */
  async function loadFiles(texts: Iterable<Content>): Promise<Map<string, Buffer>> {
    const wanted = new Map(
      [...texts].flatMap((content) =>
        storedAttachments(content).map(({ fileId }) => [
          `${content.projectId} ${fileId}`,
          { projectId: content.projectId, id: fileId },
        ]),
      ),
    );
    const files = wanted.size === 0 ? [] : await findFiles(database, [...wanted.values()]);
    return new Map(files.map(({ projectId, id, bytes }) => [`${projectId} ${id}`, bytes]));
  }

  return async function loadContents(rows: readonly ClaimedRow[]): Promise<Map<string, LoadedContent>> {
    const texts = await loadTexts(rows);
    const files = await loadFiles(texts.values());
    return new Map(
      [...texts].map(([key, content]) => [key, { content, attachments: attachmentsOf(content, files) }]),
    );
  };
}

function attachmentsOf(content: Content, files: ReadonlyMap<string, Buffer>): Attachment[] | null {
  const attachments: Attachment[] = [];
  for (const { fileId, contentId, ...described } of storedAttachments(content)) {
    const bytes = files.get(`${content.projectId} ${fileId}`);
    if (bytes === undefined) return null;
    attachments.push({ ...described, content: bytes, ...(contentId === null ? {} : { contentId }) });
  }
  return attachments;
}

function storedAttachments(content: Content): StoredAttachment[] {
  return content.attachments as StoredAttachment[];
}
