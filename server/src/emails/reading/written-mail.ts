// What a mail was given to say, before variables are filled in, and for whom they are.
// Before it: templates/preview-mail.ts shows it. After it: whoever waits in a batch has no row yet.
import type { Database } from "../../platform/database.ts";
import { isId } from "../../platform/ids.ts";
import { Refusal } from "../../platform/refusal.ts";
import { listWaiting } from "../outbox/batch-queries.ts";
import type { RenderedRow } from "../sending/rendered-as.ts";
import { findWritten } from "./written-queries.ts";

export interface WrittenMail {
  row: RenderedRow;
  content: { subject: string; html: string; text: string | null };
}

/** @returns null when the project has forgotten what it said. @throws Refusal EMAIL_NOT_FOUND. */
export async function readWrittenMail(
  database: Database,
  projectId: string,
  id: string,
): Promise<WrittenMail | null> {
  if (!isId(id)) throw new Refusal("EMAIL_NOT_FOUND");
  const stored = await findWritten(database, projectId, id);
  if (stored !== undefined) {
    const { subject, html, text, isForgotten, ...row } = stored;
    return isForgotten ? null : { row: { projectId, ...row }, content: { subject, html, text } };
  }
  const [waiting] = await listWaiting(database, projectId, { by: "id", ids: [id] });
  if (waiting === undefined) throw new Refusal("EMAIL_NOT_FOUND");
  const { contactId, toAddress, subject, html } = waiting;
  // Campaigns have no text of their own.
  return {
    row: { projectId, contactId, toAddress, isTest: null, variables: null },
    content: { subject, html, text: null },
  };
}
