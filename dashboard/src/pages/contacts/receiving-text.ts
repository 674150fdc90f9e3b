// Says in one sentence which emails an address doesn't get, and why. Pure.
import type { ApiResponse } from "../../api/address.ts";
import type { api } from "../../api/endpoints.ts";
import { t } from "../../text/t.ts";
import { formatDay } from "../../ui/format.ts";
import { SUPPRESSION_REASONS } from "../settings/suppression-reasons.ts";
import { isArrival } from "./consent-events.ts";
import { SOURCES, type Change } from "./consent-words.ts";

export type Explained = Pick<
  ApiResponse<typeof api.suppressions.explain>,
  "contact" | "email" | "suppression" | "suppressionList"
>;

/** Explains what *Not subscribed* means, while its reason is unknown. */
export const NO_MARKETING = t("This contact doesn't get marketing email. Transactional email is still sent.");

/** Whether `receivingText` names the suppression list. A list that isn't applied is no reason for an unsubscribed contact. */
export const isAboutSuppression = ({ contact, suppression, suppressionList }: Explained): boolean =>
  suppression !== null && (suppressionList || contact?.subscribed !== false);

/**
 * Returns why an address gets no email or only some of it, or null if it gets everything.
 * @param log the consent log of the contact, newest first; empty while it is loading
 */
export function receivingText(explained: Explained, log: readonly Change[]): string | null {
  const { contact, suppression, suppressionList } = explained;
  if (contact !== null && !isAboutSuppression(explained))
    return contact.subscribed ? null : unsubscribedText(contact.id, log);
  if (suppression === null) return null;
  const listed = {
    day: formatDay(suppression.createdAt),
    reason: SUPPRESSION_REASONS[suppression.reason],
  };
  return suppressionList
    ? t("On the suppression list since {day} ({reason}). This address gets no email.", listed)
    : t("On the suppression list since {day} ({reason}), but this project doesn't apply the list.", listed);
}

function unsubscribedText(contactId: string, log: readonly Change[]): string {
  const subscribedAt = log.findIndex(({ subscribed }) => subscribed);
  const optOuts = log.filter((change) => !isArrival(change, contactId));
  // A later opt-out repeats one that already ended the subscription.
  const ended = subscribedAt < 0 ? (optOuts.at(-1) ?? log.at(-1)) : log[subscribedAt - 1];
  // The log may be newer than the explanation.
  if (ended === undefined) return NO_MARKETING;
  if (isArrival(ended, contactId) && ended.source !== "opt-out")
    return t(
      "Not subscribed since it was added on {day} ({source}). This contact gets transactional email only.",
      {
        day: formatDay(ended.at),
        source: SOURCES[ended.source],
      },
    );
  return t("Unsubscribed on {day} ({source}). This contact gets transactional email only.", {
    day: formatDay(ended.at),
    source: SOURCES[ended.source],
  });
}
