// The local mailbox: messages that stayed on this machine, for viewing (docs/self-hosting.md).
import type * as contract from "@postloft/contract/mailbox.ts";
import type { z } from "zod";
import type { Email } from "postal-mime";
import type { Database, Tx } from "../platform/database/database.ts";
import { isId } from "../platform/ids.ts";
import { toPage, type Page, type PageRequest } from "../platform/http/page.ts";
import { AppError } from "../platform/app-error.ts";
import {
  countMessages,
  deleteAllMessages,
  deleteMessages,
  deleteOldMessages,
  findMessage,
  findMessageIdOfEmail,
  listMessageRows,
  listMessagesWithRaw,
  type MessageFilter,
  type MessageRow,
} from "./mailbox-queries.ts";
import { parseApart } from "./parse-apart.ts";

export type MessageItem = z.output<typeof contract.messageItem>;

function present(row: MessageRow): MessageItem {
  return {
    id: row.id,
    emailId: row.emailId,
    from: row.fromAddress,
    to: row.toAddress,
    subject: row.subject,
    receivedAt: row.receivedAt.toISOString(),
    sizeBytes: row.sizeBytes,
  };
}

/** Returns messages, newest first. `total` is set on the first page only. */
export async function listMessages(
  database: Database,
  projectId: string,
  filter: MessageFilter,
  request: PageRequest,
): Promise<Page<MessageItem> & { total: number }> {
  const rows = await listMessageRows(database, projectId, filter, request);
  const total = request.before === null ? await countMessages(database, projectId, filter) : 0;
  return { ...toPage("messages", request, rows, present), total };
}

/** A message with its texts, for reading many messages. */
export interface MessageText {
  id: string;
  to: string;
  subject: string;
  text: string;
  html: string;
  sentAt: string;
}

/** Returns messages like `listMessages` including their texts. Only for a few short messages. */
export async function listTexts(
  database: Database,
  projectId: string,
  filter: MessageFilter,
  request: PageRequest,
): Promise<Page<MessageText> & { total: number }> {
  const rows = await listMessagesWithRaw(database, projectId, filter, request);
  const total = request.before === null ? await countMessages(database, projectId, filter) : 0;
  const parsed = new Map<(typeof rows)[number], Email>();
  // Sequential because parsing all messages concurrently would exceed the queue limit of a project.
  for (const row of rows) parsed.set(row, await parseApart(projectId, row.raw));
  const page = toPage("messages", request, rows, (row): MessageText => {
    const { html, text } = parsed.get(row) ?? {};
    return {
      id: row.id,
      to: row.toAddress,
      subject: row.subject,
      text: partOf(text) ?? "",
      html: partOf(html) ?? "",
      sentAt: row.receivedAt.toISOString(),
    };
  });
  return { ...page, total };
}

async function getRow(database: Database, projectId: string, id: string) {
  const row = isId(id) ? await findMessage(database, projectId, id) : undefined;
  if (row === undefined) throw new AppError("MESSAGE_NOT_FOUND");
  return row;
}

/**
 * Returns a parsed message.
 * @throws AppError MESSAGE_NOT_FOUND
 */
export async function getMessage(database: Database, projectId: string, id: string) {
  const row = await getRow(database, projectId, id);
  const parsed = await parseApart(projectId, row.raw);
  return {
    ...present(row),
    html: partOf(parsed.html),
    text: partOf(parsed.text),
    headers: parsed.headers.map(({ originalKey, value }) => ({ name: originalKey, value })),
    attachments: parsed.attachments.map((attachment) => ({
      filename: attachment.filename ?? UNNAMED,
      contentType: attachment.mimeType,
      sizeBytes:
        typeof attachment.content === "string"
          ? Buffer.byteLength(attachment.content)
          : attachment.content.byteLength,
      contentId: attachment.contentId?.replace(/^<(.*)>$/, "$1") ?? null,
    })),
  };
}

const UNNAMED = "unnamed";
const POSITION = /^\d{1,4}$/;

/**
 * Returns the bytes of an attachment by its position in the parsed message.
 * @throws AppError MESSAGE_NOT_FOUND, or RESOURCE_NOT_FOUND if there is no attachment at that position
 */
export async function getAttachment(
  database: Database,
  projectId: string,
  { id, position }: { id: string; position: string },
): Promise<{ filename: string; bytes: Buffer }> {
  const { raw } = await getRow(database, projectId, id);
  const { attachments } = await parseApart(projectId, raw);
  const attachment = POSITION.test(position) ? attachments[Number(position)] : undefined;
  if (attachment === undefined) throw new AppError("RESOURCE_NOT_FOUND");
  const { content, filename } = attachment;
  return {
    filename: filename ?? UNNAMED,
    bytes: typeof content === "string" ? Buffer.from(content) : Buffer.from(content as ArrayBuffer),
  };
}

/** Removes the line break before the next part, which the parser counts as text. */
function partOf(text: string | undefined): string | null {
  return text?.replace(/\r?\n$/, "") ?? null;
}

/** Returns the message id of an email, or null if the mailbox has no message of it. */
export async function findMessageOfEmail(
  database: Database,
  projectId: string,
  emailId: string,
): Promise<string | null> {
  return findMessageIdOfEmail(database, projectId, emailId);
}

/**
 * Returns the raw message.
 * @throws AppError MESSAGE_NOT_FOUND
 */
export async function getRawMessage(database: Database, projectId: string, id: string): Promise<Buffer> {
  return (await getRow(database, projectId, id)).raw;
}

export async function emptyMailbox(tx: Tx, projectId: string): Promise<void> {
  await deleteAllMessages(tx, projectId);
}

/** Deletes the messages of these emails because their recipients were erased. */
export async function purgeMessages(tx: Tx, projectId: string, emailIds: readonly string[]): Promise<void> {
  await deleteMessages(tx, projectId, emailIds);
}

/** Deletes messages older than `days`. */
export async function purgeOldMessages(database: Database, projectId: string, days: number): Promise<void> {
  await deleteOldMessages(database, projectId, days);
}
