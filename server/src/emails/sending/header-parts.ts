// Builds the header of an email with its sender, recipients, subject and the fields for its kind. Pure.
import { parseMailboxList } from "@postloft/contract/mailbox-list.ts";
import { now } from "../../platform/clock.ts";
import type { Mailbox as NamedMailbox } from "../../message/header.ts";
import type { HeaderParts } from "../../message/message.ts";
import { messageHeaders, type HeaderFacts, type HeaderField } from "../../message/message-headers.ts";
import type { Mailbox } from "../outbox/emails.ts";
import { kindOf, messageDateOf, messageIdOf } from "../rows/rules.ts";
import type { Content } from "./load-contents.ts";
import { shownListKind } from "../rows/rendered-as.ts";
import type { ClaimedRow } from "../rows/claimed-queries.ts";

/** The columns of an email row that the header uses. */
export type AddressedRow = Pick<
  ClaimedRow,
  "id" | "campaignId" | "priority" | "toAddress" | "toName" | "isTest" | "variables" | "scheduledFor"
>;
export type HeaderContent = Pick<Content, "fromAddress" | "fromName" | "replyTo" | "headers" | "listKind">;

interface OfThisMail extends Pick<
  HeaderFacts,
  "publicProjectId" | "unsubscribeUrl" | "signedId" | "rewrites"
> {
  /** With variables filled in. */
  subject: string;
  cc: readonly Mailbox[];
  /** Creation time of a campaign email. Defaults to now. */
  madeAt?: Date | null;
}

/**
 * Returns the header of an email.
 * @throws Error for bulk mail without an unsubscribe link
 */
export function headerPartsOf(row: AddressedRow, content: HeaderContent, mail: OfThisMail): HeaderParts {
  const { fromAddress, fromName } = content;
  const replyTo = replyMailboxes(content);
  const listKind = shownListKind(row, content);
  return {
    messageId: messageIdOf(row.id, fromAddress),
    date: row.scheduledFor ?? messageDateOf(row.id, row.campaignId === null ? null : (mail.madeAt ?? now())),
    from: named({ address: fromAddress, name: fromName }),
    to: [named({ address: row.toAddress, name: row.toName })],
    cc: mail.cc.map(named),
    ...(replyTo.length === 0 ? {} : { replyTo }),
    subject: mail.subject,
    headers: messageHeaders({
      publicProjectId: mail.publicProjectId,
      campaignId: row.campaignId,
      kind: kindOf(row.priority),
      listKind,
      fromAddress,
      unsubscribeUrl: listKind === null ? null : mail.unsubscribeUrl,
      signedId: mail.signedId,
      custom: content.headers as HeaderField[],
      rewrites: mail.rewrites,
    }),
  };
}

/** Returns the reply addresses of a content. */
export function replyMailboxes({ replyTo }: Pick<HeaderContent, "replyTo">): NamedMailbox[] {
  if (replyTo === null) return [];
  if (!replyTo.includes("<") && !replyTo.includes(",")) return [{ address: replyTo }];
  return parseMailboxList(replyTo).flatMap((mailbox) =>
    mailbox.ok ? [named({ name: null, ...mailbox })] : [],
  );
}

function named({ address, name }: Mailbox): NamedMailbox {
  return name === null ? { address } : { address, name };
}
