// Converts an edited email to the draft of a test, so that a test shows unsaved text and saves nothing.
import type { CampaignKind } from "@postloft/contract/campaigns.ts";

/** An email as its editor shows it. */
export interface EditedEmail {
  subject: string;
  previewText: string;
  body: string;
  from: string;
  fromName: string;
  replyTo: string;
}

const orNull = (text: string) => (text.trim() === "" ? null : text.trim());

/** Returns the email as a test sends it. The body of blocks contains their preview text. */
export function testDraftOf(
  { subject, previewText, body, from, fromName, replyTo }: EditedEmail,
  type: CampaignKind,
) {
  return {
    subject,
    previewText: orNull(previewText),
    body,
    type,
    from: orNull(from),
    fromName: orNull(fromName),
    replyTo: orNull(replyTo),
  };
}
