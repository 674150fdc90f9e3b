// Which header fields a mail gets beside those that every message has: what the caller asked for, what its kind demands. Pure.
import { domainOf } from "@postloft/contract/address.ts";
import type { EmailKind } from "@postloft/contract/emails.ts";

/** Mail to a list: for subscribed contacts only, and with a way out. MARKETING has a footer as well, which is part of its content. */
export type ListKind = "MARKETING" | "HEADLESS";

export interface HeaderField {
  name: string;
  value: string;
}

export interface HeaderFacts {
  /** What stands for the project where anybody may read it. */
  publicProjectId: string;
  campaignId: string | null;
  kind: EmailKind;
  listKind: ListKind | null;
  fromAddress: string;
  /** Where the recipient leaves the list; null where there is no contact. */
  unsubscribeUrl: string | null;
  /** What only we can make and names the mail: a complaint that shows it is about this mail. null: nobody would read it. */
  signedId: string | null;
  /** What the caller set: it goes before what we would set. */
  custom: readonly HeaderField[];
  /** Fields (lower case) that the transport writes itself. */
  rewrites: readonly string[];
}

/** Where it stands: a complaint shows the header of the mail, and often without its Return-Path. */
export const SIGNED_ID_HEADER = "X-Postloft-Id";

/** Google's feedback loop wants 5 to 15 characters that never change, in the fourth place. */
const SENDER_ID = "postloft";

/**
 * The custom fields in their order, then ours. @throws Error for mail to a list without a way out (fail closed).
 */
export function messageHeaders(facts: HeaderFacts): HeaderField[] {
  const taken = new Set(facts.custom.map(({ name }) => name.toLowerCase()));
  const own = [...kindHeaders(facts, taken), feedbackId(facts)];
  if (facts.signedId !== null) own.push({ name: SIGNED_ID_HEADER, value: facts.signedId });
  return [
    ...facts.custom,
    ...own.filter(
      ({ name }) => !taken.has(name.toLowerCase()) && !facts.rewrites.includes(name.toLowerCase()),
    ),
  ];
}

/** RFC 3834 where no list is behind the mail: no person wrote it, so no machine need answer; RFC 2919, 2369 and 8058 where one is. */
function kindHeaders(facts: HeaderFacts, taken: ReadonlySet<string>): HeaderField[] {
  if (facts.listKind === null) return [{ name: "Auto-Submitted", value: "auto-generated" }];
  const listId = { name: "List-Id", value: `<${facts.publicProjectId}.${domainOf(facts.fromAddress)}>` };
  // The two belong together: with the caller's address our promise of one click would be about the wrong one.
  if (taken.has("list-unsubscribe")) return [listId];
  if (facts.unsubscribeUrl === null) throw new Error("there is no address to unsubscribe at");
  return [
    listId,
    { name: "List-Unsubscribe", value: `<${facts.unsubscribeUrl}>` },
    { name: "List-Unsubscribe-Post", value: "List-Unsubscribe=One-Click" },
  ];
}

/** The kind of a mail as mailbox providers should count it. */
export function streamOf({ kind, listKind }: Pick<HeaderFacts, "kind" | "listKind">): string {
  return (listKind ?? kind).toLowerCase();
}

/** `campaign:project:type:sender`, each counted by itself: nothing here may name a recipient. */
function feedbackId(facts: HeaderFacts): HeaderField {
  const parts = [facts.campaignId ?? "", facts.publicProjectId, streamOf(facts), SENDER_ID];
  return { name: "Feedback-ID", value: parts.join(":") };
}
