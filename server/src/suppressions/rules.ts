// Explains in words what the suppression list means for an address. Pure.
import type { SuppressionReason } from "@postloft/contract/suppressions.ts";

/** Suppression and subscription status of an address. */
export interface AddressStatus {
  email: string;
  suppression: { reason: SuppressionReason; createdAt: string; emailId: string | null } | null;
  /** Whether the project applies its suppression list. */
  suppressionList: boolean;
  contact: { subscribed: boolean } | null;
}

const CAUSES: Readonly<Record<SuppressionReason, string>> = {
  COMPLAINT: "the recipient reported an email as spam",
  HARD_BOUNCE: "an email bounced and the address does not exist or accepts no email",
  MANUAL: "it was added manually",
  IMPORT: "it was imported",
};

/** Returns the kinds of email that an address gets, with an explanation for users. */
export function explainAddress({ suppression, suppressionList, contact }: AddressStatus): {
  gets: { transactional: boolean; lists: boolean };
  explanation: string;
} {
  const isBarred = suppressionList && suppression !== null;
  const gets = { transactional: !isBarred, lists: !isBarred && contact?.subscribed === true };
  const since = suppression === null ? "" : ` since ${suppression.createdAt}`;
  const listed =
    suppression === null
      ? ""
      : `has been on the suppression list${since} because ${CAUSES[suppression.reason]}`;
  if (isBarred)
    return {
      gets,
      explanation: `No email is sent to this address. It ${listed}. \`DELETE /suppressions/:address\` removes it.`,
    };
  const ignored =
    suppression === null
      ? ""
      : ` The address ${listed}, but the project does not apply its list (\`suppressionList\` is false).`;
  const subscription =
    contact === null
      ? "The address has no contact, so it gets transactional email only."
      : contact.subscribed
        ? "The address gets all email because its contact is subscribed."
        : "The contact is not subscribed, so it gets transactional email only. `GET /contacts/:id/consent` shows why.";
  return { gets, explanation: `${subscription}${ignored}` };
}
