// What a notice about a mail means: the event it is, how the mail's state changes, whether the contact is unsubscribed. Pure.
// Before it: deliveries.ts. After it: nothing.
import { EMAIL_BOUNCE, EMAIL_COMPLAINT, EMAIL_DELIVERY } from "@postloft/contract/event-names.ts";
import type { EmailStatus } from "@postloft/contract/emails.ts";
import type { Feedback } from "../emails/providers/transport.ts";

export interface Interpretation {
  event: string;
  data: Record<string, unknown>;
  /** The state of the mail afterwards; null leaves it. */
  status: EmailStatus | null;
  /** Why the contact is unsubscribed; null leaves the subscription. */
  unsubscribe: "bounce" | "complaint" | null;
}

/** One row per notice (spec §3.1: a hard bounce and a complaint unsubscribe, a soft bounce does not). */
export const INTERPRETATIONS: Readonly<Record<Feedback, readonly Interpretation[]>> = {
  delivered: [{ event: EMAIL_DELIVERY, data: {}, status: "DELIVERED", unsubscribe: null }],
  bounced: [{ event: EMAIL_BOUNCE, data: { bounceType: "hard" }, status: "BOUNCED", unsubscribe: "bounce" }],
  "soft-bounced": [{ event: EMAIL_BOUNCE, data: { bounceType: "soft" }, status: null, unsubscribe: null }],
  complained: [
    { event: EMAIL_DELIVERY, data: {}, status: "DELIVERED", unsubscribe: null },
    { event: EMAIL_COMPLAINT, data: {}, status: "COMPLAINED", unsubscribe: "complaint" },
  ],
};
