// Reads a raw message for display: texts, attachments and header.
import type { Email } from "postal-mime";
import { AppError } from "../../platform/app-error.ts";
import { escapeHtml } from "../../platform/escape-html.ts";
import { parseApart } from "../../transports/parse-apart.ts";

export interface ShownMessage {
  html: string;
  text: string;
  attachments: Array<{ filename: string; contentType: string; sizeBytes: number }>;
  /** Without the fields about the parts and those that prove the origin. */
  headers: Array<{ name: string; value: string }>;
}

const UNNAMED = "unnamed";
const NOT_SHOWN = /^(?:mime-version|content-.*|dkim-signature|arc-.*)$/i;
const TOO_LARGE = "This message takes too much time or memory to show.";

/**
 * Returns the readable parts of a raw message. A message without HTML is shown as its text.
 * @throws AppError RATE_LIMIT_EXCEEDED when too many messages are waiting
 */
export async function readRawMessage(projectId: string, raw: Buffer): Promise<ShownMessage> {
  const parsed = await parseOrNull(projectId, raw);
  const text = parsed?.text ?? "";
  return {
    html: parsed?.html ?? `<pre>${escapeHtml(parsed === null ? TOO_LARGE : text)}</pre>`,
    text,
    attachments: (parsed?.attachments ?? []).map(({ filename, mimeType, content }) => ({
      filename: filename ?? UNNAMED,
      contentType: mimeType,
      sizeBytes: typeof content === "string" ? Buffer.byteLength(content) : content.byteLength,
    })),
    headers: (parsed?.headers ?? [])
      .filter(({ originalKey }) => !NOT_SHOWN.test(originalKey))
      .map(({ originalKey, value }) => ({ name: originalKey, value })),
  };
}

/** Returns null for a message that takes too much to parse, because the rest of its email can still be shown. */
async function parseOrNull(projectId: string, raw: Buffer): Promise<Email | null> {
  try {
    return await parseApart(projectId, raw);
  } catch (error) {
    if (error instanceof AppError && error.code === "CONFLICT") return null;
    throw error;
  }
}
