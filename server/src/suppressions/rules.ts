// What being on the suppression list means for an address, in words. Pure.
import type { SuppressionReason } from "@postloft/contract/suppressions.ts";

/** Where an address stands. */
export interface AddressStanding {
  email: string;
  suppression: { reason: SuppressionReason; createdAt: string; emailId: string | null } | null;
  /** Whether the project looks at its list. */
  suppressionList: boolean;
  contact: { subscribed: boolean } | null;
}

const CAUSES: Readonly<Record<SuppressionReason, string>> = {
  COMPLAINT: "its owner reported a mail as spam",
  HARD_BOUNCE: "a mail came back: the address does not exist or takes nothing",
  MANUAL: "somebody of the project put it there",
  IMPORT: "it was imported",
};

/** What an address gets, with a sentence for a person. */
export function explainAddress({ suppression, suppressionList, contact }: AddressStanding): {
  gets: { transactional: boolean; lists: boolean };
  explanation: string;
} {
  const isBarred = suppressionList && suppression !== null;
  const gets = { transactional: !isBarred, lists: !isBarred && contact?.subscribed === true };
  const since = suppression === null ? "" : ` since ${suppression.createdAt}`;
  const listed =
    suppression === null ? "" : `on the suppression list${since}, because ${CAUSES[suppression.reason]}`;
  if (isBarred)
    return {
      gets,
      explanation: `Nothing is sent to this address: it is ${listed}. \`DELETE /suppressions/:address\` takes it off.`,
    };
  const ignored =
    suppression === null
      ? ""
      : ` The address is ${listed}; the project does not look at the list (\`suppressionList\` is false).`;
  const subscription =
    contact === null
      ? "The address is no contact, so it gets transactional mail only."
      : contact.subscribed
        ? "The address gets all mail: its contact is subscribed."
        : "The contact is not subscribed, so it gets transactional mail only; `GET /contacts/:id/consent` says how that came about.";
  return { gets, explanation: `${subscription}${ignored}` };
}
