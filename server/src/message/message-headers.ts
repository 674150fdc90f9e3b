// Computes the header fields that depend on the caller and the kind of an email. Pure.
import { domainOf } from "@postloft/contract/address.ts";
import type { EmailKind } from "@postloft/contract/emails.ts";

/** Kind of bulk mail: only for subscribed contacts and always with a way to unsubscribe. MARKETING content also includes a footer. */
export type ListKind = "MARKETING" | "HEADLESS";

export interface HeaderField {
  name: string;
  value: string;
}

export interface HeaderFacts {
  /** The project's public id, which may appear in headers. */
  publicProjectId: string;
  campaignId: string | null;
  kind: EmailKind;
  listKind: ListKind | null;
  fromAddress: string;
  /** Link to unsubscribe from the list; null if the email has no contact. */
  unsubscribeUrl: string | null;
  /**
   * Signed id that only this installation can create, so a complaint quoting it belongs to this email. null if no one would read the id.
   */
  signedId: string | null;
  /** Headers set by the caller; they take precedence over ours. */
  custom: readonly HeaderField[];
  /** Fields (lower case) that the transport writes itself. */
  rewrites: readonly string[];
}

/** Header with the signed id. Complaints quote the header of an email, often without its Return-Path. */
export const SIGNED_ID_HEADER = "X-Postloft-Id";

/** Google's feedback loop requires 5 to 15 characters that never change, in the fourth position. */
const SENDER_ID = "postloft";

/**
 * Returns the custom fields in their order, followed by ours.
 * @throws Error for bulk mail without an unsubscribe link (fail closed).
 */
export function messageHeaders(facts: HeaderFacts): HeaderField[] {
  const taken = new Set(facts.custom.map(({ name }) => name.toLowerCase()));
  const own = [...kindHeaders(facts, taken), ...reportHeaders(facts)];
  return [
    ...facts.custom,
    ...own.filter(
      ({ name }) => !taken.has(name.toLowerCase()) && !facts.rewrites.includes(name.toLowerCase()),
    ),
  ];
}

type ReportFacts = Pick<HeaderFacts, "publicProjectId" | "campaignId" | "kind" | "listKind" | "signedId">;

/** Returns the fields with which complaints name their email. A raw message gets no other fields. */
export function reportHeaders(facts: ReportFacts): HeaderField[] {
  const { signedId } = facts;
  return [feedbackId(facts), ...(signedId === null ? [] : [{ name: SIGNED_ID_HEADER, value: signedId }])];
}

/** Returns Auto-Submitted (RFC 3834) unless the email is bulk mail, which gets its list headers instead (RFC 2919, 2369 and 8058). */
function kindHeaders(facts: HeaderFacts, taken: ReadonlySet<string>): HeaderField[] {
  if (facts.listKind === null) return [{ name: "Auto-Submitted", value: "auto-generated" }];
  const listId = { name: "List-Id", value: `<${facts.publicProjectId}.${domainOf(facts.fromAddress)}>` };
  // Both headers belong together: our one-click promise would be wrong for the caller's address.
  if (taken.has("list-unsubscribe")) return [listId];
  if (facts.unsubscribeUrl === null) throw new Error("bulk mail needs an unsubscribe URL");
  return [
    listId,
    { name: "List-Unsubscribe", value: `<${facts.unsubscribeUrl}>` },
    { name: "List-Unsubscribe-Post", value: "List-Unsubscribe=One-Click" },
  ];
}

/** Returns the stream under which mailbox providers should count an email. */
export function streamOf({ kind, listKind }: Pick<HeaderFacts, "kind" | "listKind">): string {
  return (listKind ?? kind).toLowerCase();
}

/** Returns `campaign:project:type:sender`, each counted separately. No part may identify a recipient. */
function feedbackId(facts: ReportFacts): HeaderField {
  const parts = [facts.campaignId ?? "", facts.publicProjectId, streamOf(facts), SENDER_ID];
  return { name: "Feedback-ID", value: parts.join(":") };
}
