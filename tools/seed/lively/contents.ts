// Stores the contents of the emails of a history, as the program stores them when it sends.
import type { EmailKind } from "@postloft/contract/emails.ts";
import type { TemplateType } from "@postloft/contract/templates.ts";
import type { Tx } from "../../../server/src/platform/database/database.ts";
import { makeContent, storeContents } from "../../../server/src/emails/outbox/emails.ts";
import { numberOf } from "../../../server/src/rendering/link-target.ts";
import { sentParts } from "../../../server/src/templates/sent-parts.ts";
import type { Rows } from "./rows.ts";
import type { Letter } from "./sent-emails.ts";

/** A template or a campaign as stored. */
interface Stored {
  type: TemplateType;
  subject: string;
  body: string;
  previewText: string | null;
  fromAddress: string;
  fromName: string | null;
}

/** Stores the content of a template or a campaign and returns a letter with it. */
export async function storeLetter(
  { tx, projectId, rows }: { tx: Tx; projectId: string; rows: Rows },
  stored: Stored,
  letter: { kind: EmailKind } & Omit<Letter, "contentId" | "from" | "subject">,
): Promise<Letter> {
  const { type, subject, fromAddress, fromName } = stored;
  const content = makeContent({
    projectId,
    from: { address: fromAddress, name: fromName },
    replyTo: null,
    subject,
    ...sentParts(stored),
    headers: [],
    attachments: [],
    listKind: type === "TRANSACTIONAL" ? null : type,
  });
  await storeContents(tx, [content]);
  const { links } = letter;
  if (links.length > 0)
    rows.add("content_links", {
      content_id: content.id,
      numbers: links.map((link) => numberOf(link, true)),
      urls: links,
    });
  return { ...letter, contentId: content.id, from: fromAddress, subject };
}
