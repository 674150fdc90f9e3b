// Reads the content of an email before variables are filled in, together with its recipient.
import { EMAIL_KINDS } from "@postloft/contract/emails.ts";
import type { Database } from "../../platform/database/database.ts";
import { isId } from "../../platform/ids.ts";
import { AppError } from "../../platform/app-error.ts";
import { listWaiting } from "../outbox/batch-queries.ts";
import type { Copies } from "../outbox/emails.ts";
import type { AddressedRow, HeaderContent } from "../sending/header-parts.ts";
import type { RenderedRow } from "../rows/rendered-as.ts";
import { findWritten } from "./written-queries.ts";

export interface WrittenMail {
  row: RenderedRow & AddressedRow & { copies: Copies; sentAt: Date | null };
  content: { subject: string; html: string; text: string | null };
  /** Sent instead of the content. Null for an email that is rendered. */
  raw: Buffer | null;
  /** The parts of the content that are used in the header. */
  headerContent: HeaderContent;
}

/**
 * Returns the email as written, or null if the project has redacted it.
 * @throws AppError EMAIL_NOT_FOUND
 */
export async function readWrittenMail(
  database: Database,
  projectId: string,
  id: string,
): Promise<WrittenMail | null> {
  if (!isId(id)) throw new AppError("EMAIL_NOT_FOUND");
  const found = (await findWritten(database, projectId, id)) ?? (await findWaiting(database, projectId, id));
  const { subject, html, text, raw, isForgotten, fromAddress, fromName, replyTo, headers, listKind, ...row } =
    found;
  if (isForgotten) return null;
  return {
    row: { projectId, ...row, copies: (row.copies ?? { cc: [], bcc: [] }) as Copies },
    content: { subject, html, text },
    raw,
    headerContent: { fromAddress, fromName, replyTo, headers, listKind },
  };
}

/** Returns a batched recipient of a campaign as the row it will become. */
async function findWaiting(database: Database, projectId: string, id: string) {
  const [waiting] = await listWaiting(database, projectId, { by: "id", ids: [id] });
  if (waiting === undefined) throw new AppError("EMAIL_NOT_FOUND");
  return {
    ...waiting,
    priority: EMAIL_KINDS.indexOf("CAMPAIGN") + 1,
    toName: null,
    copies: null,
    isTest: null,
    variables: null,
    sentAt: null,
    scheduledFor: null,
    isForgotten: false,
    // Campaigns have no separate plain text.
    text: null,
    raw: null,
  };
}
